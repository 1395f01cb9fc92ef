// SPDX-License-Identifier: MIT
// What tests with the official clients share: a home, the clients (sdk 1.x, client 2.x in both eras).
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { requireNpm: load, target: ptc } = require('../checks.js');

const evaluate = (client, program, more = {}) => client.callTool({ name: 'lisp_eval', arguments: { program, ...more } });

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
    '1.x': async (home, person, options, capabilities) => {
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

async function client2(mode, home, person, options, capabilities) {
    const { Client } = load('@modelcontextprotocol/client');
    const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
    if (capabilities.elicitation) client.setRequestHandler('elicitation/create', (request) => person.elicit(request.params));
    if (capabilities.sampling) client.setRequestHandler('sampling/createMessage', (request) => person.sample(request.params));
    if (capabilities.roots) client.setRequestHandler('roots/list', () => person.roots());
    await client.connect(new StdioClientTransport(home.server(...options)));
    return client;
}

module.exports = { Home, clients, evaluate };
