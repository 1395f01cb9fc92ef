#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/llm/test_secrets.py DRIVER [NAME]: keys are in the header of a request and nowhere else, whatever a provider sends
back: not in errors, replies, pieces of streams, bodies or records, in no encoding and in no cut."""
import base64
import json
import os
import sys
import tempfile
import urllib.parse

from llm_help import KEYS, Server, answer, chunked, clean_env, drive, expect, run_tests, say, sse, test

SECRETS = {name: value for name, value in KEYS.items() if name != "AWS_REGION"}
SECRETS["AWS_SESSION_TOKEN"] = 'session"token\\with+odd/chars=0010'
SECRETS["OPENAI_API_KEY"] = "sk/odd+key~with%chars-0001"


def env(port):
    return clean_env(port, **SECRETS)


def forms(secret):
    """The ways in which a secret could come back."""
    raw = secret.encode()
    yield secret
    yield json.dumps(secret)[1:-1]
    yield urllib.parse.quote(secret, safe="")
    yield urllib.parse.quote(secret, safe="").lower() if "%" in urllib.parse.quote(secret, safe="") else secret
    yield base64.b64encode(raw).decode()
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
    for before in [b"u:", b"us:", b"user:"]:
        yield base64.b64encode(before + raw + b"!").decode()


def marks(secret):
    """Pieces of each form that would tell the secret."""
    found = set()
    raw = secret.encode()
    for text in [secret, json.dumps(secret)[1:-1], urllib.parse.quote(secret, safe="")]:
        found.add(text)
        found.add(text[:len(text) // 2 + 4])
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).decode()
        found.add(coded[4:-4][:12])
        found.add(base64.urlsafe_b64encode(b"\0" * before + raw).decode()[4:-4][:12])
    return {m for m in found if len(m) >= 8}


def has_none(text, where):
    for name, secret in SECRETS.items():
        for mark in marks(secret):
            if mark in text:
                at = text.index(mark)
                raise AssertionError(f"{name} ({mark}) in {where}: {text[max(0, at - 100):at + 100]}")


def everything():
    return " | ".join(form for secret in SECRETS.values() for form in forms(secret))


def check(spec, handler, *requests, options=()):
    with Server(handler) as server:
        result = drive(spec, *requests, env=env(server.port), options=options)
    has_none(result.out, f"answers of {spec}")
    has_none(result.err, "standard error")
    return result, server


@test
def they_are_sent():
    """The other tests would be vacuous without this."""
    for provider, header in [("openai:m", "authorization"), ("anthropic:m", "x-api-key"), ("google:m", "x-goog-api-key"),
                             ("openrouter:m", "authorization"), ("groq:m", "authorization")]:
        _, server = check(provider, lambda _s, c, _r: c.sendall(answer({}, 500)), say())
        assert any(s in server.requests[0].headers[header] for s in SECRETS.values()), provider
    _, server = check("bedrock:m", lambda _s, c, _r: c.sendall(answer({}, 500)), say())
    expect(server.requests[0].headers["x-amz-security-token"], SECRETS["AWS_SESSION_TOKEN"])
    assert SECRETS["AWS_ACCESS_KEY_ID"] in server.requests[0].headers["authorization"]
    assert SECRETS["AWS_SECRET_ACCESS_KEY"] not in str(server.requests[0])


@test
def errors():
    """A server that says back all it was told, and more."""
    def echo(_server, connection, request):
        text = "\n".join(f"{k}: {v}" for k, v in request.headers.items()) + everything()
        for form in [{"error": {"message": text}}, {"message": text}, {"error": text}]:
            connection.sendall(answer(form, 400))
            break
        return False
    for spec in ["openai:m", "anthropic:m", "google:m", "ollama:m", "bedrock:m", "openrouter:m", "groq:m"]:
        check(spec, echo, say())

    def plain(_server, connection, request):
        connection.sendall(answer(str(request.headers).encode() + everything().encode(), 500, "text/plain"))
        return False

    def header(_server, connection, request):
        connection.sendall(answer(b"", 302, location="http://x/" + request.headers.get("authorization", "")[7:]))
        return False
    check("openai:m", plain, say())
    check("openai:m", header, say())


@test
def errors_that_are_cut():
    """The cut falls on every byte of the key."""
    for before in range(190, 231, 3):
        def handler(_server, connection, _request, n=before):
            connection.sendall(answer({"error": {"message": "x" * n + SECRETS["OPENAI_API_KEY"] * 2}}, 400))
            return True
        result, _ = check("openai:m", handler, say())
        message = result.answers[0]["reply"]["error"]["message"]
        assert "sk/odd" not in message, message


@test
def replies():
    for secret in SECRETS.values():
        for form in forms(secret):
            body = {"choices": [{"message": {"content": f"key: {form} end", "tool_calls": [
                {"id": form[:20], "function": {"name": "f", "arguments": json.dumps({"a": form})}}],
                "reasoning_details": [{"type": "x", "data": form}]}, "finish_reason": "stop"}]}

            def handler(_server, connection, _request, body_=body):
                connection.sendall(answer(body_))
                return True
            result, _ = check("openai:m", handler, say())
            text = result.answers[0]["reply"]["content"]
            assert text.startswith("key: ") and text.endswith(" end") and "[secret]" in text, text


@test
def streams():
    """A secret cut between two pieces at every place is not let through."""
    for secret in [SECRETS["ANTHROPIC_API_KEY"], SECRETS["OPENAI_API_KEY"]]:
        for form in list(forms(secret))[:6]:
            text = f"a {form} b"

            def in_twos(_server, connection, _request, text_=text):
                chunked(connection, [sse({"choices": [{"delta": {"content": text_[i:i + 2]}}]})
                                     for i in range(0, len(text_), 2)] +
                        [sse({"choices": [{"delta": {}, "finish_reason": "stop"}]}, b"[DONE]")])
                return True
            result, _ = check("openai:m", in_twos, say(stream=True))
            pieces = result.answers[0]["pieces"]
            has_none("".join(pieces), "pieces joined")
            expect("".join(pieces), result.answers[0]["reply"]["content"])
            assert "".join(pieces).startswith("a [secret]"), pieces


@test
def bodies_and_records():
    request = say("my key is " + everything(), system=everything(), schema={"type": "object", "title": everything()})
    result = drive("openai:m", {**request, "body": True}, env=env(9))
    has_none(result.out, "body")
    json.loads(result.out)

    def echo(_server, connection, _request):
        connection.sendall(answer({"choices": [{"message": {"content": everything()}, "finish_reason": "stop"}]}))
        return True
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "r.jsonl")
        check("openai:m", echo, request, say(), options=("--record", path))
        with open(path, encoding="utf-8") as f:
            text = f.read()
        has_none(text, "record")
        for line in text.splitlines():
            json.loads(line)
        again = drive("replay:" + path, request, env=env(9))
        assert "error" not in again.answers[0]["reply"], again.answers
        has_none(again.out, "replay")


@test
def refused_names():
    """A key that somebody puts into the name of a model by mistake is in the message, which is theirs; but no other."""
    result = drive("nobody:x", env=env(9))
    has_none(result.out, "refusal")


if __name__ == "__main__":
    sys.exit(run_tests("secrets"))
