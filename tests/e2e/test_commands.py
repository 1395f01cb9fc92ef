#!/usr/bin/env python3
"""Every command line and program of README, docs and examples is run, with what the page says that it prints, or is in
commands_not_run with a reason.  test_commands.py PTC [PAGE...]"""
import fnmatch
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

sys.dont_write_bytecode = True
import page_help  # noqa: E402

PTC = os.path.abspath(sys.argv[1])
ROOT = page_help.ROOT
LIST = pathlib.Path(__file__).with_name("commands_not_run")
# Words that a command begins with.  Forms of a command (`ptc eval -f FILE`) are in fences ```usage.
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:ptc|cmake|ctest|claude|curl|export|npx|npm|cc|git|sudo|apt|systemctl|docker|bench/\w+|script/[\w-]+|"
                     r"build/\S+|examples/\S+|bindings/\S+)(?: |$)")
SHELL = ("", "sh", "bash", "console", "shell")
used = set()


def read_list():
    """Rows of (page, glob of commands, why)."""
    rows = [line.split(" | ") for line in LIST.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    for row in rows:
        check(f"{LIST.name}: {row}", len(row) == 3 and row[2].strip(), "a row is PAGE | COMMAND | REASON")
    return [tuple(row) for row in rows if len(row) == 3]


def pages():
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), ROOT / "bench/README.md"]
    return sorted(path.relative_to(ROOT).as_posix() for path in found if path.name != "functions.md")


def listed(rows, page, command):
    found = [row for row in rows if row[0] in ("*", page) and fnmatch.fnmatchcase(command, row[1])]
    used.update(found)
    return bool(found)


def bare_commands(text):
    """Commands that are shown without `$ ` and output: in fences, and indented by four."""
    for kind, lines in page_help.FENCE.findall(text):
        if kind in SHELL and not re.search(r"^\$ ", lines, flags=re.M):
            yield from (line for line in lines.split("\n") if COMMAND.match(line))
    outside = page_help.FENCE.sub("", text)
    yield from (line[4:] for line in outside.split("\n") if line[:4] == "    " and COMMAND.match(line[4:]))


def programs(text):
    """Programs in fences: language and first line.  Those tagged ptc are run by `ptc test`, C with a main by test_embedding.py."""
    for kind, lines in page_help.FENCE.findall(text):
        language, _, name = kind.partition(" ")
        if not name and language in ("clojure", "lisp", "python", "js", "elixir") or language == "c" and "int main(" not in lines:
            yield f"{language}: {lines.partition(chr(10))[0]}"


def test_page(rows, page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for program in programs(text):
        check(f"{page}: {program}", listed(rows, page, program), f"neither run nor in {LIST.name}")
    if re.search(r"^```ptc$", text, flags=re.M):
        check(f"{page}: examples are run", page.startswith("docs/"), "script/test runs those of docs only")
    for command in bare_commands(text):
        check(f"{page}: {command}", listed(rows, page, command.split("  ")[0].strip()), f"neither run nor in {LIST.name}")
    for kind, lines in page_help.FENCE.findall(text):
        check(f"{page}: a transcript in a fence of {kind}", kind == "" or not re.search(r"^\$ ", lines, flags=re.M), lines)
    with tempfile.TemporaryDirectory() as where:
        page_help.run_page(PTC, text, where, lambda name, ok, got: check(f"{page}: {name}", ok, got),
                           lambda command: listed(rows, page, command))


def main():
    rows, chosen = read_list(), sys.argv[2:] or pages()
    for page in chosen:
        test_page(rows, page)
    if not sys.argv[2:]:
        check("rows of the list", set(rows) <= used, f"not needed: {sorted(set(rows) - used)}")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
