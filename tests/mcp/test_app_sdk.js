#!/usr/bin/env node
// The official clients against ptc mcp: sdk 1.x, client 2.x in both eras, over stdio, or with a URL over HTTP.
// test_app_sdk.js PTC|URL NPM_DIR; NPM_DIR holds the node_modules that script/bootstrap made.
'use strict';
const { check, http, main, requireNpm: load, target: ptc, text } = require('../checks.js');

async function use(label, client) {
    const tools = (await client.listTools()).tools.map((t) => t.name);
    check(`${label}: tools`, tools[0] === 'lisp_eval' && tools.includes('lisp_session_eval'), tools);
    // The clients hold every answer to the output schema.
    const call = (name, args = {}) => client.callTool({ name, arguments: args });
    const sum = await call('lisp_eval', { program: '(reduce + data/xs)', context: { xs: [1, 2, 3] } });
    check(`${label}: eval`, text(sum) === '6' && sum.structuredContent.result === 6, sum);
    for (const value of [null, true, 1.5, 'text', [1, null], { a: { b: [] } }]) {
        const same = await call('lisp_eval', { program: 'data/v', context: { v: value } });
        check(`${label}: ${JSON.stringify(value)}`, JSON.stringify(same.structuredContent) === JSON.stringify({ result: value }), same);
    }
    const printed = await call('lisp_eval', { program: '(do (println "é") {:n 1})', signature: '{n :int}' });
    check(`${label}: prints`, printed.structuredContent.prints[0] === 'é', printed);
    const bad = await call('lisp_eval', { program: '(/ 1 0)' });
    check(`${label}: error`, bad.isError === true && !bad.structuredContent && text(bad).startsWith('runtime_error'), bad);
    const wrong = await call('lisp_eval', { program: 7 });
    check(`${label}: wrong argument`, wrong.isError === true, wrong);
    const large = await call('lisp_eval', { program: '(vec (range 50000))' });
    const page = await call('lisp_result_page', { handle: large.structuredContent.result_handle, offset: 1000 });
    check(`${label}: page`, page.structuredContent.offset === 1000 && page.structuredContent.text.length > 10000, page);
    const session = (await call('lisp_session_start', { title: label })).structuredContent.session_id;
    await call('lisp_session_eval', { session_id: session, program: '(def x 20)' });
    const twice = await call('lisp_session_eval', { session_id: session, program: '(* 2 x)' });
    check(`${label}: session`, text(twice) === '40', twice);
    for (const [tool, more] of [['inspect', {}], ['forget', { bindings: ['x'] }], ['close', {}]]) {
        const answer = await call(`lisp_session_${tool}`, { session_id: session, ...more });
        check(`${label}: ${tool}`, !answer.isError && answer.structuredContent, answer);
    }
    check(`${label}: list`, (await call('lisp_session_list')).structuredContent.count === 0);
    check(`${label}: debug`, (await call('lisp_debug', { op: 'stats' })).structuredContent.calls > 0);
    check(`${label}: parallel`, (await Promise.all([...Array(50).keys()].map((i) => call('lisp_eval', { program: `(+ ${i} 1)` }))))
        .every((r, i) => text(r) === `${i + 1}`));
}

const server = (options) => ({ command: ptc, args: ['mcp', '--sessions', '--debug-tool', '--profile', 'slim', ...options], stderr: 'ignore' });

// Each gives a client with that name, which is connected.
const clients = {
    '1.x': async (name, options = []) => {
        const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
        const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
        const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
        const client = new Client({ name, version: '1' });
        await client.connect(http ? new StreamableHTTPClientTransport(new URL(ptc)) : new StdioClientTransport(server(options)));
        return client;
    },
    '2.x legacy': (...more) => client2('legacy', ...more),
    '2.x modern': (...more) => client2('auto', ...more),
};

async function client2(mode, name, options = []) {
    const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
    const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
    const client = new Client({ name, version: '1' }, { versionNegotiation: { mode } });
    await client.connect(http ? new StreamableHTTPClientTransport(new URL(ptc)) : new StdioClientTransport(server(options)));
    return client;
}

// Clients that show their model both the text and the structured content get the text alone.
async function names(label, connect) {
    const both = ['Visual Studio Code', 'Visual Studio Code - Insiders', 'github-copilot-developer', 'JetBrains-IU-copilot-intellij', 'Cline', '@cline/core'];
    const others = ['claude-code', 'cursor-vscode', 'Roo-Code', 'test'];
    const ways = http ? [[]] : [[], ['--structured', 'auto'], ['--structured', 'always'], ['--structured', 'never']];
    for (const options of ways)
        for (const name of options[1] && options[1] !== 'auto' ? ['Cline', 'test'] : [...both, ...others]) {
            const client = await connect(name, options);
            const structured = options[1] === 'always' || (options[1] !== 'never' && others.includes(name));
            const list = await client.listTools();
            check(`${label}: ${name} ${options}: schemas`, list.tools.length > 5 && list.tools.every((t) => Boolean(t.outputSchema) === structured &&
                t.inputSchema.type === 'object' && t.annotations.title), list);
            const sum = await client.callTool({ name: 'lisp_eval', arguments: { program: '(do (println "p") {:n 3})' } });
            check(`${label}: ${name} ${options}: answer`, text(sum) === 'p\n{:n 3}' && Boolean(sum.structuredContent) === structured, sum);
            const started = await client.callTool({ name: 'lisp_session_start', arguments: {} });
            check(`${label}: ${name} ${options}: session`, /[\w-]{16,}/.test(text(started)) && Boolean(started.structuredContent) === structured, started);
            const session_id = (/[\w-]{16,}/.exec(text(started)) || [])[0];
            await client.callTool({ name: 'lisp_session_close', arguments: { session_id } });
            if (list.cacheScope)
                check(`${label}: ${name} ${options}: scope`, list.cacheScope === (structured || options[1] === 'never' ? 'public' : 'private'), list.cacheScope);
            await client.close();
        }
}

main('ptc mcp with sdk clients', async () => {
    for (const [label, connect] of Object.entries(clients)) {
        const client = await connect('test');
        if (client.getProtocolEra) check(`${label}: era`, label.endsWith(client.getProtocolEra()), client.getProtocolEra());
        await use(label, client);
        await client.close();
        await names(label, connect);
    }
});
