// The workloads of bench/bindings from Node, natively or in WebAssembly: bench.mjs ROWS.json (node MODULES | wasm OUT); prints
// "name microseconds", the best of five.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [file, how, place] = process.argv.slice(2);
const rows = JSON.parse(fs.readFileSync(file, "utf8"));
const SUM = "(sum-by :total data/rows)";

async function best(work, count = 1) {
  let least = Infinity;
  for (let round = 0; round < 5; round++) {
    const begin = performance.now();
    for (let i = 0; i < count; i++) await work();
    least = Math.min(least, ((performance.now() - begin) / count) * 1000);
  }
  return least;
}

if (how === "node") {
  const ptc = createRequire(path.resolve(place, "x.js"))("ptc-lisp");
  const limits = { context_bytes: 64 << 20, memory_bytes: 64 << 20 };
  const engine = new ptc.Engine({ limits });
  const tools = new ptc.Engine({ limits, tools: { twice: ({ n }) => 2 * n } });
  const kept = engine.data(rows);
  const calls = "(reduce + (map (fn [n] (tool/twice {:n n})) (range 1000)))";
  console.log(`small ${(await best(() => assert.equal(engine.evaluateSync("(+ 1 2)"), 3), 1000)).toFixed(2)}`);
  console.log(`fresh ${(await best(() => assert.equal(engine.evaluateSync(SUM, rows), 49995000))).toFixed(1)}`);
  console.log(`kept ${(await best(() => assert.equal(engine.evaluateSync(SUM, kept), 49995000))).toFixed(1)}`);
  console.log(`pending ${((await best(async () => assert.equal(await tools.evaluate(calls), 999000))) / 1000).toFixed(2)}`);
} else {
  const { load } = await import(pathToFileURL(path.resolve(place, "ptc.mjs")));
  const engine = await load({ memoryBytes: 64 << 20 });
  console.log(`small ${(await best(() => assert.equal(engine.evaluate("(+ 1 2)"), 3), 1000)).toFixed(2)}`);
  console.log(`fresh ${(await best(() => assert.equal(engine.evaluate(SUM, rows), 49995000))).toFixed(1)}`);
}
process.exit(0);
