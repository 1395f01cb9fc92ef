"""Examples in pages: fences ```json NAME (or csv, clj, python, markdown, yaml) are files; every `$ ` line of a plain fence is a command that prints what stands
below it.  A command goes on over lines that end in \\, and up to END of <<'END'.  A line `...` stands for any output."""
import os
import pathlib
import re
import shutil
import subprocess

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
ROOT = DOCS.parent
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", flags=re.M | re.S)
FILES = ("json", "csv", "clj", "txt", "jsonl", "python", "markdown", "yaml")
HERE = "/usr/local/bin"  # what pages have for the directory of the command
HOME = "/home/me"  # and for the working directory


def command_length(lines):
    """How many of the lines, beginning with one after `$ `, are the command."""
    count = 1
    while count < len(lines) and lines[count - 1].endswith("\\"):
        count += 1
    if "<<'END'" in lines[0] and "END" in lines[count:]:
        count = lines.index("END", count) + 1
    return count


def transcripts(text):
    """Commands of a fence, each with the lines that follow it."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        lines = part.split("\n")
        count = command_length(lines)
        yield "\n".join(lines[:count]), "\n".join(lines[count:])


def run_command(ptc, command, where):
    """What a command prints, on both outputs, in a directory; `ptc` is the one to be tested."""
    path = os.path.dirname(os.path.abspath(ptc)) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(["sh", "-c", f"{{ {command}\n}} 2>&1"], cwd=where, text=True, timeout=60,
                          env={"PATH": path, "HOME": str(where), "LANG": "C.UTF-8"},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    return done.stdout


def is_expected(got, expected):
    parts = re.split(r"^\.\.\.$\n?", expected, flags=re.M)
    return re.fullmatch(".*".join(re.escape(part) for part in parts), got, flags=re.S) is not None


def run_page(ptc, page, where, check, skip=lambda command: False):
    """Writes the files of a page, then runs its commands; check(name, ok, got) for each.  How many there were."""
    count, directory, real = 0, str(where), os.path.realpath(where)
    if not os.path.exists(os.path.join(where, "examples")):
        shutil.copytree(ROOT / "examples", os.path.join(where, "examples"))
    for kind, text in FENCE.findall(page):
        language, _, name = kind.partition(" ")
        if name and language in FILES:
            pathlib.Path(where, name).write_text(text, encoding="utf-8")
    for kind, text in FENCE.findall(page):
        for command, expected in transcripts(text) if kind == "" else ():
            if skip(command):
                continue
            count += 1
            if command.startswith("cd "):
                directory = os.path.join(directory, command[3:])
                continue
            got = run_command(ptc, command, directory)
            got = got.replace(os.path.dirname(os.path.abspath(ptc)), HERE).replace(real, HOME)
            check(command, is_expected(got, expected), got)
    return count
