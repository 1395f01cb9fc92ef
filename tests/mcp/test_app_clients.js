#!/usr/bin/env node
// Clients of other makers against ptc mcp, over stdio, or with a URL over HTTP: what they hand to a model must be enough to
// go on with.  AI SDK shows the text, OpenAI Agents the text or, when told so, the structured content.
// test_app_clients.js PTC|URL NPM_DIR; NPM_DIR holds the node_modules that script/bootstrap made.
'use strict';
const { pathToFileURL } = require('url');
const { check, http, main, requireNpm, target: ptc } = require('../checks.js');

const load = (name) => import(pathToFileURL(requireNpm.resolve(name)));
const server = { command: ptc, args: ['mcp', '--sessions', '--profile', 'slim'] };
const long = '(reduce (fn [a i] (reduce + a (range 100000))) 0 (range 100000))';

// Each gives names() and see(tool, arguments, signal): the string that a model would get.
async function aiSdk() {
    const { createMCPClient } = await load('@ai-sdk/mcp');
    const { Experimental_StdioMCPTransport: Stdio } = await load('@ai-sdk/mcp/mcp-stdio');
    const transport = http ? { type: 'http', url: ptc } : new Stdio({ ...server, stderr: 'ignore' });
    const client = await createMCPClient({ transport });
    const tools = await client.tools();
    const see = async (name, input, abortSignal) => {
        const output = await tools[name].execute(input, { toolCallId: '1', messages: [], abortSignal });
        const shown = await tools[name].toModelOutput({ toolCallId: '1', input, output });
        return shown.value.map((part) => part.text).join('\n');
    };
    return { names: () => Object.keys(tools), see, close: () => client.close() };
}

async function openaiAgents(useStructuredContent) {
    const agents = await load('@openai/agents-core');
    const options = { name: 'ptc', cacheToolsList: true, useStructuredContent };
    const link = http ? new agents.MCPServerStreamableHttp({ ...options, url: ptc }) : new agents.MCPServerStdio({ ...options, ...server });
    await link.connect();
    const rows = await agents.getAllMcpTools({ mcpServers: [link] });
    const tools = Object.fromEntries(rows.map((tool) => [tool.name, tool]));
    const see = async (name, input, signal) => {
        if (signal) return link.callTool(name, input, undefined, { signal });
        const shown = await tools[name].invoke(new agents.RunContext({}), JSON.stringify(input));
        return typeof shown === 'string' ? shown : [shown].flat().map((part) => part.text).join('\n');
    };
    return { names: () => Object.keys(tools), see, close: () => link.close() };
}

// What was shown, parsed when it is the structured content: {value, error, cut}.
function understand(shown, structured) {
    if (structured && shown.startsWith('{')) {
        const data = JSON.parse(shown);
        const next = data.next_offset && { handle: data.result_handle, offset: data.next_offset };
        return { value: 'text' in data ? data.text : data.result, cut: next, data };
    }
    const cut = /\n\[cut: .* lisp_result_page (\{.*\}) goes on\]$/.exec(shown);
    const page = /\n\[\d+ of \d+ bytes; the next page has offset (\d+)\]$/.exec(shown);
    const next = cut ? JSON.parse(cut[1]) : page && { offset: Number(page[1]) };
    return { value: next ? shown.slice(0, (cut || page).index) : shown, cut: next };
}

async function wholeResult(see, structured) {
    let got = understand(await see('lisp_eval', { program: '(vec (range 20000))' }), structured);
    let text = got.value;
    const { handle } = got.cut || {};
    for (let pages = 0; got.cut && pages < 20; pages++) {
        got = understand(await see('lisp_result_page', { handle, offset: got.cut.offset }), structured);
        text += got.value;
    }
    return text;
}

async function useSession(see, structured, label) {
    const started = await see('lisp_session_start', { title: label });
    const session_id = (/[\w-]{16,}/.exec(structured ? JSON.parse(started).session_id : started) || [])[0];
    await see('lisp_session_eval', { session_id, program: '(def x 20)' });
    const twice = understand(await see('lisp_session_eval', { session_id, program: '(* 2 x)' }), structured);
    check(`${label}: session`, String(twice.value) === '40', twice);
    await see('lisp_session_close', { session_id });
    const closed = await see('lisp_session_eval', { session_id, program: 'x' });
    check(`${label}: closed session`, closed.startsWith('unknown_session'), closed);
}

async function giveUp(see, label) {
    const control = new AbortController();
    setTimeout(() => control.abort(), 50);
    const ended = await see('lisp_eval', { program: long }, control.signal).then((shown) => shown, () => 'given up');
    check(`${label}: given up`, ended === 'given up', ended);
}

async function use(label, { names, see, close }, structured) {
    check(`${label}: tools`, names().includes('lisp_eval') && names().includes('lisp_session_eval'), names());
    for (const [program, text, value] of [['(+ 1 2)', '3', 3], ['{:n [1 nil "é"]}', '{:n [1 nil "é"]}', { n: [1, null, 'é'] }]]) {
        const got = understand(await see('lisp_eval', { program }), structured).value;
        check(`${label}: ${program}`, JSON.stringify(got) === JSON.stringify(structured ? value : text), got);
    }
    const warned = await see('lisp_eval', { program: '(do (println "a line") (count data/nothing))' });
    check(`${label}: prints and warnings`, warned.includes('a line') && warned.includes('data/nothing'), warned);
    const bad = await see('lisp_eval', { program: '(/ 1 0)' });
    check(`${label}: error`, bad.startsWith('runtime_error') && bad.includes('division by zero'), bad);
    const text = await wholeResult(see, structured);
    check(`${label}: all pages`, text === `[${[...Array(20000).keys()].join(' ')}]`, [text.length, text.slice(-100)]);
    await useSession(see, structured, label);
    await giveUp(see, label);
    const all = await Promise.all([...Array(50).keys()].map((i) => see('lisp_eval', { program: `(* ${i} 10)` })));
    check(`${label}: parallel`, all.every((shown, i) => String(understand(shown, structured).value) === `${i * 10}`), all);
    await close();
}

main('ptc mcp with other clients', async () => {
    await use('AI SDK', await aiSdk(), false);
    await use('OpenAI Agents', await openaiAgents(false), false);
    await use('OpenAI Agents, structured', await openaiAgents(true), true);
});
