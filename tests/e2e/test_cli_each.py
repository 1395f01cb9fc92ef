#!/usr/bin/env python3
"""A program for each row of a large file.  test_cli_each.py PTC"""
import gzip
import json
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
from cli_help import CSV4, NUMBERS, Desk  # noqa: E402

desk = Desk(sys.argv[1])
COUNT = 60_000


def test_results():
    desk.prints("ptc --each orders.csv '(when (> (:total row) 15) (:customer row))'", '"Ben"\n"Ada"\n')
    desk.prints("ptc --each -r orders.csv '(:customer row)'", "Ada\nBen\nAda\n")
    desk.prints("cat orders.csv.gz | ptc --each '(:id row)'", "1\n2\n3\n", CSV4)
    desk.prints("cat orders.csv | ptc --each --input lines '(count row)'", "21\n16\n14\n14\n")
    desk.prints("ptc --each --input tsv orders.csv '(count row)'", "1\n1\n1\n")
    desk.prints("printf '[\\n{\"a\":1}]' | ptc --each --input lines '(count row)'", "1\n8\n")
    desk.prints("ptc --each orders.csv false", "false\nfalse\nfalse\n")
    desk.prints("printf '{\"a\":1}\\n\\n{\"a\":2}' | ptc --each '(:a row)'", "1\n2\n")
    desk.prints("printf 'one\\ntwo\\r\\n' | ptc --each '(count row)'", "3\n3\n")
    desk.prints("ptc --each --data o=@orders.csv --context '{\"y\":1}' orders.csv '(+ (count o) data/y (:id row))'", "5\n6\n7\n")
    desk.prints("ptc --each --data o=@orders.csv --init 0 orders.csv '(+ state (count o))'", "9\n")


def test_state():
    desk.gives("ptc --each --init '{}' orders.csv '(update state (:customer row) (fnil + 0) (:total row))'", {"Ada": 40.5, "Ben": 20})
    desk.prints("ptc --each --init '[]' --format csv orders.csv '(conj state (select-keys row [:id]))'", "id\n1\n2\n3\n")
    desk.prints("printf '' | ptc --each --init '(+ 1 2)' '(inc state)'", "3\n")
    desk.write("none.csv", "a,b\n")
    desk.prints("ptc --each --init 7 none.csv '(inc state)'", "7\n")


def test_large():
    """Many batches, with quotes and line feeds across their ends, in little memory."""
    rows = [{"id": i, "text": f'say "{i}"\n' + "x" * (i % 300), "n": i % 7} for i in range(COUNT)]
    csv = "id,text,n\n" + "".join('%d,"%s",%d\r\n' % (r["id"], r["text"].replace('"', '""'), r["n"]) for r in rows)
    desk.write("large.csv", csv)
    desk.write("large.jsonl", "".join(json.dumps(r) + "\n" for r in rows))
    desk.write("large.csv.gz", gzip.compress(csv.encode(), 1))
    total = sum(len(r["text"]) + r["n"] for r in rows)
    for name in ("large.csv", "large.jsonl", "large.csv.gz"):
        desk.gives(f"ptc --each --init 0 {name} '(+ state (count (:text row)) (:n row))'", total)
        desk.gives(f"ptc --each {name} '(:id row)' | ptc '(= data (vec (range {COUNT})))'", True, NUMBERS)
    subprocess.run([desk.ptc, "--each", "--init", "0", "large.csv", "(inc state)"], cwd=desk.where, check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    desk.check("memory", most < 200_000, most)
    desk.prints("ptc --each --context-mb 8 --memory-mb 8 --init 0 large.csv '(inc state)'", f"{COUNT}\n")


def test_broken_rows():
    """What comes before a row that cannot be read has been done; the message has the form that it has without --each."""
    for name, text, rows, why in (
            ("broken.jsonl", '{"a":1}\n\n{"a":\n{"a":3}\n', '{"a":1}\n', "line 3, column 6: expected a value, but the text ends"),
            ("short.csv", 'a,b\n1,"x\ny"\n\n3\n4,5\n', '{"a":1,"b":"x\\ny"}\n', "line 5, column 2: this line has 1 of 2 fields"),
            ("open.csv", 'a,b\n1,2\n3,"\n4,5\n', '{"a":1,"b":2}\n', "line 3, column 3: the quote that opens here is never closed"),
            ("cr.csv", "a,b\n1,2\r3\r", "", "line 3, column 2: this line has 1 of 2 fields"),
            ("first.csv", "a,b\n1\n2,3\n", "", "line 2, column 2: this line has 1 of 2 fields"),
            ("byte.txt", b"x\n\xff\ny\n", '"x"\n', "line 2: it is not UTF-8")):
        desk.write(name, text)
        got = desk.sh(f"ptc --each {name} row")
        desk.check(f"rows before what is broken: {name}", got == (1, rows, f"error: {name}: {why}; --skip-bad leaves out such rows\n"), got)


def test_mistakes():
    desk.write("bad.jsonl", '{"a":1}\n{"a":2}\n{"a":"x"}\n{"a":4}\n')
    status, out, err = desk.sh("ptc --each bad.jsonl '(+ 1 (:a row))'")
    desk.check("the row is named", status == 1 and out == "2\n3\n" and "note: this is row 3 of bad.jsonl" in err and
               "--> line 1, column 1\n  (+ 1 (:a row))" in err and err.count("error:") == 1, (status, out, err))
    desk.refuses("ptc --each orders.csv '(+ 1 (:total row)))'", "line 1, column 19", "closes nothing", status=1)
    desk.refuses("ptc --each orders.csv '(+ 1 (:total row)'", "line 1, column 1\n  (+ 1 (:total row)\n", status=1)
    desk.refuses("ptc --each orders.csv '(inc rw)'", "nothing is named rw", "line 1, column 6", status=1)
    desk.refuses("ptc --each --init '(+ 1 :a)' orders.csv row", "this is the program of --init", status=1)
    desk.refuses("ptc --each x.json row", "--each reads JSON Lines, and --input jsonl says that it is")
    desk.write("empty.csv", "")
    desk.refuses("ptc --each empty.csv row", "empty.csv: there is no line that names the columns")
    desk.refuses("printf '[\\n{\"a\":1}]' | ptc --each row", "--each reads JSON Lines", "--input lines")
    desk.refuses("printf '' | ptc --each --input json row", status=0)
    desk.write("late", "a,b\n" + "1,2\n" * 150_000 + "3\n")
    got = desk.sh("ptc --each --init 0 '(inc state)' <late")
    desk.check("it breaks late", got == (1, "", CSV4.replace("4", "2") + "error: standard input: line 150002, column 2: this line has 1 of 2 fields; "
               "--skip-bad leaves out such rows; "
               "--input lines reads it as lines\n"), got)
    desk.prints("ptc --each --init 0 --input lines '(inc state)' <late", "150002\n")
    desk.refuses("ptc --each none.parquet row", "none.parquet")
    desk.refuses("ptc --each --format table orders.csv row", "--format jsonl")
    desk.refuses("ptc --init 1 1", "--init goes with --each only")
    desk.refuses("ptc eval --each 1", "ptc --each FILE PROGRAM")
    desk.refuses("ptc --each --tools '{}' orders.csv row", "without --tools")
    desk.refuses("head -c 70000000 /dev/zero | tr '\\0' a | ptc --each row", "line 1: it is longer than 64 MiB", status=1)
    got = desk.terminal("--each", "row")
    desk.check("nothing to read", "--each reads a file" in got, got)
    status, out, err = desk.sh("ptc --each --init 0 bad.jsonl '(do (println (:a row)) (inc state))'")
    desk.check("prints", (status, out, err) == (0, "4\n", "1\n2\nx\n4\n"), (status, out, err))
    status, out, err = desk.sh("ptc --each large.csv '(:nope row)'")
    desk.check("a key that no row has", status == 0 and out == "" and err.count("warning") <= 1, (status, out[:80], err[:200]))


def test_progress():
    shown = desk.terminal("--each", "--init", "0", "large.csv", "(do (reduce + (range 300)) (inc state))")
    desk.check("it is wiped", shown.endswith(f"\r\x1b[K\x1b[36m{COUNT}\x1b[0m\n"), shown[-200:])
    got = desk.sh("ptc --each --init 0 large.csv '(inc state)'")
    desk.check("none in a pipe", got == (0, f"{COUNT}\n", ""), got)


for test in (test_results, test_state, test_large, test_broken_rows, test_mistakes, test_progress):
    test()
sys.exit(desk.end())
