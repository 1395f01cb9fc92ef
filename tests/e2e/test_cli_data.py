#!/usr/bin/env python3
"""Data for programs: files, pipes, --data.  test_cli_data.py PTC"""
import gzip
import json
import sys

sys.dont_write_bytecode = True
from cli_help import ORDERS, Desk  # noqa: E402

desk = Desk(sys.argv[1])
ROWS = [{"id": 1, "customer": "Ada", "total": 10.5, "zip": "00501"}, {"id": 2, "customer": "Ben", "total": 20.0, "zip": "10001"},
        {"id": 3, "customer": "Ada", "total": 30.0, "zip": "10002"}]


def test_files():
    desk.write("rows.jsonl", '{"a":1}\n\n{"a":2}\r\n')
    desk.write("t.tsv", "a\tb\n1\tx y\n")
    desk.write("app.log", "one\ntwo\r\nthree")
    desk.write("bom.json", b"\xef\xbb\xbf[1]")
    desk.gives("ptc orders.csv rows", ROWS)
    desk.gives("ptc orders.csv data", ROWS)
    desk.gives("ptc orders.csv.gz rows", ROWS)
    desk.gives("ptc orders.csv '(sum-by :total rows)'", 60.5)
    desk.gives("ptc x.json data", {"a": 1, "b": [1, 2, 3]})
    desk.gives("ptc x.json '(:b (first rows))'", [1, 2, 3])
    desk.gives("ptc rows.jsonl '(map :a rows)'", [1, 2])
    desk.gives("ptc t.tsv rows", [{"a": 1, "b": "x y"}])
    desk.gives("ptc app.log data", ["one", "two", "three"])
    desk.gives("ptc bom.json data", [1])
    desk.gives("ptc orders.csv -e '(count rows)'", 3)
    desk.gives("echo '(count rows)' > p.clj; ptc -f p.clj orders.csv", 3)
    desk.gives("ptc orders.csv '(let [rows [1]] (count rows))'", 1)
    desk.gives("ptc orders.csv '(def rows [1 2]) (count rows)'", 2)
    desk.gives("ptc orders.csv '(count data/rows)'", 3)
    desk.gives("ptc <(cat orders.csv) '(count rows)'", 3)


def test_pipes():
    desk.gives("cat x.json | ptc '(count data)'", 2)
    desk.gives("cat orders.csv | ptc '(count rows)'", 3)
    desk.gives("cat orders.csv.gz | ptc '(count rows)'", 3)
    desk.gives("cat orders.csv | ptc - '(count rows)'", 3)
    desk.gives("printf '{\"a\":1} {\"a\":2}\\n[3]' | ptc data", [{"a": 1}, {"a": 2}, [3]])
    desk.gives("printf '\"a\",\"b\"\\n1,2\\n' | ptc data", [{"a": 1, "b": 2}])
    desk.gives("printf 'one\\ntwo\\n' | ptc data", ["one", "two"])
    desk.gives("printf '7 8\\n' | ptc data", [7, 8])
    desk.gives("printf '7 apples\\n' | ptc data", ["7 apples"])
    desk.gives("printf '\"x\"' | ptc data", "x")
    desk.gives("ptc orders.csv rows | ptc '(count data)'", 3)
    desk.refuses("printf '' | ptc data", "standard input: line 1, column 1")
    got = desk.terminal("(count rows)")
    desk.check("no data on a terminal", "nothing is named rows" in got and "no file is named" in got, got)
    desk.gives("ptc --context '{\"name\":\"v\"}' --format json '(str data/name)' </dev/null", "v")
    desk.gives("ptc --data shop=@x.json --format json '(:a data/shop)' </dev/null", 1)
    desk.gives("cat x.json | ptc --format json '(count data/data)'", 2)
    desk.gives("cat orders.csv | ptc --format json '(count data/rows)'", 3)


def test_options():
    desk.gives("ptc eval --format json --data o=@orders.csv data/o", ROWS)
    desk.gives("ptc eval --format json --data o=@orders.csv --data x=@x.json '[(count data/o) (:a data/x)]'", [3, 1])
    desk.gives("ptc eval --format json --data o=@orders.csv --context '{\"y\":5}' '[(count data/o) data/y]'", [3, 5])
    desk.gives("ptc --data o=@orders.csv x.json '[(count o) (:a data)]'", [3, 1])
    desk.gives("cat x.json | ptc eval --format json --data x=@- '(:a data/x)'", 1)
    desk.prints("echo '(sum-by :total data/o)' | ptc repl --data o=@orders.csv", "60.5\n")
    desk.prints("printf '(def x data/o)\\n(count x)\\n*1\\n' | ptc repl --data o=@orders.csv | tail -2", "3\n3\n")
    agent = {"prompt": "p", "llm": [{"content": "(return (sum-by :total data/o))"}]}
    desk.write("agent.json", json.dumps(agent))
    desk.prints("ptc run agent.json --data o=@orders.csv", "60.5\n")
    desk.prints("ptc run agent.json --data o=@orders.csv.gz --context '{\"y\":1}'", "60.5\n")


def test_mistakes():
    for command in ("eval 1", "repl", "run agent.json"):
        desk.refuses(f"ptc {command} --data o=orders.csv", "--data o=@orders.csv, with an @ before its name")
        desk.refuses(f"ptc {command} --data @orders.csv", "write --data NAME=@orders.csv")
        desk.refuses(f"ptc {command} --data orders", "it takes NAME=@FILE")
    for command in ("eval 1", "repl"):
        desk.refuses(f"ptc {command} --context x.json", "write --context @x.json, with an @ before its name")
    desk.refuses("ptc eval --data o=@none.csv 1", "none.csv: No such file")
    desk.refuses("ptc eval --data 1o=@x.json 1", "cannot be a name of data")
    desk.refuses("ptc eval --data o=@x.json --data o=@x.json 1", "already data of that name")
    desk.refuses("ptc eval --data o=@. 1", "the ending says what it is")
    desk.refuses("mkdir d; ptc eval --data o=@d 1", "d: Is a directory")
    desk.refuses("touch a.xlsx; ptc a.xlsx rows", "the ending says what it is", ".tsv")
    desk.refuses("ptc eval --jsonl --data o=@x.json", "--data does not apply")


def test_hostile():
    """Bounded, and refused with a reason: broken and exploding gzip, wrong bytes, very wide and very long lines."""
    whole = gzip.compress(ORDERS.encode())
    desk.write("cut.csv.gz", whole[:40])
    desk.write("damaged.csv.gz", whole[:20] + b"\xff\xff\xff" + whole[23:])
    desk.write("behind.csv.gz", whole + b"garbage")
    desk.write("twice.csv.gz", whole + gzip.compress(b"4,Cleo,1,10003\n"))
    desk.write("bomb.json.gz", gzip.compress(b"[" + b"0," * 40_000_000 + b"0]", 6))
    desk.write("wide.csv", ",".join(f"c{i}" for i in range(1_000_000)) + "\n" + "1," * 999_999 + "1\n")
    desk.write("bytes.json", b'["\xff"]')
    desk.write("bytes.csv", b"a,b\n1,\xc3\xa9\xff\n")
    desk.write("deep.json", "[" * 100_000)
    desk.refuses("ptc cut.csv.gz rows", "cut.csv.gz: it is cut off")
    desk.refuses("ptc damaged.csv.gz rows", "damaged.csv.gz: it begins as gzip, but its packed bytes are damaged")
    desk.refuses("ptc behind.csv.gz rows", "other bytes after its packed ones")
    desk.gives("ptc twice.csv.gz '(count rows)'", 4)
    desk.refuses("ptc --context-mb 50 bomb.json.gz '(count data)'", "does not fit into the 50 MiB")
    desk.refuses("ptc wide.csv '(count rows)'", "line 1, column 23467: there are more than 4096 columns")
    desk.refuses("ptc bytes.json data", "bytes.json: line 1, column 3")
    desk.refuses("ptc bytes.csv data", "bytes.csv: line 2, column 4: a byte here is not UTF-8")
    desk.refuses("ptc deep.json data", "deep.json: line 1, column 513")
    desk.write("large.json", json.dumps({"a": [f"text {i}" for i in range(200_000)]}))
    desk.refuses("ptc eval --context @large.json '(count data/a)'", "--context")
    desk.prints("ptc eval --context-mb 64 --context @large.json '(count data/a)'", "200000\n")


for test in (test_files, test_pipes, test_options, test_mistakes, test_hostile):
    test()
sys.exit(desk.end("cli data"))
