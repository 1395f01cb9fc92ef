#!/usr/bin/env python3
"""What the release build does against mistakes in C is in the command and in the library: canaries, checked libc functions,
tables of addresses that are read-only, no executable stack, a place in memory that changes.  test_hardening.py PTC"""
import os
import shutil
import subprocess
import sys

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish, skip  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def look_at(path):
    name = os.path.basename(path)
    head, segments = said("readelf", "-hW", path), said("readelf", "-lW", path)
    dynamic, symbols = said("readelf", "-dW", path), said("readelf", "--dyn-syms", "-W", path)
    stack = [line for line in segments.splitlines() if "GNU_STACK" in line]
    check(f"{name}: RELRO", "GNU_RELRO" in segments, segments)
    check(f"{name}: BIND_NOW", "BIND_NOW" in dynamic or "NOW" in dynamic.split("FLAGS_1", 1)[-1][:80], dynamic)
    check(f"{name}: position-independent", "DYN" in head, head)
    check(f"{name}: the stack is not executable", stack and "RWE" not in stack[0], segments)
    check(f"{name}: nothing is writable and executable", "RWE" not in segments, segments)
    check(f"{name}: canaries", "__stack_chk_fail" in symbols, symbols)
    check(f"{name}: checked functions of libc", "_chk@" in symbols.replace("__stack_chk_fail", ""), symbols)


def main():
    if not shutil.which("readelf"):
        skip("no readelf")
        return 0
    look_at(PTC)
    library = os.path.join(os.path.dirname(PTC), "libptc.so")
    if os.path.exists(library):
        look_at(os.path.realpath(library))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
