#!/usr/bin/env python3
"""Data for programs: files, pipes, --data.  test_cli_data.py PTC"""
import contextlib
import gzip
import json
import lzma
import sqlite3
import sys

sys.dont_write_bytecode = True
from cli_help import CSV4, NUMBERS, ORDERS, Desk  # noqa: E402

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
    desk.gives("cat orders.csv | ptc '(count rows)'", 3, CSV4)
    desk.gives("cat orders.csv.gz | ptc '(count rows)'", 3, CSV4)
    desk.gives("cat orders.csv | ptc - '(count rows)'", 3, CSV4)
    desk.gives("printf '{\"a\":1} {\"a\":2}\\n[3]' | ptc data", [{"a": 1}, {"a": 2}, [3]])
    desk.gives("printf '\"a\",\"b\"\\n1,2\\n' | ptc data", [{"a": 1, "b": 2}], CSV4.replace("4", "2"))
    desk.gives("printf 'one\\ntwo\\n' | ptc data", ["one", "two"])
    desk.gives("printf '7\\n8\\n' | ptc data", [7, 8], NUMBERS)
    desk.gives("printf '7 8\\n' | ptc data", ["7 8"])
    desk.gives("printf '7 apples\\n' | ptc data", ["7 apples"])
    desk.gives("printf '\"x\"' | ptc data", "x")
    desk.gives("ptc orders.csv rows | ptc '(count data)'", 3)
    got = desk.terminal("(count rows)")
    desk.check("no data on a terminal", "nothing is named rows" in got and "no file is named" in got, got)
    desk.gives("ptc --context '{\"name\":\"v\"}' --format json '(str data/name)' </dev/null", "v")
    desk.gives("ptc --data shop=@x.json --format json '(:a data/shop)' </dev/null", 1)
    desk.gives("cat x.json | ptc --format json '(count data/data)'", 2)
    desk.gives("cat orders.csv | ptc --format json '(count data/rows)'", 3, CSV4)


def test_several():
    desk.write("half.csv", "a\n" + "x" * 99 + "\n" + "".join(f"{i:099}\n" for i in range(5000)))
    desk.gives("ptc half.csv orders.csv --context-mb 2 '(count rows)'", 5004)
    desk.refuses("ptc half.csv ./half.csv --context-mb 2 '(count rows)'", "./half.csv: it does not fit into the 2 MiB that data may take")
    desk.refuses("ptc half.csv b=half.csv --context-mb 2 '(count rows)'", "half.csv: it does not fit into the 2 MiB that data may take")
    desk.write("own.csv", "file,n\nmine,1\n")
    desk.gives("ptc own.csv orders.csv '(first rows)'", {"file": "mine", "n": 1, "file_2": "own.csv"})
    desk.write("wide.csv", ",".join(f"c{i}" for i in range(20)) + "\n" + ",".join(map(str, range(20))) + "\n")
    desk.gives("ptc wide.csv wide.csv '[(count (first rows)) (:file (last rows)) (:c19 (last rows))]'", [21, "wide.csv", 19])
    desk.gives("ptc x.json app.log rows", [{"a": 1, "b": [1, 2, 3], "file": "x.json"}] + [{"line": t, "file": "app.log"} for t in ("one", "two", "three")])
    desk.gives("ptc a=orders.csv '(count a)' </dev/null", 3)
    desk.gives("ptc a=orders.csv x.json '[(count a) (count data) (count rows)]'", [3, 2, 1])
    desk.gives("ptc rows=orders.csv '(count rows)'", 3)
    desk.refuses("ptc rows=orders.csv x.json '(count rows)'", "the name rows stands for what is in x.json")
    desk.refuses("ptc a=orders.csv a=x.json 1", "already data of that name")
    desk.gives("ptc --each a=x.json orders.csv '(+ (:a a) (:id row))' | ptc data", [2, 3, 4], NUMBERS)


def test_skip_bad():
    """Rows that cannot be read are left out alike whether a file is read whole or row by row."""
    cut = "note: {}: left out {}, the first at line {}: {}\n".format
    for name, text, rows, note in (
            ("few.csv", "a,b\n1,2\n3\n4,5,6\n7,8\n", [{"a": 1, "b": 2}, {"a": 7, "b": 8}], ("2 rows", "3, column 2", "this line has 1 of 2 fields")),
            ("lf.csv", 'a,b\n1,2,"x\n3,4"\n5,6\n', [{"a": 5, "b": 6}],
             ("1 row", "2, column 5", "this line has more than 2 fields, the columns that the first line names")),
            ("open.csv", 'a,b\n1,"2\n3,4\n', [{"a": 3, "b": 4}], ("1 row", "2, column 3", "the quote that opens here is never closed")),
            ("l.jsonl", '{"a":1}\n{\n\n[}\n2\n', [{"a": 1}, 2], ("2 rows", "2, column 2", "expected a key in quotes, but the text ends"))):
        desk.write(name, text)
        desk.gives(f"ptc --skip-bad {name} rows", rows, cut(name, *note))
        desk.gives(f"ptc --skip-bad --each {name} row | ptc --input jsonl rows", rows, cut(name, *note))
    desk.gives("ptc --skip-bad orders.csv '(count rows)'", 3)
    desk.write("type.csv", "n\n1\nx,y\n2\n")
    desk.gives("ptc --skip-bad type.csv '(sum-by :n rows)'", 3, cut("type.csv", "1 row", "3, column 3",
                                                                    "this line has more than 1 fields, the columns that the first line names"))
    many = "a,b\n" + "".join("1,2\n" if i % 3 else "1\n" for i in range(300_000))
    desk.write("many.csv", many)
    note = cut("many.csv", "100000 rows", "2, column 2", "this line has 1 of 2 fields")
    desk.gives("ptc --skip-bad many.csv '(count rows)'", 200_000, note)
    desk.gives("ptc --skip-bad --each --init 0 many.csv '(inc state)'", 200_000, note)
    desk.write("quotes.csv", "a,b\n" + '"x\n' * 30_000)
    desk.check("quotes cost no more than their text", desk.sh("ptc --skip-bad quotes.csv '(count rows)'")[0] == 0, None)


LOG = "".join(f'10.0.0.{i} - - [10/Oct/2026:13:55:0{i} +0000] "GET /{i} HTTP/1.1" 500 {i} "-" "{agent}"\n' for i, agent in
              enumerate(("Mozilla/5.0 (X11; Linux x86_64; rv:1)", "Mozilla/5.0 (Mac; a; b)", "curl/8")))
LINES_JSON = "note: read as lines; --input json reads it as JSON\n"
LINES_CSV = "note: read as lines; --input csv reads it as CSV\n"


def test_guesses():
    """Standard input is lines unless its beginning is certainly something else, and what it was taken for is said."""
    desk.write("access", LOG)
    for n in (1, 2, 3):
        desk.gives(f"head -{n} access | ptc rows", LOG.splitlines()[:n])
        desk.gives(f"head -{n} access | gzip | ptc '(count rows)'", n)
        desk.prints(f"head -{n} access | ptc --each -r row", "".join(LOG.splitlines(True)[:n]))
    desk.gives("ptc access '(count rows)'", 3)
    desk.gives("printf '[10:00] up\\n[10:01] down\\n' | ptc data", ["[10:00] up", "[10:01] down"])
    for line in ("[ERROR] a", "[   12.5] b", "{main} c", "["):
        desk.gives(f"echo '{line}' | ptc data", [line])
    desk.gives("printf '[\\n {\"a\": 1,}]' | ptc '(count data)'", 2, LINES_JSON)
    desk.gives("printf '[[1, 2]' | ptc '(count data)'", 1, LINES_JSON)
    desk.gives("printf '{\"a\":1,}' | ptc data", ['{"a":1,}'], LINES_JSON)
    desk.gives("printf 'id,name\\n' | ptc data", ["id,name"], LINES_CSV)
    desk.gives("printf 'a,b\\n1,2\\n3\\n' | ptc '(count rows)'", 3, LINES_CSV)
    desk.gives("printf 'a\\r\\nb,c\\r\\n' | ptc data", ["a", "b,c"])
    desk.gives("printf '\\357\\273\\277a;b\\r\\n1;\"x\\ny\"\\r\\n' | ptc data", [{"a": 1, "b": "x\ny"}], CSV4.replace("4", "2"))
    for empty in ("ptc", "ptc --each --init '[]'", "gzip | ptc", *(f"ptc --input {kind}" for kind in ("json", "jsonl", "csv", "tsv", "lines"))):
        desk.gives(f"printf '' | {empty} data", [])
    way_out = "; --input lines reads it as lines"
    for begin, end, place in (("a,b\n" + "1,2\n" * 20_000, "3\n", "line 20002"), ('{"a":1}\n' * 10_000, "{]\n", "line 10001, column 2"),
                              ("1\n" * 40_000, "007\n", "line 40001, column 1"), ("[" + "1,\n" * 30_000, "]", "line 30001, column 1")):
        desk.write("long", begin + end)
        desk.refuses("ptc '(count rows)' <long", f"standard input: {place}", way_out)
        desk.refuses("ptc long '(count rows)'", f"long: {place}", way_out)
        desk.gives("ptc --input lines long '(count rows)'", len((begin + end).splitlines()))
    desk.refuses("ptc --input csv '(count rows)' <long", "standard input: line")
    desk.check("the kind was given", "--input lines" not in desk.sh("ptc --input csv '(count rows)' <long")[2], "")


def test_input():
    """--input decides, whatever the name says and the text looks like."""
    desk.write("t.log", "a\tb,c\n1\t2\n")
    desk.write("noted.bak", "a,b\n1,2\n")
    desk.gives("cat orders.csv | ptc --input csv rows", ROWS)
    desk.gives("cat orders.csv | ptc --input lines '(count rows)'", 4)
    desk.gives("ptc --input lines orders.csv '(count rows)'", 4)
    desk.gives("ptc --input=lines orders.csv.gz '(count rows)'", 4)
    desk.gives("ptc --input tsv t.log rows", [{"a": 1, "b,c": 2}])
    desk.gives("ptc --input jsonl x.json data", [{"a": 1, "b": [1, 2, 3]}])
    desk.gives("ptc --input csv noted.bak rows", [{"a": 1, "b": 2}])
    desk.gives("ptc noted.bak rows", [{"a": 1, "b": 2}])
    desk.refuses("printf '{\"a\":1,}' | ptc --input json data", "standard input: line 1, column 8: expected a key in quotes, found }")
    desk.gives("ptc --input tsv --data x=@x.json --data t=@access t.log '[(:a x) (count t) (count rows)]'", [1, 2, 1])
    desk.gives("cat orders.csv | ptc eval --format json --input lines --data o=@- '(count data/o)'", 4)
    desk.gives("cat orders.csv | ptc eval --format json --data o=@- '(count data/o)'", 3, CSV4)
    desk.refuses("ptc eval --input csv '(count data)'", "ptc --input lines FILE PROGRAM")
    desk.refuses("ptc --input xml orders.csv rows", "--input is one of json|jsonl|csv|tsv|yaml|lines, not 'xml'")


def test_options():
    desk.gives("ptc eval --format json --data o=@orders.csv data/o", ROWS)
    desk.gives("ptc eval --format json --data o=@orders.csv --data x=@x.json '[(count data/o) (:a data/x)]'", [3, 1])
    desk.gives("ptc eval --format json --data o=@orders.csv --context '{\"y\":5}' '[(count data/o) data/y]'", [3, 5])
    desk.gives("ptc --data o=@orders.csv x.json '[(count o) (:a data)]'", [3, 1])
    desk.gives("cat x.json | ptc eval --format json --data x=@- '(:a data/x)'", 1)
    for name in ("data", "rows"):
        desk.gives(f"ptc --data {name}=@orders.csv '(count {name})' <x.json", 3)
        desk.gives(f"ptc --data {name}=@orders.csv '(count data/{name})'", 3)
        desk.refuses(f"ptc --data {name}=@orders.csv x.json '(count {name})'", f"the name {name} stands for what is in x.json")
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
    desk.refuses("ptc eval --data o=@. 1", "--data: .: Is a directory\n")
    desk.refuses("mkdir d; ptc eval --data o=@d 1", "d: Is a directory")
    desk.refuses("printf 'PK\\003\\004 and so on' > a.xlsx; ptc a.xlsx rows", "a.xlsx: it is a spreadsheet or another ZIP archive")
    desk.refuses("ptc eval --jsonl --data o=@x.json", "--data does not apply")


def test_help_is_named():
    """A pointer to --help helps with options, not with what is in files and programs."""
    desk.write("bad.clj", "(+ 1")
    desk.write("short.csv", "a,b\n1\n")
    for command, named in (("ptc --nope 1", True), ("ptc eval --data o=orders.csv 1", True), ("ptc --format xml 1", True), ("ptc eval", True),
                           ("ptc '(+ 1'", False), ("ptc '(inc nil)'", False), ("ptc -f bad.clj", False), ("ptc -f none.clj", False),
                           ("ptc none.csv rows", False), ("ptc short.csv rows", False), ("ptc eval --data o=@none.csv 1", False),
                           ("ptc repl --data o=@none.csv", False), ("ptc eval --context '{' 1", False), ("ptc eval --context @none.json 1", False),
                           ("ptc eval --tools @none.json 1", False), ("ptc eval --output-schema @none.json 1", False),
                           ("ptc trace summary none.jsonl", False), ("ptc signature ':int' --value '{'", False)):
        status, _, err = desk.sh(command)
        desk.check(f"{command}: help is named", status > 0 and err.endswith("--help\n") == named == ("Try:" in err), (status, err))


def zstd(text, window=0x50, run=0):
    """A frame of blocks that are not compressed, and of `run` blocks of 128 KiB of one byte."""
    blocks = [(size_of << 3 | kind << 1, body) for kind, size_of, body in
              [(0, len(text), text)] + [(1, 1 << 17, b" ")] * run]
    blocks[-1] = (blocks[-1][0] | 1, blocks[-1][1])
    return b"\x28\xb5\x2f\xfd\x00" + bytes([window]) + b"".join(head.to_bytes(3, "little") + body for head, body in blocks)


def test_packed():
    """zstd and xz: whole, one behind the other, in pipes, broken, exploding, with windows that are too large."""
    text, more = ORDERS.encode(), b"4,Cleo,1,10003\n"
    for end, pack in (("zst", zstd), ("xz", lzma.compress)):
        whole = pack(text)
        desk.write(f"orders.csv.{end}", whole)
        desk.write(f"named.{end}", whole)
        desk.write(f"twice.csv.{end}", whole + pack(more))
        desk.write(f"cut.csv.{end}", whole[:-8])
        desk.write(f"behind.csv.{end}", whole + b"garbage")
        desk.gives(f"ptc orders.csv.{end} '(sum-by :total rows)'", 60.5)
        desk.gives(f"ptc named.{end} '(count rows)'", 3)
        desk.gives(f"ptc twice.csv.{end} '(count rows)'", 4)
        desk.gives(f"ptc --each --init 0 twice.csv.{end} '(inc state)'", 4)
        desk.gives(f"(head -c 2 named.{end}; sleep 0.1; tail -c +3 named.{end}) | ptc '(count rows)'", 3, CSV4)
        desk.refuses(f"ptc cut.csv.{end} rows", f"cut.csv.{end}: it is cut off")
        desk.refuses(f"ptc behind.csv.{end} rows", "other bytes after its packed ones")
        desk.refuses(f"ptc -o out.csv.{end} orders.csv rows", "packed files are not written")
    desk.write("bomb.json.zst", zstd(b"[1", run=1000))
    desk.write("bomb.json.xz", lzma.compress(b"[" + b"0," * 40_000_000 + b"0]", preset=0))
    for name in ("bomb.json.zst", "bomb.json.xz"):
        desk.refuses(f"ptc --context-mb 50 {name} '(count data)'", "does not fit into the 50 MiB")
    desk.write("window.zst", zstd(text, window=0xa0))
    desk.refuses("ptc window.zst rows", "packed with zstd in a way that takes more than 128 MiB")
    wide = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 256 << 20}]
    desk.write("window.xz", lzma.compress(text, filters=wide))
    desk.refuses("ptc window.xz rows", "packed with xz in a way that takes more than 128 MiB")
    desk.write("damaged.zst", zstd(text)[:6] + b"\xff\xff\xff")
    desk.write("damaged.xz", lzma.compress(text)[:20] + b"\xff" * 30)
    for kind in ("zst", "xz"):
        desk.refuses(f"ptc damaged.{kind} rows", "but its packed bytes are damaged")


def test_yaml():
    """Aliases that stand for too much, nesting, tags, several documents; large ones in bounds."""
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi"))
    desk.write("bomb.yaml", bomb)
    desk.refuses("ptc bomb.yaml data", "bomb.yaml: line 7: it is too large once its aliases are followed")
    desk.write("deep.yaml", "[" * 1000)
    desk.refuses("ptc deep.yaml data", "deep.yaml: line 1: it is nested too deep")
    desk.write("tag.yaml", "a: !!python/object:x 1\n")
    desk.refuses("ptc tag.yaml data", "tag.yaml: line 1: tags are not read")
    desk.write("large.yaml", "".join(f"- {{id: {i}, name: n{i}}}\n" for i in range(300_000)))
    desk.gives("ptc large.yaml '(count (distinct (map :name rows)))'", 300_000)
    desk.refuses("ptc --context-mb 20 large.yaml '(count rows)'", "does not fit into the 20 MiB")
    odd = {"a": [], "b": {}, "c": [[1, [2]], [[]], {}], "yes": "no", "": "x:", "1": "1.5", "é\u2028\x7f\ufeff": "\x85#\n", "k" * 2000: {"l": [None, True]}}
    desk.write("odd.json", json.dumps(odd))
    desk.gives("ptc odd.json --format yaml data > odd.yaml; ptc odd.yaml data", odd)
    desk.refuses("ptc --each large.yaml row", "--each does not read YAML")


def database(name, *statements):
    with contextlib.closing(sqlite3.connect(desk.where / name)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()
    return desk.where / name


def test_sqlite():
    """Types, one table and several; views, triggers, virtual tables and damage; nothing is written."""
    database("one.db", "create table t(i integer, r real, s text, b blob, x)",
             "insert into t values (-9223372036854775808, 0.5, 'é', x'00ff', null), (1, 9e99, cast(x'ff41' as text), 'text', 2)")
    one = [{"i": -2**63, "r": 0.5, "s": "é", "b": "AP8=", "x": None}, {"i": 1, "r": 9e99, "s": "?A", "b": "text", "x": 2}]
    desk.gives("ptc one.db rows", one)
    desk.gives("cp one.db named.csv; ptc named.csv data", one)
    desk.gives("ptc eval --format json --data d=@one.db '(count data/d)'", 2)
    database("two.db", "create table orders(id, who)", 'create table "order items"(a)', "create table data(a)",
             "insert into orders values (1, 'Ada')", "insert into data values (7)")
    desk.gives("ptc two.db '[orders data/orders (keys data) (get data \"order items\") (:data data)]'",
               [[{"id": 1, "who": "Ada"}]] * 2 + [["orders", "order items", "data"], [], [{"a": 7}]])
    desk.gives("ptc d=two.db '(count (:orders d))'", 1)
    wide = ", ".join(f"c{i}" for i in range(40))
    database("wide.db", f"create table w({wide})", f"insert into w values ({', '.join('1' * 40)})")
    desk.gives("ptc wide.db '(count (first rows))'", 40)
    database("evil.db", "create table t(a, h as (a + 1), g as (printf('%.*c', 100000, 'x')))",
             "create view v as with recursive r(i) as (select 1 union all select i + 1 from r) select i from r",
             "create virtual table f using fts5(x)", "insert into f values ('hello')", "insert into t(a) values (1)",
             "create trigger tr after insert on t begin delete from t; end")
    desk.gives("ptc evil.db '(map (juxt :a :h (comp count :g)) rows)'", [[1, 2, 100000]])
    database("large.db", "create table t(a)", "insert into t values (zeroblob(70000000))")
    desk.refuses("ptc large.db '(count rows)'", "large.db: table t: SQLite says of it: string or blob too big")
    database("many.db", "create table t(a, b)",
             "insert into t with recursive r(i) as (select 1 union all select i + 1 from r where i < 200000) select i, 'b' || i from r")
    desk.gives("ptc many.db '(sum-by :a rows)'", 20000100000)
    desk.refuses("ptc --context-mb 10 many.db '(count rows)'", "many.db: it does not fit into the 10 MiB")
    whole = (desk.where / "many.db").read_bytes()
    desk.write("cut.db", whole[:len(whole) // 2])
    desk.write("holes.db", whole[:8192] + b"\xff" * 4096 + whole[12288:])
    desk.write("head.db", b"SQLite format 3\0" + b"\xff" * 5000)
    for name in ("cut.db", "holes.db", "head.db"):
        desk.refuses(f"ptc {name} '(count rows)'", f"ptc eval: {name}: ", "SQLite says of it")
    database("none.db", "create table t(a)", "drop table t")
    desk.refuses("ptc none.db rows", "none.db: it is an SQLite database without tables")
    desk.refuses("cat one.db | ptc rows", "it is an SQLite database, which is read from a file")
    desk.refuses("gzip -k one.db; ptc one.db.gz rows", "it is a packed SQLite database: unpack it first")
    desk.refuses("ptc --each one.db row", "--each does not read databases")
    desk.refuses("ptc -i one.db rows", "-i does not write databases", status=1)
    odd = "a b?c#%.db"
    database(odd, "create table t(a)", "insert into t values (1)")
    desk.gives(f"ptc '{odd}' rows", [{"a": 1}])
    with contextlib.closing(sqlite3.connect(desk.where / "wal.db")) as db:
        db.executescript("pragma journal_mode=wal; create table t(a); insert into t values (1), (2)")
        desk.gives("ptc wal.db '(count rows)'", 2)  # they are in the log beside it
    desk.prints("ls | grep -E '[.]db-(wal|shm|journal)$' || echo none", "none\n")


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


for test in (test_files, test_several, test_skip_bad, test_pipes, test_guesses, test_input, test_options, test_mistakes, test_help_is_named, test_packed, test_yaml, test_sqlite, test_hostile):
    test()
sys.exit(desk.end())
