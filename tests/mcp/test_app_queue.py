#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_queue.py PTC [ISOLATION]: calls that wait for tools hold up nobody; many calls at once wait for
their turn and are answered; who waits too long is told so."""
import json
import os
import tempfile
import threading

import http_help
from app_help import ISOLATION, PTC, Answer, Server, clean_env, expect, main, test


class Tools:
    """A tool that ends when it is told to, and one that waits for another call of the same program."""

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory()
        self.go = os.path.join(self.place.name, "go")
        wait = f"while [ ! -e {self.go} ]; do sleep 0.01; done; echo 1"
        path = os.path.join(self.place.name, "tools.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"wait": {"command": ["sh", "-c", wait], "timeout_ms": 60000},
                       "quick": {"command": ["sh", "-c", "echo 2"], "timeout_ms": 60000},
                       "lone": {"command": ["sh", "-c", "sleep 0.01; echo 3"], "serial": True, "timeout_ms": 60000}}, f)
        self.option = ["--tools", "@" + path]
        return self

    def __exit__(self, *_):
        self.place.cleanup()

    def let_go(self):
        with open(self.go, "w", encoding="utf-8"):
            pass


def texts(server, numbers):
    return [Answer(server.answer(n)).text for n in numbers]


@test
def waiting_for_tools():
    """With two places, ten calls wait for their tools and others run all the same; pmap too."""
    with Tools() as tools, Server(*tools.option, "--max-concurrent-calls", "2") as s:
        programs = ["(tool/wait {})"] * 8 + ["(reduce + (pmap (fn [_] (tool/wait {})) (range 3)))"] * 2
        numbers = [s.begin_call("lisp_eval", {"program": p}) for p in programs]
        for i in range(20):
            expect(s.eval(f"(+ {i} (tool/quick {{}}))").text, f"{i + 2}")
            expect(s.eval("(+ 1 2)").text, "3")
        tools.let_go()
        expect(texts(s, numbers), ["1"] * 8 + ["3"] * 2)


@test
def one_place():
    """A tool that takes one call at a time, and a single place: nobody waits for the other for ever."""
    with Tools() as tools, Server(*tools.option, "--max-concurrent-calls", "1") as s:
        numbers = [s.begin_call("lisp_eval", {"program": "(+ (tool/lone {}) (tool/lone {}))"}) for _ in range(20)]
        expect(texts(s, numbers), ["6"] * 20)


@test
def many_at_once():
    with Server("--max-concurrent-calls", "2") as s:
        numbers = [s.begin_call("lisp_eval", {"program": f"(+ {i} 1)"}) for i in range(800)]
        expect(texts(s, numbers), [f"{i + 1}" for i in range(800)])
        with open(f"/proc/{s.process.pid}/status", encoding="ascii") as f:
            threads = next(int(line.split()[1]) for line in f if line.startswith("Threads"))
        assert threads < 80, threads


@test
def many_at_once_over_http():
    answers = [None] * 200
    with http_help.Server([PTC, "mcp"], "--isolation", ISOLATION, "--max-concurrent-calls", "2", "--quiet",
                          env=clean_env()) as server:
        def ask(i):
            answers[i] = http_help.call(server, "lisp_eval", {"program": f"(+ {i} 1)"}).json()
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(answers))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    expect([a["result"]["content"][0]["text"] for a in answers], [f"{i + 1}" for i in range(len(answers))])


SPIN = "(reduce + (map (fn [n] (count (sort (range n)))) (range 100000)))"


def spin(server):
    """Takes the only place, until it is cancelled."""
    number = server.begin_call("lisp_eval", {"program": SPIN})
    return number, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


@test
def bounds_of_the_queue():
    limits = ["--max-concurrent-calls", "1", "--program-timeout-ms", "60000"]
    with Server(*limits, "--max-queued-calls", "3", "--queue-ms", "60000") as s:
        _, cancel = spin(s)
        numbers = [s.begin_call("lisp_eval", {"program": "1"}) for _ in range(6)]
        refused = 0
        while refused < 2:  # which of them were first is chance, as is whether the spinning one was
            message = json.loads(s.lines.get(timeout=20))
            assert message["error"]["code"] == -32000 and "busy" in message["error"]["message"], message
            numbers.remove(message["id"])
            refused += 1
        s.send(cancel)
        for n in numbers:
            message = s.answer(n)
            assert "result" in message or message["error"]["code"] == -32000, message
    with Server(*limits, "--queue-ms", "300") as s:
        _, cancel = spin(s)
        while s.request("ping") != {"jsonrpc": "2.0", "id": s.next_id, "result": {}}:
            pass
        message = s.answer(s.begin_call("lisp_eval", {"program": "1"}))
        if "error" in message:  # else it was faster than the spinning one
            assert "waited" in message["error"]["message"], message
        s.send(cancel)


@test
def cancelled_in_the_queue():
    with Server("--max-concurrent-calls", "1", "--program-timeout-ms", "60000") as s:
        _, cancel = spin(s)
        numbers = [s.begin_call("lisp_eval", {"program": SPIN}) for _ in range(200)]
        for n in numbers:
            s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": n}})
        s.send(cancel)
        expect(s.eval("(+ 1 2)").text, "3")


if __name__ == "__main__":
    main("mcp_app_queue")
