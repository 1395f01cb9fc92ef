// The engine in WebAssembly, in Node and in Chromium: wasm_cases.mjs OUT PTC SAMPLES PAGE MODULES SHOTS
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [OUT, PTC, SAMPLES, PAGE, MODULES, SHOTS] = process.argv.slice(2).map((p) => path.resolve(p));
const { load, ProgramError } = await import(pathToFileURL(path.join(OUT, "ptc.mjs")));
const TYPES = { ".html": "text/html", ".mjs": "text/javascript" };

const cases = {
  async values() {
    const engine = await load();
    for (const v of [null, true, 1, -1.5, "täxt \u{1f600}", [1, [2]], { a: { b: [null] } }, []])
      assert.deepEqual(engine.evaluate("data/v", { v }), v);
    assert.equal(engine.run("(quot (reduce * (range 1 51)) (reduce * (range 1 31)))").text, "114660755112113373922453094400000");
    assert.deepEqual(engine.evaluate('(re-seq #"[a-zä]+" "äb 1 c")'), ["äb", "c"]);
    assert.deepEqual(engine.evaluate("(pmap inc [1 2])"), [2, 3]);
  },
  async errors() {
    const engine = await load({ timeoutMs: 200, memoryBytes: 32 << 20, loopLimit: 2 ** 50 });
    const kind = (program) => engine.run(program).kind;
    assert.equal(kind("(+ 1"), "parse_error");
    assert.equal(kind("(loop [] (recur))"), "timeout");
    const patient = await load({ timeoutMs: 60000, memoryBytes: 8 << 20 });
    assert.equal(patient.run("(loop [v []] (recur (conj v (vec (range 10000)))))").kind, "memory_exceeded");
    assert.equal(kind("(defn f [n] (first (map (fn [_] (f (inc n))) [1]))) (f 0)"), "depth_exceeded");
    assert.equal(kind("(defn f [n] (inc (f n))) (f 0)"), "depth_exceeded");
    assert.throws(() => engine.evaluate("(+ 1 :a)"), ProgramError);
    assert.equal(engine.evaluate("(+ 1 1)"), 2);
    await assert.rejects(load({ timeoutMs: 2 ** 60 }), RangeError);
  },
  async sessions() {
    const engine = await load();
    engine.evaluate("(def a 4)", null, { session: "s" });
    assert.equal(engine.evaluate("(inc a)", null, { session: "s" }), 5);
    assert.equal(engine.evaluate("(tool/f {:n 2})", null, { tools: { f: { lisp: "(fn [args] (* 2 (:n args)))" } } }), 4);
  },
  // The same answers as the command, for programs that fail among others.
  async "as the command"() {
    const engine = await load({ timeoutMs: 20000 });
    const told = execFileSync(PTC, ["eval", "--jsonl", "--timeout-ms", "20000"], { input: fs.readFileSync(SAMPLES) });
    const answers = told.toString().trim().split("\n").map(JSON.parse);
    const lines = fs.readFileSync(SAMPLES, "utf8").split("\n").filter((line) => line.trim());
    let same = 0;
    lines.forEach((line, i) => {
      if (/now|currentTime|timeout_ms|memory_mb|deadline/.test(line)) return;
      assert.deepEqual(JSON.parse(engine.functions.evaluate(line)), answers[i], line);
      same++;
    });
    assert.ok(same > lines.length / 2, `${same} of ${lines.length}`);
  },
  async page() {
    const text = [...fs.readFileSync(PAGE, "utf8").matchAll(/^```js\n(.*?)^```/gms)].map((m) => m[1]).join("\n");
    const body = text.split("\n").filter((l) => !l.startsWith("import ")).map((line) => {
      const [, code, wanted] = line.match(/^(.*); \/\/ => (.*)$/) ?? [];
      return wanted === undefined ? line : `assert.deepEqual(${code}, ${wanted});`;
    });
    assert.ok(body.filter((l) => l.startsWith("assert")).length > 1);
    await new (Object.getPrototypeOf(async () => {}).constructor)("load", "assert", body.join("\n"))(load, assert);
  },
  async playground() {
    const { chromium } = createRequire(path.join(MODULES, "x.js"))("playwright-core");
    const server = http.createServer((request, response) => {
      const file = path.join(OUT, path.normalize(request.url === "/" ? "/index.html" : request.url));
      if (!fs.existsSync(file)) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "text/plain" }).end(fs.readFileSync(file));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    try {
      for (const [width, scheme] of [[1280, "light"], [390, "light"], [1280, "dark"]]) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
        const noise = [];
        page.on("pageerror", (error) => noise.push(String(error)));
        page.on("console", (message) => message.type() === "error" && noise.push(message.text()));
        await page.goto(`http://127.0.0.1:${server.address().port}/`);
        await page.waitForFunction(() => document.getElementById("result").textContent, null, { timeout: 120000 });
        assert.match(await page.textContent("#result"), /\{:city "Oslo",? :total 165\}/);
        if (SHOTS) await page.screenshot({ path: path.join(SHOTS, `playground-${width}-${scheme}.png`) });
        await page.selectOption("#examples", "A mistake");
        assert.match(await page.textContent("#result"), /unbound_var: nothing is named totl[\s\S]*did you mean total\?/);
        if (SHOTS && scheme === "light") await page.screenshot({ path: path.join(SHOTS, `playground-${width}-error.png`) });
        await page.selectOption("#examples", "A wrong name in the data");
        assert.match(await page.textContent("#warnings"), /ordres/);
        await page.selectOption("#examples", "Printing");
        assert.equal(await page.textContent("#prints"), "Oslo 120\nRome 80\nOslo 45");
        await page.selectOption("#examples", "Without end");
        assert.match(await page.textContent("#result"), /loop_limit|timeout/);
        await page.fill("#program", "(count data/xs)");
        await page.fill("#data", '{"xs": [1, 2');
        await page.keyboard.press("Control+Enter");
        assert.match(await page.textContent("#result"), /The data is not JSON/);
        await page.fill("#data", '{"xs": [1, 2]}');
        await page.click("#run");
        assert.equal(await page.textContent("#result"), "2");
        await page.click("summary");
        assert.ok((await page.textContent("#card")).length > 300);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide at ${width}`);
        assert.deepEqual(noise, []);
        await page.close();
      }
    } finally {
      await browser.close();
      server.close();
    }
  },
};

let passed = 0, failed = 0;
for (const [name, run] of Object.entries(cases))
  await run().then(() => passed++, (error) => { failed++; console.log(`FAIL ${name}\n    ${error.stack}`); });
console.log(`wasm_cases.mjs: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
