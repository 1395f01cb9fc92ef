#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_http.py FIXTURE: the HTTP transport, from outside.  Each test has a server of its own or none of
its state matters to others."""
import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from http_help import (BOTH, LEGACY, MODERN, Server, call, connect, expect_metric, http_bytes,
                       initialize, legacy, metric, modern, modern_body, modern_bytes, modern_headers,
                       raw_request, read_until, wait_for)
from watch import TESTS, WAIT, expect, run_tests, test, test_beside

FIXTURE = os.path.abspath(sys.argv[1])


def expect_in(part, whole):
    assert part in whole, f"no {part!r} in {whole!r}"


def code(answer):
    return answer.json().get("error", {}).get("code")


# ------------------------------------------------------------------- plain calls

@test
def modern_call(server):
    answer = call(server, "test_simple_text")
    expect(answer.status, 200)
    assert answer.headers["Content-Type"] == "application/json", answer.headers
    expect(answer.json()["result"]["resultType"], "complete")
    assert "Mcp-Session-Id" not in answer.headers


@test
def many_calls_on_one_connection(server):
    sock = connect(server)
    for _ in range(200):
        sock.sendall(modern_bytes(server, "tools/call", {"name": "test_simple_text", "arguments": {}}))
        expect_in(b" 200 OK", read_until(sock, b'"jsonrpc"'))
    sock.close()


@test
def pages(server):
    expect(raw_request(server, "GET", "/health", []).body, b"ok\n")
    expect(raw_request(server, "GET", "/healthz", []).body, b"ok\n")
    expect(raw_request(server, "GET", "/ready", []).body, b"ready\n")
    expect(raw_request(server, "GET", "/nothing", []).status, 404)
    expect(raw_request(server, "POST", "/metrics", [], b"").status, 404)


@test
def statuses(server):
    expect(modern(server, "no/such").status, 404)
    expect(code(modern(server, "no/such")), -32601)
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/x"}).encode()
    answer = raw_request(server, "POST", "/mcp", modern_headers("notifications/x"), note)
    expect((answer.status, answer.body), (202, b""))
    for verb in ("GET", "DELETE"):
        expect(raw_request(server, verb, "/mcp", [("MCP-Protocol-Version", MODERN)]).status, 405)
    expect(raw_request(server, "PUT", "/mcp", [], b"{}").status, 405)


# ----------------------------------------------------------------------- headers

@test
def header_rules(server):
    tool = {"name": "test_simple_text", "arguments": {}}
    body = json.dumps(modern_body("tools/call", tool)).encode()
    encoded = "=?base64?" + base64.b64encode(b"test_simple_text").decode() + "?="
    cases = [
        ({}, 200, None),
        ({"Mcp-Name": encoded}, 200, None),
        ({"Mcp-Name": "  test_simple_text  "}, 200, None),
        ({"Mcp-Name": "=?base64?!!!?="}, 400, -32020),
        ({"Mcp-Name": "=?BASE64?dGVzdA==?="}, 400, -32020),
        ({"Mcp-Name": "TEST_SIMPLE_TEXT"}, 400, -32020),
        ({"Mcp-Name": None}, 400, -32020),
        ({"Mcp-Method": "tools/list"}, 400, -32020),
        ({"Mcp-Method": None}, 400, -32020),
        ({"MCP-Protocol-Version": LEGACY}, 400, -32020),
        ({"MCP-Protocol-Version": None}, 400, -32020),
        ({"Mcp-Session-Id": "never-heard-of"}, 200, None),
        ({"Accept": "application/json"}, 200, None),
        ({"Accept": "text/html"}, 406, -32600),
        ({"Content-Type": "text/plain"}, 415, -32600),
        ({"Content-Type": None}, 415, -32600),
        ({"Content-Type": "application/json; charset=utf-8"}, 200, None),
    ]
    for changes, status, error in cases:
        answer = raw_request(server, "POST", "/mcp",
                             modern_headers("tools/call", "test_simple_text", changes), body)
        expect((answer.status, code(answer)), (status, error), changes)


@test
def arguments_in_headers(server):
    """What a schema wants in headers (x-mcp-header) must be there as it is in the body, at any depth, and nowhere else."""
    encoded = "=?base64?" + base64.b64encode(" é\n".encode()).decode() + "?="
    cases = [
        ({}, {}, 200),
        ({"query": "not in a header"}, {}, 200),
        ({"region": "eu"}, {"Mcp-Param-Region": "eu"}, 200),
        ({"region": "eu"}, {"mcp-param-REGION": "eu"}, 200),
        ({"region": " é\n"}, {"Mcp-Param-Region": encoded}, 200),
        ({"region": ""}, {"Mcp-Param-Region": ""}, 200),
        ({"region": "eu"}, {}, 400),
        ({"region": "eu"}, {"Mcp-Param-Region": "us"}, 400),
        ({"region": None}, {"Mcp-Param-Region": "us"}, 400),
        ({}, {"Mcp-Param-Region": "us"}, 400),
        ({"region": "eu"}, {"Mcp-Param-Region": "=?base64?!!!?="}, 400),
        ({"where": {"floor": 3, "dry": False}}, {"Mcp-Param-Floor": "3", "Mcp-Param-Dry": "false"}, 200),
        ({"where": {"floor": 3}}, {"Mcp-Param-Floor": "4"}, 400),
        ({"where": {"floor": 3}}, {}, 400),
        ({"where": {"dry": True}}, {"Mcp-Param-Dry": "false"}, 400),
        ({"where": 7}, {}, 200),  # wrong in another way, which the tool tells
    ]
    for arguments, headers, status in cases:
        body = json.dumps(modern_body("tools/call", {"name": "test_headers", "arguments": arguments})).encode()
        answer = raw_request(server, "POST", "/mcp", modern_headers("tools/call", "test_headers", headers), body)
        expect((answer.status, code(answer)), (status, -32020 if status == 400 else None), (arguments, headers))
    session = initialize(server).headers["MCP-Session-Id"]
    answer = legacy(server, "tools/call", {"name": "test_headers", "arguments": {"region": "eu"}}, session)
    expect((answer.status, code(answer)), (200, None), "older clients have no such headers")


@test
def a_header_twice(server):
    body = json.dumps(modern_body("tools/call", {"name": "test_simple_text", "arguments": {}})).encode()
    headers = modern_headers("tools/call", "test_simple_text") + [("Mcp-Name", "other")]
    answer = raw_request(server, "POST", "/mcp", headers, body)
    expect((answer.status, code(answer)), (400, -32020))


@test
def host_and_origin(server):
    cases = [
        ({"Host": "evil.example"}, 403), ({"Host": "localhost.evil.example:80"}, 403),
        ({"Host": "localhost"}, 200), ({"Host": "[::1]:1"}, 200),
        ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:5173"}, 200), ({"Origin": "http://127.0.0.1"}, 200),
        ({"Origin": "http://localhost:80@evil.example"}, 403),
    ]
    for changes, status in cases:
        expect(call(server, "test_simple_text", headers=changes).status, status, changes)
    expect(raw_request(server, "GET", "/metrics", [("Host", "evil.example")]).status, 403)


@test
def allowed_names(_):
    with Server(FIXTURE, "--allow-host", "mcp.example.com", "--allow-origin",
                "https://app.example.com") as server:
        good = {"Host": "MCP.example.com", "Origin": "https://app.example.com"}
        expect(call(server, "test_simple_text", headers=good).status, 200)
        expect(call(server, "test_simple_text", headers={"Host": "other.example.com"}).status, 403)


# ------------------------------------------------------------------------ tokens

TOKENS = "ann aaaaaaaaaaaaaaaaaaaaaaaa\nbob bbbbbbbbbbbbbbbbbbbbbbbb\n"
ANN = {"Authorization": "Bearer aaaaaaaaaaaaaaaaaaaaaaaa"}
BOB = {"Authorization": "Bearer bbbbbbbbbbbbbbbbbbbbbbbb"}


def token_file():
    file = tempfile.NamedTemporaryFile("w", suffix=".tokens")
    file.write(TOKENS)
    file.flush()
    return file


@test
def tokens(_):
    with token_file() as file, Server(FIXTURE, "--token-file", file.name) as server:
        answer = call(server, "test_simple_text")
        expect(answer.status, 401)
        assert answer.headers["WWW-Authenticate"].startswith("Bearer"), answer.headers
        expect(call(server, "test_simple_text", headers=ANN).status, 200)
        expect(raw_request(server, "GET", "/health", []).status, 200)
        expect(raw_request(server, "GET", "/metrics", []).status, 401)
        wrong = {"Authorization": "Bearer cccccccccccccccccccccccc"}
        for _ in range(10):
            expect(call(server, "test_simple_text", headers=wrong).status, 401)
        blocked = call(server, "test_simple_text", headers=wrong)
        expect((blocked.status, blocked.headers["Retry-After"]), (429, "60"))
        for i in range(120):
            other = {"Authorization": f"Bearer guess-{i:020}"}
            assert call(server, "test_simple_text", headers=other).status in (401, 429)
        expect(call(server, "test_simple_text", headers={"Authorization": "Bearer guess-again-guess-again"}).status, 429)
        expect(call(server, "test_simple_text", headers=ANN).status, 200, "a right token always passes")
        expect(call(server, "test_simple_text").status, 401)
        expect_metric(server, 'ptc_mcp_http_errors_total{kind="rate_limited"}', 33, ANN)
        server.stop()
        log = server.log_text()
        assert " ann POST /mcp" in log and "aaaaaaaa" not in log and "cccccccc" not in log, log


@test
def sessions_belong_to_owners(_):
    with token_file() as file, Server(FIXTURE, "--token-file", file.name) as server:
        session = initialize(server, ANN).headers["Mcp-Session-Id"]
        expect(legacy(server, "tools/list", session=session, headers=ANN).status, 200)
        expect(legacy(server, "tools/list", session=session, headers=BOB).status, 404)


@test
def no_token_no_foreign_address(_):
    process = subprocess.run([FIXTURE, "--http", "0.0.0.0:0"], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=WAIT, check=False)
    assert process.returncode != 0 and "token" in process.stderr, process
    for wrong in ("127.0.0.1", "nowhere:1", "127.0.0.1:99999"):
        process = subprocess.run([FIXTURE, "--http", wrong], stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=WAIT, check=False)
        assert process.returncode != 0 and "ADDRESS:PORT" in process.stderr, process


@test
def foreign_address_with_token(_):
    with token_file() as file:
        # It is an address of this machine, but written so that the server does not take it for one.
        with Server(FIXTURE, "--token-file", file.name, address="[::ffff:127.0.0.1]:0") as server:
            expect(call(server, "test_simple_text").status, 401)
            any_host = {**ANN, "Host": "whatever.example"}
            expect(call(server, "test_simple_text", headers=any_host).status, 200)


# ------------------------------------------------------------- sessions (legacy)

@test
def session_life(server):
    answer = initialize(server)
    session = answer.headers["Mcp-Session-Id"]
    expect(answer.status, 200)
    assert len(session) >= 32 and session != initialize(server).headers["Mcp-Session-Id"]
    expect(legacy(server, "notifications/initialized", session=session, request_id=None).status, 202)
    expect(legacy(server, "ping", session=session).json()["result"], {})
    expect(legacy(server, "tools/list").status, 400)
    expect(legacy(server, "tools/list", session="0" * 32).status, 404)
    expect(legacy(server, "tools/list", session="x").status, 404)
    expect(raw_request(server, "GET", "/mcp", [("Accept", BOTH)]).status, 400)
    bad_version = {"MCP-Protocol-Version": "1999-01-01"}
    expect(legacy(server, "ping", session=session, headers=bad_version).status, 400)
    head = [("MCP-Session-Id", session)]
    expect(raw_request(server, "DELETE", "/mcp", head).status, 204)
    expect(raw_request(server, "DELETE", "/mcp", head).status, 404)
    expect(legacy(server, "ping", session=session).status, 404)


@test
def stateless_legacy(_):
    with Server(FIXTURE, "--stateless", "1") as server:
        answer = initialize(server)
        expect(answer.status, 200)
        assert "Mcp-Session-Id" not in answer.headers
        expect(legacy(server, "tools/list").status, 200)
        expect(legacy(server, "tools/list", session="whatever").status, 200)
        expect(raw_request(server, "GET", "/mcp", [("Accept", BOTH)]).status, 405)


@test
def session_stream(server):
    session = initialize(server).headers["Mcp-Session-Id"]
    head = [("MCP-Session-Id", session), ("Accept", "text/event-stream")]
    sock = connect(server)
    sock.sendall(http_bytes(server, "GET", head))
    expect_in(b"text/event-stream", read_until(sock, b"\r\n\r\n"))
    expect(raw_request(server, "GET", "/mcp", head).status, 409)
    expect(legacy(server, "tools/call", {"name": "test_trigger_tool_change", "arguments": {}},
                  session=session).status, 200)
    expect_in(b"notifications/tools/list_changed", read_until(sock, b"\n\n"))
    expect(raw_request(server, "DELETE", "/mcp", head).status, 204)
    sock.settimeout(WAIT)
    while sock.recv(4096):
        pass
    sock.close()


@test
def sessions_are_bounded(_):
    with Server(FIXTURE, "--max-sessions", "3") as server:
        ids = [initialize(server).headers["Mcp-Session-Id"] for _ in range(3)]
        expect(initialize(server).status, 503)
        raw_request(server, "DELETE", "/mcp", [("MCP-Session-Id", ids[0])])
        expect(initialize(server).status, 200)
        expect_metric(server, "ptc_mcp_sessions", 3)


# ----------------------------------------------------------------------- streams

@test
def progress_comes_as_events(server):
    answer = call(server, "test_tool_with_progress", progressToken="t")
    expect(answer.headers["Content-Type"], "text/event-stream")
    expect(answer.headers["X-Accel-Buffering"], "no")
    messages = answer.events()
    steps = [m["params"]["progress"] for m in messages if m.get("method") == "notifications/progress"]
    assert len(steps) >= 3 and steps == sorted(set(steps)), messages
    assert "result" in messages[-1] and messages[-1]["id"] == 1, messages
    plain = call(server, "test_tool_with_progress")
    expect(plain.headers["Content-Type"], "application/json")
    only_json = call(server, "test_tool_with_progress", headers={"Accept": "application/json"},
                     progressToken="t")
    expect(only_json.headers["Content-Type"], "application/json")


@test
def accept_in_two_lines(server):
    """One line with a comma and two lines mean the same."""
    body = modern_body("tools/call", {"name": "test_tool_with_progress", "arguments": {}}, progressToken="t")
    for first, second in ("application/json", "text/event-stream"), ("text/plain", BOTH):
        headers = modern_headers("tools/call", "test_tool_with_progress", {"Accept": first}) + [("Accept", second)]
        answer = raw_request(server, "POST", "/mcp", headers, json.dumps(body).encode())
        expect((answer.status, answer.headers["Content-Type"]), (200, "text/event-stream"), first)


@test
def only_events_accepted(server):
    answer = call(server, "test_simple_text", headers={"Accept": "text/event-stream"})
    expect(answer.headers["Content-Type"], "text/event-stream")
    expect(len(answer.events()), 1)


@test
def listening(server):
    sock = connect(server)
    wish = {"notifications": {"toolsListChanged": True}}
    sock.sendall(modern_bytes(server, "subscriptions/listen", wish))
    got = read_until(sock, b"\n\n")
    assert b"notifications/subscriptions/acknowledged" in got, got
    call(server, "test_trigger_tool_change")
    expect_in(b"tools/list_changed", read_until(sock, b"\n\n"))
    expect_metric(server, "ptc_mcp_http_streams", 1)
    sock.close()
    wait_for(lambda: metric(server, "ptc_mcp_http_streams") == 0, "the stream to end")


@test_beside
def keep_alive_comments(_):
    """A call that says nothing for a while: the stream is kept open by comments."""
    with Server(FIXTURE) as server:
        sock = connect(server)
        sock.sendall(modern_bytes(server, "tools/call", {"name": "slow", "arguments": {"ms": 18000}}))
        got = read_until(sock, b":\n\n")
        assert b"text/event-stream" in got and b'"result"' in read_until(sock, b"}\n\n"), got
        sock.close()


# ---------------------------------------------------------------------- vanishing

def waits_under_way(server):
    return metric(server, "ptc_mcp_calls_running")


@test
def vanishing_cancels_a_modern_call(_):
    with Server(FIXTURE) as server:
        for streaming in ({}, {"progressToken": 1}):
            sock = connect(server)
            sock.sendall(modern_bytes(server, "tools/call",
                                      {"name": "slow", "arguments": {"ms": 600000}}, **streaming))
            wait_for(lambda: waits_under_way(server) == 1, "the call to run")
            sock.close()
            wait_for(lambda: waits_under_way(server) == 0, "the call to be cancelled")
        expect_metric(server, 'ptc_mcp_http_errors_total{kind="cancelled"}', 2)


@test
def vanishing_leaves_a_legacy_call(_):
    with Server(FIXTURE) as server:
        session = initialize(server).headers["Mcp-Session-Id"]
        message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                   "params": {"name": "slow", "arguments": {"ms": 1500}}}
        head = [("Content-Type", "application/json"), ("Accept", BOTH), ("MCP-Session-Id", session)]
        sock = connect(server)
        begun = time.monotonic()
        sock.sendall(http_bytes(server, "POST", head, json.dumps(message).encode()))
        wait_for(lambda: waits_under_way(server) == 1, "the call to run")
        sock.close()
        wait_for(lambda: waits_under_way(server) == 0, "the call to end by itself")
        assert time.monotonic() - begun >= 1.5, "it was cut short"
        expect_metric(server, 'ptc_mcp_http_errors_total{kind="cancelled"}', 0)


@test
def legacy_cancel_by_message(_):
    with Server(FIXTURE) as server:
        session = initialize(server).headers["Mcp-Session-Id"]
        done = []
        thread = threading.Thread(target=lambda: done.append(legacy(
            server, "tools/call", {"name": "slow", "arguments": {"ms": 600000}}, session, 9)))
        thread.start()
        wait_for(lambda: waits_under_way(server) == 1, "the call to run")
        answer = legacy(server, "notifications/cancelled", {"requestId": 9}, session, None)
        expect(answer.status, 202)
        thread.join(WAIT)
        expect((done[0].status, done[0].body), (202, b""))


# ---------------------------------------------------------------- hostile clients

@test
def large_bodies(_):
    with Server(FIXTURE, "--frame", "1000000") as server:
        fits = call(server, "test_simple_text", {"pad": "x" * 990000})
        expect(fits.status, 200)
        big = call(server, "test_simple_text", {"pad": "x" * 10_000_000})
        expect(big.status, 413)
        assert big.json()["error"]["message"], big.body
        # The same without a length in front.
        sock = connect(server)
        head = modern_headers("tools/call", "test_simple_text") + [("Transfer-Encoding", "chunked")]
        text = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + "".join(f"{n}: {v}\r\n" for n, v in head)
        sock.sendall(text.encode() + b"\r\n")
        for _ in range(30):
            sock.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        sock.sendall(b"0\r\n\r\n")
        expect_in(b" 413 ", read_until(sock, b"\r\n\r\n"))
        sock.close()
        expect_metric(server, 'ptc_mcp_http_errors_total{kind="too_large"}', 2)
        assert metric(server, "ptc_mcp_memory_bytes") < 20_000_000


@test
def refused_before_it_is_sent(_):
    with token_file() as file, Server(FIXTURE, "--token-file", file.name) as server:
        sock = connect(server)
        sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                     b"Content-Length: 900000000\r\n\r\n")
        expect_in(b" 401 ", read_until(sock, b"\r\n\r\n"))
        sock.close()


@test
def broken_bodies(server):
    head = modern_headers("tools/call", "test_simple_text")
    good = json.dumps(modern_body("tools/call", {"name": "test_simple_text"})).encode()
    cases = [b"", b"{", b"null", b"[]", b"[" + good + b"]", b"[" * 100000, good[:-1],
             good.replace(b"test", b"t\xff\xfe"), b"\xef\xbb\xbf" + good, b"\x00" * 1000,
             b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', b'"text"', b"1e999",
             b'{"jsonrpc":"2.0","id":1,"method":7}', b'{"jsonrpc":"2.0","id":{},"method":"x"}']
    for body in cases:
        answer = raw_request(server, "POST", "/mcp", head, body)
        assert 400 <= answer.status < 500 and code(answer) in (-32700, -32600, -32602, -32020), \
            (body[:60], answer.status, answer.body[:200])
    expect(call(server, "test_simple_text").status, 200)


@test
def broken_http(server):
    for junk in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"POST /mcp HTTP/9.9\r\n\r\n",
                 b"A" * 100000, b"POST /mcp HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                 b"POST /mcp HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n"):
        sock = connect(server)
        sock.settimeout(WAIT)
        try:
            sock.sendall(junk)
            sock.shutdown(1)
            while sock.recv(65536):
                pass
        except OSError:
            pass
        sock.close()
    expect(call(server, "test_simple_text").status, 200)


def raw_head(server, first=b"POST /mcp HTTP/1.1", host=b"localhost", more=b"", length=True, body=None, name=b"Mcp-Name"):
    """A call as bytes, with something about it that can be changed."""
    if body is None:
        body = json.dumps(modern_body("tools/call", {"name": "test_simple_text", "arguments": {}})).encode()
    head = [first, b"Host: " + host, b"Content-Type: application/json", b"Accept: application/json, text/event-stream",
            b"MCP-Protocol-Version: " + MODERN.encode(), b"Mcp-Method: tools/call", name + b": test_simple_text"]
    if length:
        head.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(head) + b"\r\n" + more + b"\r\n" + body


def answer_and_end(server, data, pieces=1):
    """The status of the answer, and whether the connection was closed after it."""
    sock = connect(server)
    step = max(len(data) // pieces, 1)
    for i in range(0, len(data), step):
        sock.sendall(data[i:i + step])
        if pieces > 1:
            time.sleep(0.002)
    got = read_until(sock, b"\r\n\r\n")
    closed = b"connection: close" in got.lower()
    if closed:
        while sock.recv(65536):
            pass
    sock.close()
    return int(got.split(b" ", 2)[1]), closed


CHUNKED = b"Transfer-Encoding: chunked\r\n"


@test
def heads_that_can_be_read_in_two_ways(server):
    """Refused, and the connection closed: what is left on it may be anything."""
    chunk = b"2\r\n{}\r\n0\r\n\r\n"
    bad = {
        "both lengths": raw_head(server, more=CHUNKED, body=chunk),
        "both lengths, the other way round": raw_head(server, more=CHUNKED + b"Content-Length: 3\r\n", length=False, body=chunk),
        "another coding": raw_head(server, more=b"Transfer-Encoding: gzip, chunked\r\n", length=False, body=chunk),
        "a coding twice": raw_head(server, more=CHUNKED + CHUNKED, length=False, body=chunk),
        "two lengths": raw_head(server, more=b"Content-Length: 2\r\n"),
        "NUL in Host": raw_head(server, host=b"localhost\0.evil.example"),
        "NUL behind Host": raw_head(server, host=b"localhost\0\0\0\0"),
        "NUL in the last field": raw_head(server, more=b"X: a\0\0\0\0b\r\n"),
        "NUL in a token": raw_head(server, more=b"Authorization: Bearer abc\0def\r\n"),
        "NUL in a name": raw_head(server, more=b"A\0B: 1\r\n"),
        "NUL in the address": raw_head(server, first=b"POST /mcp\0x HTTP/1.1"),
        "a blank before the colon": raw_head(server, more=b"Content-Length : 5\r\n"),
        "a tab before the colon": raw_head(server, more=b"X\t: 5\r\n"),
        "a blank in a name": raw_head(server, more=b"A B: 5\r\n"),
        "no name": raw_head(server, more=b": 5\r\n"),
        "bare CR": raw_head(server, more=b"X: a\rContent-Length: 5\r\n"),
        "bare CR at the end": raw_head(server, more=b"X: a\r\r\n"),
        "bare CR in the first line": raw_head(server, first=b"POST /mcp\r HTTP/1.1"),
        "bare LF": raw_head(server, more=b"X: a\nY: b\r\n"),
        "bare LF and NUL": raw_head(server, more=b"X: a\nY: b\0c\r\n"),
        "a folded line": raw_head(server, more=b"X: a\r\n b\r\n"),
        "a line that begins with a blank": raw_head(server, first=b"POST /mcp HTTP/1.1\r\n X: y"),
        "two blanks": raw_head(server, first=b"POST  /mcp HTTP/1.1"),
    }
    for what, data in bad.items():
        expect(answer_and_end(server, data), (400, True), what)
    body = json.dumps(modern_body("tools/call", {"name": "test_simple_text", "arguments": {}})).encode()
    good = {
        "as it should be": raw_head(server),
        "chunks": raw_head(server, more=CHUNKED, length=False, body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)),
        "blanks around a value": raw_head(server, more=b"X: \t a \t \r\n"),
        "an empty value": raw_head(server, more=b"X:\r\nY: \r\n"),
        "a long head": raw_head(server, more=b"".join(b"X-%d: %s\r\n" % (i, b"y" * 200) for i in range(100))),
        "a query": raw_head(server, first=b"POST /mcp?a=b&c=%20d HTTP/1.1"),
        "an escaped address": raw_head(server, first=b"POST /%6dcp HTTP/1.1"),
    }
    for what, data in good.items():
        for pieces in (1, 40):
            expect(answer_and_end(server, data, pieces), (200, False), what)
    sock = connect(server)  # one after the other, of different lengths, two of them in one go
    for i in range(50):
        more = b"X: " + b"y" * (i * 97 % 5000) + b"\r\n"
        sock.sendall(raw_head(server, more=more) + raw_head(server))
        got = b""
        while got.count(b'"resultType"') < 2:
            got += read_until(sock, b'"resultType"')
        expect(got.count(b" 200 OK"), 2)
    sock.sendall(raw_head(server) + raw_head(server, more=b"X: a\0\r\n"))
    assert b" 400 " in read_until(sock, b"no control characters")
    sock.close()


@test
def slow_clients(_):
    with Server(FIXTURE, "--request-ms", "1500") as server:
        silent, dripping, half = connect(server), connect(server), connect(server)
        half.sendall(http_bytes(server, "POST", modern_headers("tools/list"), b"{}")[:-1])
        end = time.monotonic() + WAIT
        closed = False
        dripping.setblocking(True)
        while not closed and time.monotonic() < end:
            try:
                dripping.sendall(b"P")
                time.sleep(0.2)
            except OSError:
                closed = True
        assert closed, "a client that drips was not cut off"
        for sock in (silent, half):
            sock.settimeout(WAIT)
            expect(sock.recv(1000), b"")
            sock.close()
        dripping.close()
        wait_for(lambda: metric(server, 'ptc_mcp_http_errors_total{kind="slow_connection"}') >= 3, "their count")


@test
def a_client_that_stops_reading(_):
    with Server(FIXTURE, "--send-ms", "1500") as server:
        sock = connect(server)
        sock.sendall(modern_bytes(server, "tools/call",
                                  {"name": "large", "arguments": {"bytes": 20_000_000}}))
        wait_for(lambda: metric(server, 'ptc_mcp_http_errors_total{kind="slow_connection"}') >= 1,
                 "the client to be given up")
        sock.close()
        wait_for(lambda: metric(server, "ptc_mcp_memory_bytes") < 10_000_000, "its memory")


def answers(server):
    try:
        return call(server, "test_simple_text").status == 200
    except OSError:
        return False


@test
def many_connections(_):
    """Who only holds connections open makes room for who uses his, the oldest first."""
    with Server(FIXTURE, "--max-connections", "20") as server:
        kept = connect(server)
        kept.sendall(modern_bytes(server, "tools/call", {"name": "test_simple_text", "arguments": {}}))
        read_until(kept, b'"resultType"')
        strangers = [connect(server) for _ in range(19)]
        expect(call(server, "test_simple_text").status, 200)
        expect(strangers.pop(0).recv(100), b"", "the oldest is gone")
        for _ in range(60):  # each only when the one that made room for the last is gone: so many at once may be refused
            strangers.append(connect(server))
            if len(strangers) == 20:
                expect(strangers.pop(0).recv(100), b"", "the oldest is gone, again and again")
        for _ in range(30):
            expect(call(server, "test_simple_text").status, 200)
        kept.sendall(modern_bytes(server, "tools/call", {"name": "test_simple_text", "arguments": {}}))
        assert b" 200 OK" in read_until(kept, b'"resultType"'), "one that has shown itself stays"
        assert metric(server, "ptc_mcp_http_connections") <= 60
        for sock in [kept, *strangers]:
            sock.close()


@test
def strangers_and_tokens(_):
    """Connections without a token keep out nobody who has one, however many there are and whatever they send."""
    with token_file() as file, Server(FIXTURE, "--token-file", file.name, "--max-connections", "16",
                                      address="[::ffff:127.0.0.1]:0") as server:
        socks = []
        for i in range(100):
            try:
                sock = connect(server)
                sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"[:i])
                socks.append(sock)
            except OSError:
                pass
            if i % 10 == 0:
                expect(call(server, "test_simple_text", headers=ANN).status, 200)
        for sock in socks:
            sock.close()


@test
def bodies_on_their_way(_):
    """Requests that never end have a bound together, whoever sends them."""
    with Server(FIXTURE, "--frame", "1000000", "--bodies", "3000000") as server:
        head = http_bytes(server, "POST", modern_headers("tools/call", "test_simple_text"), b"x" * 900_000)
        socks, refused = [], 0
        for _ in range(5):
            sock = connect(server)
            sock.sendall(head[:-1])
            socks.append(sock)
        # More is on its way than may be, and none is complete: once the server has read all of it, one is refused.
        seen = []
        wait_for(lambda: seen.append(metric(server, "ptc_mcp_http_body_bytes")) or
                 (len(seen) > 20 and seen[-1] >= 1_500_000 and len(set(seen[-20:])) == 1), "bodies to be on their way")
        for sock in socks:
            with contextlib.suppress(OSError):
                sock.sendall(b"x")
            got = read_until(sock, b"\r\n\r\n")
            refused += b" 503 " in got
            assert b" 503 " in got or b" 400 " in got, got
        assert 1 <= refused <= 4, refused
        for sock in socks:
            sock.close()
        wait_for(lambda: metric(server, "ptc_mcp_http_body_bytes") == 0, "their bytes to be counted off")
        expect(call(server, "test_simple_text").status, 200)


@test
def pages_of_other_origins(_):
    """--allow-origin: browsers are told that the page may call, also for streams; others are told nothing."""
    app = "https://app.example.com"
    with token_file() as file, Server(FIXTURE, "--token-file", file.name, "--allow-origin", app) as server:
        ask = [("Origin", app), ("Access-Control-Request-Method", "POST"),
               ("Access-Control-Request-Headers", "authorization,content-type,mcp-protocol-version")]
        answer = raw_request(server, "OPTIONS", "/mcp", ask)
        expect((answer.status, answer.body), (204, b""))
        expect(answer.headers["Access-Control-Allow-Origin"], app)
        assert "POST" in answer.headers["Access-Control-Allow-Methods"], answer.headers
        for name in ("authorization", "content-type", "mcp-protocol-version", "mcp-session-id", "mcp-method"):
            assert name in answer.headers["Access-Control-Allow-Headers"].lower(), name
        plain = call(server, "test_simple_text", headers={**ANN, "Origin": app})
        expect((plain.status, plain.headers["Access-Control-Allow-Origin"], plain.headers["Vary"]), (200, app, "Origin"))
        assert "Mcp-Session-Id" in plain.headers["Access-Control-Expose-Headers"]
        refused = call(server, "test_simple_text", headers={"Origin": app})
        expect((refused.status, refused.headers["Access-Control-Allow-Origin"]), (401, app), "the page sees why")
        stream = call(server, "test_tool_with_progress", headers={**ANN, "Origin": app}, progressToken=1)
        expect((stream.headers["Content-Type"], stream.headers["Access-Control-Allow-Origin"]), ("text/event-stream", app))
        for origin in ("https://evil.example", "http://localhost:1"):
            answer = raw_request(server, "OPTIONS", "/mcp", [("Origin", origin), *ask[1:]])
            assert answer.status in (401, 403) and "Access-Control-Allow-Origin" not in answer.headers, answer.status
        answer = call(server, "test_simple_text", headers=ANN)
        assert answer.status == 200 and "Access-Control-Allow-Origin" not in answer.headers


@test
def shares_of_owners(_):
    with token_file() as file, Server(FIXTURE, "--token-file", file.name, "--max-sessions", "4", "--owner-share",
                                      "50") as server:
        for _ in range(2):
            expect(initialize(server, ANN).status, 200)
        expect(initialize(server, ANN).status, 503, "half of them is what one owner may have")
        for _ in range(2):
            expect(initialize(server, BOB).status, 200)


@test
def busy(_):
    with Server(FIXTURE, "--running", "1", "--waiting", "1") as server:
        socks = []
        for _ in range(2):
            sock = connect(server)
            sock.sendall(modern_bytes(server, "tools/call",
                                      {"name": "slow", "arguments": {"ms": 600000}}))
            socks.append(sock)
        wait_for(lambda: metric(server, "ptc_mcp_calls_waiting") == 1, "one to wait")
        answer = call(server, "test_simple_text")
        expect((answer.status, code(answer)), (200, -32000))
        expect_metric(server, 'ptc_mcp_http_errors_total{kind="busy"}', 1)
        for sock in socks:
            sock.close()
        wait_for(lambda: code(call(server, "test_simple_text")) is None, "the queue to empty")


# -------------------------------------------------------------------- the server

@test
def counts(_):
    with Server(FIXTURE) as server:
        call(server, "test_simple_text")
        modern(server, "no/such")
        expect_metric(server, 'ptc_mcp_http_requests_total{status="4xx"}', 1)
        assert metric(server, 'ptc_mcp_http_requests_total{status="2xx"}') >= 1
        expect_metric(server, 'ptc_mcp_http_errors_total{kind="bad_request"}', 1)
        assert metric(server, "ptc_mcp_http_request_duration_seconds_count") >= 4
        expect_metric(server, "ptc_mcp_http_requests_in_flight", 1)


@test
def graceful_end(_):
    with Server(FIXTURE) as server:
        done = []
        listener = connect(server)
        listener.sendall(modern_bytes(server, "subscriptions/listen",
                                      {"notifications": {"toolsListChanged": True}}))
        read_until(listener, b"\n\n")
        thread = threading.Thread(
            target=lambda: done.append(call(server, "slow", {"ms": 2500})))
        thread.start()
        wait_for(lambda: waits_under_way(server) == 1, "the call to run")
        expect(server.stop(), 0)
        thread.join(WAIT)
        assert done and done[0].status == 200, "the call under way was not let finish"
        while listener.recv(4096):
            pass
        log = server.log_text()
        assert "stopping" in log and "stopped" in log and "tools/call 200" in log, log


@test
def probes_while_it_stops(_):
    for number in (signal.SIGTERM, signal.SIGINT):
        with Server(FIXTURE, "--isolation", "none") as server:
            expect(raw_request(server, "GET", "/ready", []).body, b"ready\nisolation none\n")
            expect(metric(server, 'ptc_mcp_isolation{mode="none"}'), 1)
            done = []
            thread = threading.Thread(target=lambda: done.append(call(server, "slow", {"ms": 2000})))
            thread.start()
            wait_for(lambda: waits_under_way(server) == 1, "the call to run")
            server.process.send_signal(number)
            wait_for(lambda: raw_request(server, "GET", "/ready", []).status == 503, "it to say that it stops")
            expect(raw_request(server, "GET", "/healthz", []).status, 200)
            refused = call(server, "test_simple_text")
            expect((refused.status, refused.headers["Retry-After"], refused.headers["Connection"]), (503, "5", "close"))
            thread.join(20)
            expect(done[0].status, 200, "the call under way")
            expect(server.process.wait(20), 0)


@test
def bounded_end(_):
    with Server(FIXTURE, "--drain-ms", "500") as server:
        sock = connect(server)
        sock.sendall(modern_bytes(server, "tools/call",
                                  {"name": "slow", "arguments": {"ms": 600000}}))
        wait_for(lambda: waits_under_way(server) == 1, "the call to run")
        expect(server.stop(), 0)
        sock.close()


# ------------------------------------------------------------------------------------------------ leaving

def end_of(sock):
    """Reads until the server closes: not a reset."""
    while sock.recv(4096):
        pass
    sock.close()


@test
def serves_while_it_leaves(_):
    with Server(FIXTURE, "--leave-ms", "600000") as server:
        kept = connect(server)
        kept.sendall(modern_bytes(server, "ping"))
        assert b"close" not in read_until(kept, b"}").lower()
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: raw_request(server, "GET", "/ready", []).status == 503, "it to say that it leaves")
        expect(raw_request(server, "GET", "/healthz", []).status, 200)
        taken = call(server, "test_simple_text")
        expect((taken.status, taken.headers["Connection"]), (200, "close"))
        kept.sendall(modern_bytes(server, "ping") * 2)  # the second one comes too late for its connection
        assert b"connection: close" in read_until(kept, b"}").lower()
        end_of(kept)
        server.process.send_signal(signal.SIGTERM)  # which is a second one
        expect(server.process.wait(WAIT), 0)
        assert "leaving" in server.log_text() and "stopped" in server.log_text()


@test
def leaves_nothing_unanswered(_):
    """Who connects, or has, until the end is told, and reset by nothing."""
    with Server(FIXTURE, "--leave-ms", "1000") as server:
        thread = threading.Thread(target=lambda: call(server, "slow", {"ms": 3000}))
        thread.start()
        wait_for(lambda: waits_under_way(server) == 1, "the call to run")
        socks = [connect(server) for _ in range(20)]
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: call(server, "test_simple_text").status == 503, "it to refuse")
        for sock in socks[:10]:
            sock.sendall(modern_bytes(server, "ping"))
        for sock in socks[:10]:
            head = read_until(sock, b"}")
            assert head.startswith(b"HTTP/1.1 503") and b"connection: close" in head.lower(), head
        for sock in socks:
            end_of(sock)
        thread.join(WAIT)
        expect(server.process.wait(WAIT), 0)


@test
def interrupted(_):
    with Server(FIXTURE, "--leave-ms", "600000") as server:
        server.process.send_signal(signal.SIGINT)
        expect(server.process.wait(WAIT), 0)


def trickle(sock, over):
    try:
        while not over.wait(0.05):
            sock.sendall(b"x")
    except OSError:
        pass


@test
def nobody_holds_it(_):
    """Not who stays, never reads, or sends byte by byte: a head, a body."""
    with Server(FIXTURE, "--leave-ms", "200", "--drain-ms", "500") as server:
        over = threading.Event()
        socks = [connect(server) for _ in range(4)]
        socks[1].sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        socks[2].sendall(http_bytes(server, "POST", [("Content-Type", "application/json")], b"{" * 100000)[:500])
        socks[3].sendall(modern_bytes(server, "ping") * 200)
        threads = [threading.Thread(target=trickle, args=(s, over)) for s in socks[1:3]]
        for thread in threads:
            thread.start()
        begun = time.monotonic()
        expect(server.stop(), 0)
        took = time.monotonic() - begun
        over.set()
        for thread in threads:
            thread.join(WAIT)
        for sock in socks:
            sock.close()
        assert took < 20, took


def main():
    tests = [t for t in TESTS if len(sys.argv) == 2 or t.__name__ in sys.argv[2:]]
    with Server(FIXTURE) as server:
        failed = run_tests("mcp_http", tests, server)
        expect(server.stop(), 0, "the common server's end")
    print(f"mcp_http: {len(tests) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
