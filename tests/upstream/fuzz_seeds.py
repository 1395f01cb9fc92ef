#!/usr/bin/env python3
"""Seeds for the fuzz targets about upstreams, from the cases: one file each, behind a byte that lets memory be.

usage: fuzz_seeds.py DIRECTORY
"""
import json
import pathlib
import sys


def seed(case):
    """The name of the target and the seed; None: the case is for none."""
    given = case["input"]
    if case["op"] == "config":
        return "upstream_config", "\0" + given["text"]
    if case["op"] == "request" and "yaml" in given:
        return "upstream_yaml", given["yaml"]
    if case["op"] == "request" and "document" in given:
        return "upstream_openapi", json.dumps({k: given[k] for k in ("document", "args")})
    if case["op"] in ("result", "doc", "mcp_headers"):
        return "upstream_result", json.dumps({k: given[k] for k in ("result", "tool", "args") if k in given})
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    for line in pathlib.Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        found = seed(case)
        if found:
            (root / found[0]).mkdir(parents=True, exist_ok=True)
            (root / found[0] / case["id"]).write_bytes(b"\0" + found[1].encode())


if __name__ == "__main__":
    main()
