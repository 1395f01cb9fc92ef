#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/fleet/test_bank.py PTC: the bank on a SQLite file and on PostgreSQL; and whether the checks find mistakes."""
import contextlib
import os
import subprocess
import sys
import tempfile
import time

from bank import Account, Bank, ask, kill, stop, term  # first: it knows where watch and engines are
import engines
from linearizable import Op, linearizable
from watch import expect, main, test

PTC = sys.argv[1]
SECONDS = 120 if os.environ.get("PTC_TEST_FULL") else 12


def write(value, begin, end):
    return Op("write", value, value, begin, end)


def read(value, begin, end):
    return Op("read", None, value, begin, end)


@test
def checker():
    for want, history in [
            (True, [write(1, 0, 1), read(1, 2, 3)]),
            (False, [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)]),
            (True, [write(1, 0, 9), write(2, 0, 9), read(2, 1, 2), read(1, 3, 4)]),
            (False, [write(1, 0, 9), write(2, 0, 9), read(2, 1, 2), read(1, 3, 4), read(2, 5, 6)]),
            (False, [Op("cas", (0, 1), 0, 0, 1), Op("cas", (0, 2), 0, 2, 3)]),
            (True, [write(7, 0, None), read(0, 1, 2), read(7, 3, 4)]),
            (False, [write(7, 0, None), read(7, 1, 2), read(0, 3, 4)]),
            (True, [Op("cas", (0, 5), None, 0, None), read(5, 1, 2), Op("cas", (5, 6), 5, 3, 4), read(6, 5, 6)]),
            (True, [x for i in range(1, 500) for x in (write(i, i, i + 0.4), read(i, i + 0.5, i + 0.6))])]:
        expect(linearizable(history, 0), want, history[:6])


@test
def sqlite():
    with tempfile.TemporaryDirectory() as d:
        bank = Bank(PTC, ["--store", f"sqlite:{os.path.join(d, 's.db')}"])
        try:
            bank.run(SECONDS, [kill, term, kill, term, stop])
            bank.report("bank on sqlite")
            bank.check()
            assert bank.counts()["ok"] > 100, "next to nothing was done"
        finally:
            bank.close()


@test
def postgres():
    """The server is restarted and killed too, and connections to it are dropped, delayed and cut before the answer."""
    try:
        server = engines.Postgres()
    except engines.Missing as e:
        print(f"skipped: {e}")
        return
    way = engines.Trouble(server.port)
    with server, contextlib.closing(way):
        bank = Bank(PTC, ["--store", server.url("postgres", way.port)])
        try:
            bank.run(SECONDS, [kill, term, stop, *engines.faults(server, way)], every=1)
            bank.report("bank on postgresql")
            bank.check()
            assert bank.counts()["ok"] > 100, "next to nothing was done"
        finally:
            bank.close()


def clocks_an_hour_apart(directory):
    """What gives each of three processes a time of day of its own."""
    library = os.path.join(directory, "wrong_clock.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrong_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return [{}, *({"LD_PRELOAD": library, "PTC_TEST_CLOCK": seconds} for seconds in ("3600", "-3600"))]


@test
def wrong_clocks():
    """Nodes whose clocks are an hour apart: times are those of the engine, so no session ends early or lives on."""
    try:
        server = engines.Postgres()
    except engines.Missing as e:
        print(f"skipped: {e}")
        return
    with server, tempfile.TemporaryDirectory() as d:
        bank = Bank(PTC, ["--store", server.url("postgres")], sessions=6, clocks=clocks_an_hour_apart(d))
        try:
            bank.run(6, [kill])
            bank.report("bank with wrong clocks")
            bank.check()
            short = [ask(node.port, "lisp_session_start", {"ttl_ms": 1000})[1] for node in bank.nodes]
            time.sleep(1.5)
            for node in bank.nodes:
                for session in short:
                    expect(Account(session).evaluate(node.port, "1"), ("no", "unknown_session"))
        finally:
            bank.close()


def finds(change, word):
    """A bank in which something was changed behind its back says so."""
    with tempfile.TemporaryDirectory() as d:
        bank = Bank(PTC, ["--store", f"sqlite:{os.path.join(d, 's.db')}"], nodes=2, clients=4, sessions=2)
        try:
            bank.run(1, [])
            change(bank)
            bank.check()
            raise AssertionError(f"not found: {word}")
        except AssertionError as e:
            assert word in str(e), e
        finally:
            bank.close()


@test
def finds_mistakes():
    def program(text):
        return lambda bank: bank.accounts[0].evaluate(bank.nodes[0].port, text)
    finds(program("(def ops (vec (rest ops)))"), "lost")
    finds(program("(def ops (conj ops (first ops)))"), "done twice")
    finds(program("(def n (inc n))"), "the sum is")
    finds(program("(def a (inc a))"), "torn")
    finds(program("(def ops (conj ops 7))"), "nothing was done")
    finds(program("(def r -1)"), "linearizable")


if __name__ == "__main__":
    main("bank")
