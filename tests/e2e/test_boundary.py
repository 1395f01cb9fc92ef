#!/usr/bin/env python3
"""Programs with tools, signatures, journals and sessions (tests/boundary/programs.jsonl) through `ptc eval --jsonl`.

Usage: test_boundary.py PTC.  A case agrees when its JSON (or, where it has none, its text), its prints and the
number of runs of each tool are as expected, or its error has the expected reason; `also` is a second right answer.
"""
import collections
import json
import pathlib
import subprocess
import sys

CASES = pathlib.Path(__file__).parent.parent / 'boundary' / 'programs.jsonl'
REQUEST = ('id', 'program', 'context', 'signature', 'tools', 'session', 'journal', 'options')


def same(got, want):
    """Equal as JSON; an integer is no float."""
    if isinstance(want, dict):
        return (isinstance(got, dict) and got.keys() == want.keys() and
                all(same(got[key], want[key]) for key in want))
    if isinstance(want, list):
        return (isinstance(got, list) and len(got) == len(want) and
                all(same(g, w) for g, w in zip(got, want)))
    if isinstance(want, float) and isinstance(got, float):
        return abs(got - want) <= 1e-12 * max(1.0, abs(want))
    return type(got) is type(want) and got == want


def runs(answer):
    """How often each tool was really called."""
    calls = answer.get('tool_calls', [])
    return dict(collections.Counter(call['name'] for call in calls if not call['cached']))


def difference(answer, want):
    """What is wrong with the answer, or None."""
    if answer['ok'] != want['ok']:
        return f'ok is {answer["ok"]}: {answer.get("message")}'
    if not want['ok']:
        return None if want['reason'] in ('*', answer['reason']) else f'reason is {answer["reason"]}'
    if 'json' in want and not same(answer.get('json'), want['json']):
        return f'json is {answer.get("json")}'
    if 'json' not in want and 'text' in want and answer['text'] != want['text']:
        return f'text is {answer["text"]}'
    if 'prints' in want and answer['prints'] != want['prints']:
        return f'prints are {answer["prints"]}'
    if 'tool_runs' in want and runs(answer) != want['tool_runs']:
        return f'runs are {runs(answer)}'
    return None


def main():
    cases = [json.loads(line) for line in CASES.read_text(encoding='utf-8').splitlines()]
    lines = ''.join(json.dumps({k: c[k] for k in REQUEST if k in c}) + '\n' for c in cases)
    done = subprocess.run([sys.argv[1], 'eval', '--jsonl'], input=lines, capture_output=True,
                          text=True, timeout=120, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    failed = abs(len(cases) - len(answers))
    for case, answer in zip(cases, answers):
        wrong = difference(answer, case['expect'])
        if wrong and (not case.get('also') or difference(answer, case['also'])):
            failed += 1
            print(f'{case["id"]}: {wrong}\n  {case["program"]}\n  expected {case["expect"]}')
    print(f'boundary: {len(cases) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
