// SPDX-License-Identifier: MIT
// One part of a run in full: what went in, what came out, what was said.  All that it shows comes from a trace, so it may be
// of any type and any size.
import {block, bytes, count, duration, el, plural, prettyJson, prose, when} from './text.js';

const text = (v) => (typeof v === 'string' ? v : v === undefined || v === null ? '' : JSON.stringify(v));
const list = (v) => (Array.isArray(v) ? v : []);
const sized = (event, key) => (Number.isFinite(event[`${key}_bytes`]) ? event[`${key}_bytes`] : 0);

export const KIND = {run: 'Agent', turn: 'Turn', llm: 'Model', program: 'Program', tool: 'Tool', call: 'Call'};

// go(n): show another part; query: what was searched for.
export function showDetail(box, answer, {go, query}) {
  const {part} = answer;
  const body = {run: runBody, turn: turnBody, llm: llmBody, program: programBody, tool: toolBody, call: callBody}[part.kind];
  box.replaceChildren(heading(answer), ...body(answer, {go, query}).filter(Boolean));
  box.scrollTop = 0;
  if (query) box.querySelector('mark')?.scrollIntoView({block: 'center'});
}

function heading({part, began}) {
  const at = when(began + part.start / 1000);
  return el('div', {class: 'detail-head'},
    el('span', {class: `kind k-${part.kind}`}, KIND[part.kind]),
    el('h2', null, part.name), status(part),
    el('span', {class: 'facts'}, [duration(part.end - part.start), at, part.id].filter(Boolean).join('  ·  ')));
}

export function status(part) {
  if (part.status === 'ok') return part.note === 'cached' ? el('span', {class: 'badge'}, 'cached') : el('span', {class: 'badge ok'}, 'ok');
  if (part.status === 'open') return el('span', {class: 'badge open'}, 'unfinished');
  return el('span', {class: 'badge error'}, part.note || 'failed');
}

// ------------------------------------------------------------------------------------------ sections

function section(title, content, props = {}) {
  if (!content) return null;
  if (props.closed !== undefined)
    return el('details', {class: 'section', open: !props.closed}, el('summary', null, title, props.side && el('span', {class: 'side-note'}, props.side)), content);
  return el('section', {class: `section ${props.class || ''}`},
    el('h3', null, title, props.side && el('span', {class: 'side-note'}, props.side)), content);
}

function failure(event, query) {
  const message = text(event.message);
  if (!message) return null;
  return section('Error', block(message, {class: 'error', query, full: sized(event, 'message')}), {class: 'is-error'});
}

function value(title, event, key, query) {
  if (event[key] === undefined) return null;
  return section(title, block(prettyJson(text(event[key])), {json: true, query, full: sized(event, key)}));
}

function code(title, event, key, query, side) {
  const source = text(event[key]);
  if (!source) return null;
  return section(title, block(source, {lisp: true, query, full: sized(event, key), class: 'program'}),
    {side: side || plural(source.split('\n').length, 'line')});
}

function prints(event, query) {
  let lines;
  try { lines = JSON.parse(event.prints); } catch { lines = event.prints ? [event.prints] : []; }
  if (!list(lines).length) return null;
  return section('Printed', block(lines.map(text).join('\n'), {query, full: sized(event, 'prints')}));
}

function warnings(event, query) {
  let all;
  try { all = JSON.parse(event.warnings); } catch { all = event.warnings ? [{message: event.warnings}] : []; }
  all = list(all).filter((w) => w && typeof w === 'object').slice(0, 100);
  if (!all.length) return null;
  return section('Warnings', el('ul', {class: 'warnings'}, ...all.map((w) => el('li', null,
    el('span', null, text(w.message)),
    w.line !== undefined && el('small', null, ` line ${text(w.line)}, column ${text(w.column)}`),
    w.hint && el('em', null, text(w.hint))))));
}

function tokens(t) {
  if (!t || typeof t !== 'object') return '';
  const parts = [`${count(Number(t.input) || 0)} in`, `${count(Number(t.output) || 0)} out`];
  if (t.cache_read) parts.push(`${count(Number(t.cache_read))} from cache`);
  return parts.join(', ');
}

// ---------------------------------------------------------------------------------------- messages

function message(m, query) {
  if (!m || typeof m !== 'object') return null;
  const role = text(m.role) || 'message', said = text(m.content);
  const names = {user: 'To the model', assistant: 'Model', tool: 'Tool result', system: 'System prompt'};
  return el('div', {class: `message m-${Object.hasOwn(names, role) ? role : 'other'}`},
    el('div', {class: 'role'}, names[role] || role, m.call && el('small', null, text(m.call))),
    said && prose(said, query), calls(m.calls, query));
}

// Native calls that a model asked for.
function calls(all, query) {
  if (!list(all).length) return null;
  return el('div', {class: 'asked'}, ...list(all).slice(0, 128).map((c) => c && typeof c === 'object' && el('div', null,
    el('span', {class: 'kind k-tool'}, text(c.name)), el('small', null, text(c.id)),
    block(prettyJson(text(c.args)), {json: true, query, class: 'inner'}))));
}

function reply(event, query) {
  if (event.status !== undefined && event.status !== 'ok') return null;
  if (!event.text && !list(event.calls).length) return null;
  return section('Reply', el('div', null, message({role: 'assistant', content: event.text, calls: event.calls}, query),
    event.cut === true && el('p', {class: 'cut'}, 'The reply ended at the output limit.')), {side: tokens(event.tokens)});
}

function newMessages(event, query) {
  const all = list(event.new);
  if (!all.length) return null;
  return section('New messages', el('div', null, ...all.map((m) => message(m, query)).filter(Boolean)),
    {side: event.messages > all.length ? `${event.messages} messages in the request` : ''});
}

const systemPrompt = (prompt, query) => prompt && section('System prompt', prose(prompt, query), {closed: true, side: bytes(prompt.length)});

// ------------------------------------------------------------------------------------------- bodies

function llmBody({part, system, said}, {query}) {
  return [failure(part.b, query), systemPrompt(system, query),
    said.length && section('Earlier messages', el('div', null, ...said.map((m) => message(m, query)).filter(Boolean)),
      {closed: true, side: count(said.length)}),
    newMessages(part.a, query), reply(part.b, query),
    list(part.a.tools).length && section('Tools offered', el('p', {class: 'chips'}, ...list(part.a.tools).slice(0, 128).map((t) => el('code', null, text(t)))))];
}

function programBody({part, parts, more}, {go, query}) {
  return [failure(part.b, query), code('Program', part.a, 'program', query), warnings(part.b, query), prints(part.b, query),
    value(part.b.end === 'fail' ? 'Failed with' : part.b.end === 'return' ? 'Returned' : 'Result', part.b, 'value', query), callTable(parts, more, go)];
}

// A call of another server, and what was decided about it.
function upstreamBody(part, query) {
  const {a, b} = part, facts = [];
  const fact = (name, v) => v !== undefined && v !== null && v !== '' && facts.push(el('div', null, el('dt', null, name), el('dd', null, text(v))));
  fact('Server', a.server);
  fact('Tool', a.tool);
  fact('Effect', a.effect);
  fact('Policy', a.policy);
  fact('Approved', a.approved);
  fact('Sent', b.attempts !== undefined ? plural(Number(b.attempts) || 0, 'time') : undefined);
  fact('Waited', b.wait_ms !== undefined ? duration(Number(b.wait_ms) * 1000) : undefined);
  fact('Received', b.result_bytes !== undefined ? bytes(Number(b.result_bytes) || 0) : undefined);
  fact('Notes', list(b.notes).length ? list(b.notes).map(text).join(', ') : undefined);
  return [payload('Error', b.error, query, {class: 'error'}), payload('Arguments', a.arguments, query, {json: true}),
    payload('Result', b.result, query, {json: true}), facts.length && el('dl', {class: 'fact-list'}, ...facts)];
}

function toolBody({part}, {query}) {
  if (part.a.server !== undefined) return upstreamBody(part, query);
  const native = part.b.layer === 'native';
  const show = (title, key) => (native ? value(title, part.b, key, query) : code(title, part.b, key, query, ' '));
  const by = part.b.layer === undefined ? null
    : el('p', {class: 'note'}, native ? 'The model called it.' : 'A program called it.', part.guess ? ' When it began is not known.' : '');
  return [failure(part.b, query), show('Arguments', part.b.args !== undefined ? 'args' : 'arguments'), show('Result', 'result'), by];
}

function turnBody(answer, {go, query}) {
  const {part, parts, more} = answer, last = parts.filter((p) => p.kind === 'llm').pop();
  const programs = parts.filter((p) => p.kind === 'program');
  return [failure(part.b, query),
    ...programs.flatMap((p) => [code('Program', p.a, 'program', query),
      text(p.b.message) !== text(part.b.message) && failure(p.b, query), warnings(p.b, query), prints(p.b, query),
      value(p.b.end === 'fail' ? 'Failed with' : p.b.end === 'return' ? 'Returned' : 'Result', p.b, 'value', query)]),
    callTable(parts.filter((p) => p.kind === 'tool' || p.kind === 'run'), more, go),
    ...parts.filter((p) => p.kind === 'llm' && p.status === 'error').map((p) => failure(p.b, query)),
    last && newMessages(last.a, query), last && reply(last.b, query),
    last && el('p', {class: 'note'}, el('button', {type: 'button', class: 'link', onclick: () => go(last.n)}, 'The whole conversation'))];
}

function runBody({part, parts, sums, prompt}, {go, query}) {
  const facts = [];
  const fact = (name, v) => v && facts.push(el('div', null, el('dt', null, name), el('dd', null, v)));
  fact('Mode', part.mode);
  fact('Model', prompt?.model);
  fact('Turns', part.b.turns !== undefined && text(part.b.turns));
  fact('Requests', part.b.llm_requests !== undefined && text(part.b.llm_requests) + (part.b.llm_errors ? `, ${text(part.b.llm_errors)} failed` : ''));
  fact('Tokens', tokens(part.b.tokens));
  fact('With its agents', sums && sums.agents > 0 && sums.reported && `${count(sums.input)} in, ${count(sums.output)} out`);
  return [failure(part.b, query), value('Answer', part.b, 'return', query), facts.length && el('dl', {class: 'fact-list'}, ...facts),
    parts.length && section('Turns', partTable(parts, go), {side: count(parts.length)}),
    prompt?.text && section('First message', prose(prompt.text, query)), prompt && systemPrompt(prompt.system, query)];
}

// Payloads of `ptc mcp` are {bytes, sha256, text}; --trace-payloads decides which of them are there.  Agents' traces have the text itself.
function payload(title, p, query, options) {
  if (typeof p === 'string') return payload(title, {text: p}, query, options);
  if (!p || typeof p !== 'object') return null;
  if (typeof p.text === 'string')
    return section(title, block(options.json ? prettyJson(p.text) : p.text, {...options, query, full: Number(p.bytes) || 0}));
  return section(title, el('p', {class: 'note'}, `${bytes(Number(p.bytes) || 0)}; the trace has no text of it (--trace-payloads full)`));
}

function callBody({part, parts, more}, {go, query}) {
  const {a, b} = part;
  return [payload('Error', b.message, query, {class: 'error'}), payload('Program', a.program, query, {lisp: true, class: 'program'}),
    payload('Context', a.context, query, {json: true}), payload('Result', b.result, query, {json: true}), callTable(parts, more, go)];
}

// ------------------------------------------------------------------------------------------- tables

function partTable(parts, go) {
  return el('div', {class: 'table'}, ...parts.map((p) => el('button', {type: 'button', class: `line s-${p.status}`, onclick: () => go(p.n)},
    el('span', {class: `kind k-${p.kind}`}, KIND[p.kind]), el('span', {class: 'grow'}, p.name), status(p),
    el('span', {class: 'num'}, duration(p.end - p.start)))));
}

function callTable(parts, more, go) {
  if (!parts.length) return null;
  const lines = parts.map((p) => el('button', {type: 'button', class: `line s-${p.status}`, onclick: () => go(p.n)},
    el('span', {class: `kind k-${p.kind}`}, p.kind === 'run' ? 'Agent' : p.name),
    el('code', {class: 'grow'}, p.kind === 'run' ? p.name : text(p.b.args ?? p.b.arguments ?? p.a.arguments?.text).slice(0, 300)),
    el('code', {class: 'grow result'}, p.kind === 'run' ? text(p.b.return ?? p.b.message).slice(0, 300) : text(p.b.result?.text ?? p.b.result ?? p.b.message).slice(0, 300)),
    status(p), el('span', {class: 'num'}, duration(p.end - p.start))));
  if (more > 0) lines.push(el('p', {class: 'note'}, 'More of them are in the timeline.'));
  return section('Tool calls', el('div', {class: 'table'}, ...lines), {side: count(parts.length)});
}
