// SPDX-License-Identifier: MIT
// What tests and screenshots of the viewer share: `ptc view` on a free port, Chromium, and an end to both.
'use strict';
const {spawn, execFileSync} = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const {createRequire} = require('module');

const WAIT = 60000;
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome'];

// Where Chromium is, or a sentence saying what is missing.
function findBrowser(npmDir) {
    const place = (process.env.PATH || '').split(':').flatMap((dir) => BROWSERS.map((name) => path.join(dir, name))).find((p) => fs.existsSync(p));
    if (!place) return {why: 'no chromium; script/bootstrap installs it where apt works'};
    try {
        return {place, playwright: createRequire(path.join(path.resolve(npmDir), 'package.json'))('playwright-core')};
    } catch {
        return {why: `no playwright-core in ${npmDir}; script/bootstrap installs it where npm works`};
    }
}

async function launch({place, playwright}) {
    return playwright.chromium.launch({executablePath: place, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'], timeout: WAIT});
}

// Starts `ptc view`; resolves to its address and a function that ends it.
function serve(ptc, ...args) {
    const child = spawn(ptc, ['view', '--no-open', ...args], {stdio: ['ignore', 'pipe', 'inherit']});
    return new Promise((resolve, reject) => {
        let text = '';
        child.on('exit', (code) => reject(new Error(`ptc view ended with ${code}`)));
        child.stdout.on('data', (bytes) => {
            text += bytes;
            if (!text.includes('\n')) return;
            const end = () => new Promise((done) => {
                child.removeAllListeners('exit');
                child.on('exit', (code) => done(code));
                child.kill('SIGTERM');
            });
            child.removeAllListeners('exit');
            resolve({url: text.trim(), end, child});
        });
    });
}

// A directory with traces, removed by `remove`.
function traces(ptc, ...more) {
    const where = fs.mkdtempSync(path.join(os.tmpdir(), 'ptc-view-'));
    execFileSync(path.join(__dirname, 'make_traces.py'), [ptc, where, ...more], {stdio: 'inherit', timeout: 4 * WAIT});
    return {where, remove: () => fs.rmSync(where, {recursive: true, force: true})};
}

module.exports = {WAIT, findBrowser, launch, serve, traces};
