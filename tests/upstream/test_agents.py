#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_agents.py PTC: agents of `ptc run` and `ptc chat` whose programs call upstreams: what the model is told, what may be called,
who is asked, what is told afterwards; agents inside agents; a real server, where it is installed."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from mcp_talk import faulty, lines_of
from place import DESTROY, READ, WAIT, Counts, Mcp, Place, tool
from test_terminal import talk

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILESYSTEM = ROOT / "build" / "npm" / "node_modules" / ".bin" / "mcp-server-filesystem"
counts = Counts()
ASK = b"(c)?"


def block(program):
    return {"content": f"```clojure\n{program}\n```"}


def agent(place, *programs, **fields):
    """A file with an agent that says these programs."""
    return place.write("agent.json", {"prompt": "Do it.", "max_turns": max(1, len(programs)),
                                      "llm": [p if isinstance(p, dict) else block(p) for p in programs], **fields})


def outcome(place, path, *options):
    done = place.run("run", path, "--json", *options)
    return json.loads(done.stdout) if done.stdout else {"stderr": done.stderr}


def names(list_of):
    return [(e["name"], e["times"]) for e in list_of]


def calls_of(said):
    return [(c["id"], c["tool"], c["status"]) for c in said["upstream_calls"]]


def plain(place, file):
    """Reads are made, writes are denied with the rule to add, and allowed by it."""
    path = agent(place, '(def a (notes/read {:text "one"}))', '(return {:got [(:text a) (:text (notes/read {:text "two"}))]})')
    said = outcome(place, path, "--upstreams", file)
    counts.check("reads", said.get("return") == {"got": ["one", "two"]}, said)
    counts.check("calls are numbered through", calls_of(said) == [(1, "read", "ok"), (2, "read", "ok")], said)
    counts.check("reads have no effects", "upstream_effects" not in said and place.taken("calls") == ["read", "read"], said)
    path = agent(place, '(tool/call {:server (str "notes") :tool "write" :args {:text "b"}})', "(fail \"no\")")
    said = outcome(place, path, "--upstreams", file)
    counts.check("a write is denied", said["reason"] == "failed" and '\\"write\\": \\"allow\\"' in json.dumps(said["turns"][0]["value"]), said)
    counts.check("the denial is told", names(said["upstream_effects"]["denied"]) == [("notes/write", 1)]
                 and said["upstream_effects"]["run_again"] == "safe" and said["effects"]["safe_to_retry"] is True, said)
    counts.check("nothing was called", place.taken("calls") == [])
    path = agent(place, '(notes/write {:text "b"})', "(fail \"no\")")
    said = outcome(place, path, "--upstreams", file)
    counts.check("a finding before the program runs", said["turns"][0]["reason"] == "tool_denied", said)
    said = outcome(place, path, "--upstreams", file, "--allow", "notes/write")
    counts.check("allowed by a rule", place.taken("calls") == ["write"] and names(said["upstream_effects"]["ran"]) == [("notes/write", 1)], said)
    counts.check("it must not be done twice", said["upstream_effects"]["run_again"] == "unsafe"
                 and said["effects"]["safe_to_retry"] is False, said)
    done = place.run("run", path, "--upstreams", file, "--allow", "notes/write")
    counts.check("what took effect, in words", "ptc run: upstreams: took effect: notes/write; run again: unsafe\n" in done.stderr, done.stderr)
    place.taken("calls")
    said = outcome(place, path, "--upstreams", file, "--allow", "notes/write", "--deny", "notes")
    counts.check("deny wins", said["turns"][0]["reason"] == "tool_denied" and place.taken("calls") == [], said)


def after_failure(place, file):
    """A program that failed leaves what it wrote in other servers to the next one, and the model is told."""
    def row(text, name="notes/write"):
        return {"tool": name, "args": {"text": text}}

    def seen(program, *options, **fields):
        path = agent(place, program, "(return data/fail)", **fields)
        return outcome(place, path, "--upstreams", file, "--allow", "notes", "--messages", *options)

    said = seen('(notes/read {:text "r"}) (notes/write {:text "a"}) (notes/write :text "b") (mapv notes/drop ["c"])'
                ' (tool/call {:server (str "notes") :tool "write" :args {:text "d"}}) (/ 1 0)')
    fail, named = said.get("return", {}), {"server": "notes", "tool": "write", "args": {"text": "d"}}
    done = [{**row(t, n), "result": {"text": t}} for t, n in (("a", "notes/write"), ("b", "notes/write"), ("c", "notes/drop"))]
    counts.check("what took effect", fail.get("done") == [*done, {"tool": "tool/call", "args": named, "result": {"text": "d"}}]
                 and fail.get("unknown") == [], said)
    told = next((m["content"] for m in reversed(said["messages"]) if m["role"] == "user"), "")
    counts.check("the model is told", all(part in told for part in ("took effect before", 'notes/write {"text":"b"}', "notes/drop", "tool/call"))
                 and "notes/read" not in told, said)
    place.taken("calls")
    for text in ("die", "fail"):
        said = seen('(notes/write {:text "a"}) (notes/write {:text "%s"})' % text)
        fail = said.get("return", {})
        counts.check(f"nobody knows: {text}", fail.get("done") == done[:1] and fail.get("unknown") == [row(text)], said)
    said = seen('(notes/read {:text "fail"})')
    counts.check("a read that failed", said.get("return", {}).get("done") == [] and said["return"]["unknown"] == [], said)
    said = seen('(pmap #(if (= % "x") (do (notes/read {:text "r"}) (/ 1 0)) (notes/write {:text %})) ["a" "x"])')
    written, fail = place.taken("calls").count("write") - 4, said.get("return", {})  # four before
    counts.check("in pmap", len(fail.get("done", "?")) == written and fail["unknown"] == [], (written, said))


def call_limit(place, file):
    """Calls of servers count as calls of tools do."""
    for most, made in ((1, ["read"]), (2, ["read", "read"])):
        path = agent(place, '(def a (notes/read {:text "1"})) (tool/call {:server (str "notes") :tool "read" :args {:text "2"}}) (notes/read {:text "3"})',
                     '(return data/fail)', max_tool_calls=most)
        said = outcome(place, path, "--upstreams", file)
        counts.check(f"at most {most}", said.get("return", {}).get("reason") == "tool_call_limit_exceeded"
                     and f"its limit of {most} tool call" in said["return"]["message"] and place.taken("calls") == made, said)
    for most in "0", "1":
        done = place.run("eval", '(notes/read {:text "1"}) (notes/read {:text "2"})', "--upstreams", file, "--max-tool-calls", most)
        counts.check(f"eval: at most {most}", done.returncode == 1 and f"its limit of {most} tool call" in done.stderr
                     and place.taken("calls") == ["read"] * int(most), done)


CALLS = ['(notes/read {:text "a"})', '(map notes/read ["a" "b"])', '(pmap #(notes/read {:text %}) ["a" "b"])', '(pages notes/read {:text "a"})',
         '(pcalls #(notes/read {:text "a"}))', '(task "t" (notes/read {:text "a"}))', '(first (lazy-seq [(notes/read {:text "a"})]))',
         '(apply notes/read [{:text "a"}])', '(let [f notes/read] (f {:text "a"}))', '(try (notes/read {:text "a"}) (catch Exception e 1))',
         '(tool/call {:server "notes" :tool "read" :args {:text "a"}})', '(tool/resource {:server "notes" :uri "file:///x"})']


def no_calls(place, file):
    """A limit of 0 lets nothing out, however it is written and wherever the program runs."""
    for program in CALLS:
        done = place.run("eval", program, "--upstreams", file, "--max-tool-calls", "0")
        counts.check(f"none: {program}", done.returncode == 1 and "its limit of 0 tool calls" in done.stderr and not place.taken("calls"), done)
    place.config = ["--upstreams", file]
    for isolation in ("none", "auto"):
        with Mcp(place, "--isolation", isolation, "--max-tool-calls", "0") as mcp:
            for program in CALLS:
                said = mcp.eval(program)
                counts.check(f"none, {isolation}: {program}", said.get("isError") and "its limit of 0 tool calls" in json.dumps(said)
                             and not place.taken("calls"), said)
    place.config = []


def only_check(place, file):
    """`ptc check` lists what servers have, and calls none of it."""
    done = place.run("check", '(notes/write {:text "a"}) (inc (str (notes/read {:text "b"})))', "--upstreams", file)
    counts.check("a mistake", done.returncode == 1 and "inc: argument 1 is a string" in done.stderr and not place.taken("calls"), done)
    done = place.run("check", '(notes/write {:txt "a"})', "--upstreams", file)
    counts.check("arguments", done.returncode == 1 and "txt" in done.stderr and not place.taken("calls"), done)
    done = place.run("check", '(notes/wirte {:text "a"})', "--upstreams", file)
    counts.check("names", done.returncode == 1 and "did you mean notes/write" in done.stderr, done)
    done = place.run("check", '(notes/write {:text "a"})', "--upstreams", file, "--json")
    counts.check("right", done.returncode == 0 and json.loads(done.stdout) == {"ok": True, "findings": []} and not place.taken("calls"), done)


def prompts(place, file):
    """What the model reads."""
    path = agent(place, "(return 1)")
    out = place.run("run", path, "--upstreams", file, "--dry-run").stdout
    counts.check("content: in the first message", 0 < out.find("=== user ===") < out.find("notes/read") < out.find("# Mission"), out)
    path = agent(place, "x", output="text", ptc_transport="tool_call")
    out = place.run("run", path, "--upstreams", file, "--dry-run").stdout
    counts.check("combined: in the system prompt", 0 < out.find("notes/read") < out.find("=== user ==="), out)
    out = place.run("run", path, "--no-upstreams", "--dry-run").stdout
    counts.check("none", "notes/read" not in out and "servers" not in out, out)
    os.makedirs(place.path(".config/ptc"), exist_ok=True)
    place.write(".config/ptc/upstreams.json", json.loads(place.read("u.json")))
    counts.check("the usual file", "notes/read" in place.run("run", path, "--dry-run").stdout)
    os.remove(place.path(".config/ptc/upstreams.json"))
    text = agent(place, {"content": "hello"}, output="text")
    done = place.run("run", text, "--upstreams", file)
    counts.check("an agent without programs", done.returncode == 2 and "writes none" in done.stderr, done)
    for option in ("--jsonl", "--compile"):
        done = place.run("run", *([path, option, "x"] if option == "--compile" else [option]), "--upstreams", file)
        counts.check(option, done.returncode == 2 and "do not go with" in done.stderr, done)
    path = agent(place, "(return 1)")
    bad = place.write("bad.json", {"upstreams": {"x": {"comand": "y"}}})
    done = place.run("run", path, "--upstreams", bad)
    counts.check("a mistake in the file", done.returncode == 2 and "command" in done.stderr, done)
    said = outcome(place, path, "--upstreams", bad)
    counts.check("as an outcome", said["outcome"] == "invalid" and said["path"] == "--upstreams", said)


def failures(place):
    """A server that does not start, one that is too slow to be waited for; the others work."""
    up = {"f": faulty(place.home, "f"), "gone": {"command": "/no/such/program"}, "dies": faulty(place.home, "dies", "exit_at_start")}
    file = place.write("failing.json", {"upstreams": up})
    path = agent(place, '(def r (try (gone/x {}) (catch Exception e (:reason (ex-data e)))))',
                 '(return {:gone r :f (f/echo {:text "x"}) :dies (:reason (tool/call {:server "dies" :tool "echo" :args {}}))})')
    said = outcome(place, path, "--upstreams", file)
    counts.check("servers that do not start", said.get("return") == {"gone": "upstream_unavailable", "f": "x", "dies": "upstream_unavailable"}, said)
    done = place.run("run", path, "--upstreams", file, "--upstreams-strict")
    counts.check("strict", done.returncode == 1 and "gone" in done.stderr and "--upstreams-strict" in done.stderr, done)


def nested(place, file):
    """Agents that agents start, side by side, each with its own programs; their calls and effects are told with the others."""
    child = {"prompt": "Write {{text}}.", "signature": "(text :string) -> {done :string}",
             "llm": [block("(return {:done (:text (notes/write {:text data/text}))})")] * 3}
    top = '(return (mapv :done (pmap #(tool/writer {:text %}) ["a" "b" "c"])))'
    path = agent(place, top, tools={"writer": {"agent": child}})
    said = outcome(place, path, "--upstreams", file, "--allow", "notes")
    counts.check("children call upstreams", said.get("return") == ["a", "b", "c"] and len(said["upstream_calls"]) == 3, said)
    counts.check("their effects", names(said["upstream_effects"]["ran"]) == [("notes/write", 3)]
                 and sorted(c["id"] for c in said["upstream_calls"]) == [1, 2, 3], said)
    place.taken("calls")
    shown, status = talk(place, ["run", path, "--upstreams", file], [(ASK, b"once\n")] * 3)
    counts.check("children are asked about one by one", status == 0 and shown.count("wants to make 1 call") == 3
                 and place.taken("calls") == ["write"] * 3, shown)
    chain = place.write("second.json", {"prompt": "Add.", "signature": "(xs [:string]) -> {n :int}",
                                        "llm": [block('(return {:n (count (str (count data/xs) (:text (notes/read {:text "z"}))))})')]})
    first = agent(place, '(return {:xs [(:text (notes/read {:text "y"}))]})', signature="() -> {xs [:string]}")
    said = outcome(place, first, "--then", chain, "--upstreams", file)
    counts.check("a chain", said.get("return") == {"n": 2} and calls_of(said) == [(1, "read", "ok"), (2, "read", "ok")], said)
    place.taken("calls")


def terminal(place, file):
    """Whoever sits at the terminal is asked; the program is run again, and nothing is done twice."""
    program = '(return (str (:text (notes/read {:text "a"})) (:text (notes/write {:text "b"}))))'
    path = agent(place, program)
    shown, status = talk(place, ["run", path, "--upstreams", file], [(ASK, b"what\n"), (ASK, b"y\n")])
    counts.check("yes", status == 0 and "ab" in shown and 'destructive "notes"/"write" {"text":"b"}' in shown
                 and place.taken("calls") == ["read", "write"], shown)
    slow = {"content": f"```clojure\n{program}\n```", "sleep_ms": 400}
    shown, status = talk(place, ["run", agent(place, slow), "--upstreams", file], [(ASK, b"y\n")], term="xterm")
    question = shown[shown.index("The program wants"):shown.index("(c)?")]
    counts.check("the live line makes room", status == 0 and "turn 1" in shown and "turn" not in question
                 and place.taken("calls") == ["read", "write"], shown)
    path = agent(place, program, '(return "later")')
    shown, status = talk(place, ["run", path, "--upstreams", file], [(ASK, b"n\n")])
    counts.check("no is told to the model, which goes on", status == 0 and "later" in shown and place.taken("calls") == ["read"], shown)
    shown, status = talk(place, ["run", path, "--upstreams", file], [(ASK, b"c\n")])
    counts.check("cancel ends the agent", status == 1 and "cancelled" in shown and "later" not in shown
                 and place.taken("calls") == ["read"], shown)
    shown, status = talk(place, ["run", path, "--upstreams", file], [(ASK, b"\x03")])
    counts.check("so does Ctrl-C", status == 1 and "cancelled" in shown and place.taken("calls") == ["read"], shown)
    path = agent(place, '(task "r" (notes/read {:text "a"})) (return (:text (task "w" (notes/write {:text "b"}))))')
    journal = place.path("journal.json")
    shown, status = talk(place, ["run", path, "--upstreams", file, "--journal", journal], [(ASK, b"y\n")])
    counts.check("tasks do the same when run again", status == 0 and place.taken("calls") == ["read", "write"], shown)
    shown, status = talk(place, ["run", path, "--upstreams", file, "--journal", journal], [])
    counts.check("and are done then", status == 0 and place.taken("calls") == [], shown)
    os.remove(journal)
    path = agent(place, '(task "w" (notes/write {:text "a"})) (task "d" (notes/drop {:text "b"}))')
    shown, status = talk(place, ["run", path, "--upstreams", file, "--journal", journal, "--allow", "notes/write"], [(ASK, b"c\n")])
    counts.check("what was done before a cancel is in the journal", status == 1 and place.taken("calls") == ["write"]
                 and '"w"' in place.read("journal.json"), (shown, place.read("journal.json")))
    path = agent(place, program, '(return "not asked")', tools={"other": {"command": ["true"]}})
    shown, status = talk(place, ["run", path, "--upstreams", file], [])
    counts.check("not with tools that cannot be called again", status == 0 and "not asked" in shown and place.taken("calls") == [], shown)


def chat(place, file):
    """Messages; without an agent file a model that answers in text and may run programs."""
    replies = [{"tool_calls": [{"id": "1", "name": "lisp_eval", "args": {"program": '(notes/write {:text "hi"})'}}]}, {"content": "Written."},
               {"content": "Yes."}]
    model = "script:" + place.write("replies.jsonl", "".join(json.dumps(r) + "\n" for r in replies))
    done = subprocess.run([place.ptc, "chat", "--llm", model, "--upstreams", file, "--allow", "notes"], input="write hi\nsure?\n", text=True,
                          env=place.env, cwd=place.home, capture_output=True, timeout=WAIT, check=False)
    counts.check("a chat", done.returncode == 0 and done.stdout == "Written.\nYes.\n" and place.taken("calls") == ["write"], done)
    counts.check("what took effect, once", done.stderr.count("took effect: notes/write") == 1, done.stderr)
    path = agent(place, {"content": "x"}, output="text")
    done = place.run("chat", path, "--upstreams", file)
    counts.check("an agent without programs", done.returncode == 2 and "writes none" in done.stderr, done)


def secrets(place):
    """Credentials of upstreams are in no trace, whatever the server says."""
    up = {"f": faulty(place.home, "f", "echoes_credential", env={"TOKEN": "s3cr3t-of-the-server"})}
    file = place.write("secret.json", {"upstreams": up})
    path = agent(place, "(return (str (f/env {}) (f/echo {:text \"x\"})))")
    trace = place.path("trace.jsonl")
    done = place.run("run", path, "--upstreams", file, "--trace", trace, "--json", "--messages")
    counts.check("no secrets", "s3cr3t" not in done.stdout + done.stderr + place.read("trace.jsonl") and done.returncode == 0, done)


def described(kind):
    """The fields that docs/trace.md has for an event: those that are always there, and all."""
    row = re.search(rf"^\| `{re.escape(kind)}` \| `[^`]*` \| (.*) \|$", (ROOT / "docs/trace.md").read_text(encoding="utf-8"), flags=re.M)
    every = {"event", "id", "parent", "at_us"} | set(re.findall(r"`([a-z_]+)\??`", row.group(1)))
    return every - set(re.findall(r"`([a-z_]+)\?`", row.group(1))), every


def traces(place, file):
    """Each call is in the trace, inside its program and at its time, with what was asked and answered; outcomes have no texts."""
    path = agent(place, '(def a (notes/read {:text "1"}))',
                 '(def b [(notes/read {:text "2"}) (tool/call {:server (str "notes") :tool "write" :args {:text "w"}})])', '(return 1)')
    trace = place.path("calls.jsonl")
    said = outcome(place, path, "--upstreams", file, "--trace", trace)
    events = [json.loads(line) for line in place.read("calls.jsonl").splitlines()]
    begun = [e for e in events if e["event"] == "upstream.start"]
    ended = {e["id"]: e for e in events if e["event"] == "upstream.stop"}
    programs = {e["id"]: e for e in events if e["event"] == "program.start"}
    counts.check("traced calls", [(e["id"], e["parent"], e["server"], e["tool"], e["policy"]) for e in begun]
                 == [("r1.t1.u1", "r1.t1.p", "notes", "read", "allow"), ("r1.t2.u1", "r1.t2.p", "notes", "read", "allow"),
                     ("r1.t2.u2", "r1.t2.p", "notes", "write", "deny")], begun)
    counts.check("what was asked", '"text":"2"' in begun[1]["arguments"] and begun[1]["request_bytes"] > 0, begun)
    counts.check("how they ended", [ended[e["id"]]["status"] for e in begun] == ["ok", "ok", "error"]
                 and ended["r1.t2.u2"]["reason"] == "denied" and "result" in ended["r1.t1.u1"], ended)
    for event in [*begun, *ended.values()]:
        always, every = described(event["event"])
        counts.check(f"{event['id']}: as the page says", always <= set(event) <= every, sorted(set(event) ^ every))
    times = [(programs[e["parent"]]["at_us"], e["at_us"], ended[e["id"]]["at_us"]) for e in begun]
    counts.check("each within its program", all(a <= b <= c for a, b, c in times), times)
    counts.check("the outcome has no texts", len(said["upstream_calls"]) == 3
                 and all("arguments" not in c and "result" not in c for c in said["upstream_calls"]), said)
    shown = place.run("trace", "summary", trace)
    counts.check("and shown", shown.returncode == 0 and "notes/read" in shown.stdout, shown)
    place.taken("calls")


def unlisted(place):
    """A server that never lists its tools is waited for by one run, not by those after it, which say so."""
    file = place.write("silent.json", {"upstreams": {"silent": faulty(place.home, "silent", "never_lists"), "notes": place.server()}})
    path = agent(place, '(return (map :tool_count (tool/servers)))')

    def run():
        begun = time.monotonic()
        done = place.run("run", path, "--json", "--upstreams", file)
        return done, time.monotonic() - begun

    done, took = run()
    counts.check("the first run waits and says so", took >= 5 and "the tools of silent are not known" in done.stderr, (done, took))
    counts.check("the other server is known", '"return":[null,3]' in done.stdout.replace(" ", ""), done)
    later = [run() for _ in range(3)]
    counts.check("later runs do not wait", min(took for _, took in later) < 4, later)
    counts.check("they say why", all("it had not listed its tools after" in done.stderr and "ptc upstreams check silent" in done.stderr
                                     for done, _ in later), later)


def real(place):
    """The official server of files."""
    if not FILESYSTEM.exists():
        print("skipped: mcp-server-filesystem is not installed")
        return
    place.write("data/a.txt", "first\n")
    file = place.write("files.json", {"upstreams": {"files": {"command": str(FILESYSTEM), "args": [place.path("data")]}}})
    target = place.path("data", "b.txt")
    path = agent(place, f'(def a (:content (files/read_text_file {{:path "{place.path("data", "a.txt")}"}})))',
                 f'(files/write_file {{:path "{target}" :content (str a a)}})', '(return (count a))')
    said = outcome(place, path, "--upstreams", file)
    counts.check("a write is denied", said.get("return") == 6 and said["turns"][1]["reason"] == "tool_denied" and not os.path.exists(target), said)
    said = outcome(place, path, "--upstreams", file, "--allow", "files/write_file")
    counts.check("and allowed", said.get("return") == 6 and place.read("data/b.txt") == "first\nfirst\n", said)


def main(place):
    place.write("tools.json", [tool("read", annotations=READ), tool("write", annotations=DESTROY), tool("drop", annotations=DESTROY)])
    file = place.write("u.json", {"upstreams": {"notes": place.server()}})
    plain(place, file)
    after_failure(place, file)
    call_limit(place, file)
    no_calls(place, file)
    only_check(place, file)
    prompts(place, file)
    failures(place)
    nested(place, file)
    terminal(place, file)
    chat(place, file)
    traces(place, file)
    secrets(place)
    unlisted(place)
    real(place)
    counts.check("each call of the plain server was counted", lines_of(f"{place.home}/f.count") != [])
    return counts.done()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        sys.exit(main(Place(sys.argv[1], home)))
