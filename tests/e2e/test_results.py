#!/usr/bin/env python3
"""Results that are too long, or have no JSON: what is said about them, and the exit status.  test_results.py PTC"""
import json
import subprocess
import sys

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = sys.argv[1]
LIMIT = 1024 * 1024
LONG = "(vec (range 300000))"


def run(*arguments, stdin=""):
    done = subprocess.run([PTC, "eval", *arguments], input=stdin, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_cut():
    status, out, err = run(LONG)
    check("cut", status == 1 and len(out) == LIMIT + 1 and "cut after 1048576 bytes" in err, (status, len(out), err))
    status, out, err = run("--format", "json", LONG)
    check("JSON too long", status == 1 and out == "" and "its JSON is longer than 1048576 bytes" in err and
          "cannot be JSON" not in err, (status, len(out), err))
    status, out, err = run("(vec (range 100000))")
    check("not cut", status == 0 and err == "", (status, err))


def test_no_json():
    for program, why in [
        ("{:rows [{:f inc}]}", "a function at rows[0].f"),
        ("[1 {:a [2 ##Inf]}]", "##Inf at [1].a[1]"),
        ("inc", "a function"),
        ('{:x {:a 1 "a" 2}}', "two keys that become the same string at x"),
    ]:
        status, out, err = run("--format", "json", program)
        check(program, status == 1 and out == "" and f"cannot be JSON: {why}\n" in err, (status, out, err))
        answer = json.loads(run("--jsonl", stdin=json.dumps({"program": program}) + "\n")[1])
        check(f"batch {program}", answer["ok"] and answer["json_error"] == why and "json" not in answer, answer)


def test_batch():
    lines = "".join(json.dumps({"program": p}) + "\n" for p in (LONG, "[1]"))
    long, short = (json.loads(line) for line in run("--jsonl", stdin=lines)[1].splitlines())
    check("batch cut", long["ok"] and long["truncated"] and len(long["text"]) == LIMIT and "json" not in long and
          long["json_error"] == "its JSON is longer than 1048576 bytes", {**long, "text": ""})
    check("batch whole", short == {"id": None, "ok": True, "text": "[1]", "json": [1], "prints": []}, short)


for test in (test_cut, test_no_json, test_batch):
    test()
sys.exit(finish())
