#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_patterns.py PTC: a pattern in a tool's schema that would take ages takes a run little, however often the tool is called
and wherever the pattern is; it is given up, and other calls go on."""
import json
import os
import resource
import sys
import tempfile

sys.dont_write_bytecode = True
from place import READ, Counts, Mcp, Place, tool  # noqa: E402

counts = Counts()
PTC = sys.argv[1]
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SLOW = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}, "required": ["text"]}
BAD = "a" * 40 + "!"
MOST_S = 12  # of computing, for two seconds of checks on several threads, in a build that checks itself


def computed_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def slow(answer):
    """The tools whose schema was given up, as the calls of a program say."""
    calls = (answer.get("structuredContent") or {}).get("upstream_calls", [])
    return [call["tool"] for call in calls if "schema_slow" in call.get("notes", [])]


def test_arguments(place):
    place.write("tools.json", [tool("echo", "Say it again", READ, SLOW)])
    out = place.upstreams("call", "s/echo", json.dumps({"text": "aaa"}))
    counts.check("what fits is sent", out.returncode == 0 and "aaa" in out.stdout, out)
    out = place.upstreams("call", "s/echo", json.dumps({"text": BAD}))
    counts.check("what takes too long is left to the server", out.returncode == 0 and BAD in out.stdout, out)
    out = place.run("eval", f'(if (odd? 2) (s/echo {{:text "{BAD}"}}) 7)')
    counts.check("what is written in a program is left to the call", out.returncode == 0 and out.stdout == "7\n", out)
    place.taken("calls")
    mcp = Mcp(place, "--profile", "debug")
    answer = mcp.eval(f'(count (mapv #(s/echo {{:text (str "{BAD}" %)}}) (range 8)))')
    counts.check("its calls are made", "8" in str(answer) and len(place.taken("calls")) == 8, answer)
    counts.check("one of them says so", slow(answer) == ["echo"], answer)
    again = mcp.eval(f'(s/echo {{:text (str "{BAD}" 9)}})')
    counts.check("and none later", slow(again) == [], again)
    counts.check("it took little", computed_s(mcp.process.pid) < MOST_S, computed_s(mcp.process.pid))
    counts.check("the next program is answered", "3" in str(mcp.eval("(+ 1 2)")), answer)
    mcp.end()


def test_answers(place, how):
    """Sixteen answers of as many tools, one after the other or all at once: each with a schema of its own."""
    tools = [{**tool(f"echo{i}", "Say it again", READ, TEXT), "outputSchema": {**SLOW, "title": str(i)}} for i in range(16)]
    place.write("tools.json", tools)
    mcp = Mcp(place, "--profile", "debug")
    calls = " ".join(f'#(s/echo{i} {{:text "{BAD}"}})' for i in range(16))
    answer = mcp.eval(f"(count (pcalls {calls}))" if how == "pcalls" else f"(count (mapv (fn [f] (f)) [{calls}]))")
    counts.check(f"{how}: all are answered", "16" in str(answer.get("structuredContent")), answer)
    counts.check(f"{how}: it took little", computed_s(mcp.process.pid) < MOST_S, computed_s(mcp.process.pid))
    before, late = computed_s(mcp.process.pid), slow(answer)
    counts.check(f"{how}: it is told of those that ran", len(late) >= 1, answer)
    mcp.eval(f'(count (mapv (fn [_] (s/{"".join(late[:1])} {{:text "{BAD}"}})) (range 8)))')
    counts.check(f"{how}: they are not tried again", computed_s(mcp.process.pid) - before < 1, (before, computed_s(mcp.process.pid)))
    mcp.end()


def test_strict(place):
    """Where answers must fit, one that cannot be checked is refused, now and later."""
    place.write("tools.json", [{**tool("echo", "Say it again", READ, TEXT), "outputSchema": SLOW}])
    place.write(".config/ptc/upstreams.json", {"upstreams": {"s": {**place.server(), "strict_output": True}}})
    mcp = Mcp(place, "--profile", "debug")
    for text, good in (("aa", True), (BAD, False), (BAD, False)):
        answer = mcp.eval(f'(:text (s/echo {{:text "{text}"}}))')
        counts.check(f"strict: {text}", answer.get("isError", False) != good and (good or "could not be checked" in str(answer)), answer)
    mcp.end()


def test_deadline(place):
    """The deadline of the program counts inside of a check; without it that would take two seconds."""
    place.write("tools.json", [{**tool("echo", "Say it again", READ, TEXT), "outputSchema": SLOW}])
    place.upstreams("check")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    out = place.run("eval", "--deadline-ms", "700", f'(s/echo {{:text "{BAD}"}})')
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    counts.check("the deadline ends it", out.returncode == 1 and "deadline" in out.stderr and used < 1.7, (out, used))


def main():
    for test in (test_arguments, test_deadline, lambda p: test_answers(p, "mapv"), lambda p: test_answers(p, "pcalls"), test_strict):
        with tempfile.TemporaryDirectory() as home:
            place = Place(PTC, home)
            place.write(".config/ptc/upstreams.json", {"upstreams": {"s": place.server()}})
            test(place)
    return counts.done()


sys.exit(main())
