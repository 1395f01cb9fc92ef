#!/usr/bin/env python3
"""Agents from outside: every line of scenarios.jsonl through `ptc run --jsonl`, compared with expected.jsonl.

usage: test_scenarios.py PTC [--update] [TEXT]     TEXT: only scenarios whose id holds it

Facts are compared and no wording: how the run ended, each turn, what each request held, what tools were asked and how
often they ran, what it cost, what is remembered.  --update writes what is found as what is expected; read the difference
before you commit it."""
import json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS, EXPECTED = (os.path.join(HERE, name) for name in ('scenarios.jsonl', 'expected.jsonl'))
WORDS = {'message', 'feedback', 'cache_hint', 'error', 'hint'}  # members of tool results that are wording


def lines(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file if line.strip()]


def run(ptc, scenarios):
    """The answers, in order.  Probes are looked for in whole requests."""
    requests = []
    for scenario in scenarios:
        request = {k: v for k, v in scenario.items() if k != 'probes'}
        if scenario.get('probes'):
            request['run'] = dict(request.get('run') or {}, full_requests=True)
        requests.append(json.dumps(request, ensure_ascii=False))
    done = subprocess.run([ptc, 'run', '--jsonl'], input='\n'.join(requests) + '\n', capture_output=True, text=True,
                          timeout=250)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or done.stderr or len(answers) != len(scenarios):
        raise SystemExit('ptc run --jsonl: status %d, %d answers to %d lines\n%s' %
                         (done.returncode, len(answers), len(scenarios), done.stderr))
    return answers


# ------------------------------------------------------------------------------- facts


def without_words(value):
    if isinstance(value, dict):
        return {k: without_words(v) for k, v in value.items() if k not in WORDS}
    return [without_words(v) for v in value] if isinstance(value, list) else value


def message_facts(message):
    """A tool's result is data, but for the words in it; other messages are words."""
    if message['role'] != 'tool':
        return message['role']
    return {message['tool_call_id']: without_words(json.loads(message['content']))}


def request_facts(request, probes):
    facts = {'roles': ' '.join(request['roles']), 'tail': [message_facts(m) for m in request['tail']]}
    facts.update({k: request[k] for k in ('agent', 'tools', 'calls', 'schema') if request[k]})
    messages = request.get('messages') or []
    text = ' '.join(json.dumps(m, ensure_ascii=False) for m in messages)
    seen = [p for p in probes if p in request.get('system', '') or p in text]
    return dict(facts, seen=seen) if probes else facts


def turn_facts(turn):
    facts = {k: turn[k] for k in ('type', 'ok', 'value', 'reason', 'tokens') if k in turn}
    facts['program'] = turn['program'] is not None
    facts.update({k: turn[k] for k in ('prints',) if turn[k]})
    if turn.get('errors'):
        facts['paths'] = [e['path'] for e in turn['errors']]
    if turn['calls']:
        facts['calls'] = ['%s %s%s%s' % (c['layer'], c['name'], '' if c['ok'] else ' failed', ' cached' if c['cached'] else '')
                          for c in turn['calls']]
    return facts


def facts_of(answer, scenario):
    plain = 'id outcome return by reason cause value partial path usage children tool_runs memory journal summaries effects'
    facts = {k: answer[k] for k in plain.split() if answer.get(k) not in ({}, 0, None) or k in ('return', 'value')
             and k in answer}
    facts['turns'] = [turn_facts(t) for t in answer.get('turns', [])]
    facts['requests'] = [request_facts(r, scenario.get('probes') or []) for r in answer['requests']]
    if 'messages' in answer:
        facts['messages'] = ' '.join(m['role'] for m in answer['messages'])
    return facts


# ------------------------------------------------------------------------------- rules

def broken_rules(answer):
    """What holds for every answer, whatever is expected of it."""
    for number, request in enumerate(answer['requests'], 1):
        roles, due = request['roles'], set()
        if not roles or roles[0] != 'user':
            yield 'request %d does not begin with a user' % number
        for before, after in zip(roles, roles[1:]):
            if before == after and after != 'tool':
                yield 'request %d has %s after %s' % (number, after, before)
        due = [c[0] for c in request['calls']]
        if len(set(due)) != len(due):
            yield 'request %d uses an id twice' % number
    if (answer['outcome'] == 'ok') != ('return' in answer):
        yield 'an answer without ok, or the other way round'
    if answer['outcome'] == 'error' and 'effects' not in answer:
        yield 'an error without effects'
    if 'usage' in answer and answer['usage']['turns'] != len(answer['turns']):
        yield 'usage.turns is not the number of turns'


def differences(want, got, where=''):
    """Paths of what differs."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(set(want) | set(got)):
            yield from differences(want.get(key, 'nothing'), got.get(key, 'nothing'), '%s.%s' % (where, key))
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for i, (a, b) in enumerate(zip(want, got)):
            yield from differences(a, b, '%s[%d]' % (where, i))
    elif want != got or isinstance(want, bool) != isinstance(got, bool):
        yield '%s: want %s, got %s' % (where, json.dumps(want)[:300], json.dumps(got)[:300])


def main(ptc, *rest):
    update = '--update' in rest
    only = [r for r in rest if r != '--update']
    scenarios = [s for s in lines(SCENARIOS) if all(text in s['id'] for text in only)]
    answers = run(ptc, scenarios)
    found = [facts_of(a, s) for a, s in zip(answers, scenarios)]
    if update:
        with open(EXPECTED, 'w', encoding='utf-8') as file:
            file.writelines(json.dumps(f, ensure_ascii=False, sort_keys=True) + '\n' for f in found)
    expected = {e['id']: e for e in lines(EXPECTED)}
    failed = 0
    for scenario, answer, facts in zip(scenarios, answers, found):
        wrong = list(differences(expected.get(scenario['id']), json.loads(json.dumps(facts)))) + list(broken_rules(answer))
        failed += bool(wrong)
        for line in wrong[:10]:
            print('%s: %s' % (scenario['id'], line))
    print('scenarios: %d passed, %d failed' % (len(scenarios) - failed, failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
