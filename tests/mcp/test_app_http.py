#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_http.py PTC [ISOLATION]: that the options of `ptc mcp` for HTTP reach the transport.  What the
transport then does is tested with the fixture (test_http.py)."""
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from app_help import ISOLATION, PTC, WAIT, clean_env, expect, main, run_ptc, test
from http_help import (BOTH, Server, call, connect, expect_metric, http_bytes, initialize, legacy, metric, modern,
                       modern_body, modern_bytes, modern_headers, raw_request, read_until, wait_for)


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
        used = [connect(server) for _ in range(4)]
        for sock in used:
            sock.sendall(program(server, "1"))
            read_until(sock, b'"resultType"')
        late = connect(server)
        late.settimeout(WAIT)
        try:
            expect(late.recv(100), b"", "a fifth connection beside four that are in use")
        except ConnectionResetError:
            pass
        for sock in used:
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


# ------------------------------------------------------------------------------------- owners and tokens

ANN, BOB, CAY = ({"Authorization": f"Bearer {c * 32}"} for c in "abc")


def write_tokens(path, *owners):
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(f"{name} {name[0] * 32}\n" for name in owners))
    os.chmod(path, 0o600)
    return path


def run(server, text, headers):
    return call(server, "lisp_eval", {"program": text}, headers)


@test
def tokens_are_read_again():
    with tempfile.TemporaryDirectory() as d:
        path = write_tokens(os.path.join(d, "tokens"), "ann", "bob")
        traces = os.path.join(d, "traces")
        with serve("--token-file", path, "--sessions", "--trace-dir", traces, "--trace-payloads", "full") as server:
            def reload(word):
                count = server.log_text().count(word)
                server.process.send_signal(signal.SIGHUP)
                wait_for(lambda: server.log_text().count(word) > count, word)
            session = initialize(server, BOB).headers["Mcp-Session-Id"]
            expect([run(server, "1", who).status for who in (ANN, BOB, CAY)], [200, 200, 401])
            write_tokens(path, "ann", "cay")
            reload("2 of 2 owners")
            expect([run(server, "1", who).status for who in (ANN, BOB, CAY)], [200, 401, 200])
            expect(legacy(server, "ping", session=session, headers=BOB).status, 401)
            run(server, f'(str "{"c" * 32}")', CAY)
            os.chmod(path, 0o644)
            reload("stay as they were: others may read")
            with open(path, "w", encoding="utf-8") as f:
                f.write("short\n")
            os.chmod(path, 0o600)
            reload("stay as they were: tokens, line 1")
            os.unlink(path)
            reload("stay as they were: " + path)
            os.mkfifo(path, 0o600)  # nobody will ever write into it
            reload("is a pipe or a device")
            os.unlink(path)
            os.mkdir(path, 0o700)
            reload("stay as they were: " + path)
            expect([run(server, "1", who).status for who in (ANN, BOB, CAY)], [200, 401, 200])
            server.stop()
            assert "c" * 32 not in server.log_text()
        written = ""
        for name in os.listdir(traces):
            with open(os.path.join(traces, name), encoding="utf-8") as f:
                written += f.read()
        assert "[secret]" in written and "c" * 32 not in written, "a token that came later is a secret too"
    with serve() as server:
        server.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: "there is no token file" in server.log_text(), "a word about it")
        expect(run(server, "1", {}).status, 200)


SPIN = "(reduce + (map (fn [n] (count (sort (range n)))) (range 100000)))"


@test
def shares():
    """Whoever sends many calls, or starts many sessions, leaves room for others."""
    with tempfile.TemporaryDirectory() as d:
        path = write_tokens(os.path.join(d, "tokens"), "ann", "bob")
        with serve("--token-file", path, "--sessions", "--max-sessions", "4", "--max-concurrent-calls", "2",
                   "--program-timeout-ms", "60000", "--queue-ms", "60000") as server:
            greedy = []
            for _ in range(6):
                sock = connect(server)
                sock.sendall(http_bytes(server, "POST", modern_headers("tools/call", "lisp_eval", ANN), json.dumps(
                    modern_body("tools/call", {"name": "lisp_eval", "arguments": {"program": SPIN}})).encode()))
                greedy.append(sock)
            wait_for(lambda: metric(server, "ptc_mcp_calls_waiting", BOB) == 5, "five of them to wait")
            expect(metric(server, "ptc_mcp_calls_running", BOB), 1, "half of the places")
            expect(run(server, "(+ 1 2)", BOB).json()["result"]["content"][0]["text"], "3")
            for sock in greedy:
                sock.close()
            def start(who):
                return call(server, "lisp_session_start", {}, who).json()["result"].get("isError", False)
            wait_for(lambda: metric(server, "ptc_mcp_calls_running", BOB) == 0, "the calls to end")
            expect([start(who) for who in (ANN, ANN, ANN, BOB, BOB, BOB)], [False, False, True] * 2)
        one = write_tokens(os.path.join(d, "one"), "ann")
        with serve("--token-file", one, "--sessions", "--max-sessions", "2") as server:
            for _ in range(2):
                assert not call(server, "lisp_session_start", {}, ANN).json()["result"].get("isError", False)


@test
def streams_are_shared_out():
    """Whoever opens as many streams as there may be connections leaves room for others."""
    with tempfile.TemporaryDirectory() as d:
        path = write_tokens(os.path.join(d, "tokens"), "ann", "bob")
        with serve("--token-file", path, "--max-connections", "16") as server:
            body = json.dumps(modern_body("subscriptions/listen", {"notifications": {"toolsListChanged": True}})).encode()
            asked = http_bytes(server, "POST", modern_headers("subscriptions/listen", None, ANN), body)
            open_, refused = [], 0
            for _ in range(16):
                sock = connect(server)
                sock.settimeout(WAIT)
                sock.sendall(asked)
                head = read_until(sock, b"\r\n\r\n")
                refused += b" 503 " in head
                open_.append(sock)
            expect(refused, 8, "half of the connections are ann's")
            expect(run(server, "(+ 1 2)", BOB).status, 200, "bob")
            answer = run(server, "(+ 1 2)", ANN)
            assert answer.status == 503 and b"as many connections" in answer.body, answer.body
            open_.pop(0).close()
            wait_for(lambda: run(server, "(+ 1 2)", ANN).status == 200, "room for ann")
            for sock in open_:
                sock.close()


@test
def debug_ids_are_the_owners():
    """The ids of calls do not tell how much others call."""
    with tempfile.TemporaryDirectory() as d:
        path = write_tokens(os.path.join(d, "tokens"), "ann", "bob")
        with serve("--token-file", path, "--debug-tool", "--trace-dir", os.path.join(d, "traces")) as server:
            for who in (ANN, ANN, ANN, BOB, ANN):
                run(server, "1", who)
            def ids(who):
                answer = call(server, "lisp_debug", {"op": "recent"}, who).json()["result"]["structuredContent"]
                return [r["request_id"] for r in answer["records"] if r["tool"] == "lisp_eval"]
            expect([ids(ANN), ids(BOB)], [["c4", "c3", "c2", "c1"], ["c1"]])
            one = call(server, "lisp_debug", {"op": "get", "request_id": "c1"}, BOB).json()["result"]["structuredContent"]
            expect(one["record"]["request_id"], "c1")
            assert len(os.listdir(os.path.join(d, "traces"))) >= 5, "each call has a file of its own"


@test
def paths():
    """A path is compared whole, after its escapes are read."""
    with serve() as server:
        for path, status in (("/mcp", 400), ("/m%63p", 400), ("/mcp?x=%00", 400), ("/mcp%00x", 404), ("/mcp%00", 404), ("%2fmcp", 404),
                             ("/mcp%2f", 404), ("/mcp%zz", 404), ("/mcp%", 404), ("/mcp%0", 404), ("/mcp%2500", 404), ("//mcp", 404), ("/MCP", 404),
                             ("/health", 200), ("/health%00x", 404), ("/metrics%00", 404), ("/x/../mcp", 404)):
            expect(raw_request(server, "GET", path, []).status, status, path)  # 400: without a session


# ---------------------------------------------------------------------------------------- descriptors

def limited(soft, hard, *args):
    """A server that may have so many files open."""
    shell = f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"'
    return Server(["sh", "-c", shell, "sh", PTC, "mcp", "--isolation", "none", *args], env=clean_env())


def computed_s(server):
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@test
def too_few_descriptors():
    done = subprocess.run(["sh", "-c", 'ulimit -n 100 && exec "$@"', "sh", PTC, "mcp", "--http", "127.0.0.1:0", "--isolation", "none"],
                          capture_output=True, text=True, timeout=WAIT, stdin=subprocess.DEVNULL, env=clean_env(), check=False)
    assert done.returncode == 1 and "--max-connections" in done.stderr and "limit here is 100" in done.stderr, done
    with limited(100, 1000) as server:  # what may be raised is raised
        with open(f"/proc/{server.process.pid}/limits", encoding="ascii") as f:
            expect(next(line.split()[3:5] for line in f if line.startswith("Max open files")), ["1000", "1000"])
    tool = json.dumps({"t": {"command": ["sh", "-c", "ulimit -Sn"]}})
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "t.json"), "w", encoding="utf-8") as f:
            f.write(tool)
        with limited(100, 1000, "--tools", "@" + f.name) as server:  # and programs get what there was
            expect(call(server, "lisp_eval", {"program": "(tool/t)"}).json()["result"]["content"][0]["text"], "100")


@test
def out_of_descriptors():
    """Connections that there is no descriptor for wait; the server neither spins nor is silent, and goes on later."""
    with limited(200, 200, "--max-connections", "40") as server:
        others = []
        for _ in range(38):  # known to the server, so that they do not make room
            sock = connect(server)
            sock.sendall(program(server, "1"))
            read_until(sock, b'"resultType"')
            others.append(sock)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (45, 45))
        late = [connect(server) for _ in range(20)]
        wait_for(lambda: "no connection can be accepted now" in server.log_text(), "a line in the log")
        before = computed_s(server)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            time.sleep(0.1)
        assert computed_s(server) - before < 0.5, "it spins"
        assert server.log_text().count("no connection can be accepted now") <= 3, server.log_text()
        for sock in others + late:
            sock.close()
        wait_for(lambda: answers(server), "room for a new client")


# --------------------------------------------------------------------------------------- what is told

@test
def json_log():
    with tempfile.TemporaryDirectory() as d:
        path = write_tokens(os.path.join(d, "tokens"), "ann", "bob")
        data = os.path.join(d, "a.csv")
        with open(data, "w", encoding="utf-8") as f:
            f.write("x\n1\n")
        with serve("--token-file", path, "--log-format", "json", "--data", f"a=@{data}") as server:
            run(server, "(+ 1 2)", ANN)
            run(server, "(/ 1 0)", BOB)
            run(server, "1", CAY)
            server.stop()
            lines = [json.loads(line) for line in server.log_text().splitlines()]
        said = [line["message"] for line in lines if "message" in line]
        assert any("data/a: 1 item," in m for m in said) and any("listening on port" in m for m in said), said
        calls = [line for line in lines if "status" in line]
        good = next(line for line in calls if line.get("owner") == "ann")
        expect({k: good[k] for k in ("address", "verb", "path", "method", "tool", "outcome", "status")},
               {"address": "127.0.0.1", "verb": "POST", "path": "/mcp", "method": "tools/call", "tool": "lisp_eval",
                "outcome": "ok", "status": 200})
        assert good["duration_ms"] > 0 and good["bytes_in"] > 100 and good["bytes_out"] > 100 and "T" in good["ts"]
        bad = next(line for line in calls if line.get("owner") == "bob")
        expect((bad["outcome"], bad["reason"], bad["status"]), ("error", "runtime_error", 200))
        expect([line["status"] for line in calls if "owner" not in line], [401])


@test
def counts_by_tool_and_reason():
    with serve("--sessions") as server:
        for text in ("1", "2", "(/ 1 0)", "(", "(fail 1)"):
            run(server, text, {})
        call(server, "lisp_session_list")
        call(server, "lisp_session_inspect", {"session_id": "s-x"})
        for line, want in [('tool_calls_total{tool="lisp_eval",outcome="ok"}', 2),
                           ('tool_calls_total{tool="lisp_eval",outcome="error"}', 3),
                           ('tool_errors_total{tool="lisp_eval",reason="runtime_error"}', 1),
                           ('tool_errors_total{tool="lisp_eval",reason="parse_error"}', 1),
                           ('tool_errors_total{tool="lisp_eval",reason="fail"}', 1),
                           ('tool_calls_total{tool="lisp_session_list",outcome="ok"}', 1),
                           ('tool_errors_total{tool="lisp_session_inspect",reason="unknown_session"}', 1),
                           ('tool_duration_seconds_count{tool="lisp_eval"}', 5)]:
            expect_metric(server, "ptc_mcp_" + line, want)


@test
def isolation_is_told():
    mode = "none" if ISOLATION == "none" else "workers"
    with serve() as server:
        expect(raw_request(server, "GET", "/ready", []).body.decode(), f"ready\nisolation {mode}\n")
        expect(metric(server, f'ptc_mcp_isolation{{mode="{mode}"}}'), 1)


@test
def isolation_is_the_default():
    """Where workers cannot be, --http does not start, unless it is told to do without."""
    def started(ptc, *args):
        code = ("import os, resource, sys; resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)); "
                "os.execv(sys.argv[1], sys.argv[1:])")
        command = [sys.executable, "-c", code, ptc, "mcp", "--http", "127.0.0.1:0", *args]
        if os.getuid() == 0:  # who may do everything is not bound by the limit
            command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                              env=clean_env())
        return done.returncode, done.stderr
    if os.getuid() == 0 and not shutil.which("setpriv"):
        return
    with tempfile.TemporaryDirectory() as d:  # the tree may lie where nobody else can read
        os.chmod(d, 0o755)
        status, said = started(shutil.copy(PTC, d))
    expect(status, 1, said)
    assert "the default with --http" in said and "--isolation auto" in said, said


@test
def lists_are_private():
    """What lists tell of data, tools or what needs a token may not be kept for others."""
    def scope(server, headers=None):
        result = modern(server, "tools/list", headers=headers).json()["result"]
        expect(modern(server, "server/discover", headers=headers).json()["result"]["cacheScope"], result["cacheScope"])
        return result["cacheScope"]
    with tempfile.TemporaryDirectory() as d:
        data, tools = os.path.join(d, "a.csv"), os.path.join(d, "tools.json")
        with open(data, "w", encoding="utf-8") as f:
            f.write("x\n1\n")
        with open(tools, "w", encoding="utf-8") as f:
            json.dump({"t": {"value": 1}}, f)
        tokens = write_tokens(os.path.join(d, "tokens"), "ann")
        for args, headers, want in [([], None, "public"), (["--data", f"a=@{data}"], None, "private"),
                                    (["--tools", f"@{tools}"], None, "private"),
                                    (["--token-file", tokens], ANN, "private")]:
            with serve(*args) as server:
                expect(scope(server, headers), want, args)


# ------------------------------------------------------------------------------------------- restarts

@test
def a_client_that_does_not_begin_anew():
    """Clients of before 2026 go on with their session after a restart, where there is a store or no session at all."""
    def list_tools(server, session, headers=None):
        return legacy(server, "tools/list", session=session, headers=headers).status
    with tempfile.TemporaryDirectory() as d:
        tokens = write_tokens(os.path.join(d, "tokens"), "ann", "bob")
        store = ["--sessions", "--session-store", f"sqlite:{os.path.join(d, 's.db')}", "--token-file", tokens]
        with serve(*store) as server:
            session = initialize(server, ANN).headers["Mcp-Session-Id"]
            gone = initialize(server, ANN).headers["Mcp-Session-Id"]
            expect(raw_request(server, "DELETE", "/mcp", [("MCP-Session-Id", gone), *ANN.items()]).status, 204)
            made = call(server, "lisp_session_start", {}, ANN).json()["result"]["structuredContent"]["session_id"]
        server = serve(*store)
        try:
            expect(list_tools(server, session, ANN), 200)
            expect(list_tools(server, session, BOB), 404, "it is still ann's")
            expect(list_tools(server, gone, ANN), 404, "one that was ended does not come back")
            expect(list_tools(server, "0" * 32, ANN), 404)
            stream = connect(server)
            stream.sendall(http_bytes(server, "GET", [("MCP-Session-Id", session), ("Accept", BOTH), *ANN.items()]))
            assert b"text/event-stream" in read_until(stream, b"\r\n\r\n")
            stream.close()
            answer = legacy(server, "tools/call", {"name": "lisp_session_eval", "arguments": {
                "session_id": made, "program": "(def x 1)"}}, session, headers=ANN)
            assert not answer.json()["result"].get("isError"), answer.body
            with open(os.path.join(d, "s.db"), "rb") as f:
                assert session.encode() not in f.read(), "the store does not know the id itself"
        finally:
            server.process.kill()
            server.process.wait()
        with serve(*store) as server:
            expect(list_tools(server, session, ANN), 200, "after kill -9")
            expect(raw_request(server, "DELETE", "/mcp", [("MCP-Session-Id", session), *ANN.items()]).status, 204)
        with serve(*store) as server:
            expect(list_tools(server, session, ANN), 404)
    with serve("--stateless") as server:
        expect(list_tools(server, "f" * 32), 200, "without sessions any will do")


@test
def only_with_http():
    for option in (["--stateless"], ["--log-format", "json"], ["--max-connections", "5"], ["--request-ms", "5"], ["--send-ms", "5"],
                   ["--drain-ms", "5"]):
        status, out, err = run_ptc(*option)
        expect((status, out), (2, ""))
        assert option[0] in err and "--http" in err, err
        if len(option) == 2 and option[1].isdigit():
            status, _, err = run_ptc("--http", "127.0.0.1:0", option[0], "0")
            assert status == 2 and "from 1 to" in err, err


if __name__ == "__main__":
    main("mcp_app_http")
