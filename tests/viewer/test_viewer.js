#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// test_viewer.js PTC NPM_DIR: the page of `ptc view` in Chromium.  Skipped, with the reason, where there is none.  With
// PTC_TEST_FULL=1 also a trace of 50 MB and 10,000 events.
'use strict';
const {spawn} = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const readline = require('readline');
const {check, main, npmDir, target: ptc} = require('../checks.js');
const {WAIT, findBrowser, launch, serve, traces} = require('./viewer_help.js');


const texts = async (page, selector) => page.locator(`${selector}:visible`).allInnerTexts();
const item = (page, name) => page.locator('.item:visible', {hasText: name});
const row = (page, name) => page.locator('.row:visible', {hasText: name});

// Rows move while files arrive.
async function settled(page, name) {
    await item(page, name).waitFor();
    await page.locator('#progress').waitFor({state: 'hidden'});
    await page.evaluate(() => new Promise((go) => { requestAnimationFrame(() => requestAnimationFrame(go)); }));
}

async function open(page, name) {
    await settled(page, name);
    await item(page, name).click();
    await page.locator('#head h1', {hasText: name}).waitFor();
}

// A page that fails the test when a script of a trace runs, or when it asks another place for anything.
async function newPage(browser, url, options = {}) {
    const page = await browser.newPage({viewport: {width: 1280, height: 800}, ...options});
    page.setDefaultTimeout(Number(process.env.PTC_WAIT || WAIT));
    page.strange = [];
    const origin = new URL(url).origin;
    page.on('pageerror', (error) => page.strange.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => { page.strange.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('request', (request) => { if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) page.strange.push(request.url()); });
    page.on('console', (message) => { if (message.type() === 'error') page.strange.push(message.text()); });
    await page.goto(url);
    return page;
}

async function finish(page, name) {
    check(`${name}: nothing strange happened`, page.strange.length === 0 && (await page.evaluate('window.hacked')) === undefined, page.strange);
    await page.close();
}

// A call of `ptc mcp` whose program called another server, twice.
const UPSTREAM = [
    {event: 'trace.start', trace_kind: 'mcp_call', request_id: 'c7', ts: '2026-11-15T20:22:19.046Z'},
    {event: 'call.start', ts: '2026-11-15T20:22:19.046Z', tool: 'lisp_eval', program: {bytes: 13, text: '(gh/issues {})'}},
    {event: 'upstream.start', id: 'u1', ts: '2026-11-15T20:22:19.050Z', server: 'github', tool: 'issues', policy: 'allow', arguments: {bytes: 11, text: '{"state":1}'}},
    {event: 'upstream.stop', id: 'u1', status: 'ok', duration_ms: 120, attempts: 2, result_bytes: 9000, result: {bytes: 10, text: '[{"id":1}]'}},
    {event: 'upstream.start', id: 'u2', ts: '2026-11-15T20:22:19.055Z', server: 'github', tool: 'close', policy: 'ask', arguments: {bytes: 2, text: '{}'}},
    {event: 'upstream.stop', id: 'u2', status: 'error', reason: 'denied', error: {bytes: 9, text: 'not today'}, duration_ms: 12, attempts: 0},
    {event: 'call.stop', ok: true, duration_us: 200000, tool_calls: 0, result: {bytes: 3, text: '[1]'}},
].map((e) => JSON.stringify(e)).join('\n');

// An agent whose program called another server.
const AGENT_UPSTREAM = [
    {event: 'trace.start', version: 1, ts: '2026-11-15T20:22:19.046Z'},
    {event: 'run.start', id: 'r1', parent: null, at_us: 10, agent: '', name: 'reader', mode: 'content', depth: 1},
    {event: 'turn.start', id: 'r1.t1', parent: 'r1', at_us: 20, type: 'normal'},
    {event: 'program.start', id: 'r1.t1.p', parent: 'r1.t1', at_us: 1000, program: '(files/read {})'},
    {event: 'upstream.start', id: 'r1.t1.u1', parent: 'r1.t1.p', at_us: 2000, ts: '2026-11-15T20:22:19.048Z', server: 'files', tool: 'read', policy: 'allow', arguments: '{"path":"a"}'},
    {event: 'upstream.stop', id: 'r1.t1.u1', parent: 'r1.t1.p', at_us: 5000, status: 'ok', duration_ms: 3, attempts: 1, result_bytes: 5, result: '"text"'},
    {event: 'program.stop', id: 'r1.t1.p', parent: 'r1.t1', at_us: 6000, duration_us: 5000, end: 'value', calls: 0},
    {event: 'turn.stop', id: 'r1.t1', parent: 'r1', at_us: 6100, duration_us: 6080, ok: true, calls: 0},
    {event: 'run.stop', id: 'r1', parent: null, at_us: 6200, duration_us: 6190, outcome: 'ok', turns: 1, llm_requests: 1, llm_errors: 0, children: 0},
].map((e) => JSON.stringify(e)).join('\n');

// ---------------------------------------------------------------------------------------------- tests

async function testList(browser, url) {
    const page = await newPage(browser, url);
    await item(page, 'orders-report').waitFor();
    await page.locator('#n-all', {hasText: '8'}).waitFor();
    const all = await texts(page, '.item');
    check('list: all runs', all.length === 8 && ['orders-report', 'invoice-check', 'support', 'greeting', 'nightly-report'].every((n) => all.some((t) => t.includes(n))), all);
    check('list: what a run took', /12\.1k tokens/.test(all.find((t) => t.includes('orders-report'))) && /12 calls/.test(all.find((t) => t.includes('orders-report'))), all);
    check('list: an error says why', all.some((t) => t.includes('runtime_error') && t.includes('(/ 1 0)')), all);
    await page.locator('[data-filter=error]').click();
    check('list: failed ones', (await texts(page, '.item')).length === 2, await texts(page, '.item'));
    await page.locator('[data-filter=open]').click();
    check('list: unfinished ones', (await texts(page, '.item .name')).join() === 'nightly-report', await texts(page, '.item .name'));
    check('list: a half line is told', (await page.locator('#problems').textContent()).includes('line 13: the line is not JSON'), await page.locator('#problems').textContent());
    await finish(page, 'list');
}

async function testRun(browser, url) {
    const page = await newPage(browser, url);
    await open(page, 'orders-report');
    await page.locator('#detail', {hasText: 'Answer'}).waitFor();
    check('run: its figures', /8\s*turns.*9\s*requests.*12\s*tool calls.*4\s*agents/s.test(await page.locator('#head').innerText()), await page.locator('#head').innerText());
    await row(page, 'Turn 1').click();
    await page.locator('#detail .h-tool', {hasText: 'tool/orders'}).first().waitFor();
    const turn = await page.locator('#detail').innerText();
    for (const part of ['Program', 'Warnings', 'none of the 60 elements has the key :totl', 'Printed', 'rows: 60', 'Tool calls', 'New messages', 'Reply'])
        check(`turn: ${part}`, turn.includes(part), turn);
    check('turn: the program is highlighted', await page.locator('#detail .program .h-form').count() === 1 && await page.locator('#detail .program .h-comment').count() === 1, turn);
    // Four reviewers of one pmap: agents within, their bars side by side.
    await page.locator('#rows').focus();
    const reviewers = [];
    for (let i = 0; i < 80 && reviewers.length < 4; i++) {
        await page.keyboard.press('j');
        const chosen = page.locator('.row.chosen:visible');
        if (!(await chosen.innerText()).includes('reviewer') || !/k-run/.test(await chosen.getAttribute('class'))) continue;
        reviewers.push(await chosen.locator('.bar').evaluate((bar) => { const b = bar.getBoundingClientRect(); return [b.left, b.right]; }));
        if (reviewers.length === 1) check('run: agents are within what started them', await chosen.getAttribute('aria-level') === '4', await chosen.getAttribute('aria-level'));
    }
    check('run: agents side by side', reviewers.length === 4 && Math.max(...reviewers.map((r) => r[0])) < Math.min(...reviewers.map((r) => r[1])), reviewers);
    await page.keyboard.press('Home');
    for (let i = 0; i < 3; i++) await page.keyboard.press('j');
    await row(page, '2130').click();
    await page.locator('#detail summary', {hasText: 'Earlier messages'}).click();
    const said = await page.locator('#detail').innerText();
    check('messages: as the model saw them', said.includes('System prompt') && said.includes('Who owes most in') && said.includes('I look at the orders first.'), said);
    await page.reload();
    await page.locator('.detail-head h2', {hasText: 'script'}).waitFor();
    check('run: the address names what is open', (await page.locator('.detail-head').innerText()).includes('r1.t2.m1'), await page.locator('.detail-head').innerText());
    await finish(page, 'run');
}

async function testError(browser, url) {
    const page = await newPage(browser, url);
    await open(page, 'invoice-check');
    await page.locator('#detail .block.error', {hasText: 'billing cannot be reached'}).waitFor();
    check('error: it stands out', await page.locator('.row.s-error:visible').count() >= 6, await texts(page, '.row'));
    await page.keyboard.press('e');
    await page.locator('.detail-head', {hasText: 'Turn 1'}).waitFor();
    check('error: the tool\'s words', (await page.locator('#detail').innerText()).includes('connection refused by billing:5432'), '');
    check('error: the colour of errors', await page.locator('.row.s-error:visible .bar').first().evaluate((b) => getComputedStyle(b).backgroundColor) === 'rgb(200, 40, 58)', '');
    await finish(page, 'error');
}

async function testSearch(browser, url) {
    const page = await newPage(browser, url);
    await settled(page, 'support');
    await page.keyboard.press('/');
    await page.keyboard.type('hamburg');
    await page.locator('#found', {hasText: '3 in 1 run'}).waitFor();
    check('search: only runs that match', (await texts(page, '.item .name')).join() === 'support', await texts(page, '.item .name'));
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.locator('#detail mark', {hasText: 'Hamburg'}).first().waitFor();
    const first = await page.locator('.detail-head').innerText();
    await page.keyboard.press('n');
    await page.locator('.detail-head', {hasText: 'parcel'}).waitFor();
    check('search: n goes on', (await page.locator('.detail-head').innerText()) !== first, first);
    await page.locator('#search').fill('"customer": "no such"');
    await page.locator('#found', {hasText: 'no match'}).waitFor();
    check('search: nothing matches', (await texts(page, '.item')).length === 0, await texts(page, '.item'));
    await page.locator('#search').focus();
    await page.keyboard.press('Escape');
    await item(page, 'greeting').waitFor();
    check('search: Escape ends it', (await texts(page, '.item')).length === 8, await texts(page, '.item'));
    await finish(page, 'search');
}

async function testDrop(browser, url, where) {
    const page = await newPage(browser, url);
    await page.locator('#empty-title', {hasText: 'Drop a trace here'}).waitFor();
    const text = fs.readFileSync(path.join(where, 'orders.jsonl'), 'utf8');
    const data = await page.evaluateHandle((body) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([body], 'dropped.jsonl'));
        return transfer;
    }, text);
    await page.dispatchEvent('body', 'dragenter', {dataTransfer: data});
    check('drop: the page shows that it may be dropped', await page.locator('#drop').isVisible(), '');
    await page.dispatchEvent('body', 'drop', {dataTransfer: data});
    await page.locator('#head h1', {hasText: 'orders-report'}).waitFor();
    check('drop: it is open', (await page.locator('#head').innerText()).includes('dropped.jsonl') && !(await page.locator('#drop').isVisible()), '');
    await page.locator('#pick').setInputFiles(path.join(where, 'greeting.jsonl'));
    await page.locator('#head h1', {hasText: 'greeting'}).waitFor();
    check('pick: a chosen file is open', (await texts(page, '.item')).length === 2, await texts(page, '.item'));
    await page.locator('#pick').setInputFiles({name: 'call.jsonl', mimeType: 'text/plain', buffer: Buffer.from(UPSTREAM)});
    await page.locator('#head h1', {hasText: 'lisp_eval'}).waitFor();
    check('upstream: calls are in the call', /2\s*tool calls.*1\s*errors/s.test(await page.locator('#head').innerText()), await page.locator('#head').innerText());
    await row(page, 'github/issues').click();
    await page.locator('.detail-head', {hasText: 'github/issues'}).waitFor();
    const sent = await page.locator('#detail').innerText();
    check('upstream: what was sent and received', sent.includes('"state": 1') && sent.includes('2 times') && sent.includes('8.79 KiB') && sent.includes('allow'), sent);
    await page.keyboard.press('e');
    await page.locator('#detail .block.error', {hasText: 'not today'}).waitFor();
    await page.locator('#pick').setInputFiles({name: 'reader.jsonl', mimeType: 'text/plain', buffer: Buffer.from(AGENT_UPSTREAM)});
    await page.locator('#head h1', {hasText: 'reader'}).waitFor();
    await row(page, 'files/read').click();
    await page.locator('.detail-head', {hasText: 'files/read'}).waitFor();
    const read = await page.locator('#detail').innerText();
    check('upstream: calls of agents', read.includes('"path": "a"') && read.includes('"text"') && /1\s*tool calls?/.test(await page.locator('#head').innerText()), read);
    await finish(page, 'drop');
}

async function testKeys(browser, url) {
    const page = await newPage(browser, url);
    await page.locator('#n-all', {hasText: '8'}).waitFor();
    await page.locator('#runs').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.locator('#head h1', {hasText: 'orders-report'}).waitFor();
    await page.locator('.detail-head').waitFor();
    const before = (await texts(page, '.row')).length;
    await page.keyboard.press('ArrowDown');
    await page.locator('.detail-head', {hasText: 'Turn 1'}).waitFor();
    await page.keyboard.press('ArrowLeft');
    check('keys: a turn is closed', (await texts(page, '.row')).length <= before && !(await texts(page, '.row')).some((t) => t.includes('1840')), await texts(page, '.row'));
    await page.keyboard.press('ArrowRight');
    check('keys: and opened', (await texts(page, '.row')).some((t) => t.includes('1840')), await texts(page, '.row'));
    const wide = () => row(page, 'Turn 1').locator('.bar').evaluate((b) => b.getBoundingClientRect().width);
    const narrow = await wide();
    await page.keyboard.press('z');
    check('keys: z stretches', (await wide()) > narrow * 2, [narrow, await wide()]);
    await page.keyboard.press('z');
    await page.keyboard.press('[');
    await page.locator('#head h1', {hasText: 'nightly-report'}).waitFor();
    await page.keyboard.press('?');
    check('keys: help', await page.locator('#keys').isVisible(), '');
    await page.keyboard.press('Escape');
    check('keys: help is closed', !(await page.locator('#keys').isVisible()), '');
    await page.keyboard.press('Enter');
    check('keys: to the details', await page.evaluate('document.activeElement.id') === 'detail', await page.evaluate('document.activeElement.id'));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    check('keys: back to the list', await page.evaluate('document.activeElement.id') === 'runs', await page.evaluate('document.activeElement.id'));
    await finish(page, 'keys');
}

// A run that is still going on: r shows what was added, and what is open stays open.
async function testGrowing(browser, where) {
    const text = fs.readFileSync(path.join(where, 'invoice.jsonl'), 'utf8').split('\n'), file = path.join(where, 'apart', 'growing.txt');
    fs.writeFileSync(file, text.slice(0, 8).join('\n') + '\n');
    const server = await serve(ptc, file), page = await newPage(browser, server.url);
    await page.locator('#head', {hasText: 'unfinished'}).waitFor();
    await row(page, 'Turn 1').click();
    await page.locator('.detail-head', {hasText: 'Turn 1'}).waitFor();
    fs.writeFileSync(file, text.join('\n'));
    await page.keyboard.press('r');
    await page.locator('#head .badge.error').waitFor();
    await page.locator('.detail-head', {hasText: 'tool_error'}).waitFor();
    check('growing: the same turn is chosen', (await page.locator('.row.chosen:visible').innerText()).includes('Turn 1'), await texts(page, '.row.chosen'));
    await finish(page, 'growing');
    await server.end();
}

async function testDark(browser, url) {
    const back = (page) => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const page = await newPage(browser, url, {colorScheme: 'dark'});
    const dark = await back(page);
    await page.keyboard.press('t');
    const light = await back(page);
    check('dark: as the system says, and the other by a key', dark === 'rgb(14, 17, 23)' && light === 'rgb(246, 247, 249)', [dark, light]);
    await page.reload();
    check('dark: it is remembered', (await back(page)) === light, await back(page));
    await finish(page, 'dark');
}

async function testNarrow(browser, url) {
    const page = await newPage(browser, url, {viewport: {width: 390, height: 844}});
    await open(page, 'orders-report');
    check('narrow: one thing at a time', !(await page.locator('.side').isVisible()), '');
    check('narrow: nothing sticks out', await page.evaluate('document.documentElement.scrollWidth') <= 390, await page.evaluate('document.documentElement.scrollWidth'));
    await page.locator('.back').click();
    check('narrow: back', await page.locator('.side').isVisible(), '');
    await finish(page, 'narrow');
}

async function testHostile(browser, url) {
    const page = await newPage(browser, url);
    await page.locator('#n-all').filter({hasNotText: /^0$/}).waitFor();
    const names = await texts(page, '.item .name');
    check('hostile: names are texts', names.some((n) => n.includes('<script>')), names);
    for (let i = 0; i < names.length; i++) {
        await page.locator('#runs').focus();
        await page.keyboard.press('Home');
        for (let k = 0; k < i; k++) await page.keyboard.press('j');
        await page.keyboard.press('Enter');
        await page.locator('.item.current:visible').waitFor();
        await page.locator('.detail-head').waitFor();
        for (let k = 0; k < 12; k++) await page.keyboard.press('j');
        for (let k = 0; k < 12; k++) await page.keyboard.press('k');
    }
    await page.locator('#search').fill('<script>');
    await page.locator('#found', {hasText: 'run'}).waitFor();
    await page.locator('.item:visible').first().click();
    await page.locator('#detail mark').first().waitFor();
    check('hostile: only our own elements', await page.evaluate('document.querySelectorAll("#main script, #main img, #main svg, #main iframe, #main a").length') === 0, '');
    check('hostile: bad lines are told with their numbers', (await page.locator('#problems').textContent()).includes('line 9: the line is not JSON'), await page.locator('#problems').textContent());
    check('hostile: markup cannot be written at all', await page.evaluate(() => {
        try { document.body.innerHTML += '<b>x</b>'; return false; } catch { return true; }
    }), '');
    page.strange = page.strange.filter((s) => !s.includes('TrustedHTML') && !s.includes('Trusted Type'));
    await finish(page, 'hostile');
}

// Bounded by counts: frames go on while it is read, and few rows have nodes wherever one scrolls.
async function testLarge(browser, where) {
    const server = await serve(ptc, path.join(where, 'large.jsonl'));
    const page = await newPage(browser, server.url);
    await page.evaluate(() => {
        window.frames = 0;
        const tick = () => { window.frames++; requestAnimationFrame(tick); };
        tick();
    });
    await page.locator('#head h1', {hasText: 'long-haul'}).waitFor();
    check('large: frames went on', await page.evaluate('window.frames') > 5, await page.evaluate('window.frames'));
    check('large: all turns', (await page.locator('#head').innerText()).includes('2,000'), await page.locator('#head').innerText());
    const height = await page.locator('#rows .rows-inner').evaluate((n) => n.offsetHeight);
    check('large: all rows', height === 28 * (1 + 2000 * 3), height);
    for (let i = 1; i <= 20; i++) {
        await page.locator('#rows').evaluate((box, to) => { box.scrollTop = to; }, (height * i) / 20);
        await page.evaluate(() => new Promise((go) => { requestAnimationFrame(() => requestAnimationFrame(go)); }));
    }
    const nodes = await page.locator('#rows .row').count();
    check('large: few nodes', nodes > 5 && nodes < 100, nodes);
    check('large: the last turn is there', (await texts(page, '.row')).some((t) => t.includes('Turn 2000')), await texts(page, '.row'));
    await page.locator('#search').fill('needle');
    await page.locator('#found', {hasText: '1 in 1 run'}).waitFor();
    await page.locator('#rows').focus();
    await page.keyboard.press('n');
    await page.locator('.detail-head', {hasText: 'r1.t2000.c1'}).waitFor();
    check('large: a match at the end', (await page.locator('#detail mark').first().innerText()) === 'needle', '');
    await finish(page, 'large');
    check('large: the server ends', await server.end() === 0, '');
}

// ----------------------------------------------------------------------------------------------- main

async function tests() {
    const found = findBrowser(npmDir);
    if (found.why) { console.log(`skipped: ${found.why}`); return; }
    const made = traces(ptc), {where} = made;
    const server = await serve(ptc, where, path.join(where, 'mcp')), none = await serve(ptc), hostile = await serve(ptc, path.join(where, 'apart'));
    const browser = await launch(found);
    try {
        await testList(browser, server.url);
        await testRun(browser, server.url);
        await testError(browser, server.url);
        await testSearch(browser, server.url);
        await testDrop(browser, none.url, where);
        await testKeys(browser, server.url);
        await testGrowing(browser, where);
        await testDark(browser, server.url);
        await testNarrow(browser, server.url);
        await testHostile(browser, hostile.url);
        await testApprovals(browser);
        if (process.env.PTC_TEST_FULL) {
            const large = traces(ptc, 'large');
            try { await testLarge(browser, large.where); } finally { large.remove(); }
        }
    } finally {
        await browser.close();
        for (const s of [server, none, hostile]) check('the server ends when it is asked to', await s.end() === 0, '');
        made.remove();
    }
}

// A program of `ptc mcp` that waits for a person, in a store; calls of its upstream are lines of a file.
const NOTES = `
const fs = require('fs');
const TEXT = {type: 'object', properties: {text: {type: 'string'}}, required: ['text']};
require('readline').createInterface({input: process.stdin}).on('line', (line) => {
    const m = JSON.parse(line);
    if (m.id === undefined) return;
    const say = (result) => process.stdout.write(JSON.stringify({jsonrpc: '2.0', id: m.id, result}) + '\\n');
    if (m.method === 'initialize') say({protocolVersion: '2025-11-25', capabilities: {tools: {}}, serverInfo: {name: 'notes', version: '1'}});
    else if (m.method === 'tools/list') say({tools: [{name: 'write', description: 'Writes', inputSchema: TEXT, annotations: {destructiveHint: true}}]});
    else if (m.method !== 'tools/call') process.stdout.write(JSON.stringify({jsonrpc: '2.0', id: m.id, error: {code: -32601, message: 'no'}}) + '\\n');
    else { fs.appendFileSync(process.argv[2], m.params.arguments.text); say({content: [{type: 'text', text: 'written'}]}); }
});`;

class Waiting {
    constructor(where) {
        const file = (name, text) => { fs.writeFileSync(path.join(where, name), text); return path.join(where, name); };
        this.calls = path.join(where, 'calls');
        this.store = `sqlite:${path.join(where, 'store')}`;
        const upstreams = {notes: {command: process.execPath, args: [file('notes.js', NOTES), this.calls]}};
        this.child = spawn(ptc, ['mcp', '--isolation', 'none', '--store', this.store, '--upstreams', file('u.json', JSON.stringify({upstreams}))],
            {stdio: ['pipe', 'pipe', 'inherit'], env: {PATH: process.env.PATH, HOME: where}});
        this.lines = readline.createInterface({input: this.child.stdout})[Symbol.asyncIterator]();
        this.params = {name: 'lisp_eval', arguments: {program: '(notes/write {:text "<b>hi</b>"})'}, _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientInfo': {name: 't', version: '0'},
            'io.modelcontextprotocol/clientCapabilities': {elicitation: {}}}};
    }

    async call(more = {}) {
        this.child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/call', params: {...this.params, ...more}})}\n`);
        return JSON.parse((await this.lines.next()).value).result;
    }

    end() { this.child.stdin.end(); }
}

async function testApprovals(browser) {
    const where = fs.mkdtempSync(path.join(os.tmpdir(), 'ptc-approvals-'));
    const waiting = new Waiting(where);
    const {requestState} = await waiting.call();
    const view = await serve(ptc, '--store', waiting.store);
    const page = await newPage(browser, view.url);
    await page.locator('#approvals').click();
    const card = page.locator('.card');
    await card.waitFor();
    check('approvals: what is asked', (await card.innerText()).includes('destructive "notes"/"write" {"text":"<b>hi</b>"}'), await card.innerText());
    check('approvals: texts are no markup', await card.locator('b').count() === 0);
    await card.locator('button', {hasText: 'Yes, these calls'}).click();
    await card.locator('p', {hasText: 'Answered: once'}).waitFor();
    check('approvals: nothing is called yet', !fs.existsSync(waiting.calls));
    const result = await waiting.call({requestState});
    check('approvals: the next call goes on', result.content[0].text.startsWith('"written"') && fs.readFileSync(waiting.calls, 'utf8') === '<b>hi</b>', result);
    await page.locator('#note', {hasText: 'Nothing waits'}).waitFor();
    await finish(page, 'approvals');
    await view.end();
    waiting.end();
    fs.rmSync(where, {recursive: true, force: true});
}

main('test_viewer.js', tests);
