# SPDX-License-Identifier: MIT
"""A client of `ptc mcp` on stdio, and the little that tests of it need."""
import json
import os
import queue
import subprocess
import sys
import threading

from watch import WAIT, expect, main, start, test  # pylint: disable=unused-import

PTC = os.path.abspath(sys.argv[1])
ISOLATION = sys.argv[2] if len(sys.argv) > 2 else "none"


def clean_env(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PTC_MCP_")}
    env.update(more)
    return env


TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "array": list, "object": dict}


def misfit(schema, value, path=""):
    """What is wrong with the value, by the part of JSON Schema that our schemas use; None: nothing."""
    kind = schema.get("type")
    if "anyOf" in schema and all(misfit(one, value) for one in schema["anyOf"]):
        return f"{path}: {value!r} is none of them"
    if "not" in schema and not misfit(schema["not"], value):
        return f"{path}: {value!r} is what it must not be"
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if kind and (not isinstance(value, TYPES[kind]) or (kind in ("integer", "number") and isinstance(value, bool))):
        return f"{path}: {value!r} is no {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{path}: {value!r} is none of {schema['enum']}"
    if kind == "integer" and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return f"{path}: {value} is out of range"
    if kind == "array":
        if len(value) > schema.get("maxItems", len(value)):
            return f"{path}: too many items"
        return next((m for i, item in enumerate(value) if (m := misfit(schema["items"], item, f"{path}[{i}]"))), None)
    if kind != "object":
        return None
    known = schema.get("properties", {})
    missing = [name for name in schema.get("required", []) if name not in value]
    unknown = [name for name in value if name not in known]
    if missing or (unknown and schema.get("additionalProperties") is False):
        return f"{path}: missing {missing}, unknown {unknown}"
    return next((m for name in value if name in known and (m := misfit(known[name], value[name], f"{path}.{name}"))), None)


def kept(schema, value):
    """The value as a client has it that makes a type of a schema: what is not named, or has no type, is gone."""
    if "anyOf" in schema:
        return kept(next(one for one in schema["anyOf"] if misfit(one, value) is None), value)
    if schema.get("type") == "array":
        return [kept(schema["items"], item) for item in value]
    if schema.get("type") == "object" and "properties" in schema:
        return {name: kept(part, value[name]) for name, part in schema["properties"].items() if name in value}
    return value if schema.get("additionalProperties", "not" in schema or schema.get("type") != "object") else {}


def conforms(tool, answer):
    """Successes have structured content that fits."""
    assert isinstance(answer.data, dict), answer.message
    extra = set(answer.data) - set(tool["outputSchema"]["properties"])
    assert not extra, f"{extra} is not in the schema"
    wrong = misfit(tool["outputSchema"], answer.data)
    assert wrong is None, wrong


class Answer:
    """The result of tools/call."""

    def __init__(self, message):
        self.message = message
        self.result = message.get("result", {})
        self.failed = self.result.get("isError", False)
        self.data = self.result.get("structuredContent")
        self.text = "\n".join(c["text"] for c in self.result.get("content", []) if c["type"] == "text")


class Server:
    def __init__(self, *args, env=None, isolation=True):
        command = [PTC, "mcp", *args] + (["--isolation", ISOLATION] if isolation else [])
        self.process = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=env or clean_env())
        self.next_id = 0
        self.lines = queue.Queue()
        self.answers = {}
        self.notes = []
        self.rows = None
        self.errors = b""
        self.readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for reader in self.readers:
            reader.start()
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "test", "version": "0"}})

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self):
        self.errors = self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def begin(self, method, params=None):
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params or {}})
        return self.next_id

    def answer(self, number, wait=WAIT):
        while number not in self.answers:
            line = self.lines.get(timeout=wait)
            assert line is not None, f"the server ended: {self.process.wait()} {self.errors!r}"
            message = json.loads(line)
            if "method" in message:
                self.notes.append(message)
            else:
                self.answers[message.get("id")] = message
        return self.answers.pop(number)

    def request(self, method, params=None):
        return self.answer(self.begin(method, params))

    def begin_call(self, tool, arguments):
        return self.begin("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool, **arguments):
        answer = Answer(self.answer(self.begin_call(tool, arguments)))
        if not answer.failed and "result" in answer.message:
            self.rows = self.rows or self.tools()
            conforms(self.rows[tool], answer)
        return answer

    def eval(self, program, **more):
        return self.call("lisp_eval", program=program, **more)

    def tools(self):
        return {t["name"]: t for t in self.request("tools/list")["result"]["tools"]}

    def finish(self):
        """Ends it; what it wrote on standard error."""
        self.close()
        return self.errors

    def close(self):
        """Its status; all that it wrote has been read then."""
        if self.process.stdin:
            self.process.stdin.close()
        try:
            status = self.process.wait(timeout=WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        for reader in self.readers:
            reader.join(WAIT)
        return status


def run_ptc(*args, env=None, cwd=None):
    """`ptc mcp` that ends by itself: (status, stdout, stderr)."""
    done = subprocess.run([PTC, "mcp", *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT,
                          env=env or clean_env(), cwd=cwd)
    return done.returncode, done.stdout.decode(), done.stderr.decode()
