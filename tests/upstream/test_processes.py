#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_processes.py PTC: however ptc ends, nothing of a server that npx started is left: npx, the shell between, and node."""
import concurrent.futures
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import uuid

sys.dont_write_bytecode = True
from place import WAIT, Counts, Mcp, Place  # noqa: E402

counts = Counts("test_processes.py")
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


def in_home(how):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        test_end(home, how)


def main():
    if not (NPM / "node_modules" / ".bin" / "mcp-server-everything").exists():
        print("skipped: mcp-server-everything is not installed")
        return counts.done()
    with concurrent.futures.ThreadPoolExecutor() as pool:  # most of the time npx looks for the package
        list(pool.map(in_home, ("SIGKILL", "SIGTERM", "the client leaves")))
    return counts.done()


if __name__ == "__main__":
    sys.exit(main())
