#!/usr/bin/env python3
"""Traces of agents are what docs/trace.md says, and nobody's keys are in them.  test_trace.py PTC"""
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "trace.md"
KEY = "sk-or-a-key-that-nobody-may-read-0123456789"
COMMON = {"event", "id", "parent", "at_us"}


def block(program):
    return f"```clojure\n{program}\n```"


def run(agents, *options, context=None, env=None, trace="trace.jsonl"):
    """Events of a run, its result and the bytes of the file."""
    with tempfile.TemporaryDirectory() as home:
        names = []
        for i, agent in enumerate(agents):
            names.append(f"{home}/agent{i}.json")
            pathlib.Path(names[-1]).write_text(json.dumps(agent), encoding="utf-8")
        then = [part for name in names[1:] for part in ("--then", name)]
        data = ["--context", json.dumps(context)] if context is not None else []
        path = os.path.join(home, trace)
        done = subprocess.run([PTC, "run", names[0], *then, *data, "--trace", path, *options], text=True,
                              capture_output=True, timeout=60, cwd=home, check=False,
                              env={"HOME": home, "PATH": os.environ["PATH"], **(env or {})})
        if not os.path.isfile(path):
            return [], done, b""
        check("the file is its owner's", stat.S_IMODE(os.stat(path).st_mode) == 0o600, os.stat(path).st_mode)
        raw = pathlib.Path(path).read_bytes()
        return [json.loads(line) for line in raw.splitlines()], done, raw


# --------------------------------------------------------------------------------- the page

def read_page():
    """Event -> (fields that are always there, fields that may be)."""
    table = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| `([a-z.]+)` \| `r1[^`]*` \| (.*) \|$", line)
        if row:
            names = re.findall(r"`([a-z_]+)(\??)`", row.group(2))
            table[row.group(1)] = ({n for n, q in names if not q}, {n for n, q in names if q})
    return table


def check_events(name, events, table, seen):
    first, rest = events[0], events[1:]
    check(f"{name}: first line", first["event"] == "trace.start" and first["version"] == 1, first)
    started, at = {}, 0
    for event in rest:
        kind = event["event"]
        always, sometimes = table.get(kind, (set(), set()))
        fields = {f for f in event if not f.endswith("_bytes")} - COMMON
        check(f"{name}: {kind} is described", kind in table and COMMON <= set(event), event)
        check(f"{name}: fields of {kind}", always <= fields <= always | sometimes, sorted(fields ^ always))
        seen.setdefault(kind, set()).update(fields)
        check(f"{name}: time goes on", event["at_us"] >= at and event.get("duration_us", 0) >= 0, event)
        at = event["at_us"]
        if kind.endswith(".start") or kind == "tool":
            check(f"{name}: {event['id']} is new", event["id"] not in started, event)
            started[event["id"]] = event
        else:
            check(f"{name}: {event['id']} has begun", event["id"] in started, event)
        parent = event["parent"]
        check(f"{name}: parent of {event['id']}",
              parent in started if parent else kind.startswith("run."), parent)


# ----------------------------------------------------------------------------------- agents

FARE = {"seq": [5], "cache": True, "signature": "(zone :int) -> :int"}
TOKENS = {"input": 40, "output": 9, "cache_read": 30}
CHILD = {"prompt": "Say {{x}}", "signature": "(x :int) -> :int", "output": "text"}
PROGRAMS = {
    "name": "fares", "prompt": "Twice the fare?", "signature": "(zone :int) -> {total :int}",
    "llm_retry": {"max_attempts": 2, "base_delay": 1}, "tools": {"fare": FARE, "child": {"agent": CHILD}},
    "llm": [{"error": {"http": 500}},
            {"content": block("(def f (tool/fare {:zone data/zone})) (println \"hi\") data/zoen [(tool/fare {:zone 3}) (tool/child {:x 7})]"),
             "tokens": TOKENS},
            {"content": "7"},
            {"content": block("(tool/fare {:zone \"x\"})")},
            {"content": block("(return {:total (* 2 f)})")}]}
NATIVE = {"prompt": "Fare to {{total}}?", "signature": "(total :int) -> :string", "output": "text",
          "tools": {"fare": {"seq": [{"$error": "closed"}, 6], "signature": "(zone :int) -> :int"}},
          "llm": [{"content": None, "tool_calls": [{"id": "a", "name": "fare", "args": {"zone": 1}},
                                                   {"id": "b", "name": "fare", "args": {"zone": 2}}]},
                  {"content": "six", "cut": False}]}
FAILING = {"prompt": "Fail.", "llm": [{"content": "no program"}, {"content": block("(fail {:why 1})")}]}
BUSY = {"prompt": "Try.", "max_turns": 1, "llm": [{"content": block("(return (tool/t))")}],
        "tools": {"t": {"command": ["sh", "-c", "exit 75"], "read_only": True, "retry": {"attempts": 2, "base_ms": 1}}}}
BROKEN = {"prompt": "Ask.", "llm": []}
INVALID = {"prompt": "{{x}}", "signature": "(x :int) -> :int", "llm": []}


def test_page():
    # Calls of upstreams need a server: tests/upstream/test_agents.py compares them with the page.
    table, seen = {kind: fields for kind, fields in read_page().items() if not kind.startswith("upstream.")}, {}
    runs = {"a chain": ([PROGRAMS, NATIVE], {"zone": 3}), "a failure": ([FAILING], None), "a retry": ([BUSY], None),
            "no model": ([BROKEN], None), "invalid": ([INVALID], {})}
    got = {}
    for name, (agents, context) in runs.items():
        got[name] = run(agents, context=context)
        check_events(name, got[name][0], table, seen)
    check("all events of the page come", set(seen) == set(table), sorted(set(table) ^ set(seen)))
    for kind, fields in seen.items():
        check(f"all fields of {kind} come", fields == table[kind][0] | table[kind][1],
              sorted(fields ^ (table[kind][0] | table[kind][1])))
    return got


def test_chain(events, done):
    check("chain: its answer", (done.returncode, done.stdout) == (0, "six\n"), done)
    by_id = {(e["event"], e.get("id")): e for e in events}
    check("chain: two top runs and a child",
          [(e["id"], e["parent"]) for e in events if e["event"] == "run.start"] ==
          [("r1", None), ("r2", "r1.t1.p"), ("r3", None)], events)
    tools = [(e["id"], e["parent"], e["name"], e["layer"], e["ok"], e["cached"]) for e in events if e["event"] == "tool"]
    check("chain: tool calls", tools == [
        ("r1.t1.c1", "r1.t1.p", "fare", "program", True, False), ("r1.t1.c2", "r1.t1.p", "fare", "program", True, True),
        ("r1.t1.c3", "r1.t1.p", "child", "program", True, False),
        ("r3.t1.c1", "r3.t1", "fare", "native", False, False), ("r3.t1.c2", "r3.t1", "fare", "native", True, False)], tools)
    check("chain: calls began and ended before they were reported",
          all(0 <= e["start_us"] and e["start_us"] + e["duration_us"] <= e["at_us"] for e in events if e["event"] == "tool"), tools)
    warned = json.loads(by_id["program.stop", "r1.t1.p"]["warnings"])
    check("chain: warnings", len(warned) > 0 and "zoen" in warned[0]["message"], warned)
    check("chain: the retry", by_id["llm.stop", "r1.t1.m1"]["status"] == "server_error" and
          by_id["llm.stop", "r1.t1.m2"]["tokens"] == {"input": 40, "output": 9, "cache_creation": 0, "cache_read": 30},
          by_id["llm.stop", "r1.t1.m1"])
    check("chain: a turn that failed", by_id["turn.stop", "r1.t2"]["ok"] is False, by_id["turn.stop", "r1.t2"])
    check("chain: the system prompt comes once a run",
          [e["id"] for e in events if "system" in e] == ["r1.t1.m1", "r2.t1.m1", "r3.t1.m1"], events)
    check("chain: native calls asked for", [c["name"] for c in by_id["llm.stop", "r3.t1.m1"]["calls"]] == ["fare", "fare"],
          by_id["llm.stop", "r3.t1.m1"])


def test_side_by_side():
    """Children in a pmap: every one has its ids, and lines stay whole and in order."""
    child = {"prompt": "Say {{x}}", "signature": "(x :int) -> :string", "output": "text", "tools": {"n": {"value": 1}},
             "llm": [{"content": "k", "sleep_ms": 20}] * 16}
    agent = {"prompt": "Ask all.", "tools": {"kid": {"agent": child}},
             "llm": [{"content": block("(return (count (pmap #(tool/kid {:x %}) (range 16))))")}]}
    events, done, _ = run([agent])
    check("side by side: it ran", done.stdout == "16\n", done)
    check_events("side by side", events, read_page(), {})
    runs = [(e["id"], e["parent"]) for e in events if e["event"] == "run.start"]
    check("side by side: all children", runs == [("r1", None)] + [(f"r{i}", "r1.t1.p") for i in range(2, 18)], runs)


# ----------------------------------------------------------------------- secrets and limits

def test_secrets():
    """A key in a reply, in a program, in arguments and results; once where the text is cut."""
    pad = "x" * (16 * 1024 - 20)
    agent = {"prompt": f"The key is {KEY}.", "tools": {"e": {"echo": True}},
             "llm": [{"content": block(f'(println "{KEY}") (tool/e {{:k "{KEY}"}})')},
                     {"content": block(f';{pad}{KEY}\n(fail "{KEY}")')}]}
    events, done, raw = run([agent], env={"OPENROUTER_API_KEY": KEY})
    check("secrets: it ran", done.returncode == 1 and len(events) > 10, done)
    check("secrets: no key", KEY.encode() not in raw and b"nobody-may-read" not in raw, raw)
    check("secrets: no piece of one at a cut", KEY[:8].encode() not in raw, raw[raw.find(KEY[:8].encode()) - 40:][:80])
    check("secrets: they are blotted", raw.count(b"[secret]") >= 6, raw.count(b"[secret]"))
    program = [e for e in events if e["event"] == "program.start"][1]
    check("limits: a long text is cut", len(program["program"]) == 16 * 1024 and program["program_bytes"] > 16 * 1024,
          program.get("program_bytes"))


def test_places():
    agent = {"prompt": "Ask.", "llm": [{"content": block("(return 1)")}]}
    _, done, _ = run([agent], trace="nowhere/trace.jsonl")
    check("a file that cannot be made", done.returncode == 2 and "--trace: " in done.stderr and done.stdout == "", done)
    _, done, _ = run([agent], trace="/dev/full")
    check("a file that cannot be written", done.returncode == 1 and done.stdout == "1\n" and "--trace: /dev/full: " in done.stderr,
          done)


def main():
    got = test_page()
    test_chain(got["a chain"][0], got["a chain"][1])
    test_side_by_side()
    test_secrets()
    test_places()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
