#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_patterns.py PTC: a pattern in a tool's schema that would take ages ends after a while, in a program of the server and on the
command line, and other calls go on."""
import json
import sys
import tempfile

sys.dont_write_bytecode = True
from place import READ, Counts, Mcp, Place, tool  # noqa: E402

counts = Counts("test_patterns.py")
PTC = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}, "required": ["text"]}
BAD = "a" * 40 + "!"


def main():
    with tempfile.TemporaryDirectory() as home:
        place = Place(PTC, home)
        place.write("tools.json", [tool("echo", "Say it again", READ, SCHEMA)])
        place.write(".config/ptc/upstreams.json", {"upstreams": {"s": place.server()}})
        out = place.upstreams("call", "s/echo", json.dumps({"text": "aaa"}))
        counts.check("what fits is sent", out.returncode == 0 and "aaa" in out.stdout, out)
        out = place.upstreams("call", "s/echo", json.dumps({"text": BAD}))
        counts.check("a call ends", out.returncode == 1 and "could not be checked" in out.stderr, out)
        out = place.run("eval", f'(if (odd? 2) (s/echo {{:text "{BAD}"}}) 7)')
        counts.check("what is written in a program is left to the call", out.returncode == 0 and out.stdout == "7\n", out)
        place.taken("calls")
        mcp = Mcp(place)
        answer = mcp.request("tools/call", {"name": "lisp_eval", "arguments": {"program": f'(s/echo {{:text (str "{BAD}")}})'}})
        counts.check("a call of the server ends", "isError" in str(answer), answer)
        answer = mcp.request("tools/call", {"name": "lisp_eval", "arguments": {"program": "(+ 1 2)"}})
        counts.check("the next one is answered", "3" in str(answer), answer)
        counts.check("nothing was sent", place.taken("calls") == [], "calls")
        mcp.end()
    return counts.done()


sys.exit(main())
