#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_processes.py PTC: however ptc ends, nothing is left of what it started: of servers that npx started (npx, the shell
between, and node), and of commands, models, credentials and helpers, whose children ignore signals and have left their session."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import uuid

sys.dont_write_bytecode = True
from place import WAIT, Counts, Mcp, Place  # noqa: E402

counts = Counts()
PTC = sys.argv[1]
NPM = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "npm"


def marked(mark):
    """Processes with this in their environment, which they get from the entry and give to their children."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                if mark.encode() in f.read():
                    with open(f"/proc/{name}/cmdline", "rb") as line:
                        found.append(line.read().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            pass
    return found


def seconds_until_gone(mark):
    """How long it takes until none is left; None: some stay.  A busy machine may take longer than the two seconds."""
    begun = time.monotonic()
    while time.monotonic() - begun < 30:
        if not marked(mark):
            return time.monotonic() - begun
        time.sleep(0.05)
    return None


def test_end(home, how):
    mark = f"PTC_TEST_MARK={uuid.uuid4()}"
    name, value = mark.split("=")
    place = Place(PTC, home)
    entry = {"command": "npx", "args": ["--offline", "--no", "mcp-server-everything"], "cwd": str(NPM), "env": {name: value},
             "policy": {"echo": "allow"}}
    place.write("u.json", {"upstreams": {"e": entry}})
    mcp = Mcp(place, "--upstreams", place.path("u.json"))
    text = json.dumps(mcp.eval('(e/echo {:message "hello there"})'))
    counts.check(f"{how}: it can be called", "hello there" in text, text + mcp.said())
    running = marked(mark)
    counts.check(f"{how}: npx has children", sum("node" in line or "npm" in line for line in running) >= 2, running)
    if how == "the client leaves":
        mcp.end()
    else:
        os.kill(mcp.process.pid, getattr(signal, how))
        mcp.process.wait(timeout=WAIT)
    took = seconds_until_gone(mark)
    counts.check(f"{how}: all of them end", took is not None, marked(mark))
    print(f"test_processes.py: {how}: {len(running)} processes, gone after {took or -1:.1f} s")


# A shell, a child that ignores SIGTERM and a grandchild in a session of its own; each says in a file that it is there.
SLEEPER = r"""
trap '' TERM
(trap '' TERM HUP INT; echo child >>"$1"; sleep 1000) &
setsid sh -c 'trap "" TERM HUP INT; echo grandchild >>"$1"; sleep 1000' sh "$1" >/dev/null 2>&1 &
echo self >>"$1"
sleep 1000
"""
TERM = ("SIGTERM", "SIGINT", "SIGHUP", "SIGKILL")


def commands(place):
    """How ptc is made to start a sleeper, by what the sleeper is: its arguments, and a line for its standard input."""
    sleeper, here = place.write("sleeper.sh", SLEEPER), place.path("started")
    words = ["sh", sleeper, here]
    tools = place.write("tools.json", {"t": {"command": words, "env": ["PTC_TEST_MARK"], "timeout_ms": 600000}})
    agent = place.write("agent.json", {"prompt": "Go.", "tools": json.load(open(tools, encoding="utf-8")), "timeout": 600000,
                                       "llm": [{"content": "```clojure\n(return (tool/t))\n```"}]})
    said = place.write("said.json", {"prompt": "Go.", "output": "text"})
    ours = place.write("ours.json", {"credentials": {"c": {"source": "exec", "command": words}}, "upstreams": {
        "s": {"transport": "http", "url": "http://127.0.0.1:1/mcp", "allow_insecure_auth": True,
              "auth": [{"scheme": "bearer", "binding": "c"}]}}})
    theirs = place.write("theirs.json", {"mcpServers": {"s": {"type": "http", "url": "http://127.0.0.1:1/mcp",
                                                             "headersHelper": shlex.join(words)}}})
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "lisp_eval", "arguments": {"program": "(tool/t)"}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"}, "io.modelcontextprotocol/clientCapabilities": {}}}}
    return {
        "a command of eval": (["eval", "--tools", "@" + tools, "(tool/t)"], None),
        "a command of mcp in a worker": (["mcp", "--no-upstreams", "--tools", "@" + tools], call),
        "a command of mcp in the server": (["mcp", "--no-upstreams", "--isolation", "none", "--tools", "@" + tools], call),
        "a command of an agent": (["run", agent], None),
        "a model": (["run", said, "--llm", "exec:" + " ".join(words)], None),
        "a credential": (["upstreams", "check", "s", "--upstreams", ours], None),
        "a helper": (["upstreams", "check", "s", "--upstreams", "claude-code:" + theirs], None),
    }


def start_sleeper(place, what):
    """ptc with the sleeper, once all three of its processes have said that they are there."""
    words, line = commands(place)[what]
    with open(place.path("log"), "wb") as log:
        process = subprocess.Popen([place.ptc, *words], env=place.env, cwd=place.home, stdin=subprocess.PIPE, stdout=log, stderr=log)
    if line:
        process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
    begun = time.monotonic()
    while len(place.read("started").split()) < 3 and process.poll() is None and time.monotonic() - begun < WAIT:
        time.sleep(0.02)
    return process


def test_sleeper(what, how):
    mark = f"PTC_TEST_MARK={uuid.uuid4()}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        place = Place(PTC, home, PTC_TEST_MARK=mark.split("=")[1])
        process = start_sleeper(place, what)
        running = marked(mark)
        counts.check(f"{what}: it runs", sum("sleep" in line for line in running) >= 3, (running, place.read("log")))
        process.send_signal(getattr(signal, how))
        gone = seconds_until_gone(mark)
        counts.check(f"{what}, {how}: all of it ends", gone is not None, marked(mark))
        process.stdin.close()
        process.kill()
        process.wait(timeout=WAIT)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def test_worker(whom):
    """The end of the worker, or of the helper that made it, ends what its program waits for."""
    mark = f"PTC_TEST_MARK={uuid.uuid4()}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        place = Place(PTC, home, PTC_TEST_MARK=mark.split("=")[1])
        process = start_sleeper(place, "a command of mcp in a worker")
        helper = next(pid for pid in children_of(process.pid) if mark not in open(f"/proc/{pid}/environ", encoding="utf-8").read())
        for pid in [helper] if whom == "the helper" else children_of(helper):
            os.kill(pid, signal.SIGKILL)
        begun = time.monotonic()
        while any("sleep" in line for line in marked(mark)) and time.monotonic() - begun < 30:
            time.sleep(0.05)
        left = [line for line in marked(mark) if "sleep" in line]
        counts.check(f"{whom} is killed: the command ends", left == [], left)
        process.stdin.close()
        process.wait(timeout=WAIT)


def in_home(how):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        test_end(home, how)


def npx():
    if not (NPM / "node_modules" / ".bin" / "mcp-server-everything").exists():
        print("skipped: mcp-server-everything is not installed")
        return
    with concurrent.futures.ThreadPoolExecutor() as pool:  # most of the time npx looks for the package
        list(pool.map(in_home, ("SIGKILL", "SIGTERM", "the client leaves")))


def main():
    with tempfile.TemporaryDirectory() as home:
        kinds = list(commands(Place(PTC, home)))
    with concurrent.futures.ThreadPoolExecutor(6) as pool:  # most of the time a process is given to end
        jobs = [pool.submit(test_sleeper, what, how) for what in kinds for how in TERM]
        jobs += [pool.submit(test_worker, whom) for whom in ("the worker", "the helper")]
        for job in jobs:
            job.result()
    npx()
    return counts.done()


if __name__ == "__main__":
    sys.exit(main())
