// Cases of the Node package, run where its tarball is installed: node_cases.cjs PAGE PTC FAULTY
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const { Worker } = require("node:worker_threads");
const ptc = require(require.resolve("ptc-lisp", { paths: [process.cwd()] }));

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const KEY = "0123456789abcdef";

const cases = {
  async values() {
    for (const v of [null, true, 1, -1.5, "täxt \u{1f600}", [1, [2]], { a: { b: [null] } }, [], {}, "a\0b"])
      assert.deepEqual(ptc.evaluateSync("data/v", { v }), v);
    assert.deepEqual(ptc.evaluateSync("data/v", { v: new Set([1]) }), [1]);
    assert.deepEqual(ptc.evaluateSync("data/v", { v: new Map([["a", 1]]) }), { a: 1 });
    assert.throws(() => ptc.evaluateSync("1", { v: NaN }), ptc.UsageError);
    assert.throws(() => ptc.evaluateSync("inc"), ptc.ResultError);
    assert.throws(() => ptc.evaluateSync("1", [1]), /context must be an object/);
    assert.throws(() => ptc.evaluateSync(1), ptc.UsageError);
    assert.equal(ptc.evaluateSync("data/v", { v: 12n }), 12);
    const loop = {};
    loop.loop = loop;
    assert.throws(() => ptc.evaluateSync("1", loop), ptc.UsageError);
  },
  async errors() {
    const e = new ptc.Engine({ limits: { timeout_ms: 100, loop_limit: 2 ** 50 } });
    for (const [program, kind] of [["(+ 1", ptc.ParseError], ["(foo)", ptc.RuntimeFailure], ['(fail "x")', ptc.Failed],
      ["(loop [] (recur))", ptc.TimedOut], ["(loop [v []] (recur (conj v (vec (range 1000)))))", ptc.ProgramError]])
      await assert.rejects(e.evaluate(program), kind, program);
    assert.throws(() => e.evaluateSync("{:n 1}", null, { signature: "{n :string}" }), ptc.ValidationError);
    assert.throws(() => e.evaluateSync("1", null, { signature: "{" }), ptc.ArgsError);
    assert.throws(() => new ptc.Engine({ limits: { tiemout_ms: 1 } }), /no limit tiemout_ms/);
    assert.throws(() => new ptc.Engine({ limits: { max_workers: 1e6 } }), ptc.UsageError);
    assert.throws(() => new ptc.Engine({ limits: { timeout_ms: "5" } }), /timeout_ms must be a whole number/);
    assert.throws(() => new ptc.Engine({ timeout_ms: 5 }), /is a limit: write limits/);
    assert.throws(() => new ptc.Engine({ tool: {} }), /no option tool; there are limits, tools/);
    assert.throws(() => ptc.evaluateSync("1", null, { outputschema: {} }), /no option outputschema/);
    const [warning] = e.runSync("(count data/ordres)", { orders: [] }).warnings;
    assert.deepEqual([warning.kind, warning.phase], ["unknown_data", "check"]);
    assert.equal(e.evaluateSync("(System/currentTimeMillis)", null, { now: new Date(5000) }), 5000);
  },
  async check() {
    const e = new ptc.Engine({ tools: { n: { signature: "() -> :string", function: () => "x" } } });
    const found = (await e.run("(inc (tool/n))")).error;
    assert.deepEqual([found.kind, found.phase], ["type_error", "check"]);
    for (const more of [{ check: "warn" }, { limits: { check: "warn" } }, { check: "warn", limits: { check: "off" } }]) {
      const outcome = await e.run("(inc (tool/n))", null, more);
      assert.deepEqual([outcome.error.phase, outcome.warnings[0].kind, outcome.toolCalls.length], ["run", "type_mismatch", 1]);
    }
    assert.deepEqual((await e.run("(inc (tool/n))", null, { check: "off" })).warnings, []);
    await assert.rejects(e.run("1", null, { check: "wran" }), /check must be one of error, warn, off; got "wran"/);
    assert.throws(() => new ptc.Engine({ limits: { check: 1 } }), /check must be one of/);
  },
  async "only check"() {
    let calls = 0;
    const e = new ptc.Engine({ tools: { pay: { signature: "(id :string) -> {id :string}", function: () => ++calls } } });
    const [found] = await e.check('(do (tool/pay {:id "a"}) (inc (tool/pay {:id "b"})))');
    assert.deepEqual([found.severity, found.kind, found.phase, found.line, calls], ["error", "type_error", "check", 1, 0]);
    assert.deepEqual((await e.check("(+ 1")).map((m) => m.phase), ["parse"]);
    assert.deepEqual((await e.check("(count data/ordres)", { orders: [] })).map((m) => m.severity), ["warning"]);
    assert.deepEqual(await e.check('(tool/pay {:id "a"})', null, { signature: "{id :string}" }), []);
    await assert.rejects(e.check("1", null, { colour: 1 }), /no option colour/);
  },
  async closed() {
    const e = new ptc.Engine();
    e.close();
    e.close();
    assert.throws(() => e.evaluateSync("1"), /closed/);
    await assert.rejects(e.evaluate("1"), /closed/);
  },
  async "one program at a time"() {
    const e = new ptc.Engine();
    const first = e.evaluate("(+ 1 1)");
    await assert.rejects(e.evaluate("2"), /already/);
    assert.throws(() => e.close(), /running/);
    assert.equal(await first, 2);
  },
  async "tools that fail"() {
    const thrown = new RangeError("nothing");
    const e = new ptc.Engine({ tools: { bad() { throw thrown; }, worse: async () => { throw "text"; }, none: () => undefined,
      odd: () => ({ v: NaN }) } });
    const error = await e.evaluate("(tool/bad {})").catch((x) => x);
    assert.equal(error.kind, "tool_error");
    assert.equal(error.cause, thrown);
    assert.match(error.message, /RangeError: nothing/);
    await assert.rejects(e.evaluate("(tool/worse {})"), /text/);
    assert.equal(await e.evaluate("(tool/none {})"), null);
    await assert.rejects(e.evaluate("(tool/odd {})"), /JSON/);
    assert.equal(await e.evaluate("(try (tool/bad {}) (catch Exception x 7))"), 7);
    assert.throws(() => new ptc.Engine({ tools: { "a b": () => 1 } }), ptc.UsageError);
    assert.throws(() => new ptc.Engine({ tools: { a: { signature: "(", function: () => 1 } } }), ptc.UsageError);
    assert.throws(() => new ptc.Engine({ tools: { a: {} } }), /no function/);
    assert.throws(() => new ptc.Engine({ tools: () => 1 }), /tools must be an object/);
    assert.throws(() => new ptc.Engine({ tools: [() => 1] }), /needs a name/);
    assert.throws(() => e.evaluateSync("1"), /use run/);
  },
  async "unknown arguments"() {
    const f = { signature: "(a :int) -> :any", function: (given) => given };
    const e = new ptc.Engine({ tools: { f, more: { ...f, extra: true } } });
    await assert.rejects(e.evaluate("(tool/f {:a 1 :b 2})"), /b: unexpected field; there is a/);
    assert.deepEqual(await e.evaluate("(tool/more {:a 1 :b 2})"), { a: 1, b: 2 });
  },
  async "calls at once"() {
    let begun = 0, open;
    const all = new Promise((resolve) => { open = resolve; });
    const meet = async ({ n }) => {
      if (++begun === 4) open();
      await all;
      return n;
    };
    assert.deepEqual(await new ptc.Engine().evaluate("(pmap #(tool/meet {:n %}) (range 4))", null, { tools: { meet } }),
      [0, 1, 2, 3]);
  },
  async "an engine in its own tool"() {
    const e = new ptc.Engine({ tools: { f: () => e.evaluate("1") } });
    await assert.rejects(e.evaluate("(tool/f {})"), /already/);
    const outer = new ptc.Engine({ tools: { f: () => new ptc.Engine().evaluate("41") } });
    assert.equal(await outer.evaluate("(inc (tool/f {}))"), 42);
  },
  async "many engines"() {
    const later = async ({ n }) => { await sleep(5); return n; };
    const all = await Promise.all([...Array(30).keys()].map((n) => new ptc.Engine({ tools: { later } })
      .evaluate("(tool/later {:n data/n})", { n })));
    assert.deepEqual(all, [...Array(30).keys()]);
  },
  async abort() {
    const e = new ptc.Engine({ limits: { timeout_ms: 100000, loop_limit: 2 ** 60 }, tools: { never: () => new Promise(() => {}) } });
    for (const program of ["(loop [n 0] (recur (inc n)))", "(tool/never {})"]) {
      const stop = new AbortController();
      const run = e.evaluate(program, null, { signal: stop.signal });
      const again = setInterval(() => e.cancel(), 20);
      stop.abort();
      await assert.rejects(run, { name: "AbortError" });
      clearInterval(again);
    }
    assert.equal(await e.evaluate("(+ 1 2)"), 3);
    await assert.rejects(e.evaluate("1", null, { signal: AbortSignal.abort() }), { name: "AbortError" });
  },
  async "a tool that takes too long"() {
    const e = new ptc.Engine({ tools: { slow: { timeoutMs: 20, function: () => sleep(200) } } });
    await assert.rejects(e.evaluate("(tool/slow {})"), ptc.RuntimeFailure);
    await sleep(250); // it answers when nobody waits any longer
    assert.equal(await e.evaluate("1"), 1);
  },
  async sessions() {
    const e = new ptc.Engine();
    const s = e.session();
    await s.evaluate("(def a 1) (defn f [] (+ a 1))");
    assert.deepEqual([s.names, s.get("a"), s.get("b")], [["a", "f"], 1, undefined]);
    assert.throws(() => s.get("f"), /function/);
    assert.throws(() => s.set("1x", 1), ptc.UsageError);
    const saved = s.snapshot(KEY);
    assert.equal(e.restore(saved, KEY).evaluateSync("(f)"), 2);
    assert.throws(() => e.restore(saved, KEY + "x"), ptc.UsageError);
    assert.throws(() => e.restore(Buffer.from("x"), KEY), ptc.UsageError);
    assert.throws(() => s.snapshot("short"), ptc.UsageError);
    assert.equal(s.delete("a") && !s.delete("a"), true);
    s.clear();
    assert.deepEqual(s.names, []);
    const other = new ptc.Engine().session();
    assert.throws(() => e.evaluateSync("1", null, { session: other }), ptc.UsageError);
  },
  async agents() {
    const child = new ptc.Agent({ prompt: "Double {{n}}.", signature: "(n :int) -> :int" });
    const agent = new ptc.Agent({ prompt: "Go.", signature: "() -> :int" }, { tools: { three: async () => 3 }, agents: { double: child } });
    const ask = async (request) => {
      await sleep(1);
      return JSON.stringify(request.messages).includes("Double")
        ? "```clojure\n(return (* 2 data/n))\n```" : "```clojure\n(return (tool/double {:n (tool/three {})}))\n```";
    };
    const events = [];
    const result = await agent.run(null, { ask, watch: (e) => events.push(e) });
    assert.equal(result.answer, 6);
    assert.equal(result.outcome.outcome, "ok");
    assert.ok(result.usage.requests === 2 && result.usage.turns === 2 && result.usage.durationUs > 0, JSON.stringify(result.usage));
    assert.deepEqual([events[0].kind, events.at(-1).kind], ["began", "ended"]);
    assert.ok(events.some((e) => e.agent === "double" && e.kind === "program_began" && e.text.includes("data/n")), JSON.stringify(events));
  },
  async "agents that fail"() {
    const agent = new ptc.Agent({ prompt: "p", signature: "() -> :int", max_turns: 1 });
    const failed = await agent.run(null, { ask: () => '```clojure\n(fail "no")\n```' });
    assert.equal(failed.ok, false);
    assert.throws(() => failed.answer, (e) => e instanceof ptc.AgentError && e.reason === "failed" && e.outcome.outcome === "error");
    const broken = await new ptc.Agent({ prompt: "p" }).run(null, { ask: () => { throw new RangeError("down"); } });
    assert.match(broken.message, /RangeError: down/);
    assert.equal((await new ptc.Agent({ prompt: "p", max_turns: 1 }).run(null, { ask: () => ({ nonsense: 1 }) })).ok, false);
    assert.throws(() => new ptc.Agent({ promt: "x" }), /promt/);
    assert.throws(() => new ptc.Agent("/nowhere/agent.json"), ptc.UsageError);
    assert.throws(() => new ptc.Agent({ prompt: "x" }, { agents: { a: {} } }), /not an Agent/);
    await assert.rejects(agent.run(null, { model: "nobody:x" }), /needs llm/);
    await assert.rejects(agent.run(null, { model: "nobody:x", llm: new ptc.Llm() }), ptc.UsageError);
    await assert.rejects(agent.run(null, { model: "a:b", ask: () => "" }), /not both/);
    await assert.rejects(agent.run({ n: NaN }, { ask: () => "" }), ptc.UsageError);
    const wrong = await new ptc.Agent({ prompt: "{{n}}", signature: "(n :int) -> :int" }).run({ n: "x" }, { ask: () => "" });
    assert.equal(wrong.reason, "invalid_input");
  },
  async "agents that are ended"() {
    const agent = new ptc.Agent({ prompt: "p" });
    const stop = new AbortController();
    const run = agent.run(null, { ask: () => new Promise(() => {}), signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await assert.rejects(run, { name: "AbortError" });
    await assert.rejects(agent.run(null, { ask: () => "x", signal: AbortSignal.abort() }), { name: "AbortError" });
    const all = await Promise.all([...Array(10).keys()].map((n) =>
      agent.run(null, { ask: async () => { await sleep(5); return `\`\`\`clojure\n(return ${n})\n\`\`\``; } })));
    assert.deepEqual(all.map((r) => r.answer), [...Array(10).keys()]);
  },
  async chats() {
    const heard = [];
    const chat = new ptc.Agent({ prompt: "p", output: "text" }).chat(null, { ask: (r) => { heard.push(r.messages.length); return "yes"; } });
    const first = chat.say("a");
    await assert.rejects(chat.say("b"), /another message/);
    assert.throws(() => chat.close(), /answering/);
    assert.deepEqual([await first, await chat.say("b")], ["yes", "yes"]);
    assert.ok(heard[0] < heard[1] && chat.last.ok);
    chat.close();
    await assert.rejects(chat.say("c"), /closed/);
    await assert.rejects(chat.say(5), ptc.UsageError);
  },
  async "models by name"() {
    const script = "script.jsonl", record = "record.jsonl";
    fs.writeFileSync(script, '{"content": "hello"}\n');
    const agent = new ptc.Agent({ prompt: "Say hello.", output: "text" });
    const llm = new ptc.Llm({ record });
    assert.equal((await agent.run(null, { model: `script:${script}`, llm })).answer, "hello");
    llm.close();
    assert.throws(() => new ptc.Llm({ aliases: "/nowhere.json" }), ptc.UsageError);
    await assert.rejects(agent.run(null, { model: `script:${script}`, llm }), /open/);
    const again = new ptc.Llm();
    assert.equal((await agent.run(null, { model: `replay:${record}`, llm: again })).answer, "hello");
    const chat = agent.chat(null, { model: `script:${script}`, llm: again });
    assert.throws(() => again.close(), /uses it/);
    chat.close();
    again.close();
  },
  async upstreams() {
    const [, , , command, faulty] = process.argv;
    const upstreams = new ptc.Upstreams({ upstreams: { far: { command: "python3", args: [faulty] } } }, { command });
    const engine = new ptc.Engine({ upstreams });
    assert.equal(await engine.evaluate('(far/echo {:text "hi"})'), "hi");
    assert.equal(engine.evaluateSync('(far/echo {:text "ho"})'), "ho");
    assert.deepEqual(upstreams.states.map((s) => [s.name, s.state, s.tools > 0]), [["far", "ready", true]]);
    const run = engine.evaluate('(far/echo {:text "busy"})');
    assert.throws(() => upstreams.close(), /running/);
    assert.equal(await run, "busy");
    upstreams.close();
    upstreams.close();
    await assert.rejects(engine.evaluate('(far/echo {:text "hi"})'), ptc.ProgramError);
    assert.throws(() => new ptc.Engine({ upstreams }), /closed/);
    assert.throws(() => new ptc.Engine({ upstreams: {} }), ptc.UsageError);
    assert.throws(() => new ptc.Upstreams({ upstreams: { a: { comand: "x" } } }), /comand/);
  },
  async garbage() {
    for (let i = 0; i < 300; i++) {
      const e = new ptc.Engine({ tools: { f: () => 1 } });
      e.session().set("x", [i]);
      if (i % 50 === 0) assert.equal(await e.evaluate("(tool/f {})"), 1);
      if (i % 50 === 0) new ptc.Agent({ prompt: "p", output: "text" }, { tools: { f: () => 1 } }).chat(null, { ask: () => "x" });
      if (i % 100 === 99) globalThis.gc?.();
    }
  },
  async worker() {
    const source = `const ptc = require(${JSON.stringify(require.resolve("ptc-lisp", { paths: [process.cwd()] }))});
      new ptc.Engine({ tools: { f: () => 5 } }).evaluate("(tool/f {})").then((v) => require("worker_threads").parentPort.postMessage(v));`;
    const worker = new Worker(source, { eval: true });
    assert.equal(await new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject)), 5);
    await worker.terminate();
    const busy = new Worker(`const ptc = require(${JSON.stringify(require.resolve("ptc-lisp", { paths: [process.cwd()] }))});
      new ptc.Agent({ prompt: "p" }).run(null, { ask: () => { require("worker_threads").parentPort.postMessage(1); return new Promise(() => {}); } });`,
    { eval: true });
    await new Promise((resolve) => busy.on("message", resolve));
    await busy.terminate();
  },
  async page() {
    const page = fs.readFileSync(process.argv[2], "utf8");
    const lines = [...page.matchAll(/^```js\n(.*?)^```/gms)].flatMap((m) => m[1].split("\n"));
    const body = lines.filter((l) => !l.includes("require(")).map((line) => {
      const [, code, wanted] = line.match(/^(.*); \/\/ => (.*)$/) ?? [];
      return wanted === undefined ? line : `assert.deepEqual(${code}, ${wanted});`;
    });
    assert.ok(body.filter((l) => l.startsWith("assert")).length > 8);
    await new (Object.getPrototypeOf(async () => {}).constructor)("ptc", "assert", body.join("\n"))(ptc, assert);
  },
};

(async () => {
  let passed = 0, failed = 0;
  for (const [name, run] of Object.entries(cases)) {
    const late = setTimeout(() => { console.log(`FAIL ${name}: hangs`); process.exit(1); }, 120000);
    await run().then(() => passed++, (error) => { failed++; console.log(`FAIL ${name}\n    ${error.stack}`); });
    clearTimeout(late);
  }
  console.log(`node_cases.cjs: ${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
})();
