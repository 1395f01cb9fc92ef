#!/usr/bin/env python3
"""Our JSON Schema validator against npm's ajv: verdicts on our own cases, on random schemas and on random patterns.

ajv is sometimes wrong.  For our own cases ajv_differences.txt says where and why, and an entry that is no longer needed
fails the test.  For random schemas there is a second opinion, model.py: we must always agree with it, and ajv may differ
from both of us only where it is known to be weak.
"""
import json
import os
import pathlib
import sys

import cases
import harness
import make_pattern
import make_schema
import model

HERE = pathlib.Path(__file__).resolve().parent


def read_differences():
    """Groups of cases in which ajv may differ."""
    lines = (HERE / "ajv_differences.txt").read_text().split("\n")
    return {line.split(" | ")[0] for line in lines if line and not line.startswith("#")}


def check_cases(own, ours, theirs):
    """Our own cases: ours must be the verdict that the case names, theirs too unless the difference is known."""
    tally = harness.Tally("differential schema, cases")
    known, seen = read_differences(), set()
    for (name, schema, value, want), our, their in zip(own, ours, theirs):
        group = ": ".join(name.split(": ")[:2])
        if their[0] != want:
            seen.add(group)
        tally.check(our[0] == want and (their[0] == want or group in known),
                    name, schema, value, f"ours:   {our}", f"theirs: {their}")
    for group in sorted(known - seen):
        tally.check(False, f"{group}: ajv agrees now; take it off the list")
    return tally


def is_weak_spot(schema, value):
    """ajv forgets parts that were evaluated inside anyOf, if and dependentSchemas, and contains when an array is empty."""
    return "unevaluated" in schema or ('"contains"' in schema and "[]" in value)


def check_pairs(pairs, ours, theirs):
    tally = harness.Tally("differential schema, ajv")
    alone = 0
    for (schema, value), our, their in zip(pairs, ours, theirs):
        opinion = model.judge(json.loads(schema), json.loads(value))
        lost = their[0] != opinion and is_weak_spot(schema, value)
        alone += lost
        tally.check(our[0] == opinion and (our[0] == their[0] or lost),
                    schema, value, f"ours:   {our}", f"theirs: {their}", f"model:  {opinion}")
    valid = sum(our[0] == "+" for our in ours)
    print(f"{len(pairs)} pairs, {valid} of them valid, ajv alone with its verdict on {alone}")
    # Were nearly all of them one or the other, or ajv often alone, little would be compared.
    tally.check(len(pairs) < 1000 or (0.2 < valid / len(pairs) < 0.8 and alone < len(pairs) / 100), "too little is compared")
    return tally


def check_patterns(pairs, ours, theirs):
    """V8 finds matches of no length in the middle of a character beyond U+FFFF, where ECMA-262 has no place."""
    tally = harness.Tally("differential schema, patterns")
    for (schema, value), our, their in zip(pairs, ours, theirs):
        inside = our[0] == "-" and their[0] == "+" and any(character > "\uffff" for character in value)
        tally.check(our[0] == their[0] or inside, ascii(schema), ascii(value), f"ours:   {our}", f"theirs: {their}")
    return tally


def main():
    args = harness.arguments(__doc__.split("\n", maxsplit=1)[0], 5000)
    command = harness.node(args.npm)
    if not command or not os.path.isdir(os.path.join(args.npm, "node_modules/ajv")):
        print(f"skipped: no {args.npm}/node_modules/ajv; script/bootstrap installs it where npm works")
        return 0
    own = list(cases.schema_cases())
    pairs = list(make_schema.Maker(args.seed).pairs(args.count))
    patterns = list(make_pattern.Maker(args.seed).pairs(args.count))
    print(f"seed {args.seed}, {len(own)} cases, {len(pairs)} pairs, {len(patterns)} patterns and texts")
    texts = [(schema, value) for _, schema, value, _ in own] + pairs + patterns
    requests = [harness.request("schema", schema.encode(), value.encode()) for schema, value in texts]
    peers = [harness.Peer([args.peer], requests),
             harness.Peer([command, str(HERE / "schema_peer.js"), args.npm], requests)]
    ours, theirs = [peer.answers() for peer in peers]
    first, second = len(own), len(own) + len(pairs)
    tallies = [check_cases(own, ours[:first], theirs[:first]),
               check_pairs(pairs, ours[first:second], theirs[first:second]),
               check_patterns(patterns, ours[second:], theirs[second:])]
    return 0 if all([tally.done() for tally in tallies]) else 1


if __name__ == "__main__":
    sys.exit(main())
