#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_fleet_example.py PTC [ISOLATION]: examples/fleet without containers: its nginx.conf (with other
ports) in front of three nodes that are restarted one after the other under load.  No call fails, and none is done
twice; a node that dies takes its call with it, and nobody else does it again.  The same with a store in PostgreSQL, as
compose.yaml has it: sessions go on, and when the store is gone, whoever watches a node is told."""
import collections
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(1, f"{sys.path[0]}/..")
import engines  # noqa: E402
from app_help import ISOLATION, PTC, WAIT, clean_env, expect, main, test
from http_help import Server, expect_metric, modern_body, modern_headers, raw_request, wait_for
from watch import start

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "fleet"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")
HOST = "mcp.example.com"
FULL = bool(os.environ.get("PTC_TEST_FULL"))
CLIENTS = 6


def free_ports(count):
    socks = [socket.socket() for _ in range(count)]
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in socks]
    for sock in socks:
        sock.close()
    return ports


class Fleet:
    """Nodes, and nginx in front of them."""

    def __init__(self, home, *options):
        self.home, self.options = home, options
        self.ports = free_ports(4)
        self.port = self.ports.pop()
        self.nodes = [self.node(port) for port in self.ports]
        self.nginx = self.front()

    def node(self, port):
        tools = {"note": {"command": ["sh", "-c", f'read -r x; echo "$x" >> {self.home}/notes; echo 1']},
                 "nap": {"command": ["sh", "-c", f"echo {port} >> {self.home}/naps; sleep 30"]}}
        pathlib.Path(self.home, f"{port}.json").write_text(json.dumps(tools), encoding="utf-8")
        return Server([PTC, "mcp", "--isolation", ISOLATION, "--quiet", "--allow-host", HOST, "--leave-ms", "500", *self.options,
                       "--tools", f"@{self.home}/{port}.json"], address=f"127.0.0.1:{port}", env=clean_env())

    def front(self):
        text = (EXAMPLE / "nginx.conf").read_text(encoding="utf-8")
        for old, new in zip((7401, 7402, 7403), self.ports):
            text = re.sub(rf"\b{old}\b|(?<=not_){old}", str(new), text)
        text = text.replace("listen 8080", f"listen 127.0.0.1:{self.port}").replace("/run/nginx.pid", f"{self.home}/nginx.pid")
        paths = "".join(f"    {kind}_temp_path {self.home}/temp;\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        text = text.replace("http {\n", "http {\n" + paths, 1)
        if os.getuid() == 0:
            text = "user root;\n" + text
        path = pathlib.Path(self.home, "nginx.conf")
        path.write_text(text, encoding="utf-8")
        process = start([NGINX, "-p", self.home, "-e", "stderr", "-c", str(path), "-g", "daemon off;"],
                        stdin=subprocess.DEVNULL, stderr=open(f"{self.home}/nginx.log", "wb"))
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            try:
                expect(self.ask("GET", "/ready")[0], 200, "ready")
                return process
            except OSError:
                assert process.poll() is None, pathlib.Path(self.home, "nginx.log").read_text(encoding="utf-8")
                time.sleep(0.05)
        raise AssertionError("nginx did not start")

    def ask(self, verb, path, headers=(), body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            connection.putrequest(verb, path, skip_host=True)
            for name, value in (("Host", HOST), *headers, *((("Content-Length", str(len(body))),) if body else ())):
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def eval(self, program, **meta):
        return self.call("lisp_eval", {"program": program}, **meta)

    def call(self, tool, arguments, **meta):
        body = json.dumps(modern_body("tools/call", {"name": tool, "arguments": arguments}, **meta)).encode()
        return self.ask("POST", "/mcp", modern_headers("tools/call", tool), body)

    def restart(self, n):
        with self.nodes[n]:
            pass
        self.nodes[n] = self.node(self.ports[n])

    def end(self):
        self.nginx.send_signal(signal.SIGTERM)
        self.nginx.wait(WAIT)
        for node in self.nodes:
            node.process.poll() is None and node.stop()

    def lines(self, name):
        try:
            return pathlib.Path(self.home, name).read_text(encoding="utf-8").split()
        except OSError:
            return []


def work(fleet, client, over, done, failed):
    number = 0
    while not over.is_set():
        mark = f"c{client}n{number}"
        number += 1
        try:
            status, body = fleet.eval(f'(tool/note {{:m "{mark}"}})')
            (done if status == 200 and b'"isError":true' not in body else failed).append(mark)
            if status != 200:
                failed.append((status, body[:300]))
        except (OSError, http.client.HTTPException) as e:
            failed.append(f"{type(e).__name__}: {e}")


def in_fleet(function, *options):
    if not NGINX:
        print("skipped: nginx is not installed (script/bootstrap installs nginx-light)")
        return
    with tempfile.TemporaryDirectory() as home:
        fleet = Fleet(home, *options)
        try:
            function(fleet)
        finally:
            fleet.end()


def restart_all(fleet):
    over, done, failed = threading.Event(), [], []
    clients = [threading.Thread(target=work, args=(fleet, i, over, done, failed)) for i in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        for _ in range(3 if FULL else 1):
            for n in range(3):
                fleet.restart(n)
                time.sleep(0.1)
    finally:
        over.set()
        for client in clients:
            client.join()
    expect(failed, [], "calls that failed")
    assert len(done) > 20, len(done)
    marks = collections.Counter(json.loads(line)["m"] for line in fleet.lines("notes"))
    expect([mark for mark in marks if marks[mark] != 1], [], "done more than once")
    expect(set(done) - set(marks), set(), "answered and not done")


def count_in_session(fleet, over, counted, failed):
    """Counts in a session of its own, and remembers what it was told last."""
    _, body = fleet.call("lisp_session_start", {})
    session = json.loads(body)["result"]["structuredContent"]["session_id"]
    fleet.call("lisp_session_eval", {"session_id": session, "program": "(def n 0)"})
    told = 0
    while not over.is_set():
        status, body = fleet.call("lisp_session_eval", {"session_id": session, "program": "(def n (inc n)) n"})
        result = json.loads(body).get("result", {}) if status == 200 else {}
        if result.get("structuredContent", {}).get("result") != told + 1:
            failed.append((status, told, body[:300]))
        told += 1
    counted.append(told)


def sessions_go_on(fleet):
    over, counted, failed = threading.Event(), [], []
    clients = [threading.Thread(target=count_in_session, args=(fleet, over, counted, failed)) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        for n in range(3):
            fleet.restart(n)
    finally:
        over.set()
        for client in clients:
            client.join()
    expect(failed, [], "calls that failed, or did not find what the one before them left")
    assert len(counted) == CLIENTS and min(counted) > 5, counted


def without_store(fleet, server):
    """It is told at once; what needs no store goes on; nothing has to be restarted."""
    node = fleet.nodes[0]
    expect(raw_request(node, "GET", "/ready", []).status, 200)
    server.stop()
    wait_for(lambda: raw_request(node, "GET", "/ready", []).status == 503, "503")
    assert raw_request(node, "GET", "/ready", []).body.startswith(b"store: cannot connect to 127.0.0.1:"), "why"
    expect_metric(node, "ptc_store_failing", 1)
    assert b'"text":"3"' in fleet.eval("(+ 1 2)")[1]
    for tool in ("lisp_session_start", "lisp_session_list"):
        assert b'"text":"store_failed: cannot connect' in fleet.call(tool, {})[1], tool
    server.start()
    wait_for(lambda: raw_request(node, "GET", "/ready", []).status == 200, "200")
    expect_metric(node, "ptc_store_failing", 0)
    assert b'"count":' in fleet.call("lisp_session_list", {})[1]
    said = [json.loads(line).get("message") for line in node.log_text().splitlines()]
    assert any(m.startswith("the store cannot be used: ") for m in said) and said[-1] == "the store can be used again", said


def stream(fleet):
    status, body = fleet.eval('(tool/note {:m "s"})', progressToken="p")
    assert status == 200 and b"calling note" in body and b"note done" in body and b'"result"' in body, (status, body)


def one_dies(fleet):
    """Its call is told as lost, and done by nobody else; other calls go to the others."""
    got = []
    caller = threading.Thread(target=lambda: got.append(fleet.eval("(tool/nap {})")))
    caller.start()
    end = time.monotonic() + WAIT
    while not fleet.lines("naps") and time.monotonic() < end:
        time.sleep(0.01)
    naps = fleet.lines("naps")
    dead = fleet.nodes[fleet.ports.index(int(naps[0]))]
    dead.process.kill()
    caller.join()
    expect((got[0][0], fleet.lines("naps")), (502, naps), "the call that was lost")
    for i in range(12):
        status, body = fleet.eval(f"(+ 1 {i})")
        assert status == 200 and f'"text":"{i + 1}"'.encode() in body, (status, body)
    dead.process.wait(WAIT)


@test
def no_call_is_lost_or_done_twice():
    in_fleet(restart_all)


@test
def with_a_store():
    try:
        with engines.Postgres() as server:
            url = server.database("fleet")
            in_fleet(lambda fleet: (sessions_go_on(fleet), without_store(fleet, server)), "--sessions", "--store", url, "--log-format", "json")
    except engines.Missing as e:
        print(f"skipped: {e}")


@test
def streams_and_deaths():
    def both(fleet):
        stream(fleet)
        one_dies(fleet)
    in_fleet(both)


@test
def the_unit_is_one():
    tool = shutil.which("systemd-analyze")
    if not tool:
        print("skipped: systemd-analyze is not installed")
        return
    with tempfile.TemporaryDirectory() as home:
        unit = pathlib.Path(home, "ptc@7401.service")
        text = (EXAMPLE / "ptc@.service").read_text(encoding="utf-8")
        unit.write_text(text.replace("/usr/local/bin/ptc ", PTC + " "), encoding="utf-8")
        done = subprocess.run([tool, "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=WAIT, check=False)
        ours = [line for line in (done.stdout + done.stderr).splitlines() if "ptc@" in line]
        expect(ours, [], "what systemd says of it")


if __name__ == "__main__":
    main("mcp_app_fleet_example")
