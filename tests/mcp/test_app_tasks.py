#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_tasks.py PTC [ISOLATION]: calls that become tasks (SEP-2663), with plain JSON."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, f"{sys.path[0]}/..")
import engine_redis  # noqa: E402
import engines  # noqa: E402
import http_help
from app_help import ISOLATION, PTC, WAIT, Server, expect, main, test
from http_help import META

TASKS = "io.modelcontextprotocol/tasks"
FIRST = ["--tasks-after-ms", "60"]
UNKNOWN = "\"taskId\" is no task of yours, or it is over and forgotten"
FORGED = ["", "t-", "t-" + "a" * 25, "t-" + "a" * 26, "t-" + "A" * 26, "t-" + "a" * 26 + "/r", "t-" + "a" * 27, "../x",
          "t-\0" + "a" * 25, "q1", "é" * 14]


def tools_file(directory, seconds=0.5):
    path = os.path.join(directory, "tools.json")
    tools = {"nap": {"command": ["sleep", str(seconds)]}, "sleep": {"command": ["sleep", "30"], "timeout_ms": 60000}}
    with open(path, "w", encoding="utf-8") as f:
        json.dump(tools, f)
    return "@" + path


def meta(tasks=True, **more):
    can = {"extensions": {TASKS: {}}} if tasks else {}
    return {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {**can, **more},
            META + "clientInfo": {"name": "test", "version": "1"}}


class Client:
    """A modern client on stdio."""

    def __init__(self, server):
        self.server = server

    def begin(self, method, params, **how):
        return self.server.begin(method, {**params, "_meta": meta(**how)})

    def ask(self, method, params, **how):
        return self.server.answer(self.begin(method, params, **how))

    def eval(self, program, **how):
        return self.ask("tools/call", {"name": "lisp_eval", "arguments": {"program": program}}, **how)["result"]

    def get(self, task):
        return self.ask("tasks/get", {"taskId": task})["result"]

    def settle(self, task, *wanted, seconds=WAIT):
        end = time.monotonic() + seconds
        while True:
            got = self.get(task)
            if got["status"] in (wanted or ("completed", "failed", "cancelled")):
                return got
            assert time.monotonic() < end, got
            time.sleep(0.02)


def started(result):
    expect(result["resultType"], "task", result)
    assert re.fullmatch(r"t-[a-z2-7]{26}", result["taskId"]), result
    expect({"result", "error", "inputRequests", "task", "requestState"} & set(result), set())
    expect(result["status"], "working")
    return result["taskId"]


@test
def slow_calls_become_tasks():
    with tempfile.TemporaryDirectory() as d, Server("--tools", tools_file(d), *FIRST) as s:
        c = Client(s)
        offered = c.ask("server/discover", {})["result"]["capabilities"]
        expect(offered["extensions"], {TASKS: {}})
        assert "tasks" not in offered
        task = started(c.eval("(do (tool/nap {}) (+ 1 2))"))
        now = c.get(task)
        expect((now["status"], now["taskId"], now["pollIntervalMs"]), ("working", task, 1000))
        assert now["createdAt"].endswith("Z") and now["ttlMs"] == 3600000, now
        done = c.settle(task)
        expect(done["status"], "completed")
        expect(done["result"]["content"][0]["text"], "3")
        assert "statusMessage" not in done and "error" not in done, done
        failed = c.settle(started(c.eval("(do (tool/nap {}) (fail \"no\"))")))
        expect((failed["status"], failed["result"]["isError"]), ("completed", True))


@test
def only_for_those_who_declare_them():
    with tempfile.TemporaryDirectory() as d, Server("--tools", tools_file(d), *FIRST, "--sessions") as s:
        c = Client(s)
        expect(c.eval("(do (tool/nap {}) 5)", tasks=False)["resultType"], "complete")
        expect(s.eval("(do (tool/nap {}) 5)").text, "5")
        for method in "tasks/get", "tasks/update", "tasks/cancel":
            error = c.ask(method, {"taskId": "t-" + "a" * 26, "inputResponses": {}}, tasks=False)["error"]
            expect((error["code"], error["data"]), (-32021, {"requiredCapabilities": {"extensions": {TASKS: {}}}}))
        for method in "tasks/list", "tasks/result":
            expect(c.ask(method, {"taskId": "t-" + "a" * 26})["error"]["code"], -32601)
        expect(s.request("tasks/get", {"taskId": "t-" + "a" * 26})["error"]["code"], -32601)
        session = s.call("lisp_session_start").data["session_id"]
        slow = {"session_id": session, "program": "(do (tool/nap {}) 6)"}
        answer = c.ask("tools/call", {"name": "lisp_session_eval", "arguments": slow})["result"]
        expect(answer["resultType"], "complete", "programs in sessions are no tasks")


@test
def cancelled():
    with tempfile.TemporaryDirectory() as d, Server("--tools", tools_file(d), *FIRST) as s:
        c = Client(s)
        task = started(c.eval("(tool/sleep {})"))
        for _ in range(3):
            answer = c.ask("tasks/cancel", {"taskId": task})["result"]
            expect({k for k in answer if k != "_meta"}, {"resultType"})
            expect(answer["resultType"], "complete")
        now = c.settle(task, seconds=5)
        expect(now["status"], "cancelled")
        assert "result" not in now and "error" not in now, now
        expect(c.ask("tasks/cancel", {"taskId": task})["result"]["resultType"], "complete")
        expect(c.ask("tasks/update", {"taskId": task, "inputResponses": {"q1": {}}})["result"]["resultType"], "complete")
        expect(c.get(task)["status"], "cancelled")


@test
def a_call_that_is_cancelled_before_it_is_a_task():
    with tempfile.TemporaryDirectory() as d, Server("--tools", tools_file(d), "--tasks-after-ms", "20000") as s:
        c = Client(s)
        number = c.begin("tools/call", {"name": "lisp_eval", "arguments": {"program": "(tool/sleep {})"}})
        time.sleep(0.3)
        s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "_meta": meta()}})
        begun = time.monotonic()
        expect(c.eval("(+ 1 1)")["content"][0]["text"], "2", "what is quick is no task")
        assert time.monotonic() - begun < 5
        assert number not in s.answers


@test
def forged_ids():
    with tempfile.TemporaryDirectory() as d, Server("--tools", tools_file(d), *FIRST) as s:
        c = Client(s)
        task = started(c.eval("(do (tool/nap {}) 1)"))
        for forged in FORGED + [task[:-1], task.upper(), task + "/r", " " + task]:
            for method in "tasks/get", "tasks/update", "tasks/cancel":
                error = c.ask(method, {"taskId": forged, "inputResponses": {}})["error"]
                expect((error["code"], error["message"]), (-32602, UNKNOWN), repr(forged))
        for forged in None, 7, [task], {"a": task}:
            expect(c.ask("tasks/get", {"taskId": forged})["error"]["message"], UNKNOWN)
        for wrong in None, 5, [], {"q1": 5}:
            expect(c.ask("tasks/update", {"taskId": task, "inputResponses": wrong})["error"]["code"], -32602)
        odd = {"q0": {}, "q1": {}, "q-1": {}, "q99999999999999999999": {}, "": {}, "é": {}, "q01": {}}
        expect(c.ask("tasks/update", {"taskId": task, "inputResponses": odd})["result"]["resultType"], "complete")
        expect(c.settle(task)["status"], "completed")


@test
def what_has_ended_stays_for_a_while():
    with tempfile.TemporaryDirectory() as d:
        with Server("--tools", tools_file(d), *FIRST, "--tasks-ttl-ms", "400") as s:
            c = Client(s)
            task = started(c.eval("(do (tool/nap {}) 1)"))
            done = c.settle(task)
            expect(done["status"], "completed")
            assert done["ttlMs"] >= 300000, done


def listen(client, *tasks, **how):
    number = client.begin("subscriptions/listen", {"notifications": {"taskIds": list(tasks)}}, **how)
    return number


def heard(server, number):
    """Notifications of a subscription so far."""
    server.request("ping")
    mine = []
    for note in server.notes:
        if note["params"].get("_meta", {}).get(META + "subscriptionId") == number:
            mine.append(note)
    return mine


@test
def notifications():
    with tempfile.TemporaryDirectory() as d, Server("--tools", tools_file(d), *FIRST) as s:
        c = Client(s)
        task = started(c.eval("(do (tool/nap {}) 12)"))
        number = listen(c, task, "t-" + "a" * 26, "nonsense")
        end = time.monotonic() + 10
        while not any(n["params"].get("status") == "completed" for n in heard(s, number)):
            assert time.monotonic() < end, s.notes
            time.sleep(0.05)
        notes = heard(s, number)
        expect(notes[0]["method"], "notifications/subscriptions/acknowledged")
        expect(notes[0]["params"]["notifications"], {"taskIds": [task]})
        expect({n["method"] for n in notes[1:]}, {"notifications/tasks"})
        last = notes[-1]["params"]
        expect((last["taskId"], last["result"]["content"][0]["text"]), (task, "12"))
        now = c.get(task)
        expect({k: last[k] for k in last if k != "_meta"}, {k: now[k] for k in now if k not in ("_meta", "resultType")})
        expect(c.ask("subscriptions/listen", {"notifications": {"taskIds": [task]}}, tasks=False)["error"]["code"], -32021)
        for wrong in "x", 5, ["x"] * 33, {"a": 1}:
            expect(c.ask("subscriptions/listen", {"notifications": {"taskIds": wrong}})["error"]["code"], -32602)


@test
def a_flood_is_bounded():
    """More than may be at once go on as calls, and the server stays usable."""
    with tempfile.TemporaryDirectory() as d, Server("--tools", tools_file(d), *FIRST, "--max-concurrent-calls", "4") as s:
        c = Client(s)
        calls = [c.begin("tools/call", {"name": "lisp_eval", "arguments": {"program": "(tool/sleep {})"}}) for _ in range(60)]
        tasks = []
        left, end = set(calls), time.monotonic() + WAIT
        while left:
            assert time.monotonic() < end, left
            expect(c.eval("(+ 2 2)", tasks=False)["content"][0]["text"], "4")
            for number in left & set(s.answers):
                task = started(s.answers[number]["result"])
                if len(left) < 20:
                    c.ask("tasks/cancel", {"taskId": task})
                    expect(c.settle(task)["status"], "cancelled")
                else:
                    tasks.append(task)
                left.remove(number)
            if len(left) == 12 and tasks:
                expect(c.get(tasks[0])["status"], "working")
                while tasks:
                    c.ask("tasks/cancel", {"taskId": tasks.pop()})


@test
def ends_while_tasks_run():
    with tempfile.TemporaryDirectory() as d, Server("--tools", tools_file(d), *FIRST) as s:
        c = Client(s)
        for _ in range(3):
            started(c.eval("(tool/sleep {})"))
        begun = time.monotonic()
        expect(s.close(), 0)
        assert time.monotonic() - begun < 10


def post(server, token, method, params, name):
    body = http_help.modern_body(method, params, **{META + "clientCapabilities": {"extensions": {TASKS: {}}}})
    headers = http_help.modern_headers(method, name, {"Authorization": "Bearer " + token})
    return http_help.raw_request(server, "POST", "/mcp", headers, json.dumps(body).encode()).json()


@test
def other_owners():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "tokens")
        with open(path, "w", encoding="utf-8") as f:
            f.write("ann " + "a" * 32 + "\nbob " + "b" * 32 + "\n")
        os.chmod(path, 0o600)
        with http_help.Server([PTC, "mcp", "--isolation", ISOLATION], "--token-file", path, "--tools", tools_file(d), *FIRST) as s:
            call = {"name": "lisp_eval", "arguments": {"program": "(do (tool/nap {}) 1)"}}
            task = started(post(s, "a" * 32, "tools/call", call, "lisp_eval")["result"])
            for method in "tasks/get", "tasks/update", "tasks/cancel":
                error = post(s, "b" * 32, method, {"taskId": task, "inputResponses": {}}, task)["error"]
                expect((error["code"], error["message"]), (-32602, UNKNOWN))
                wrong = post(s, "a" * 32, method, {"taskId": task, "inputResponses": {}}, task[:-1])["error"]
                expect(wrong["code"], -32020)
            end = time.monotonic() + WAIT
            while (now := post(s, "a" * 32, "tasks/get", {"taskId": task}, task)["result"])["status"] == "working":
                assert time.monotonic() < end
                time.sleep(0.05)
            expect((now["status"], now["result"]["content"][0]["text"]), ("completed", "1"))


def nodes(directory, count, *args):
    place = ["--store", "sqlite:" + os.path.join(directory, "store")]
    return [Server("--tools", tools_file(directory, 1.5), *FIRST, *place, *args) for _ in range(count)]


@test
def made_on_one_node_seen_on_a_second_cancelled_on_a_third():
    with tempfile.TemporaryDirectory() as d:
        one, two, three = nodes(d, 3)
        with one, two, three:
            a, b, c = Client(one), Client(two), Client(three)
            task, other = started(a.eval("(do (tool/nap {}) 7)")), started(a.eval("(tool/sleep {})"))
            expect([b.get(t)["status"] for t in (task, other)], ["working", "working"])
            c.ask("tasks/cancel", {"taskId": other})
            for client in (a, b, c):
                expect(client.settle(other, seconds=5)["status"], "cancelled")
            done = b.settle(task)
            expect((done["status"], done["result"]["content"][0]["text"]), ("completed", "7"))
            expect(a.get(task), done)
            number = listen(b, third := started(a.eval("(do (tool/nap {}) 8)")))
            end = time.monotonic() + 20
            while not any(n["params"].get("status") == "completed" for n in heard(two, number)):
                assert time.monotonic() < end, two.notes
                time.sleep(0.05)
            expect(b.get(third)["result"]["content"][0]["text"], "8")


def only_where_they_are_kept(directory):
    """A Redis that may forget them has none; its server says so, and a client is not promised anything."""
    with engine_redis.Redis() as redis:
        for setting, kept in ((("appendfsync", "always"), False), (("appendonly", "yes"), True)):
            redis.ask("CONFIG", "SET", *setting)
            with http_help.Server([PTC, "mcp", "--isolation", ISOLATION, "--store", redis.url("t"), "--tools", tools_file(directory), *FIRST]) as server:
                can = http_help.modern(server, "server/discover").json()["result"]["capabilities"]
                expect((TASKS in can.get("extensions", {}), "no call becomes a task" in server.log_text()), (kept, not kept), setting)
                arguments = {"name": "lisp_eval", "arguments": {"program": "(tool/nap {})"}}
                body = http_help.raw_request(server, "POST", "/mcp", http_help.modern_headers("tools/call", "lisp_eval"), json.dumps(
                    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**arguments, "_meta": meta()}}).encode()).json()
                expect(body["result"]["resultType"], "task" if kept else "complete", body)


def run_by_hand(page, number, server, where, changes):
    """A request of the page, with other values, as its command sends it."""
    name, body = re.findall(r"^```json (\w+\.json)\n(.*?)^```$", page, re.M | re.S)[number]
    command = re.findall(r"^curl .*$", page, re.M)[number].replace(":7332", f":{server.port}")
    for old, new in changes.items():
        body, command = body.replace(old, new), command.replace(old, new)
    with open(os.path.join(where, name), "w", encoding="utf-8") as f:
        f.write(body)
    return json.loads(subprocess.run(["sh", "-c", command], cwd=where, stdout=subprocess.PIPE, check=True, timeout=WAIT).stdout)["result"]


@test
def by_hand():
    """The requests that docs/mcp-http.md shows."""
    page = pathlib.Path(__file__).resolve().parents[2].joinpath("docs/mcp-http.md").read_text(encoding="utf-8")
    page = page[page.index("## By hand"):]
    if not shutil.which("curl"):
        print("skipped: curl is not installed")
        return
    with tempfile.TemporaryDirectory() as where, http_help.Server(
            [PTC, "mcp", "--isolation", ISOLATION, "--tools", tools_file(where), *FIRST]) as server:
        first = run_by_hand(page, 0, server, where, {})  # on a busy machine it takes as long as a task
        assert first["resultType"] == "task" or first["content"][0]["text"] == "3", first
        task = started(run_by_hand(page, 0, server, where, {"(+ 1 2)": "(tool/nap {})"}))
        got = run_by_hand(page, 1, server, where, {"t-tbesfzcdeqc6cu6rfzrkg2kvxi": task})
        assert got["taskId"] == task and got["status"] in ("working", "completed"), got


@test
def on_redis():
    try:
        with tempfile.TemporaryDirectory() as directory:
            only_where_they_are_kept(directory)
    except engines.Missing as e:
        print(f"skipped: {e}")


@test
def a_node_that_is_restarted():
    """It ends what it runs, and others tell the result."""
    with tempfile.TemporaryDirectory() as d:
        args = ["--tools", tools_file(d, 1.5), *FIRST, "--store", "sqlite:" + os.path.join(d, "store")]
        with Server(*args) as two:
            with http_help.Server([PTC, "mcp", "--isolation", ISOLATION], *args) as one:
                call = {"name": "lisp_eval", "arguments": {"program": "(do (tool/nap {}) 9)"}}
                declared = {META + "clientCapabilities": {"extensions": {TASKS: {}}}}
                task = started(http_help.modern(one, "tools/call", call, **declared).json()["result"])
                expect(one.stop(), 0)
            done = Client(two).get(task)
            expect((done["status"], done["result"]["content"][0]["text"]), ("completed", "9"))


@test
def a_node_that_dies():
    with tempfile.TemporaryDirectory() as d:
        one, two = nodes(d, 2, "--lease-ms", "2000")
        with two:
            a, b = Client(one), Client(two)
            task = started(a.eval("(tool/sleep {})"))
            time.sleep(2.5)
            expect(b.get(task)["status"], "working", "it renews its lease")
            one.process.kill()
            failed = b.settle(task, seconds=10)
            expect((failed["status"], failed["error"]["code"]), ("failed", -32603))
            assert "has ended" in failed["error"]["message"], failed
            expect(b.ask("tasks/cancel", {"taskId": task})["result"]["resultType"], "complete")
            one.process.wait()


main("mcp app tasks")
