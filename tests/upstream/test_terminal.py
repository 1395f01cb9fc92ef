#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_terminal.py PTC: whoever sits at the terminal is asked about calls of `ptc eval` and `ptc repl`; without a terminal they
are denied."""
import os
import pty
import select
import sys
import tempfile
import time

from place import DESTROY, READ, WAIT, Counts, Place, tool

counts = Counts("test_terminal.py")


def talk(place, command, answers):
    """Runs ptc at a terminal of its own and answers each question; what was shown, and the exit status."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.clear()
        os.environ.update(place.env, TERM="dumb")
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
    return counts.done()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        sys.exit(main(Place(sys.argv[1], home)))
