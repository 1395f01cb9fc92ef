#!/usr/bin/env python3
"""A host in C that lets programs call servers on stdio, one that dies among them.  test_host_upstreams.py PTC"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish, skip  # pylint: disable=wrong-import-position

PTC = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
FAULTY = HERE.parent / "upstream/faulty.py"


def build(where):
    subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", HERE.parents[1] / "include",
                    HERE / "upstream_host.c", "-o", where / "host", f"-L{PTC.parent}", "-lptc", f"-Wl,-rpath,{PTC.parent}"],
                   check=True, timeout=120)


def host(where, mode, *programs, command=PTC, **more):
    upstreams = {"upstreams": {"far": {"command": sys.executable, "args": [str(FAULTY), *mode]}}, **more}
    done = subprocess.run([where / "host", json.dumps(upstreams), command, *programs], capture_output=True, text=True,
                          timeout=120, check=False)
    return done.returncode, done.stdout.splitlines()


def test_calls(where):
    status, lines = host(where, [], '(far/echo {:text "hi"})', "(count (servers))")
    check("a call", status == 0 and lines[0] == '"hi"' and lines[-1].startswith("far ready"), (status, lines))


def test_dies(where):
    """SIGPIPE must not end the host, which has not ignored it."""
    status, lines = host(where, ["dies"], '(far/echo {:text "hi"})', '(far/echo {:text "hi"})', "(+ 1 2)")
    check("a server that dies", status == 0 and lines[2] == "3" and "tool_error" in lines[0], (status, lines))


def test_no_command(where):
    status, lines = host(where, [], '(far/echo {:text "hi"})', "(+ 1 2)", command="/nowhere/ptc")
    check("without the command", status == 0 and lines[1] == "3" and "under /nowhere/ptc" in lines[0], (status, lines))
    status, lines = host(where, [], '(far/echo {:text "hi"})', command="")
    check("with none on the PATH", status == 0 and "the command ptc, which is not on the PATH" in lines[0], (status, lines))


def test_rules(where):
    status, lines = host(where, [], policy={"fra/echo": "deny"})
    check("a rule for no server", status == 1 and 'a server that no file has; did you mean "far"?' in lines[0], (status, lines))
    status, lines = host(where, [], '(far/write {:text "hi"})', '(far/echo {:text "hi"})', policy={"*": "allow", "far/ehco": "deny"})
    check("a rule for no tool", status == 0 and "fits none of its tools" in lines[0] and lines[1] == '"hi"', (status, lines))


if shutil.which("cc") and (PTC.parent / "libptc.so").exists():
    with tempfile.TemporaryDirectory() as directory:
        build(pathlib.Path(directory))
        test_calls(pathlib.Path(directory))
        test_dies(pathlib.Path(directory))
        test_no_command(pathlib.Path(directory))
        test_rules(pathlib.Path(directory))
else:
    skip("no C compiler, or no libptc.so beside ptc")
sys.exit(finish())
