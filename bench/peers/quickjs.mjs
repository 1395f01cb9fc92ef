// QuickJS in WebAssembly.  Usage: quickjs.mjs WORKLOAD PROGRAM.js [ROWS.json]
import { getQuickJS } from 'quickjs-emscripten';
import { measure, nextSource, rowsText, workload } from './measure.mjs';

const quickjs = await getQuickJS();
const shared = quickjs.newContext();

function evaluate(context) {
  if (workload === 'handed') {
    context.newString(rowsText).consume(text => context.setProp(context.global, 'rowsText', text));
  }
  return context.unwrapResult(context.evalCode(nextSource()))
    .consume(value => String(context.dump(value)));
}

function evaluateFresh() {
  const context = quickjs.newContext();
  try {
    return evaluate(context);
  } finally {
    context.dispose();
  }
}

await measure('quickjs-wasm shared', () => evaluate(shared));
if (workload === 'small') await measure('quickjs-wasm fresh', evaluateFresh);
shared.dispose();
