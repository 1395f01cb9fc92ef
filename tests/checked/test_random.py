#!/usr/bin/env python3
"""Random programs with tools: whatever is claimed to fail must fail when it runs without being checked, on all data that fit what the
tools declare; a key that is said not to be there must not be found; and whatever is not refused must give the same with and without
the check.  `--seed` and `--count` say which programs; a program that contradicts is printed with its seed.
"""
import argparse
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_program import Make  # noqa: E402

DATA_SETS = 3
KEY_FOUND = "a key that was said not to be there"


def answers(peer, lines, ways):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([peer, *ways], input=text, capture_output=True, text=True)
    if done.returncode:
        print(f"the peer ended with {done.returncode}: {done.stderr[-2000:]}")
    got = [json.loads(line) for line in done.stdout.splitlines()]
    return [got[i:i + len(ways)] for i in range(0, len(got), len(ways))]


def ran(answer):
    return answer["ok"] or answer["phase"] == "run"


def end_of_form(text, at):
    """Where the form that begins with a parenthesis ends."""
    depth, i, quoted = 0, at, False
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return None


def watched(program, finding):
    """The program, which fails where the key is found after all; None: the finding is of another form."""
    key = re.match(r"there is no key (:\S+) here|the key (:\S+) is asked", finding["message"])
    lines = program.split("\n")
    if not key or finding["line"] > len(lines):
        return None
    at = sum(len(line) + 1 for line in lines[:finding["line"] - 1]) + finding["column"] - 1
    name = key.group(1) or key.group(2)
    form = re.match(r"\((:[\w-]+|get(?= )) ", program[at:])
    end = end_of_form(program, at) if form else None
    if not end or (form.group(1) != "get" and form.group(1).replace("_", "-") != name.replace("_", "-")):
        return None
    return f'{program[:at]}(let [found {program[at:end]}] (when (some? found) (fail "{KEY_FOUND}")) found){program[end:]}'


class Round:
    def __init__(self, peer, seeds, wrong, size):
        self.peer, self.wrong, self.size = peer, wrong, size
        self.seeds = seeds
        self.counts = dict.fromkeys(["programs", "ran", "claimed", "warned", "keys watched", "contradicted"], 0)

    def lines(self):
        for seed in self.seeds:
            make = Make(seed, self.wrong, self.size)
            program = make.program()
            for i in range(DATA_SETS):
                tools, context = make.data(seed * 10 + i)
                yield seed, {"program": program, "tools": tools, "context": context}

    def contradict(self, seed, line, why):
        self.counts["contradicted"] += 1
        print(f"seed {seed}: {why}\n{line['program']}\n")

    def judge(self, seed, line, checked, plain, again):
        self.counts["ran"] += plain["ok"]
        if not ran(plain):
            return
        warnings = checked.get("warnings", [])
        found = [w for w in warnings + checked.get("errors", []) if w not in plain.get("warnings", []) + plain.get("errors", [])]
        self.counts["warned"] += bool(found)
        if not ran(checked):
            self.counts["claimed"] += 1
            only_keys = all(e["kind"] == "unknown_key" for e in checked["errors"])
            if plain["ok"] and not only_keys:
                self.contradict(seed, line, f"refused, but gives {plain['text'][:80]}: {[(e['message'], e['line'], e['column']) for e in checked['errors']]}")
        elif checked["ok"] != plain["ok"] or checked.get("text") != plain.get("text"):
            self.contradict(seed, line, f"another answer: {checked.get('text')} {plain.get('text')}")
        for finding in found:
            program = watched(line["program"], finding)
            if program:
                again.append((seed, dict(line, program=program), finding))

    def run(self):
        lines = list(self.lines())
        self.counts["programs"] = len(self.seeds)
        again = []
        both = answers(self.peer, [line for _, line in lines], ["error", "off"])
        for (seed, line), (checked, plain) in zip(lines, both):
            self.judge(seed, line, checked, plain, again)
        self.counts["keys watched"] = len(again)
        for (seed, line, finding), (plain,) in zip(again, answers(self.peer, [line for _, line, _ in again], ["off"])):
            if not plain["ok"] and KEY_FOUND in json.dumps(plain):
                self.contradict(seed, line, f"a key is found: {finding}")
        return len(both) == len(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("peer", help="such as build/release/checked_peer")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=400)
    p.add_argument("--wrong", type=float, default=3)
    p.add_argument("--size", type=int, default=5)
    p.add_argument("--show", action="store_true", help="print the programs")
    o = p.parse_args()
    round_ = Round(o.peer, range(o.seed, o.seed + o.count), o.wrong, o.size)
    if o.show:
        for seed, line in list(round_.lines())[::DATA_SETS]:
            print(seed, json.dumps({k: v["signature"] for k, v in line["tools"].items()}), "\n" + line["program"] + "\n")
    whole = round_.run()
    print(", ".join(f"{v} {k}" for k, v in round_.counts.items()))
    bad = round_.counts["contradicted"] + (not whole)
    print(f"random: {o.count - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
