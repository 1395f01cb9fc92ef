#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/llm/test_wire.py DRIVER [NAME] [--update]: what is sent to providers, exactly, and what becomes of their answers.

Each file of tests/wire is played against a server on loopback that answers with the bytes of the file, once at once and
once a byte at a time.  --update writes what was sent and what came out into the files, to be read before it is kept."""
import hashlib
import hmac
import json
import pathlib
import sys

from llm_help import BASES, KEYS, Server, answer, chunked, clean_env, drive, expect, run_tests, test
from wire_help import WireFile, ordered, parse_answer, pretty

UPDATE = "--update" in sys.argv
ROOT = pathlib.Path(__file__).resolve().parent.parent / "wire"
SHOWN = ("content-type", "anthropic-version", "authorization", "x-api-key", "x-goog-api-key", "x-amz-date",
         "x-amz-security-token")


def shown_header(name, value):
    """A header without its secret, and without what changes from day to day."""
    if name == "x-amz-date":
        return "*"
    for key in KEYS.values():
        value = value.replace(key, "KEY")
    return value if name != "authorization" or value.startswith("Bearer") else value[:value.index("Credential")] + "*"


def sent_text(request):
    lines = [f"{request.method} {request.path}"]
    lines += [f"{n}: {shown_header(n, request.headers[n])}" for n in SHOWN if n in request.headers]
    return "\n".join(lines) + "\n\n" + pretty(json.loads(request.body))


def check_sent(section, request):
    """Method, path and headers as they are, the body up to its white space."""
    head, _, body = section.partition("\n\n")
    expect(sent_text(request).partition("\n\n")[0], head, "request line and headers")
    if ordered(body) != ordered(request.body):
        raise AssertionError(f"body\n  got:  {pretty(json.loads(request.body))}\n  want: {body}")


# -------------------------------------------------------------------- signatures, independently

def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def check_signature(request, port, secret=KEYS["AWS_SECRET_ACCESS_KEY"], region="eu-west-1"):
    """SigV4 once more, from the description, over what was really received."""
    scheme, rest = request.headers["authorization"].split(" ", 1)
    expect(scheme, "AWS4-HMAC-SHA256")
    fields = dict(part.strip().split("=", 1) for part in rest.split(","))
    names = fields["SignedHeaders"].split(";")
    assert "host" in names and "x-amz-date" in names, names
    expect(request.headers["host"], f"127.0.0.1:{port}")
    canonical = "\n".join([request.method, request.path.replace("%", "%25"), "",
                           *[f"{n}:{request.headers[n]}" for n in names], "", ";".join(names),
                           hashlib.sha256(request.body).hexdigest()])
    date = request.headers["x-amz-date"]
    scope = f"{date[:8]}/{region}/bedrock/aws4_request"
    expect(fields["Credential"], f"{KEYS['AWS_ACCESS_KEY_ID']}/{scope}")
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (date[:8], region, "bedrock", "aws4_request"):
        key = sign(key, part)
    expect(fields["Signature"], sign(key, text).hex(), "signature")


# ------------------------------------------------------------------------------------- playing

def server_for(wire, by_byte):
    """Answers the n-th request with the n-th answer of the file."""
    def handler(server, connection, _request):
        status, headers, body = parse_answer(wire.exchanges[len(server.requests) - 1].sections["answer"])
        content_type = headers.pop("content-type", "application/json")
        if status == 200 and by_byte:
            chunked(connection, [body[i:i + 1] for i in range(len(body))], content_type)
        else:
            connection.sendall(answer(body, status, content_type, **headers))
        return True
    return Server(handler)


def model_for(wire, port):
    return wire.model.replace("ADDRESS", f"http://127.0.0.1:{port}")


def play(wire, by_byte):
    with server_for(wire, by_byte) as server:
        env = clean_env(server.port, **wire.env)
        result = drive(model_for(wire, server.port), *[e.json("request") for e in wire.exchanges], env=env, timeout=120)
    # An endpoint that refused a schema was asked once more; the file shows the second request.
    return result.answers, server


def check_exchange(exchange, got, request):
    reply, pieces = got["reply"], got["pieces"]
    if UPDATE:
        exchange.sections["sends"] = sent_text(request)
        exchange.sections["reply"] = pretty(reply)
        if pieces:
            exchange.sections["pieces"] = pretty(pieces)
        return
    check_sent(exchange.sections["sends"], request)
    expect(reply, exchange.json("reply"), "reply")
    if exchange.json("request").get("stream"):
        expect("".join(pieces), "".join(json.loads(exchange.sections.get("pieces", "[]"))), "pieces")
        if "content" in reply:
            expect("".join(pieces), reply["content"] or "", "pieces make the text")


def check_file(path):
    wire = WireFile(path)
    for by_byte in [False, True]:
        answers, server = play(wire, by_byte)
        expect(len(answers), len(wire.exchanges), "answers")
        for exchange, got, request in zip(wire.exchanges, answers, server.requests):
            check_exchange(exchange, got, request)
            if request.headers.get("authorization", "").startswith("AWS4"):
                check_signature(request, server.port)
        if UPDATE:
            wire.write()
            return


def add(path):
    def one_file():
        check_file(path)
    one_file.__name__ = path.stem
    test(one_file)


for file in sorted(ROOT.glob("*.wire")):
    add(file)


@test
def every_provider_has_files():
    models = {WireFile(p).model.split(":")[0] for p in ROOT.glob("*.wire")} - {"amazon_bedrock"}
    expect(sorted(set(BASES) | {"openai-compat"}), sorted(models))
    for provider in models:
        streams = {bool(e.json("request").get("stream")) for p in ROOT.glob("*.wire") for e in WireFile(p).exchanges
                   if provider in WireFile(p).model.split(":")[0]}
        expect(streams, {False, True}, provider)


if __name__ == "__main__":
    sys.exit(run_tests("wire"))
