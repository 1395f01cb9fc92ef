// SPDX-License-Identifier: MIT
// The page: which runs there are, which one is open, what is chosen in it, keys.  Reading and searching is the worker's work.
import {KIND, showDetail, status} from './detail.js';
import {Rows} from './rows.js';
import {bytes, count, duration, el, plural, when} from './text.js';

const AUTO = 256 << 20; // bytes of traces that are read without being asked for
const $ = (id) => document.getElementById(id);
const state = {files: new Map(), runs: [], seen: [], filter: 'all', run: null, rows: [], lines: [], closed: new Set(), zoom: null,
               query: '', hits: null, hitRuns: null, seq: 0, waiting: 0, dropped: 0, wanted: null};

// ------------------------------------------------------------------------------------------- worker

// Where the browser wants it, only this one address may become a script.
const policy = window.trustedTypes?.createPolicy('ptc-worker', {createScriptURL: () => 'worker.js'});
const worker = new Worker(policy ? policy.createScriptURL('') : 'worker.js', {type: 'module'});
const ask = (order, what) => worker.postMessage({order, ...what});
worker.onmessage = ({data}) => ({progress, loaded, opened, detail, found})[data.what](data);
worker.onerror = () => say('The reader of traces has stopped; load the page again.');

// -------------------------------------------------------------------------------------------- files

// There are approvals if a store was named.
fetch('approvals.json', {cache: 'no-store'}).then((answer) => answer.json())
  .then((rows) => { document.getElementById('approvals').hidden = !rows; }, () => {});

async function look() {
  try {
    const answer = await fetch('traces.json', {cache: 'no-store'});
    if (!answer.ok) throw new Error(answer.status);
    const {files, too_many: tooMany} = await answer.json();
    let sum = 0;
    for (const f of files) {
      const known = state.files.get(f.number);
      sum += f.bytes;
      if (known && known.bytes === f.bytes && known.modified === f.modified_ms) continue;
      if (sum > AUTO && files.length > 1) { state.files.set(f.number, {...f, later: true}); continue; }
      read(f.number, {name: f.name, url: `trace/${f.number}`, total: f.bytes, modified: f.modified_ms});
    }
    if (tooMany) say('There are more than 10,000 files; the rest is left out.');
  } catch {
    if (!state.dropped) say('ptc view has ended: start it again and open the address that it prints.');
  }
  drawProblems();
}

function read(file, {name, url, blob, total, modified}) {
  state.files.set(file, {name, bytes: total, modified, loading: true, size: 0});
  state.waiting++;
  ask('load', {file, name, url, blob, total});
  drawProgress();
}

function readFiles(files) {
  for (const blob of files) read(`d${state.dropped++}`, {name: blob.name, blob, total: blob.size});
  if (files.length) state.wanted = {file: `d${state.dropped - files.length}`};
}

function progress({file, size}) {
  const f = state.files.get(file);
  if (f) f.size = size;
  drawProgress();
}

function loaded(data) {
  const f = state.files.get(data.file);
  Object.assign(f, {loading: false, problems: data.problems, problemCount: data.problemCount, events: data.events, size: data.size});
  state.runs = state.runs.filter((r) => r.file !== data.file);
  for (const run of data.runs) state.runs.push({...run, from: data.name});
  state.runs.sort((a, b) => (b.at || 0) - (a.at || 0) || a.n - b.n);
  state.waiting--;
  if (!data.events && !data.runs.length) f.none = true;
  if (state.run?.file === data.file) { // it was read again: what is open goes on where it was
    const again = state.runs.find((r) => r.file === data.file && r.id === state.run.id);
    if (again) openRun(again, state.lines[rowList.chosen]?.id);
  }
  drawProgress();
  drawSoon();
}

let drawDue = false;
function drawSoon() {
  if (drawDue) return;
  drawDue = true;
  requestAnimationFrame(() => {
    drawDue = false;
    drawList();
    drawProblems();
    takeWanted();
    if (state.waiting === 0 && state.query) search(state.query);
  });
}

// Opens what the address names, what was just dropped, or the only run there is.
function takeWanted() {
  const w = state.wanted, runs = state.runs;
  if (w) {
    const run = runs.find((r) => String(r.file) === String(w.file) && (w.id === undefined || r.id === w.id));
    if (!run) return;
    state.wanted = null;
    openRun(run, w.part);
  } else if (!state.run && runs.length === 1 && state.waiting === 0) openRun(runs[0]);
}

// -------------------------------------------------------------------------------------------- list

const runList = new Rows($('runs'), {
  height: 68,
  make: () => el('div', {class: 'item', role: 'option'}, el('i', {class: 'dot'}), el('b', {class: 'name'}), el('span', {class: 'num'}),
    el('span', {class: 'sub'}), el('span', {class: 'file'}), el('span', {class: 'hits', hidden: true})),
  fill(node, index) {
    const r = state.seen[index], [dot, name, num, sub, file, hits] = node.children, n = state.hitRuns?.get(`${r.file} ${r.n}`);
    dot.className = `dot s-${r.status}`;
    name.textContent = r.name;
    num.textContent = duration(r.took);
    const parts = r.kind === 'call' ? [] : [plural(r.turns, 'turn')];
    if (r.reported) parts.push(`${count(r.input + r.output)} tokens`);
    if (r.calls) parts.push(plural(r.calls, 'call'));
    if (r.agents) parts.push(plural(r.agents, 'agent'));
    if (r.hint) parts.push(r.hint);
    if (r.status === 'error') parts.unshift(r.note);
    sub.textContent = parts.join('  ·  ');
    sub.classList.toggle('is-error', r.status === 'error');
    file.textContent = [when(r.at), r.from.split('/').pop()].filter(Boolean).join('  ·  ');
    node.title = r.from;
    hits.hidden = !n;
    hits.textContent = n ? plural(n, 'match').replace('matchs', 'matches') : '';
    node.classList.toggle('current', r === state.run);
  },
  pick: (index) => { runList.choose(index, false); openRun(state.seen[index]); },
});

const wantedRun = (r, filter) => filter === 'all' || r.status === filter;

function drawList() {
  const before = state.seen[runList.chosen];
  state.seen = state.runs.filter((r) => wantedRun(r, state.filter) && (!state.hitRuns || state.hitRuns.has(`${r.file} ${r.n}`)));
  runList.chosen = Math.max(0, state.seen.findIndex((r) => before && r.file === before.file && r.n === before.n));
  runList.reset(state.seen.length);
  for (const filter of ['all', 'error', 'open']) {
    const n = state.runs.filter((r) => wantedRun(r, filter)).length, button = document.querySelector(`[data-filter=${filter}]`);
    $(`n-${filter}`).textContent = n;
    button.setAttribute('aria-pressed', state.filter === filter);
    button.classList.toggle('none', n === 0);
  }
  document.body.classList.toggle('has-runs', state.runs.length > 0);
  $('empty-title').textContent = state.runs.length ? 'Choose a run' : 'Drop a trace here';
}

function drawProblems() {
  const lines = [];
  for (const [number, f] of state.files) {
    if (f.later) lines.push(el('p', null, `${f.name} (${bytes(f.bytes)}) `, el('button', {type: 'button', class: 'link', onclick: () => {
      read(number, {name: f.name, url: `trace/${number}`, total: f.bytes, modified: f.modified_ms});
    }}, 'read it')));
    if (f.none) lines.push(el('p', null, `${f.name}: no trace is in it`));
    for (const p of f.problems || []) if (lines.length < 50) lines.push(el('p', null, `${f.name}, line ${p.line}: ${p.what}`));
    const more = (f.problemCount || 0) - (f.problems || []).length;
    if (more > 0) lines.push(el('p', null, `${f.name}: ${plural(more, 'more line')} like that`));
  }
  $('problems').hidden = !lines.length;
  $('problems').replaceChildren(...(lines.length ? [el('details', null, el('summary', null, plural(lines.length, 'remark')), ...lines)] : []));
}

function drawProgress() {
  let size = 0, total = 0;
  for (const f of state.files.values()) if (f.loading) { size += f.size; total += f.bytes; }
  $('progress').hidden = state.waiting === 0;
  $('progress').firstElementChild.style.setProperty('width', `${Math.min(100, total ? 5 + (95 * size) / total : 5)}%`);
}

// --------------------------------------------------------------------------------------------- run

function openRun(run, part) {
  state.run = run;
  state.zoom = null;
  state.closed = new Set();
  state.part = part;
  takeHits();
  ask('open', {file: run.file, n: run.n, seq: ++state.seq});
  const index = state.seen.indexOf(run);
  if (index >= 0) runList.choose(index);
  runList.refresh();
  document.body.classList.add('in-run');
}

function opened({seq, rows, cut}) {
  if (seq !== state.seq) return;
  state.rows = rows;
  const many = rows.length > 400; // then agents within are closed at first
  for (const r of rows) if (many && r.depth > 1 && r.kids > 50) state.closed.add(r.n);
  $('empty').hidden = true;
  $('shown').hidden = false;
  drawHead(cut);
  drawLines();
  if (state.follow) $('rows').focus(); // a key opened it, so keys go on there
  state.follow = false;
  const wanted = state.part ? state.lines.findIndex((r) => r.id === state.part) : -1;
  $('rows').scrollTop = 0;
  state.part = undefined;
  const hit = wanted < 0 && state.hits?.size ? state.rows.find((r) => state.hits.has(r.n)) : null;
  if (hit) go(hit.n); else choose(Math.max(0, wanted));
}

function drawHead(cut) {
  const r = state.run, stats = [];
  const stat = (name, v, cls) => stats.push(el('div', {class: cls}, el('dd', null, v), el('dt', null, name)));
  stat('duration', duration(r.took));
  if (r.kind !== 'call') { stat('turns', count(r.turns)); stat('requests', count(r.requests)); }
  stat('tool calls', count(r.calls));
  if (r.agents) stat('agents', count(r.agents));
  if (r.reported) stat('tokens in', count(r.input));
  if (r.reported) stat('tokens out', count(r.output));
  if (r.warnings) stat('warnings', count(r.warnings), 'warn');
  if (r.errors) stat('errors', count(r.errors), 'bad');
  $('head').replaceChildren(
    el('button', {type: 'button', class: 'back', onclick: back, 'aria-label': 'Back to the runs'}, '‹'),
    el('div', {class: 'title'}, el('h1', null, r.name), status(r), el('span', {class: 'facts'}, [when(r.at), r.from.split('/').pop(), r.id].filter(Boolean).join('  ·  '))),
    el('dl', {class: 'stats'}, ...stats));
  $('chart-note').textContent = cut ? 'Timeline (the first 200,000 parts)' : 'Timeline';
}

// The rows that are seen: all but those within closed ones.
function drawLines() {
  const lines = [];
  let hidden = Infinity;
  for (const r of state.rows) {
    if (r.depth > hidden) continue;
    hidden = state.closed.has(r.n) ? r.depth : Infinity;
    lines.push(r);
  }
  state.lines = lines;
  drawScale();
  rowList.reset(lines.length);
}

function span() {
  const top = state.zoom || state.rows[0];
  return {from: top.start, size: Math.max(1, top.end - top.start)};
}

function drawScale() {
  const {size} = span(), raw = size / 4, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= raw), marks = [];
  for (let t = 0; t <= size && marks.length < 12; t += step)
    marks.push(el('span', {style: {left: `${(100 * t) / size}%`}}, t ? duration(t) : '0'));
  if (marks.length > 1 && (100 * step * (marks.length - 1)) / size > 94) marks.pop();
  $('scale').replaceChildren(...marks);
}

const rowList = new Rows($('rows'), {
  height: 28,
  make: () => el('div', {class: 'row', role: 'treeitem'}, el('span', {class: 'label'}, el('button', {type: 'button', class: 'fold', tabindex: -1}),
    el('i', {class: 'kind-dot'}), el('span', {class: 'name'}), el('small')), el('span', {class: 'track'}, el('i', {class: 'bar'}), el('span', {class: 'took'}))),
  fill(node, index) {
    const r = state.lines[index], [label, track] = node.children, [fold, dot, name, note] = label.children, [bar, took] = track.children;
    const {from, size} = span(), left = ((r.start - from) / size) * 100, width = ((r.end - r.start) / size) * 100;
    label.style.setProperty('--depth', Math.min(r.depth, 12));
    fold.textContent = r.kids ? (state.closed.has(r.n) ? '▸' : '▾') : '';
    fold.setAttribute('aria-label', r.kids ? (state.closed.has(r.n) ? 'open' : 'close') : '');
    dot.className = `kind-dot k-${r.kind}`;
    dot.title = KIND[r.kind];
    name.textContent = r.name;
    note.textContent = r.note;
    node.className = `row s-${r.status} k-${r.kind}${r.warned ? ' warned' : ''}${state.hits?.has(r.n) ? ' hit' : ''}${index === rowList.chosen ? ' chosen' : ''}`;
    node.setAttribute('aria-level', r.depth + 1);
    const a = Math.max(0, Math.min(100, left)), b = Math.max(0, Math.min(100, left + width));
    bar.className = `bar${r.guess ? ' guess' : ''}`;
    bar.style.setProperty('left', `min(${a}%, calc(100% - 3px))`);
    bar.style.setProperty('width', `${Math.max(0, b - a)}%`);
    took.textContent = duration(r.end - r.start);
    const late = b > 80; // no room behind the bar: before it, or inside one that is long
    took.className = late && a < 15 ? 'took inside' : 'took';
    took.style.setProperty(late ? 'right' : 'left', late ? `${a < 15 ? 100 - b : 100 - a}%` : `${b}%`);
    took.style.removeProperty(late ? 'left' : 'right');
  },
  pick(index, event) {
    if (event.target.closest('.fold') && state.lines[index].kids) fold(index);
    else choose(index);
  },
});

function fold(index, close = !state.closed.has(state.lines[index].n)) {
  const {n} = state.lines[index];
  if (close) state.closed.add(n); else state.closed.delete(n);
  const chosen = state.lines[rowList.chosen];
  drawLines();
  const at = state.lines.indexOf(chosen);
  rowList.choose(at >= 0 ? at : index, false);
}

function choose(index, show = true) {
  if (!state.lines.length) return;
  const i = Math.max(0, Math.min(state.lines.length - 1, index)), line = state.lines[i];
  rowList.choose(i, show);
  ask('detail', {file: state.run.file, n: line.n, seq: ++state.seq});
  history.replaceState(null, '', `#${new URLSearchParams({file: state.run.file, run: state.run.id, part: line.id})}`);
}

// A part by its number, wherever it is: what it is in is opened.
function go(n) {
  const at = state.rows.findIndex((r) => r.n === n);
  if (at < 0) return;
  for (let i = at, depth = state.rows[at].depth; i >= 0 && depth > 0; i--)
    if (state.rows[i].depth < depth) { depth = state.rows[i].depth; state.closed.delete(state.rows[i].n); }
  drawLines();
  choose(state.lines.indexOf(state.rows[at]));
}

function detail(data) {
  if (data.seq !== state.seq) return;
  showDetail($('detail'), data, {go, query: state.hits?.has(data.part.n) ? state.query : ''});
}

function back() {
  document.body.classList.remove('in-run');
  $('runs').focus();
}

// ------------------------------------------------------------------------------------------- search

let searchTimer = 0;
$('search').addEventListener('input', () => {
  clearTimeout(searchTimer);
  searchTimer = setTimeout(() => search($('search').value.trim().slice(0, 1000)), 150);
});

let searchSeq = 0;
function search(query) {
  state.query = query;
  if (query) { ask('search', {query, seq: ++searchSeq}); return; }
  ask('stop', {});
  searchSeq++;
  state.hits = state.hitRuns = state.allHits = null;
  say('');
  drawList();
  rowList.refresh();
}

function found({seq, hits, full}) {
  if (seq !== searchSeq) return;
  state.allHits = hits;
  state.hitRuns = new Map();
  for (const [file, root] of hits) state.hitRuns.set(`${file} ${root}`, (state.hitRuns.get(`${file} ${root}`) || 0) + 1);
  takeHits();
  say(hits.length ? `${full ? 'more than ' : ''}${count(hits.length)} in ${plural(state.hitRuns.size, 'run')}` : 'no match');
  drawList();
  rowList.refresh();
}

function takeHits() {
  const run = state.run;
  state.hits = state.allHits && new Set(state.allHits.filter(([file, root]) => run && file === run.file && root === run.n).map((h) => h[2]));
}

// The next or the previous part that fits; beyond the last of a run comes the next run that is listed.
function step(by, fits) {
  const chosen = state.lines[rowList.chosen], from = chosen ? state.rows.indexOf(chosen) : -1;
  for (let i = from + by; i >= 0 && i < state.rows.length; i += by) if (fits(state.rows[i])) { go(state.rows[i].n); return true; }
  return false;
}

function say(text) { $('found').textContent = text; }

// --------------------------------------------------------------------------------------------- keys

function move(by) {
  if (document.activeElement === $('runs') || !state.run) {
    const to = Math.max(0, Math.min(state.seen.length - 1, runList.chosen + by));
    if (state.seen.length) runList.choose(to);
  } else choose(rowList.chosen + by);
}

function otherRun(by) {
  const at = state.seen.indexOf(state.run), to = state.seen[at + by];
  if (to) openRun(to);
}

function enter() {
  if (document.activeElement === $('runs')) {
    const run = state.seen[runList.chosen];
    if (run) { state.follow = true; openRun(run); }
  } else if (document.activeElement === $('rows')) $('detail').focus();
  else return false;
  return true;
}

function escape() {
  if (document.activeElement === $('search')) {
    $('search').value = '';
    search('');
    (state.run ? $('rows') : $('runs')).focus();
  } else if (document.activeElement === $('detail')) $('rows').focus();
  else back();
}

function sideways(open) {
  const r = state.lines[rowList.chosen];
  if (!r || document.activeElement !== $('rows')) return false;
  const closed = state.closed.has(r.n);
  if (open && r.kids) { if (closed) fold(rowList.chosen, false); else choose(rowList.chosen + 1); }
  else if (!open && r.kids && !closed) fold(rowList.chosen, true);
  else if (!open) for (let i = rowList.chosen; i >= 0; i--) if (state.lines[i].depth < r.depth) { choose(i); break; }
  return true;
}

function zoom() {
  const r = state.lines[rowList.chosen];
  if (!r) return;
  state.zoom = state.zoom || r.end - r.start <= 0 ? null : r;
  drawScale();
  rowList.refresh();
}

const keys = {
  j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
  PageDown: () => move(15), PageUp: () => move(-15), Home: () => move(-1e9), End: () => move(1e9),
  Enter: enter, Escape: escape, ArrowLeft: () => sideways(false), ArrowRight: () => sideways(true),
  '[': () => otherRun(-1), ']': () => otherRun(1),
  e: () => step(1, (r) => r.status === 'error'), E: () => step(-1, (r) => r.status === 'error'),
  n: () => step(1, (r) => state.hits?.has(r.n)), N: () => step(-1, (r) => state.hits?.has(r.n)),
  z: zoom, t: theme, r: () => look(), '?': () => $('keys').showModal(),
  '/': () => { $('search').focus(); $('search').select(); },
};
const TYPING = new Set(['Escape', 'ArrowDown']);
const PLAIN = new Set(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End']);

document.addEventListener('keydown', (event) => {
  const typing = event.target.tagName === 'INPUT', key = event.key;
  if (event.ctrlKey || event.metaKey || event.altKey || $('keys').open || !Object.hasOwn(keys, key)) return;
  if (typing && !TYPING.has(key)) { if (key === 'Enter') { $('runs').focus(); event.preventDefault(); } return; }
  if (typing && key === 'ArrowDown') { $('runs').focus(); event.preventDefault(); return; }
  if (PLAIN.has(key) && event.target.closest('#detail')) return; // there they scroll
  if (key === 'Enter' && event.target.closest('button, summary, a')) return;
  if (keys[key]() !== false) event.preventDefault();
});

// -------------------------------------------------------------------------------------------- theme

function remember(value) {
  try { if (value) localStorage.setItem('ptc-theme', value); else return localStorage.getItem('ptc-theme'); } catch { /* not allowed */ }
  return null;
}

function theme() {
  const dark = (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
  remember(document.documentElement.dataset.theme);
}

// -------------------------------------------------------------------------------------------- begin

for (const button of document.querySelectorAll('[data-filter]'))
  button.addEventListener('click', () => { state.filter = button.dataset.filter; drawList(); });
$('theme').addEventListener('click', theme);
$('reload').addEventListener('click', look);
$('help').addEventListener('click', keys['?']);
$('pick').addEventListener('change', () => { readFiles([...$('pick').files]); $('pick').value = ''; });

let over = 0;
addEventListener('dragenter', (event) => { event.preventDefault(); over++; $('drop').hidden = false; });
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('dragleave', () => { over = Math.max(0, over - 1); $('drop').hidden = over === 0; });
addEventListener('drop', (event) => {
  event.preventDefault();
  over = 0;
  $('drop').hidden = true;
  readFiles([...event.dataTransfer.files]);
});

const narrow = matchMedia('(max-width: 720px)');
const fit = () => rowList.setHeight(narrow.matches ? 34 : 28);
narrow.addEventListener('change', fit);
fit();

const kept = remember();
if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;
const named = new URLSearchParams(location.hash.slice(1));
if (named.has('file') && !named.get('file').startsWith('d')) state.wanted = {file: named.get('file'), id: named.get('run') ?? undefined, part: named.get('part') ?? undefined};
look();
$('runs').focus();
