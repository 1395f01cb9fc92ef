#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_shared.py PTC [ISOLATION [SECONDS]]: four servers on one store of sessions, as when every client
starts its own.  Whatever they do at once, what was acknowledged is there in the end, what was refused is not, and what
one has closed is closed for all."""
import os
import random
import sys
import tempfile
import threading
import time

SECONDS = float(sys.argv.pop(3)) if len(sys.argv) > 3 else 4.0
# pylint: disable=wrong-import-position
from app_help import Server, expect, main, test  # noqa: E402

SERVERS, SESSIONS, NAMES = 4, 3, 20


def run(server, session, program):
    return server.call("lisp_session_eval", session_id=session, program=program)


class Client(threading.Thread):
    """Changes names of its own in sessions that all share, and remembers what was acknowledged."""

    def __init__(self, number, args, sessions, closing):
        super().__init__()
        self.number, self.args, self.sessions, self.closing = number, args, sessions, closing
        self.random = random.Random(number)
        self.kept, self.busy, self.done, self.closed, self.error = {}, 0, 0, 0, None

    def run(self):
        try:
            with Server(*self.args) as server:
                end = time.monotonic() + SECONDS
                while time.monotonic() < end:
                    self.step(server)
        except Exception as e:  # pylint: disable=broad-except
            self.error = e

    def step(self, server):
        if self.random.random() < 0.02:
            self.close_one(server)
            return
        session, name = self.random.choice(self.sessions), f"c{self.number}-{self.random.randrange(NAMES)}"
        answer = run(server, session, f"(def {name} {self.done})")
        if answer.failed:
            assert answer.text.startswith("session_busy: "), answer.text
            self.busy += 1
        else:
            self.kept[session, name] = self.done
        self.done += 1

    def close_one(self, server):
        """Of two that close the same one, one succeeds; afterwards nobody can use it, however often it was changed."""
        handle = self.random.choice(self.closing)
        run(server, handle, "(def x 1)")
        answer = server.call("lisp_session_close", session_id=handle)
        assert not answer.failed or answer.text.startswith(("unknown_session", "session_busy")), answer.text
        self.closed += not answer.failed
        if not answer.failed:
            assert run(server, handle, "(def x 2)").text.startswith("unknown_session")


@test
def four_servers():
    with tempfile.TemporaryDirectory() as d:
        args = ["--sessions", "--session-store", f"sqlite:{os.path.join(d, 's.db')}", "--max-concurrent-calls", "1"]
        with Server(*args) as s:
            def start():
                return s.call("lisp_session_start").data["session_id"]
            sessions, closing = [start() for _ in range(SESSIONS)], [start() for _ in range(30)]
            clients = [Client(i, args, sessions, closing) for i in range(SERVERS)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            for client in clients:
                assert not client.error, client.error
            for session in sessions:
                bound = {(h, n): v for c in clients for (h, n), v in c.kept.items() if h == session}
                names = sorted(n for _, n in bound)
                got = run(s, session, "[" + " ".join(names) + "]").text
                expect(got, "[" + " ".join(str(bound[session, n]) for n in names) + "]")
                listed = {b["name"] for b in s.call("lisp_session_inspect", session_id=session).data["bindings"]}
                expect(listed, set(names), "what was refused is not there")
            live = {i["session_id"] for i in s.call("lisp_session_list").data["sessions"]}
            expect(len(live), SESSIONS + len(closing) - sum(c.closed for c in clients))
    done, busy = sum(c.done for c in clients), sum(c.busy for c in clients)
    print(f"mcp_app_shared: {done} programs in {SECONDS:.0f} s, {busy} told session_busy, "
          f"{sum(c.closed for c in clients)} sessions closed")
    assert done > 0 and all(c.kept for c in clients)


if __name__ == "__main__":
    main("mcp_app_shared")
