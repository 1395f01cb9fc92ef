#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Calls that a person is asked about, with the official clients: sdk 1.x, client 2.x in both eras, with programs in workers
// and not.  test_approvals.js PTC NPM_DIR; NPM_DIR holds the node_modules that script/bootstrap made.
// test_approvals.js upstream HOME is the server that is called: it writes down every call.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const { spawn } = require('child_process');
const { check, main, requireNpm: load, target: ptc, text } = require('../checks.js');
const { Home, clients, evaluate } = require('./clients.js');

const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

// ------------------------------------------------------------------------------------ the upstream

function upstream(home) {
    const tools = () => JSON.parse(fs.readFileSync(path.join(home, 'tools.json'), 'utf8'));
    const answer = (m) => {
        if (m.method === 'initialize')
            return { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'notes', version: '1' } };
        if (m.method === 'tools/list') return { tools: tools() };
        if (m.method !== 'tools/call') return null;
        const { name, arguments: args } = m.params;
        fs.appendFileSync(path.join(home, 'calls'), `${name} ${args.text}\n`);
        return { content: [{ type: 'text', text: `${name} ${args.text}` }] };
    };
    fs.watchFile(path.join(home, 'tools.json'), { interval: 50 }, () =>
        process.stdout.write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'));
    readline.createInterface({ input: process.stdin }).on('line', (line) => {
        const m = JSON.parse(line);
        if (m.id === undefined) return;
        const result = answer(m);
        const body = result ? { result } : { error: { code: -32601, message: 'no' } };
        process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: m.id, ...body })}\n`);
    }).on('close', () => process.exit(0));
}

// ----------------------------------------------------------------------------------------- the rest

function plainTools(about = 'Writes a note') {
    return [{ name: 'read', description: 'Reads', inputSchema: TEXT, annotations: { readOnlyHint: true } },
        { name: 'write', description: about, inputSchema: TEXT, annotations: { destructiveHint: true } },
        { name: 'mail', description: 'Sends', inputSchema: TEXT }];
}

// A home with the upstream, and what was called in it.
class Place extends Home {
    constructor() {
        super('approvals');
        this.write({ upstreams: { notes: { command: process.execPath, args: [__filename, 'upstream', this.home] } } });
        this.setTools(plainTools());
    }

    setTools(tools) { fs.writeFileSync(path.join(this.home, 'tools.json'), JSON.stringify(tools)); }

    calls() {
        const file = path.join(this.home, 'calls');
        if (!fs.existsSync(file)) return [];
        const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
        fs.rmSync(file);
        return lines;
    }
}

// Answers questions from a list, and remembers them.
class Person {
    constructor() { this.questions = []; this.answers = []; }

    say(...answers) { this.answers = answers; this.questions = []; }

    elicit(params) {
        this.questions.push(params.message);
        const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
        if (answer === 'silence') return new Promise(() => {});
        if (answer === 'slowly') return new Promise((done) => { setTimeout(() => done({ action: 'accept', content: { decision: 'once' } }), 20); });
        if (answer === 'error') throw new Error('the dialog broke');
        if (typeof answer === 'object') return answer;
        if (answer === 'decline' || answer === 'cancel') return { action: answer };
        return { action: 'accept', content: { decision: answer } };
    }
}

// Without a person nothing is offered.
const kinds = Object.fromEntries(Object.entries(clients).map(([kind, connect]) => [kind,
    (place, person, ...options) => connect(place, person, options, person ? { elicitation: {} } : {})]));

const times = (calls, name) => calls.filter((c) => c.startsWith(`${name} `)).length;

async function decisions(label, client, place, person) {
    person.say('run');
    let r = await evaluate(client, '(let [a (notes/read {:text "a"})] (dotimes [i 50] (notes/write {:text (str i)})) a)');
    let calls = place.calls();
    check(`${label}: 50 writes`, !r.isError && r.structuredContent.result === 'read a', r);
    check(`${label}: asked once`, person.questions.length === 1 && /1\. destructive "notes"\/"write" {"text":"0"}/.test(person.questions[0]),
        person.questions);
    check(`${label}: each once`, times(calls, 'read') === 1 && times(calls, 'write') === 50 && new Set(calls).size === 51, calls.length);
    check(`${label}: effects`, r.structuredContent.effects.run_again === 'unsafe' && r.structuredContent.effects.ran[0].times === 50 &&
        text(r).includes('took effect: notes/write 50 times'), r.structuredContent);

    person.say('run');
    r = await evaluate(client, `(pmap (fn [i] (if (even? i) (notes/read {:text (str i)})
        (do (notes/read {:text (str "b" i)}) (notes/write {:text (str i)})))) (range 20))`);
    calls = place.calls();
    check(`${label}: pmap`, !r.isError && r.structuredContent.result[19] === 'write 19', r);
    check(`${label}: pmap, each once`, calls.length === 30 && new Set(calls).size === 30, calls);
    check(`${label}: pmap, one question`, person.questions.length === 1 && /10 calls/.test(person.questions[0]), person.questions);

    person.say('once');
    r = await evaluate(client, `(->> (range 250) (pmap #(try (notes/write {:text (str %)}) :done (catch Exception e (:reason (ex-data e)))))
        frequencies)`);
    calls = place.calls();
    check(`${label}: asked about as many as may be called`, person.questions.length === 1 && /make 200 calls/.test(person.questions[0]),
        person.questions);
    check(`${label}: the others are refused`, text(r).includes(':done 200') && text(r).includes(':cap_exhausted 50') &&
        new Set(calls).size === 200 && calls.length === 200, [r, calls.length]);

    person.say('once', 'once');
    r = await evaluate(client, '[(notes/write {:text "a"}) (notes/write {:text "b"})]');
    check(`${label}: once`, !r.isError && person.questions.length === 2 && place.calls().join() === 'write a,write b', r);

    person.say('no');
    r = await evaluate(client, `(let [f #(try (notes/write {:text %}) (catch Exception e (:reason (ex-data e))))]
        [(f "x") (f "y") (:reason (tool/call {:server "notes" :tool "write" :args {:text "z"}}))])`);
    check(`${label}: no`, text(r).startsWith('[:declined :declined :declined]') && place.calls().length === 0, r);
    check(`${label}: no, asked once`, person.questions.length === 1, person.questions);

    person.say('decline');
    r = await evaluate(client, '(notes/mail {:text "x"})');
    check(`${label}: declined`, r.isError && /said no/.test(text(r)) && /run again: safe/.test(text(r)), r);

    person.say('once', 'cancel');
    r = await evaluate(client, '(try (do (notes/write {:text "a"}) (notes/write {:text "b"})) (catch Exception e 1) (finally (notes/read {:text "c"})))');
    check(`${label}: cancel`, r.isError && text(r).startsWith('cancelled') && text(r).includes('took effect: notes/write'), r);
    check(`${label}: cancel ends it`, place.calls().join() === 'write a');

    person.say('process');
    await evaluate(client, '(notes/write {:text "a"})');
    r = await evaluate(client, '(notes/write {:text "b"})');
    check(`${label}: until it ends`, !r.isError && person.questions.length === 1, [r, person.questions]);
    place.calls();

    person.say('run');
    r = await evaluate(client, '(notes/read {:text (str (System/currentTimeMillis) (rand)) }) (notes/mail {:text (str (System/currentTimeMillis))})');
    check(`${label}: time`, !r.isError && place.calls().length === 2, r);
    r = await evaluate(client, '(notes/write {:text "b"})', { dry_run: 'reads' });
    const plan = await evaluate(client, `(notes/read {:text "a"})
(dotimes [i 3] (notes/write {:text (str i)})) (map notes/mail [{:text "x"}]) (tool/call {:server (str "no" "tes") :tool "read"})`,
    { dry_run: 'plan' });
    const sites = plan.structuredContent ? plan.structuredContent.result.calls : [];
    check(`${label}: plan`, sites.map((s) => `${s.line}:${s.column} ${s.tool} ${s.effect} ${s.policy} ${s.times}`).join() ===
        '1:2 read read allow once,2:17 write destructive ask many,2:52 mail unknown ask many,2:78 undefined undefined undefined once' &&
        sites[0].args.text === 'a' && sites[1].open[0] === 'text', plan);
    check(`${label}: dry run`, !r.isError && r.structuredContent.result.calls[0].args === '{"text":"b"}' && place.calls().length === 0, r);
}

// What was asked about is what runs and what is granted: each tool by its name, whatever there is before it.
async function named(label, connect) {
    const place = new Place();
    const person = new Person();
    const kept = path.join(place.home, '.local/state/ptc/approvals.json');
    const tool = (name) => ({ name, inputSchema: { type: 'object' }, annotations: { destructiveHint: name === 'wipe' } });
    const long = (i) => `t${i}_${'x'.repeat(240)}`;
    place.setTools([tool('write'), tool('wipe'), ...Array.from({ length: 100 }, (_, i) => tool(long(i)))]);
    const client = await connect(place, person);
    person.say('always');
    await evaluate(client, '(pmap (fn [i] (if (< i 30) (notes/write {:n i}) (notes/wipe {:all true}))) (range 32))');
    check(`${label}: every tool is named`, person.questions.length === 1 && /make 32 calls/.test(person.questions[0]) &&
        person.questions[0].includes('\n1. destructive "notes"/"wipe", 2 calls:\n   {"all":true}') &&
        person.questions[0].includes('\n2. write "notes"/"write", 30 calls:\n   {"n":') &&
        /and \d+ more, whose arguments are not shown$/.test(person.questions[0]), person.questions);
    check(`${label}: and called`, place.calls().length === 32);
    person.say('always', 'no');
    const r = await evaluate(client, `(->> (range 100) (pmap #(:ok (tool/call {:server "notes"
        :tool (str "t" % "_" (apply str (repeat 240 "x"))) :args {}}))) frequencies)`);
    const asked = (i, q) => person.questions[q].includes(`"notes"/"${long(i)}"`);
    const all = Array.from({ length: 100 }, (_, i) => i);
    check(`${label}: in portions`, person.questions.length === 2 && /\d+ more calls wait; this question is not about them/.test(person.questions[0]) &&
        all.every((i) => asked(i, 0) !== asked(i, 1)), person.questions);
    const yes = all.filter((i) => asked(i, 0));
    const granted = JSON.parse(fs.readFileSync(kept, 'utf8')).approvals.map((a) => a.tool);
    check(`${label}: what was named is called`, place.calls().length === yes.length && text(r).includes(`true ${yes.length}`), r);
    check(`${label}: and granted`, granted.length === yes.length + 2 && yes.every((i) => granted.includes(long(i))), granted.length);
    await client.close();
    place.remove();
}

// An always that cannot be kept says so in the answer, and holds as long as it can.
async function unkept(label, connect) {
    const place = new Place();
    const person = new Person();
    fs.mkdirSync(path.join(place.home, '.local'));
    fs.writeFileSync(path.join(place.home, '.local/state'), 'not a directory');
    const client = await connect(place, person);
    person.say('always');
    const r = await evaluate(client, '(notes/write {:text "a"})');
    check(`${label}: not kept`, !r.isError && /could not be kept for later: .*\.local\/state/.test(text(r)) &&
        /local\/state/.test(r.structuredContent.effects.not_kept), r);
    person.say('no');
    await evaluate(client, '(notes/write {:text "b"})');
    check(`${label}: not kept, but it holds`, person.questions.length === 0 && place.calls().join() === 'write a,write b');
    await client.close();
    place.remove();
}

// What is kept for longer than a run, and what is not.
async function longer(label, connect) {
    const place = new Place();
    const person = new Person();
    let client = await connect(place, person);
    person.say('process');
    await evaluate(client, '(notes/write {:text "a"})');
    place.setTools(plainTools('Writes a note somewhere else'));
    await client.close();
    client = await connect(place, person);
    person.say('always');
    let r = await evaluate(client, '(notes/write {:text "b"})');
    check(`${label}: a new process asks again`, !r.isError && person.questions.length === 1, r);
    await client.close();
    const kept = path.join(place.home, '.local/state/ptc/approvals.json');
    check(`${label}: kept for its owner alone`, (fs.statSync(kept).mode & 0o777) === 0o600 && /notes/.test(fs.readFileSync(kept, 'utf8')));
    client = await connect(place, person);
    person.say('no');
    r = await evaluate(client, '(notes/write {:text "c"})');
    check(`${label}: always`, !r.isError && person.questions.length === 0, r);
    await client.close();
    place.setTools(plainTools('Deletes everything'));
    client = await connect(place, person);
    r = await evaluate(client, '(notes/write {:text "d"})');
    check(`${label}: a changed tool is asked about`, r.isError && person.questions.length === 1, [r, person.questions]);
    check(`${label}: what was called`, place.calls().join() === 'write a,write b,write c');
    await client.close();
    client = await connect(place, null);
    r = await evaluate(client, '(notes/mail {:text "x"})');
    check(`${label}: cannot be asked`, r.isError && text(r).includes('"mail": "allow" in "policy" of notes'), r);
    await client.close();
    place.remove();
}

const tokenIn = (result) => (/"resume":"([^"]+)"/.exec(text(result)) || [])[1];

// One token used several times, and answers that are none.
async function lateAgain(label, client, place, person, resume) {
    const program = '(notes/write {:text "p"}) (notes/write {:text "q"})';
    person.say('silence');
    let token = tokenIn(await evaluate(client, program));
    person.say('slowly', 'silence');
    const [one, two] = await Promise.all([resume(token), resume(token)]);
    const next = tokenIn(one);
    check(`${label}: twice at once, suspended again`, next && text(one).startsWith('suspended') && text(two) === text(one) &&
        person.questions.length === 2, [one, two]);
    check(`${label}: twice at once, called`, place.calls().join() === 'write p');
    person.say('slowly');
    const [three, four] = await Promise.all([resume(next), resume(next)]);
    check(`${label}: twice at once`, text(three).includes('write q') && text(four) === text(three) && person.questions.length === 1,
        [three, four]);
    let r = await resume(token);
    check(`${label}: an older token`, text(r) === text(three) && place.calls().join() === 'write q', r);
    for (const [answer, wrong] of [[{ action: 'accept', content: { decision: 'maybe' } }, /"content" must have "decision", one of "once"/],
        [{ action: 'accept' }, /"content" must have "decision"/], ['error', /the dialog broke/]]) {
        person.say(answer);
        r = await evaluate(client, '(notes/write {:text "w"})');
        token = tokenIn(r);
        check(`${label}: no answer is told`, text(r).startsWith('suspended') && wrong.test(text(r)) && token, r);
        person.say('once');
        r = await resume(token);
        check(`${label}: and can be mended`, !r.isError && place.calls().join() === 'write w', r);
    }
}

// The client of a person who does not answer in time, and later does.
async function late(label, connect) {
    const place = new Place();
    const person = new Person();
    const client = await connect(place, person, '--approval-wait-ms', '300', '--sessions');
    person.say('silence');
    let r = await evaluate(client, '(notes/read {:text "a"}) (notes/write {:text "b"})');
    const token = (/"resume":"([^"]+)"/.exec(text(r)) || [])[1];
    check(`${label}: suspended`, r.isError && text(r).startsWith('suspended: 1 call') && token, r);
    const resume = (t) => client.callTool({ name: 'lisp_eval', arguments: { resume: t } });
    const altered = await resume(token.slice(0, -2) + (token.endsWith('AA') ? 'BB' : 'AA'));
    check(`${label}: altered`, altered.isError && /not a token/.test(text(altered)), altered);
    person.say('once');
    r = await resume(token);
    check(`${label}: resumed`, !r.isError && r.structuredContent.result === 'write b', r);
    check(`${label}: each once`, place.calls().join() === 'read a,write b');
    person.say('no');
    const again = await resume(token);
    check(`${label}: the same again`, text(again) === text(r) && person.questions.length === 0, again);
    const both = await client.callTool({ name: 'lisp_eval', arguments: { resume: token, program: '1' } });
    check(`${label}: not with a program`, both.isError && /alone/.test(text(both)), both);

    await lateAgain(label, client, place, person, resume);

    const id = (await client.callTool({ name: 'lisp_session_start', arguments: {} })).structuredContent.session_id;
    const inSession = (program) => client.callTool({ name: 'lisp_session_eval', arguments: { session_id: id, program } });
    person.say('silence');
    r = await inSession('(def x (notes/write {:text "s"}))');
    const held = /"resume":"([^"]+)"/.exec(text(r))[1];
    const free = await inSession('(def y 1)'); // it is not held while a person thinks
    check(`${label}: session is free`, !free.isError, free);
    person.say('once');
    r = await resume(held);
    check(`${label}: session resumed`, !r.isError, r);
    check(`${label}: session kept it`, text(await inSession('[x y]')).startsWith('["write s" 1]'));
    await client.close();
    place.remove();
}

// A model of the server writes the program: its calls are asked about in the same way.
function scripted(place, ...programs) {
    const file = path.join(place.home, 'replies.jsonl');
    fs.writeFileSync(file, programs.map((p) => JSON.stringify({ content: `\`\`\`clojure\n${p}\n\`\`\`` })).join('\n'));
    return ['--task', '--task-model', `script:${file}`, '--task-allow-writes', '--task-max-turns', '3'];
}

async function tasks(label, connect) {
    const place = new Place();
    const person = new Person();
    const both = '(return (pmap (fn [t] (notes/read {:text t}) (notes/write {:text t})) ["a" "b"]))';
    const programs = ['(def x (notes/read {:text "x"}))', '(do (notes/write {:text x}) (return (notes/mail {:text "m"})))', both,
        '(return (try (notes/write {:text "n"}) (catch Exception e (:reason (ex-data e)))))', '(notes/write {:text "c"})', both];
    const client = await connect(place, person, ...scripted(place, ...programs), '--approval-wait-ms', '1000');
    const task = (args = { task: 'Do it.' }) => client.callTool({ name: 'lisp_task', arguments: args });
    person.say('once', 'once');
    let r = await task();
    check(`${label}: task`, !r.isError && r.structuredContent.answer === 'mail m' && r.structuredContent.planner.requests === 2, r);
    check(`${label}: task, each once`, place.calls().join() === 'read x,write read x,mail m' && person.questions.length === 2, person.questions);
    check(`${label}: task, effects`, r.structuredContent.effects.ran.length === 2 && r.structuredContent.upstream_calls[1].approved === true,
        r.structuredContent);
    person.say('run');
    r = await task();
    check(`${label}: task, pmap`, !r.isError && r.structuredContent.structured_result.join() === 'write a,write b' && person.questions.length === 1 &&
        place.calls().length === 4, r);
    person.say('no');
    r = await task();
    check(`${label}: task, no`, !r.isError && r.structuredContent.answer === 'declined' && place.calls().length === 0, r);
    person.say('cancel');
    r = await task();
    check(`${label}: task, cancel`, r.isError && text(r).startsWith('cancelled') && place.calls().length === 0, r);
    if (label !== '2.x modern') {
        person.say('silence');
        r = await task();
        const token = (/lisp_task {"resume":"([^"]+)"/.exec(text(r)) || [])[1];
        check(`${label}: task, suspended`, r.isError && text(r).startsWith('suspended: 2 calls') && token, r);
        const wrong = await client.callTool({ name: 'lisp_eval', arguments: { resume: token } });
        check(`${label}: task, other tool`, wrong.isError && /for lisp_task/.test(text(wrong)), wrong);
        person.say('once');
        r = await task({ resume: token });
        check(`${label}: task, resumed`, !r.isError && r.structuredContent.structured_result.join() === 'write a,write b', r);
        check(`${label}: task, the same again`, text(await task({ resume: token })) === text(r) && person.questions.length === 1);
        check(`${label}: task, resumed once`, place.calls().length === 4);
    } else {
        person.say('silence');
        task().catch(() => 0); // it waits while the server ends
        for (let i = 0; i < 100 && !person.questions.length; i++) await new Promise((done) => { setTimeout(done, 50); });
    }
    await client.close();
    place.remove();
}

// Tokens of a modern client, by hand.
async function tokens() {
    const { Client } = load('@modelcontextprotocol/client');
    const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
    const connect = async (place, ...options) => {
        const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' }, inputRequired: { autoFulfill: false },
            capabilities: { elicitation: {} } });
        const transport = new StdioClientTransport(place.server(...options));
        await client.connect(transport);
        return { client, transport };
    };
    const send = (client, args, more = {}) => client.request({ method: 'tools/call', params: { name: 'lisp_eval', arguments: args, ...more } },
        { allowInputRequired: true }).catch((error) => ({ error }));
    const key = (asked) => Object.keys(asked.inputRequests)[0];
    const yes = (decision, asked = first) => ({ [key(asked)]: { action: 'accept', content: { decision } } });
    const place = new Place();
    const { client, transport } = await connect(place);
    const args = { program: '(notes/write {:text "a"}) (notes/write {:text "b"})' };
    const first = await send(client, args);
    check('tokens: asked', first.resultType === 'input_required' && key(first).startsWith('approve-0-'), first);
    const state = first.requestState;
    let r = await send(client, args, { requestState: state.slice(0, -2) + (state.endsWith('AA') ? 'BB' : 'AA'), inputResponses: yes('once') });
    check('tokens: altered', r.error && r.error.code === -32602, r);
    r = await send(client, { program: '(notes/write {:text "z"})' }, { requestState: state, inputResponses: yes('once') });
    check('tokens: other arguments', r.error && r.error.code === -32602, r);
    const guesses = {};
    for (const name of ['approve-0', 'approve-1', 'approve-0-0000000000000000', key(first)])
        guesses[name] = { action: 'accept', content: { decision: 'run' } };
    r = await send(client, { program: '(notes/write {:text "y"})' }, { inputResponses: guesses });
    check('tokens: answers to what was not asked', r.resultType === 'input_required', r);
    check('tokens: nothing was called', place.calls().length === 0);
    const unable = { _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } };
    r = await send(client, args, { requestState: state, ...unable });
    check('tokens: no answer, and nobody to ask', r.isError && text(r).startsWith('suspended') && text(r).includes(key(first)), r);
    for (const wrong of [{ action: 'maybe' }, { action: 'accept' }, { action: 'accept', content: { decision: 1 } }]) {
        r = await send(client, args, { requestState: state, inputResponses: { [key(first)]: wrong } });
        check('tokens: no answer', r.isError && text(r).startsWith('args_error') && /must/.test(text(r)), r);
    }
    r = await send(client, args, { requestState: state });
    check('tokens: no answer is asked again', r.resultType === 'input_required' && key(r).startsWith('approve-0-'), r);
    const second = await send(client, args, { requestState: state, inputResponses: yes('once') });
    check('tokens: asked again', second.resultType === 'input_required' && key(second).startsWith('approve-1-'), second);
    r = await send(client, args, { requestState: state, inputResponses: yes('once') });
    check('tokens: the same retry', r.resultType === 'input_required' && key(r).startsWith('approve-1-'), r);
    r = await send(client, args, { requestState: state, inputResponses: yes('run') });
    check('tokens: another answer', r.isError && /already/.test(text(r)), r);
    const [one, two] = await Promise.all([1, 2].map(() => send(client, args, { requestState: second.requestState, inputResponses: yes('once', second) })));
    check('tokens: twice at once', !one.isError && text(one) === text(two), [one, two]);
    r = await send(client, args, { requestState: second.requestState, inputResponses: yes('once', second) });
    check('tokens: the same answer', text(r) === text(one), r);
    r = await send(client, args, { requestState: second.requestState, inputResponses: yes('no', second) });
    check('tokens: used up', r.isError && /already/.test(text(r)), r);
    check('tokens: each once', place.calls().join() === 'write a,write b');

    const third = await send(client, args);
    const fourth = await send(client, args, { requestState: third.requestState, inputResponses: yes('once', third) });
    process.kill(transport.pid, 'SIGKILL');
    await client.close();
    const next = (await connect(place)).client;
    r = await send(next, args, { requestState: fourth.requestState, inputResponses: yes('once', fourth) });
    check('tokens: killed', r.isError && text(r).startsWith('lost') && text(r).includes('took effect: notes/write'), r);
    await next.close();
    check('tokens: killed, called', place.calls().join() === 'write a');

    const short = (await connect(place, '--approval-ttl-ms', '50')).client;
    const fifth = await send(short, args);
    await new Promise((done) => { setTimeout(done, 100); });
    r = await send(short, args, { requestState: fifth.requestState, inputResponses: yes('once', fifth) });
    check('tokens: expired', r.isError && text(r).startsWith('expired') && place.calls().length === 0, r);
    await short.close();
    const brief = (await connect(place, '--approval-ttl-ms', '1500')).client;
    const begun = await send(brief, args);
    const went = await send(brief, args, { requestState: begun.requestState, inputResponses: yes('once', begun) });
    for (r = went; r.requestState;) {
        await new Promise((done) => { setTimeout(done, 100); });
        r = await send(brief, args, { requestState: begun.requestState, inputResponses: yes('once', begun) });
    }
    check('tokens: an old one knows what happened', went.requestState && text(r).startsWith('expired') && place.calls().join() === 'write a' &&
        text(r).includes('took effect: notes/write'), r);
    await brief.close();

    const other = (await connect(place)).client;
    const sixth = await send(other, args);
    place.setTools(plainTools('Changed between question and answer'));
    for (let i = 0, seen = ''; i < 200 && !seen.includes('Changed'); i++) {
        await new Promise((done) => { setTimeout(done, 100); });
        seen = text(await send(other, { program: "(:doc (meta 'notes/write))" }));
    }
    r = await send(other, args, { requestState: sixth.requestState, inputResponses: yes('once', sixth) });
    check('tokens: changed meanwhile, so it is asked again', r.requestState && place.calls().length === 0, r);
    await other.close();
    place.remove();
}

// Two people share a server over HTTP: the token of one is of no use to the other.
async function http(place, ...options) {
    const how = place.server('--http', '127.0.0.1:0', ...options, '--quiet');
    const child = spawn(how.command, how.args, { env: how.env, stdio: ['ignore', 'ignore', 'pipe'] });
    const port = await new Promise((done) => {
        readline.createInterface({ input: child.stderr }).on('line', (line) => {
            const found = /listening on port (\d+)/.exec(line);
            if (found) done(found[1]);
        });
    });
    const post = async (token, more = {}, capabilities = { elicitation: {} }) => {
        const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': capabilities,
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' } };
        const answer = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST',
            headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream',
                ...(token ? { authorization: `Bearer ${token}` } : {}),
                'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'lisp_eval' },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'lisp_eval',
                arguments: { program: '(notes/write {:text "h"})' }, _meta: meta, ...more } }) });
        const body = await answer.text();
        return JSON.parse(body.startsWith('{') ? body : /data: (.*)/.exec(body)[1]);
    };
    return { child, post };
}

async function foreign() {
    const place = new Place();
    const file = path.join(place.home, 'tokens');
    fs.writeFileSync(file, 'ann aaaaaaaaaaaaaaaaaaaaaaaa\nbob bbbbbbbbbbbbbbbbbbbbbbbb\n', { mode: 0o600 });
    const { child, post } = await http(place, '--token-file', file);
    const [ann, bob] = ['a', 'b'].map((c) => c.repeat(24));
    const asked = await post(ann);
    check('http: asked', asked.result && asked.result.resultType === 'input_required', asked);
    const reply = { requestState: asked.result.requestState, inputResponses: {
        [Object.keys(asked.result.inputRequests)[0]]: { action: 'accept', content: { decision: 'process' } } } };
    const stolen = await post(bob, reply);
    check('http: of another', stolen.error && stolen.error.code === -32602 && place.calls().length === 0, stolen);
    const mine = await post(ann, reply);
    check('http: one\'s own', mine.result && !mine.result.isError && place.calls().length === 1, mine);
    const other = await post(bob);
    check('http: approved by another', other.result && other.result.resultType === 'input_required', other);
    child.kill();
    place.remove();
}

// What was allowed over stdio is not allowed to whoever reaches an HTTP server without tokens, nor to clients that cannot be asked.
async function inherited() {
    const place = new Place();
    const person = new Person();
    let client = await kinds['1.x'](place, person);
    person.say('always');
    await evaluate(client, '(notes/write {:text "a"})');
    await client.close();
    check('inherited: always', place.calls().join() === 'write a');
    const { child, post } = await http(place);
    let r = await post(null);
    check('inherited: http asks again', r.result && r.result.resultType === 'input_required', r);
    r = await post(null, {}, {});
    check('inherited: http denies', r.result && r.result.isError && /nobody can be asked/.test(text(r.result)), r);
    child.kill();
    for (const kind of Object.keys(kinds)) {
        client = await kinds[kind](place, null);
        r = await evaluate(client, '(notes/write {:text "b"})');
        check(`inherited: ${kind} without a person`, r.isError && /nobody can be asked/.test(text(r)), r);
        await client.close();
    }
    check('inherited: nothing was called', place.calls().length === 0);
    client = await kinds['1.x'](place, person);
    r = await evaluate(client, '(notes/write {:text "c"})');
    check('inherited: it still holds', !r.isError && place.calls().join() === 'write c', r);
    await client.close();
    place.remove();
}

if (process.argv[2] === 'upstream') upstream(process.argv[3]);
else main('approvals', async () => {
    for (const isolation of ['on', 'none'])
        for (const [kind, connect] of Object.entries(kinds)) {
            const place = new Place();
            const person = new Person();
            const label = `${kind}, isolation ${isolation}`;
            const client = await connect(place, person, '--isolation', isolation);
            await client.listTools();
            await decisions(label, client, place, person);
            await client.close();
            place.remove();
        }
    for (const [kind, connect] of Object.entries(kinds)) await named(kind, connect);
    for (const [kind, connect] of Object.entries(kinds)) await unkept(kind, connect);
    for (const [kind, connect] of Object.entries(kinds)) await longer(kind, connect);
    for (const kind of ['1.x', '2.x legacy']) await late(kind, kinds[kind]);
    for (const [kind, connect] of Object.entries(kinds)) await tasks(kind, connect);
    await tokens();
    await foreign();
    await inherited();
});
