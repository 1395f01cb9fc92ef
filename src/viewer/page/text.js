// SPDX-License-Identifier: MIT
// Texts as nodes.  Traces are written by models, tools and strangers: whatever they say becomes a text node, never markup.

const CLIP = 64 * 1024; // characters of a text that are shown at once
const TOKENS = 20000;   // pieces of a highlighted text; what follows is shown plain

// el('p', {class: 'note', onclick: f}, 'text', node, ...)
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'class') node.className = value;
    else if (key === 'style') for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
    else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

// ------------------------------------------------------------------------------------------ numbers

export function duration(us) {
  if (!(us >= 0)) return '–';
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${trim(us / 1000)} ms`;
  if (us < 60e6) return `${trim(us / 1e6)} s`;
  const s = Math.round(us / 1e6);
  return s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
}

function trim(n) {
  return n < 10 ? n.toFixed(2) : n < 100 ? n.toFixed(1) : n.toFixed(0);
}

export function count(n) {
  return n < 10000 ? n.toLocaleString('en-US') : n < 1e6 ? `${trim(n / 1000)}k` : `${trim(n / 1e6)}M`;
}

export function bytes(n) {
  return n < 1024 ? `${n} B` : n < 1 << 20 ? `${trim(n / 1024)} KiB` : `${trim(n / (1 << 20))} MiB`;
}

export function plural(n, word) {
  return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}

// Today's times without the date.
export function when(ms) {
  if (!Number.isFinite(ms) || Math.abs(ms) > 8e15) return '';
  const d = new Date(ms), two = (n) => String(n).padStart(2, '0');
  const time = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
  return d.toDateString() === new Date().toDateString() ? time
    : `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${time}`;
}

// -------------------------------------------------------------------------------------------- marks

const PIECES = new RegExp([
  '(?<comment>;[^\\n]*)', '(?<string>"(?:[^"\\\\]|\\\\.)*"?)', '(?<keyword>:[^\\s()\\[\\]{}",;]+)',
  '(?<number>(?<![\\w-])-?\\d[\\d.eEMN/+-]*)', '(?<literal>(?<![\\w-])(?:true|false|nil|null)(?![\\w-]))',
  '(?<tool>tool\\/[^\\s()\\[\\]{}",;]+)', '(?<data>data\\/[^\\s()\\[\\]{}",;]+)',
  '(?<=\\()(?<form>def|defn|defn-|defonce|defrecord|defprotocol|defmulti|defmethod|let|letfn|fn|if|if-let|if-not|when|when-let|when-not|' +
  'cond|condp|case|do|doseq|dotimes|for|loop|recur|try|catch|finally|throw|return|fail|pmap|pcalls|->>?|some->>?|cond->>?|as->|and|or|not)' +
  '(?=[\\s()])',
].join('|'), 'gs');

// Appends a text with the pieces that a reader looks for coloured.
function highlight(into, text) {
  let at = 0, pieces = 0;
  PIECES.lastIndex = 0;
  for (let m; pieces < TOKENS && (m = PIECES.exec(text));) {
    if (m[0] === '') { PIECES.lastIndex++; continue; }
    const kind = Object.keys(m.groups).find((k) => m.groups[k] !== undefined);
    if (m.index > at) into.append(text.slice(at, m.index));
    into.append(el('span', {class: `h-${kind}`}, m[0]));
    at = m.index + m[0].length;
    pieces++;
  }
  into.append(text.slice(at));
}

// JSON with line breaks where they help; numbers stay as they were written, which JSON.parse would not promise.
export function prettyJson(text) {
  if (text.length > CLIP) return text;
  try { JSON.parse(text); } catch { return text; }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g) || [];
  const ends = matchBrackets(tokens);
  if (!ends) return text;
  let out = '', depth = 0;
  const broken = [];
  const line = () => { out += '\n' + '  '.repeat(depth); };
  tokens.forEach((t, i) => {
    if (t === '{' || t === '[') {
      const wide = width(tokens, i, ends[i]) > 80;
      broken.push(wide);
      out += t;
      if (wide) { depth++; line(); }
    } else if (t === '}' || t === ']') {
      if (broken.pop()) { depth--; line(); }
      out += t;
    } else if (t === ',') {
      out += ',';
      if (broken[broken.length - 1]) line(); else out += ' ';
    } else {
      out += t === ':' ? ': ' : t;
    }
  });
  return out;
}

// For each opening bracket where it is closed; null: nested too deep to be worth it.
function matchBrackets(tokens) {
  const ends = [], open = [];
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i] === '{' || tokens[i] === '[') { if (open.push(i) > 60) return null; }
    if (tokens[i] === '}' || tokens[i] === ']') ends[open.pop()] = i;
  }
  return ends;
}

function width(tokens, from, to) {
  let n = 0;
  for (let i = from; i <= to && n <= 80; i++) n += tokens[i].length + (tokens[i] === ',' || tokens[i] === ':' ? 1 : 0);
  return n;
}

// ------------------------------------------------------------------------------------------- blocks

// Marks what was searched for; returns how many matches there are.
function markMatches(node, query) {
  const wanted = query.toLowerCase(), walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), texts = [];
  while (texts.length < TOKENS && walker.nextNode()) texts.push(walker.currentNode);
  let found = 0;
  for (const text of texts) {
    let rest = text;
    for (let at; found < 500 && (at = rest.data.toLowerCase().indexOf(wanted)) >= 0; found++) {
      const hit = rest.splitText(at);
      if (hit.data.length < wanted.length) return found;
      rest = hit.splitText(wanted.length);
      const mark = el('mark', null);
      hit.replaceWith(mark);
      mark.append(hit);
    }
  }
  return found;
}

// A text in a frame of its own, with a button for copying, cut where it is very long.
export function block(text, options = {}) {
  const body = el('pre', {class: `block ${options.class || ''}`, tabindex: 0});
  let shown = 0;
  const more = el('button', {type: 'button', class: 'more'});
  const add = () => {
    const part = text.slice(shown, shown + CLIP);
    const piece = el('code', null);
    if (options.lisp || options.json) highlight(piece, part); else piece.append(part);
    if (options.query) markMatches(piece, options.query);
    body.append(piece);
    shown += part.length;
    more.hidden = shown >= text.length;
    more.textContent = `Show more (${bytes(text.length - shown)} left)`;
  };
  add();
  more.addEventListener('click', add);
  const copy = el('button', {type: 'button', class: 'copy', title: 'Copy', 'aria-label': 'Copy'}, 'Copy');
  copy.addEventListener('click', async () => {
    try { await navigator.clipboard.writeText(text); copy.textContent = 'Copied'; } catch { copy.textContent = 'No access'; }
    setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
  });
  const box = el('div', {class: 'block-box'}, copy, body, more);
  if (options.full > text.length) box.append(el('p', {class: 'cut'}, `The trace has the first ${bytes(text.length)} of ${bytes(options.full)}.`));
  return box;
}

// What a model or a person wrote: code between fences is coloured, the rest is text.
export function prose(text, query) {
  const box = el('div', {class: 'prose'});
  const clipped = text.slice(0, CLIP);
  clipped.split(/^```/m).slice(0, 400).forEach((part, i) => {
    if (i % 2) {
      const at = part.indexOf('\n'), word = at < 0 ? '' : part.slice(0, at).trim();
      const code = (at < 0 ? part : part.slice(at + 1)).replace(/\n$/, '');
      if (code) box.append(block(code, {lisp: /^(clojure|clj|lisp|ptc.*)$/.test(word), query, class: 'inner'}));
    } else if (part.trim()) {
      const p = el('p', null, part.replace(/^\n+|\n+$/g, ''));
      if (query) markMatches(p, query);
      box.append(p);
    }
  });
  if (text.length > CLIP) box.append(block(text.slice(CLIP), {query}));
  return box;
}
