// SPDX-License-Identifier: MIT
// Calls that wait for a person: what is asked, in the words of the terminal, and the answer.  All texts become text nodes.

import {duration, el, plural} from './text.js';

const LOOK = 3000; // ms
const DECISIONS = [['once', 'Yes, these calls'], ['run', 'Yes, these tools for this run'], ['process', 'Yes, these tools until ptc ends'],
  ['always', 'Yes, these tools always, as they are defined now'], ['no', 'No']];
const desk = document.getElementById('desk'), note = document.getElementById('note');
let shown = '';

const say = (text) => { note.textContent = text; };

async function look() {
  try {
    const answer = await fetch('approvals.json', {cache: 'no-store'});
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    if (text === 'null') throw new Error('ptc view was started without --store.');
    // What is being read is not drawn anew; times are left as they were.
    const rows = JSON.parse(text), now = JSON.stringify(rows.map((r) => [r.id, r.round, r.said]));
    if (now !== shown) draw(rows);
    shown = now;
    say(rows.length ? plural(rows.length, 'run') + (rows.length === 1 ? ' waits' : ' wait') : 'Nothing waits for an answer.');
  } catch (e) {
    say(e instanceof TypeError ? 'ptc view has ended: start it again and open the address that it prints.' : e.message);
  }
}

async function decide(row, decision) {
  const {owner, id, round, mark} = row;
  const answer = await fetch('approval', {method: 'POST', headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({owner, id, round, mark, decision})});
  const {error} = await answer.json();
  shown = '';
  await look();
  if (error) say(error);
}

function buttons(row) {
  if (row.said) return el('p', {class: 'num'}, `Answered: ${row.said.content.decision}. The run goes on when its client asks again.`);
  return el('p', {class: 'decisions'}, ...DECISIONS.map(([word, text]) =>
    el('button', {type: 'button', class: word === 'once' ? 'primary' : '', onclick: () => decide(row, word)}, text)));
}

function draw(rows) {
  desk.replaceChildren(...rows.map((row) => el('article', {class: 'card'},
    el('p', {class: 'num'}, `${row.owner || 'local'} · ${row.tool} · waits for ${duration(row.waits_ms * 1000)}, ${duration(row.left_ms * 1000)} left`),
    el('pre', {class: 'question'}, row.question),
    el('details', {}, el('summary', {}, 'Program'), el('pre', {}, row.program)),
    buttons(row))));
}

look();
setInterval(look, LOOK);
