#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_sessions.py PTC [ISOLATION]: the session tools, their limits, the store."""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import http_help
from app_help import PTC, WAIT, Answer, Server, expect, main, run_ptc, test


def start(s, **more):
    return s.call("lisp_session_start", **more).data["session_id"]


def run(s, session, program, **more):
    return s.call("lisp_session_eval", session_id=session, program=program, **more)


@test
def a_session():
    with Server("--sessions") as s:
        a = s.call("lisp_session_start", title="mine")
        session = a.data["session_id"]
        assert session.startswith("s-") and len(session) >= 24, session
        assert a.data["expires_at"].endswith("Z") and a.data["limits"]["ttl_ms"] == 1800000
        a = run(s, session, "(def x 41)")
        expect(a.text, "#'x\n[stored: x]")
        expect(a.data, {"result": "#'x", "stored": ["x"]})
        expect(run(s, session, "(defn f [y] (+ x y))").data["stored"], ["f"])
        expect(run(s, session, "(f 1)").text, "42")
        expect(run(s, session, "*1").text, "42")
        expect(run(s, session, "(count data/rows)", context={"rows": [1, 2]}).text, "2")
        a = run(s, session, "(do (def x 0) (/ 1 0))")
        assert a.failed and "as it was before" in a.text
        expect(run(s, session, "x").text, "41")
        assert s.eval("x").failed, "lisp_eval has no session"
        other = start(s)
        assert run(s, other, "x").failed
        a = run(s, session, '{:n "x"}', signature="{n :int}")
        assert a.failed and a.text.startswith("validation_error")
        listed = s.call("lisp_session_list").data
        expect(listed["count"], 2)
        mine = [i for i in listed["sessions"] if i["session_id"] == session][0]
        expect((mine["title"], mine["bindings"], mine["busy"]), ("mine", 2, False))
        assert mine["evals"] >= 6 and mine["bytes"] > 0
        seen = s.call("lisp_session_inspect", session_id=session).data
        expect([b["name"] for b in seen["bindings"]], ["x", "f"])
        expect(seen["session"]["session_id"], session)
        forgotten = s.call("lisp_session_forget", session_id=session, bindings=["x", "nothing"]).data
        expect((forgotten["forgotten"], forgotten["bindings"]), (1, 1))
        assert run(s, session, "x").failed
        expect(s.call("lisp_session_forget", session_id=session, all=True).data["bindings"], 0)
        expect(s.call("lisp_session_inspect", session_id=session).data["count"], 0)
        expect(s.call("lisp_session_close", session_id=session).data, {"session_id": session, "closed": True})
        for tool in ["lisp_session_eval", "lisp_session_inspect", "lisp_session_close"]:
            more = {"program": "1"} if tool.endswith("eval") else {}
            a = s.call(tool, session_id=session, **more)
            assert a.failed and a.text.startswith("unknown_session: "), a.text
        expect(s.call("lisp_session_list").data["count"], 1)


@test
def wrong_calls():
    with Server("--sessions") as s:
        session = start(s)
        for arguments, word in [({}, "say what"), ({"all": True, "bindings": []}, "say what"), ({"all": False}, "say what"),
                                ({"bindings": [1]}, "bindings[0]: expected string"),
                                ({"bindings": ["a"] * 101}, "bindings: expected at most 100"),
                                ({"bindings": {"a": 1}}, "bindings: expected array"),
                                ({"all": "yes"}, "all: expected boolean")]:
            a = s.call("lisp_session_forget", session_id=session, **arguments)
            assert a.failed and word in a.text, (arguments, a.text)
        assert s.call("lisp_session_start", ttl_ms=0).failed
        assert s.call("lisp_session_start", title=1).failed
        assert "\"session_id\" is missing" in s.call("lisp_session_eval", program="1").text
        assert s.call("lisp_session_eval", session_id=session).text.startswith("args_error: ")
        assert s.call("lisp_session_list", x=1).failed
        for handle in ["", "s-", session[:-1], session + "x", "s-" + "A" * 24, "\u0000", "x" * 10000]:
            assert s.call("lisp_session_inspect", session_id=handle).text.startswith("unknown_session"), handle
        expect(len(s.call("lisp_session_start", title="t" * 500).data["session_id"]), len(session))
        expect(len(s.call("lisp_session_list").data["sessions"][0]["title"]), 200)


@test
def structured():
    with Server("--sessions", "--profile", "structured") as s:
        session = start(s)
        d = run(s, session, "(def a [1 2])").data
        expect((d["status"], d["changed_keys"], d["stored_keys"]), ("ok", ["a"], ["a"]))
        expect(d["session"]["session_id"], session)
        expect(d["session"]["bindings"], 1)
    with Server("--sessions", "--profile", "debug") as s:
        d = run(s, start(s), "(def a [1 2])").data
        expect(d["memory"]["changed"], {"a": "[1 2]"})


def is_kept(s, idle_s):
    """Uses a session for longer than it may be idle.  None: on this machine two uses were too far apart to tell."""
    session, used = start(s), time.monotonic()
    for _ in range(5):
        time.sleep(idle_s / 3)
        before = time.monotonic()
        failed = run(s, session, "1").failed
        if failed:
            return None if time.monotonic() - used >= idle_s else False
        used = before
    return True


@test
def expiry():
    with Server("--sessions", "--session-ttl-ms", "600000", "--session-idle-ms", "300") as s:
        short = s.call("lisp_session_start", ttl_ms=1).data["session_id"]
        time.sleep(0.01)
        assert run(s, short, "1").text.startswith("unknown_session")
        kept = [is_kept(s, 0.3) for _ in range(3)]
        assert False not in kept, "being used keeps it"
        idle = start(s)
        time.sleep(0.4)
        assert run(s, idle, "1").text.startswith("unknown_session")
        http_help.wait_for(lambda: s.call("lisp_session_list").data["count"] == 0, "all of them to go")


@test
def session_busy():
    with Server("--sessions", "--program-timeout-ms", "60000", "--max-concurrent-calls", "4") as s:
        session, other = start(s), start(s)
        slow = {"session_id": session, "program": "(def n (reduce + (map #(count (sort (range %))) (range 100000))))"}
        number = s.begin_call("lisp_session_eval", slow)
        http_help.wait_for(lambda: any(i["busy"] for i in s.call("lisp_session_list").data["sessions"]), "it to run")
        for tool, more in [("lisp_session_eval", {"program": "1"}), ("lisp_session_inspect", {}),
                           ("lisp_session_close", {}), ("lisp_session_forget", {"all": True})]:
            a = s.call(tool, session_id=session, **more)
            assert a.failed and a.text.startswith("session_busy: "), (tool, a.text)
        expect(run(s, other, "(+ 1 1)").text, "2")
        s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        http_help.wait_for(lambda: not run(s, session, "1").failed, "the program to be cancelled")
        assert run(s, session, "n").failed, "a cancelled program changes nothing"


@test
def limits():
    with Server("--sessions", "--max-sessions", "3", "--session-memory-kb", "64", "--sessions-memory-mb", "1") as s:
        sessions = [start(s) for _ in range(3)]
        a = s.call("lisp_session_start")
        assert a.failed and a.text.startswith("session_limit: "), a.text
        s.call("lisp_session_close", session_id=sessions[0])
        assert not s.call("lisp_session_start").failed
        a = run(s, sessions[1], '(def big (apply str (repeat 200000 "x")))')
        assert a.failed, a.text
        expect(run(s, sessions[1], "(+ 1 1)").text, "2")
        expect(s.call("lisp_session_inspect", session_id=sessions[1]).data["count"], 0)
        expect(run(s, sessions[1], '(def ok (apply str (repeat 20000 "x")))').failed, False)


@test
def total_memory():
    with Server("--sessions", "--sessions-memory-mb", "1") as s:
        failed = 0
        for _ in range(5):
            a = run(s, start(s), '(def big (vec (map str (range 30000))))')
            failed += a.failed
            assert not a.failed or a.text.startswith("session_limit"), a.text
        assert 0 < failed < 5, failed


@test
def store():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "s.db")
        args = ["--sessions", "--store", f"sqlite:{path}"]
        with Server(*args) as s:
            keep, closed = start(s, title="kept"), start(s)
            run(s, keep, "(def x 7)")
            run(s, keep, "(defn f [y] (* x y))")
            page = s.eval("(range 9000)").data["result_handle"]
            short = s.call("lisp_session_start", ttl_ms=1).data["session_id"]
            s.call("lisp_session_close", session_id=closed)
            expect(s.close(), 0)
        expect(os.stat(path).st_mode & 0o777, 0o600)
        with Server(*args) as s:
            expect(run(s, keep, "(f 6)").text, "42")
            listed = s.call("lisp_session_list").data["sessions"]
            expect([(i["title"], i["bindings"]) for i in listed], [("kept", 2)])
            for gone in [closed, short]:
                assert run(s, gone, "1").failed
            s.process.kill()
            s.process.wait()
        with Server(*args) as s:
            expect(run(s, keep, "(f 5)").text, "35", "after kill -9")
        with sqlite3.connect(path) as db:
            db.execute("UPDATE ptc_record SET bytes = X'00112233', size = 4 WHERE kind = 'session'")
            db.execute("UPDATE ptc_record SET rest_seal = CAST(X'02' || substr(rest_seal, 2) AS BLOB) WHERE kind = 'page'")
        with Server(*args) as s:
            a = run(s, keep, "x")
            assert a.failed and a.text.startswith("store_failed: this session was changed"), a.text
            expect(s.call("lisp_result_page", handle=page).text, "store_failed: the result cannot be read; try again later")
            expect(s.call("lisp_session_close", session_id=keep).failed, False)
            expect(s.eval("1").text, "1")
            assert b"does not have its key" in s.finish(), s.errors
        with open(path, "w", encoding="utf-8") as f:
            f.write("this is no database" * 100)
        done = subprocess.run([PTC, "mcp", *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
        expect(done.returncode, 1)
        assert path in done.stderr.decode() and "--help" not in done.stderr.decode(), done.stderr


def slow_tools(d):
    """Tools that return when the file `go` is there: one that may change something, and one that only looks."""
    tools, go = os.path.join(d, "tools.json"), os.path.join(d, "go")
    with open(tools, "w", encoding="utf-8") as f:
        wait = {"command": ["sh", "-c", f"while [ ! -e {go} ]; do sleep 0.01; done; echo 1"], "timeout_ms": 60000}
        json.dump({"wait": wait, "look": {**wait, "cache": True}}, f)
    return ["--sessions", "--store", f"sqlite:{os.path.join(d, 's.db')}", "--tools", f"@{tools}"], go


def begin_slow(server, session, program="(def z (tool/wait))"):
    number = server.begin_call("lisp_session_eval", {"session_id": session, "program": program})
    deadline = time.monotonic() + 30
    while not any(i["busy"] for i in server.call("lisp_session_list").data["sessions"] if i["session_id"] == session):
        assert time.monotonic() < deadline
    return number


def let_go(go):
    with open(go, "w", encoding="utf-8"):
        pass


@test
def two_servers():
    """Two servers with one file take turns and see what the other did; what one closed is closed."""
    with tempfile.TemporaryDirectory() as d:
        args, go = slow_tools(d)
        with Server(*args) as a, Server(*args, "--session-wait-ms", "60000") as b, Server(*args, "--session-wait-ms", "50") as c:
            session = start(a)
            run(a, session, "(def x 1)")
            expect(run(b, session, "(def y (+ x 1))").failed, False)
            expect(run(a, session, "(+ x y)").text, "3")
            expect(b.call("lisp_session_list").data["sessions"][0]["bindings"], 2)
            number = begin_slow(a, session)
            late = run(c, session, "(def y 5)")
            assert late.failed and late.text.startswith("session_busy: "), late.text
            waits = b.begin_call("lisp_session_eval", {"session_id": session, "program": "(def y (+ y z))"})
            let_go(go)
            for server, n in [(a, number), (b, waits)]:
                expect(Answer(server.answer(n)).failed, False, "one after the other")
            expect(run(c, session, "[x y z]").text, "[1 3 1]")
            os.unlink(go)
            number = begin_slow(a, session)
            expect(b.call("lisp_session_close", session_id=session).failed, False)
            let_go(go)
            late = Answer(a.answer(number))
            assert late.failed and late.text.startswith("unknown_session: "), late.text
            for server in [a, b]:
                expect(server.call("lisp_session_list").data["count"], 0)


@test
def stopped_server():
    """A server that was stopped loses its holds: what it did is done again to the newer state, unless it may have changed
    something elsewhere."""
    with tempfile.TemporaryDirectory() as d:
        args, go = slow_tools(d)
        with Server(*args, "--isolation", "none") as a, Server(*args, "--session-wait-ms", "60000") as b:
            sessions = [start(a) for _ in range(3)]
            for s in sessions:
                run(a, s, "(def y 1)")
            programs = ["(def z (tool/wait))", "(do (println y) (def z [y (tool/look)]))", "(do (tool/look) (/ y 0))"]
            numbers = [begin_slow(a, s, p) for s, p in zip(sessions, programs)]
            os.kill(a.process.pid, signal.SIGSTOP)
            for s in sessions:
                expect(run(b, s, "(def y 5)").failed, False, "its hold is over after a while")
            let_go(go)
            os.kill(a.process.pid, signal.SIGCONT)
            late, again, failed = [Answer(a.answer(n)) for n in numbers]
            assert late.failed and late.text.startswith("session_busy: another server"), late.text
            assert run(a, sessions[0], "z").failed, "what came too late is not there"
            expect((again.failed, again.data["prints"]), (False, ["5"]), "run again, and answered for that run only")
            expect(run(b, sessions[1], "[y z]").text, "[5 [5 1]]")
            assert failed.text.startswith("runtime_error"), "a failure changes nothing, so it stands"


@test
def other_store():
    """A file in the format of another version is refused when the server starts, and stays as it is."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "s.db")
        with Server("--sessions", "--store", f"sqlite:{path}") as s:
            run(s, start(s), "(def x 7)")
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version=2")
        status, _, err = run_ptc("--sessions", "--store", f"sqlite:{path}")
        assert status != 0 and "format of another version of ptc" in err, err
        with sqlite3.connect(path) as db:
            expect(db.execute("SELECT count(*) FROM ptc_record WHERE kind = 'session'").fetchone()[0], 1)


@test
def many_sessions():
    count = 1000 if "--many" in sys.argv else 100
    with Server("--sessions") as s:
        program = "(do " + " ".join(f"(def v{i} {i})" for i in range(100)) + ")"
        sessions = [start(s) for _ in range(count)]
        for i in range(0, count, 50):
            numbers = [s.begin_call("lisp_session_eval", {"session_id": h, "program": program}) for h in sessions[i:i + 50]]
            for n in numbers:
                assert not Answer(s.answer(n)).failed
        for i, h in enumerate(sessions):
            expect(run(s, h, f"(+ v99 v{i % 100})").text, f"{99 + i % 100}")
        listed = s.call("lisp_session_list").data
        expect(listed["count"], count)
        with open(f"/proc/{s.process.pid}/status", encoding="utf-8") as f:
            rss = [l for l in f if l.startswith("VmRSS")][0].split()[1]
        print(f"mcp_app_sessions: {count} sessions of 100 bindings: {listed['sessions'][0]['bytes']} bytes each, "
              f"the server has {rss} KiB")


if __name__ == "__main__":
    main("mcp_app_sessions")
