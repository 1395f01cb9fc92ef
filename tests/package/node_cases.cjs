// Cases of the Node package, run where its tarball is installed: node_cases.cjs PAGE
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
    assert.throws(() => ptc.evaluateSync("1", [1]), ptc.PtcError);
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
    assert.equal(e.runSync("(count data/ordres)", { orders: [] }).warnings[0].kind, "unknown_data");
    assert.equal(e.evaluateSync("(System/currentTimeMillis)", null, { now: new Date(5000) }), 5000);
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
    assert.throws(() => e.evaluateSync("1"), /use run/);
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
  async garbage() {
    for (let i = 0; i < 300; i++) {
      const e = new ptc.Engine({ tools: { f: () => 1 } });
      e.session().set("x", [i]);
      if (i % 50 === 0) assert.equal(await e.evaluate("(tool/f {})"), 1);
      if (i % 100 === 99) globalThis.gc?.();
    }
  },
  async worker() {
    const source = `const ptc = require(${JSON.stringify(require.resolve("ptc-lisp", { paths: [process.cwd()] }))});
      new ptc.Engine({ tools: { f: () => 5 } }).evaluate("(tool/f {})").then((v) => require("worker_threads").parentPort.postMessage(v));`;
    const worker = new Worker(source, { eval: true });
    assert.equal(await new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject)), 5);
    await worker.terminate();
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
