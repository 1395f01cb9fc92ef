#!/usr/bin/env python3
"""Standard output that cannot be written, in `ptc run --jsonl` and other commands.  test_run_batch.py PTC"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PTC = os.path.abspath(sys.argv[1])
counts = {True: 0, False: 0}


def check(name, ok, got):
    counts[bool(ok)] += 1
    if not ok:
        print(f"FAIL {name}\n    got  {got!r}")


def environment(home):
    return {"HOME": home, "PATH": os.environ["PATH"]}


# ----------------------------------------------------------------------------- standard output

def test_full(home):
    """A command that cannot say what it found says that, whatever its form of output is."""
    path = os.path.join(home, "agent.json")
    pathlib.Path(path).write_text(json.dumps({"prompt": "p", "output": "text", "llm": [{"content": "hello"}]}))
    pathlib.Path(home, "wrong.json").write_text("{}")
    pathlib.Path(home, "c.json").write_text(json.dumps({"ptc_compiled": 1, "program": "(return 1)", "signature": "() -> :int"}))
    request = json.dumps({"id": 1, "agent": {"prompt": "p"}, "llm": []}) + "\n"
    rows = [("run", [path], ""), ("run", [path, "--json"], ""), ("run", [path, "--dry-run"], ""),
            ("run", [path, "--dry-run", "--json"], ""), ("run", ["wrong.json", "--json"], ""), ("run", ["--jsonl"], request),
            ("chat", [path], "hi\n"), ("eval", ["1"], ""), ("eval", ["--jsonl"], '{"program":"1"}\n'),
            ("eval", ["--compiled", "c.json"], ""), ("signature", ["--jsonl"], "{}\n")]
    for command, arguments, text in rows:
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PTC, command, *arguments], input=text, stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60, check=False, cwd=home, env=environment(home))
        check(f"full: {command} {arguments}", done.returncode == 1 and
              done.stderr == f"ptc {command}: standard output cannot be written: No space left on device\n", done)


def main():
    with tempfile.TemporaryDirectory() as home:
        test_full(home)
    print(f"test_run_batch.py: {counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
