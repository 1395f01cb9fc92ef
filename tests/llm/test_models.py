#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/llm/test_models.py DRIVER [NAME]: names of models, who may use which; scripts, records, programs."""
import json
import os
import stat
import subprocess
import sys
import tempfile

from llm_help import DRIVER, KEYS, OPENAI_OK, Server, answer, ask, clean_env, drive, error_of, expect, openai_stream, chunked, \
    run_tests, say, saying, test


def refused(spec, contains, **more):
    result = drive(spec, **more)
    expect(result.status, 2, result)
    assert contains in result.answers[0]["refused"], result.answers


def body(spec, request=None, **more):
    return json.loads(drive(spec, {**(request or say()), "body": True}, **more).out)


class Files:
    """A directory for a test."""

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *_):
        self.place.cleanup()

    def path(self, name):
        return os.path.join(self.place.name, name)

    def write(self, name, content):
        lines = content if isinstance(content, (str, bytes)) else "".join(json.dumps(x) + "\n" for x in content)
        with open(self.path(name), "wb") as f:
            f.write(lines.encode() if isinstance(lines, str) else lines)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()


# ------------------------------------------------------------------------------------- names

@test
def aliases():
    expect(body("")["model"], "anthropic/claude-haiku-4.5")
    expect(body("haiku", env=clean_env(LLM_DEFAULT_PROVIDER="anthropic"))["model"], "claude-haiku-4-5-20251001")
    expect(body("gpt-oss", env=clean_env(LLM_DEFAULT_PROVIDER="anthropic"))["model"], "openai/gpt-oss-120b")
    expect(body("openai:gpt")["model"], "gpt-4.1-mini")
    expect(body("openai:gpt-9")["model"], "gpt-9")
    expect(body("ollama:qwen2.5-coder:7b")["model"], "qwen2.5-coder:7b")
    refused("groq:haiku", "openrouter bedrock anthropic")
    refused("haiku", "groq does not have", env=clean_env(LLM_DEFAULT_PROVIDER="groq"))
    refused("haiku", "openrouter", env=clean_env(LLM_DEFAULT_PROVIDER="nobody"))
    refused("hiaku", 'did you mean "haiku"?')
    refused("antropic:x", 'did you mean "anthropic"?')
    refused("openai", "this is a provider; name one of its models: openai:ID")
    refused("embed", "embeddings")
    refused("openai:", "printable")
    refused("openai:two words", "printable")
    refused("openai-compat:http://x", "openai-compat:URL|ID")
    refused("openai-compat:ftp://x|m", "http")
    refused("x" * 5000, "too long")


@test
def region_and_profile():
    def path(region, spec):
        with Server(saying({"output": {"message": {"content": []}}, "stopReason": "end_turn"})) as server:
            ask(spec, say(), env=clean_env(server.port, AWS_REGION=region))
            return server.requests[0].path
    expect(path("us-east-1", "bedrock:nova-lite"), "/model/us.amazon.nova-lite-v1%3A0/converse")
    expect(path("eu-north-1", "amazon_bedrock:nova-lite"), "/model/eu.amazon.nova-lite-v1%3A0/converse")
    expect(path("ap-south-1", "bedrock:nova-lite"), "/model/apac.amazon.nova-lite-v1%3A0/converse")
    expect(path("eu-north-1", "bedrock:us.amazon.nova-lite-v1:0"), "/model/us.amazon.nova-lite-v1%3A0/converse")
    expect(path("eu-north-1", "bedrock:a/../b"), "/model/a%2F..%2Fb/converse")


@test
def lists_of_models():
    with Files() as files:
        own = files.write("models.json", json.dumps({"aliases": {
            "haiku": {"openai": "not-haiku"}, "mine": {"openai-compat": "http://127.0.0.1:9/v1|local"},
            "vectors": {"openai": "v"}}, "embeddings": ["vectors"]}))
        options = ("--models", own)
        expect(body("haiku", options=options)["model"], "not-haiku")
        expect(body("mine", options=options)["model"], "local")
        expect(body("sonnet", options=options)["model"], "anthropic/claude-sonnet-4.5")
        refused("vectors", "embeddings", options=options)
        for bad, contains in [("", "at byte"), ("[]", "aliases"), ('{"aliases": {"a": {}}}', "aliases.a"),
                              ('{"aliases": {"a": {"opnai": "x"}}}', 'did you mean "openai"?'),
                              ('{"aliases": {"a b": {"openai": "x"}}}', "letters"), ('{"aliases": {}, "more": 1}', "more"),
                              ('{"aliases": {"a": {"openai": ""}}}', "not empty")]:
            refused("haiku", contains, options=("--models", files.write("bad.json", bad)))
        refused("haiku", "No such file", options=("--models", files.path("nowhere")))


@test
def trust():
    """Who wrote a name decides what it may be."""
    with Files() as files:
        script = files.write("s.jsonl", [{"content": "scripted"}])
        for trust_, spec, fine in [("host", f"script:{script}", True), ("file", f"script:{script}", False),
                                   ("program", f"script:{script}", False), ("file", "exec:cat", False),
                                   ("file", f"replay:{script}", False), ("file", "openai:gpt-9", True),
                                   ("file", "haiku", True), ("program", "haiku", True), ("program", "openai:gpt", True),
                                   ("program", "openai:gpt-9", False),
                                   ("program", "openai-compat:http://127.0.0.1:9/v1|m", False)]:
            result = drive(spec, {**say(), "body": True}, options=("--trust", trust_))
            expect("refused" not in result.out, fine, (trust_, spec, result.out))
    with Server(saying(OPENAI_OK)) as server:
        spec, base = f"openai-compat:http://127.0.0.1:{server.port}/v1|m", f"http://127.0.0.1:{server.port}/v1"
        for trust_, env, key in [("host", {}, True), ("file", {}, False), ("file", {"OPENAI_COMPAT_BASE_URL": base}, True),
                                 ("file", {"OPENAI_COMPAT_BASE_URL": base + "/"}, False)]:
            ask(spec, say(), env=clean_env(**env), options=("--trust", trust_))
            expect("authorization" in server.requests[-1].headers, key, (trust_, env))


@test
def dotenv():
    with Files() as files, Server(saying(OPENAI_OK)) as server:
        env = clean_env(server.port, keys=False)

        def key(text, **more):
            options = ("--dotenv", files.write(".env", text))
            got = ask("openai:x", say(), env={**env, **more}, options=options)
            return error_of(got).get("class") or server.requests[-1].headers["authorization"][7:]
        expect(key("OPENAI_API_KEY=plain-key-1"), "plain-key-1")
        expect(key("# note\n\n export OPENAI_API_KEY = 'quoted-key-2' # more\n"), "quoted-key-2")
        expect(key('\ufeffOPENAI_API_KEY="esc\\"aped-3"\r\n'), 'esc"aped-3')
        expect(key("OPENAI_API_KEY=first-key-4\nOPENAI_API_KEY=second-key\n"), "first-key-4")
        expect(key("OPENAI_API_KEY=from-the-file", OPENAI_API_KEY="from-outside"), "from-outside")
        expect(key("OPENAI_API_KEY=$HOME"), "$HOME")
        expect(key("OPENAI_API_KEY=\n"), "config_error")
        expect(key("OPENAI_API_KEY='never ends\n"), "config_error")
        # an address, or a proxy, in a file of the directory would send keys elsewhere
        elsewhere = "OPENAI_BASE_URL=http://127.0.0.1:9/\nHTTPS_PROXY=http://127.0.0.1:9\nOPENAI_API_KEY=safe-key-5"
        expect(key(elsewhere), "safe-key-5")
        big = ask("openai:x", say(), env=env, options=("--dotenv", files.write(".env", "#" * 70000)))
        assert "64 KiB" in error_of(big)["message"], big
        os.mkfifo(files.path("pipe"))
        got = ask("openai:x", say(), env=env, options=("--dotenv", files.path("pipe")))
        assert "regular file" in error_of(got)["message"], got
        expect(error_of(ask("openai:x", say(), env=env, options=("--dotenv", files.path("none"))))["class"], "config_error")


@test
def library_is_loaded_when_needed():
    """libcurl is for whoever asks a model over the network; everything else does without."""
    def loads(*command, given=b"", **more):
        env = clean_env(LD_DEBUG="files", **more)
        done = subprocess.run(command, input=given, capture_output=True, env=env, timeout=60, check=False)
        expect(done.returncode, 0, done.stderr[-500:])
        return b"libcurl" in done.stderr
    ptc = os.path.join(os.path.dirname(DRIVER), "ptc")
    with Files() as files, Server(saying(OPENAI_OK)) as server:
        script = files.write("s.jsonl", [{"content": "one"}])
        if os.path.exists(ptc):
            expect(loads(ptc, "eval", "(+ 1 2)"), False)
        expect(loads(DRIVER, "haiku", given=json.dumps({**say(), "body": True}).encode()), False)
        expect(loads(DRIVER, f"script:{script}", given=json.dumps(say()).encode()), False)
        expect(loads(DRIVER, f"openai-compat:http://127.0.0.1:{server.port}/v1|m", given=json.dumps(say()).encode()), True)


# ----------------------------------------------------------------------------------- scripts

@test
def scripts():
    replies = [{"content": "one", "tokens": {"input": 3, "output": 1, "cache_read": 2}},
               {"content": None, "tool_calls": [{"id": "a", "name": "f", "args": {"x": [1, 2.5]}}, {"name": "g", "args": "{}"},
                                                {"name": "h", "args": None}, {"name": "i", "args": {}, "args_error": "bad"}]},
               {"error": "timeout"}, {"error": {"http": 429, "retry_after": 3}}, {"error": "gateway"},
               {"error": {"class": "refused", "message": "no"}}, {"content": "cut", "cut": True},
               {"content": "later", "sleep_ms": 60}]
    with Files() as files:
        for path in [files.write("s.jsonl", replies), files.write("s.json", json.dumps(replies, indent=1))]:
            got = drive(f"script:{path}", *[say(stream=True)] * 9).answers
            expect(got[0]["reply"], {"content": "one", "tokens": {"input": 3, "output": 1, "cache_read": 2}})
            expect(got[0]["pieces"], ["one"])
            expect(got[1]["reply"]["tool_calls"], [{"id": "a", "name": "f", "args": {"x": [1, 2.5]}}, {"name": "g", "args": "{}"},
                                                   {"name": "h"}, {"name": "i", "args": "! bad"}])
            expect([error_of(a).get("class") for a in got[2:6]], ["timeout", "rate_limit", "unknown", "refused"])
            expect(error_of(got[3])["retry_after_ms"], 3000)
            expect(got[6]["reply"], {"content": "cut", "cut": True})
            assert got[7]["ms"] >= 55
            expect(error_of(got[8])["class"], "unknown")
            assert "no reply for request 9" in error_of(got[8])["message"]
        slow = files.write("slow.jsonl", [{"content": "x", "sleep_ms": 60000}] * 4)
        for request, cause in [(say(cancel_ms=50), "cancelled"), (say(deadline_ms=50), "deadline"),
                               (say(timeout_ms=50), "timeout")]:
            expect(error_of(ask(f"script:{slow}", request))["class"], cause)
        for bad, contains in [('{"contents": "x"}', 'did you mean "content"?'), ("7", "a reply is an object"), ("{", "line 1"),
                              ('{"content": 7}', "text or null"), ('{"tool_calls": [{}]}', "name"), ('{"error": {}}', "class"),
                              ('{"error": {"class": "odd"}}', "rate_limit"), ('{"content": "a"}\n\n{"x": 1}', "line 3")]:
            refused("script:" + files.write("bad.jsonl", bad), contains)
        refused("script:" + files.path("nowhere"), "No such file")


# ---------------------------------------------------------------------------- records and replay

def conversation(files, name, spec, requests, env, options=()):
    result = drive(spec, *requests, env=env, options=("--record", files.path(name), *options))
    expect(result.status, 0, result)
    return [{k: a[k] for k in ("reply", "pieces")} for a in result.answers]


@test
def record_and_replay():
    def handler(server, connection, request):
        n = len(server.requests)
        if n == 2:
            connection.sendall(answer({"error": {"message": "slow down"}}, 429, retry_after="1"))
        elif json.loads(request.body).get("stream"):
            chunked(connection, openai_stream("a ", "piece"))
        else:
            connection.sendall(answer({"choices": [{"message": {"content": f"reply {n}", "tool_calls": [
                {"id": "c", "function": {"name": "f", "arguments": "{\"a\": 1.50}"}}]}, "finish_reason": "length"}],
                "usage": {"prompt_tokens": n, "completion_tokens": 1}}))
        return True
    requests = [say("one", agent=""), say("two", agent="search"), say("two", agent="search"), say("three", stream=True)]
    with Files() as files, Server(handler) as server:
        spec = f"openai-compat:http://127.0.0.1:{server.port}/v1|m"
        first = conversation(files, "r.jsonl", spec, requests, clean_env())
        expect(stat.S_IMODE(os.stat(files.path("r.jsonl")).st_mode), 0o600)
        lines = [json.loads(line) for line in files.read("r.jsonl").splitlines()]
        expect([line["agent"] for line in lines], ["", "search", "search", ""])
        expect({line["model"] for line in lines}, {spec})
        expect(lines[0]["request"]["messages"], [{"role": "user", "content": "one"}])
        sent = len(server.requests)
        again = drive("replay:" + files.path("r.jsonl"), *requests, env=clean_env()).answers
        expect([a["reply"] for a in again], [a["reply"] for a in first])
        expect("".join(again[3]["pieces"]), "a piece")
        expect(len(server.requests), sent, "nothing went over the network")
        # a record of a replay says the same
        second = conversation(files, "r2.jsonl", "replay:" + files.path("r.jsonl"), requests, clean_env())
        expect([a["reply"] for a in second], [a["reply"] for a in first])
        expect([json.loads(x)["reply"] for x in files.read("r2.jsonl").splitlines()], [x["reply"] for x in lines])
        expect([json.loads(x)["hash"] for x in files.read("r2.jsonl").splitlines()], [x["hash"] for x in lines])


@test
def replay_mismatch():
    with Files() as files, Server(saying(OPENAI_OK)) as server:
        spec = f"openai-compat:http://127.0.0.1:{server.port}/v1|m"
        tool = {"name": "f", "description": "d", "parameters": {"type": "object"}}
        requests = [say("alpha " * 30 + "one"), say("beta", agent="kid"), say("beta", agent="kid", tools=[tool])]
        conversation(files, "r.jsonl", spec, requests, clean_env())
        replay = "replay:" + files.path("r.jsonl")
        for request, contains in [(say("alpha " * 30 + "two"), 'messages[0].content was ..."alpha'),
                                  (say("alpha " * 30 + "two"), "alpha one"), (say("gamma", agent="kid"), '"beta"'),
                                  (say("beta", agent="kid", max_output_tokens=5), "max_tokens was absent and is now 5"),
                                  (say("x", agent="nobody"), "no further request of nobody")]:
            got = ask(replay, request)
            expect(error_of(got)["class"], "replay_mismatch", got)
            if contains.startswith("messages[0].content was ..."):
                assert "messages[0].content was ..." in error_of(got)["message"], got
            else:
                assert contains in error_of(got)["message"], (contains, got)
        # order between agents does not matter, and a line is used once
        got = drive(replay, requests[2], requests[0], requests[1], requests[1]).answers
        expect([error_of(a).get("class") for a in got], [None, None, None, "replay_mismatch"])
        loose = drive(replay, say("what"), say("ever", agent="kid"), say("x", agent="other"), say("y"), options=("--loose",))
        expect([a["reply"].get("content") for a in loose.answers], ["fine"] * 3 + [None])
        expect(error_of(loose.answers[3])["class"], "replay_mismatch")


@test
def replay_of_other_models():
    with Files() as files:
        script = files.write("s.jsonl", [{"content": "one"}, {"error": "kaput"}, {"content": "two"}])
        first = conversation(files, "r.jsonl", f"script:{script}", [say("a"), say("b"), say("c")], clean_env())
        again = drive("replay:" + files.path("r.jsonl"), say("a"), say("b"), say("c")).answers
        expect([a["reply"] for a in again], [a["reply"] for a in first])
        for bad, contains in [("x", "line 1"), ("{}", "version 1"), ('{"ptc_record": 2}', "version 1"),
                              ('{"ptc_record": 1}', "missing")]:
            refused("replay:" + files.write("bad.jsonl", bad), contains)
        got = ask("replay:" + files.write("empty.jsonl", ""), say())
        expect(error_of(got)["class"], "replay_mismatch")


@test
def record_cannot_be_written():
    refused("haiku", "No such file", options=("--record", "/nowhere/at/all"))
    if os.path.exists("/dev/full"):
        with Files() as files:
            script = files.write("s.jsonl", [{"content": "one"}])
            result = drive(f"script:{script}", say(), options=("--record", "/dev/full"))
            expect(result.answers[0]["reply"]["content"], "one")
            expect(result.status, 2)
            assert "No space" in result.answers[1]["refused"], result.answers


# ----------------------------------------------------------------------------------- programs

ECHO = """import json, sys
request = json.load(sys.stdin)
last = request["messages"][-1]["content"]
print(json.dumps({"content": sys.argv[1] + last, "tokens": {"input": len(request["messages"]), "output": 1},
                  "opaque": {"state": 1}}))
"""


@test
def programs():
    with Files() as files:
        echo = files.write("echo.py", ECHO)
        got = ask(f"exec:{sys.executable}  {echo} said:", say("hi", stream=True))
        expect(got["reply"], {"content": "said:hi", "opaque": {"state": 1}, "tokens": {"input": 1, "output": 1}})
        expect(got["pieces"], ["said:hi"])
        cases = [("exec:/nowhere/program", "config_error"), ("exec:false", "unknown"), ("exec:true", "unknown"),
                 ("exec:cat", "unknown"), ("exec:yes", "too_large"), ("exec:sleep 60", "timeout")]
        for spec, cause in cases:
            got = ask(spec, say(timeout_ms=300 if cause == "timeout" else 50000))
            expect(error_of(got).get("class"), cause, (spec, got))
        got = ask("exec:sleep 60", say(cancel_ms=100))
        expect(error_of(got)["class"], "cancelled")
        loud = files.write("loud.py", "import os, sys\nsys.exit('my key is ' + os.environ['OPENAI_API_KEY'])")
        got = ask(f"exec:{sys.executable} {loud}", say())
        assert KEYS["OPENAI_API_KEY"] not in json.dumps(got) and "[secret]" in error_of(got)["message"], got
        refused("exec:", "exec:./my-model")
        refused("exec:" + "a " * 40, "words")


if __name__ == "__main__":
    sys.exit(run_tests("models"))
