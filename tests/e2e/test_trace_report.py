#!/usr/bin/env python3
"""`ptc trace` on traces of real runs, of strangers, and of any size.  test_trace_report.py PTC"""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
WAIT = 120


def trace(*args, text=None, where=None):
    done = subprocess.run([PTC, "trace", *args], input=text, capture_output=True, timeout=WAIT, check=False, cwd=where)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def block(program):
    return f"```clojure\n{program}\n```"


CHILD = {"name": "child", "prompt": "Say {{x}}", "signature": "(x :int) -> :int", "output": "text", "llm": [{"content": "7", "sleep_ms": 20}] * 4}
AGENT = {"name": "parent", "prompt": "Ask all.", "tools": {"kid": {"agent": CHILD}, "slow": {"value": 1, "sleep_ms": 15}, "bad": {"error": "closed"}},
         "llm": [{"content": block("(tool/bad {})")},
                 {"content": block("(return (pmap (fn [x] (tool/slow {}) (tool/kid {:x x})) (range 4)))"), "tokens": {"input": 40, "output": 9}}]}


def make(home):
    path = pathlib.Path(home, "agent.json")
    path.write_text(json.dumps(AGENT), encoding="utf-8")
    done = subprocess.run([PTC, "run", path, "--trace", f"{home}/trace.jsonl"], capture_output=True, text=True, timeout=WAIT, check=False)
    check("the run", done.stdout == "[7,7,7,7]\n", done)


def test_tables(home):
    status, out, err = trace("summary", "trace.jsonl", where=home)
    check("summary", status == 0 and err == "" and "runs        5, 4 of them inside others\n" in out and "tool calls  9, 1 failed\n" in out and
          re.search(r"^kid +4 +0 ", out, flags=re.M) and re.search(r"^ +1  closed$", out, flags=re.M), (out, err))
    status, out, _ = trace("timeline", "trace.jsonl", where=home)
    check("timeline", status == 0 and re.search(r"\n +0\.\d {14}run parent \(content\)\n", out) and out.count("run child (text)") == 4 and
          "tool bad: closed" in out and out.endswith("run parent: ok\n"), out)
    status, out, _ = trace("slowest", "--top", "3", "trace.jsonl", where=home)
    check("slowest", status == 0 and len(out.splitlines()) == 4 and "program" in out.splitlines()[1], out)
    status, out, _ = trace("summary", ".", where=home)
    check("a directory", status == 0 and "runs        5" in out, out)
    status, out, _ = trace("summary", "trace.jsonl", "./trace.jsonl", where=home)
    check("several files", status == 0 and "files       2\nruns        10" in out, out)
    status, out, _ = trace("summary", "-", text=pathlib.Path(home, "trace.jsonl").read_bytes())
    check("standard input", status == 0 and "runs        5" in out, out)


def test_chrome(home):
    status, out, err = trace("chrome", "trace.jsonl", where=home)
    events = json.loads(out)["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    check("chrome", status == 0 and err == "" and len(spans) == 5 + 6 + 6 + 2 + 9, len(spans))
    check("chrome: runs are named", {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"} == {"parent", "child"}, events[:4])
    # What is on one thread lies inside each other or apart; times are rounded to microseconds.
    threads = {}
    for e in spans:
        threads.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
    bad = [(a, b) for all_ in threads.values() for a in all_ for b in all_ if a[0] + 2 < b[0] < a[1] - 2 and b[1] > a[1] + 2]
    check("chrome: nothing overlaps on a thread", not bad, bad[:3])
    check("chrome: calls side by side", len(threads) > 5, sorted(threads))


def test_otlp(home):
    status, out, err = trace("otlp", "trace.jsonl", where=home)
    check("otlp: the same every time", (status, err) == (0, "") and trace("otlp", "trace.jsonl", where=home)[1] == out, err)
    (resource_spans,) = json.loads(out)["resourceSpans"]
    spans = resource_spans["scopeSpans"][0]["spans"]
    ids = {s["spanId"] for s in spans}
    check("otlp: ids", len(ids) == len(spans) == 28 and all(re.fullmatch("[0-9a-f]{16}", i) for i in ids) and
          len({s["traceId"] for s in spans}) == 1 and re.fullmatch("[0-9a-f]{32}", spans[0]["traceId"]), spans[0])
    roots = [s for s in spans if "parentSpanId" not in s]
    check("otlp: one root, and parents are there", [s["name"] for s in roots] == ["invoke_agent parent"] and
          all(s["parentSpanId"] in ids for s in spans if "parentSpanId" in s), roots)
    check("otlp: times", all(re.fullmatch(r"\d{19}", s["startTimeUnixNano"]) and int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]) for s in spans),
          spans[0])
    failed = [s for s in spans if s["status"].get("code") == 2]
    check("otlp: failures", {"execute_tool bad", "program", "turn 1"} == {s["name"] for s in failed} and
          any(s["status"].get("message") == "closed" for s in failed), failed)
    tokens = [a["value"] for s in spans for a in s["attributes"] if a["key"] == "gen_ai.usage.input_tokens"]
    check("otlp: tokens", {"intValue": "40"} in tokens, tokens)
    copy = pathlib.Path(home, "other.jsonl")
    copy.write_bytes(pathlib.Path(home, "trace.jsonl").read_bytes().replace(b'"at_us":', b'"at_us":1', 1))
    other = json.loads(trace("otlp", "other.jsonl", where=home)[1])["resourceSpans"][0]["scopeSpans"][0]["spans"]
    copy.unlink()
    check("otlp: another trace has other ids", not ids & {s["spanId"] for s in other}, other[0])


def test_hostile(home):
    lines = [b"", b"   ", b"{", b"null", b'{"event":"tool","id":"' + b"x" * 100 + b'"}', b"[" * 100000, b"\x00\xff",
             b'{"event":"tool","id":"t","name":"\\u001b[31m<b>\\u202e","ok":true,"duration_us":1}', b"y" * (17 << 20)]
    status, out, err = trace("summary", "-", text=b"\n".join(lines) + b"\n")
    check("hostile lines are told and skipped", status == 0 and [int(n) for n in re.findall(r"line (\d+):", err)] == [3, 4, 5, 6, 7, 9], err)
    check("hostile: nothing acts on a terminal", "\x1b" not in out and "\u202e" not in out and "tool calls  1" in out, out)
    status, out, err = trace("summary", "-", text=b"x\n" * 5000)
    check("many of them are counted", status == 1 and out == "" and err.count("\n") == 12 and "4990 more lines were skipped" in err and
          "no event was found" in err, err)
    for form in ("summary", "timeline", "slowest", "chrome", "otlp"):
        status, out, err = trace(form, "-", text=b'{"event":"run.start","id":"a","parent":"a"}\n{"event":"run.stop","id":"b","parent":"a"}\n' * 3)
        check(f"hostile ids, {form}", status == 0 and (form not in ("chrome", "otlp") or json.loads(out)), (out, err))
    odd = pathlib.Path(home, "odd\x1b]0;t\x07\nruns 9\u202e.jsonl")
    odd.write_text('{"event":"run.start","id":"a","name":"r"}\nx\n', encoding="utf-8")
    for form in ("summary", "timeline", "slowest"):
        status, out, err = trace(form, odd)
        check(f"a hostile name, {form}", status == 0 and not re.search("[\x07\x1b\u202e]|^runs 9", out + err, flags=re.M) and "\\u001b]0;" in out + err,
              (out, err))
    odd.unlink()
    for form in ("chrome", "otlp"):
        status, out, err = trace(form, "-", text=b"x\n")
        check(f"no event, {form}", status == 1 and out == "" and "no event was found" in err, (out, err))
    pathlib.Path(home, "none.jsonl").write_bytes(b"x\n")
    status, out, _ = trace("chrome", "none.jsonl", "trace.jsonl", where=home)
    check("one without events beside another", status == 0 and json.loads(out)["traceEvents"][0]["args"]["name"] == "trace.jsonl", out[:200])
    pathlib.Path(home, "none.jsonl").unlink()
    status, out, err = trace("summary", "-", text=b'\xef\xbb\xbf{"event":"run.start","id":"a","name":"r"}\n')
    check("a byte order mark", status == 0 and err == "" and "runs        1" in out, (out, err))
    pathlib.Path(home, "full").mkdir(exist_ok=True)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PTC, "trace", "timeline", f"{home}/trace.jsonl"], stdout=full, stderr=subprocess.PIPE, timeout=WAIT, check=False)
    check("a full disk", done.returncode == 1 and b"cannot be written: No space left" in done.stderr, done)


def test_size():
    """100 MB of events, through a pipe, in little memory."""
    one = json.dumps({"event": "tool", "id": "r1.t1.c1", "parent": "r1.t1.p", "at_us": 5, "duration_us": 3, "name": "t", "ok": True,
                      "cached": False, "args": "x" * 4000, "result": "y" * 4000}).encode() + b"\n"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with subprocess.Popen([PTC, "trace", "summary", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for _ in range(125):
            process.stdin.write(one * 100)
        process.stdin.close()
        out = process.stdout.read().decode()
        process.wait(timeout=WAIT)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check("100 MB", process.returncode == 0 and "tool calls  12500\n" in out, out)
    check("100 MB: memory", peak < 64 * 1024 or peak == before or "asan" in PTC or "tsan" in PTC, (before, peak))


def test_usage(home):
    for args, text in (([], "which form"), (["sumary", "x"], "did you mean summary?"), (["summary"], "which trace?"),
                       (["summary", "nowhere.jsonl"], "nowhere.jsonl: No such file"), (["slowest", "--top", "0", "x"], "--top")):
        status, out, err = trace(*args, where=home)
        check(f"usage {args}", status == 2 and out == "" and text in err, (status, err))
    status, out, err = trace("summary", "agent.json", where=home)
    check("a file that is no trace", status == 1 and "no event was found" in err, (out, err))
    status, out, _ = trace("--help")
    check("help", status == 0 and "ptc trace summary trace.jsonl" in out, out)


def main():
    test_size()
    with tempfile.TemporaryDirectory() as home:
        make(home)
        test_tables(home)
        test_chrome(home)
        test_otlp(home)
        test_hostile(home)
        test_usage(home)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
