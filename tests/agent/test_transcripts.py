#!/usr/bin/env python3
"""What models are told and what comes of it, word for word: the files of transcripts/.

usage: test_transcripts.py PTC [--update] [TEXT]     TEXT: only files whose name holds it

A file has scenarios.  What is written by hand comes first:

    == name of the scenario: what it shows
    agent {JSON}                 and, where they are needed, context {JSON} and run {JSON}
    reply                        the model's reply: lines of text behind `| `,
    | (return 1)                 calls (`call id name {JSON}`, or `program id` with its lines behind `| `),
                                 `error {JSON}`, `tokens {JSON}`, `cut`

then, behind `---`, what --update writes: every request with the messages that are new in it, and the outcome.  A system
prompt is shown whole where it is new in the file.  Read the difference before you commit it."""
import glob, json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))

# ------------------------------------------------------------------------------ reading


def add_reply_line(reply, line):
    """A line below `reply`."""
    word, _, rest = line.partition(' ')
    if word == '|' or line == '|':
        call = reply.get('tool_calls', [None])[-1]
        target, key = (call['args'], 'program') if call and reply.get('open') else (reply, 'content')
        target[key] = rest if target.get(key) is None else target[key] + '\n' + rest
    elif word in ('call', 'program'):
        ident, _, tail = rest.partition(' ')
        name, _, args = ('lisp_eval', '', '') if word == 'program' else tail.partition(' ')
        call = {'name': name, 'args': json.loads(args) if args else {}}
        reply.setdefault('tool_calls', []).append(call if ident == '-' else dict(call, id=ident))
        reply['open'] = word == 'program'
    elif word in ('error', 'tokens'):
        reply[word] = json.loads(rest)
    elif word == 'cut':
        reply['cut'] = True
    else:
        raise SystemExit('what is %r?' % line)


def read_scenario(name, lines):
    request = {'id': name, 'llm': [], 'run': {}}
    for line in lines:
        word, _, rest = line.partition(' ')
        if word in ('agent', 'context', 'run'):
            request[word] = json.loads(rest)
        elif word == 'reply':
            request['llm'].append({'content': None})
        elif line.strip():
            add_reply_line(request['llm'][-1], line)
    for reply in request['llm']:
        reply.pop('open', None)
    request['run'].update(full_requests=True, collect_messages=True)
    return request


def read_file(path):
    """The comment in front, and the scenarios: name, lines by hand."""
    with open(path, encoding='utf-8') as file:
        blocks = ('\n' + file.read()).split('\n== ')
    scenarios = []
    for block in blocks[1:]:
        lines = block.split('\n')
        end = lines.index('---') if '---' in lines else len(lines)
        hand = lines[1:end]
        while hand and not hand[-1].strip():
            hand.pop()
        scenarios.append((lines[0], hand))
    return blocks[0].strip('\n'), scenarios


# ------------------------------------------------------------------------------ writing


def indent(text):
    return ['    ' + line if line else '' for line in text.split('\n')]


def show_json(text):
    """A tool's result in lines, texts in it as they are read."""
    try:
        value = json.loads(text)
    except ValueError:
        return indent(text)
    if not isinstance(value, dict):
        return indent(json.dumps(value, ensure_ascii=False))
    lines = []
    for key, part in value.items():
        if isinstance(part, str) and '\n' in part:
            lines += ['    %s:' % key] + ['    ' + line for line in indent(part)]
        else:
            lines.append('    %s: %s' % (key, json.dumps(part, ensure_ascii=False)))
    return lines or ['    {}']


def show_message(message):
    if message['role'] == 'tool':
        note = ['    (%s)' % message['note']] if 'note' in message else []
        return ['  tool %s' % message['tool_call_id']] + show_json(message['content']) + note
    lines = ['  ' + message['role']] + (indent(message['content']) if message['content'] is not None else [])
    for call in message.get('tool_calls', []):
        program = call['args'].get('program')
        if call['name'] == 'lisp_eval' and isinstance(program, str) and len(call['args']) == 1:
            lines += ['  calls %s lisp_eval' % call['id']] + indent(program)
        else:
            lines.append('  calls %s %s %s' % (call['id'], call['name'], json.dumps(call['args'], ensure_ascii=False)))
    return lines


class Shown:
    """What was shown already: system prompts in a file, messages of each agent in a scenario."""

    def __init__(self):
        self.systems = {}
        self.messages = {}

    def system(self, text):
        if text in self.systems:
            return ['  system %d again' % self.systems[text]]
        self.systems[text] = len(self.systems) + 1
        return ['  system %d' % self.systems[text]] + indent(text)

    def request(self, number, request):
        agent, messages = request['agent'], request['messages']
        before = self.messages.get(agent, [])
        same = 0
        while same < min(len(before), len(messages)) and before[same] == messages[same]:
            same += 1
        self.messages[agent] = messages
        head = 'request %d%s%s%s' % (number, ' of ' + agent if agent else '',
                                     ', tools ' + ' '.join(request['tools']) if request['tools'] else '',
                                     ', with a schema' if request['schema'] else '')
        lines = [head] + self.system(request['system'])
        if same:
            lines.append('  %d messages as before' % same)
        if same < len(before):
            lines.append('  (%d messages of before are left out)' % (len(before) - same))
        for message in messages[same:]:
            lines += show_message(message)
        return lines


def show_turn(number, turn):
    lines = ['turn %d: %s, %s' % (number, turn['type'], 'ok' if turn['ok'] else turn['reason'])]
    if not turn['ok']:
        lines += indent(turn['message'] or '')
    for key in ('value', 'errors', 'prints', 'tokens'):
        if turn.get(key) not in (None, []):
            lines.append('    %s: %s' % (key, json.dumps(turn[key], ensure_ascii=False)))
    for call in turn['calls']:
        lines.append('    %s call of %s: %s%s' % (call['layer'], call['name'], 'ok' if call['ok'] else 'failed',
                                                  ', cached' if call['cached'] else ''))
    return lines


def show_outcome(answer, seen):
    """The end; messages that no request had are shown here."""
    rest = answer.get('messages', [])[1 + len(seen):]
    lines = ['after the last request'] if rest else []
    for message in rest:
        lines += show_message(message)
    for number, turn in enumerate(answer.get('turns', []), 1):
        lines += show_turn(number, turn)
    skip = ('id', 'messages', 'turns', 'requests')
    lines.append('outcome')
    for key, value in answer.items():
        if key not in skip and value not in ({}, 0):
            lines.append('    %s: %s' % (key, json.dumps(value, ensure_ascii=False)))
    return lines


def show_scenario(answer, shown):
    shown.messages = {}
    lines = []
    for number, request in enumerate(answer['requests'], 1):
        lines += shown.request(number, request)
    return lines + show_outcome(answer, shown.messages.get('', []))


def written(ptc, path):
    """The file as it should be."""
    comment, scenarios = read_file(path)
    requests = [read_scenario(name, hand) for name, hand in scenarios]
    done = subprocess.run([ptc, 'run', '--jsonl'], input=''.join(json.dumps(r) + '\n' for r in requests),
                          capture_output=True, text=True, timeout=200)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(requests):
        raise SystemExit('%s: status %d, %d answers to %d scenarios\n%s' %
                         (path, done.returncode, len(answers), len(requests), done.stderr))
    shown, lines = Shown(), [comment]
    for (name, hand), answer in zip(scenarios, answers):
        lines += ['', '== ' + name] + hand + ['---'] + show_scenario(answer, shown)
    return '\n'.join(line.rstrip() for line in lines).lstrip('\n') + '\n', len(answers)


def first_difference(old, new):
    a, b = old.split('\n'), new.split('\n')
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    name = next((line for line in reversed(b[:at + 1]) if line.startswith('== ')), '')
    return 'line %d, %s\n  file: %s\n  now:  %s' % (at + 1, name, a[at:at + 1], b[at:at + 1])


def main(ptc, *rest):
    update = '--update' in rest
    only = [r for r in rest if r != '--update']
    passed = failed = 0
    for path in sorted(glob.glob(os.path.join(HERE, 'transcripts', '*.txt'))):
        if not all(text in os.path.basename(path) for text in only):
            continue
        new, count = written(ptc, path)
        with open(path, encoding='utf-8') as file:
            old = file.read()
        if old != new and update:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(new)
        elif old != new:
            print('%s: %s\n  (test_transcripts.py PTC --update writes it anew)' % (path, first_difference(old, new)))
            failed, count = failed + 1, count - 1
        passed += count
    print('transcripts: %d passed, %d failed' % (passed, failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
