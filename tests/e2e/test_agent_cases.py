#!/usr/bin/env python3
"""Cases of `ptc test` that run an agent: what they expect, how they fail, and that they ask no model.
test_agent_cases.py PTC"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
AGENT = {"prompt": "What do {{n}} cost?", "signature": "(n :int) -> {cents :int}",
         "tools": {"price": {"value": 12, "signature": "(item :string) -> :int"}},
         "llm": [{"content": "```clojure\n(return {:cents (* data/n (tool/price {:item \"bolt\"}))})\n```"}]}


def run(home, text, *options):
    """Output lines and exit status of a file of cases in a directory below."""
    (home / "cases").mkdir(exist_ok=True)
    (home / "cases" / "a.ptct").write_text(text, encoding="utf-8")
    done = subprocess.run([PTC, "test", *options, "cases/a.ptct"], capture_output=True, text=True, timeout=60, check=False, cwd=home,
                          env={"HOME": str(home), "PATH": os.environ["PATH"], "OPENROUTER_API_KEY": "sk-not-used"})
    return done.stdout, done.returncode


def write(home):
    (home / "agent.json").write_text(json.dumps(AGENT), encoding="utf-8")
    (home / "real.md").write_text("---\nllm: haiku\nsignature: \"() -> :int\"\n---\nGo.\n", encoding="utf-8")
    (home / "three.jsonl").write_text('{"content": "```clojure\\n(return 3)\\n```"}\n', encoding="utf-8")
    text = {"prompt": "Ask.", "output": "text", "tools": AGENT["tools"],
            "llm": [{"content": "", "tool_calls": [{"id": "1", "name": "price", "args": {"item": "nut"}}]}, {"content": "12"}]}
    (home / "native.json").write_text(json.dumps(text), encoding="utf-8")


PASSING = """;;@ a/answer match agent=../agent.json context={"n":2}
json> {"cents":24}

;;@ a/calls match agent=../agent.json context={"n":2}
call> price {"item" "bolt"}
=> {"cents" 24}

;;@ a/program match agent=../agent.json context={"n":2}
(and (= 24 (:cents data/answer)) (= ["price"] (map :name data/calls)) (= 1 (count (:turns data/outcome))))
=> true

;;@ a/native match agent=../native.json
call> price {"item":"nut"}
=> "12"

;;@ a/script match agent=../real.md llm=script:../three.jsonl
call> none
=> 3

;;@ a/program-fails match agent=../agent.json context={"n":2}
(/ 1 0)
!! arithmetic_error

;;@ a/input match agent=../agent.json context={"n":"x"}
!! invalid_input "context.n: expected int, got string "x""

;;@ a/exhausted match agent=../agent.json llm=script:../empty.jsonl context={"n":2}
!! llm_error
"""


def test_passing(home):
    (home / "empty.jsonl").write_text('{"error": {"http": 400}}\n' * 9, encoding="utf-8")
    out, status = run(home, PASSING)
    check("they pass", status == 0 and out.endswith("8 passed, 0 failed\n"), out)
    out, status = run(home, PASSING, "--torture", "--filter", "a/answer")
    check("torture leaves agents alone", status == 0, out)


def test_failing(home):
    out, status = run(home, PASSING.replace('{"cents" 24}', '{"cents" 25}'))
    check("a wrong answer", status == 1 and "FAIL a/calls  cases/a.ptct:4\n    agent     ../agent.json\n" in out and
          '              => {"cents" 25}\n    got       call> price {"item" "bolt"}\n              => {"cents" 24}\n' in out, out)
    out, status = run(home, ";;@ a/x match agent=../none.json\n!! invalid_agent \"y\"\n")
    check("no such file", status == 1 and '!! invalid_agent "cases/../none.json: No such file or directory"' in out, out)
    for name, header in (("a model of the agent", "agent=../real.md"), ("a model of the case", "agent=../agent.json llm=haiku"),
                         ("a program", "agent=../agent.json llm=exec:true"), ("nothing", "agent=../agent.json llm=script:")):
        out, status = run(home, f";;@ a/x match {header}\n=> 3\n")
        check(f"{name} is not asked", status == 1 and "ask no model" in out, out)
    for line, text in (("llm goes with agent=FILE", ";;@ a/x match llm=script:x\n1\n=> 1\n"),
                       ("call> goes with agent=FILE", ";;@ a/x match\n1\ncall> x\n=> 1\n")):
        out, status = run(home, text)
        check(line, status == 1 and line in out, out)


def test_record_and_update(home):
    done = subprocess.run([PTC, "run", "agent.json", "--context", '{"n":3}', "--record", "run.jsonl"], capture_output=True, text=True,
                          timeout=60, check=False, cwd=home, env={"HOME": str(home)})
    check("a record", done.returncode == 0, done)
    text = ';;@ a/replay match agent=../agent.json llm=replay:../run.jsonl context={"n":3}\n'
    out, status = run(home, text, "--update")
    got = (home / "cases" / "a.ptct").read_text(encoding="utf-8")
    check("--update writes the answer", status == 0 and got == text + '=> {"cents" 36}\n', (out, got))
    out, status = run(home, got)
    check("and then it passes", status == 0, out)
    out, status = run(home, got.replace('"n":3', '"n":4'))
    check("a record of something else", status == 1 and "!! replay_mismatch" in out, out)


with tempfile.TemporaryDirectory() as where:
    write(pathlib.Path(where))
    test_passing(pathlib.Path(where))
    test_failing(pathlib.Path(where))
    test_record_and_update(pathlib.Path(where))
finish("agent_cases")
