#!/usr/bin/env python3
"""Nothing is done twice and nothing is missing: programs that write are made to fail at each of their calls, and the
corrected program skips what data/fail says is done.

usage: test_effects.py PTC [SCENARIO]

Scenarios come from a seed: two to six writes with reads between them, one after the other, in doseq or in pmap, in
three modes.  The tool itself counts: it appends the id of each write to a file.  PTC_TEST_FULL=1 runs all 200 scenarios,
otherwise every tenth is run."""
import json, os, random, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

SEED, SCENARIOS, SAMPLE = 24, 200, 10
SPARE = 5  # corrected programs: one is enough, but on a busy machine more calls may time out than were planned
MODES = {'content': {}, 'tool_call': {'ptc_transport': 'tool_call'},
         'combined': {'output': 'text', 'ptc_transport': 'tool_call'}}
SHAPES = ('sequence', 'doseq', 'pmap')
# before: it fails and has done nothing; after: it is killed when it has; late, slow: the same for a timeout;
# program: an error in the program after the call; answer: the program ends, but not with what is wanted.
FAULTS = ('before', 'after', 'late', 'slow', 'program', 'answer')

WRITE = r'''in=$(cat); id=${in#*\"id\":\"}; id=${id%%\"*}; cd "$1"
fault=$(cat "plan-$id" 2>/dev/null); rm -f "plan-$id"
case $fault in before) echo no >&2; exit 1;; late) exec sleep 60;; esac
echo "$id" >>log
case $fault in after) kill -9 $$;; slow) exec sleep 60;; esac
echo "{\"stored\":\"$id\"}"'''
HAS = r'''in=$(cat); id=${in#*\"id\":\"}; id=${id%%\"*}; grep -qx "$id" "$1/log" 2>/dev/null && echo true || echo false'''


def agent(mode, place, faults):
    timeout = {'timeout_ms': 300} if {'late', 'slow'} & set(faults) else {}
    tools = {'write': dict(timeout, command=['sh', '-c', WRITE, 'sh', place], signature='(id :string, note :string) -> :any'),
             'has': {'command': ['sh', '-c', HAS, 'sh', place], 'signature': '(id :string) -> :bool', 'read_only': True}}
    for tool in tools.values() if mode == 'combined' else ():
        tool['expose'] = 'both'
    limits = {'timeout': 60000, 'pmap_timeout': 60000, 'max_turns': 8}
    return dict(MODES[mode], prompt='Write all.', signature='() -> :int', tools=tools, **limits)


def program(scenario, end, fault_at=None):
    """Writes what is neither done nor, though unknown, found to be there; nothing once a program has succeeded, which
    is the end only in the other modes than combined.  fault_at: an id after which it fails."""
    calls = '(work "%s")'
    body = {'sequence': ' '.join(calls % i for i in scenario['ids']),
            'doseq': '(doseq [id ids] (work id))', 'pmap': '(pmap work ids)'}[scenario['shape']]
    garbage = '(count (mapv str (range 60000)))' if scenario['garbage'] else 'nil'
    return '''(def helper (fn [id] (str "note " id)))
(def ids %s)
(defn id-of [call] (get-in call [:args :id]))
(def done (set (map id-of (:done data/fail))))
(def unknown (set (map id-of (:unknown data/fail))))
(defn skip? [id] (or (contains? done id) (and (contains? unknown id) (tool/has {:id id}))))
(defn work [id]
  (when-not (or (= *1 "all written") (skip? id))
    (tool/write {:id id :note (helper id)})
    %s
    (tool/has {:id "other"})
    (when (= id "%s") (/ 1 0))))
%s
%s''' % (json.dumps(scenario['ids']).replace(',', ''), garbage, fault_at or '', body, end)


def reply(mode, number, text):
    if mode == 'content':
        return {'content': '```clojure\n%s\n```' % text}
    return {'tool_calls': [{'id': 'c%d' % number, 'name': 'lisp_eval', 'args': {'program': text}}], 'content': None}


def scenarios():
    chance = random.Random(SEED)
    for number in range(SCENARIOS):
        yield {'number': number, 'mode': chance.choice(list(MODES)), 'shape': chance.choice(SHAPES),
               'ids': ['%s%d' % (chance.choice('abc'), i) for i in range(chance.randint(2, 6))],
               'fault': chance.choice(FAULTS), 'garbage': chance.random() < 0.3, 'twice': chance.random() < 0.5}


def runs(scenario):
    """One for each call at which it fails: the places of faults of the tool, and the programs."""
    mode, ids, fault = scenario['mode'], scenario['ids'], scenario['fault']
    good = '(return "all written")' if mode == 'combined' else '(return %d)' % len(ids)
    for k, planted in enumerate(ids[:1] if fault == 'answer' else ids):
        wrong = '(fail "not yet")' if mode == 'combined' else '(return "many")'
        first = program(scenario, wrong if fault == 'answer' else good, planted if fault == 'program' else None)
        plans = {} if fault in ('answer', 'program') else {planted: fault}
        again = ids[(k + 1) % len(ids)] if scenario['twice'] else None
        if again and fault != 'answer':  # the corrected program fails as well, if it still has that one to write
            plans.setdefault(again, 'before')
        programs = [first] + [program(scenario, good)] * SPARE
        yield planted, plans, programs


def play(ptc, batch):
    done = subprocess.run([ptc, 'run', '--jsonl', '--allow-tools'], input=''.join(json.dumps(r) + '\n' for r in batch), capture_output=True,
                          text=True, timeout=600)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(batch):
        raise SystemExit('ptc run --jsonl: status %d, %d answers to %d lines\n%s' %
                         (done.returncode, len(answers), len(batch), done.stderr))
    return answers


def problems(scenario, answer, place):
    log = os.path.join(place, 'log')
    written = open(log, encoding='utf-8').read().split() if os.path.exists(log) else []
    if sorted(written) != sorted(scenario['ids']):
        yield 'wrote %s' % written
    if answer.get('outcome') != 'ok':
        yield 'ended with %s: %s' % (answer.get('reason'), answer.get('message'))
    elif answer['turns'][0]['ok']:
        yield 'its first program did not fail'


def main():
    ptc, only = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None
    step = 1 if os.environ.get('PTC_TEST_FULL') or only is not None else SAMPLE
    chosen = [s for s in scenarios() if s['number'] == only or (only is None and s['number'] % step == 0)]
    top, cases, batch = tempfile.mkdtemp(prefix='ptc-effects-'), [], []
    try:
        for scenario in chosen:
            for planted, plans, programs in runs(scenario):
                place = os.path.join(top, '%d' % len(cases))
                os.mkdir(place)
                for name, fault in plans.items():
                    open(os.path.join(place, 'plan-' + name), 'w').write(fault)
                mode = scenario['mode']
                llm = [reply(mode, i, text) for i, text in enumerate(programs)]
                if mode == 'combined':  # there a program only gives results
                    llm.append({'content': str(len(scenario['ids']))})
                batch.append({'id': str(len(cases)), 'agent': agent(mode, place, plans.values()), 'llm': llm})
                cases.append((scenario, planted, place))
        failed = 0
        with ThreadPoolExecutor(4) as pool:  # much of it is waiting
            parts = pool.map(lambda at: play(ptc, batch[at:at + 10]), range(0, len(batch), 10))
            answers = [answer for part in parts for answer in part]
        for (scenario, planted, place), answer in zip(cases, answers):
            found = list(problems(scenario, answer, place))
            failed += bool(found)
            for problem in found:
                print('scenario %(number)d, %(mode)s, %(shape)s, %(fault)s' % scenario, 'at', planted + ':', problem)
    finally:
        shutil.rmtree(top)
    print('effects: %d passed, %d failed' % (len(cases) - failed, failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
