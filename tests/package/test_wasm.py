#!/usr/bin/env python3
"""The engine in WebAssembly and its playground: built, then used in Node and in Chromium.  For script/test --full, since the build takes
minutes.  test_wasm.py PTC [SHOTS]"""
import os
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
from package_help import ROOT, check, counts, finish, run, skip  # noqa: E402

PTC = pathlib.Path(sys.argv[1]).resolve()
MODULES = ROOT / "build/npm/node_modules"
SOURCES, OUT = ROOT / "build/wasm/sources", ROOT / "build/wasm/out"


def why_not():
    if not os.environ.get("PTC_TEST_FULL"):
        return "WebAssembly, which is for script/test --full"
    missing = [name for name in ("emcc", "node", "chromium") if not shutil.which(name)]
    if missing:
        return f"no {missing[0]}"
    if not (MODULES / "playwright-core").exists():
        return "no playwright-core in build/npm"
    if run(ROOT / "bindings/wasm/sources", SOURCES, seconds=280)[0] != 0:
        return "the sources of other libraries cannot be fetched"
    return None


def test():
    shots = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/shots")
    shots.mkdir(parents=True, exist_ok=True)
    status, out = run(ROOT / "bindings/wasm/build", SOURCES, OUT, seconds=1200)
    check("built", status == 0, out[-2000:])
    status, out = run("node", ROOT / "tests/package/wasm_cases.mjs", OUT, PTC, ROOT / "tests/samples/programs.jsonl",
                      ROOT / "docs/wasm.md", MODULES, shots, seconds=280)
    passed, failed = out.strip().splitlines()[-1].split(": ")[-1].replace(" passed", "").replace(" failed", "").split(", ")
    counts[True] += int(passed)
    counts[False] += int(failed)
    check("cases", status == 0, out[-3000:])


reason = why_not()
if reason:
    skip(reason)
else:
    test()
finish("test_wasm.py")
