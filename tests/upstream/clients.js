// SPDX-License-Identifier: MIT
// What tests with the official clients share: counting, where ptc is, the clients (sdk 1.x, client 2.x in both eras), and the end.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { createRequire } = require('module');

const [ptc, npmDir] = process.argv.slice(2).map((p) => path.resolve(p));
const counts = { passed: 0, failed: 0 };
let last = 'the beginning';
const text = (result) => (result.content || []).map((block) => block.text).join('|');
const evaluate = (client, program, more = {}) => client.callTool({ name: 'lisp_eval', arguments: { program, ...more } });

function check(name, ok, got) {
    counts[ok ? 'passed' : 'failed']++;
    last = name;
    if (!ok) console.log(`FAIL ${name}\n    got  ${JSON.stringify(got)}`);
}

// A home of its own with a file of upstreams.
class Home {
    constructor(name) {
        this.home = fs.mkdtempSync(path.join(os.tmpdir(), `ptc-${name}-`));
        this.file = path.join(this.home, 'u.json');
    }

    write(config) { fs.writeFileSync(this.file, JSON.stringify(config)); }

    server(...options) {
        return { command: ptc, args: ['mcp', '--upstreams', this.file, ...options], stderr: process.env.PTC_TEST_STDERR || 'ignore',
            env: { PATH: process.env.PATH, HOME: this.home } };
    }

    remove() { fs.rmSync(this.home, { recursive: true, force: true }); }
}

// Each gives a client of a server in this home whose person answers what was offered: elicit(params), sample(params), roots().
const clients = {
    '1.x': async (load, home, person, options, capabilities) => {
        const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
        const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
        const { ElicitRequestSchema, CreateMessageRequestSchema, ListRootsRequestSchema } = load('@modelcontextprotocol/sdk/types.js');
        const client = new Client({ name: 'test', version: '1' }, { capabilities });
        if (capabilities.elicitation) client.setRequestHandler(ElicitRequestSchema, (request) => person.elicit(request.params));
        if (capabilities.sampling) client.setRequestHandler(CreateMessageRequestSchema, (request) => person.sample(request.params));
        if (capabilities.roots) client.setRequestHandler(ListRootsRequestSchema, () => person.roots());
        await client.connect(new StdioClientTransport(home.server(...options)));
        return client;
    },
    '2.x legacy': (...more) => client2('legacy', ...more),
    '2.x modern': (...more) => client2('auto', ...more),
};

async function client2(mode, load, home, person, options, capabilities) {
    const { Client } = load('@modelcontextprotocol/client');
    const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
    if (capabilities.elicitation) client.setRequestHandler('elicitation/create', (request) => person.elicit(request.params));
    if (capabilities.sampling) client.setRequestHandler('sampling/createMessage', (request) => person.sample(request.params));
    if (capabilities.roots) client.setRequestHandler('roots/list', () => person.roots());
    await client.connect(new StdioClientTransport(home.server(...options)));
    return client;
}

function end(name, more) {
    console.log(`${name}: ${counts.passed} passed, ${counts.failed + more} failed`);
    process.exit(counts.failed + more ? 1 : 0);
}

// Runs the tests of a file; what hangs is told, and where.
function main(name, tests) {
    setTimeout(() => {
        console.log(`hung after "${last}"`);
        end(name, 1);
    }, 1000 * (process.env.PTC_TEST_SECONDS || 240));
    tests(createRequire(path.join(npmDir, 'package.json'))).catch((error) => check('ran to the end', false, error.stack)).then(() => end(name, 0));
}

module.exports = { Home, check, clients, evaluate, main, npmDir, ptc, text };
