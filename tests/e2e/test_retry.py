#!/usr/bin/env python3
"""Calls that are made again by the host: commands and services that are busy at first.  test_retry.py PTC"""
import http.server
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
FAST = {"base_ms": 1}


def flaky(where, name, failures, fault):
    """A command that counts its calls in a file, and is faulty at first."""
    count = os.path.join(where, name)
    script = f'cat >/dev/null; n=$(cat {count} 2>/dev/null || echo 0); n=$((n+1)); echo $n >{count}; [ $n -le {failures} ] && {{ {fault}; }}; echo $n'
    return {"command": ["sh", "-c", script]}


def calls(where, name):
    path = pathlib.Path(where, name)
    return int(path.read_text(encoding="utf-8")) if path.exists() else 0


def evaluate(tool, *options, program="(tool/t)"):
    return subprocess.run([PTC, "eval", "--tools", json.dumps({"t": tool}), *options, "--deadline-ms", "60000", program],
                          capture_output=True, text=True, timeout=120, check=False)


def test_commands(where):
    for number, fault in enumerate(["echo Resource Temporarily UNAVAILABLE, sorry >&2; exit 1", "exit 75"]):
        name = f"command{number}"
        for hint in ("read_only", "idempotent"):
            tool = {**flaky(where, name + hint, 2, fault), hint: True, "retry": FAST}
            done = evaluate(tool, "--max-tool-calls", "1")
            check(f"{fault}: third try", done.stdout == "3\n", done)
            tool = {**flaky(where, name + hint + "1", 2, fault), hint: True, "retry": {"attempts": 1}}
            done = evaluate(tool)
            check(f"{fault}: one attempt", done.returncode == 1 and calls(where, name + hint + "1") == 1, done)
            check(f"{fault}: not said to be tried", "tried" not in done.stderr, done)
    done = evaluate({**flaky(where, "never", 99, "echo temporarily unavailable >&2; exit 1"), "read_only": True, "retry": FAST})
    check("three tries by default", calls(where, "never") == 3 and "(tried 3 times)" in done.stderr, done)
    check("a read has no effect to tell of", "effect" not in done.stderr, done)
    done = evaluate({**flaky(where, "four", 3, "exit 75"), "read_only": True, "retry": {"attempts": 4, "base_ms": 1}})
    check("four attempts", done.stdout == "4\n", done)
    began = time.monotonic()
    done = evaluate({**flaky(where, "base", 2, "exit 75"), "read_only": True, "retry": {"base_ms": 100}})
    check("waits double", done.stdout == "3\n" and time.monotonic() - began >= 0.3, done)
    done = evaluate({**flaky(where, "wrong", 1, "echo no such order >&2; exit 1"), "read_only": True})
    check("a plain failure is final", calls(where, "wrong") == 1 and "no such order" in done.stderr, done)
    done = evaluate({**flaky(where, "late", 1, "exec sleep 60"), "read_only": True, "timeout_ms": 2000, "retry": FAST})
    check("a time-out of the tool", done.stdout == "2\n", done)
    done = evaluate({**flaky(where, "wait", 2, "exit 75"), "read_only": True, "retry": {"base_ms": 300}}, "--timeout-ms", "500")
    check("waiting is not computing", done.stdout == "3\n", done)


def test_writes(where):
    """A call that changes something is made once, whatever it says."""
    for name, fault in (("busy", "echo temporarily unavailable >&2; exit 1"), ("status", "exit 75"), ("slow", "exec sleep 60")):
        done = evaluate({**flaky(where, name, 9, fault), "timeout_ms": 1000})
        check(f"{name}: one call", calls(where, name) == 1 and done.returncode == 1, done)
        check(f"{name}: what is known", "; it may have taken effect\n" in done.stderr, done)
    done = evaluate({"command": ["/no/such/program"]})
    check("not started", "there is no such program; it did not take effect\n" in done.stderr, done)
    done = evaluate({**flaky(where, "says", 9, "echo no such order >&2; exit 1")})
    check("its own word", "failed: no such order\n" in done.stderr, done)


def test_definitions(where):
    command = flaky(where, "unused", 0, "exit 75")
    for tool, message in (
        ({**command, "retry": {}}, 'add "read_only": true if it changes nothing, or "idempotent": true'),
        ({**command, "retry": {"attempts": 1}}, 'add "read_only": true'),
        ({**command, "read_only": True, "retry": 3}, 'retry must be an object such as {"attempts": 5}'),
        ({**command, "read_only": True, "retry": {"attempts": 0}}, "retry.attempts must be a whole number from 1 to 10"),
        ({**command, "read_only": True, "retry": {"attempts": 11}}, "retry.attempts must be a whole number from 1 to 10"),
        ({**command, "read_only": True, "retry": {"base_ms": 60001}}, "retry.base_ms must be a whole number from 1 to 60000"),
        ({**command, "read_only": True, "retry": {"attemps": 2}}, "unknown key retry.attemps; did you mean attempts?"),
        ({"value": 1, "retry": {}}, "retry goes with command and sql only"),
    ):
        done = evaluate(tool)
        check(message, done.returncode == 2 and message in done.stderr, done)
    check("nothing was called", calls(where, "unused") == 0)


def test_ends(where):
    """A wait ends with the run's time, and with a cancel."""
    began = time.monotonic()
    done = evaluate({**flaky(where, "long", 9, "exit 75"), "read_only": True, "retry": {"base_ms": 60000}}, "--deadline-ms", "30000")
    check("a wait beyond the time left is not begun", time.monotonic() - began < 25 and calls(where, "long") == 1, done)
    check("the error is the tool's", "exit status 75" in done.stderr and "tried" not in done.stderr, done)
    tools = json.dumps({"t": {**flaky(where, "stop", 9, "exit 75"), "read_only": True, "retry": {"base_ms": 50000}}})
    with subprocess.Popen([PTC, "eval", "--tools", tools, "--deadline-ms", "100000", "(tool/t)"], stderr=subprocess.PIPE) as process:
        while calls(where, "stop") < 1:
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=40)
    check("a cancel ends the wait", calls(where, "stop") == 1 and process.returncode != 0, process.returncode)


# ------------------------------------------------------------------------------------- services

class Service(http.server.BaseHTTPRequestHandler):
    """The path says what it does at first: /503/2/name is status 503 twice, /reset/1/name a connection that breaks."""
    protocol_version = "HTTP/1.0"
    seen = {}
    times = {}

    def do_POST(self):  # pylint: disable=invalid-name
        what, failures, name = self.path.strip("/").split("/")
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        count = self.seen[name] = self.seen.get(name, 0) + 1
        self.times.setdefault(name, []).append(time.monotonic())
        if count > int(failures):
            self.reply(200, json.dumps(count))
        elif what == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        else:
            status, _, after = what.partition("-")
            self.reply(int(status), "not now", **({"Retry-After": after} if after else {}))

    do_GET = do_POST

    def reply(self, status, text, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def mission(where, tool, *options, **more):
    script = [{"content": "```clojure\n(return {:v (tool/t {})})\n```"}]
    agent = {"prompt": "Get it.", "signature": "() -> {v :int}", "max_turns": 1, "tools": {"t": tool}, "timeout": 30000, "llm": script, **more}
    path = pathlib.Path(where, "agent.json")
    path.write_text(json.dumps(agent), encoding="utf-8")
    done = subprocess.run([PTC, "run", str(path), "--json", *options], capture_output=True, text=True,
                          timeout=120, check=False, cwd=where)
    return json.loads(done.stdout) if done.stdout else {"stderr": done.stderr}


def test_services(where):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def get(path, **more):
        return {"http": {"url": f"http://127.0.0.1:{server.server_port}/{path}", "method": "GET"}, "read_only": True, "retry": FAST, **more}

    def post(path):
        return {"http": {"url": f"http://127.0.0.1:{server.server_port}/{path}", "method": "POST"}}

    for status in (429, 502, 503, 504):
        got = mission(where, get(f"{status}/2/g{status}"), "--trace", "t.jsonl")
        check(f"{status}: third try", got.get("return") == {"v": 3}, got)
        check(f"{status}: one call, three attempts", [(c["ok"], c.get("attempts")) for c in got["turns"][0]["calls"]] == [(True, 3)], got)
        trace = [json.loads(line) for line in pathlib.Path(where, "t.jsonl").read_text(encoding="utf-8").splitlines()]
        check(f"{status}: in the trace", [e.get("attempts") for e in trace if e["event"] == "tool"] == [3], trace)
    got = mission(where, get("reset/2/r"), max_tool_calls=1)
    check("reset: third try", got.get("return") == {"v": 3}, got)
    got = mission(where, get("429-1/1/after"))
    check("Retry-After is the wait", got.get("return") == {"v": 2} and Service.times["after"][1] - Service.times["after"][0] >= 1, got)
    began = time.monotonic()
    got = mission(where, get("503-3600/1/hour"))
    check("Retry-After beyond the time left", Service.seen["hour"] == 1 and time.monotonic() - began < 25 and got["outcome"] == "error", got)
    got = mission(where, get("503/9/once", retry={"attempts": 1}))
    check("attempts 1", Service.seen["once"] == 1 and "attempts" not in got["turns"][0]["calls"][0], got)
    got = mission(where, get("404/9/none"))
    check("404 is final", Service.seen["none"] == 1, got)
    for path, known in (("503/9/w503", "may have"), ("429/9/w429", "did not"), ("422/9/w422", "did not"), ("reset/9/wreset", "may have")):
        got = mission(where, post(path))
        name = path.split("/")[2]
        check(f"a write at {path} is sent once", Service.seen[name] == 1, got)
        wanted = "it may have taken effect" if known == "may have" else "it did not take effect"
        check(f"a write at {path}: {wanted}", got["turns"][0]["message"].rstrip().endswith(wanted), got)
        check(f"a write at {path}: effects", got["effects"]["safe_to_retry"] == (known == "did not"), got["effects"])
    server.shutdown()
    server.server_close()
    tool = get("x/0/refused")
    got = mission(where, {**tool, "read_only": False, "idempotent": True})
    check("refused: tried, and without effect", "(tried 3 times); it did not take effect" in got["turns"][0]["message"], got)


def test_waiting(where):
    """Waiting for a tool is no work of the program, but it ends with the deadline."""
    slow = {"command": ["sh", "-c", "sleep 2; echo 7"], "read_only": True, "retry": {"attempts": 1}}
    got = mission(where, slow, timeout=1500)
    check("waiting is no work", got.get("return") == {"v": 7}, got)
    got = mission(where, {**slow, "command": ["sleep", "100"]}, deadline_ms=200)
    check("waiting ends with the deadline", got["outcome"] == "error" and got["turns"][0]["reason"] == "timeout", got)


def main():
    with tempfile.TemporaryDirectory() as where:
        test_commands(where)
        test_writes(where)
        test_definitions(where)
        test_ends(where)
        test_services(where)
        test_waiting(where)
    return finish()


sys.exit(main())
