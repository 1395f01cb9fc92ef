#!/usr/bin/env python3
"""Our JSON parser and writer against Python's json and Node's JSON.parse: verdicts and values.

Both others accept three things that we refuse on purpose, and only these: halves of surrogate pairs, numbers too
large for a double, and more than 512 levels.  Python would also accept NaN and infinities; it is told not to.
"""
import json
import math
import struct
import sys

import cases
import harness
import make_json

MAX_DEPTH = 512


class Pairs(list):
    """The members of an object as they stand in the text, names that occur twice included."""


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def read(data):
    """The value of a text with objects as Pairs; None when it is not JSON."""
    try:
        return [json.loads(data.decode(), parse_constant=refuse, object_pairs_hook=Pairs)]
    except (ValueError, RecursionError):
        return None


def is_half(text):
    return any("\ud800" <= character <= "\udfff" for character in text)


def why_refused(value, depth=0):
    """Which of our own rules a value breaks: the set of their names."""
    if isinstance(value, Pairs):
        found = {"half of a pair" for name, _ in value if is_half(name)}
        inner = [item for _, item in value]
    elif isinstance(value, list):
        found, inner = set(), value
    else:
        if isinstance(value, str) and is_half(value):
            return {"half of a pair"}
        return {"too large"} if isinstance(value, float) and math.isinf(value) else set()
    if depth >= MAX_DEPTH:
        found = found | {"too deep"}
    return found.union(*(why_refused(item, depth + 1) for item in inner))


def same_number(a, b):
    return type(a) is type(b) and (a == b if isinstance(a, int) else struct.pack("d", a) == struct.pack("d", b))


def as_double(number):
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def same_double(a, b):
    """For Node, where every number is a double and -0 keeps its sign."""
    return as_double(a) == as_double(b)


def same(a, b, numbers, ordered):
    """Are two values the same?  Of members with one name the last counts, in the place of the first."""
    if isinstance(a, Pairs) and isinstance(b, Pairs):
        a, b = dict(a), dict(b)
        if ordered and list(a) != list(b):
            return False
        return a.keys() == b.keys() and all(same(a[name], b[name], numbers, ordered) for name in a)
    if isinstance(a, Pairs) or isinstance(b, Pairs):
        return False
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, numbers, ordered) for x, y in zip(a, b))
    is_number = [isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b)]
    return numbers(a, b) if all(is_number) else type(a) is type(b) and a == b


def check_value(tally, text, our, value, *how):
    """Compares our answer with the value that another parser found: a list of one, or None."""
    if value:
        ok = our.startswith("+ ") and same(read(our[2:].encode())[0], value[0], *how)
    else:
        ok = our.startswith("- ")
    tally.check(ok, ascii(text), f"ours:   {our[:200]}", f"theirs: {ascii(value)[:200]}")


def check_python(texts, ours, values, broken):
    tally = harness.Tally("differential json, python")
    for text, our, value, rules in zip(texts, ours, values, broken):
        check_value(tally, text, our, None if rules else value, same_number, True)
    return tally


def check_node(texts, ours, theirs, broken):
    tally = harness.Tally("differential json, node")
    for text, our, their, rules in zip(texts, ours, theirs, broken):
        if rules:
            tally.check(their.startswith("+ ") and our.startswith("- "), ascii(text), our, their)
        else:
            value = read(their[2:].encode()) if their.startswith("+ ") else None
            check_value(tally, text, our, value, same_double, False)
    return tally


def main():
    args = harness.arguments(__doc__.split("\n", maxsplit=1)[0], 20000)
    sys.setrecursionlimit(20000)
    sys.set_int_max_str_digits(0)
    maker = make_json.Maker(args.seed)
    texts = [text for _, text, _ in cases.json_cases()] + [maker.text() for _ in range(args.count)]
    requests = [harness.request("json", text) for text in texts]
    command = harness.node(args.npm)
    ours = harness.Peer([args.peer], requests)
    node = harness.Peer([command, __file__.replace("test_json.py", "json_peer.js")], requests) if command else None
    print(f"seed {args.seed}, {len(texts)} texts")

    values = [read(text) for text in texts]
    broken = [why_refused(value[0]) if value else set() for value in values]
    for rule in sorted(set().union(*broken)):
        print(f"refused by us alone: {rule}, {sum(rule in rules for rules in broken)} texts")
    tallies = [check_python(texts, ours.answers(), values, broken)]
    if node:
        tallies.append(check_node(texts, ours.answers(), node.answers(), broken))
    else:
        print("skipped: no Node.js for JSON.parse")
    sys.exit(0 if all([tally.done() for tally in tallies]) else 1)


if __name__ == "__main__":
    main()
