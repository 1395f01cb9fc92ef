#!/usr/bin/env python3
"""Whole programs in docs/embedding.md, README.md and examples/embed-c: built against libptc beside the command, and run.  test_embedding.py PTC"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish, skip  # pylint: disable=wrong-import-position

sys.dont_write_bytecode = True
import page_help  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve().parent
ROOT = page_help.DOCS.parent


def build(source, where):
    """The program, or None with what the compiler says."""
    pathlib.Path(where, "app.c").write_text(source, encoding="utf-8")
    done = subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", "app.c", "-o", "app",
                           f"-L{BUILD}", "-lptc", f"-Wl,-rpath,{BUILD}"],
                          cwd=where, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode == 0, done.stderr


def run(source, where):
    ok, error = build(source, where)
    if not ok:
        return error
    return subprocess.run(["./app"], cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"]}, check=False).stdout


def programs(page):
    """Fences of C with a main, each with what the next transcript says that it prints; None: nothing is said."""
    fences = page_help.FENCE.findall(page)
    for (kind, text), (after, output) in zip(fences, fences[1:] + [("none", "")]):
        if re.match(r"c\b", kind) and "int main(" in text:
            expected = output.partition("\n")[2] if after == "" and output.startswith("$ cc ") else None
            yield text, expected


def test_example():
    """examples/embed-c prints what its page says."""
    where = ROOT / "examples/embed-c"
    page = (where / "README.md").read_text(encoding="utf-8")
    expected = next(output for kind, text in page_help.FENCE.findall(page) if kind == ""
                    for _, output in page_help.transcripts(text))
    with tempfile.TemporaryDirectory() as place:
        got = run((where / "app.c").read_text(encoding="utf-8"), place)
    check("examples/embed-c", got == expected, got)


def test_python():
    """examples/embed-python, on the binding in the tree."""
    where = ROOT / "examples/embed-python"
    done = subprocess.run([sys.executable, where / "app.py"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
                          env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "bindings/python"), "PYTHONDONTWRITEBYTECODE": "1",
                               "PTC_LIBRARY": str(BUILD / "libptc.so")})
    check("examples/embed-python", f"app.py\n{done.stdout}```" in (where / "README.md").read_text(encoding="utf-8"), done.stdout)


def test_page(name, least):
    count = 0
    for source, expected in programs(pathlib.Path(ROOT, name).read_text(encoding="utf-8")):
        with tempfile.TemporaryDirectory() as where:
            got = run(source, where)
        check(f"program {count + 1} of {name}", got == expected if expected else re.fullmatch(r"\d+\n", got), got)
        count += 1
    check(f"programs of {name}", count >= least, count)


def test_server_library():
    """The program of docs/mcp-library.md, against headers that are not installed: the compiler accepts it."""
    for source, _ in programs((ROOT / "docs/mcp-library.md").read_text(encoding="utf-8")):
        done = subprocess.run(["cc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "include", "-I", ROOT / "src",
                               "-x", "c", "-"], input=source, capture_output=True, text=True, timeout=120, check=False)
        check("docs/mcp-library.md", done.returncode == 0, done.stderr)


if shutil.which("cc") and (BUILD / "libptc.so").exists():
    test_page("docs/embedding.md", 2)
    test_page("README.md", 1)
    test_example()
    test_python()
    test_server_library()
else:
    skip("no C compiler, or no libptc.so beside ptc")
    check("skipped", True, "")
sys.exit(finish())
