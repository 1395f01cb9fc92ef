#!/usr/bin/env python3
"""Limits of the command line hold for lines that ask for more.  test_batch.py PTC"""
import json
import subprocess
import sys

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = sys.argv[1]


def answers(args, *options):
    lines = "".join(json.dumps({"id": i, "program": "(inc 1)", "options": o}) + "\n" for i, o in enumerate(options))
    done = subprocess.run([PTC, "eval", "--jsonl", *args], input=lines, capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def main():
    for option, flag, most, more in [("timeout_ms", "--timeout-ms", 100, 101), ("deadline_ms", "--deadline-ms", 200, 5000),
                                     ("memory_mb", "--memory-mb", 5, 6), ("loop_limit", "--loop-limit", 10, 11),
                                     ("max_depth", "--max-depth", 50, 51), ("max_tool_calls", "--max-tool-calls", 0, 1)]:
        status, got = answers([flag, str(most)], {option: most}, {option: more}, {})
        check(f"{option}: as much as it was started with", status == 0 and got[0].get("text") == "2", got[0])
        refused = got[1]
        check(f"{option}: more", (refused["id"], refused["ok"], refused["reason"]) == (1, False, "args_error"), refused)
        check(f"{option}: the limit is named", f"options.{option} is {more}" in refused["message"] and
              f"more than {most}," in refused["message"], refused)
        check(f"{option}: the next line", got[2].get("text") == "2", got[2])
        status, got = answers([], {option: more})
        check(f"{option}: without a limit on the command line", got[0].get("text") == "2", got)
    status, got = answers(["--timeout-ms", "100"], {"timeout_ms": 100, "memory_mb": 50, "loop_limit": 10 ** 9})
    check("only what was given is bounded", got[0].get("text") == "2", got)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
