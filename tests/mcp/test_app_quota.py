#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_quota.py PTC [ISOLATION]: --owner-calls and --owner-rate, on three servers with one store."""
import contextlib
import json
import os
import sqlite3
import tempfile
import threading
import time

from app_help import ISOLATION, PTC, clean_env, expect, main, run_ptc, test
from http_help import Server, call, raw_request, wait_for

CALLS, RATE = 6, 120
TOKENS = {"ann": "a" * 32, "bob": "b" * 32}


def servers(stack, where, count, *args):
    tokens = os.path.join(where, "tokens")
    with open(tokens, "w", encoding="utf-8") as f:
        f.write("".join(f"{owner} {token}\n" for owner, token in TOKENS.items()))
    os.chmod(tokens, 0o600)
    return [stack.enter_context(Server([PTC, "mcp", "--isolation", ISOLATION, "--token-file", tokens, *args], env=clean_env())) for _ in range(count)]


def ask(server, owner, program):
    """The value, or the error's data."""
    answer = call(server, "lisp_eval", {"program": program}, headers={"Authorization": f"Bearer {TOKENS[owner]}"}).json()
    if "error" in answer:
        expect(answer["error"]["code"], -32000)
        assert answer["error"]["data"]["retryAfterMs"] > 0, answer
        return None
    return answer["result"]["content"][0]["text"]


@test
def at_once():
    """Of many calls on all servers, as many run as one owner may have; nobody else is in their way."""
    with tempfile.TemporaryDirectory() as where, contextlib.ExitStack() as stack:
        go, tools = os.path.join(where, "go"), os.path.join(where, "tools.json")
        with open(tools, "w", encoding="utf-8") as f:
            json.dump({"wait": {"command": ["sh", "-c", f"while [ ! -e {go} ]; do sleep 0.02; done; echo 1"], "signature": "() -> :int"}}, f)
        nodes = servers(stack, where, 3, "--store", f"sqlite:{where}/s.db", "--tools", f"@{tools}", "--owner-calls", str(CALLS),
                        "--owner-share", "100", "--max-concurrent-calls", "20", "--program-timeout-ms", "30000")
        got = []

        def one(node):
            got.append(ask(node, "ann", "(tool/wait)"))
        threads = [threading.Thread(target=one, args=(nodes[i % 3],)) for i in range(3 * CALLS)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(got) == 2 * CALLS, "calls that are refused")
        expect(got, [None] * (2 * CALLS))
        expect(ask(nodes[0], "bob", "(+ 1 2)"), "3")
        with open(go, "w", encoding="utf-8"):
            pass
        for thread in threads:
            thread.join()
        expect(sum(v is not None for v in got), CALLS)
        wait_for(lambda: ask(nodes[1], "ann", "(+ 1 2)") == "3", "a call after the others")


@test
def rate():
    with tempfile.TemporaryDirectory() as where, contextlib.ExitStack() as stack:
        nodes = servers(stack, where, 3, "--store", f"sqlite:{where}/s.db", "--owner-rate", str(RATE))
        begun, refused, count, start = 0, 0, 0, time.monotonic()
        while refused < 6:
            may = ask(nodes[count % 3], "ann", "1") is not None
            begun, refused, count = begun + may, refused + (not may), count + 1
        fair = RATE + RATE * (time.monotonic() - start) / 60
        print(f"mcp_app_quota: {begun} of {fair:.0f} calls on three servers")
        assert 0.9 * fair <= begun <= 1.1 * fair, (begun, fair)
        expect(ask(nodes[0], "bob", "1"), "1")


@test
def alone():
    """Without a store a server counts for itself."""
    with tempfile.TemporaryDirectory() as where, contextlib.ExitStack() as stack:
        node, other = servers(stack, where, 2, "--owner-rate", "3")
        expect([ask(node, "ann", "1") for _ in range(4)], ["1", "1", "1", None])
        expect(ask(other, "ann", "1"), "1")


@test
def locked():
    """While the store takes long to say no, nobody waits for all who came before; and a server that notices is not ready."""
    with tempfile.TemporaryDirectory() as where, contextlib.ExitStack() as stack:
        node, = servers(stack, where, 1, "--store", f"sqlite:{where}/s.db", "--store-timeout-ms", "3000", "--owner-calls", "50", "--owner-rate", "6000")
        patient, = servers(stack, where, 1, "--store", f"sqlite:{where}/p.db", "--store-timeout-ms", "30000")
        for name in ("s.db", "p.db"):
            other = stack.enter_context(contextlib.closing(sqlite3.connect(f"{where}/{name}", isolation_level=None)))
            other.execute("BEGIN IMMEDIATE")
        begun, got = time.monotonic(), []
        threads = [threading.Thread(target=lambda: got.append(ask(node, "ann", "(+ 1 2)"))) for _ in range(12)]
        for thread in threads:
            thread.start()
        wait_for(lambda: raw_request(patient, "GET", "/ready", []).status == 503, "a server that is not ready")
        noticed = time.monotonic() - begun
        for thread in threads:
            thread.join()
        expect(got, ["3"] * 12)
        print(f"mcp_app_quota: {time.monotonic() - begun:.1f} s with a locked store, which was noticed after {noticed:.1f} s")
        assert time.monotonic() - begun < 18 and noticed < 12, noticed


@test
def wrong():
    for option in ("--owner-calls", "--owner-rate"):
        status, _, err = run_ptc(option, "5")
        expect(status, 2)
        assert f"{option}: it goes with --http" in err, err


if __name__ == "__main__":
    main("mcp_app_quota")
