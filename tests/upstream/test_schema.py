#!/usr/bin/env python3
"""Holds schemas/upstreams.json to what reads the files: the same keys for the same transports, and the same verdict about
files that are right and wrong.  The verdicts of the schema are those of our own validator.

usage: test_schema.py PTC
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schemas/upstreams.json").read_text(encoding="utf-8"))
ROW = re.compile(r'^    \{"(\w+)", ([A-Z| ]+), \w+, (?:NULL|"\w+")\},', re.MULTILINE)
KINDS = {"STDIO": {"stdio"}, "HTTP": {"http"}, "OPENAPI": {"openapi"}, "FROM": {"from"}, "WEB": {"http", "openapi"},
         "ALL": {"stdio", "http", "openapi", "from"}}


def rows():
    """Transport -> keys, from the table that the reader has."""
    keys = {kind: set() for kind in KINDS["ALL"]}
    for name, kinds in ROW.findall((ROOT / "src/upstream/config/config_ours.c").read_text(encoding="utf-8")):
        for kind in kinds.split("|"):
            for transport in KINDS[kind.strip()]:
                keys[transport].add(name)
    return keys


RIGHT = [
    {"a": {"command": "x", "args": ["y"], "env": {"A": "b", "C": None}, "policy": {"*": "ask"}}},
    {"a": {"transport": "mcp_http", "url": "https://a.example/mcp", "call_timeout_ms": 5}},
    {"a": {"transport": "openapi", "schema_file": "a.json", "allow_writes": True}},
    {"a": {"url": "https://a.example/mcp", "effects": {"get_*": "read", "put_*": "write idempotent"}}},
]
WRONG = [
    {"a": {"command": 5}},
    {"a": {"command": "x", "comand": "y"}},
    {"a": {"command": "x", "call_timeout_ms": 0}},
    {"a": {"command": "x", "policy": {"*": "never"}}},
    {"a": {"transport": "openapi", "base_url": "https://a.example"}},
    {"a": {"command": "x", "url": "https://a.example"}},
    {"a": {}},
]


def verdicts(ptc, files):
    lines = "".join(json.dumps({"id": i, "op": "config", "input": {"text": json.dumps({"upstreams": f})}}) + "\n"
                    for i, f in enumerate(files))
    done = subprocess.run([pathlib.Path(ptc).with_name("ptc-test-driver"), "upstreams"], input=lines.encode(),
                          stdout=subprocess.PIPE, timeout=60, check=True)
    return [json.loads(line)["ok"] for line in done.stdout.splitlines()]


def fits(ptc, value):
    done = subprocess.run([ptc, "eval", "data/file", "--context", json.dumps({"file": value}), "--output-schema",
                           json.dumps(SCHEMA)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    return done.returncode == 0


def main():
    ptc, passed, failed = sys.argv[1], 0, 0

    def check(true, what):
        nonlocal passed, failed
        passed, failed = passed + bool(true), failed + (not true)
        if not true:
            print(f"FAIL {what}")

    for kind, keys in rows().items():
        has = set(SCHEMA["$defs"][kind]["properties"])
        check(keys == has, f"{kind}: only in the reader {sorted(keys - has)}, only in the schema {sorted(has - keys)}")
    for wanted, files in ((True, RIGHT), (False, WRONG)):
        for file, verdict in zip(files, verdicts(ptc, files)):
            check(verdict == wanted, f"the reader says {verdict} to {file}")
            check(fits(ptc, {"upstreams": file}) == wanted, f"the schema says {not wanted} to {file}")
    print(f"upstream schema: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
