#!/usr/bin/env python3
"""`ptc init` makes a project that runs at once, and changes nothing that is there.  test_init.py PTC"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
FILES = {"agent.json", "agent.schema.json", "orders.json", "tests.ptct", "README.md", ".gitignore"}


def ptc(cwd, *args):
    """In an empty home, without any variable but that, so without a key."""
    return subprocess.run([PTC, *args], capture_output=True, text=True, timeout=60, cwd=cwd, check=False,
                          env={"HOME": str(cwd)})


def test_project(home):
    done = ptc(home, "init", "x")
    project = home / "x"
    check("it says what it made", done.returncode == 0 and all(f"x/{name}" in done.stdout for name in FILES), done)
    check("the files", {p.name for p in project.iterdir()} == FILES, sorted(project.iterdir()))
    agent = json.loads((project / "agent.json").read_text(encoding="utf-8"))
    schema = json.loads((project / agent["$schema"]).read_text(encoding="utf-8"))
    check("editors find what may be in it", set(agent) <= set(schema["properties"]), agent)
    done = ptc(project, "run", "agent.json")
    check("it runs", done.returncode == 0 and json.loads(done.stdout) ==
          [{"customer": "Ada", "owes": 1305}, {"customer": "Ben", "owes": 646}] and done.stderr == "", done)
    done = ptc(project, "run", "agent.json", "--context", "@orders.json")
    check("with its data", done.returncode == 0 and json.loads(done.stdout) ==
          [{"customer": "Cleo", "owes": 340}, {"customer": "Dov", "owes": 504}], done)
    done = ptc(project, "test", "tests.ptct")
    check("its tests", done.returncode == 0 and "4 passed, 0 failed" in done.stdout, done)
    page = (project / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [line.strip().split("  ")[0].split() for line in page if line.startswith("    ptc ")]
    check("commands on its page", len(commands) == 6, commands)
    for command in commands:
        done = ptc(project, *command[1:])
        check(" ".join(command), done.returncode == 0, done)


def test_refusals(home):
    before = (home / "x" / "agent.json").read_bytes()
    done = ptc(home, "init", "x")
    check("twice", done.returncode == 1 and "x/agent.json: it is there already" in done.stderr, done)
    check("nothing changed", (home / "x" / "agent.json").read_bytes() == before, "changed")
    part = home / "part"
    part.mkdir()
    (part / "README.md").symlink_to(home / "target")
    done = ptc(home, "init", "part")
    check("a link in the way", done.returncode == 1 and [p.name for p in part.iterdir()] == ["README.md"] and
          not (home / "target").exists(), done)
    (home / "empty").mkdir()
    check("a directory that is there", ptc(home, "init", "empty").returncode == 0 and
          {p.name for p in (home / "empty").iterdir()} == FILES, "files")
    (home / "file").write_text("")
    for args, status in ((["file"], 1), (["no/such"], 1), ([], 2), (["a", "b"], 2), ([""], 2), (["--nonsense", "a"], 2)):
        done = ptc(home, "init", *args)
        check(f"init {args}", done.returncode == status and done.stderr.startswith("ptc init: ") and done.stdout == "", done)
    check("nothing was made", not (home / "a").exists() and not (home / "no").exists(), sorted(home.iterdir()))
    if os.getuid() != 0:
        (home / "locked").mkdir(mode=0o500)
        done = ptc(home, "init", "locked")
        check("a directory that cannot be written", done.returncode == 1 and "Permission denied" in done.stderr, done)


def main():
    with tempfile.TemporaryDirectory() as home:
        test_project(pathlib.Path(home))
        test_refusals(pathlib.Path(home))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
