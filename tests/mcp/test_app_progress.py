#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_progress.py PTC [ISOLATION]: signs of life for clients that gave a progress token."""
import json
import os
import tempfile

import http_help
from app_help import ISOLATION, PTC, WAIT, Answer, Server, expect, main, test

COMPUTES = "(reduce (fn [a x] (+ a (count (sort (range 100))))) 0 (range %d))"
NAP = {"nap": {"command": ["sleep", "0.4"]}, "echo": {"command": ["cat"]}, "fail": {"command": ["false"]}}


def tools_file(directory):
    path = os.path.join(directory, "tools.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(NAP, f)
    return "@" + path


def check_notes(notes, token, about=("calling nap", "nap done")):
    """What was heard: of this call, growing, and something at all; apart from signs of life, what it is about."""
    steps = [n["params"] for n in notes if n["method"] == "notifications/progress"]
    assert steps, "nothing was heard"
    expect([s["progressToken"] for s in steps], [token] * len(steps))
    values = [s["progress"] for s in steps]
    assert all(a < b for a, b in zip(values, values[1:])), values
    lines = [s["message"] for s in steps]
    assert all("total" not in s for s in steps), steps
    assert all(line.startswith("running for ") for line in lines if line not in about), lines
    return lines


def slow_call(server, tool, token, **arguments):
    meta = {"_meta": {"progressToken": token}} if token is not None else {}
    return server.begin("tools/call", {"name": tool, "arguments": arguments, **meta})


@test
def while_tools_run():
    with tempfile.TemporaryDirectory() as d:
        with Server("--tools", tools_file(d), "--progress-ms", "50", "--sessions") as s:
            number = slow_call(s, "lisp_eval", "t-1", program="(do (tool/nap {}) (+ 1 2))")
            expect(Answer(s.answer(number)).text, "3")
            check_notes(s.notes, "t-1")
            session = s.call("lisp_session_start").data["session_id"]
            s.notes.clear()
            number = slow_call(s, "lisp_session_eval", 7, session_id=session, program="(do (tool/nap {}) 4)")
            assert not Answer(s.answer(number)).failed
            check_notes(s.notes, 7)


@test
def while_a_program_runs():
    with Server("--progress-ms", "2", "--program-timeout-ms", "60000") as s:
        number = slow_call(s, "lisp_eval", "x", program=COMPUTES % 20000)
        assert not Answer(s.answer(number)).failed
        check_notes(s.notes, "x")


def of_calls(lines):
    return [line for line in lines if not line.startswith("running for ")]


@test
def each_call_is_told():
    told = ["calling echo", "echo done", "calling fail", "fail failed", "calling echo", "echo done"]
    program = '(do (tool/echo {:a 1}) (try (tool/fail {}) (catch Exception e 0)) (tool/echo {:a 2}) 7)'
    with tempfile.TemporaryDirectory() as d:
        with Server("--tools", tools_file(d)) as s:
            number = slow_call(s, "lisp_eval", "t", program=program)
            expect(Answer(s.answer(number)).text, "7")
            expect(of_calls(check_notes(s.notes, "t", told)), told)
        with http_help.Server([PTC, "mcp"], "--isolation", ISOLATION, "--tools", tools_file(d)) as s:
            messages = http_help.call(s, "lisp_eval", {"program": program}, progressToken="h").events()
            expect(of_calls(check_notes(messages[:-1], "h", told)), told)
            session = http_help.initialize(s).headers["Mcp-Session-Id"]
            answer = http_help.legacy(s, "tools/call", {"name": "lisp_eval", "arguments": {"program": program},
                                                        "_meta": {"progressToken": "l"}}, session)
            messages = answer.events()
            expect(of_calls(check_notes(messages[:-1], "l", told)), told)


@test
def silent_without_a_token():
    with tempfile.TemporaryDirectory() as d:
        with Server("--tools", tools_file(d), "--progress-ms", "20") as s:
            expect(s.eval("(do (tool/nap {}) 1)").text, "1")
            expect(s.notes, [])


@test
def silent_after_the_answer():
    """The answer is the last that is heard of a call, however the two meet."""
    with Server("--progress-ms", "1", "--program-timeout-ms", "60000", "--max-concurrent-calls", "4") as s:
        order, numbers = [], {}
        for i in range(60):
            number = slow_call(s, "lisp_eval", f"p{i}", program=COMPUTES % (20 * (i % 7)))
            numbers[number] = f"p{i}"
        while len([o for o in order if isinstance(o, int)]) < len(numbers):
            message = json.loads(s.lines.get(timeout=WAIT))
            order.append(message["id"] if "id" in message else message["params"]["progressToken"])
        s.request("ping")
        order += [note["params"]["progressToken"] for note in s.notes]
        for number, token in numbers.items():
            assert token not in order[order.index(number):], f"{token} was heard after its answer"


@test
def silent_after_cancelling():
    with Server("--progress-ms", "5", "--program-timeout-ms", "60000") as s:
        number = slow_call(s, "lisp_eval", "c", program=COMPUTES % 100000000)
        while not s.notes:
            line = json.loads(s.lines.get(timeout=WAIT))
            s.notes.append(line)
        s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        s.request("ping")
        s.notes.clear()
        expect(s.eval("(+ 2 2)").text, "4")
        s.request("ping")
        expect(s.notes, [])


@test
def over_http():
    with tempfile.TemporaryDirectory() as d:
        with http_help.Server([PTC, "mcp"], "--isolation", ISOLATION, "--tools", tools_file(d),
                              "--progress-ms", "50") as s:
            answer = http_help.call(s, "lisp_eval", {"program": "(do (tool/nap {}) 5)"}, progressToken="h")
            messages = answer.events()
            check_notes(messages[:-1], "h")
            expect(messages[-1]["result"]["structuredContent"]["result"], 5)
            answer = http_help.call(s, "lisp_eval", {"program": "(+ 1 1)"}, progressToken="h")
            body = answer.json() if answer.headers["Content-Type"] == "application/json" else answer.events()[-1]
            expect(body["result"]["structuredContent"]["result"], 2)


if __name__ == "__main__":
    main("mcp_app_progress")
