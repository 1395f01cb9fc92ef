#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_tasks.py PTC: servers that answer calls with tasks (SEP-2663), over stdio and HTTP; and the same as a chain: a client that
knows tasks, ptc mcp, a server that makes some."""
import http.server
import json
import os
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from mcp_talk import Talk  # noqa: E402
from place import READ, Counts, Place, tool  # noqa: E402

counts = Counts()
PTC = sys.argv[1] if len(sys.argv) > 1 else ""
ME = os.path.abspath(__file__)
TASKS = "io.modelcontextprotocol/tasks"
META = "io.modelcontextprotocol/"
ASK = {"method": "elicitation/create", "params": {"message": "Which?", "requestedSchema": {
    "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}
TOOLS = ["slow", "broken", "says_no", "gone", "asks", "asks_twice", "nonsense", "no_result", "again_task", "forgotten", "hangs", "no_id",
         "long_id", "odd_times", "flaky", "at_once"]


class Server:
    """What each task answers is a list of states, of which the last stays."""

    def __init__(self, home):
        self.home, self.tasks, self.faults = home, {}, 0

    def log(self, line):
        with open(os.path.join(self.home, "log"), "a", encoding="utf-8") as f:
            f.write(line + "\n")

    def make(self, name, params):
        text = params["arguments"].get("text", "")
        done = {"status": "completed", "result": {"content": [{"type": "text", "text": "did " + text}], "resultType": "complete"}}
        works = {"status": "working", "statusMessage": "at it"}
        ask = [{"status": "input_required", "inputRequests": {key: ASK}} for key in ("a\\\"1", "b")]
        states = {
            "slow": [works] * 4 + [done],
            "broken": [works, {"status": "failed", "error": {"code": -32603, "message": "it broke"}}],
            "says_no": [works, {"status": "completed", "result": {"content": [{"type": "text", "text": "no"}], "isError": True}}],
            "gone": [works, {"status": "cancelled"}],
            "asks": [works, ask[0], works, "answered"],
            "asks_twice": [ask[0], ask[1], "answered"],
            "nonsense": [works, {"status": "half done"}],
            "no_result": [works, {"status": "completed"}],
            "again_task": [works, {"status": "completed", "result": {"resultType": "task", "taskId": "t"}}],
            "forgotten": [works, None],
            "hangs": [works],
            "odd_times": [{**works, "pollIntervalMs": ms} for ms in (-5, 0, 1.5, "soon", 10**30)] + [done],
            "flaky": [works, "fault", works, "fault", done],
        }
        task = f"task-{name}-{len(self.tasks)}"
        self.tasks[task] = {"states": states.get(name, [done]), "at": 0, "said": {}}
        head = {"resultType": "task", "taskId": task, "status": "working", "createdAt": "2026-01-01T00:00:00Z",
                "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": 60000, "pollIntervalMs": 100}
        if name == "no_id":
            del head["taskId"]
        if name == "long_id":
            head["taskId"] = "x" * 5000
        return head if name != "at_once" else done["result"]

    def get(self, task):
        t = self.tasks[task]
        state = t["states"][t["at"]]
        asks = isinstance(state, dict) and state.get("status") == "input_required"
        if t["at"] + 1 < len(t["states"]) and not asks:
            t["at"] += 1
        if state is None:
            raise KeyError(task)
        if state == "fault":
            return state
        if state == "answered":
            words = json.dumps(t["said"], sort_keys=True)
            state = {"status": "completed", "result": {"content": [{"type": "text", "text": words}]}}
        return {"taskId": task, "createdAt": "", "lastUpdatedAt": "", "ttlMs": None, "pollIntervalMs": 100, **state}

    def update(self, params):
        t = self.tasks[params["taskId"]]
        state = t["states"][t["at"]]
        for key, answer in params["inputResponses"].items():
            if key in state.get("inputRequests", {}):
                t["said"][key] = answer
                t["at"] += 1
        return {}

    def result(self, method, params):
        meta = params.get("_meta", {})
        declared = TASKS in meta.get(META + "clientCapabilities", {}).get("extensions", {})
        name = params.get("name") or params.get("taskId") or ""
        self.log(f"{method} {name or 0} {'declared' if declared else '-'}")
        if method == "server/discover":
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "extensions": {TASKS: {}}}, "ttlMs": 0,
                    "cacheScope": "private"}
        if method == "tools/list":
            return {"tools": [tool(n, "Does it", READ) for n in TOOLS], "ttlMs": 0, "cacheScope": "private"}
        if method == "tools/call":
            return self.make(name, params)
        if method == "tasks/get":
            return self.get(name)
        if method == "tasks/update":
            return self.update(params)
        return {} if method == "tasks/cancel" else None

    def answer(self, message):
        out = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            result = self.result(message["method"], message.get("params", {}))
        except KeyError:
            return {**out, "error": {"code": -32602, "message": "no such task"}}
        if result == "fault":
            return None
        if result is None:
            return {**out, "error": {"code": -32601, "message": "no"}}
        return {**out, "result": {"resultType": "complete", **result}}


def serve_lines(home):
    server = Server(home)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = server.answer(message)
            if answer is None:
                answer = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "a moment"}}
            print(json.dumps(answer), flush=True)
        else:
            server.log(message["method"] + " - -")


def serve_http(home):
    server, lock = Server(home), threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

        def do_POST(self):  # pylint: disable=invalid-name
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                params = message.get("params", {})
                name = params.get("taskId") or params.get("name")
                if name and self.headers.get("Mcp-Name") != name:
                    server.log("wrong header " + str(self.headers.get("Mcp-Name")))
                answer = server.answer(message) if "id" in message else {}
            body = b"" if answer is None or "id" not in message else json.dumps(answer).encode()
            self.send_response(503 if answer is None else 200 if body else 202)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    return web


def log_of(place, method=None):
    lines = [line.split() for line in place.read("log").splitlines()]
    return [line for line in lines if method is None or line[0] == method]


def check_calls(place, kind):
    done = place.eval('(str (s/slow {:text "it"}) (s/at_once {:text "that"}))')
    counts.check(f"{kind}: the program waits for the task", "did itdid that" in done.stdout, done)
    counts.check(f"{kind}: declared with calls and tasks",
                 all(line[2] == "declared" for line in log_of(place) if line[0] in ("tools/call", "tasks/get")), log_of(place))
    counts.check(f"{kind}: and only there", all(line[2] == "-" for line in log_of(place) if line[0] in ("tools/list", "server/discover")))
    counts.check(f"{kind}: one call", len(log_of(place, "tools/call")) == 2, log_of(place))
    counts.check(f"{kind}: it polls", 4 <= len(log_of(place, "tasks/get")) <= 7, log_of(place))
    for name, word in (("broken", "it broke"), ("says_no", "no"), ("gone", "the task was cancelled"), ("forgotten", "no such task"),
                       ("nonsense", "understood"), ("no_result", "understood"), ("again_task", ""), ("no_id", ""), ("long_id", "")):
        done = place.eval(f'(s/{name} {{:text "x"}})')
        counts.check(f"{kind}: {name}", done.returncode == 1 and word in done.stdout + done.stderr, done)
    done = place.eval('(s/odd_times {:text "x"})', "--timeout-ms", "20000")
    counts.check(f"{kind}: odd intervals are bounded", not done.returncode or "timeout" in done.stdout + done.stderr, done)
    counts.check(f"{kind}: the header", not log_of(place, "wrong"), log_of(place, "wrong"))


def test_stdio(home):
    place = Place(PTC, home)
    place.use({"s": {"command": sys.executable, "args": [ME, "serve", place.home]}})
    check_calls(place, "stdio")


def test_http(home):
    place = Place(PTC, home)
    web = serve_http(place.home)
    place.use({"s": {"url": f"http://127.0.0.1:{web.server_port}/mcp", "allow_insecure_http": True}})
    check_calls(place, "http")
    done = place.eval('(s/flaky {:text "x"})')
    counts.check("http: a server that is away for a moment", "did x" in done.stdout, done)
    web.shutdown()


def test_cancel(home):
    """The program ends, or the call has no time left: the server is told."""
    place = Place(PTC, home)
    place.use({"s": {"command": sys.executable, "args": [ME, "serve", place.home], "call_timeout_ms": 60000}})
    begun = time.monotonic()
    done = place.eval('(s/hangs {:text "x"})', "--deadline-ms", "1500")
    counts.check("cancel: in time", done.returncode == 1 and time.monotonic() - begun < 10, done)
    for _ in range(200):  # it ends a little later than the program that called it
        if log_of(place, "tasks/cancel"):
            break
        time.sleep(0.05)
    time.sleep(0.5)
    counts.check("cancel: the server is told", [line[1] for line in log_of(place, "tasks/cancel")] == ["task-hangs-0"], log_of(place))
    counts.check("cancel: not in the old way", not log_of(place, "notifications/cancelled"), log_of(place))


def modern(talk, method, params, tasks=True):
    """Asks as a client of 2026 that knows tasks and can be asked."""
    can = {"elicitation": {"form": {}}, **({"extensions": {TASKS: {}}} if tasks else {})}
    return talk.request(method, {**params, "_meta": {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": can,
                                                     META + "clientInfo": {"name": "test", "version": "1"}}})


def settle(talk, task, *wanted):
    for _ in range(400):
        got = modern(talk, "tasks/get", {"taskId": task})
        if got["status"] in wanted:
            return got
        time.sleep(0.05)
    return got


def text_of(result):
    return result["content"][0]["text"]


def answer_all(got, name):
    return {key: {"action": "accept", "content": {"name": name}} for key in got["inputRequests"]}


def test_questions(home):
    """A question of the server's task is asked in the call of our client, or in its task."""
    place = Place(PTC, home)
    upstreams = {"s": {"command": sys.executable, "args": [ME, "serve", place.home], "elicitation": True}}
    talk = Talk(PTC, place.home, upstreams, "--tasks-after-ms", "30000")
    call = {"name": "lisp_eval", "arguments": {"program": '(s/asks_twice {:text "x"})'}}
    got = modern(talk, "tools/call", call)
    for name in ("ann", "bob"):
        counts.check("question: in the call", got["resultType"] == "input_required", got)
        got = modern(talk, "tools/call", {**call, "inputResponses": answer_all(got, name), "requestState": got["requestState"]})
    counts.check("question: both answers", text_of(got).index("ann") < text_of(got).index("bob"), got)
    counts.check("question: one call", len(log_of(place, "tools/call")) == 1, log_of(place))
    counts.check("question: two updates", len(log_of(place, "tasks/update")) == 2, log_of(place))
    talk.close()
    talk = Talk(PTC, place.home, upstreams, "--tasks-after-ms", "50")
    got = modern(talk, "tools/call", {"name": "lisp_eval", "arguments": {"program": '(s/asks {:text "x"})'}})
    counts.check("question: a task", got["resultType"] == "task", got)
    now = settle(talk, got["taskId"], "input_required")
    counts.check("question: asked in it", "Which?" in json.dumps(now.get("inputRequests")), now)
    modern(talk, "tasks/update", {"taskId": got["taskId"], "inputResponses": {"q7": {"action": "accept"}}})
    counts.check("question: others are ignored", settle(talk, got["taskId"], "input_required")["status"] == "input_required")
    modern(talk, "tasks/update", {"taskId": got["taskId"], "inputResponses": answer_all(now, "cid")})
    done = settle(talk, got["taskId"], "completed", "failed")
    counts.check("question: its answer", "cid" in json.dumps(done.get("result")), done)
    talk.close()


def test_approvals(home):
    """What needs an approval after the call became a task is asked in it; the tools are called once."""
    place = Place(PTC, home)
    talk = Talk(PTC, place.home, {"s": {"command": sys.executable, "args": [ME, "serve", place.home], "policy": {"at_once": "ask"}}},
                "--tasks-after-ms", "50")
    program = '(str (s/slow {:text "1"}) (s/at_once {:text "2"}))'
    got = modern(talk, "tools/call", {"name": "lisp_eval", "arguments": {"program": program}})
    counts.check("approval: a task", got["resultType"] == "task", got)
    now = settle(talk, got["taskId"], "input_required", "failed", "completed")
    counts.check("approval: asked", list(now.get("inputRequests", {})) == ["q1"] and "at_once" in json.dumps(now), now)
    modern(talk, "tasks/update", {"taskId": got["taskId"], "inputResponses": {"q1": {"action": "accept", "content": {"decision": "once"}}}})
    done = settle(talk, got["taskId"], "completed", "failed")
    counts.check("approval: done", "did 1did 2" in json.dumps(done.get("result")), done)
    counts.check("approval: each once", sorted(line[1] for line in log_of(place, "tools/call")) == ["at_once", "slow"], log_of(place))
    got = modern(talk, "tools/call", {"name": "lisp_eval", "arguments": {"program": program}})
    now = settle(talk, got["taskId"], "input_required")
    modern(talk, "tasks/cancel", {"taskId": got["taskId"]})
    modern(talk, "tasks/update", {"taskId": got["taskId"], "inputResponses": answer_all(now, "x")})
    counts.check("approval: cancelled", settle(talk, got["taskId"], "cancelled")["status"] == "cancelled")
    for _ in range(12): # more than may wait at once: what is cancelled waits no more
        got = modern(talk, "tools/call", {"name": "lisp_eval", "arguments": {"program": program}})
        now = settle(talk, got["taskId"], "input_required", "failed", "completed")
        if now["status"] != "input_required":
            break
        modern(talk, "tasks/cancel", {"taskId": got["taskId"]})
        time.sleep(0.1)
    counts.check("approval: what is cancelled lets go", now["status"] == "input_required", now)
    talk.close()


def test_two_nodes(home):
    """A question of one node's task is answered through another: the first goes on, or, if it is gone, the other."""
    for killed in (False, True):
        place = Place(PTC, os.path.join(home, str(killed)))
        upstreams = {"s": {"command": sys.executable, "args": [ME, "serve", place.home], "policy": {"at_once": "ask"}}}
        options = ["--tasks-after-ms", "50", "--lease-ms", "2000", "--store", "sqlite:" + place.path("store")]
        one, two = (Talk(PTC, place.home, upstreams, *options) for _ in range(2))
        program = '(str (s/slow {:text "1"}) (s/at_once {:text "2"}))'
        task = modern(one, "tools/call", {"name": "lisp_eval", "arguments": {"program": program}})["taskId"]
        now = settle(two, task, "input_required", "failed", "completed")
        counts.check("two: asked", list(now.get("inputRequests", {})) == ["q1"], now)
        if killed:
            one.process.kill()
            time.sleep(2.5)
        modern(two, "tasks/update", {"taskId": task, "inputResponses": {"q1": {"action": "accept", "content": {"decision": "once"}}}})
        done = settle(two, task, "completed", "failed")
        counts.check(f"two: done, {killed}", "did 1did 2" in json.dumps(done.get("result")), done)
        called = sorted(line[1] for line in log_of(place, "tools/call"))
        counts.check(f"two: each once, {killed}", called == ["at_once", "slow"], called)
        two.close()
        if killed:
            one.process.wait()
            one.process.stdin.close()
            one.process.stdout.close()
        else:
            one.close()


def main():
    for test in (test_stdio, test_http, test_cancel, test_questions, test_approvals, test_two_nodes):
        with tempfile.TemporaryDirectory() as home:
            test(home)
    counts.done()


if len(sys.argv) > 1 and sys.argv[1] == "serve":
    serve_lines(sys.argv[2])
else:
    main()
