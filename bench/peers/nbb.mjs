// nbb (SCI, ClojureScript).  Usage: nbb.mjs WORKLOAD PROGRAM.clj
import { loadString } from 'nbb';
import { measure, nextSource } from './measure.mjs';

// A ClojureScript vector prints as ["d6" 19994].
await measure('nbb shared', async () => String(await loadString(nextSource())).replace(' ', ','));
