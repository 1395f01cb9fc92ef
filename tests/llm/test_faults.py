#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/llm/test_faults.py DRIVER [NAME]: everything that can go wrong on the way to a model ends in its class, in time and
within its memory, and nothing is sent twice.  Limits are made small for it; all servers are on loopback."""
import gzip
import json
import os
import pathlib
import resource
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from llm_help import DRIVER, OPENAI_OK, Server, answer, ask, chunked, clean_env, drive, error_of, expect, openai_stream, \
    run_tests, say, saying, sse, test

HERE = pathlib.Path(__file__).resolve().parent
SHORT = ("--connect-ms", "400", "--silence-ms", "400")  # where waiting in vain is what is tested
HALF_A_MINUTE = 30 * 1000  # more than a busy machine needs, less than the limits that would end it otherwise
SANITIZED = "san" in DRIVER  # which takes more memory


def in_time(attempt, limit_ms=1000, tries=5):
    """Is it cancelled soon?  It takes 50 ms, and much longer on a busy machine: one of several times is enough."""
    late = []
    for _ in range(tries):
        got = attempt()
        expect(error_of(got).get("class"), "cancelled", got)
        late.append(got["late_ms"])
        if late[-1] < limit_ms:
            return
    raise AssertionError(f"cancelled after {late} ms")


def model(port, path="/v1"):
    return f"openai-compat:http://127.0.0.1:{port}{path}|m"


def fails(handler, cause, request=None, contains="", options=()):
    """Asks a server with this handler; the failure must be of this class."""
    with Server(handler) as server:
        got = ask(model(server.port), request or say(), options=options, env=clean_env())
    expect(error_of(got).get("class"), cause, got)
    assert contains in error_of(got)["message"], got
    assert got["ms"] < HALF_A_MINUTE, got
    return got, server


# ------------------------------------------------------------------------------- connections

@test
def refused():
    free = socket.socket()
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    got = ask(model(port), say())
    expect(error_of(got)["class"], "timeout", got)
    assert "127.0.0.1" in error_of(got)["message"] or "connect" in error_of(got)["message"].lower(), got


def fake_dns():
    """The library of fake_dns.c, or None where it cannot be built."""
    out = os.path.join(tempfile.gettempdir(), f"ptc-fake-dns-{os.getpid()}.so")
    done = subprocess.run(["cc", "-shared", "-fPIC", "-o", out, str(HERE / "fake_dns.c"), "-ldl"], check=False)
    return out if done.returncode == 0 else None


DNS = fake_dns()


def dns_env():
    more = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
    return clean_env(LD_PRELOAD=DNS, **more)


@test
def name_not_found():
    got = ask("openai-compat:https://model.fail/v1|m", say(), env=dns_env())
    expect(error_of(got)["class"], "timeout", got)


@test
def name_hangs():
    """A look-up that never ends is given up, and no more than 16 of them are begun."""
    spec = "openai-compat:https://model.hang/v1|m"
    result = drive(spec, *[say()] * 19, options=("--connect-ms", "100"), env=dns_env())
    classes = [error_of(a)["class"] for a in result.answers]
    expect(classes, ["timeout"] * 19)
    expect(["look-ups" in error_of(a)["message"] for a in result.answers], [False] * 16 + [True] * 3)


@test
def name_slow():
    """Once given up look-ups have ended, there is room again."""
    spec = "openai-compat:https://model.slow/v1|m"
    result = drive(spec, *[say()] * 16, say(timeout_ms=5000), options=("--connect-ms", "110"), env=dns_env())
    expect(["look-ups" in json.dumps(a) for a in result.answers], [False] * 17, result.answers[-1])


@test
def cancel_in_lookup():
    in_time(lambda: ask("openai-compat:https://model.hang/v1|m", say(cancel_ms=150), env=dns_env()))


def tls_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(HERE / "loopback.pem")
    return context


@test
def tls_unknown_certificate():
    with Server(saying(OPENAI_OK), tls_context()) as server:
        got = ask(f"openai-compat:https://127.0.0.1:{server.port}/v1|m", say())
    expect(error_of(got)["class"], "config_error", got)
    expect(server.requests, [], "nothing was sent")


@test
def tls_known_certificate():
    with Server(saying(OPENAI_OK), tls_context()) as server:
        env = clean_env(SSL_CERT_FILE=str(HERE / "loopback.pem"))
        got = ask(f"openai-compat:https://127.0.0.1:{server.port}/v1|m", say(), env=env)
        expect(got["reply"].get("content"), "fine", got)
        got = ask(f"openai-compat:https://127.0.0.2:{server.port}/v1|m", say(), env=env)
    assert error_of(got)["class"] in ("config_error", "timeout"), got  # another host than the certificate's


@test
def tls_is_not_spoken():
    with Server(saying(OPENAI_OK)) as server:
        got = ask(f"openai-compat:https://127.0.0.1:{server.port}/v1|m", say(), options=SHORT)
    expect(error_of(got)["class"], "timeout", got)


class Mute:
    """Accepts and says nothing."""

    def __enter__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(300)
        self.port = self.listener.getsockname()[1]
        return self

    def __exit__(self, *_):
        self.listener.close()


@test
def tls_hangs():
    with Mute() as mute:
        got = ask(f"openai-compat:https://127.0.0.1:{mute.port}/v1|m", say(), options=SHORT)
        expect(error_of(got)["class"], "timeout", got)
        assert 350 <= got["ms"] < HALF_A_MINUTE, got
        in_time(lambda: ask(f"openai-compat:https://127.0.0.1:{mute.port}/v1|m", say(cancel_ms=100)))


@test
def tls_breaks_while_sending():
    """Writing to a connection that is gone must not end the process by a signal, which TLS libraries are good at."""
    class Rude(Server):
        def serve(self, connection):
            try:
                inner = self.context.wrap_socket(connection, server_side=True)
                inner.recv(1000)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                inner.close()
            except OSError:
                pass
    with Rude(None, tls_context()) as server:
        env = clean_env(SSL_CERT_FILE=str(HERE / "loopback.pem"))
        spec = f"openai-compat:https://127.0.0.1:{server.port}/v1|m"
        result = drive(spec, *[say("x" * (4 << 20))] * 3, env=env)
    expect([error_of(a).get("class") for a in result.answers], ["server_error"] * 3, result.answers)


@test
def no_library():
    got = ask("openai-compat:https://model.example/v1|m", say(), env={**dns_env(), "PTC_TEST_NO_CURL": "1"})
    expect(error_of(got).get("class"), "config_error", got)
    assert "libcurl" in error_of(got)["message"] and "libcurl4" in error_of(got)["message"], got


# ------------------------------------------------------------------------------------ statuses

@test
def statuses():
    want = {400: "client_error", 401: "client_error", 403: "client_error", 404: "client_error", 408: "server_error",
            413: "client_error", 422: "client_error", 429: "rate_limit", 500: "server_error", 502: "server_error",
            503: "server_error", 504: "server_error", 529: "server_error"}
    for status, cause in want.items():
        got, _ = fails(saying({"error": {"message": "no luck"}}, status=status), cause, contains="no luck")
        assert "retry_after_ms" not in error_of(got)


@test
def delays():
    cases = [("7", 7000), ("0", 0), ("1.5", 1500), ("-5", None), ("soon", None), ("9" * 100, 1 << 40),
             ("Fri, 31 Dec 9999 23:59:59 GMT", 1 << 40), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("", None)]
    for value, ms in cases:
        got, _ = fails(saying({"error": "slow down"}, status=429, retry_after=value), "rate_limit")
        expect(error_of(got).get("retry_after_ms"), ms, value)


@test
def long_words_are_cut():
    got, _ = fails(saying({"error": {"message": "ä\n" * 5000}}, status=400), "client_error")
    assert len(error_of(got)["message"].encode()) <= 230 and "\n" not in error_of(got)["message"]
    got, _ = fails(saying(b"\xff\xfe\x00 not text", status=500), "server_error")


# ------------------------------------------------------------------------------ broken answers

@test
def malformed():
    for body in [b"", b"{", b"nonsense", b"[]", b"null", b"{}", b"\xff", b'{"choices":[]}', b'{"choices":[{}]}',
                 b'{"choices":{}}', b'{"choices":[{"message":{"tool_calls":7}}]}', b"[" * 100000, b'{"a":' * 300]:
        with Server(saying(body)) as server:
            got = ask(model(server.port), say())
        if b"message" not in body and body != b'{"choices":[{}]}':
            expect(error_of(got).get("class"), "unknown", (body[:30], got))


@test
def not_http():
    for garbage in [b"\r\n\r\n", b"SSH-2.0-x\r\n", b"HTTP/1.1 abc\r\n\r\n", b"<html>no headers</html>",
                    b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"]:
        def handler(_server, connection, _request, bytes_=garbage):
            connection.sendall(bytes_)
            return False
        fails(handler, "unknown")


@test
def cut_streams():
    tool = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x'}}]}}]}
    for pieces in [[sse({"choices": [{"delta": {"content": "hel"}}]})], [sse(tool)], [b'data: {"choi'], []]:
        def handler(_server, connection, _request, pieces_=pieces):
            chunked(connection, pieces_, end=False)
            return False
        got, _ = fails(handler, "unknown", say(stream=True))
        expect(error_of(got).get("streamed", False), pieces == [sse({"choices": [{"delta": {"content": "hel"}}]})])

        def polite(_server, connection, _request, pieces_=pieces):
            chunked(connection, pieces_)
            return True
        fails(polite, "unknown", say(stream=True))


@test
def silence():
    def before(_server, _connection, _request):
        time.sleep(3)

    def after_headers(_server, connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")
        time.sleep(3)

    def in_stream(_server, connection, _request):
        chunked(connection, openai_stream("a")[:1], end=False)
        time.sleep(3)
    for handler in [before, after_headers, in_stream]:
        got, _ = fails(handler, "timeout", say(stream=handler is in_stream), "no byte", SHORT)
        assert got["ms"] >= 350, got


@test
def whole_time():
    """Bytes that come for ever do not help."""
    def pings(_server, connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        while True:
            connection.sendall(b": ping\n\n")
            time.sleep(0.02)

    def dribble(_server, connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        while True:
            connection.sendall(b" ")
            time.sleep(0.02)
    for handler in [pings, dribble]:
        got, _ = fails(handler, "timeout", say(stream=True, timeout_ms=700))
        assert got["ms"] >= 650, got
        got, _ = fails(handler, "deadline", say(stream=True, deadline_ms=300))
        assert got["ms"] >= 250, got


@test
def provisional_answers():
    def slowly(_server, connection, _request):
        while True:
            connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")
            time.sleep(0.02)

    def fast(_server, connection, _request):
        while True:
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\nlink: " + b"x" * 1000 + b"\r\n\r\n")

    def a_few(_server, connection, _request):
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n" * 3 + answer(OPENAI_OK))
        return True
    fails(slowly, "timeout", say(timeout_ms=700))
    fails(fast, "too_large")
    with Server(a_few) as server:
        expect(ask(model(server.port), say())["reply"]["content"], "fine")


@test
def large_headers():
    fails(saying(OPENAI_OK, x_big="y" * 50000, **{f"x_{i}": "z" * 5000 for i in range(60)}), "too_large")


# -------------------------------------------------------------------------------------- sizes

def peak_kb():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


@test
def large_answers():
    """50 MB, whatever form they come in; the memory is that of the limits."""
    block = b"x" * 65536

    def plain(_server, connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 52428800\r\n\r\n{\"a\":\"")
        for _ in range(800):
            connection.sendall(block)
        return False

    def stream(_server, connection, _request):
        chunked(connection, [b'data: {"x":"'] + [block] * 800)
        return False

    def many_events(_server, connection, _request):
        piece = sse({"choices": [{"delta": {"content": "y" * 1000}}]}) * 60
        chunked(connection, [piece] * 800)
        return False

    def wrong_status(_server, connection, _request):
        connection.sendall(b"HTTP/1.1 500 Oh\r\ncontent-length: 52428800\r\n\r\n")
        for _ in range(800):
            connection.sendall(block)
        return False
    before = peak_kb()
    fails(plain, "too_large")
    fails(stream, "too_large", say(stream=True))
    fails(many_events, "too_large", say(stream=True))
    fails(wrong_status, "server_error")
    if not SANITIZED:
        assert peak_kb() < max(before, 100 * 1024), f"{peak_kb()} KiB"


@test
def gzip_bombs():
    bomb = gzip.compress(b"[" + b"0," * (40 << 20) + b"0]")
    nested = gzip.compress(b"[" * (10 << 20))
    for body, cause in [(bomb, "too_large"), (nested, "unknown")]:
        fails(saying(body, content_encoding="gzip"), cause)
    with Server(saying(gzip.compress(json.dumps(OPENAI_OK).encode()), content_encoding="gzip")) as server:
        expect(ask(model(server.port), say())["reply"]["content"], "fine")
    fails(saying(b"not gzip", content_encoding="gzip"), "unknown")


@test
def limits_of_a_reply():
    def message(**fields):
        return {"choices": [{"message": fields, "finish_reason": "stop"}]}

    def call(i, args="{}"):
        return {"id": f"c{i}", "function": {"name": "f", "arguments": args}}
    fits = [message(content="x" * (4 << 20)), message(tool_calls=[call(i) for i in range(128)]),
            message(tool_calls=[call(1, "1" * (1 << 20))])]
    over = [message(content="x" * ((4 << 20) + 1)), message(tool_calls=[call(i) for i in range(129)]),
            message(tool_calls=[call(1, "1" * ((1 << 20) + 1))]), message(tool_calls=[call("x" * 2000)])]
    for body in fits:
        with Server(saying(body)) as server:
            assert "error" not in ask(model(server.port), say())["reply"]
    for body in over:
        fails(saying(body), "too_large")
    numbers = [-1, 0, 10 ** 18, 2 ** 63, -2 ** 70, 1.5, 1e300, None, "7", [], {}]
    pieces = [sse({"choices": [{"delta": {"tool_calls": [{"index": n, "function": {"name": "f", "arguments": "{}"}}]}}],
                   "usage": {"prompt_tokens": n, "completion_tokens": n}}) for n in numbers]

    def handler(_server, connection, _request):
        chunked(connection, pieces + openai_stream())
        return True
    with Server(handler) as server:
        reply = ask(model(server.port), say(stream=True))["reply"]
        assert len(reply["tool_calls"]) <= len(numbers) and 0 <= reply["tokens"]["input"] <= 10 ** 9, reply


@test
def large_requests():
    with Server(saying(OPENAI_OK)) as server:
        got = ask(model(server.port), say("x" * (31 << 20)))
        expect(got["reply"].get("content"), "fine")
        expect(len(server.requests[0].body) > 31 << 20, True)
        got = ask(model(server.port), say("x" * (33 << 20)))
        expect(error_of(got)["class"], "too_large")
        expect(len(server.requests), 1, "nothing was sent")


# ----------------------------------------------------------------------------- sent only once

@test
def redirects_are_not_followed():
    with Server(saying(OPENAI_OK)) as other:
        for status in [301, 302, 303, 307, 308]:
            got, _ = fails(saying(b"", status=status, location=f"http://127.0.0.1:{other.port}/v1"), "client_error")
            assert "redirect" in error_of(got)["message"]
        expect(other.requests, [])


@test
def connection_is_used_again():
    with Server(saying(OPENAI_OK)) as server:
        result = drive(model(server.port), *[say()] * 5)
        expect([a["reply"].get("content") for a in result.answers], ["fine"] * 5)
        expect((len(server.requests), server.connections), (5, 1))


@test
def closed_while_sending():
    """The server takes the second request on the same connection and hangs up: it may have worked, so it is not sent
    again."""
    def handler(server, connection, _request):
        if len(server.requests) == 1:
            connection.sendall(answer(OPENAI_OK))
            return True
        return False
    with Server(handler) as server:
        result = drive(model(server.port), say(), say())
        expect(result.answers[0]["reply"].get("content"), "fine")
        expect(error_of(result.answers[1])["class"], "server_error", result.answers[1])
        expect(len(server.requests), 2, "requests")


@test
def closed_while_idle():
    """A connection that was closed meanwhile is not used, and nobody notices."""
    def handler(_server, connection, _request):
        connection.sendall(answer(OPENAI_OK))
        return False
    with Server(handler) as server:
        process = subprocess.Popen([DRIVER, model(server.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=clean_env())
        for _ in range(3):
            process.stdin.write((json.dumps(say()) + "\n").encode())
            process.stdin.flush()
            expect(json.loads(process.stdout.readline())["reply"].get("content"), "fine")
            time.sleep(0.15)
        process.stdin.close()
        expect(process.wait(60), 0)
        expect(len(server.requests), 3)


@test
def hangs_up_at_once():
    fails(lambda *_: False, "server_error", contains="without an answer")


@test
def schema_is_refused():
    """An endpoint without json_schema is told so once, and remembered."""
    def handler(_server, connection, request):
        form = json.loads(request.body).get("response_format", {}).get("type")
        if form == "json_schema":
            connection.sendall(answer({"error": {"message": "response_format json_schema is not supported"}}, 400))
        else:
            connection.sendall(answer(OPENAI_OK))
        return True
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    with Server(handler) as server:
        result = drive(model(server.port), say(schema=schema), say(schema=schema), say())
        expect([a["reply"].get("content") for a in result.answers], ["fine"] * 3)
        bodies = [json.loads(r.body) for r in server.requests]
        forms = [b.get("response_format", {}).get("type") for b in bodies]
        expect(forms, ["json_schema", "json_object", "json_object", None])
        assert '"integer"' in bodies[1]["messages"][0]["content"], bodies[1]
    fails(saying({"error": "no"}, status=400), "client_error", say(schema=schema))


# --------------------------------------------------------------------------- stopping in between

@test
def cancelled():
    def mute(_server, _connection, _request):
        time.sleep(3)

    def endless(_server, connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        while True:
            connection.sendall(sse({"choices": [{"delta": {"content": "a"}}]}))
            time.sleep(0.01)
    for handler in [mute, endless]:
        with Server(handler) as server:
            in_time(lambda at=server.port, h=handler: ask(model(at), say(stream=h is endless, cancel_ms=100)))


@test
def reader_stops():
    def endless(_server, connection, _request):
        chunked(connection, openai_stream(*["a"] * 10000))
    got, _ = fails(endless, "cancelled", say(stream=True, stop_after=3))
    expect(len(got["pieces"]), 3)


@test
def parallel():
    """200 at once over 64 places; those who wait for one can be cancelled too."""
    def handler(_server, connection, _request):
        time.sleep(0.05)
        connection.sendall(answer(OPENAI_OK))
        return True
    with Server(handler) as server:
        result = drive(model(server.port), say(threads=200), timeout=100)
        expect([a["reply"].get("content") for a in result.answers], ["fine"] * 200)
        expect(len(server.requests), 200)
        assert 8 < server.most <= 80, server.most  # 64, and some that have just been answered
    with Mute() as mute:
        result = drive(model(mute.port), say(threads=100, cancel_ms=200), timeout=100)
        expect([error_of(a).get("class") for a in result.answers], ["cancelled"] * 100)
        late = sorted(a["late_ms"] for a in result.answers)
        assert late[-1] < HALF_A_MINUTE, late


@test
def memory_fails():
    """Every allocation of a request fails once: the reply says so, or did not need it; nothing is lost."""
    tool = {"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}
    whole = {"choices": [{"message": {"content": "text", "tool_calls": [tool], "reasoning_details": [{"a": 1}]},
                          "finish_reason": "stop"}]}

    def handler(_server, connection, request):
        if json.loads(request.body).get("stream"):
            chunked(connection, openai_stream("a", "b"))
        else:
            connection.sendall(answer(whole))
        return True
    for stream in [False, True]:
        with Server(handler) as server:
            requests = [say(stream=stream, fail_at=n) for n in range(1, 90)]
            result = drive(model(server.port), *requests, say(stream=stream), timeout=120)
            expect(result.status, 0, result.out[-300:])
            classes = [error_of(a).get("class") for a in result.answers]
            expect(set(classes) - {None, "no_memory"}, set(), classes)  # None: a buffer made do with less
            assert classes.count("no_memory") >= 2 and classes[-1] is None, classes
            assert result.answers[-2]["count"] < 89, "all of them were tried"


# -------------------------------------------------------------------------------- nothing is sent

@test
def configuration():
    cases = [("anthropic:haiku", {"ANTHROPIC_API_KEY": None}, "ANTHROPIC_API_KEY is not set"),
             ("haiku", {"OPENROUTER_API_KEY": None}, "OPENROUTER_API_KEY is not set, but "),
             ("haiku", {"OPENROUTER_API_KEY": None}, "_API_KEY is: write the model as "),
             ("anthropic:haiku", {"ANTHROPIC_API_KEY": "sk-two words"}, "keys cannot have"),
             ("anthropic:haiku", {"ANTHROPIC_API_KEY": "sk-a\r\nx-evil: 1"}, "keys cannot have"),
             ("bedrock:haiku", {"AWS_SECRET_ACCESS_KEY": None}, "AWS_SECRET_ACCESS_KEY is not set"),
             ("bedrock:haiku", {"AWS_REGION": "eu-1.evil.example/"}, "AWS_REGION"),
             ("openai:x", {"OPENAI_BASE_URL": "http://192.0.2.1/v1"}, "https://"),
             ("openai:x", {"OPENAI_BASE_URL": "https://user:pass@host/v1"}, "address"),
             ("ollama:x", {"OLLAMA_HOST": "192.0.2.1:11434"}, "https://")]
    for spec, more, contains in cases:
        with Server(saying(OPENAI_OK)) as server:
            env = clean_env(server.port, **{k: v for k, v in more.items() if v is not None})
            for name, value in more.items():
                if value is None:
                    env.pop(name)
            got = ask(spec, say(), env=env)
        expect(error_of(got).get("class"), "config_error", (spec, more, got))
        assert contains in error_of(got)["message"], got
        expect(server.requests, [])


@test
def host_of_ollama():
    """The port goes after the host, also if a path follows; nobody listens there."""
    for host, port in [("127.0.0.9", 11434), ("http://127.0.0.9/", 11434), ("http://127.0.0.9/models", 11434),
                       ("127.0.0.9/a:b", 11434), ("127.0.0.9:9/models", 9)]:
        got = ask("ollama:x", say(), env=clean_env(OLLAMA_HOST=host))
        assert f"127.0.0.9 port {port} " in error_of(got)["message"], (host, got)
    for host, port in [("[::1]", 11434), ("http://[::1]/models", 11434), ("[::1]:9", 9)]:
        got = ask("ollama:x", say(), env=clean_env(OLLAMA_HOST=host))
        assert re.search(rf"::1\]? port {port} ", error_of(got)["message"]), (host, got)


@test
def proxies():
    """libcurl's variables count, but not for this machine."""
    with Server(saying(b"", status=502)) as proxy:
        address = f"http://user:proxy-password-1@127.0.0.1:{proxy.port}"
        env = clean_env(HTTPS_PROXY=address, http_proxy=address, ALL_PROXY=address)
        got = ask("openai-compat:https://model.example/v1|m", say(), env=env)
        expect(error_of(got)["class"] in ("timeout", "unknown", "server_error"), True, got)
        expect([(r.method, r.path) for r in proxy.requests], [("CONNECT", "model.example:443")])
        assert "proxy-password-1" not in json.dumps(got)
        with Server(saying(OPENAI_OK)) as server:
            expect(ask(model(server.port), say(), env=env)["reply"].get("content"), "fine")
        expect(len(proxy.requests), 1)


if __name__ == "__main__":
    code = run_tests("faults")
    if DNS:
        os.unlink(DNS)
    sys.exit(code)
