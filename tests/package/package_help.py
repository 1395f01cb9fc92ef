"""What the tests of packages share: a count, commands with a time limit, one MCP exchange."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, counts, skip, finish as checked  # noqa: F401 pylint: disable=wrong-import-position,unused-import

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*argv, seconds=120, env=None, **more):
    """The command's output; both streams in one text when it fails."""
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=seconds, check=False, env={**os.environ, **(env or {})}, **more)
    if done.returncode != 0:
        print(f"{' '.join(str(a) for a in argv)}: exit status {done.returncode}\n{done.stdout[-2000:]}")
    return done.returncode, done.stdout


def initialize(*argv, **more):
    """What an MCP server says to initialize and to one program."""
    call = {"name": "lisp_eval", "arguments": {"program": "(reduce + (range 5))"}}
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}]
    child = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, **more)
    try:
        answers = []
        for line in lines:
            child.stdin.write(json.dumps(line) + "\n")
            child.stdin.flush()
            while "id" in line:
                answer = json.loads(child.stdout.readline())
                if answer.get("id") == line["id"]:
                    answers.append(answer)
                    break
        child.stdin.close()
        child.wait(60)
        return answers
    finally:
        child.kill()
        child.wait()


def finish(name):
    sys.exit(checked(name))
