#!/usr/bin/env python3
"""Any language can host programs through `ptc eval --jsonl`: one request per line, one answer per line."""
import json
import subprocess

with subprocess.Popen(["ptc", "eval", "--jsonl", "--session"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ptc:
    def run(program, **context):
        ptc.stdin.write(json.dumps({"program": program, "context": context}) + "\n")
        ptc.stdin.flush()
        return json.loads(ptc.stdout.readline())

    run("(defn grade [points] (cond (>= points 90) :a (>= points 70) :b :else :c))")
    print(run("(map grade data/points)", points=[95, 71, 12])["json"])
    failed = run("(grade)")
    print(failed["kind"], "at column", failed["column"], "-", failed["message"])
