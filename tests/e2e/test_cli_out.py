#!/usr/bin/env python3
"""Results: formats, colours and tables on a terminal, what is cut or cannot be JSON.  test_cli_out.py PTC"""
import csv
import io
import json
import re
import sys

sys.dont_write_bytecode = True
from cli_help import Desk  # noqa: E402

desk = Desk(sys.argv[1])
COLOUR = re.compile("\x1b\\[[0-9;]*[mK]")
EVIL = "[{:a \"x\\u001b[31my\\u202e\\nz\\t\"}]"


def test_formats():
    rows = "'[{:id 1 :name \"Ada\"} {:id 2.5 :name nil :x [1 {:y 2}]}]'"
    for how, result in [
        ("text", '[{:id 1, :name "Ada"} {:id 2.5, :name nil, :x [1 {:y 2}]}]\n'),
        ("json", '[{"id":1,"name":"Ada"},{"id":2.5,"name":null,"x":[1,{"y":2}]}]\n'),
        ("jsonl", '{"id":1,"name":"Ada"}\n{"id":2.5,"name":null,"x":[1,{"y":2}]}\n'),
        ("csv", 'id,name,x\n1,Ada,\n2.5,,"[1,{""y"":2}]"\n'),
        ("table", " id  name  x\n---  ----  -----------\n  1  Ada\n2.5        [1,{\"y\":2}]\n"),
        ("pretty", '[{"id": 1, "name": "Ada"}, {"id": 2.5, "name": null, "x": [1, {"y": 2}]}]\n'),
    ]:
        desk.prints(f"ptc --format {how} {rows}", result)
        desk.prints(f"ptc eval --format {how} {rows}", result)
    desk.prints(f"ptc {rows} | head -c 3", '[{"')
    desk.prints("ptc eval '{:a 1}'", "{:a 1}\n")


def test_shapes():
    for program, result in [
        ("{:a 1 :b 2}", "a,b\n1,2\n"), ("[[1 2] [3]]", "1,2\n3,\n"), ("[1 :k nil]", "value\n1\nk\n\n"), ("7", "value\n7\n"),
        ("[]", "value\n"), ("[{}]", "\n\n"), ("[{1 2}]", '"1"\n2\n'), ("#{{:a 1} {:a 2 :b 3}}", "a,b\n1,\n2,3\n"),
        ("#{[1 2]}", "1,2\n"), ("#{}", "value\n"), ("[inc]", "value\n#fn[inc]\n"),
    ]:
        desk.prints(f"ptc --format csv '{program}'", result)
    desk.prints("ptc --format jsonl '{:a 1}'", '{"a":1}\n')
    desk.prints("ptc --format jsonl '[]'", "")


def test_csv_again():
    """What is written is read as the same values."""
    values = ["a", "", "00501", "12", "true", 'say "hi"', "a,b", "a;b", "two\nlines", " blank ", "-", "é"]
    desk.write("v.json", json.dumps([{"text": v, "n": i, "f": i / 2, "none": None} for i, v in enumerate(values)]))
    desk.prints("ptc v.json --format csv data > v.csv; ptc v.csv data > again.json; ptc --data v=@v.json --data a=@again.json '(= v a)'",
                "true\n")
    text = desk.where.joinpath("v.csv").read_text(encoding="utf-8")
    desk.check("as Python reads it", [row["text"] for row in csv.DictReader(io.StringIO(text))] == values, text)


def test_raw():
    desk.prints("ptc -r '\"a b\"'", "a b\n")
    desk.prints("ptc eval -r '\"a\\nb\"'", "a\nb\n")
    desk.prints("ptc -r '[\"a\"]'", '["a"]\n')
    desk.prints("ptc -r --format jsonl '[\"a b\" 1 [\"c\"]]'", 'a b\n1\n["c"]\n')
    desk.prints("ptc '\"a\"'", '"a"\n')


def test_pretty():
    desk.write("deep.json", json.dumps({"rows": [{"id": i, "tags": ["alpha", "beta"], "note": 'a "quoted, [text]"'} for i in range(3)],
                                        "empty": [], "none": {}, "s": "x" * 100}))
    status, out, _ = desk.sh("ptc deep.json --format pretty data")
    desk.check("pretty is the same JSON", status == 0 and json.loads(out) == json.loads(desk.where.joinpath("deep.json").read_text()), out)
    desk.check("pretty has short lines", max(len(line) for line in out.splitlines() if "xxx" not in line) <= 80 and
               '  "rows": [\n    {"id": 0,' in out and '"empty": []' in out, out)
    desk.write("nested.json", "[" * 512 + "]" * 512)
    status, out, _ = desk.sh("ptc nested.json --format pretty data")
    desk.check("nested", status == 0 and json.loads(out) is not None, out[:80])


def test_terminal():
    shown = desk.terminal("orders.csv", "rows")
    desk.check("table", COLOUR.sub("", shown).split("\n")[:3] ==
               ["id  customer  total  zip", "--  --------  -----  -----", " 1  Ada        10.5  00501"], shown)
    desk.check("table in colour", shown.startswith("\x1b[1mid"), shown)
    shown = desk.terminal("#{{:a 1} {:a 2}}", NO_COLOR="1")
    desk.check("a set is a table", shown == "a\n-\n1\n2\n", shown)
    shown = desk.terminal('{:a [1 "x" nil true]}')
    desk.check("value", COLOUR.sub("", shown) == '{"a": [1, "x", null, true]}\n' and "\x1b[32m\"x\"\x1b[0m" in shown, shown)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        desk.check(f"{env}", "\x1b" not in desk.terminal("orders.csv", "rows", **env), env)
        desk.check(f"{env}", "\x1b" not in desk.terminal("{:a 1}", **env), env)
    desk.check("text where there is no JSON", "#fn" in desk.terminal("[inc]"), desk.terminal("[inc]"))
    for how in ("table", "pretty", "csv", "jsonl", "json", "text"):
        shown = COLOUR.sub("", desk.terminal("--format", how, EVIL))
        desk.check(f"{how}: nothing acts", not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown) and "\\u202e" in shown, shown)
    shown = desk.terminal("--format", "table", EVIL, NO_COLOR="1")
    desk.check("a cell is one line", shown.count("\n") == 3 and "\\nz\\t" in shown, shown)
    shown = desk.terminal(f'[{{:id 1 :long "{"x" * 300}" :n 12345}}]', NO_COLOR="1")
    desk.check("narrowed", all(len(line) <= 80 for line in shown.splitlines()) and "x…  12345" in shown, shown)
    desk.check("a pipe has no colour", desk.sh("ptc '{:a 1}'")[1] == '{"a":1}\n', None)


def test_long_tables():
    """On a terminal as many rows as fit, and how many more; all where it is asked for or goes elsewhere."""
    desk.write("long.csv", "a\n" + "".join(f"{i}\n" for i in range(100)))
    shown = desk.terminal("long.csv", "rows", NO_COLOR="1")
    left = re.search("… (\\d+) more rows: --format table shows all", shown)
    desk.check("cut", left and shown.count("\n") - 3 + int(left[1]) == 100 and "\n 0\n" in shown, shown)
    for how in (["--format", "table"], ["--format", "csv"]):
        desk.check(f"not with {how}", "more rows" not in desk.terminal(*how, "long.csv", "rows", NO_COLOR="1"), how)
    desk.check("not if it fits", "more row" not in desk.terminal("orders.csv", "rows", NO_COLOR="1"), None)
    desk.check("a summary", "long.csv: 100 rows, 1 column\n" in desk.terminal("long.csv", NO_COLOR="1"), None)


def test_files():
    """-o and -i: whole files or none, with the mode they had; links stay links."""
    desk.prints("umask 027; ptc orders.csv -o new.csv rows; stat -c %a new.csv", "640\n")
    desk.prints("cp orders.csv in.csv; chmod 604 in.csv; ln -s in.csv link.csv; ptc -i link.csv '(take 1 rows)'; stat -c '%a %N' in.csv link.csv; "
                "cat in.csv; cmp in.csv.bak orders.csv", "604 'in.csv'\n777 'link.csv' -> 'in.csv'\nid,customer,total,zip\n1,Ada,10.5,\"00501\"\n"
                .replace('"00501"', "00501"))
    before = sorted(p.name for p in desk.where.iterdir())
    for command, text in (("ptc orders.csv -o fail.csv '(/ 1 0)'", "error: "), ("ptc -i orders.csv '(/ 1 0)'", "error: "),
                          ("ptc -i orders.csv '(range 3)'", "nothing was changed"), ("ptc -i orders.csv []", "nothing was changed")):
        desk.refuses(command, text, status=1)
    for command, text in (("ptc -i '(count rows)'", "-i changes files"), ("ptc -i - rows", "No such file"), ("ptc -i /dev/null data", "regular files only"),
                          ("ptc -i --format csv orders.csv rows", "as it was read"), ("ptc -i --no-header orders.csv rows", "without --no-header"),
                          ("ptc -i orders.csv.gz rows", "packed"), ("ptc -o . 1", "it is a directory"), ("ptc eval -i 1", "written without eval")):
        desk.refuses(command, text)
    desk.check("nothing is left", sorted(p.name for p in desk.where.iterdir()) == before, before)
    got = desk.sh("ptc -o slow.csv --each --format csv orders.csv '(loop [] (recur))' & sleep 0.3; kill $!; wait $!; ls | grep -c slow")
    desk.check("a signal leaves nothing", got[1] == "0\n", got)


def test_warnings():
    shown = desk.terminal("orders.csv", "(map :totl rows)")
    desk.check("below the result, in colour", re.search("null.*\x1b\\[33mwarning: map: none of the 3 elements has the key :totl",
                                                         shown, re.S), shown)
    shown = desk.terminal("orders.csv", "(+ 1 :a)")
    desk.check("errors in colour", "\x1b[31merror: " in shown, shown)
    desk.check("not without", "\x1b" not in desk.terminal("(+ 1 :a)", NO_COLOR="1"), shown)


def test_cut():
    desk.refuses("ptc --result-mb 1 '(range 500000)'", "too long", "--result-mb", status=1)
    for how in ("jsonl", "csv", "table", "pretty"):
        desk.refuses(f"ptc --result-mb 1 --format {how} '(range 500000)'", "too long", "--result-mb", status=1)
    status, out, err = desk.sh("ptc --result-mb 1 --format text '(range 500000)'")
    desk.check("text is cut", status == 1 and len(out) == 1048577 and "cut after 1048576 bytes" in err, (status, len(out), err))
    status, out, _ = desk.sh("ptc '(range 500000)' | tail -c 10")
    desk.check("64 MiB are enough", status == 0 and out == "8,499999]\n", out)
    desk.refuses("ptc '{:rows [{:f inc}]}'", "cannot be JSON: a function at rows[0].f", status=1)
    desk.refuses("ptc --format jsonl '[1 {:a [2 ##Inf]}]'", "cannot be JSON: ##Inf at [1].a[1]", status=1)
    desk.refuses("ptc --format jsonl '[1 inc]'", "cannot be JSON: a function at [1]", status=1)
    desk.refuses("ptc --format jsonl '[1 [2 inc]]'", "cannot be JSON: a function at [1][1]", status=1)
    desk.refuses("ptc --format csv '[(zipmap (range 5000) (range))]' ", "more than 4096 columns", status=1)
    got = desk.sh("ptc --format jsonl '(range 100000)' | head -1")
    desk.check("a reader that leaves", got[1:] == ("0\n", ""), got)


for test in (test_formats, test_shapes, test_csv_again, test_raw, test_pretty, test_terminal, test_long_tables, test_files, test_warnings, test_cut):
    test()
sys.exit(desk.end())
