#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/fleet/test_bank_redis.py PTC: the bank on a Redis that writes everything to its log before it answers."""
import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import engines  # noqa: E402 pylint: disable=wrong-import-position
from bank import Bank, kill, stop, term  # noqa: E402 first: it knows where watch is
from engine_redis import Redis  # noqa: E402
from watch import main, test  # noqa: E402

PTC = sys.argv[1]
SECONDS = 120 if os.environ.get("PTC_TEST_FULL") else 8


@test
def redis():
    """It is restarted and killed too, and connections to it are dropped, delayed and cut before the answer."""
    try:
        server = Redis("--appendonly", "yes", "--appendfsync", "always")
    except engines.Missing as e:
        print(f"skipped: {e}")
        return
    way = engines.Trouble(server.port)
    with server, contextlib.closing(way):
        bank = Bank(PTC, ["--store", server.url("bank", way.port)])
        try:
            bank.run(SECONDS, [kill, term, stop, *engines.faults(server, way)], every=1)
            bank.report("bank on redis")
            bank.check()
            assert bank.counts()["ok"] > 20, "next to nothing was done"
        finally:
            bank.close()


if __name__ == "__main__":
    main("bank_redis")
