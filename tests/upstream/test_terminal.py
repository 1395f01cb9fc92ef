#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_terminal.py PTC: whoever sits at the terminal is asked about calls of `ptc eval` and `ptc repl`; without a terminal they
are denied; dry runs make none."""
import json
import os
import pty
import select
import sys
import tempfile
import time

from place import DESTROY, READ, WAIT, Counts, Place, tool

counts = Counts("test_terminal.py")


def talk(place, command, answers, term="dumb"):
    """Runs ptc at a terminal of its own and answers each question; what was shown, and the exit status."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.clear()
        os.environ.update(place.env, TERM=term)
        os.execv(place.ptc, [place.ptc, *command])
    shown, left, end = b"", list(answers), time.monotonic() + WAIT
    while time.monotonic() < end:
        if not select.select([fd], [], [], 0.5)[0]:
            continue
        try:
            part = os.read(fd, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
        if left and shown.rstrip().endswith(left[0][0]):
            os.write(fd, left.pop(0)[1])
    os.close(fd)
    return shown.decode(errors="replace"), os.waitpid(pid, 0)[1] >> 8


def dry_runs(place, file):
    """What a program would call, without a call that is no read."""
    program = '(println 1) (notes/read {:text "a"})\n(doseq [t ["b" "c"]] (notes/write {:text t}))'
    out = place.run("eval", "--upstreams", file, "--dry-run", "plan", program)
    counts.check("plan", out.returncode == 0 and "plan: 2 places" in out.stdout and not place.taken("calls")
                 and '\n1:14 notes/read (read, allow) once {"text":"a"}\n' in out.stdout
                 and "\n2:23 notes/write (destructive, ask) perhaps many times" in out.stdout, out)
    out = place.run("eval", "--upstreams", file, "--dry-run", "plan", "--format", "json", program)
    plan = json.loads(out.stdout)
    counts.check("plan as JSON", plan["dry_run"] == "plan" and plan["count"] == 2 and [c["line"] for c in plan["calls"]] == [1, 2]
                 and plan["calls"][1]["open"] == ["text"], plan)
    out = place.run("eval", "--upstreams", file, "--dry-run", "reads", program)
    counts.check("reads", out.returncode == 0 and "before 1 call:\n1. notes/write (destructive) {\"text\":\"b\"}" in out.stdout
                 and out.stderr == "1\n" and place.taken("calls") == ["read"], out)
    out = place.run("eval", "--upstreams", file, "--allow", "notes", "--dry-run", "reads", "--format", "json", program)
    counts.check("reads as JSON, whatever is allowed", json.loads(out.stdout)["calls"][0]["tool"] == "write"
                 and place.taken("calls") == ["read"], out)
    out = place.run("eval", "--upstreams", file, "--dry-run", "reads", '(notes/read {:text "a"})')
    counts.check("reads only", out.returncode == 0 and out.stdout == '{"text" "a"}\n' and place.taken("calls") == ["read"], out)
    out = place.run("eval", "--upstreams", file, "--dry-run", "plan", "(notes/wrote {})")
    counts.check("a mistake", out.returncode == 1 and "notes/write" in out.stderr, out)
    for wrong in (["--no-upstreams"], ["--upstreams", file, "--format", "csv"], ["--upstreams", file, "--dry-run", "all"],
                  ["--upstreams", file, "--dry-run", "reads", "--tools", '{"t": {"command": ["true"]}}']):
        out = place.run("eval", "--dry-run", "plan", *wrong, "1")
        counts.check(f"wrong: {wrong}", out.returncode == 2 and "dry-run" in out.stderr, out)


def main(place):
    place.write("tools.json", [tool("read", annotations=READ), tool("write", annotations=DESTROY)])
    file = place.write("u.json", {"upstreams": {"notes": place.server()}})
    program = '(notes/read {:text "a"}) (notes/write {:text "b"})'
    ask = b"(c)?"

    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"what\n"), (ask, b"once\n")])
    counts.check("once", status == 0 and '"b"' in shown and 'notes/write (destructive) {"text":"b"}' in shown, shown)
    counts.check("once: each call once", place.taken("calls") == ["read", "write"])
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"n\n")])
    counts.check("no", status == 1 and "said no" in shown and place.taken("calls") == ["read"], shown)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"c\n")])
    counts.check("cancel", status == 1 and "approval" in shown and place.taken("calls") == ["read"], shown)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"\x04")])
    counts.check("end of input", status == 1 and place.taken("calls") == ["read"], shown)
    out = place.run("eval", "--upstreams", file, program)
    counts.check("nobody to ask", out.returncode == 1 and '"write": "allow"' in out.stderr and not place.taken("calls"), out.stderr)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"always\n")])
    counts.check("always", status == 0 and place.taken("calls") == ["read", "write"], shown)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [])
    counts.check("always: not asked", status == 0 and "wants" not in shown and place.taken("calls") == ["read", "write"], shown)
    out = place.run("eval", "--upstreams", file, program)
    counts.check("always: without a terminal", out.returncode == 0 and place.taken("calls") == ["read", "write"], out.stderr)
    place.write("tools.json", [tool("read", annotations=READ), tool("write", "Does something else", annotations=DESTROY)])
    out = place.run("eval", "--upstreams", file, program)
    counts.check("always: as it was defined", out.returncode == 1 and place.taken("calls") == ["read"], out.stderr)
    dry_runs(place, file)
    return counts.done()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        sys.exit(main(Place(sys.argv[1], home)))
