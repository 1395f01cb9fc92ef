#!/usr/bin/env python3
"""Seeds for the fuzz targets about upstreams, from the cases: one file each, behind a byte that lets memory be.

usage: fuzz_seeds.py DIRECTORY
"""
import json
import pathlib
import sys


def seeds(case):
    """Names of targets and their seeds."""
    given = case["input"]
    if case["op"] == "config":
        yield "upstream_config", "\0" + given["text"]
    if case["op"] == "request" and "yaml" in given:
        yield "upstream_yaml", given["yaml"]
        yield "upstream_openapi", given["yaml"]
    if case["op"] == "request" and "document" in given:
        yield "upstream_openapi", json.dumps({k: given[k] for k in ("document", "args")})
    if case["op"] in ("result", "doc", "mcp_headers"):
        yield "upstream_result", json.dumps({k: given[k] for k in ("result", "tool", "args") if k in given})


def main():
    root = pathlib.Path(sys.argv[1])
    for line in pathlib.Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for target, text in seeds(case):
            (root / target).mkdir(parents=True, exist_ok=True)
            (root / target / case["id"]).write_bytes(b"\0" + text.encode())


if __name__ == "__main__":
    main()
