#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""apis_guru.py PTC [DIR]: `ptc upstreams check` over every document of a checkout of APIs-guru/openapi-directory.

Prints the table of docs/upstreams.md: how many documents of each version load, what is refused, how many operations are tools
(with allow_writes), and why the others are left out; then each document that took more than a second of CPU time or 100 MB. The
exit status is 1 when ptc crashed, or fewer than 95% of the documents of one version load. It is not a part of script/test: without
DIR it is skipped."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS, MEGABYTES, SHARE = 1.0, 100, 0.95


def run(home, *args):
    """Output, exit status (negative: a signal), CPU seconds and peak megabytes."""
    env = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home + "/cache", "XDG_STATE_HOME": home + "/state",
           "XDG_CONFIG_HOME": home + "/config"}
    with subprocess.Popen([PTC, "upstreams", *args, "--upstreams", "u.json"], cwd=home, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as child:
        said = child.stdout.read().decode(errors="replace")
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return said, child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def look(document):
    with tempfile.TemporaryDirectory() as home:
        entry = {"transport": "openapi", "schema_file": str(document), "allow_writes": True}
        pathlib.Path(home, "u.json").write_text(json.dumps({"upstreams": {"a": entry}}))
        said, status, seconds, megabytes = run(home, "check")
        state = {}
        if status == 0:
            listed, other, _, _ = run(home, "list", "--json")
            status = other
            state = json.loads(listed)[0] if other == 0 else {}
    return document, said, status, seconds, megabytes, state


def refusal(said, document):
    """Why a document is not loaded, without its own words and numbers."""
    why = said.split("\n")[0].split(str(document) + ": ")[-1]
    return "refused: " + re.sub(r"\(line \d+: (.*)\)", r"(\1)", why)


def main():
    documents = sorted(p for p in pathlib.Path(DIR).resolve().rglob("*")
                       if p.name in ("swagger.yaml", "swagger.json", "openapi.yaml", "openapi.json"))
    counts = {version: collections.Counter() for version in ("swagger", "openapi")}
    bad = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for document, said, status, seconds, megabytes, state in pool.map(look, documents):
            count = counts[document.stem]
            count["documents"] += 1
            count["loaded" if status == 0 else refusal(said, document)] += 1
            count["tools"] += state.get("tools", 0)
            for why, n in state.get("left_out", {}).items():
                count["left out: " + why] += n
            if status not in (0, 1):
                bad.append(f"{document}: status {status}: {said[-2000:]}")
            if seconds > SECONDS or megabytes > MEGABYTES:
                print(f"{document}: {seconds:.2f} s, {megabytes:.0f} MB")
    names = set().union(*counts.values())
    print("| | Swagger 2.0 | OpenAPI 3 |\n|---|---|---|")
    for row in ["documents", "loaded", *sorted(n for n in names if n.startswith("refused")), "tools",
                *sorted(n for n in names if n.startswith("left out"))]:
        print(f"| {row} | {counts['swagger'][row]:,} | {counts['openapi'][row]:,} |")
    for line in bad:
        print("FAILED", line)
    few = [v for v, c in counts.items() if c["loaded"] < SHARE * c["documents"]]
    return 1 if bad or few or not documents else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or not os.path.isdir(sys.argv[2]):
        print("skipped: give a checkout of APIs-guru/openapi-directory as DIR")
        sys.exit(0)
    PTC, DIR = os.path.abspath(sys.argv[1]), sys.argv[2]
    sys.exit(main())
