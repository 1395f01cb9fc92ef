#!/usr/bin/env python3
"""Warnings as they come out: standard error, payload, batch answers.  test_warnings.py PTC"""
import json
import subprocess
import sys

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = sys.argv[1]
CONTEXT = json.dumps({"orders": [{"id": 1, "qty": 2}]})
PROGRAM = "(println 1)\n(sum-by :qyt data/orders)"
WARNING = {"kind": "unknown_key", "phase": "run", "message": "sum-by: the only element lacks the key :qyt",
           "line": 2, "column": 1, "hint": "did you mean :qty?"}
SHOWN = """1
warning: sum-by: the only element lacks the key :qyt
 --> line 2, column 1
  (sum-by :qyt data/orders)
  ^
hint: did you mean :qty?
"""


def run(*arguments, stdin=""):
    done = subprocess.run([PTC, *arguments], input=stdin, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_text():
    got = run("eval", "--context", CONTEXT, PROGRAM)
    check("text", got == (0, "0\n", SHOWN), got)
    got = run("eval", "--context", CONTEXT, "(count data/orders)")
    check("without", got == (0, "1\n", ""), got)


def test_payload():
    status, out, err = run("eval", "--context", CONTEXT, "--format", "payload", PROGRAM)
    answer = json.loads(out)
    check("payload", (status, err, answer["warnings"]) == (0, "", [WARNING]), (status, err, out))
    status, out, err = run("eval", "--context", CONTEXT, "--format", "payload", PROGRAM + "(/ 1 0)")
    answer = json.loads(out)
    check("payload of a failure", answer["status"] == "error" and answer["warnings"] == [WARNING], out)
    answer = json.loads(run("eval", "--format", "payload", "1")[1])
    check("payload without", "warnings" not in answer, answer)


def test_batch():
    lines = [{"program": PROGRAM, "context": json.loads(CONTEXT)},
             {"program": PROGRAM + "(/ 1 0)", "context": json.loads(CONTEXT)}, {"program": "1"}]
    _, out, _ = run("eval", "--jsonl", stdin="".join(json.dumps(line) + "\n" for line in lines))
    answers = [json.loads(line) for line in out.splitlines()]
    check("batch", answers[0]["warnings"] == [WARNING] and answers[0]["ok"], answers[0])
    check("batch failed", answers[1]["warnings"] == [WARNING] and not answers[1]["ok"], answers[1])
    check("batch without", "warnings" not in answers[2], answers[2])


def test_session():
    """The place is in the text of the program that wrote the function."""
    lines = [{"session": "s", "program": "(def x 1)\n(defn f [rows] (sum-by :qyt rows))"},
             {"session": "s", "program": "(f [{:qty 1}])"}]
    _, out, _ = run("eval", "--jsonl", stdin="".join(json.dumps(line) + "\n" for line in lines))
    answer = json.loads(out.splitlines()[1])
    want = {**WARNING, "column": 16, "earlier": True}
    check("session", answer.get("warnings") == [want], answer)


def test_repl():
    got = run("repl", stdin="(sort-by :nam [{:name 1}])\n")
    check("repl", "warning: sort-by: the only element lacks the key :nam" in got[2], got)


for test in (test_text, test_payload, test_batch, test_session, test_repl):
    test()
sys.exit(finish())
