// What the Node peers share: fresh sources, checked answers, and the measuring of common.c.
import { readFileSync } from 'node:fs';

const WARM_MS = 300, BATCH_MS = 30, BATCHES = 8, FIRST_K = 1000000;

export const [workload, programPath, rowsPath] = process.argv.slice(2);
export const rowsText = rowsPath ? readFileSync(rowsPath, 'utf8') : '';

const [before, after] = readFileSync(programPath, 'utf8').split('@K@');
let k = FIRST_K;

// The next source; no two are alike.
export const nextSource = () => before + ++k + after;

// The answer to the source made last, as text.
const answers = {
  small: () => String(k + 10),
  fib: () => '46368',
  loop: () => '499999500000',
  for: () => '499999500000',
};
export const expected = answers[workload] ?? (() => '["d6",19994]');

// step() evaluates one fresh source and returns its answer as text.  It may be asynchronous.
export async function measure(runner, step) {
  const first = step(), isAsync = first instanceof Promise;
  await first;
  const run = async count => {
    const start = performance.now();
    for (let i = 0; i < count; i++) {
      const answer = isAsync ? await step() : step();
      if (answer !== expected()) {
        console.error(`bench: ${runner}: ${workload} gave ${answer}, not ${expected()}`);
        process.exit(2);
      }
    }
    return (performance.now() - start) / count;
  };

  let best = Infinity;
  for (const end = performance.now() + WARM_MS; performance.now() < end;) best = await run(1);
  const count = Math.max(1, Math.round(BATCH_MS / best));
  for (let i = 0; i < BATCHES; i++) best = Math.min(best, await run(count));
  console.log(`${workload}\t${runner}\t${(best * 1e6).toFixed(1)}`);
}
