#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_traces.py PTC DIR [large]: traces to look at, made by agents on scripted models and by `ptc mcp`; a hostile one; with
`large` also one of 50 MB and 10,000 events."""
import json
import os
import pathlib
import subprocess
import sys

PTC, WHERE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
ORDERS = [{"id": i, "customer": ("Ada", "Ben", "Cleo", "Dora")[i % 4], "total": 40 + (i * 37) % 900, "region": ("north", "south")[i % 2]}
          for i in range(1, 61)]


def block(program, words=""):
    return f"{words}\n```clojure\n{program}\n```"


def tokens(given, got, cached=0):
    return {"input": given, "output": got, "cache_read": cached}


REVIEWER = {
    "name": "reviewer", "prompt": "Is the customer {{customer}} with {{owes}} a risk?", "signature": "(customer :string, owes :int) -> {risk :string}",
    "tools": {"history": {"value": {"late": 2, "since": 2019}, "sleep_ms": 25, "signature": "(customer :string) -> :any"}},
    "llm": [{"content": block("(def h (tool/history {:customer data/customer}))\n(return {:risk (if (> (:late h) 1) \"high\" \"low\")})"),
             "sleep_ms": 90, "tokens": tokens(610, 58, 480)}] * 4,
}
REPORT = {
    "name": "orders-report", "prompt": "Who owes most in {{region}}? Have large debts reviewed.",
    "signature": "(region :string) -> {top [:any], total :int}",
    "tools": {"orders": {"value": ORDERS, "sleep_ms": 140, "signature": "(region :string) -> [:any]"},
              "rate": {"value": 1.08, "sleep_ms": 60, "cache": True, "signature": "(currency :string) -> :float"},
              "review": {"agent": REVIEWER}},
    "llm": [
        {"content": block(";; what is there?\n(def rows (tool/orders {:region data/region}))\n(println \"rows:\" (count rows))\n(sum-by :totl rows)",
                          "I look at the orders first."), "sleep_ms": 260, "tokens": tokens(1840, 64)},
        {"content": block("(->> rows\n     (group-by :customer)\n     (map (fn [[who list]] {:customer who :owes (sum-by :total list)}))\n"
                          "     (sort-by :owes)\n     (take \"3\"))"), "sleep_ms": 310, "tokens": tokens(2130, 92, 1800)},
        {"error": {"http": 529}, "sleep_ms": 40},
        {"content": block("(def debts (->> (group-by :customer rows)\n                (map (fn [[who list]] {:customer who :owes (sum-by :total list)}))\n"
                          "                (sort-by :owes >)))\n"
                          "(def rates (pmap #(tool/rate {:currency %}) [\"EUR\" \"USD\" \"EUR\"]))\n"
                          "(def reviewed (pmap (fn [d] (merge d (tool/review {:customer (:customer d) :owes (:owes d)})))\n"
                          "                    (take 4 debts)))\n"
                          "(println \"reviewed\" (count reviewed))\nreviewed", "Amounts need a number; I also ask the reviewers, side by side."),
         "sleep_ms": 420, "tokens": tokens(2388, 171, 2100)},
        {"content": block("(return {:top (vec reviewed) :total (sum-by :owes debts)})"), "sleep_ms": 180, "tokens": tokens(2710, 41, 2300)}],
    "llm_retry": {"max_attempts": 3, "base_delay": 60},
}
FAILING = {
    "name": "invoice-check", "prompt": "Check invoice 4711.", "max_turns": 3,
    "tools": {"invoice": {"seq": [{"$error": "connection refused by billing:5432"}], "signature": "(id :int) -> :any", "sleep_ms": 30}},
    "llm": [{"content": block("(tool/invoice {:id 4711})"), "sleep_ms": 150, "tokens": tokens(900, 20)},
            {"content": block("(let [i (tool/invoice {:id 4711})]\n  (if (nil? i) (fail {:reason \"no invoice\"}) (:sum i))"), "sleep_ms": 160,
             "tokens": tokens(1040, 44)},
            {"content": block("(fail {:reason \"billing cannot be reached\" :invoice 4711})"), "sleep_ms": 120, "tokens": tokens(1201, 26)}],
}
SUPPORT = {
    "name": "support", "prompt": "Where is the parcel of order {{order}}?", "signature": "(order :int) -> :string", "output": "text",
    "tools": {"parcel": {"seq": [{"$error": "no such parcel"}, {"place": "Hamburg", "eta": "tomorrow"}], "signature": "(id :int) -> :any",
                         "sleep_ms": 45}},
    "llm": [{"content": None, "sleep_ms": 200, "tokens": tokens(420, 30),
             "tool_calls": [{"id": "a1", "name": "parcel", "args": {"id": 17}}, {"id": "a2", "name": "parcel", "args": {"id": 18}}]},
            {"content": "The parcel is in Hamburg and arrives **tomorrow**.", "sleep_ms": 240, "tokens": tokens(510, 16, 400)}],
}
QUICK = {"name": "greeting", "prompt": "Say hello.", "llm": [{"content": block('(return "hello")'), "sleep_ms": 35, "tokens": tokens(310, 9)}]}


def run(name, agent, context=None):
    home = WHERE / "agents"
    home.mkdir(exist_ok=True)
    path = home / f"{name}.json"
    path.write_text(json.dumps(agent), encoding="utf-8")
    data = ["--context", json.dumps(context)] if context else []
    subprocess.run([PTC, "run", path, *data, "--trace", WHERE / f"{name}.jsonl"], capture_output=True, timeout=120, check=False)


def unfinished():
    """A run that was killed: its last lines are missing, and one is half there."""
    lines = (WHERE / "orders.jsonl").read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"orders-report", b"nightly-report")
    (WHERE / "killed.jsonl").write_bytes(b"".join(lines[:12]) + lines[12][:40])


def mcp_calls():
    """Files of `ptc mcp`, in a directory of their own."""
    calls = [("(->> data/xs (map inc) (reduce +))", {"xs": [1, 2, 3]}), ("(/ 1 0)", {}), ("(frequencies \"mississippi\")", {})]
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize",
              "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "lisp_eval", "arguments": {"program": p, "context": c}}}
              for i, (p, c) in enumerate(calls, 1)]
    subprocess.run([PTC, "mcp", "--trace-dir", WHERE / "mcp", "--trace-payloads", "full"], input="".join(json.dumps(x) + "\n" for x in lines),
                   text=True, capture_output=True, timeout=120, check=False, env={"PATH": os.environ["PATH"], "HOME": str(WHERE)})


def write(name, events):
    lines = [e if isinstance(e, bytes) else json.dumps(e).encode() for e in events]
    (WHERE / name).write_bytes(b"\n".join(lines) + b"\n")


EVIL = '<script>window.hacked=1</script><img src=x onerror="window.hacked=2"><svg onload=window.hacked=3>javascript:alert(1)'


def hostile():
    """Everything that a text can do to a page that trusts it, and lines that are no events."""
    common = {"parent": None, "at_us": 5}
    run_start = {"event": "run.start", "id": "r1", "agent": EVIL, "name": EVIL, "mode": EVIL, "depth": 1, **common}
    turn = {"event": "turn.start", "id": "r1.t1", "parent": "r1", "at_us": 6, "type": EVIL}
    ask = {"event": "llm.start", "id": "r1.t1.m1", "parent": "r1.t1", "at_us": 7, "model": EVIL, "system": EVIL * 3, "messages": EVIL,
           "new": [{"role": EVIL, "content": EVIL}, None, 7, {"role": {"a": 1}, "content": ["x"]}, {"role": "__proto__", "content": "p"}],
           "tools": [EVIL, None, {}], "schema": EVIL}
    reply = {"event": "llm.stop", "id": "r1.t1.m1", "parent": "r1.t1", "at_us": 9, "duration_us": -5, "status": "ok",
             "text": EVIL + "\n```clojure\n" + EVIL + "\n```\n```" + EVIL, "calls": [{"id": EVIL, "name": EVIL, "args": EVIL}, 3],
             "tokens": {"input": "many", "output": 1e308, "cache_read": -1}}
    program = {"event": "program.start", "id": "r1.t1.p", "parent": "r1.t1", "at_us": 10, "program": EVIL + '"' * 300}
    huge = {"event": "tool", "id": "r1.t1.c1", "parent": "r1.t1.p", "at_us": 11, "duration_us": 1e300, "start_us": -9e15, "name": EVIL,
            "layer": "program", "ok": True, "cached": True, "args": "(" * 3000000, "result": "x" * 3000000}
    stop = {"event": "program.stop", "id": "r1.t1.p", "parent": "r1.t1", "at_us": 12, "duration_us": "long", "end": EVIL, "message": EVIL,
            "value": "[" * 400 + "]" * 400, "prints": '["' + "a" * 9 + '", {"x": 1}]', "warnings": json.dumps([{"message": EVIL, "hint": EVIL}, 5]), "calls": 1}
    deep = [{"event": "run.start", "id": f"d{i}", "parent": f"d{i - 1}" if i else None, "at_us": i, "agent": "", "name": f"deep {i}",
             "mode": "content", "depth": i} for i in range(300)]
    write("hostile.jsonl", [
        {"event": "trace.start", "version": 99, "ptc": EVIL, "ts": EVIL}, run_start, turn, ask, reply, program, huge, stop,
        b"not json at all " + EVIL.encode(), b"[1,2,3]", b"null", b'"text"', b"{}", b'{"event":7}', b"\xff\xfe\x00\x80", b"[" * 100000,
        {"event": "run.start", "id": "__proto__", "parent": "constructor", "at_us": 1, "agent": "", "mode": "content", "depth": 1},
        {"event": "run.stop", "id": "toString", "parent": None, "at_us": 3, "duration_us": 1, "outcome": EVIL, "message": EVIL},
        {"event": "no.such", "id": "x", "parent": None, "at_us": 1}, {"event": "turn.stop", "id": "r9.t9", "parent": "r9", "at_us": 4},
        {"event": "run.start", "id": "r1", "parent": "r1", "at_us": 2, "name": "its own parent", "agent": "", "mode": "x", "depth": 1},
        *deep, {"event": "run.stop", "id": "r1", "parent": None, "at_us": 20, "duration_us": 15, "outcome": "error", "reason": EVIL, "message": EVIL},
        {"event": "trace.stop", "reason": "too_large"}])


def large(megabytes=50, events=10000):
    """A run of many turns."""
    turns = events // 5
    pad = "(comment \"" + "lorem ipsum 0123456789 " * (megabytes * 1000000 // turns // 46) + "\")"
    out = [{"event": "trace.start", "version": 1, "ptc": "0.1.0", "ts": "2026-11-15T20:22:19.046Z"},
           {"event": "run.start", "id": "r1", "parent": None, "at_us": 0, "agent": "", "name": "long-haul", "mode": "content", "depth": 1}]
    for i in range(1, turns + 1):
        at, turn = i * 1000, f"r1.t{i}"
        common = [("turn.start", turn, "r1", {"type": "normal"}), ("program.start", f"{turn}.p", turn, {"program": pad}),
                  ("tool", f"{turn}.c1", f"{turn}.p", {"start_us": at + 100, "duration_us": 200, "name": "fetch", "layer": "program",
                                                      "ok": True, "cached": False, "args": f'{{:page {i}}}', "result": "needle" if i == turns else "1"}),
                  ("program.stop", f"{turn}.p", turn, {"duration_us": 500, "end": "value", "value": pad[:2000] and json.dumps(pad), "prints": "[]", "calls": 1}),
                  ("turn.stop", turn, "r1", {"duration_us": 700, "ok": i % 500 != 0, "reason": "program_error", "calls": 1})]
        out += [{"event": e, "id": n, "parent": p, "at_us": at + 100 * k, **more} for k, (e, n, p, more) in enumerate(common)]
    out.append({"event": "run.stop", "id": "r1", "parent": None, "at_us": turns * 1000 + 2000, "duration_us": turns * 1000, "outcome": "ok",
                "by": "return", "return": "1", "turns": turns, "llm_requests": 0, "llm_errors": 0, "children": 0})
    write("large.jsonl", out)


WHERE.mkdir(parents=True, exist_ok=True)
if sys.argv[3:] == ["large"]:
    large()
else:
    run("orders", REPORT, {"region": "north"})
    run("invoice", FAILING)
    run("support", SUPPORT, {"order": 17})
    run("greeting", QUICK)
    unfinished()
    mcp_calls()
    (WHERE / "apart").mkdir(exist_ok=True)
    hostile()
    os.replace(WHERE / "hostile.jsonl", WHERE / "apart" / "hostile.jsonl")
