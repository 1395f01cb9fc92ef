# SPDX-License-Identifier: MIT
"""Checks that are counted, for tests that run from top to bottom.  The last line says how many there were."""
import pathlib
import sys

MOST = 4000  # characters of what is shown of a failure
counts = {True: 0, False: 0}
reasons = []  # why something was not checked


def check(name, ok, got=""):
    counts[bool(ok)] += 1
    if not ok:
        print(f"FAIL {name}\n    got  {(got if isinstance(got, str) else repr(got))[:MOST]}")


def skip(reason):
    print(f"skipped: {reason}")
    reasons.append(reason)


def finish(name=pathlib.Path(sys.argv[0]).stem.removeprefix("test_")):
    """The exit status; a file in which nothing was checked has failed, unless it said why."""
    print(f"{name}: {counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] or not (counts[True] or reasons) else 0
