#!/usr/bin/env python3
"""Drives `ptc chat` through a pipe and through a terminal, with scripts and with a server on loopback as models.
test_chat.py PTC"""
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position
from terminals import Terminal  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
PROMPT = b"you> \x1b[0m\x1b[K"
PLAIN = {"prompt": "x", "output": "text"}


def block(program):
    return {"content": f"```clojure\n{program}\n```"}


def write(home, agent):
    path = f"{home}/agent.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(agent, file)
    return path


def environment(home):
    return {"TERM": "xterm", "HOME": home, "XDG_STATE_HOME": home + "/state", "PATH": os.environ["PATH"]}


def pipe(home, text, *args):
    return subprocess.run([PTC, "chat", *args], input=text, capture_output=True, text=True, timeout=60, check=False,
                          cwd=home, env=environment(home))


# ------------------------------------------------------------------------------------ server

class Server(http.server.ThreadingHTTPServer):
    """An endpoint that streams: each request takes the next list of pieces.  A piece is a text, a threading.Event to
    wait for, or None: the connection breaks."""
    daemon_threads = True

    def __init__(self, *replies):
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies, self.bodies = list(replies), []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Clients that go away are part of the tests."""

    def model(self):
        return f"openai-compat:http://127.0.0.1:{self.server_address[1]}/v1|m"

    def said(self, number):
        """What request `number` brought, without the system prompt."""
        return [(m["role"], m["content"]) for m in self.bodies[number]["messages"] if m["role"] != "system"]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass

    def event(self, data):
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def do_POST(self):  # pylint: disable=invalid-name
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        pieces = self.server.replies.pop(0)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for piece in pieces:
            if piece is None:
                return
            if isinstance(piece, threading.Event):
                piece.wait(60)
                continue
            self.event(json.dumps({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}))
        self.event(json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
        self.event("[DONE]")


# ---------------------------------------------------------------------------------- terminal

def chat(home, *args):
    """ptc chat on a terminal of its own."""
    t = Terminal([PTC, "chat", *args], environment(home), home)
    t.prompt = PROMPT
    check("terminal: it greets", t.wait_for(b"/help for help") and t.wait_for(PROMPT), t.got)
    return t


# -------------------------------------------------------------------------------------- pipe

def test_memory(home):
    agent = {"prompt": "{{unsent}}", "tools": {"n": {"seq": [1, 2, 3], "cache": True}}, "journaling": True,
             "llm": [block('(def a (tool/n)) (task "t" 7) (return a)'),
                     block('(return [a *1 (tool/n) (task "t" 8)])'),
                     block("(return [*1 (try (tool/n) (catch Exception e 0))])"), block("(return data/k)")]}
    done = pipe(home, "first {{x}}\n\n  second  \n/reset\nthird\n/nope\nfourth\n/quit\nfifth\n", write(home, agent),
                "--context", '{"k": "a text"}', "--trace", f"{home}/t.jsonl")
    check("what is kept, and forgotten",
          done.stdout == "1\n[1,1,1,7]\neverything was forgotten\n[null,2]\na text\n" and done.returncode == 0, done)
    check("no such command", done.stderr == "there is no command /nope; /help lists them\n", done.stderr)
    with open(f"{home}/t.jsonl", encoding="utf-8") as file:
        asked = [e for e in map(json.loads, file) if e["event"] == "llm.start"]
    check("messages are kept", [e["messages"] for e in asked] == [1, 3, 1, 3], asked)
    check("a message is no template", asked[0]["new"][0]["content"].endswith("first {{x}}\n\nYou have 5 turns.") and
          "unsent" not in json.dumps(asked), asked[0])
    check("blanks around it are not sent", asked[1]["new"][-1]["content"].endswith("\nsecond\n\nYou have 5 turns."), asked[1])


def test_failures(home):
    replies = [{"error": {"http": 401}}, {"content": "hello"}]
    done = pipe(home, "one\ntwo\n", write(home, PLAIN | {"llm": replies}), "--trace", f"{home}/t.jsonl")
    check("a message that failed", (done.returncode, done.stdout) == (1, "hello\n") and "llm_error" in done.stderr, done)
    with open(f"{home}/t.jsonl", encoding="utf-8") as file:
        asked = [e for e in map(json.loads, file) if e["event"] == "llm.start"]
    check("it leaves nothing", asked[1]["new"] == [{"role": "user", "content": "two"}], asked[1])
    for args, text in (((), "there is no model"), ((home + "/none.json",), "No such file"),
                       ((write(home, PLAIN | {"signature": "() -> :int", "llm": []}),), "signature: a chat"),
                       ((home + "/agent.json", "b.json"), "one agent file"), (("--llm", "script:none"), "none")):
        done = pipe(home, "hi\n", *args)
        check(f"refused: {text}", done.returncode == 2 and text in done.stderr and done.stdout == "", done)
    done = pipe(home, "hi\n", write(home, PLAIN | {"llm": []}), "--context", "[1]")
    check("refused: a context", done.returncode == 2 and "context" in done.stderr, done)
    check("help", "example" in pipe(home, "", "--help").stdout, "help")


def test_turns_that_broke(home):
    """Calls that nobody answered are not kept: the conversation can go on."""
    agent = {"prompt": "x", "output": "text", "max_turns": 2, "tools": {"n": {"value": 1}},
             "llm": [{"content": None, "tool_calls": [{"id": "a", "name": "n", "args": {}}]}, {"content": ""},
                     {"content": "fine"}]}
    done = pipe(home, "one\ntwo\n", write(home, agent))
    check("after a run that failed", (done.returncode, done.stdout) == (1, "fine\n") and
          "max_turns_exceeded" in done.stderr, done)


def test_stream(home):
    server = Server(["Hel", "lo ", "you"], ["one", None], ["again"])
    done = pipe(home, "hi\nbreak\nthird\n", "--llm", server.model())
    check("streamed", done.stdout == "Hello you\none\nagain\n" and done.returncode == 1, done)
    check("a stream that broke is told", "llm_error" in done.stderr, done.stderr)
    check("and not asked for again", len(server.bodies) == 3, len(server.bodies))
    check("the conversation", server.said(2) == [("user", "hi"), ("assistant", "Hello you"), ("user", "third")],
          server.said(2))
    server.shutdown()


# ---------------------------------------------------------------------------------- terminal

def test_terminal(home):
    first, never = threading.Event(), threading.Event()
    server = Server(["be\x1b[31mg", first, "in"], ["wai", never, "ted"], ["last"])
    terminal = chat(home, "--llm", server.model())
    terminal.type(b"hi\r", b"be\\u001b[31mg", prompt=b"")
    first.set()
    check("terminal: the rest of the answer", terminal.wait_for(b"in\r\n") and terminal.wait_for(PROMPT), terminal.got)
    terminal.type(b"slow\r", b"wai", prompt=b"")
    terminal.type(b"\x03", b"stopped\r\n")
    never.set()
    terminal.type(b"dropped\x03", b"\r\n")
    terminal.type(b"/help\r", b"forget all of it")
    terminal.type(b"/re\t\r", b"everything was forgotten\r\n")
    terminal.type(b"\x1b[A\x1b[A\x1b[A\r", b"last\r\n")
    check("terminal: what was sent last", server.said(-1) == [("user", "slow")], server.said(-1))
    check("terminal: /quit", terminal.end(b"/quit\r") == 0, "status")
    check("terminal: history", os.stat(home + "/state/ptc/chat-history").st_mode & 0o777 == 0o600, "mode")
    terminal = chat(home, "--llm", server.model())
    check("terminal: Ctrl-D", terminal.end(b"\x04") == 0, "status")
    server.shutdown()


def test_journal(home):
    """Tasks are done once, whatever is forgotten or ends; a journal that cannot be written ends the chat."""
    agent = {"prompt": "x", "tools": {"book": {"seq": [7, 8, 9], "signature": "() -> :int"}}}
    book = block('(return (task "book" (tool/book)))')
    path = write(home, {**agent, "llm": [book, book]})
    done = pipe(home, "one\n/reset\ntwo\n", path, "--journal", "j")
    check("journal: /reset keeps it", done.stdout == "7\neverything was forgotten\n7\n" and done.returncode == 0, done)
    done = pipe(home, "three\n", path, "--journal", "j")
    with open(f"{home}/j", encoding="utf-8") as file:
        check("journal: another chat goes on", done.stdout == "7\n" and json.load(file) == {"book": 7}, done)
    done = pipe(home, "four\n", path)
    check("journal: none unless asked for", done.stdout == "7\n" and done.returncode == 0, done)
    os.mkdir(f"{home}/k.next")
    done = pipe(home, "five\nsix\n", path, "--journal", "k")
    check("journal: not written", done.returncode == 1 and done.stdout == "" and "ptc chat: --journal: " in done.stderr, done)
    done = pipe(home, "seven\n", path, "--journal", "k.next")
    check("journal: a directory", done.returncode == 2 and "--journal" in done.stderr, done)


def test_tokens(home):
    """The limit counts all messages."""
    says = {"content": "Hello.", "tokens": {"input": 40, "output": 10}}
    path = write(home, {**PLAIN, "llm": [says] * 4})
    done = pipe(home, "a\nb\n", path, "--token-limit", "100")
    check("tokens: as many as allowed", done.stdout == "Hello.\nHello.\n" and done.returncode == 0, done)
    done = pipe(home, "a\nb\nc\n", path, "--token-limit", "99")
    check("tokens: more", done.returncode == 1 and done.stderr.count("budget_callback_exceeded") == 2, done)
    program = {**block("(return 5)"), "tokens": {"input": 40, "output": 10}}
    path = write(home, {"prompt": "x", "llm": [{**block("4"), "tokens": {"input": 1, "output": 1}}, program]})
    done = pipe(home, "a\n", path, "--token-limit", "9", "--on-budget-exceeded", "return_partial")
    check("tokens: a partial answer", done.stdout == "4\n" and done.returncode == 0, done)


def main():
    for test in (test_memory, test_failures, test_turns_that_broke, test_stream, test_terminal, test_journal,
                 test_tokens):
        with tempfile.TemporaryDirectory() as home:
            test(home)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
