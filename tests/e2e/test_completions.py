#!/usr/bin/env python3
"""What `ptc completions` prints, in the shells that are here.  test_completions.py PTC"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish, skip  # pylint: disable=wrong-import-position

PTC = pathlib.Path(sys.argv[1]).resolve()


def run(*argv, **more):
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, **more)


def script(shell):
    return run(PTC, "completions", shell).stdout


BASH = """
source "$1"
COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_ptc
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(shell, path, *words):
    if shell == "bash":
        done = run("bash", "-c", BASH, "bash", path, *words)
    else:
        done = run("fish", "-c", f"source {path}; complete -C '{' '.join(words)}'",
                   env={**os.environ, "HOME": str(pathlib.Path(path).parent)})  # it writes there
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def test_shell(shell, path):
    check(f"{shell}: commands", complete(shell, path, "ptc", "ev") == ["eval"], complete(shell, path, "ptc", "ev"))
    check(f"{shell}: options", complete(shell, path, "ptc", "mcp", "--print") == ["--print-config"])
    got = complete(shell, path, "ptc", "eval", "--format", "js")
    check(f"{shell}: choices", sorted(got) == ["json", "jsonl"], got)
    got = complete(shell, path, "ptc", "upstreams", "lo")
    check(f"{shell}: words of upstreams", sorted(got) == ["login", "logout"], got)
    got = complete(shell, path, "ptc", "trace", "")
    check(f"{shell}: words of trace", {"summary", "timeline", "slowest", "chrome", "otlp"} <= set(got), got)
    got = complete(shell, path, "ptc", "trace", "--t")
    check(f"{shell}: options before a word", got == ["--top"], got)
    got = complete(shell, path, "ptc", "upstreams", "doc", "--im")
    check(f"{shell}: options after a word", got == ["--import"], got)
    got = complete(shell, path, "ptc", "upstreams", "doc", "--to")
    check(f"{shell}: no options of the command that a word is called like", "--tools" not in got, got)
    got = complete(shell, path, "ptc", "help", "ev")
    check(f"{shell}: help", got == ["eval"], got)


def test_all_options():
    """Every option that --help all of a command has."""
    for shell in ("bash", "zsh", "fish"):
        text = script(shell)
        commands = re.findall(r"^  (\w+) ", run(PTC, "--help").stdout.partition("commands:\n")[2].partition("\n\n")[0], re.MULTILINE)
        for command in commands:
            options = re.findall(r"^  (?:-\w, |    )--([\w-]+)", run(PTC, command, "--help", "all").stdout, re.MULTILINE)
            missing = [o for o in options if not re.search(rf"(--|-l ){o}\b", text)]
            check(f"{shell}: options of {command}", options and not missing, missing)


test_all_options()
check("zsh: words", "'1:word:(summary timeline slowest chrome otlp)'" in script("zsh"))
check("no such shell", run(PTC, "completions", "tcsh").returncode == 2 and run(PTC, "completions").returncode == 2)
with tempfile.TemporaryDirectory() as where:
    for name in ("bash", "zsh", "fish"):
        file = pathlib.Path(where, "ptc." + name)
        file.write_text(script(name), encoding="utf-8")
        if not shutil.which(name):
            skip(f"no {name} here")
            continue
        done = run(name, "-n", file)
        check(f"{name} reads it", done.returncode == 0 and not done.stderr, done.stderr)
        if name != "zsh":
            test_shell(name, str(file))
sys.exit(finish())
