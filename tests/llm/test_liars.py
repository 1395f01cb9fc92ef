#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/llm/test_liars.py DRIVER [NAME]: an endpoint that speaks HTTP and JSON well enough, and lies in both.  Every lie ends in
a reply within its limits or in the class of the contract, in bounded time and memory; an agent that is lied to ends in an
outcome that holds together.  All servers are on loopback."""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

from llm_help import DRIVER, OPENAI_OK, Server, answer, ask, chunked, clean_env, expect, openai_stream, run_tests, \
    say, saying, sse, test

PTC = pathlib.Path(DRIVER).resolve().parent / "ptc"
SANITIZED = "san" in DRIVER  # which takes more memory
MOST_KB = 100 * 1024
WHOLE = json.dumps(OPENAI_OK).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


def model(port):
    return f"openai-compat:http://127.0.0.1:{port}/v1|m"


def hear(handler, **request):
    """The reply of a server with this handler; it was asked once."""
    with Server(handler) as server:
        got = ask(model(server.port), say(**request), env=clean_env())
        expect(len(server.requests), 1, "requests")
    return got["reply"]


def cause(handler, **request):
    return hear(handler, **request).get("error", {}).get("class")


def raw(data):
    """Sends these bytes and hangs up."""
    def handler(_server, connection, _request):
        connection.sendall(data)
        return False
    return handler


def streaming(*pieces, **more):
    def handler(_server, connection, _request):
        chunked(connection, pieces, **more)
        return True
    return handler


def endless(piece, head=b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"):
    """As fast as it is read, until nobody reads any more."""
    def handler(_server, connection, _request):
        connection.sendall(head)
        while True:
            connection.sendall(piece)
    return handler


def message(**fields):
    return {"choices": [{"message": fields, "finish_reason": "stop"}]}


def call(call_id="c", name="f", arguments="{}", **more):
    return {"id": call_id, "function": {"name": name, "arguments": arguments}, **more}


def delta(*calls):
    return sse({"choices": [{"delta": {"tool_calls": list(calls)}}]})


# ------------------------------------------------------------------------------------ lengths

@test
def lengths():
    """A length that is not that of the body never gives half a reply."""
    for field in [b"10", b"1000", b"-1", b"many", b"10\r\ncontent-length: 1000"]:
        expect(cause(raw(HEAD + b"content-length: " + field + b"\r\n\r\n" + WHOLE)), "unknown", field)
    expect(cause(raw(HEAD + b"content-length: 9223372036854775807\r\n\r\n" + WHOLE)), "too_large", "nothing is waited for")
    for size in [b"ffffffffffffffff", b"zz", b"-1", b"7fffffff"]:
        expect(cause(raw(HEAD + b"transfer-encoding: chunked\r\n\r\n" + size + b"\r\n" + WHOLE)), "unknown", size)
    both = HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(WHOLE), WHOLE)
    expect(hear(raw(both)).get("content"), "fine", "chunks count, not the length beside them")


@test
def content_types():
    """What comes is read by what was asked for, and then by what it is."""
    for kind in ["text/html", "text/event-stream", "application/octet-stream", "", "x" * 5000]:
        expect(hear(saying(OPENAI_OK, content_type=kind)).get("content"), "fine", kind)
        expect(hear(streaming(*openai_stream("a", "b"), content_type=kind), stream=True).get("content"), "ab", kind)
        expect(cause(saying(b"<html>hello</html>", content_type=kind)), "unknown", kind)
        expect(cause(saying(b"<html>hello</html>", content_type=kind), stream=True), "unknown", kind)
    expect(hear(saying(OPENAI_OK), stream=True).get("content"), "fine", "a whole answer in place of a stream")


# ------------------------------------------------------------------------------------- numbers

@test
def usage():
    """Counts are from 0 to 10^9, or not there."""
    most = 10 ** 9
    numbers = [(-5, 0), (0, 0), (7, 7), (10 ** 30, most), (2 ** 63, most), (-2 ** 70, 0), (1.5e300, most), (2.9, 2)]
    for said, want in numbers:
        reply = hear(saying({**OPENAI_OK, "usage": {"prompt_tokens": said, "completion_tokens": said}}))
        expect(reply.get("tokens"), {"input": want, "output": want}, said)
    for said in ["12", [], {}, None, True]:
        reply = hear(saying({**OPENAI_OK, "usage": {"prompt_tokens": said, "completion_tokens": said}}))
        expect(reply.get("tokens", {"input": 0, "output": 0}), {"input": 0, "output": 0}, said)
    for said in [[], "x", 7, None]:
        expect("tokens" in hear(saying({**OPENAI_OK, "usage": said})), False, said)


@test
def indexes():
    """The index of a call is a name, not a size."""
    for index in [10 ** 9, 2 ** 63, -1, -2 ** 70, 1e300, 0.5, "0", None, [], {}]:
        reply = hear(streaming(delta(call(index=index)), *openai_stream()), stream=True)
        expect([(c["name"], c["args"]) for c in reply.get("tool_calls", [])], [("f", {})], index)
    many = [delta(call(f"c{i}", index=10 ** 9 + i)) for i in range(129)]
    expect(cause(streaming(*many, *openai_stream()), stream=True), "too_large")
    endless_arguments = [delta({"index": 0, "function": {"arguments": "x" * 60000}})] * 18
    expect(cause(streaming(delta(call(index=0)), *endless_arguments, *openai_stream()), stream=True), "too_large")


# --------------------------------------------------------------------------------------- shapes

@test
def calls():
    """Calls stay calls whatever their parts are; ids are the loop's business."""
    for parts in [{"call_id": None}, {"call_id": 7}, {"call_id": {}}, {"call_id": ""}]:
        reply = hear(saying(message(tool_calls=[call(**parts)])))
        expect(reply["tool_calls"], [{"name": "f", "args": {}}], parts)
    for name in [None, 7, "", []]:
        expect(hear(saying(message(tool_calls=[call(name=name)])))["tool_calls"][0]["name"], "", name)
    for arguments, want in [("", ""), ("{", "{"), ('{"a":1}{', '{"a":1}{'), ("[1]", [1]), ({"a": 1}, {"a": 1}),
                            ("[" * 5000, "[" * 5000), ("\0", "\0")]:
        expect(hear(saying(message(tool_calls=[call(arguments=arguments)])))["tool_calls"][0].get("args"), want, arguments)
    for calls_ in [7, "x", {}, [7], [None], [[]]]:
        reply = hear(saying(message(content="hi", tool_calls=calls_)))
        assert "error" not in reply and reply.get("content") == "hi", (calls_, reply)


@test
def finishes():
    """The reason tells a cut and a filter; no lie about calls makes one, or takes one away."""
    for said in ["tool_calls", "banana", 7, None, [], {}, "stop"]:
        body = {"choices": [{"message": {"content": "hi"}, "finish_reason": said}]}
        expect(hear(saying(body)), {"content": "hi"}, said)
        body = {"choices": [{"message": {"tool_calls": [call()]}, "finish_reason": said}]}
        expect(len(hear(saying(body))["tool_calls"]), 1, said)
    cut = hear(saying({"choices": [{"message": {"tool_calls": [call(arguments='{"a')]}, "finish_reason": "length"}]}))
    expect(cut["cut"], True)
    expect(cause(saying({"choices": [{"message": {"content": "hi"}, "finish_reason": "content_filter"}]})), "refused")


@test
def choices():
    for said in [{}, {"0": {"message": {"content": "x"}}}, "x", 7, None, []]:
        expect(cause(saying({"choices": said})), "unknown", said)
    for said in [[7], [None], [[]], [{"message": []}], [{"message": {"content": 7}}], [{"message": {"content": {}}}]]:
        expect(hear(saying({"choices": said})), {"content": None}, said)  # an empty reply, which costs the agent a turn


@test
def nesting():
    for depth, want in [(150, None), (250, "unknown"), (1000000, "unknown")]:
        body = b'{"choices":[{"message":{"content":"x","z":' + b"[" * depth + b"]" * depth + b"}}]}"
        expect(cause(saying(body)), want, depth)
        expect(cause(streaming(b"data: " + body + b"\n\n", *openai_stream()), stream=True), want, depth)


@test
def bytes_that_are_no_text():
    expect(hear(saying(b'{"choices":[{"message":{"content":"a\\u0000b"}}]}'))["content"], "a\0b")
    for text in [b"a\0b", b"a\xff\xfeb", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\xe2\x82"]:
        expect(cause(saying(b'{"choices":[{"message":{"content":"' + text + b'"}}]}')), "unknown", text)
        event = b'data: {"choices":[{"delta":{"content":"' + text + b'"}}]}\n\n'
        expect(cause(streaming(event, *openai_stream()), stream=True), "unknown", text)


# ------------------------------------------------------------------------------------ without end

def peak_kb():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


@test
def without_end():
    """What never ends is given up at the limit of a body, which counts before the whole time does."""
    before = peak_kb()
    event = sse({"choices": [{"delta": {}}]})
    for name, piece in [("comments", b": ping\n\n" * 1000), ("one comment", b": " + b"x" * 60000), ("blank lines", b"\n" * 60000),
                        ("one field", b"data: " + b"y" * 60000), ("events without text", event * 200),
                        ("one call", delta(call(index=0, arguments="")) * 100)]:
        expect(cause(endless(piece), stream=True), "too_large", name)
    chunk = b"1\r\n \r\n"
    head = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    expect(cause(endless(chunk * 10000, head)), "too_large", "tiny chunks")
    expect(cause(endless(chunk * 10000, head), stream=True), "too_large", "tiny chunks of a stream")
    if not SANITIZED:
        assert peak_kb() < max(before, MOST_KB), f"{peak_kb()} KiB"


# ---------------------------------------------------------------------------------------- agents

def run(agent, bodies, **more):
    """What `ptc run --json` makes of an endpoint with these answers, and the requests that it sent."""
    left = list(bodies)

    def handler(_server, connection, _request):
        connection.sendall(answer(left.pop(0) if left else message(content="(return 1)")))
        return True
    with tempfile.TemporaryDirectory() as home, Server(handler) as server:
        path = pathlib.Path(home, "agent.json")
        path.write_text(json.dumps({"prompt": "p", "max_turns": 3, **agent}), encoding="utf-8")
        done = subprocess.run([PTC, "run", path, "--json", "--llm", model(server.port)], capture_output=True, timeout=100,
                              check=False, cwd=home, env=clean_env(**more))
        requests = [json.loads(r.body) for r in server.requests]
    assert done.returncode in (0, 1), done
    return json.loads(done.stdout), requests


@test
def an_agent_answers_each_call_once():
    """Ids that are missing, repeated or no text become ids of the run, and each is answered."""
    tools = {"f": {"value": 7, "signature": "() -> :int"}}
    lies = message(tool_calls=[call(None), call("a"), call("a"), call("x\0y"), call(7), call("b", name="nobody"), call("c", arguments="{")])
    got, requests = run({"output": "text", "tools": tools}, [lies, lies, message(content="done")])
    expect(got.get("return"), "done", got)
    for request in requests[1:]:
        asked = [c["id"] for m in request["messages"] for c in m.get("tool_calls") or []]
        told = [m["tool_call_id"] for m in request["messages"] if m["role"] == "tool"]
        expect(told, asked)
        expect(len(set(asked)), len(asked), asked)
    expect([c["ok"] for c in got["turns"][0]["calls"]], [True] * 5 + [False] * 2, got["turns"][0])


@test
def an_agent_adds_lies_up():
    """Tokens beyond all reason neither overflow nor are free."""
    lie = {**message(content="```clojure\n(def x 1)\n```"), "usage": {"prompt_tokens": 2 ** 63, "completion_tokens": 10 ** 30}}
    got, _ = run({}, [lie] * 3)
    expect((got["reason"], got["usage"]["total_tokens"]), ("max_turns_exceeded", 6 * 10 ** 9), got)


@test
def an_agent_reports_the_class():
    for bodies, want in [([{"choices": 7}], "unknown"), ([message(content="x" * ((4 << 20) + 1))], "too_large"),
                         ([{"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}], "refused")]:
        got, requests = run({}, bodies)
        expect((got["reason"], got["cause"], len(requests)), ("llm_error", want, 1), got)
    got, _ = run({}, [{"choices": [7]}] * 3)
    expect((got["reason"], got["cause"]), ("max_turns_exceeded", "no_code_found"), got)


if __name__ == "__main__":
    sys.exit(run_tests("liars"))
