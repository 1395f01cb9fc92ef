#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_http.py PTC [ISOLATION]: that the options of `ptc mcp` for HTTP reach the transport.  What the
transport then does is tested with the fixture (test_http.py)."""
import socket

from app_help import ISOLATION, PTC, WAIT, clean_env, expect, main, run_ptc, test
from http_help import (BOTH, Server, call, connect, initialize, metric, modern_bytes, raw_request, wait_for)


def serve(*args):
    return Server([PTC, "mcp", "--isolation", ISOLATION, *args], env=clean_env())


def program(server, text):
    return modern_bytes(server, "tools/call", {"name": "lisp_eval", "arguments": {"program": text}})


def answers(server):
    try:
        return call(server, "lisp_eval", {"program": "1"}).status == 200
    except OSError:
        return False


@test
def stateless():
    with serve() as server:
        assert "Mcp-Session-Id" in initialize(server).headers
    with serve("--stateless") as server:
        answer = initialize(server)
        expect(answer.status, 200)
        assert "Mcp-Session-Id" not in answer.headers
        expect(raw_request(server, "GET", "/mcp", [("Accept", BOTH)]).status, 405)


@test
def max_connections():
    with serve("--max-connections", "4") as server:
        idle = [connect(server) for _ in range(4)]
        late = connect(server)
        late.settimeout(WAIT)
        try:
            expect(late.recv(100), b"", "a fifth connection")
        except ConnectionResetError:
            pass
        for sock in idle:
            sock.close()
        wait_for(lambda: answers(server), "room for a new client")


@test
def request_ms():
    with serve("--request-ms", "1000") as server:
        silent = connect(server)
        silent.settimeout(WAIT)  # without the option it would be a minute
        expect(silent.recv(100), b"")
        silent.close()


@test
def send_ms():
    with serve("--send-ms", "1000", "--profile", "debug") as server:
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(WAIT)
        sock.connect(("127.0.0.1", server.port))
        sock.sendall(program(server, "(vec (range 12000))") * 100)  # more than the kernel keeps for us
        wait_for(lambda: metric(server, 'ptc_mcp_http_errors_total{kind="slow_connection"}') >= 1,
                 "the client to be given up")
        sock.close()
        expect(call(server, "lisp_eval", {"program": "1"}).status, 200)


@test
def drain_ms():
    with serve("--drain-ms", "2000", "--program-timeout-ms", "100000") as server:
        sock = connect(server)
        sock.sendall(program(server, "(mapv (fn [_] (reduce + (range 1000000000))) (range 1000))"))
        wait_for(lambda: metric(server, "ptc_mcp_calls_running") == 1, "the program to run")
        expect(server.stop(), 0)
        assert "have 2 s to end" in server.log_text(), server.log_text()
        sock.close()


@test
def only_with_http():
    for option in (["--stateless"], ["--max-connections", "5"], ["--request-ms", "5"], ["--send-ms", "5"],
                   ["--drain-ms", "5"]):
        status, out, err = run_ptc(*option)
        expect((status, out), (2, ""))
        assert option[0] in err and "--http" in err, err
        if len(option) == 2:
            status, _, err = run_ptc("--http", "127.0.0.1:0", option[0], "0")
            assert status == 2 and "from 1 to" in err, err


if __name__ == "__main__":
    main("mcp_app_http")
