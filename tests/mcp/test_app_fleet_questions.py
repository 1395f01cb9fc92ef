#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_fleet_questions.py PTC [ISOLATION]: servers on one store, and questions that one of them asks and
another gets the answer to.  Whoever gets it goes on, once; the same answer gets the same result, from everybody."""
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from app_help import PTC, WAIT, Answer, Server, clean_env, expect, main, start, test

MODERN = "2026-07-28"
ELICITS = {"elicitation": {}}

# usage: upstream.py HOME: every call is a line of HOME/calls; `slow` takes until HOME/go is there.
UPSTREAM = r'''
import json, os, sys, time
home = sys.argv[1]
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
def tool(name, **hints):
    return {"name": name, "description": "Does it", "inputSchema": TEXT, "annotations": hints}
def answer(text):
    return {"content": [{"type": "text", "text": text}]}
waiting = None
for line in sys.stdin:
    m = json.loads(line)
    if "method" not in m and waiting is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": waiting, "result": answer("hello " + m["result"]["content"]["name"])}), flush=True)
        waiting = None
        continue
    if "id" not in m:
        continue
    method, p = m["method"], m.get("params", {})
    out = {"jsonrpc": "2.0", "id": m["id"]}
    if method == "initialize":
        out["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif method == "tools/list":
        out["result"] = {"tools": [tool("read", readOnlyHint=True), tool("write", destructiveHint=True), tool("slow", destructiveHint=True),
                                   tool("asks", readOnlyHint=True)]}
    elif method == "tools/call":
        with open(os.path.join(home, "calls"), "a") as f:
            f.write(p["name"] + " " + p["arguments"]["text"] + "\n")
        while p["name"] == "slow" and not os.path.exists(os.path.join(home, "go")):
            time.sleep(0.05)
        if p["name"] == "asks":
            waiting = m["id"]
            out = {"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {
                "type": "object", "properties": {"name": {"type": "string"}}}}}
        else:
            out["result"] = answer(p["name"] + " " + p["arguments"]["text"])
    else:
        out["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(out), flush=True)
'''


class Home:
    """A directory with a store and an upstream that counts its calls."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.path = self.dir.name
        self.write("upstream.py", UPSTREAM)
        self.write("u.json", json.dumps({"upstreams": {"notes": {"command": sys.executable, "args": [f"{self.path}/upstream.py", self.path]}}}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.dir.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as f:
            f.write(text)

    def calls(self):
        try:
            with open(os.path.join(self.path, "calls"), encoding="utf-8") as f:
                return f.read().split("\n")[:-1]
        except FileNotFoundError:
            return []

    def await_calls(self, *calls):
        until = time.monotonic() + WAIT
        while self.calls() != list(calls) and time.monotonic() < until:
            time.sleep(0.05)
        expect(self.calls(), list(calls))

    def forget(self):
        if os.path.exists(os.path.join(self.path, "calls")):
            os.remove(os.path.join(self.path, "calls"))

    def node(self, *options, own=""):
        """A server with a home of its own, since servers of a fleet share nothing but the store."""
        home = tempfile.mkdtemp(dir=self.path)
        return Node("--upstreams", f"{self.path}/u.json", "--store", f"sqlite:{self.path}/store{own}", "--sessions", *options,
                    env=clean_env(HOME=home))


class Node(Server):
    """A server, asked by clients of 2026-07-28."""

    def modern(self, tool, arguments, capabilities=None, **more):
        return {"name": tool, "arguments": arguments, **more,
                "_meta": {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
                          "io.modelcontextprotocol/clientCapabilities": ELICITS if capabilities is None else capabilities}}

    def ask(self, program, tool="lisp_eval", **more):
        """Begins a program that must ask."""
        question = Question(tool, {"program": program, **more})
        return question.asked(self.request("tools/call", self.modern(tool, question.arguments)))

    def say(self, question, decision):
        message = self.request("tools/call", question.reply(self, {"action": "accept", "content": {"decision": decision}}))
        assert "content" in message.get("result", {}), message
        return Answer(message)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Question:
    def __init__(self, tool, arguments):
        self.tool, self.arguments, self.state, self.key, self.text = tool, arguments, None, None, None

    def asked(self, message):
        result = message["result"]
        expect(result.get("resultType"), "input_required")
        (self.key, request), = result["inputRequests"].items()
        self.state, self.text = result["requestState"], request["params"]["message"]
        return self

    def reply(self, node, answer):
        return node.modern(self.tool, self.arguments, requestState=self.state, inputResponses={self.key: answer})


def value(answer):
    """The printed result, without what is said of effects."""
    assert not answer.failed, answer.text
    return answer.text.split("\n")[0]


PROGRAM = '(let [a (notes/read {:text "a"})] [a (notes/write {:text "b"})])'
DONE = ["read a", "write b"]


@test
def asked_at_one_answered_at_another():
    with Home() as home, home.node() as a, home.node() as b, home.node() as c:
        question = a.ask(PROGRAM)
        assert '"notes"/"write" {"text":"b"}' in question.text, question.text
        first = b.say(question, "once")
        expect(value(first), '["read a" "write b"]')
        expect(home.calls(), DONE)
        for node in (a, b, c, a):
            expect(node.say(question, "once").result.get("content"), first.result["content"])
        for node in (a, b, c):
            other = node.say(question, "no")
            assert other.failed and "answered already, differently" in other.text, other.text
        expect(home.calls(), DONE)


@test
def several_questions_wander():
    program = '[(notes/write {:text "1"}) (notes/write {:text "2"})]'
    with Home() as home, home.node() as a, home.node() as b, home.node() as c:
        first = a.ask(program)
        second = Question("lisp_eval", first.arguments).asked(b.request("tools/call", first.reply(b, {
            "action": "accept", "content": {"decision": "once"}})))
        expect(home.calls(), ["write 1"])
        assert "took effect: notes/write" in second.text, second.text
        again = Question("lisp_eval", first.arguments).asked(c.request("tools/call", first.reply(c, {
            "action": "accept", "content": {"decision": "once"}})))  # what came of it: the second question
        assert '{"text":"2"}' in again.text, again.text
        expect(value(a.say(again, "run")), '["write 1" "write 2"]')
        expect(value(b.say(again, "run")), '["write 1" "write 2"]')
        expect(home.calls(), ["write 1", "write 2"])


@test
def after_restarts():
    with Home() as home:
        with home.node() as a:
            question = a.ask(PROGRAM)
        with home.node() as b:
            first = b.say(question, "once")
            expect(value(first), '["read a" "write b"]')
        with home.node() as c:
            expect(c.say(question, "once").result["content"], first.result["content"])
        expect(home.calls(), DONE)
        home.forget()
        killed = home.node()
        question = killed.ask(PROGRAM)
        killed.kill()
        with home.node() as d:
            expect(d.say(question, "no").failed, True)
            expect(home.calls(), ["read a"])


def at_once(question, *nodes):
    """What all of them say to the same answer at the same time."""
    answers = [None] * len(nodes)

    def say(i):
        answers[i] = nodes[i].say(question, "once")

    threads = [threading.Thread(target=say, args=(i,)) for i in range(len(nodes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    return answers


@test
def at_several_at_the_same_time():
    with Home() as home, home.node() as a, home.node() as b, home.node() as c:
        for i in range(5):
            home.forget()
            question = a.ask(f'(notes/slow {{:text "{i}"}})')
            threading.Timer(0.3, home.write, ("go", "")).start()
            answers = at_once(question, a, b, c)
            expect([value(answer) for answer in answers], [f'"slow {i}"'] * 3)
            expect(home.calls(), [f"slow {i}"])
            os.remove(os.path.join(home.path, "go"))


@test
def the_one_that_goes_on_is_killed():
    with Home() as home, home.node() as a:
        b = home.node()
        question = a.ask('[(notes/read {:text "a"}) (notes/slow {:text "x"})]')
        begun = b.begin("tools/call", question.reply(b, {"action": "accept", "content": {"decision": "once"}}))
        home.await_calls("read a", "slow x")
        b.kill()
        answer = a.say(question, "once")
        assert begun and answer.failed and answer.text.startswith("lost: "), answer.text
        assert "the server that had the program is gone" in answer.text, answer.text
        expect(home.calls(), ["read a", "slow x"])
        home.write("go", "")


@test
def forged_and_foreign_tokens():
    with Home() as home, home.node() as a, home.node() as b, home.node(own="2") as stranger:
        question = a.ask(PROGRAM)
        state = question.state
        for i in range(0, len(state), 7):
            question.state = state[:i] + ("A" if state[i] != "A" else "B") + state[i + 1:]
            answer = b.request("tools/call", question.reply(b, {"action": "accept", "content": {"decision": "once"}}))
            assert answer.get("error"), answer
        question.state = state
        assert stranger.request("tools/call", question.reply(stranger, {"action": "accept", "content": {"decision": "once"}})).get("error")
        arguments, question.arguments = question.arguments, {"program": "1"}
        assert b.request("tools/call", question.reply(b, {"action": "accept", "content": {"decision": "once"}})).get("error")
        question.arguments = arguments
        key, question.key = question.key, "approve-1-0000000000000000"
        answer = Answer(b.request("tools/call", question.reply(b, {"action": "accept", "content": {"decision": "once"}})))
        expect(answer.result.get("resultType"), "input_required")  # it is none, so it is asked again
        question.key = key
        expect(home.calls(), ["read a"])
        expect(value(b.say(Question("lisp_eval", arguments).asked(answer.message), "once")), '["read a" "write b"]')


# ---------------------------------------------------------------------------------------- sessions


def start_session(node):
    return node.call("lisp_session_start").data["session_id"]


def run(node, session, program):
    answer = node.call("lisp_session_eval", session_id=session, program=program)
    assert not answer.failed, answer.text
    return answer.text


@test
def in_a_session():
    with Home() as home, home.node() as a, home.node() as b:
        session = start_session(a)
        question = a.ask('(def x (notes/write {:text "s"}))', "lisp_session_eval", session_id=session)
        run(a, session, "(def y 1)")  # nobody waits for the person
        run(b, session, "(def z 2)")
        expect(b.say(question, "once").failed, False)
        expect(run(a, session, "[x y z]"), '["write s" 1 2]')
        expect(a.say(question, "once").failed, False)
        expect(home.calls(), ["write s"])


@test
def in_a_session_that_has_changed():
    with Home() as home, home.node() as a, home.node() as b:
        session = start_session(a)
        run(a, session, '(def x "1")')
        question = a.ask("[(notes/read {:text x}) (notes/write {:text x})]", "lisp_session_eval", session_id=session)
        run(b, session, '(def x "2")')
        answer = b.say(question, "once")
        assert answer.failed and "something other than before" in answer.text, answer.text
        expect(home.calls(), ["read 1"])
        question = a.ask("(notes/write {:text x})", "lisp_session_eval", session_id=session)
        expect(b.call("lisp_session_close", session_id=session).failed, False)
        answer = a.say(question, "once")
        assert answer.failed and answer.text.startswith("unknown_session: "), answer.text
        expect(home.calls(), ["read 1"])


# ----------------------------------------------------------------------------------- older protocols


class Person:
    """A client of an older protocol, who is asked while a call waits."""

    def __init__(self, home, *options, answer):
        own = tempfile.mkdtemp(dir=home.path)
        self.process = start([PTC, "mcp", "--upstreams", f"{home.path}/u.json", "--store", f"sqlite:{home.path}/store", *options,
                              "--isolation", "none"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_env(HOME=own))
        self.answer, self.number = answer, 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": ELICITS, "clientInfo": {"name": "t", "version": "0"}})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("method") == "elicitation/create":
                self.send({"id": message["id"], **self.answer})
            elif message.get("id") == self.number and "method" not in message:
                return message

    def eval(self, **arguments):
        return Answer(self.request("tools/call", {"name": "lisp_eval", "arguments": arguments}))

    def close(self):
        self.process.stdin.close()
        self.process.wait(WAIT)


@test
def resumed_elsewhere():
    with Home() as home:
        a = Person(home, answer={"error": {"code": -1, "message": "not now"}})
        b = Person(home, answer={"result": {"action": "accept", "content": {"decision": "once"}}})
        waits = a.eval(program=PROGRAM)
        assert waits.failed and waits.text.startswith("suspended: "), waits.text
        token = waits.text.split('"resume":"')[1].split('"')[0]
        a.close()
        expect(value(b.eval(resume=token)), '["read a" "write b"]')
        expect(value(b.eval(resume=token)), '["read a" "write b"]')
        expect(home.calls(), DONE)
        b.close()


@test
def a_call_that_is_open_stays_where_it_is():
    with Home() as home, home.node() as a, home.node() as b:
        question = a.ask('(notes/asks {:text "x"})')
        reply = {"action": "accept", "content": {"name": "Ada"}}
        answer = Answer(b.request("tools/call", question.reply(b, reply)))
        assert answer.failed and answer.text.startswith("busy: another server"), answer.text
        expect(value(Answer(a.request("tools/call", question.reply(a, reply)))), '"hello Ada"')
        expect(value(Answer(b.request("tools/call", question.reply(b, reply)))), '"hello Ada"')
        expect(home.calls(), ["asks x"])


# ------------------------------------------------------------------------------------------ ptc view


class View:
    """`ptc view` of the store, and its page as a browser would ask for it."""

    def __init__(self, home):
        self.process = start([PTC, "view", "--no-open", "--store", f"sqlite:{home.path}/store"], stdout=subprocess.PIPE, env=clean_env(HOME=home.path))
        self.address = self.process.stdout.readline().decode().strip()
        self.host = self.address.split("/")[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(WAIT)

    def ask(self, path, body=None, **fields):
        connection = http.client.HTTPConnection(self.host, timeout=WAIT)
        connection.request("GET" if body is None else "POST", "/" + self.address.split("/")[3] + "/" + path,
                           None if body is None else json.dumps(body), {k.replace("_", "-"): v for k, v in fields.items()})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def waiting(self):
        status, text = self.ask("approvals.json")
        expect(status, 200)
        return json.loads(text)

    def decide(self, row, decision, **fields):
        fields = {"Origin": f"http://{self.host}", "Content_Type": "application/json", **fields}
        return self.ask("approval", {**{k: row[k] for k in ("owner", "id", "round", "mark")}, "decision": decision},
                        **{k: v for k, v in fields.items() if v})


@test
def answered_in_a_browser():
    with Home() as home, home.node() as a, home.node() as b, View(home) as view:
        expect(view.waiting(), [])
        question = a.ask(PROGRAM)
        row, = view.waiting()
        expect((row["question"], row["program"], row["tool"]), (question.text, PROGRAM, "lisp_eval"))
        for fields in ({"Origin": None}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}):
            expect(view.decide(row, "once", **fields)[0], 403)
        expect(view.decide(row, "once", Content_Type="text/plain")[0], 400)
        expect(view.ask("approval")[0], 404)
        for wrong in ({"round": 7}, {"mark": "0" * 16}, {"id": "0" * 32}, {"owner": "nobody"}):
            assert b"error" in view.decide({**row, **wrong}, "once")[1]
        assert b"error" in view.decide(row, "perhaps")[1]
        expect(home.calls(), ["read a"])
        expect(view.decide(row, "once"), (200, b"{}"))
        expect(view.decide(row, "once"), (200, b"{}"))  # the same again
        assert b"answered already" in view.decide(row, "no")[1]
        expect(view.waiting()[0]["said"], {"action": "accept", "content": {"decision": "once"}})
        other = a.say(question, "no")
        assert other.failed and "answered already, differently" in other.text, other.text
        # whoever comes next, without an answer of its own, gets what came of it; and so does whoever comes again
        for node in (b, a, b):
            answer = Answer(node.request("tools/call", node.modern(question.tool, question.arguments, requestState=question.state)))
            expect(value(answer), '["read a" "write b"]')
        expect(value(b.say(question, "once")), '["read a" "write b"]')
        expect(home.calls(), DONE)
        expect(view.waiting(), [])


@test
def declined_in_a_browser():
    with Home() as home, View(home) as view:
        a = Person(home, answer={"error": {"code": -1, "message": "not now"}})
        waits = a.eval(program=PROGRAM)
        token = waits.text.split('"resume":"')[1].split('"')[0]
        row, = view.waiting()
        expect(view.decide(row, "no"), (200, b"{}"))
        answer = a.eval(resume=token)
        assert answer.failed and "said no" in answer.text, answer.text
        expect(home.calls(), ["read a"])
        a.close()


@test
def nothing_is_hidden_from_who_decides():
    with Home() as home, home.node() as a, View(home) as view:
        a.ask('(do "a\u202eb" (notes/write {:text "1"}))')
        row, = view.waiting()
        assert "\u202e" not in row["program"] and "202e" in row["program"], row
        a.ask('(notes/write {:text "2"})' + " " * 4000 + ";; the end")
        cut, = [r for r in view.waiting() if r["id"] != row["id"]]
        assert cut["program"].endswith("bytes more that are not shown"), cut["program"][-60:]


main("fleet questions")
