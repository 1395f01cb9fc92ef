#!/usr/bin/env python3
"""The line that tells what an agent is doing: on a terminal only, gone at the end.  test_live.py PTC"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position
from terminals import show  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
ERASE = b"\r\x1b[K"
AGENT = {"prompt": "Count.", "tools": {"slow": {"echo": True, "sleep_ms": 900}},
         "llm": [{"content": "```clojure\n(tool/slow {:a 1})\n```", "tokens": {"input": 1200, "output": 4}, "sleep_ms": 900},
                 {"content": "```clojure\n(return \"the end\")\n```", "sleep_ms": 900}]}
# Times are long enough for a machine that has other things to do.
SHORT = {"prompt": "Count.", "llm": [AGENT["llm"][1]]}
QUICK = {"prompt": "Count.", "llm": [{"content": "```clojure\n(return 1)\n```"}]}


def write(home, agent):
    path = f"{home}/agent.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(agent, file)
    return path


def on_terminal(path, **env):
    """Its status and everything that it writes on a terminal."""
    return show([PTC, "run", path], {"TERM": "xterm", "HOME": "/nonexistent", **env})


def main():
    with tempfile.TemporaryDirectory() as home:
        path = write(home, AGENT)
        status, got = on_terminal(path)
        check("the answer is the last that is seen", status == 0 and got.endswith(ERASE + b"the end\r\n"), got)
        for text in (b"turn 1, asking the model, ", b"turn 1, running a program, 1204 tokens, ",
                     b"turn 2, asking the model, 1 tool call, 1204 tokens, "):
            check(f"live: {text}", text in got, got)
        check("live: one line", b"\n" not in got[:got.rindex(ERASE)], got)
        times = [float(t) for t in re.findall(rb", ([0-9.]+) s", got)]
        check("live: time goes on", times == sorted(times) and len(times) > 3 and times[-1] > times[0], times)
        check("live: colour", b"\x1b[2m" in got, got)
        path = write(home, SHORT)
        status, got = on_terminal(path, NO_COLOR="1")
        check("NO_COLOR", b"turn 1" in got and not re.search(rb"\x1b\[[0-9;]*m", got), got)
        status, got = on_terminal(path, TERM="dumb")
        check("a terminal that cannot erase", got == b"the end\r\n", got)
        done = subprocess.run([PTC, "run", path], capture_output=True, timeout=60, check=False)
        check("no terminal", (done.stdout, done.stderr) == (b"the end\n", b""), done)
        path = write(home, {"prompt": "Count.", "max_turns": 1, "llm": [{"content": "no program", "sleep_ms": 900}]})
        status, got = on_terminal(path)
        check("it is gone before an error", status == 1 and ERASE + b"ptc run: max_turns_exceeded" in got, got)
        status, got = on_terminal(write(home, QUICK))
        check("a short run ends as it should", status == 0 and got.endswith(b"1\r\n"), got)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
