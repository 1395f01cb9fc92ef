"""Examples in pages of docs/: fences ```json NAME (or csv, clj) are files, every `$ ` line of a plain fence is a command that prints what
stands below it."""
import os
import pathlib
import re
import subprocess

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", flags=re.M | re.S)


def transcripts(text):
    """Commands of a fence, each with the lines that follow it."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def run_command(ptc, command, where):
    """What a command prints, on both outputs, in a directory; `ptc` is the one to be tested."""
    path = os.path.dirname(os.path.abspath(ptc)) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(["sh", "-c", f"{{ {command}\n}} 2>&1"], cwd=where, text=True, timeout=60,
                          env={"PATH": path, "HOME": str(where), "LANG": "C.UTF-8"},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    return done.stdout


def run_page(ptc, page, where, check):
    """Writes the files of a page, then runs its commands; check(name, ok, got) for each.  How many there were."""
    count = 0
    for kind, text in FENCE.findall(page):
        language, _, name = kind.partition(" ")
        if name and language in ("json", "csv", "clj"):
            pathlib.Path(where, name).write_text(text, encoding="utf-8")
    for kind, text in FENCE.findall(page):
        for command, expected in transcripts(text) if kind == "" else ():
            got = run_command(ptc, command, where)
            check(command, got == expected, got)
            count += 1
    return count
