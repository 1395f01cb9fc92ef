# SPDX-License-Identifier: MIT
"""ptc mcp over stdio, for tests of what programs call in upstreams: a home, a file of upstreams, requests and answers."""
import json
import os
import queue
import subprocess
import sys
import threading

FAULTY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faulty.py")
WAIT = 120


def faulty(home, name, modes="", *more, **keys):
    """An entry of faulty.py, which counts its calls in HOME/NAME.count."""
    return {"command": sys.executable,
            "args": [FAULTY, modes, "--count", f"{home}/{name}.count", "--starts", f"{home}/{name}.starts", *more], **keys}


def lines_of(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().split()
    except OSError:
        return []


def environment(home):
    return {"PATH": os.environ["PATH"], "HOME": home}


class Talk:
    """ptc mcp; `upstreams` is what stands under that key of its file."""

    def __init__(self, ptc, home, upstreams, *options, capabilities=None):
        self.file = os.path.join(home, "u.json")
        with open(self.file, "w", encoding="utf-8") as out:
            json.dump({"upstreams": upstreams}, out)
        self.process = subprocess.Popen([ptc, "mcp", "--upstreams", self.file, *options], env=environment(home),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.answers, self.notices, self.number = queue.Queue(), queue.Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()
        self.initialized = self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities or {},
                                                       "clientInfo": {"name": "test", "version": "0"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        try:
            for line in self.process.stdout:
                message = json.loads(line)
                message["line_bytes"] = len(line)
                (self.notices if "method" in message else self.answers).put(message)
        finally:
            self.answers.put(None)

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params=None):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}})
        answer = self.answers.get(timeout=WAIT)
        assert answer is not None, "the server ended"
        self.line_bytes = answer["line_bytes"]
        return answer["result"]

    def call(self, tool, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def run(self, program):
        """The structured content of lisp_eval; that of an error is its text."""
        result = self.call("lisp_eval", program=program)
        return result.get("structuredContent") or json.loads(result["content"][0]["text"])

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=WAIT)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
