#!/usr/bin/env python3
"""Connects client_driver to real servers by stdio, as far as they are installed (script/bootstrap), and checks what it says.

usage: test_client_real.py PTC      the driver lies beside it
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ROOT / "build" / "npm" / "node_modules" / ".bin"
SECONDS = 100
# Program -> era, the least number of tools, a text that it says about itself.
SERVERS = {"mcp-server-everything": (1, 13, "mcp-servers/everything")}


def wrong_with(driver, program, era, tools, name):
    done = subprocess.run([driver, "--stdio", str(program)], capture_output=True, text=True, timeout=SECONDS, check=False)
    count = re.search(r"^tools (\d+)$", done.stdout, re.MULTILINE)
    good = (done.returncode == 0 and done.stdout.startswith(f"era {era}, about ") and name in done.stdout
            and count and int(count.group(1)) >= tools and "echo: least" in done.stdout)
    return None if good else (done.stdout + done.stderr)[-3000:]


def main():
    driver = pathlib.Path(sys.argv[1]).resolve().parent / "client_driver"
    failed, count = 0, 0
    for server, expected in SERVERS.items():
        if not (PROGRAMS / server).exists():
            print(f"skipped: {server} is not installed")
            continue
        count += 1
        wrong = wrong_with(driver, PROGRAMS / server, *expected)
        if wrong:
            failed += 1
            print(f"{server}:\n{wrong}")
    print(f"client with real servers: {count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
