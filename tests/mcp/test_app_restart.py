#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_restart.py PTC [ISOLATION]: two nodes that are restarted one after the other under load, and what
a node does when it is asked to leave.  A client may be refused before it has sent anything, or be told 503, and then
asks the other node; everything else is a failed call."""
import os
import select
import socket
import threading
import time

from app_help import ISOLATION, PTC, WAIT, clean_env, expect, main, test
from http_help import Server, modern_bytes

FULL = bool(os.environ.get("PTC_TEST_FULL"))
LEAVE = ("--leave-ms", "2000" if FULL else "500")
ROUNDS = 4 if FULL else 2
CLIENTS = 8


def serve(*args, address="127.0.0.1:0"):
    return Server([PTC, "mcp", "--isolation", ISOLATION, "--quiet", *args], address=address, env=clean_env())


def program(server, text):
    return modern_bytes(server, "tools/call", {"name": "lisp_eval", "arguments": {"program": text}})


def read_answer(sock):
    """The status of one answer, its head in lower case and its body; raises ConnectionError when it is cut off."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = sock.recv(65536)
        if not piece:
            raise ConnectionError(f"closed after {got!r}")
        got += piece
    head, body = got.split(b"\r\n\r\n", 1)
    head = head.lower()
    size = int(head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])
    while len(body) < size:
        piece = sock.recv(65536)
        if not piece:
            raise ConnectionError(f"closed after {len(body)} of {size} bytes")
        body += piece
    return int(head[9:12]), head, body


class Client:
    """Calls one node after the other, on connections that it keeps or not."""

    def __init__(self, nodes, number, keeps):
        self.nodes, self.turn, self.keeps = nodes, number, keeps
        self.kept = {}
        self.done, self.elsewhere, self.failed = 0, 0, []
        self.longest = 0.0

    def connection(self, port):
        """A kept one, unless it was closed meanwhile, as every client that keeps connections looks."""
        sock = self.kept.pop(port, None)
        if sock and select.select([sock], [], [], 0)[0]:
            expect(sock.recv(1), b"", "what comes unasked")
            sock.close()
            sock = None
        if not sock:
            sock = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def ask(self, node, request, want):
        """True: answered.  False: another node is to be asked, nothing was done here."""
        try:
            sock = self.connection(node.port)
        except OSError:
            return False
        sock.sendall(request)
        status, head, body = read_answer(sock)
        if self.keeps and b"connection: close" not in head:
            self.kept[node.port] = sock
        else:
            sock.close()
        if status == 503:
            return False
        assert status == 200 and want in body, (status, body)
        return True

    def call(self):
        number = self.turn * 7
        begun = time.monotonic()
        while time.monotonic() < begun + WAIT:
            node = self.nodes[self.turn % len(self.nodes)]
            self.turn += 1
            if self.ask(node, program(node, f"(+ 1 {number})"), f'"text":"{number + 1}"'.encode()):
                self.longest = max(self.longest, time.monotonic() - begun)
                self.done += 1
                return
            self.elsewhere += 1
            time.sleep(0.002)
        raise AssertionError("no node took the call")

    def work(self, over):
        while not over.is_set():
            try:
                self.call()
            except (OSError, AssertionError) as e:
                self.failed.append(f"{type(e).__name__}: {e}")
        for sock in self.kept.values():
            sock.close()


class Node:
    """A server that comes back at the same port."""

    def __init__(self):
        self.server = serve(*LEAVE)
        self.port = self.server.port

    def restart(self):
        """How long it took to end."""
        begun = time.monotonic()
        with self.server:
            self.server.stop()
        took = time.monotonic() - begun
        self.server = serve(*LEAVE, address=f"127.0.0.1:{self.port}")
        return took


def roll(keeps):
    nodes = [Node(), Node()]
    over = threading.Event()
    clients = [Client(nodes, i, keeps) for i in range(CLIENTS)]
    threads = [threading.Thread(target=c.work, args=(over,)) for c in clients]
    for thread in threads:
        thread.start()
    try:
        took = []
        for i in range(2 * ROUNDS):
            time.sleep(0.3)
            took.append(nodes[i % 2].restart())
        time.sleep(0.3)
    finally:
        over.set()
        for thread in threads:
            thread.join(WAIT)
        for node in nodes:
            node.server.__exit__(None, None, None)
    failed = [line for c in clients for line in c.failed]
    done = sum(c.done for c in clients)
    print(f"{'kept' if keeps else 'new'} connections: {done} calls, {len(failed)} failed, "
          f"{sum(c.elsewhere for c in clients)} asked elsewhere, longest {max(c.longest for c in clients):.2f} s; "
          f"{len(took)} restarts of {min(took):.2f} to {max(took):.2f} s")
    assert not failed, failed[:5]
    assert done > 100 * ROUNDS, done


@test
def rolling_restart():
    roll(keeps=False)


@test
def rolling_restart_of_kept_connections():
    roll(keeps=True)


if __name__ == "__main__":
    main("mcp_app_restart")
