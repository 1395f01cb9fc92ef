# SPDX-License-Identifier: MIT
"""Starts the fixture server on a free port and speaks HTTP to it, byte by byte where a test needs that."""
import http.client
import json
import re
import signal
import socket
import subprocess
import tempfile
import time

from watch import WAIT, start

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = "io.modelcontextprotocol/"
BOTH = "application/json, text/event-stream"


class Server:
    """One that takes no call any more once it is asked to stop, unless --leave-ms says otherwise."""

    def __init__(self, program, *args, address="127.0.0.1:0", env=None):
        first = program if isinstance(program, list) else [program]
        if "--leave-ms" not in [*first, *args]:
            args = ["--leave-ms", "0", *args]
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = start([*first, "--http", address, *args], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=self.log, env=env)
        self.port = self.wait_for_port()

    def wait_for_port(self):
        end = time.monotonic() + WAIT
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(r"listening on port (\d+)", self.log_text())
            if found:
                return int(found.group(1))
            time.sleep(0.01)
        self.process.kill()
        raise AssertionError("the server did not start: " + self.log_text())

    def log_text(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        """Every server must end well, which is also how sanitizers report."""
        try:
            status = self.stop()
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        log = self.log_text()
        self.log.close()
        if status != 0 and kind is None:
            raise AssertionError(f"the server ended with {status}: {log[-3000:]}")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def events(self):
        """The messages of an event stream."""
        found = []
        for block in self.body.decode().split("\n\n"):
            data = [line[5:].strip() for line in block.split("\n") if line.startswith("data:")]
            if data:
                found.append(json.loads("\n".join(data)))
        return found


def raw_request(server, verb, path, headers, body=None):
    """One request on a connection of its own; `headers` is a list of pairs."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    connection.putrequest(verb, path, skip_host=True, skip_accept_encoding=True)
    names = {name.lower() for name, _ in headers}
    if "host" not in names:
        connection.putheader("Host", f"127.0.0.1:{server.port}")
    for name, value in headers:
        if value is not None:
            connection.putheader(name, value)
    if body is not None and "content-length" not in names:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    answer = Answer(response.status, response.headers, response.read())
    connection.close()
    return answer


def merge(base, changes):
    """Header pairs with some of them changed; None takes one away."""
    changed = {name.lower(): (name, value) for name, value in (changes or {}).items()}
    kept = [(name, value) for name, value in base if name.lower() not in changed]
    return kept + list(changed.values())


def modern_body(method, params=None, request_id=1, **meta):
    envelope = {META + "protocolVersion": MODERN, META + "clientCapabilities": {},
                META + "clientInfo": {"name": "test", "version": "1"}}
    envelope.update(meta)
    return {"jsonrpc": "2.0", "id": request_id, "method": method,
            "params": {**(params or {}), "_meta": envelope}}


def modern_headers(method, name=None, changes=None):
    base = [("Content-Type", "application/json"), ("Accept", BOTH),
            ("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)]
    if name is not None:
        base.append(("Mcp-Name", name))
    return merge(base, changes)


def modern(server, method, params=None, headers=None, **meta):
    params = params or {}
    name = params.get("name") or params.get("uri")
    body = json.dumps(modern_body(method, params, **meta)).encode()
    return raw_request(server, "POST", "/mcp", modern_headers(method, name, headers), body)


def call(server, tool, arguments=None, headers=None, **meta):
    return modern(server, "tools/call", {"name": tool, "arguments": arguments or {}}, headers, **meta)


def legacy(server, method, params=None, session=None, request_id=1, headers=None):
    message = {"jsonrpc": "2.0", "method": method}
    if request_id is not None:
        message["id"] = request_id
    if params is not None:
        message["params"] = params
    base = [("Content-Type", "application/json"), ("Accept", BOTH)]
    if session:
        base += [("MCP-Session-Id", session), ("MCP-Protocol-Version", LEGACY)]
    return raw_request(server, "POST", "/mcp", merge(base, headers), json.dumps(message).encode())


def initialize(server, headers=None):
    return legacy(server, "initialize", {"protocolVersion": LEGACY, "capabilities": {},
                                         "clientInfo": {"name": "test", "version": "1"}},
                  headers=headers)


def http_bytes(server, verb, headers, body=b""):
    head = f"{verb} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers)
    return (head + f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def modern_bytes(server, method, params=None, **meta):
    params = params or {}
    body = json.dumps(modern_body(method, params, **meta)).encode()
    return http_bytes(server, "POST", modern_headers(method, params.get("name")), body)


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=WAIT)


def read_until(sock, wanted):
    """Bytes up to and including `wanted`."""
    sock.settimeout(WAIT)
    got = b""
    while wanted not in got:
        piece = sock.recv(65536)
        if not piece:
            raise AssertionError(f"closed before {wanted!r}: {got[-300:]!r}")
        got += piece
    return got


def wait_for(condition, what):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain for " + what)


def metric(server, line, headers=None):
    """The number behind a name (with its labels) on the metrics page."""
    page = raw_request(server, "GET", "/metrics", merge([], headers)).body.decode()
    found = re.search("^" + re.escape(line) + r" ([0-9.]+)$", page, re.M)
    assert found, f"no {line} in\n{page}"
    return float(found.group(1))


def expect_metric(server, line, want, headers=None):
    """A request is counted when its answer was sent, which its client may see earlier."""
    wait_for(lambda: metric(server, line, headers) == want, f"{line} {want}")
