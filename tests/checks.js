// SPDX-License-Identifier: MIT
// What tests in JavaScript share: the arguments WHAT NPM_DIR, checks that are counted, and an end that comes even when the
// other side hangs.  NPM_DIR holds the node_modules that script/bootstrap made.
'use strict';
const path = require('path');
const { createRequire } = require('module');

const [target, npmDir] = process.argv.slice(2).map((p) => (p.startsWith('http') ? p : path.resolve(p)));
const requireNpm = createRequire(path.join(npmDir, 'package.json'));
const counts = { passed: 0, failed: 0 };
let last = 'the beginning';

function check(name, ok, got) {
    counts[ok ? 'passed' : 'failed']++;
    last = name;
    if (!ok) console.log(`FAIL ${name}\n    got  ${JSON.stringify(got)}`);
}

// What a result of a tool says.
const text = (result) => (result.content || []).map((block) => block.text).join('|');

function end(name) {
    console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed`);
    process.exit(counts.failed ? 1 : 0);
}

// Runs the tests of a file; what hangs is told, and where.
function main(name, tests) {
    setTimeout(() => {
        counts.failed++;
        console.log(`hung after "${last}"`);
        end(name);
    }, 1000 * (process.env.PTC_TEST_SECONDS || 240));
    tests().catch((error) => check(`ran to the end after "${last}"`, false, error.stack)).then(() => end(name));
}

module.exports = { check, http: target.startsWith('http'), main, npmDir, requireNpm, target, text };
