#!/usr/bin/env python3
"""`ptc run --jsonl` from outside: tools that reach a server on loopback, what agents without
programs are given, and standard output that cannot be written, here and
in other commands.  test_run_batch.py PTC"""
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
SECRET = "tk-live-0123456789abcdef"


def block(program):
    return {"content": f"```clojure\n{program}\n```"}


def environment(home):
    return {"HOME": home, "PATH": os.environ["PATH"], "MY_KEY": SECRET}


def batch(home, options, *lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([PTC, "run", "--jsonl", *options], input=text, capture_output=True, text=True, timeout=60,
                          check=False, cwd=home, env=environment(home))
    return done, [json.loads(line) for line in done.stdout.splitlines()]


# ------------------------------------------------------------------------------------- tools

class Fares(http.server.BaseHTTPRequestHandler):
    """Knows the fare to a zone, and repeats the key that it was sent."""

    def answer(self, zone):
        body = json.dumps({"fare": 2 * zone + 1, "key": self.headers.get("X-Key", "")}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["zone"])

    def do_GET(self):
        self.answer(int(self.path.rpartition("=")[2]))

    def log_message(self, *args):
        pass


def agent(url, method):
    tool = {"http": {"url": url, "method": method, "headers": {"X-Key": "${MY_KEY}"}}, "signature": "(zone :int) -> :any"}
    return {"prompt": "What is the fare?", "tools": {"fare": tool}}


def test_http(home):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Fares)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/fares"
    ask = [block("(return (pmap (fn [z] (tool/fare {:zone z})) [1 2 3]))")]
    lines = [{"id": method, "agent": agent(url, method), "llm": ask} for method in ("POST", "GET")]
    own = {"id": "own", "agent": {**agent(url, "POST"), "llm": ask}}
    named = {"id": "named", "agent": {**agent(url, "POST"), "llm": "haiku"}}
    done, got = batch(home, ["--allow-tools"], *lines, own, named)
    server.shutdown()
    check("http tools: all were answered", done.returncode == 0 and len(got) == 4, done)
    for one in got[:3]:
        check(f"http tools: {one['id']}", [row["fare"] for row in one.get("return", [])] == [3, 5, 7] and
              one["tool_runs"] == {"fare": 3}, one)
    check("http tools: no model by name", got[3]["outcome"] == "invalid", got[3])
    check("http tools: the key is nowhere", SECRET not in done.stdout + done.stderr and "[secret]" in done.stdout, done)
    done, got = batch(home, [], lines[0])
    check("http tools: not without being allowed", got[0]["outcome"] == "invalid" and
          got[0]["path"] == "tools.fare.http", got)


# --------------------------------------------------------------------------------- input

def test_text_input(home):
    """An agent without programs passes on what it was given, and says what is wrong with it."""
    text = {"prompt": "p", "output": "text"}
    rows = [{"journal": {"a": 1}, "memory": {"b": [2]}}, {"journal": {"a": {"x": None}}}, {"journal": [1]}, {}]
    _, got = batch(home, [], *[{"agent": text, "run": row, "llm": [{"content": "hi"}]} for row in rows])
    check("text: journal and memory", (got[0].get("return"), got[0]["journal"], got[0]["memory"]) ==
          ("hi", {"a": 1}, {"b": [2]}), got[0])
    check("text: journal alone", (got[1]["journal"], got[1]["memory"]) == ({"a": {"x": None}}, {}), got[1])
    check("text: a journal that is none", got[2]["outcome"] == "invalid" and got[2]["path"] == "run.journal", got[2])
    check("text: nothing given", (got[3]["journal"], got[3]["memory"]) == ({}, {}), got[3])


# ----------------------------------------------------------------------------- standard output

def test_full(home):
    """A command that cannot say what it found says that, whatever its form of output is."""
    path = os.path.join(home, "agent.json")
    pathlib.Path(path).write_text(json.dumps({"prompt": "p", "output": "text", "llm": [{"content": "hello"}]}))
    pathlib.Path(home, "wrong.json").write_text("{}")
    pathlib.Path(home, "c.json").write_text(json.dumps({"ptc_compiled": 1, "program": "(return 1)", "signature": "() -> :int"}))
    request = json.dumps({"id": 1, "agent": {"prompt": "p"}, "llm": []}) + "\n"
    rows = [("run", [path], ""), ("run", [path, "--json"], ""), ("run", [path, "--dry-run"], ""),
            ("run", [path, "--dry-run", "--json"], ""), ("run", ["wrong.json", "--json"], ""), ("run", ["--jsonl"], request),
            ("chat", [path], "hi\n"), ("eval", ["1"], ""), ("eval", ["--jsonl"], '{"program":"1"}\n'),
            ("eval", ["--compiled", "c.json"], ""), ("signature", [":int"], "")]
    for command, arguments, text in rows:
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PTC, command, *arguments], input=text, stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60, check=False, cwd=home, env=environment(home))
        check(f"full: {command} {arguments}", done.returncode == 1 and
              done.stderr == f"ptc {command}: standard output cannot be written: No space left on device\n", done)


def main():
    with tempfile.TemporaryDirectory() as home:
        test_http(home)
        test_text_input(home)
        test_full(home)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
