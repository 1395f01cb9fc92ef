#!/usr/bin/env python3
"""The programs of the cases with forms in the place of others, again and again: what is refused must fail when it runs unchecked, and
what is not must end in the same way.  `--seed` and `--count` say which; a program that contradicts is printed.
"""
import argparse
import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from test_cases import read_cases  # noqa: E402
from test_random import answers, ran  # noqa: E402

MOST_BYTES, POOL, ROUND = 1500, 6000, 1000
LINE = {"sku": "x", "qty": 2, "unit_price": 1.5}
TOOLS = {
    "nums": {"value": [1, 2, 3], "signature": "() -> [:int]"},
    "names": {"value": ["x", "y", ""], "signature": "() -> [:string]"},
    "flag": {"value": False, "signature": "() -> :bool"},
    "user": {"value": {"id": "u", "name": "Ada", "email": None, "tags": ["a", "b"]},
             "signature": "(id :any?) -> {id :string, name :string, email :string?, address {city :string, zip :int}?, tags [:string]}"},
    "orders": {"value": [{"id": "a", "total": 3.5, "lines": [LINE, LINE]}, {"id": "b", "total": 2.0, "note": "n", "lines": [LINE, LINE]}],
               "signature": "(month :int?) -> [{id :string, total :float, note :string?, lines [{sku :string, qty :int, unit_price :float}]}]"},
    "dict": {"value": {"a": {"n": 1}, "b": {"n": 2}}, "signature": "() -> :map"},
    "pay": {"value": True, "read_only": False, "signature": "(id :string, cents :int) -> :bool"},
}
CONTEXT = {"rows": [{"id": 1, "Unit Price": 2.5}, {"id": 2, "Unit Price": 3.5}], "limit": 5, "s": "a,b",
           "cfg": {"mail": {"port": 25}, "mode": None}, "by_id": {"a-1": [1, 2], "b-2": [3, 4]}, "none": []}
SOME = "(let [x (:email (tool/user)) y (tool/nums) m (tool/user) f (fn [x] x)] %s)"  # names that forms mention
LIMITS = ("timeout", "deadline", "memory_exceeded", "memory_limit", "loop_limit_exceeded")


def read_forms():
    with open(os.path.join(HERE, "forms.inc"), encoding="utf-8") as file:
        return [json.loads(line.rstrip(",\n")) for line in file if line[0] == '"']


def end_of_form(text, at):
    """Where the form, or the word, that begins there ends."""
    depth = 0
    for i in range(at, len(text)):
        c = text[i]
        if c in ")]}" and depth == 0:
            return i
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c in ")]} ":
            return i + (c != " ")
    return len(text)


class Mutate:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.forms = read_forms()
        self.seeds = [c["program"] for c in read_cases() if not c.get("servers")]
        self.pool = list(self.seeds)

    def once(self, text):
        at = self.r.randrange(len(text))
        while at > 0 and text[at - 1] not in " ([{@":
            at -= 1
        end = end_of_form(text, at)
        put = lambda _: text[at:end] if self.r.random() < 0.75 else self.r.choice(["x", "nil", "1", "(first (tool/orders))"])
        new = text[:at] + re.sub(r"\bF\b", put, self.r.choice(self.forms)) + text[end:]
        return new if len(new) < MOST_BYTES else text

    def program(self):
        text = self.r.choice(self.pool)
        for _ in range(self.r.randint(1, 3)):
            text = self.once(text)
        return text

    def keep(self, text):
        if self.r.random() < 0.15:
            self.pool.append(text)
        if len(self.pool) > POOL:
            self.pool = self.seeds + self.r.sample(self.pool, POOL // 2)


def contradiction(checked, plain):
    if checked.get("kind") in LIMITS or plain.get("kind") in LIMITS:
        return None
    if not ran(checked) and ran(plain):
        if plain["ok"] and any(e["kind"] != "unknown_key" for e in checked["errors"]):
            return f"refused, but gives {plain['text'][:80]}: {[(e['message'], e['line'], e['column']) for e in checked['errors']]}"
        return None
    return None if checked["ok"] == plain["ok"] else f"another end: {checked} {plain}"


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("peer", help="such as build/release/checked_peer")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=3000)
    o = p.parse_args()
    mutate = Mutate(o.seed)
    failed = refused = 0
    for _ in range(0, o.count, ROUND):
        programs = [mutate.program() for _ in range(ROUND)]
        lines = [{"program": SOME % text if i % 2 else text, "tools": TOOLS, "context": CONTEXT} for i, text in enumerate(programs)]
        both = answers(o.peer, lines, ["brief-error", "brief-off"])
        failed += len(both) < len(lines)
        for text, line, (checked, plain) in zip(programs, lines, both):
            why = contradiction(checked, plain)
            failed += bool(why)
            refused += not ran(checked) and ran(plain)
            if why:
                print(f"{why}\n{line['program']}\n")
            if ran(plain):
                mutate.keep(text)
    print(f"{refused} refused that could run\nmutated: {o.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
