#!/usr/bin/env python3
"""`ptc eval --tools` and `ptc doc --tools`: options, and what is left of commands.  test_tools.py PTC"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position


PTC = os.path.abspath(sys.argv[1])


def run(*arguments, stdin=""):
    return subprocess.run([PTC, "eval", *arguments], input=stdin, capture_output=True, text=True,
                          timeout=60)


def test_options():
    value = '{"t": {"value": 1}}'
    for arguments, message in [
        (["--tools", "@no-such-file", "1"], "cannot read the tools no-such-file"),
        (["--tools", "{", "1"], "--tools: not JSON: line 1, column 2"),
        (["--tools", "[]", "1"], "--tools: tools must be an object"),
        (["--allow-tools", "command", "1"], "--allow-tools goes with --jsonl only"),
        (["--jsonl", "--allow-tools", "ftp"], "command and http can be allowed, not 'ftp'"),
        (["--max-tool-calls", "-1", "1"], "--max-tool-calls wants a whole number"),
    ]:
        done = run(*arguments)
        check(arguments, done.returncode == 2 and message in done.stderr, done)
    done = run("--tools", value, "--max-tool-calls", "2", "[(tool/t) (tool/t)]")
    check("two calls", done.stdout == "[1 1]\n", done)
    done = run("--tools", value, "--max-tool-calls", "2", "(map (fn [x] (tool/t)) [1 2 3])")
    check("three calls", done.returncode == 1 and "limit of 2 tool calls" in done.stderr, done)
    check("the option", "fewer calls; --max-tool-calls N sets another limit" in done.stderr, done)


def test_doc():
    """`ptc doc --tools` knows the tools, and the nearest one to a name that is not there."""
    tools = json.dumps({"search-orders": {"signature": "(q :string) -> [:int]", "description": "Finds orders.", "value": []}})

    def doc(*names):
        return subprocess.run([PTC, "doc", "--tools", tools, *names], capture_output=True, text=True, timeout=60, check=False)
    got = doc()
    check("doc: lists tools", got.returncode == 0 and "search-orders (q :string) -> [:int] - Finds orders." in got.stdout, got)
    got = doc("tool/search-orders", "->")
    check("doc: a tool and a form", got.returncode == 0 and "Signature: (q :string)" in got.stdout and "(-> value" in got.stdout, got)
    for name in ("tool/serch-orders", "serch-orders", "search-orders"):
        got = doc(name)
        check(f"doc: {name}", got.returncode == 1 and "did you mean tool/search-orders?" in got.stderr, got)
    with tempfile.TemporaryDirectory() as where:
        pathlib.Path(where, "t.json").write_text("{}", encoding="utf-8")
        got = subprocess.run([PTC, "eval", "--tools", "t.json", "1"], capture_output=True, text=True, timeout=60, check=False, cwd=where)
        check("a file without @", got.returncode == 2 and "write --tools @t.json" in got.stderr, got)
    got = doc("x) (tool/search-orders {:q 1}")
    check("doc: no program", got.returncode == 2 and "not a name" in got.stderr, got)


def sleepers(mark):
    """Processes that have the mark in their command line, but for this one."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes()
        except OSError:
            continue
        if mark.encode() in words and int(entry.parent.name) != os.getpid():
            found.append(entry.parent.name)
    return found


def wait_for(condition):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_signal():
    """A command does not outlive a ptc that is told to end."""
    mark = f"4{os.getpid()}.25"
    script = f"sleep {mark} & wait"
    for number in (signal.SIGINT, signal.SIGTERM):
        tools = '{"t": {"command": ["sh", "-c", "' + script + '"]}}'
        with subprocess.Popen([PTC, "eval", "--tools", tools, "(tool/t)"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ptc:
            check("started", wait_for(lambda: len(sleepers(f"sleep\0{mark}")) == 1), number)
            ptc.send_signal(number)
            _, err = ptc.communicate(timeout=60)
        check("cancelled", ptc.returncode == 1 and "cancelled" in err, (ptc.returncode, err))
        check("nothing left", wait_for(lambda: not sleepers(mark)), sleepers(mark))


def test_ignored_sigchld():
    """Statuses are known although the parent ignores SIGCHLD, which is inherited."""
    done = subprocess.run([PTC, "eval", "--tools", '{"t": {"command": ["false"]}}', "(tool/t)"],
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                          capture_output=True, text=True, timeout=60, check=False)
    check("status", "exit status 1" in done.stderr, done)


test_options()
test_signal()
test_ignored_sigchld()
test_doc()
sys.exit(finish())
