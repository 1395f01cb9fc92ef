#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// What upstreams ask whoever runs a program (forms, sampling), with the official clients: sdk 1.x, client 2.x in both eras.
// test_inquiries.js PTC NPM_DIR; NPM_DIR holds the node_modules that script/bootstrap made.
// test_inquiries.js upstream HOME legacy|modern is the server that asks: it writes down what it hears.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const { spawn } = require('child_process');
const { check, main, npmDir, text } = require('../checks.js');
const { Home, clients, evaluate } = require('./clients.js');

const TEXT = { type: 'object', properties: { text: { type: 'string' } } };
const FORM = { type: 'object', properties: { name: { type: 'string', title: 'Na\u200bme' }, decision: { type: 'string' } } };
const later = (ms) => new Promise((done) => { setTimeout(done, ms); });

// ------------------------------------------------------------------------------------ the upstream

const form = (message) => ['elicitation/create', { message, requestedSchema: FORM }];
const prompt = (text) => ['sampling/createMessage', { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 5,
    includeContext: 'allServers' }];

class Upstream {
    constructor(home) { this.home = home; this.waiting = new Map(); this.number = 0; }

    note(line) { fs.appendFileSync(path.join(this.home, 'heard'), `${line}\n`); }

    send(message) { process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`); }

    // What was answered, or the error.
    ask([method, params], id = `q${++this.number}`) {
        this.send({ id, method, params });
        return new Promise((done) => { this.waiting.set(id, done); });
    }

    async call(name, text) {
        this.note(`${name} ${text}`);
        if (name === 'ask') return JSON.stringify(await this.ask(form(`Who is ${text}?`)));
        if (name === 'twice') return JSON.stringify([await this.ask(form(`A ${text}`)), await this.ask(form(`B ${text}`))]);
        if (name === 'sample') return JSON.stringify(await this.ask(prompt(text)));
        if (name === 'roots') return JSON.stringify(await this.ask(['roots/list', {}]));
        if (name === 'long') return JSON.stringify(await this.ask(form('x'.repeat(70000))));
        if (name === 'many') {
            let last;
            for (let i = 0; i < 10; i++) last = await this.ask(form(`${i}`));
            return JSON.stringify(last);
        }
        if (name === 'dies') {
            this.ask(form('Who?'));
            await later(200);
            process.exit(1);
        }
        if (name === 'withdraws') {
            this.ask(form('Who?'), 'gone');
            this.send({ method: 'notifications/cancelled', params: { requestId: 'gone' } });
        }
        if (name === 'slow') await later(1500);
        return `${name} ${text}`;
    }

    // The modern era: a call is answered with the question, and comes again.
    input(params) {
        const { name, arguments: args, inputResponses: given, requestState } = params;
        this.note(`${name} ${args.text} ${given ? JSON.stringify(given) : ''}`);
        const wants = { ask: { who: form(`Who is ${args.text}?`) }, sample: { said: prompt(args.text) },
            twice: { a: form('A'), b: prompt('B') }, roots: { where: ['roots/list', {}] } }[name];
        if (!wants) return { resultType: 'complete', content: [{ type: 'text', text: `${name} ${args.text}` }] };
        if (given && requestState === `state of ${args.text}`)
            return { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(given) }] };
        const inputRequests = {};
        for (const [key, [method, p]] of Object.entries(wants)) inputRequests[key] = { method, params: p };
        return { resultType: 'input_required', inputRequests, requestState: `state of ${args.text}` };
    }

    tools() {
        const read = new Set(['read', 'slow']);
        return ['read', 'ask', 'twice', 'sample', 'roots', 'long', 'many', 'dies', 'withdraws', 'slow', 'write'].map((name) => ({ name, inputSchema: TEXT,
            annotations: name === 'write' ? { destructiveHint: true } : { readOnlyHint: name !== 'ask' || read.has(name), destructiveHint: false } }));
    }

    async answer(m, modern) {
        if (m.method === 'server/discover' && modern)
            return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'asks', version: '1' },
                _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'asks', version: '1' } } };
        if (m.method === 'initialize' && !modern) {
            this.note(`capabilities ${JSON.stringify(m.params.capabilities)}`);
            return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'asks', version: '1' } };
        }
        if (m.method === 'tools/list') return { resultType: 'complete', ttlMs: 1000, cacheScope: 'private', tools: this.tools() };
        if (m.method !== 'tools/call') return null;
        if (modern) return this.input(m.params);
        return { content: [{ type: 'text', text: await this.call(m.params.name, m.params.arguments.text) }] };
    }

    serve(modern) {
        readline.createInterface({ input: process.stdin }).on('line', async (line) => {
            const m = JSON.parse(line);
            if (!m.method) {
                this.note(`answer ${JSON.stringify(m.result || { error: m.error.code })}`);
                const done = this.waiting.get(m.id);
                if (done) done(m.result || { error: m.error.code });
                return;
            }
            if (m.method === 'notifications/cancelled') this.note('cancelled');
            if (m.id === undefined) return;
            const result = await this.answer(m, modern);
            this.send({ id: m.id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) });
        }).on('close', () => process.exit(0));
    }
}

// ----------------------------------------------------------------------------------------- the rest

class Place extends Home {
    constructor(more = {}) {
        super('inquiries');
        const own = (era) => ({ command: process.execPath, args: [__filename, 'upstream', this.home, era], ...more });
        const every = path.join(npmDir, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
        this.write({ upstreams: { old: own('legacy'), new: own('modern'), every: { command: process.execPath, args: [every] } },
            policy: { '*/write': 'ask', '*/*': 'allow' } });
    }

    heard(what = '') {
        const file = path.join(this.home, 'heard');
        if (!fs.existsSync(file)) return [];
        const lines = fs.readFileSync(file, 'utf8').trim().split('\n').filter((l) => l.startsWith(what));
        if (!what) fs.rmSync(file);
        return lines;
    }
}

class Person {
    constructor() { this.questions = []; this.answers = []; }

    say(...answers) { this.answers = answers; this.questions = []; }

    next() { return this.answers.length > 1 ? this.answers.shift() : this.answers[0]; }

    elicit(params) {
        this.questions.push(params);
        const answer = this.next();
        if (answer === 'silence') return new Promise(() => {});
        if (answer === 'decline' || answer === 'cancel') return { action: answer };
        return { action: 'accept', content: typeof answer === 'string' ? { name: answer } : answer };
    }

    roots() {
        this.questions.push('roots');
        return this.where === 'silence' ? new Promise(() => {}) : { roots: this.where.map((uri) => ({ uri, name: 'a\u200bb' })) };
    }

    sample(params) {
        this.questions.push(params);
        const answer = this.next();
        if (answer === 'error') throw new Error('no model here');
        return { role: 'assistant', content: { type: 'text', text: answer }, model: 'm' };
    }
}

const CAPABILITIES = { elicitation: {}, sampling: {} };
const kinds = Object.fromEntries(Object.entries(clients).map(([kind, connect]) => [kind,
    (place, person, options = [], capabilities = CAPABILITIES) => connect(place, person, options, capabilities)]));

const value = (r) => (r.structuredContent ? r.structuredContent.result : undefined);

// The official server, which asks where it was offered.
async function everything(label, client, person) {
    person.say('the model says so');
    let r = await evaluate(client, '(every/trigger-sampling-request {:prompt "hello" :maxTokens 20})');
    check(`${label}: everything samples`, /the model says so/.test(text(r)) && person.questions[0].messages[0].content.text.startsWith('[every] '), r);
    person.say({ name: 'Ann', check: true });
    r = await evaluate(client, '(every/trigger-elicitation-request {})');
    check(`${label}: everything elicits`, /Name: Ann/.test(text(r)) && person.questions[0].message.startsWith('The server "every" asks: '), r);
}

async function questions(label, client, place, person) {
    place.heard();
    person.say('Ann');
    let r = await evaluate(client, '[(old/read {:text "a"}) (:name (:content (old/ask {:text "b"}))) (old/read {:text "c"})]');
    check(`${label}: a form`, !r.isError && JSON.stringify(value(r)) === '["read a","Ann","read c"]', r);
    check(`${label}: each once`, place.heard().filter((l) => /^(read|ask)/.test(l)).join() === 'read a,ask b,read c');
    check(`${label}: clean words`, person.questions.length === 1 && person.questions[0].message === 'The server "old" asks: Who is b?' &&
        person.questions[0].requestedSchema.properties.name.title === 'Na\\u{200b}me', person.questions);

    person.say('one', 'two');
    r = await evaluate(client, '(mapv #(:name (:content %)) (old/twice {:text "t"}))');
    check(`${label}: two in a row`, JSON.stringify(value(r)) === '["one","two"]' && place.heard('twice').length === 1, r);
    place.heard();

    person.say('P');
    r = await evaluate(client, '(pmap #(:name (:content (old/ask {:text %}))) ["a" "b" "c"])');
    check(`${label}: in a pmap`, JSON.stringify(value(r)) === '["P","P","P"]' && person.questions.length === 3 && place.heard('ask').length === 3, [r, person.questions]);
    place.heard();

    for (const action of ['decline', 'cancel']) {
        person.say(action);
        r = await evaluate(client, '(:action (old/ask {:text "x"}))');
        check(`${label}: ${action} is passed on`, value(r) === action, r);
    }
    person.say('hi');
    r = await evaluate(client, '(:text (:content (old/sample {:text "s"})))');
    check(`${label}: sampling`, value(r) === 'hi' && !('includeContext' in person.questions[0]), [r, person.questions]);
    if (label !== '2.x modern') { // whose client throws by itself, and never comes back
        person.say('error');
        r = await evaluate(client, '(:error (old/sample {:text "s"}))');
        check(`${label}: sampling fails`, value(r) === -32603, r);
    }

    person.say('x');
    r = await evaluate(client, '[(:error (old/roots {:text "r"})) (:error (old/long {:text "l"}))]');
    check(`${label}: refused`, JSON.stringify(value(r)) === '[-32601,-32603]' && person.questions.length === 0, r);
    r = await evaluate(client, '(:error (old/many {:text "m"}))');
    check(`${label}: too many`, value(r) === -32603 && person.questions.length === 8, [r, person.questions.length]);
    r = await evaluate(client, '(old/withdraws {:text "w"})');
    check(`${label}: withdrawn`, value(r) === 'withdraws w', r);

    person.say({ name: 'Ann' }, { decision: 'once' });
    r = await evaluate(client, '[(:name (:content (old/ask {:text "q"}))) (old/write {:text "w"})]');
    check(`${label}: with an approval`, JSON.stringify(value(r)) === '["Ann","write w"]' && person.questions.length === 2, [r, person.questions]);

    person.say({ name: 'x', decision: 'always' });
    r = await evaluate(client, '(pmap (fn [f] (try (f {:text "d"}) (catch Exception e (:reason (ex-data e))))) [old/dies])');
    check(`${label}: it dies`, r.isError || /unavailable/.test(text(r)), r);
    place.heard();

    person.say('Bob');
    r = await evaluate(client, '[(new/read {:text "a"}) (:name (:content (:who (new/ask {:text "b"}))))]');
    check(`${label}: modern form`, JSON.stringify(value(r)) === '["read a","Bob"]' && place.heard('ask').length === 2 && place.heard('read').length === 1, r);
    person.say('Cid', 'said');
    r = await evaluate(client, '(let [r (new/twice {:text "t"})] [(:name (:content (:a r))) (:text (:content (:b r)))])');
    check(`${label}: modern, both`, JSON.stringify(value(r)) === '["Cid","said"]' && person.questions.length === 2, [r, person.questions]);
    r = await evaluate(client, '(try (new/roots {:text "t"}) (catch Exception e (:reason (ex-data e))))');
    check(`${label}: modern, refused`, /input_required/.test(text(r)), r);
}

// Nobody answers in time; another program asks the same server meanwhile.
async function late(label, connect) {
    const place = new Place();
    const person = new Person();
    const client = await connect(place, person, ['--approval-wait-ms', '400']);
    person.say('silence');
    let r = await evaluate(client, '[(old/read {:text "a"}) (:name (:content (old/ask {:text "b"})))]');
    const token = (/"resume":"([^"]+)"/.exec(text(r)) || [])[1];
    check(`${label}: suspended`, r.isError && text(r).startsWith('suspended: a server') && token, r);
    person.say('Eve');
    r = await evaluate(client, '(mapv #(:name (:content %)) [(old/ask {:text "meanwhile"}) (old/ask {:text "again"})])');
    check(`${label}: others are asked meanwhile`, JSON.stringify(value(r)) === '["Eve","Eve"]', r);
    person.say('Dan');
    r = await client.callTool({ name: 'lisp_eval', arguments: { resume: token } });
    check(`${label}: resumed`, JSON.stringify(value(r)) === '["read a","Dan"]' && place.heard('read').length === 1 && place.heard('ask b').length === 1, r);
    const [slow, asks] = await Promise.all([evaluate(client, '(old/slow {:text "s"})'),
        later(300).then(() => evaluate(client, '(:error (old/ask {:text "whose"}))'))]);
    check(`${label}: whose question is not known`, value(slow) === 'slow s' && value(asks) === -32603, [slow, asks]);
    person.say('silence');
    const abort = new AbortController();
    const call = client.callTool({ name: 'lisp_eval', arguments: { program: '(old/ask {:text "c"})' } }, undefined, { signal: abort.signal }).catch(() => 0);
    await later(150);
    abort.abort();
    await call;
    const refused = () => place.heard('answer {"error"').length;
    for (let i = 0; i < 100 && refused() < 2; i++) await later(50);
    check(`${label}: cancelled`, refused() === 2, place.heard());
    r = await evaluate(client, '(old/read {:text "after"})');
    check(`${label}: goes on`, value(r) === 'read after', r);
    await client.close();
    place.remove();
}

// A program that is not the same when it is run again gets nothing that was asked for another call.
async function other(label, connect) {
    const place = new Place();
    const person = new Person();
    const tools = path.join(place.home, 'tools.json');
    fs.writeFileSync(tools, JSON.stringify({ t: { command: ['date', '+1%N'], read_only: true } }));
    const client = await connect(place, person, ['--tools', `@${tools}`]);
    for (const server of ['old', 'new']) {
        person.say('Gus');
        const r = await evaluate(client, `(${server}/ask {:text (str (tool/t {}))})`);
        check(`${label}: ${server} diverges`, r.isError && /replay_diverged|called something other/.test(text(r)) && person.questions.length === 1, r);
        check(`${label}: ${server} is called once`, place.heard('ask').length === 1, place.heard('ask'));
        place.heard();
    }
    await client.close();
    place.remove();
}

// What was not offered is refused.
async function without(label, connect) {
    for (const [more, capabilities, offered] of [[{}, {}, '{}'], [{ elicitation: false }, CAPABILITIES, '{"sampling":{}}'],
        [{}, { sampling: {} }, '{"sampling":{}}'], [{ sampling: false }, CAPABILITIES, '{"elicitation":{"form":{}}}']]) {
        const place = new Place(more);
        const person = new Person();
        const client = await connect(place, person, [], capabilities);
        person.say('yes');
        const what = `${label}: ${JSON.stringify(more)} ${JSON.stringify(capabilities)}`;
        const r = await evaluate(client, '[(:error (old/ask {:text "x"})) (:error (old/sample {:text "x"}))]');
        check(what, JSON.stringify(value(r)) === JSON.stringify([offered.includes('elicitation') ? null : -32601,
            offered.includes('sampling') ? null : -32601]), r);
        check(`${what}: offered`, place.heard('capabilities').join() === `capabilities ${offered}`, place.heard());
        await client.close();
        place.remove();
    }
}

// The server with faults, by pipes, by Streamable HTTP and by HTTP+SSE.
async function faulty(connect) {
    const script = path.join(__dirname, 'faulty.py');
    const place = new Place();
    const person = new Person();
    const server = spawn('python3', [script, 'asks', '--http'], { stdio: ['pipe', 'ignore', 'pipe'] });
    const port = await new Promise((done) => {
        readline.createInterface({ input: server.stderr }).on('line', (line) => done((/port (\d+)/.exec(line) || [])[1]));
    });
    fs.writeFileSync(place.file, JSON.stringify({ upstreams: { asks: { command: 'python3', args: [script, 'asks'] },
        samples: { command: 'python3', args: [script, 'samples'] },
        roots: { command: 'python3', args: [script, 'wants_roots'], roots: ['/some where', 'file:///else'] },
        http: { transport: 'http', url: `http://127.0.0.1:${port}/mcp` }, sse: { transport: 'sse', url: `http://127.0.0.1:${port}/sse` } } }));
    const client = await connect(place, person);
    for (const name of ['asks', 'http', 'sse']) {
        person.say('Flo');
        const r = await evaluate(client, `(:name (:content (${name}/echo {:text "x"})))`);
        check(`faulty ${name}`, value(r) === 'Flo' && person.questions.length === 1, [r, person.questions]);
    }
    person.say('said');
    let r = await evaluate(client, '(:text (:content (samples/echo {:text "x"})))');
    check('faulty samples', value(r) === 'said' && person.questions[0].systemPrompt === '[samples] ', [r, person.questions]);
    r = await evaluate(client, '(mapv :uri (:roots (roots/echo {:text "x"})))');
    check('faulty roots', JSON.stringify(value(r)) === '["file:///some%20where","file:///else"]', r);
    await client.close();
    server.stdin.end();
    place.remove();
}

// The modern era as it is on the wire: what a server asks at once is asked at once; what is left open is asked again.
async function together() {
    const place = new Place();
    const { command, args, env } = place.server();
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const waiting = new Map();
    readline.createInterface({ input: child.stdout }).on('line', (line) => {
        const m = JSON.parse(line);
        if (waiting.has(m.id)) waiting.get(m.id)(m.result || m);
    });
    const META = 'io.modelcontextprotocol/';
    const _meta = { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientInfo`]: { name: 't', version: '1' }, [`${META}clientCapabilities`]: CAPABILITIES };
    let number = 0;
    const call = (program, more = {}) => new Promise((done) => {
        const id = ++number;
        waiting.set(id, done);
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'lisp_eval', arguments: { program }, ...more, _meta } })}\n`);
    });
    const program = '(let [r (new/twice {:text "t"})] [(:name (:content (:a r))) (:text (:content (:b r)))])';
    const answers = { 'elicitation/create': { action: 'accept', content: { name: 'Eve' } },
        'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: 'said' }, model: 'm' } };
    const answer = (r, wanted) => ({ requestState: r.requestState, inputResponses: Object.fromEntries(Object.entries(r.inputRequests)
        .filter(([, q]) => wanted.includes(q.method)).map(([key, q]) => [key, answers[q.method]])) });
    const methods = (r) => Object.values(r.inputRequests || {}).map((q) => q.method).join();
    let r = await call(program);
    check('together: both', methods(r) === 'elicitation/create,sampling/createMessage', r);
    const both = answer(r, Object.keys(answers));
    r = await call(program, both);
    check('together: both answered', JSON.stringify(value(r)) === '["Eve","said"]' && place.heard('twice').length === 2, r);
    r = await call(program, both);
    check('together: the same again', JSON.stringify(value(r)) === '["Eve","said"]' && place.heard('twice').length === 2, r);
    const other = { ...both, inputResponses: { ...both.inputResponses, [Object.keys(both.inputResponses)[1]]: { ...answers['sampling/createMessage'], model: 'n' } } };
    r = await call(program, other);
    check('together: another answer is refused', r.isError && /answered already, differently/.test(text(r)), r);
    r = await call(program);
    r = await call(program, answer(r, ['elicitation/create']));
    check('together: the other is asked again', methods(r) === 'sampling/createMessage', r);
    r = await call(program, answer(r, ['sampling/createMessage']));
    check('together: and answered', JSON.stringify(value(r)) === '["Eve","said"]', r);
    r = await call(program);
    r = await call(program, answer(r, ['sampling/createMessage']));
    check('together: without the first both are asked again', methods(r) === 'elicitation/create,sampling/createMessage', r);
    r = await call('(pmap #(:name (:content (:who (new/ask {:text %})))) ["a" "b" "c"])');
    check('together: questions of three calls', methods(r) === 'elicitation/create,elicitation/create,elicitation/create', r);
    r = await call('(pmap #(:name (:content (:who (new/ask {:text %})))) ["a" "b" "c"])', answer(r, ['elicitation/create']));
    check('together: answered', JSON.stringify(value(r)) === '["Eve","Eve","Eve"]', r);
    child.stdin.end();
    await new Promise((done) => { child.on('close', done); });
    place.remove();
}

// Directories of the client, for servers whose entry has none: asked for once, before a program runs, and again when they have changed.
async function roots(label, connect) {
    const place = new Place();
    const person = new Person();
    const dirs = ['one', 'two'].map((name) => fs.mkdirSync(path.join(place.home, name), { recursive: true }) || path.join(place.home, name));
    const bin = path.join(npmDir, 'node_modules/@modelcontextprotocol');
    const config = JSON.parse(fs.readFileSync(place.file, 'utf8'));
    config.upstreams.files = { command: process.execPath, args: [`${bin}/server-filesystem/dist/index.js`, dirs[1]] };
    config.upstreams.own = { ...config.upstreams.old, roots: ['/own'] };
    config.upstreams.none = { ...config.upstreams.old, roots: [] };
    place.write(config);
    person.where = [`file://${dirs[0]}`, 'https://example.com/', 'file:///with blank', `file:///${'x'.repeat(5000)}`, 'file://host/share'];
    const modern = label === '2.x modern';
    for (const more of [{}, CAPABILITIES]) {
        person.say({ name: 'x' });
        const client = await connect(place, person, [], { ...more, roots: modern ? {} : { listChanged: true } });
        const what = `${label} ${Object.keys(more)}`;
        let r = await evaluate(client, '[(:roots (old/roots {:text "r"})) (old/read {:text "a"})]');
        check(`${what}: roots of the client`, JSON.stringify(value(r)) === `[[{"uri":"file://${dirs[0]}","name":"a\\\\u{200b}b"}],"read a"]`, text(r));
        check(`${what}: offered`, place.heard('capabilities')[0].includes('"roots":{"listChanged":true}'), place.heard('capabilities'));
        r = await evaluate(client, '[(:uri (first (:roots (own/roots {:text "r"})))) (:error (none/roots {:text "r"}))]');
        check(`${what}: the entry wins`, JSON.stringify(value(r)) === '["file:///own",-32601]', r);
        if (!more.elicitation) {
            r = await evaluate(client, '(old/write {:text "w"})');
            check(`${what}: no way to ask a person`, r.isError && text(r).includes('"write": "allow"'), r);
        }
        r = await evaluate(client, '(every/get-roots-list {})');
        check(`${what}: everything has them`, text(r).includes(dirs[0]), r);
        const allowed = async (yes, no) => { // it takes them over in its own time
            for (let i = 0; i < 100; i++) {
                r = await evaluate(client, '(files/list_allowed_directories {})');
                if (text(r).includes(yes) && !text(r).includes(no)) return true;
                await later(50);
            }
            return false;
        };
        check(`${what}: so has filesystem`, await allowed(dirs[0], dirs[1]), r);
        if (modern && more.elicitation) {
            r = await evaluate(client, '(:uri (first (:roots (:where (new/roots {:text "r"})))))');
            check(`${what}: a modern server`, value(r) === `file://${dirs[0]}`, r);
        }
        check(`${what}: asked once`, person.questions.filter((q) => q === 'roots').length === 1, person.questions);
        if (!modern) {
            const before = person.where;
            person.where = [`file://${dirs[1]}`];
            await client.sendRootsListChanged();
            check(`${what}: other roots`, await allowed(dirs[1], dirs[0]), r);
            r = await evaluate(client, '(mapv :uri (:roots (old/roots {:text "r"})))');
            check(`${what}: and no others`, JSON.stringify(value(r)) === JSON.stringify(person.where), r);
            check(`${what}: asked again`, person.questions.filter((q) => q === 'roots').length === 2, person.questions);
            person.where = before;
        }
        await client.close();
        place.heard();
    }
    place.remove();
}

// A client that says it has roots and never tells them costs the first program five seconds, and no other.
async function silent(connect) {
    const place = new Place();
    const person = new Person();
    person.where = 'silence';
    const client = await connect(place, person, [], { roots: {} });
    let begun = Date.now();
    let r = await evaluate(client, '(:roots (old/roots {:text "r"}))');
    check('silent roots: none', JSON.stringify(value(r)) === '[]' && Date.now() - begun < 60000, r);
    begun = Date.now();
    r = await evaluate(client, '(+ 1 2)');
    check('silent roots: asked once', value(r) === 3 && person.questions.length === 1, person.questions);
    await client.close();
    place.remove();
}

async function inTask(label, connect) {
    const place = new Place();
    const person = new Person();
    const script = path.join(place.home, 'replies.jsonl');
    fs.writeFileSync(script, JSON.stringify({ content: '```clojure\n(return (:name (:content (old/ask {:text "t"}))))\n```' }));
    const client = await connect(place, person, ['--task', '--task-model', `script:${script}`, '--task-allow-writes']);
    person.say('Eve');
    const r = await client.callTool({ name: 'lisp_task', arguments: { task: 'Ask.' } });
    check(`${label}: in a task`, !r.isError && r.structuredContent.answer === 'Eve' && place.heard('ask').length === 1, r);
    await client.close();
    place.remove();
}

if (process.argv[2] === 'upstream') new Upstream(process.argv[3]).serve(process.argv[4] === 'modern');
else main('inquiries', async () => {
    for (const [kind, connect] of Object.entries(kinds)) {
        const isolation = kind === '2.x legacy' ? 'none' : 'on';
        const place = new Place();
        const person = new Person();
        const client = await connect(place, person, ['--isolation', isolation]);
        await client.listTools();
        await questions(kind, client, place, person);
        await everything(kind, client, person);
        await client.close();
        place.remove();
    }
    await late('1.x', kinds['1.x']);
    await other('1.x', kinds['1.x']);
    await faulty(kinds['1.x']);
    await without('2.x modern', kinds['2.x modern']);
    for (const kind of ['1.x', '2.x modern']) await inTask(kind, kinds[kind]);
    for (const kind of ['1.x', '2.x modern']) await roots(kind, kinds[kind]);
    await silent(kinds['1.x']);
    await together();
});
