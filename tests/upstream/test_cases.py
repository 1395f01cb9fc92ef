#!/usr/bin/env python3
"""Runs the cases of cases.jsonl through `ptc-test-driver upstreams` and compares the answers.

A case is {"id", "op", "input", "expect"}.  Every field of `expect` must be in the answer, which may have more.  Objects
are compared without order, lists with it, but for `notes`, `errors` and `issues`, numbers by value.  Some fields are
facts about an answer: `message_has`, and those of `describe` and `apropos`.

usage: test_cases.py PTC [CASES...]     prints each failure, how many there are of each op, and last the sum
"""
import collections
import json
import pathlib
import subprocess
import sys

SETS = {"notes", "errors", "issues"}


def same(want, got):
    if isinstance(want, dict):
        return isinstance(got, dict) and want.keys() == got.keys() and all(same(want[k], got[k]) for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(same, want, got))
    if isinstance(want, bool) or isinstance(got, bool) or want is None or got is None:
        return want is got
    if isinstance(want, (int, float)) and isinstance(got, (int, float)):
        return want == got
    return type(want) is type(got) and want == got


def same_set(want, got):
    left = list(got) if isinstance(got, list) else []
    for item in want:
        found = next((i for i, other in enumerate(left) if same(item, other)), None)
        if found is None:
            return False
        del left[found]
    return isinstance(got, list) and not left


def fact(op, key, want, answer):
    """Is a field of `expect` true of the answer?  None: it is to be found in it as it stands."""
    if key == "message_has":
        return want in answer.get("message", "")
    if op == "describe" and key == "max_bytes":
        return len(answer["text"].encode()) <= want
    if op == "describe" and key == "mentions":
        return all(name in answer["text"] for name in want)
    if op == "apropos" and key == "first_of":
        return answer.get("first") in want
    if op == "apropos" and key == "not_first":
        return answer.get("first") != want
    return None


def agrees(case, answer):
    for key, want in case["expect"].items():
        true = fact(case["op"], key, want, answer)
        if true is None:
            true = key in answer and (same_set if key in SETS else same)(want, answer[key])
        if not true:
            return False
    return answer.get("id") == case["id"]


def run(ptc, cases):
    lines = "".join(json.dumps({k: case[k] for k in ("id", "op", "input")}) + "\n" for case in cases)
    done = subprocess.run([pathlib.Path(ptc).with_name("ptc-test-driver"), "upstreams"], input=lines.encode(),
                          stdout=subprocess.PIPE, timeout=120, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases), f"{len(cases)} lines in, {len(answers)} out"
    return answers


def main():
    ptc = sys.argv[1]
    files = sys.argv[2:] or [pathlib.Path(__file__).with_name("cases.jsonl")]
    cases = [json.loads(line) for file in files for line in pathlib.Path(file).read_text().splitlines() if line]
    counts = collections.defaultdict(lambda: [0, 0])
    for case, answer in zip(cases, run(ptc, cases)):
        ok = agrees(case, answer)
        counts[case["op"]][not ok] += 1
        if not ok:
            print(f"FAIL {case['id']}\n  want {json.dumps(case['expect'])}\n  got  {json.dumps(answer)}")
    for op, (passed, failed) in sorted(counts.items()):
        print(f"  {op}: {passed} of {passed + failed}")
    passed, failed = (sum(n[i] for n in counts.values()) for i in (0, 1))
    print(f"upstream cases: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
