#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// screenshots.js PTC NPM_DIR OUT: pictures of the viewer at 1280 and 390 pixels: list, run, turn, error, dark.
'use strict';
const fs = require('fs');
const path = require('path');
const {WAIT, findBrowser, launch, serve, traces} = require('./viewer_help.js');

const [ptc, npmDir, out] = process.argv.slice(2).map((p) => path.resolve(p));

async function shoot(browser, url, width, height) {
    const page = await browser.newPage({viewport: {width, height}, deviceScaleFactor: 1});
    page.setDefaultTimeout(WAIT);
    const save = (name) => page.screenshot({path: path.join(out, `${name}-${width}.png`)});
    const open = async (name) => {
        await page.locator('.item:visible', {hasText: name}).click();
        await page.locator('#head h1', {hasText: name}).waitFor();
    };
    const choose = async (text) => {
        await page.locator('#rows').focus();
        await page.keyboard.press('Home');
        for (let i = 0; i < 80 && !(await page.locator('.row.chosen:visible').innerText()).includes(text); i++) await page.keyboard.press('j');
        await page.locator('.detail-head h2', {hasText: text}).waitFor();
    };
    const back = async () => { if (width < 720) await page.locator('.back').click(); };
    await page.goto(url);
    await page.locator('.item:visible', {hasText: 'orders-report'}).waitFor();
    await save('list');
    await open('orders-report');
    await page.locator('.detail-head').waitFor();
    await save('run');
    await choose('Turn 3');
    await save('turn');
    await choose('Turn 2');
    await save('turn-error');
    await back();
    await open('invoice-check');
    await choose('Turn 3');
    await save('error');
    await back();
    await page.keyboard.press('Escape');
    await page.keyboard.press('t');
    await open('orders-report');
    await choose('Turn 1');
    await save('dark');
    await choose('script');
    await save('messages-dark');
    if (width > 720) {
        await page.keyboard.press('?');
        await save('keys-dark');
        await page.keyboard.press('Escape');
        await page.keyboard.press('t');
        await page.locator('#search').fill('Hamburg');
        await page.locator('#found', {hasText: 'run'}).waitFor();
        await page.locator('.item:visible', {hasText: 'support'}).click();
        await page.locator('.detail mark').first().waitFor();
        await save('search');
    }
    await page.close();
}

async function main() {
    const found = findBrowser(npmDir);
    if (found.why) { console.log(`skipped: ${found.why}`); return; }
    fs.mkdirSync(out, {recursive: true});
    const made = traces(ptc), server = await serve(ptc, made.where, path.join(made.where, 'mcp')), none = await serve(ptc);
    const browser = await launch(found);
    try {
        await shoot(browser, server.url, 1280, 800);
        await shoot(browser, server.url, 390, 844);
        const page = await browser.newPage({viewport: {width: 1280, height: 800}});
        await page.goto(none.url);
        await page.locator('#empty').waitFor();
        await page.screenshot({path: path.join(out, 'empty-1280.png')});
    } finally {
        await browser.close();
        await server.end();
        await none.end();
        made.remove();
    }
    console.log(`${fs.readdirSync(out).filter((f) => f.endsWith('.png')).length} pictures in ${out}`);
}

main().catch((error) => { console.error(error); process.exit(1); });
