#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/soak.py PTC [CALLS]: many calls with flat memory; workers that are killed under load.

CALLS (100000) go over stdio with isolation on; memory of the server, its helper and the workers is sampled.  Then clients
of several owners call over HTTP while their workers, and the helper, are killed with SIGKILL: a kill costs at most the
calls that ran in what was killed, with an error that says so, and no session is harmed."""
import http.client
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time

CALLS = int(sys.argv.pop(2)) if len(sys.argv) > 2 else 100000
sys.argv.append("on")
# pylint: disable=wrong-import-position
import http_help  # noqa: E402
import watch  # noqa: E402
from app_help import PTC, Answer, Server, clean_env, expect, main, test  # noqa: E402

watch.LONGEST = 1000
WINDOW, SAMPLES, GROWTH_KB = 32, 40, 1024
SECONDS, OWNERS, CLIENTS_EACH = 8, 3, 3


# ------------------------------------------------------------------------------------------- processes

def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def own_kb(pid):
    """Memory of a process that it shares with nobody else's file: RssAnon."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return next((int(line.split()[1]) for line in f if line.startswith("RssAnon")), 0)
    except OSError:
        return 0


def family(pid):
    """The helpers of a server, and their workers."""
    helpers = children(pid)
    return helpers, [w for h in helpers for w in children(h)]


# ------------------------------------------------------------------------------------------ many calls

def work(i):
    """Arguments of the i-th call, and a test of its answer."""
    kind = i % 50
    if kind == 7:
        return {"program": "(vec (range 4000))"}, lambda a: a.data["result_handle"]
    if kind == 11:
        return {"program": "(/ 1 0)"}, lambda a: a.failed and a.text.startswith("runtime_error")
    if kind == 13:
        return {"program": f"(do (println {i}) nil)"}, lambda a: a.data["prints"] == [str(i)]
    if kind == 17:
        return ({"program": "{:sum (reduce + data/xs)}", "context": {"xs": list(range(i % 1000))},
                 "signature": "{sum :int}"}, lambda a: f":sum {sum(range(i % 1000))}" in a.text)
    if kind == 19:
        return {"program": "(reduce (fn [m x] (assoc m x (str x))) {} (range 500))"}, lambda a: not a.failed
    return {"program": f"(+ {i} 1)"}, lambda a: a.text == f"{i + 1}"


def sample(server):
    helpers, workers = family(server.process.pid)
    return own_kb(server.process.pid), sum(map(own_kb, helpers)), max(map(own_kb, workers), default=0), len(workers)


def check_flat(name, values):
    """Once everything is warm, the last third is not above the one before it."""
    third = len(values) // 3
    before, after = statistics.median(values[third:2 * third]), statistics.median(values[2 * third:])
    print(f"mcp_soak: {name}: {values[0]} KiB at first, {before:.0f} in the middle, {after:.0f} at the end, "
          f"{max(values)} at most")
    assert after - before <= GROWTH_KB, f"{name} grew from {before} to {after} KiB: {values}"


@test
def many_calls():
    samples, under_way, begun = [], {}, time.monotonic()

    def finish(server, left):
        while len(under_way) > left:
            number, check = next(iter(under_way.items()))
            answer = Answer(server.answer(number, 60))
            assert check(answer), answer.message
            del under_way[number]
    with Server("--max-concurrent-calls", "2") as s:
        for i in range(CALLS):
            arguments, check = work(i)
            under_way[s.begin_call("lisp_eval", arguments)] = check
            finish(s, WINDOW)
            if i % max(CALLS // SAMPLES, 1) == 0:
                samples.append(sample(s))
        finish(s, 0)
        took = time.monotonic() - begun
        print(f"mcp_soak: {CALLS} calls in {took:.0f} s, {CALLS / took:.0f} a second")
        check_flat("server", [x[0] for x in samples])
        check_flat("helper", [x[1] for x in samples])
        check_flat("largest worker", [x[2] for x in samples])
        assert max(x[3] for x in samples) <= 4, "workers pile up"
        with open(f"/proc/{s.process.pid}/status", encoding="ascii") as f:
            threads = next(line for line in f if line.startswith("Threads"))
        assert int(threads.split()[1]) < 80 and len(os.listdir(f"/proc/{s.process.pid}/fd")) < 40, threads
        expect(s.close(), 0)


# ----------------------------------------------------------------------------------------------- kills

class Client(threading.Thread):
    """Calls until told to stop; every answer must be right, or say that the worker was lost."""

    def __init__(self, server, owner, stop, session=False):
        super().__init__()
        self.server, self.token, self.stop, self.session = server, f"token-of-owner-{owner}-0123456789", stop, session
        self.right = self.lost = 0
        self.wrong = None

    def call(self, connection, tool, arguments):
        body = json.dumps(http_help.modern_body("tools/call", {"name": tool, "arguments": arguments}))
        headers = dict(http_help.modern_headers("tools/call", tool), Authorization="Bearer " + self.token)
        connection.request("POST", "/mcp", body, headers)
        return Answer(json.loads(connection.getresponse().read()))

    def one(self, connection, n, session):
        """The n-th right answer."""
        if session:
            program = f"(def n (inc {'n' if n else -1}))" + " n"
            answer = self.call(connection, "lisp_session_eval", {"session_id": session, "program": program})
        else:
            answer = self.call(connection, "lisp_eval", {"program": f"(+ {n} (- (reduce + (range 3000)) 4498500))"})
        if answer.failed and answer.text.startswith("worker_lost: "):
            self.lost += 1
        elif answer.text.startswith(f"{n}"):
            self.right += 1
        else:
            self.wrong = (n, answer.message)

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            session = self.session and self.call(connection, "lisp_session_start", {}).data["session_id"]
            while not self.stop.is_set() and not self.wrong:
                self.one(connection, self.right, session)
        except Exception as e:  # pylint: disable=broad-except
            self.wrong = self.wrong or repr(e)


def kill_some(server, stop, helper_too):
    """Kills a worker now and then, twice the helper; the number of kills, and of helpers among them."""
    kills = helpers_killed = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and not stop.is_set():
        time.sleep(random.uniform(0.005, 0.05))
        helpers, workers = family(server.process.pid)
        if helper_too and helpers_killed < 2 and time.monotonic() > end - SECONDS * (2 - helpers_killed) / 3:
            victims, helpers_killed = helpers[:1], helpers_killed + 1
        else:
            victims = random.sample(workers, min(1, len(workers)))
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                pass
    stop.set()
    return kills, helpers_killed


def kill_under_load(helper_too):
    running = 4
    with tempfile.NamedTemporaryFile("w", suffix=".tokens") as tokens:
        tokens.write("".join(f"o{i} token-of-owner-{i}-0123456789\n" for i in range(OWNERS)))
        tokens.flush()
        with http_help.Server([PTC, "mcp"], "--isolation", "on", "--token-file", tokens.name, "--quiet", "--sessions",
                              "--max-concurrent-calls", str(running), env=clean_env()) as server:
            stop = threading.Event()
            clients = [Client(server, i % OWNERS, stop, session=i < OWNERS) for i in range(OWNERS * CLIENTS_EACH)]
            for c in clients:
                c.start()
            kills, helpers = kill_some(server, stop, helper_too)
            for c in clients:
                c.join(90)
            lost, right = sum(c.lost for c in clients), sum(c.right for c in clients)
            print(f"mcp_soak: {kills} kills ({helpers} of the helper): {right} calls right, {lost} lost")
            wrong = [c.wrong for c in clients if c.wrong or c.is_alive()]
            assert not wrong, wrong
            assert kills > 20 and right > 10 * kills, "there was no load"
            assert lost <= kills - helpers + helpers * running, "a kill cost more than the call that it hit"
            assert all(c.right for c in clients)
            time.sleep(0.2)
            assert len(children(server.process.pid)) <= 1 and not zombies(server.process.pid), "processes are left behind"


def zombies(pid):
    found = []
    for child in children(pid):
        with open(f"/proc/{child}/stat", encoding="ascii") as f:
            if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                found.append(child)
    return found


@test
def workers_killed_under_load():
    kill_under_load(helper_too=False)


@test
def helper_killed_under_load():
    kill_under_load(helper_too=True)


if __name__ == "__main__":
    main("mcp_soak")
