#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The official client of the tasks extension with ptc mcp over stdio, whose programs call a server that makes tasks itself.
// test_app_tasks.js PTC NPM_DIR; NPM_DIR holds the node_modules that script/bootstrap made.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const readline = require('readline');
const { spawn } = require('child_process');
const { pathToFileURL } = require('url');
const { check, main, npmDir, target: ptc, text } = require('../checks.js');

const META = 'io.modelcontextprotocol/';
const server = path.join(__dirname, '..', 'upstream', 'test_tasks.py');

// What withTasks() wants of a connection: requests and answers as JSON.
class Port {
    constructor(home) {
        fs.writeFileSync(path.join(home, 'u.json'), JSON.stringify({
            upstreams: { s: { command: 'python3', args: [server, 'serve', home], policy: { at_once: 'ask' } } } }));
        this.child = spawn(ptc, ['mcp', '--upstreams', path.join(home, 'u.json'), '--tasks-after-ms', '100'],
            { env: { PATH: process.env.PATH, HOME: home }, stdio: ['pipe', 'pipe', 'ignore'] });
        this.endpointId = 'ptc';
        this.taskCapabilities = { generation: 'v2', capabilities: {} };
        this.invalidated = false;
        this.waiting = new Map();
        this.methods = [];
        this.next = 0;
        readline.createInterface({ input: this.child.stdout }).on('line', (line) => {
            const m = JSON.parse(line);
            const done = this.waiting.get(m.id);
            this.waiting.delete(m.id);
            if (done) done(m.error ? { kind: 'error', error: m.error } : { kind: 'result', result: m.result });
        });
    }

    dispatch({ method, params = {} }) {
        const id = ++this.next;
        const own = (params._meta || {})[`${META}clientCapabilities`] || {};
        const meta = { ...params._meta, [`${META}protocolVersion`]: '2026-07-28', [`${META}clientInfo`]: { name: 'test', version: '1' },
            [`${META}clientCapabilities`]: { ...own, elicitation: { form: {} } } };
        this.methods.push(method);
        this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })}\n`);
        return new Promise((done) => { this.waiting.set(id, done); });
    }

    onServerRequest() { return () => {}; }

    onNotification() { return () => {}; }

    onInvalidated() { return () => {}; }
}

async function run(port, session, program, { resultFromTaskOutcome }) {
    const execution = await session.callTool('lisp_eval', { program });
    const { outcome } = await execution.settle();
    return text(resultFromTaskOutcome(outcome));
}

main('ptc mcp with the official client of tasks', async () => {
    const place = path.join(npmDir, 'node_modules', '@modelcontextprotocol', 'ext-tasks', 'dist', 'client', 'index.js');
    const tasks = await import(pathToFileURL(place));
    const home = fs.mkdtempSync(path.join(os.tmpdir(), 'ptc-tasks-'));
    const port = new Port(home);
    const questions = [];
    const session = tasks.withTasks(port, {
        onInputRequest: async (request) => {
            questions.push(request);
            return { action: 'accept', content: { decision: 'once' } };
        },
    });
    check('at once', (await run(port, session, '(+ 1 2)', tasks)) === '3' && !port.methods.includes('tasks/get'), port.methods);
    check('slow', (await run(port, session, '(s/slow {:text "it"})', tasks)).includes('did it'));
    check('it polls', port.methods.includes('tasks/get'), port.methods);
    const both = await run(port, session, '(str (s/slow {:text "1"}) (s/at_once {:text "2"}))', tasks);
    check('a question', both.includes('did 1did 2') && questions.length === 1 && questions[0].kind === 'elicitation', [both, questions]);
    check('it is answered', port.methods.filter((m) => m === 'tasks/update').length === 1, port.methods);
    const failed = await run(port, session, '(do (s/slow {:text "it"}) (fail "no"))', tasks).catch((e) => String(e));
    check('a program that fails', failed.includes('no'), failed);
    const hangs = await session.callTool('lisp_eval', { program: '(s/hangs {:text "x"})' });
    const settled = hangs.settle().catch((e) => e);
    await hangs.cancel();
    check('cancelled', JSON.stringify(await settled) !== undefined && port.methods.includes('tasks/cancel'), port.methods);
    await session.close();
    port.child.stdin.end();
    await new Promise((done) => { port.child.on('exit', done); });
    fs.rmSync(home, { recursive: true, force: true });
});
