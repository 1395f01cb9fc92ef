// SPDX-License-Identifier: MIT
// Reads traces line by line, away from the page, and answers its questions about them.
//
// What always holds: a part (run, turn, request, program, call) has a parent that came before it, so there are no circles;
// lines are kept as text and read again when their part is looked at, so that memory is about that of the files.

const LINE = 16 << 20;    // characters of a line; a longer one is skipped
const PARTS = 1 << 20;    // of all traces
const ROWS = 200000;      // of one run's timeline
const HITS = 5000;        // of a search
const DEPTH = 64;         // parts inside each other
const PROBLEMS = 20;      // lines that are told about, for each file
const DETAILS = 300;      // parts that are shown with another
const KINDS = ['run', 'turn', 'llm', 'program'];

const traces = new Map(); // number of a file -> trace
let partCount = 0, searching = 0;

// ------------------------------------------------------------------------------------------- values

const number = (v, or = 0) => (typeof v === 'number' && Number.isFinite(v) ? v : or);
const word = (v, max = 200) => (typeof v === 'string' ? v.slice(0, max) : '');

// ------------------------------------------------------------------------------------------- events

function newTrace(file, name) {
  return {file, name, parts: [], tops: [], ids: new Map(), began: NaN, kind: 'agent', lines: 0, events: 0, unknown: 0,
          problems: [], problemCount: 0, last: 0, size: 0};
}

function complain(trace, what) {
  trace.problemCount++;
  if (trace.problems.length < PROBLEMS) trace.problems.push({line: trace.lines, what});
}

function newPart(trace, kind, event, start) {
  const parent = trace.ids.get(event.parent);
  const above = parent === undefined ? null : trace.parts[parent];
  const inside = above && above.depth < DEPTH ? above : above && trace.parts[above.parent];
  const part = {n: trace.parts.length, id: word(event.id, 100), kind, name: '', start, end: NaN, status: 'open', note: '',
                parent: inside ? inside.n : -1, depth: inside ? inside.depth + 1 : 0, root: 0, kids: [], a: '', b: '', guess: false};
  part.root = inside ? inside.root : part.n;
  trace.parts.push(part);
  partCount++;
  if (part.id) trace.ids.set(part.id, part.n);
  if (inside) inside.kids.push(part.n);
  else beginTop(trace, part);
  return part;
}

// What a run and all within it add up to.
function beginTop(trace, part) {
  part.sums = {turns: 0, requests: 0, calls: 0, agents: 0, errors: 0, warnings: 0, input: 0, output: 0, cached: 0, reported: false};
  trace.tops.push(part.n);
}

const sumsOf = (trace, part) => trace.parts[part.root].sums;

function fail(part, note) {
  part.status = 'error';
  part.note = note;
}

function addTokens(sums, tokens) {
  if (!tokens || typeof tokens !== 'object') return;
  sums.reported = true;
  sums.input += number(tokens.input);
  sums.output += number(tokens.output);
  sums.cached += number(tokens.cache_read);
}

const starts = {
  run(part, e, sums) {
    part.name = word(e.name) || word(e.agent) || 'agent';
    part.mode = word(e.mode, 20);
    if (part.depth > 0) sums.agents++;
  },
  turn(part, e, sums) {
    part.name = `Turn ${part.id.split('.t').pop()}`;
    if (e.type && e.type !== 'normal') part.note = word(e.type, 40).replace('_', ' ');
    sums.turns++;
  },
  llm(part, e, sums) { part.name = word(e.model) || 'model'; sums.requests++; },
  program(part) { part.name = 'Program'; },
};

const stops = {
  run(trace, part, e) {
    if (e.outcome === 'ok') part.status = 'ok';
    else fail(part, word(e.reason) || word(e.outcome) || 'failed');
  },
  turn(trace, part, e) {
    if (e.ok === true) part.status = 'ok';
    else fail(part, word(e.reason) || 'failed');
  },
  llm(trace, part, e) {
    const tokens = e.tokens && typeof e.tokens === 'object' ? e.tokens : null;
    addTokens(sumsOf(trace, part), tokens);
    if (e.status !== 'ok') { fail(part, word(e.status) || 'failed'); return; }
    part.status = 'ok';
    part.note = tokens ? `${number(tokens.input)} → ${number(tokens.output)} tokens` : e.cut === true ? 'cut' : '';
  },
  program(trace, part, e) {
    const warned = countWarnings(e.warnings);
    sumsOf(trace, part).warnings += warned;
    part.warned = warned > 0;
    if (e.end === 'value' || e.end === 'return') { part.status = 'ok'; part.note = e.end === 'return' ? 'returned' : ''; }
    else fail(part, word(e.reason) || word(e.end) || 'failed');
  },
};

function countWarnings(json) {
  try { return json ? JSON.parse(json).length || 0 : 0; } catch { return 1; }
}

function startEvent(trace, kind, e, line) {
  const part = newPart(trace, kind, e, number(e.at_us));
  part.a = line;
  starts[kind](part, e, sumsOf(trace, part));
}

function stopEvent(trace, kind, e, line) {
  let part = trace.parts[trace.ids.get(e.id)];
  if (!part || part.kind !== kind || part.b) {
    part = newPart(trace, kind, e, Math.max(0, number(e.at_us) - number(e.duration_us)));
    starts[kind](part, e, sumsOf(trace, part));
  }
  part.b = line;
  part.end = number(e.at_us, part.start);
  stops[kind](trace, part, e);
}

function toolEvent(trace, e, line) {
  const took = Math.max(0, number(e.duration_us));
  const part = newPart(trace, 'tool', e, number(e.start_us, Math.max(0, number(e.at_us) - took)));
  part.guess = typeof e.start_us !== 'number';
  part.end = part.start + took;
  part.name = word(e.name) || 'tool';
  part.b = line;
  sumsOf(trace, part).calls++;
  if (e.ok === true) { part.status = 'ok'; part.note = e.cached === true ? 'cached' : ''; }
  else fail(part, 'failed');
}

// `ptc mcp` writes a file for each call; its tool calls have no times of their own.
function callStart(trace, e, line) {
  const part = newPart(trace, 'call', {id: trace.request || `call ${trace.tops.length + 1}`}, 0);
  part.name = word(e.tool) || 'call';
  part.hint = word(e.program?.text, 120).replace(/\s+/g, ' ');
  part.a = line;
  trace.began = Date.parse(word(e.ts)) || trace.began;
  trace.call = part.n;
}

function callStop(trace, e, line) {
  if (trace.call === undefined) callStart(trace, e, '');
  const part = trace.parts[trace.call];
  trace.call = undefined;
  part.b = line;
  part.end = number(e.duration_us);
  (Array.isArray(e.calls) ? e.calls : []).slice(0, 10000).forEach((call) => {
    if (!call || typeof call !== 'object') return;
    toolEvent(trace, {...call, parent: part.id, at_us: number(call.duration_us)}, JSON.stringify(call));
  });
  const seen = part.sums || sumsOf(trace, part);
  seen.calls = Math.max(seen.calls, number(e.tool_calls));
  if (e.ok === true) part.status = 'ok';
  else fail(part, word(e.reason) || 'failed');
}

// A call of another server.  In an agent's trace it says where it belongs and when it began; in that of `ptc mcp` it is inside the
// call of ours, and its time is that of the clock.
function upstreamStart(trace, e, line) {
  const since = typeof e.at_us === 'number' ? e.at_us : (Date.parse(word(e.ts)) - trace.began) * 1000;
  const part = newPart(trace, 'tool', {id: e.id, parent: e.parent || trace.parts[trace.call]?.id}, Math.max(0, since || 0));
  part.name = `${word(e.server, 90)}/${word(e.tool, 100)}`;
  part.a = line;
  sumsOf(trace, part).calls++;
}

function upstreamStop(trace, e, line) {
  if (trace.parts[trace.ids.get(e.id)]?.kind !== 'tool') upstreamStart(trace, e, '');
  const part = trace.parts[trace.ids.get(e.id)];
  if (!part || part.b) return;
  part.b = line;
  part.end = part.start + Math.max(0, number(e.duration_ms) * 1000);
  if (e.status === 'ok') part.status = 'ok';
  else fail(part, word(e.reason) || word(e.status) || 'failed');
}

function takeEvent(trace, e, line) {
  const name = word(e.event, 40), [kind, end] = name.split('.');
  trace.events++;
  trace.last = Math.max(trace.last, number(e.at_us));
  if (name === 'trace.start') {
    trace.began = Date.parse(word(e.ts));
    trace.request = word(e.request_id, 60);
    trace.kind = e.trace_kind === 'mcp_call' ? 'mcp' : 'agent';
  } else if (name === 'trace.stop') complain(trace, 'the trace ends here: it has reached its largest size');
  else if (e.left_out === true) complain(trace, `${name} ${word(e.id, 60)} was too large for the trace`);
  else if (name === 'call.start') callStart(trace, e, line);
  else if (name === 'call.stop') callStop(trace, e, line);
  else if (name === 'upstream.start') upstreamStart(trace, e, line);
  else if (name === 'upstream.stop') upstreamStop(trace, e, line);
  else if (name === 'tool') toolEvent(trace, e, line);
  else if (KINDS.includes(kind) && end === 'start') startEvent(trace, kind, e, line);
  else if (KINDS.includes(kind) && end === 'stop') stopEvent(trace, kind, e, line);
  else trace.unknown++;
}

// -------------------------------------------------------------------------------------------- lines

function takeLine(trace, line) {
  trace.lines++;
  if (line.length > LINE) { complain(trace, 'the line is too long; it is skipped'); return; }
  if (!line.trim()) return;
  if (partCount >= PARTS) { trace.full = true; return; }
  let event;
  try { event = JSON.parse(line); } catch { complain(trace, 'the line is not JSON; it is skipped'); return; }
  if (!event || typeof event !== 'object' || typeof event.event !== 'string') {
    complain(trace, 'the line is not an event; it is skipped');
    return;
  }
  takeEvent(trace, event, line);
}

// A line may come in many pieces; they are joined once, and dropped when they are too many.
class Lines {
  constructor(take) { Object.assign(this, {take, pieces: [], length: 0}); }

  add(text) {
    let from = 0;
    for (let at; (at = text.indexOf('\n', from)) >= 0; from = at + 1) this.end(text.slice(from, at));
    this.keep(text.slice(from));
  }

  keep(piece) {
    this.length += piece.length;
    if (this.length > LINE) this.pieces = [];
    else if (piece) this.pieces.push(piece);
  }

  end(piece) {
    this.keep(piece);
    const line = this.length > LINE ? {length: this.length} : this.pieces.join('');
    this.pieces = [];
    this.length = 0;
    this.take(line);
  }
}

async function load({file, name, url, blob, total}) {
  const trace = newTrace(file, name);
  for (const part of traces.get(file)?.parts || []) partCount -= part ? 1 : 0;
  traces.set(file, trace);
  try {
    const answer = blob ? null : await fetch(url);
    if (answer && !answer.ok) throw new Error(`the file cannot be read (${answer.status})`);
    const reader = (blob ? blob.stream() : answer.body).getReader(), decoder = new TextDecoder();
    const lines = new Lines((line) => takeLine(trace, line));
    let told = 0;
    for (let piece; !(piece = await reader.read()).done;) {
      trace.size += piece.value.length;
      lines.add(decoder.decode(piece.value, {stream: true}));
      if (trace.size - told > 1 << 20) {
        told = trace.size;
        postMessage({what: 'progress', file, size: trace.size, total, events: trace.events});
      }
    }
    lines.add(decoder.decode());
    if (lines.length) lines.end('');
  } catch (error) {
    complain(trace, String(error.message || error));
  }
  if (trace.full) complain(trace, `more than ${PARTS} parts; the rest is left out`);
  finish(trace);
  postMessage({what: 'loaded', file, ...summary(trace)});
}

// What never ended lasted at least until the last thing that is known.
function finish(trace) {
  for (const part of trace.parts) if (Number.isNaN(part.end)) part.end = Math.max(part.start, trace.last);
  for (let i = trace.parts.length - 1; i >= 0; i--) {
    const part = trace.parts[i], above = part.parent >= 0 ? trace.parts[part.parent] : null;
    if (above && above.status === 'open') above.end = Math.max(above.end, part.end);
    // A turn fails because of its program, and that because of a call: only the first of them counts.
    if (part.status === 'error' && !part.kids.some((n) => trace.parts[n].status === 'error')) trace.parts[part.root].sums.errors++;
  }
}

function summary(trace) {
  const runs = trace.tops.map((n) => {
    const p = trace.parts[n];
    return {file: trace.file, n, id: p.id, kind: p.kind, name: p.name, status: p.status, note: p.note, at: trace.began + p.start / 1000,
            took: p.end - p.start, hint: p.hint, ...p.sums};
  });
  return {name: trace.name, runs, events: trace.events, size: trace.size, problems: trace.problems, problemCount: trace.problemCount,
          unknown: trace.unknown};
}

// ---------------------------------------------------------------------------------------- questions

function view(part) {
  return {n: part.n, id: part.id, kind: part.kind, name: part.name, start: part.start, end: part.end, status: part.status,
          note: part.note, depth: part.depth, guess: part.guess, warned: part.warned === true, kids: part.kids.length,
          mode: part.mode};
}

// All parts of a run in the order of a reader, without recursion.
function open({file, n, seq}) {
  const trace = traces.get(file), top = trace?.parts[n];
  if (!top) return;
  const rows = [], stack = [n];
  while (stack.length && rows.length < ROWS) {
    const part = trace.parts[stack.pop()];
    rows.push(view(part));
    const kids = part.kids.slice().sort((a, b) => trace.parts[a].start - trace.parts[b].start || a - b);
    for (let i = kids.length - 1; i >= 0; i--) stack.push(kids[i]);
  }
  postMessage({what: 'opened', seq, file, n, rows, cut: stack.length > 0});
}

function read(line) {
  try { return line ? JSON.parse(line) : {}; } catch { return {}; }
}

const withEvents = (part) => ({...view(part), a: read(part.a), b: read(part.b)});

// A turn is shown with all that happened in it, but not what agents that it started did.
function related(trace, part) {
  const found = [], stack = part.kids.slice().reverse();
  while (stack.length && found.length < DETAILS) {
    const kid = trace.parts[stack.pop()];
    found.push(kid);
    if (part.kind === 'turn' && kid.kind !== 'run') stack.push(...kid.kids.slice().reverse());
  }
  return {found, more: stack.length};
}

// The messages before a request, as far as the trace has them: what was new in earlier ones, and what was replied.
function conversation(trace, part) {
  const turn = trace.parts[part.parent], run = turn && trace.parts[turn.parent];
  const said = [];
  let system = '';
  for (const t of run ? run.kids : []) {
    if (said.length > 400 || t > part.n) break;
    for (const m of trace.parts[t].kids) {
      const request = trace.parts[m];
      if (request.kind !== 'llm') continue;
      const a = read(request.a), b = read(request.b);
      system = system || word(a.system, 1 << 20);
      if (m === part.n) return {system, said};
      if (request.status !== 'ok') continue;
      for (const message of Array.isArray(a.new) ? a.new : []) said.push(message);
      said.push({role: 'assistant', content: b.text, calls: b.calls});
    }
  }
  return {system, said};
}

function detail({file, n, seq}) {
  const trace = traces.get(file), part = trace?.parts[n];
  if (!part) return;
  const {found, more} = related(trace, part);
  const answer = {what: 'detail', seq, file, part: withEvents(part), sums: part.sums, began: trace.began,
                  parts: found.map((p) => (part.kind === 'run' ? view(p) : withEvents(p))), more};
  if (part.kind === 'llm') Object.assign(answer, conversation(trace, part));
  if (part.kind === 'run') answer.prompt = firstPrompt(trace, part);
  postMessage(answer);
}

function firstPrompt(trace, run) {
  for (const t of run.kids)
    for (const m of trace.parts[t].kids)
      if (trace.parts[m].kind === 'llm') {
        const a = read(trace.parts[m].a), first = Array.isArray(a.new) ? a.new.find((x) => x && x.role === 'user') : null;
        return {system: word(a.system, 1 << 20), text: word(first?.content, 1 << 20), model: word(a.model)};
      }
  return null;
}

// ------------------------------------------------------------------------------------------- search

// A text stands in a line as JSON, and what is JSON itself (values, arguments) twice so.
function forms(query) {
  const once = JSON.stringify(query).slice(1, -1);
  return [...new Set([once, JSON.stringify(once).slice(1, -1)])];
}

async function search({query, seq}) {
  searching = seq;
  const wanted = forms(query.toLowerCase()), hits = [];
  let looked = 0, full = false;
  for (const trace of traces.values()) {
    for (const part of trace.parts) {
      looked += part.a.length + part.b.length + 100;
      if (matches(part, wanted)) hits.push([trace.file, part.root, part.n]);
      if (hits.length >= HITS) { full = true; break; }
      if (looked > 4 << 20) {
        looked = 0;
        await new Promise((go) => { setTimeout(go, 0); });
        if (searching !== seq) return;
      }
    }
    if (full) break;
  }
  postMessage({what: 'found', seq, hits, full});
}

function matches(part, wanted) {
  const a = part.a.toLowerCase(), b = part.b.toLowerCase();
  return wanted.some((text) => a.includes(text) || b.includes(text));
}

// ------------------------------------------------------------------------------------------- orders

const orders = {load, open, detail, search, stop: () => { searching = 0; }};

// Files are read one after the other; questions are answered in between.
let reading = Promise.resolve();
onmessage = ({data}) => {
  if (data.order === 'load') reading = reading.then(() => load(data));
  else if (Object.hasOwn(orders, data.order)) orders[data.order](data);
};
