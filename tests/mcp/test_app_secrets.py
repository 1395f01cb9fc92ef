#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_secrets.py PTC [ISOLATION]: what must not be written down is not, whatever a client does."""
import json
import os
import tempfile

import http_help
from app_help import ISOLATION, PTC, Server, clean_env, expect, main, test

TOKENS = [f"marker-of-owner-{i:02}-0123456789" for i in range(40)]
KEY = 'env-marker "quoted" \\ and\nlines'
SHOW = ["python3", "-c", "import json, os; print(json.dumps(os.environ['PTC_TEST_KEY']))"]
COMPLAIN = ["python3", "-c",
            "import os, sys; sys.stderr.write('x' * 70 + os.environ['PTC_TEST_PLAIN'] + 'y' * 2000); sys.exit(3)"]
PLAIN = "plain-env-marker-0123456789-abcdefghijklmnopqrstuvwxyz"


def files(directory):
    tools, tokens = os.path.join(directory, "tools.json"), os.path.join(directory, "tokens")
    with open(tools, "w", encoding="utf-8") as f:
        json.dump({"show": {"command": SHOW, "env": ["PTC_TEST_KEY"]},
                   "complain": {"command": COMPLAIN, "env": ["PTC_TEST_PLAIN"]}}, f)
    with open(tokens, "w", encoding="utf-8") as f:
        f.write("# owners\n" + "".join(f"o{i} {t}\n" for i, t in enumerate(TOKENS)))
    os.chmod(tokens, 0o600)
    return "@" + tools, tokens


def env():
    return clean_env(PTC_TEST_KEY=KEY, PTC_TEST_PLAIN=PLAIN)


def contents(directory):
    text = ""
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), encoding="utf-8") as f:
            text += f.read()
    return text


def has_none(text, where):
    """Nothing of a secret: neither it nor a part that would tell it."""
    for mark in ["marker-of-owner", "env-marker", "0123456789"]:
        assert mark not in text, f"{mark} in {where}: {text[max(0, text.index(mark) - 200):][:400]}"


PROGRAMS = ["(tool/show {})", "(str (tool/show {}) (tool/show {}))", "(fail (tool/show {}))", "(println (tool/show {}))",
            "(subs (str (apply str (repeat 300 \"z\")) (tool/show {})) 0 308)", "(tool/complain {})",
            "(fail (str (apply str (repeat 310 \"z\")) (tool/show {})))"]


@test
def traces_and_ring():
    for policy in ["none", "summary", "full"]:
        with tempfile.TemporaryDirectory() as d:
            tools, _ = files(d)
            traces = os.path.join(d, "traces")
            with Server("--tools", tools, "--trace-dir", traces, "--trace-payloads", policy, "--debug-tool",
                        "--sessions", env=env()) as s:
                expect(json.loads(s.eval("(count (tool/show {}))").text)["result"], f"user=> {len(KEY)}")
                for program in PROGRAMS:
                    s.eval(program)
                s.eval("(count data/k)", context={"k": KEY, KEY: 1})
                s.eval(f";{PLAIN}\n1")
                recent = s.call("lisp_debug", op="recent", limit=100)
                told = recent.text + s.call("lisp_debug", op="stats").text
                for record in recent.data["records"]:
                    told += s.call("lisp_debug", op="get", request_id=record["request_id"]).text
            has_none(told, f"lisp_debug, {policy}")
            written = contents(traces)
            has_none(written, f"traces, {policy}")
            assert ("[secret]" in written and "[secret]" in told) == (policy == "full")
            has_none(s.errors.decode(), "standard error")


@test
def failures_of_commands():
    with tempfile.TemporaryDirectory() as d:
        tools, _ = files(d)
        with Server("--tools", tools, env=env()) as s:
            a = s.eval("(tool/complain {})")
            assert a.failed and "x" * 70 + "[secret]y" in a.text and "marker" not in a.text, a.text


LONG = "qX7vR2mK9tB4nW8zL3cJ6hD1gF5sP0yQaZeUiOxTlVbNrMwH"  # no part of it is a word
CRY = ["sh", "-c", """
IFS= read -r args || :
before=${args#*'"before":'} after=${args#*'"after":'}
head -c "${before%%[!0-9]*}" /dev/zero | tr '\\0' x >&2
printf %s "$PTC_TEST_LONG" >&2
head -c "${after%%[!0-9]*}" /dev/zero | tr '\\0' y >&2
exit 3"""]
GIVE = ["sh", "-c", "printf '\"%s\"' \"$PTC_TEST_LONG\""]


def parts(text, length=7):
    """What of the secret is in a text, in pieces of some length."""
    return [LONG[i:i + length] for i in range(len(LONG) - length + 1) if LONG[i:i + length] in text]


def around(before):
    return f'(str (apply str (repeat {before} "z")) (tool/give {{}}) (apply str (repeat 400 "q")))'


@test
def across_every_cut():
    """A tool writes its key so that each place where texts are cut falls into it, at every third letter or so."""
    cases = [(f"(fail {around(n)})", False) for n in range(230, 320, 3)]  # messages
    cases += [(f"(throw (ex-info {around(n)} {{}}))", False) for n in range(240, 310, 5)]
    cases += [(around(n), False) for n in range(8 * 1024 - 60, 8 * 1024 + 10, 7)]  # records
    cases += [(around(n), False) for n in range(1024 * 1024 - 60, 1024 * 1024 + 10, 13)]  # traces
    cases += [(f"(+ 1 {around(n)})", False) for n in range(0, 300, 37)]  # values in messages
    cases += [(f"(get-in {{:a 1}} [:a {around(n)} :b])", False) for n in range(0, 300, 37)]
    cases += [(f"(tool/cry {{:before {n} :after 3000}})", True) for n in range(40, 100, 5)]  # the two ends of an error
    cases += [(f"(tool/cry {{:before 3000 :after {n}}})", True) for n in range(90, 150, 5)]
    cases += [(f"(tool/cry {{:before 100000 :after {64 * 1024 - n}}})", True) for n in range(0, 50, 1)]  # what is kept of it
    with tempfile.TemporaryDirectory() as d:
        path, traces = os.path.join(d, "tools.json"), os.path.join(d, "traces")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"give": {"command": GIVE, "env": ["PTC_TEST_LONG"]},
                       "cry": {"command": CRY, "env": ["PTC_TEST_LONG"],
                               "signature": "(before :int, after :int) -> :any"}}, f)
        with Server("--tools", "@" + path, "--trace-dir", traces, "--trace-payloads", "full", "--debug-tool",
                    "--program-memory-mb", "50", "--program-timeout-ms", "20000",
                    env=clean_env(PTC_TEST_LONG=LONG)) as s:
            assert parts(s.eval("(tool/give {})").text), "the program has it, and may tell"
            seen = 0
            for program, hidden in cases:
                answer = s.eval(program)
                seen += hidden and "[secret]" in answer.text
                last = s.call("lisp_debug", op="recent", limit=1).data["records"][0]["request_id"]
                record = s.call("lisp_debug", op="get", request_id=last).text
                expect(parts(record), [], program)
                expect(parts(answer.text) if hidden else [], [], program)
            assert seen > 10, seen
            expect(parts(s.finish().decode()), [])
        for name in os.listdir(traces):
            with open(os.path.join(traces, name), encoding="utf-8") as f:
                text = f.read()
            expect(parts(text), [], text[:300])


@test
def over_http():
    with tempfile.TemporaryDirectory() as d:
        tools, tokens = files(d)
        traces = os.path.join(d, "traces")
        with http_help.Server([PTC, "mcp"], "--isolation", ISOLATION, "--tools", tools, "--token-file", tokens,
                              "--trace-dir", traces, "--trace-payloads", "full", "--trace-max-files", "1000",
                              env=env()) as s:
            for token in TOKENS:
                mine = {"Authorization": f"Bearer {token}"}
                answer = http_help.call(s, "lisp_eval", {"program": f'(str "{token}")', "context": {"t": token}}, mine)
                expect(answer.status, 200)
            mine = {"Authorization": f"Bearer {TOKENS[0]}"}
            http_help.call(s, TOKENS[0], {TOKENS[0]: TOKENS[0]}, mine)
            http_help.modern(s, TOKENS[0], {}, mine)
            http_help.call(s, "lisp_eval", {TOKENS[0]: 1, "program": "1"}, mine)
            pairs = [("Authorization", f"Bearer {TOKENS[0]}"), ("Content-Type", "application/json")]
            http_help.raw_request(s, "GET", f"/{TOKENS[0]}?token={TOKENS[0]}", pairs)
            http_help.raw_request(s, "POST", f"/mcp?token={TOKENS[0]}", pairs, b"{")
            http_help.raw_request(s, TOKENS[0][:20], "/mcp", pairs)
            http_help.raw_request(s, "GET", "/mcp", [("Authorization", f"Basic {TOKENS[0]}"), ("X", TOKENS[0])])
            s.stop()
            has_none(s.log_text(), "the log")
            assert s.log_text().count("tools/call 200") >= len(TOKENS), s.log_text()[-500:]
        written = contents(traces)
        has_none(written, "traces")
        assert written.count("[secret]") >= 3 * len(TOKENS)


if __name__ == "__main__":
    main("mcp_app_secrets")
