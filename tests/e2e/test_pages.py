#!/usr/bin/env python3
"""Tables of pages against schemas/agent.json, outcomes and what bench/transports counts.  test_pages.py PTC"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

sys.dont_write_bytecode = True
import page_help  # noqa: E402

PTC = os.path.abspath(sys.argv[1])
ROOT = page_help.DOCS.parent


def read(name):
    return pathlib.Path(ROOT, name).read_text(encoding="utf-8")


def rows(page, heading):
    """Rows of the table with these columns: name without backquotes -> the other cells."""
    table = page[page.index(heading):].split("\n\n")[0].split("\n")[2:]
    cells = ([c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table)
    return {row[0].strip("`"): row[1:] for row in cells}


def plain(value):
    """A default as the page writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def test_fields():
    """Every field of the schema has a row, with the default and the range that the schema has."""
    fields = json.loads(read("schemas/agent.json"))["properties"]
    table = rows(read("docs/agents.md"), "| field | type | if absent | meaning |")
    check("fields", set(table) == set(fields) - {"$schema"}, set(table) ^ set(fields))
    for name, (kind, absent, _) in table.items():
        field = fields[name]
        if "default" in field:
            check(f"default of {name}", absent.strip("`") == plain(field["default"]), absent)
        for bound in ("minimum", "maximum"):
            if re.match(r"\d+ to \d+", kind):
                check(f"range of {name}", str(field[bound]) in kind, kind)
        for word in field.get("enum", ()):
            check(f"{word} of {name}", word is None or f"`{word}`" in kind, kind)
    options = fields["format_options"]["properties"]
    named = re.search(r"^`format_options`: .*?\n\n", read("docs/agents.md"), flags=re.M | re.S).group(0)
    for name in options:
        check(f"format option {name}", f"`{name}`" in named, named)


def test_outcome():
    """What an outcome has is on the page."""
    table = rows(read("docs/agents.md"), "| member | there | |")
    with tempfile.TemporaryDirectory() as where:
        agent = {"prompt": "p", "llm": [{"content": "(def a 1)"}, {"content": "(fail {:a 1})"}]}
        pathlib.Path(where, "a.json").write_text(json.dumps(agent), encoding="utf-8")
        for options in ("", "--messages", "--context 1", "--then a.json"):
            outcome = json.loads(page_help.run_command(PTC, f"ptc run a.json --json {options}", where))
            check(f"members {options}", set(outcome) <= set(table), set(outcome) - set(table))


# What stands in the programs of the tables of from-jq.md and from-python.md without being said there.
NAMES = """(let [xs [1 2 3] rows [{:total 1 :customer "a"}] m {:a 1} d {:a [1]} s "re,5" o {:id 1 :customer "a"} pairs [[1 2]] f FUNCTION p odd?
                 a [1] b [2] c 3 n 2 x 2.5 data (if (map? data) data {})] %s)"""


def test_tables():
    """Programs in tables of pages for newcomers run."""
    for name, heading, least, function in (("from-jq", "| jq | ptc |", 18, "identity"), ("from-python", "| Python | PTC-Lisp |", 30, "+")):
        page = read(f"docs/{name}.md")
        cells = [cell[0] for cell in rows(page, heading).values()]
        programs = [p for cell in cells for p in re.findall(r"`(\([^`]*\))`", cell) if "..." not in p]
        check(f"programs of {name}", len(programs) >= least, len(programs))
        for program in programs:
            typed = program if re.match(r"\(defn? ", program) else NAMES.replace("FUNCTION", function) % program
            if re.match(r"\([-+*f] ", program):  # a, b are numbers there
                typed = f"(let [a 1 b 2 c 3 f +] {program})"
            done = subprocess.run([PTC, "--format", "text", "-"  , typed], capture_output=True, text=True, timeout=60, check=False,
                                  input='{"shop": "Oslo", "orders": [{"id": 1, "customer": "Ada", "total": 10.5, "tags": ["new"]}]}')
            check(f"{name}: {program}", done.returncode == 0 and "warning" not in done.stderr, done.stderr)


def test_topics():
    """Every page for users is in the binary."""
    listed = subprocess.run([PTC, "docs"], capture_output=True, text=True, timeout=60, check=True).stdout
    topics = set(re.findall(r"^  (\S+) ", listed, flags=re.M))
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"architecture", "dependencies", "mcp-library"}
    check("topics", topics == pages | {"differences"}, topics ^ (pages | {"differences"}))
    for topic in topics - {"functions", "differences"}:
        text = subprocess.run([PTC, "docs", topic], capture_output=True, text=True, timeout=60, check=True).stdout
        check(f"topic {topic}", text == read(f"docs/{topic}.md"), text[:80])


def test_man():
    """The manual page has every command and option of --help all, and nothing that a formatter complains about."""
    page = subprocess.run([PTC, "man"], capture_output=True, text=True, timeout=60, check=True).stdout
    plain_page = page.replace("\\-", "-")
    commands = re.findall(r"^  (\w+) +\S", subprocess.run([PTC, "--help"], capture_output=True, text=True, timeout=60,
                                                       check=True).stdout.partition("commands:")[2].partition("\n\n")[0], flags=re.M)
    check("man: commands", len(commands) >= 12, commands)
    for command in commands:
        part = plain_page.partition(f'.SH "ptc {command}"')[2].partition("\n.SH ")[0]
        text = subprocess.run([PTC, command, "--help", "all"], capture_output=True, text=True, timeout=60, check=True).stdout
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", text.partition("\n\n")[2].partition("\nexamples:\n")[0], flags=re.M)) - {"--help"}
        check(f"man: {command}", part and all(option in part for option in options), options)
        titles = re.findall(r"^(\w.*):$", text.partition("\n\n")[2], flags=re.M)[:-2]
        check(f"man: groups of {command}", len(options) <= 15 or re.findall(r'^\.SS "(.*)"$', part, flags=re.M) == titles, titles)
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True, timeout=60, check=False)
        check("man: groff", done.stderr == "", done.stderr)


def table_rows(text):
    """Rows of figures: (task, mode) -> numbers."""
    found = re.findall(r"^\| ([a-z ]+) \| (\w+) \| (\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", text, flags=re.M)
    return {row[:2]: [int(n.replace(",", "")) for n in row[2:]] for row in found}


def test_transports():
    """The table of transports.md is what bench/transports prints: requests exactly, bytes within a tenth, since a word more in
    a prompt changes nothing that the page says."""
    done = subprocess.run([ROOT / "bench" / "transports", PTC], capture_output=True, text=True, timeout=120, check=False)
    check("same answers", done.returncode == 0, done.stderr)
    stated, measured = table_rows(read("docs/transports.md")), table_rows(done.stdout)
    check("rows", len(measured) == 24 and set(stated) == set(measured), set(stated) ^ set(measured))
    for key, row in measured.items():
        near = all(abs(a - b) <= b / 10 for a, b in zip(stated[key][1:], row[1:]))
        check(key, stated[key][0] == row[0] and near, (stated[key], row))


def mission_rows(text):
    """(mission, mode) -> requests before and after, bytes sent before and after."""
    found = re.findall(r"^\| (\w+) \| (\w+) \| (\d*) ?\| (\d*) ?\| ([\d,]+) \| ([\d,]+) \| \d+ % \|$", text, flags=re.M)
    return {row[:2]: [int(n.replace(",", "") or 0) for n in row[2:]] for row in found}


def test_missions():
    """Eight missions have their answers, write everything once, and take 40 % fewer bytes than before `pages`."""
    done = subprocess.run([ROOT / "bench" / "missions" / "run", PTC], capture_output=True, text=True, timeout=300, check=False)
    check("missions", done.returncode == 0, done.stderr)
    stated, measured = mission_rows(read("bench/README.md")), mission_rows(done.stdout)
    check("missions: rows", len(measured) == 18 and set(stated) == set(measured), set(stated) ^ set(measured))
    for key, row in measured.items():
        check(key, stated[key][:3] == row[:3] and abs(stated[key][3] - row[3]) <= row[3] / 10, (stated[key], row))
    for mode in ("tool_call", "combined"):
        before, after = measured["all", mode][2:]
        check(f"missions: {mode}", after <= before * 0.6, (before, after))


def test_readme():
    """The figures of the README are those of the page, and so are those of the picture."""
    sent = {key: f"{row[1]:,}" for key, row in table_rows(read("docs/transports.md")).items()}
    for task in ("large result", "join", "judgement"):
        pair = f"| {sent[task, 'text']} | {sent[task, 'content']} |"
        check(f"README: {task}", pair in read("README.md"), pair)
    done = subprocess.run([ROOT / "script/draw-picture", "--check"], capture_output=True, text=True, timeout=60, check=False)
    check("picture", done.returncode == 0, done.stderr)


def test_old_command():
    """script/gen-docs does not write pages of a command that was built before its sources changed."""
    with tempfile.TemporaryDirectory() as where:
        home = pathlib.Path(where)
        for name in ("script/gen-docs", "script/gen-left-out", "src/a.c", "include/b.h", "docs/functions.md", "ptc"):
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_text("#!/bin/sh\necho page\n", encoding="utf-8")
            (home / name).chmod(0o755)
            os.utime(home / name, (1000, 1000))
        shutil.copy(ROOT / "script/gen-docs", home / "script/gen-docs")
        for when, args, status in ((1000, [], 0), (1000, ["--check"], 0), (999, [], 1), (999, ["--check"], 1)):
            os.utime(home / "ptc", (when, when))
            (home / "docs/functions.md").write_text("page\n" if args else "", encoding="utf-8")
            done = subprocess.run([home / "script/gen-docs", *args], env={**os.environ, "PTC": str(home / "ptc")}, capture_output=True,
                                  text=True, timeout=60, check=False)
            written = (home / "docs/functions.md").read_text(encoding="utf-8")
            check(f"a command of {when} {args}", done.returncode == status and ("is older than" in done.stdout) == (status == 1) and
                  written == ("page\n" if args or not status else ""), (done, written))


test_old_command()
test_topics()
test_man()
test_tables()
test_transports()
test_missions()
test_readme()
test_fields()
test_outcome()
sys.exit(finish())
