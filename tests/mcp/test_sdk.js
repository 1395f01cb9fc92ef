#!/usr/bin/env node
// The official clients against the fixture: sdk 1.x, client 2.x in both eras, over stdio, or with a URL over HTTP.
// test_sdk.js FIXTURE|URL NPM_DIR; NPM_DIR holds the node_modules that script/bootstrap made.
'use strict';
const { check, http, main, requireNpm: load, target: fixture, text } = require('../checks.js');

async function fails(name, promise, code) {
    try {
        check(name, false, await promise);
    } catch (error) {
        check(name, error.code === code, { code: error.code, message: error.message });
    }
}

const capabilities = { sampling: {}, elicitation: {}, roots: {} };
const answers = {
    sampling: { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm', stopReason: 'endTurn' },
    elicitation: { action: 'accept', content: { response: 'yes', name: 'Ada', color: 'blue', context: 'tests', ok: true } },
    roots: { roots: [{ uri: 'file:///a', name: 'a' }] },
};

// Over HTTP notifications have a stream of their own and may come after the answer.
async function settle(list, count) {
    for (let i = 0; i < 3000 && list.length < count; i++)
        await new Promise((done) => setTimeout(done, 10));
    return list;
}

// These clients take the answer first when it comes in one piece with progress that was sent before it, as it does where
// they get to read rarely; then they complain about the progress.
const isLate = (error) => error.message.startsWith('Received a progress notification for an unknown token');

// What both eras have.
async function common(label, client) {
    const tools = (await client.listTools()).tools;
    check(`${label}: tools`, tools.length > 30 && tools.every((t) => t.inputSchema.type === 'object'), tools.length);
    const call = (name, args = {}, options) =>
        label === '1.x' ? client.callTool({ name, arguments: args }, undefined, options)
            : client.callTool({ name, arguments: args }, options);
    check(`${label}: text`, text(await call('test_simple_text')).length > 0);
    check(`${label}: echo`, text(await call('echo', { message: 'é\n"x" \u{1f600}' })) === 'é\n"x" \u{1f600}');
    check(`${label}: sum`, (await call('sum', { a: 2, b: 40 })).structuredContent.sum === 42);
    const mixed = await call('test_multiple_content_types');
    check(`${label}: content`, mixed.content.map((b) => b.type).join() === 'text,image,resource', mixed);
    check(`${label}: isError`, (await call('test_error_handling')).isError === true);
    const wrong = await call('echo', { message: 7 });
    check(`${label}: wrong argument`, wrong.isError === true && text(wrong).includes('message'), wrong);
    await fails(`${label}: unknown tool`, call('nothing'), -32602);
    const resources = (await client.listResources()).resources;
    check(`${label}: resources`, resources.length === 3, resources);
    const read = await client.readResource({ uri: 'test://template/7/data' });
    check(`${label}: template`, JSON.parse(read.contents[0].text).id === '7', read);
    check(`${label}: templates`, (await client.listResourceTemplates()).resourceTemplates.length === 1);
    check(`${label}: prompts`, (await client.listPrompts()).prompts.length === 5);
    const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } });
    check(`${label}: prompt`, prompt.messages[0].content.text.includes("arg2='b'"), prompt);
    const completed = await client.complete({
        ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
        argument: { name: 'arg1', value: 'par' },
    });
    check(`${label}: completion`, completed.completion.values.join() === 'paris,park,party', completed);
    let seen = [];
    for (let i = 0; i < 50 && seen.length < 3; i++) {
        seen = [];
        await call('test_tool_with_progress', {}, { onprogress: (p) => seen.push(p.progress) });
    }
    check(`${label}: progress`, seen.join() === '0,50,100', seen);
    check(`${label}: sampling`, text(await call('test_sampling', { prompt: 'p' })).includes('Paris'));
    check(`${label}: elicitation`, text(await call('test_elicitation', { message: 'm' })).includes('yes'));
    check(`${label}: roots`, text(await call('test_input_required_result_list_roots')) === '1 root(s)');
    const many = await call('test_input_required_result_multiple_inputs');
    check(`${label}: three questions`, text(many) === 'Ada has 1 root(s)', many);
    const stop = new AbortController();
    const slow = call('slow', {}, { signal: stop.signal }).then(() => 'answered', () => 'aborted');
    setTimeout(() => stop.abort(), 20);
    check(`${label}: cancelled`, (await slow) === 'aborted');
    check(`${label}: parallel`, (await Promise.all([...Array(50).keys()].map((i) => call('echo', { message: `${i}` }))))
        .every((r, i) => text(r) === `${i}`));
    check(`${label}: large`, text(await call('large', { bytes: 3000000 })).length === 3000000);
}

async function sdk1() {
    const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const types = load('@modelcontextprotocol/sdk/types.js');
    const client = new Client({ name: 'test', version: '1' }, { capabilities });
    const logged = [], changed = [];
    let closing = false; // its own stream, which it then aborts, is an error to it
    client.setRequestHandler(types.CreateMessageRequestSchema, async () => answers.sampling);
    client.setRequestHandler(types.ElicitRequestSchema, async () => answers.elicitation);
    client.setRequestHandler(types.ListRootsRequestSchema, async () => answers.roots);
    client.setNotificationHandler(types.LoggingMessageNotificationSchema, (n) => void logged.push(n.params.data));
    client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => void changed.push('tools'));
    client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, (n) => void changed.push(n.params.uri));
    client.onerror = (error) => closing || isLate(error) || check('1.x: no transport error', false, error.message);
    const transport = http ? new StreamableHTTPClientTransport(new URL(fixture)) : new StdioClientTransport({ command: fixture });
    await client.connect(transport);
    check('1.x: server', client.getServerVersion().name === 'ptc-mcp-fixture');
    await common('1.x', client);
    await client.ping();
    await client.callTool({ name: 'test_tool_with_logging', arguments: {} });
    check('1.x: log', (await settle(logged, 3)).join() === 'begun,going on,done', logged);
    await client.setLoggingLevel('error');
    await client.callTool({ name: 'test_tool_with_logging', arguments: {} });
    check('1.x: log level', logged.length === 3, logged);
    await client.subscribeResource({ uri: 'test://watched-resource' });
    await client.callTool({ name: 'test_trigger_resource_change', arguments: {} });
    await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
    await settle(changed, 2);
    await client.unsubscribeResource({ uri: 'test://watched-resource' });
    await client.callTool({ name: 'test_trigger_resource_change', arguments: {} });
    check('1.x: changes', changed.join() === 'test://watched-resource,tools', changed);
    await fails('1.x: no resource', client.readResource({ uri: 'test://none' }), -32002);
    closing = true;
    if (http) await transport.terminateSession();
    await client.close();
}

async function client2(mode, era) {
    const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
    const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
    const label = `2.x ${era}`;
    const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
    const changed = [];
    client.setRequestHandler('sampling/createMessage', async () => answers.sampling);
    client.setRequestHandler('elicitation/create', async () => answers.elicitation);
    client.setRequestHandler('roots/list', async () => answers.roots);
    client.setNotificationHandler('notifications/tools/list_changed', () => void changed.push('tools'));
    client.setNotificationHandler('notifications/resources/updated', (n) => void changed.push(n.params.uri));
    client.onerror = (error) => isLate(error) || check(`${label}: no transport error`, false, error.message);
    const transport = http ? new StreamableHTTPClientTransport(new URL(fixture)) : new StdioClientTransport({ command: fixture });
    await client.connect(transport);
    check(`${label}: era`, client.getProtocolEra() === era, client.getProtocolEra());
    await common(label, client);
    if (era === 'modern') {
        const rounds = await client.callTool({ name: 'test_input_required_result_multi_round', arguments: {} });
        check(`${label}: two rounds`, text(rounds) === 'Ada likes blue', rounds);
        const asked = await client.getPrompt({ name: 'test_input_required_result_prompt' });
        check(`${label}: prompt asks`, asked.messages[0].content.text.includes('tests'), asked);
        await fails(`${label}: no resource`, client.readResource({ uri: 'test://none' }), -32602);
        const heard = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['test://watched-resource'] });
        for (const what of ['tool', 'prompt', 'resource'])
            await client.callTool({ name: `test_trigger_${what}_change`, arguments: {} });
        check(`${label}: heard`, (await settle(changed, 2)).join() === 'tools,test://watched-resource', changed);
        await heard.close();
        await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
        check(`${label}: heard no more`, changed.length === 2, changed);
    }
    await client.close();
}

main('mcp sdk clients', async () => {
    await sdk1();
    await client2('legacy', 'legacy');
    await client2('auto', 'modern');
    await client2({ pin: '2026-07-28' }, 'modern');
});
