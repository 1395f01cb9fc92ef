#!/usr/bin/env python3
"""Mistakes found before a program runs, and the doors to --check and `ptc check`.  test_check.py PTC"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
TOOLS = {"orders": {"value": [{"id": 1, "total": 12}, {"id": 2, "total": 30}],
                    "signature": "(month :int) -> [{id :int, total :int}]"},
         "pay": {"echo": True, "read_only": False, "signature": "(id :string) -> {id :string}"}}
# Pays, then asks for a key that nothing has.
PAYS = '(do (tool/pay {:id "x"}) (sum-by :totl (tool/orders {:month 1})))'
# Pays, then does what always fails.
FAILS = '(do (tool/pay {:id "x"}) (inc (tool/orders {:month 1})))'


def run(*arguments, stdin="", cwd=None):
    done = subprocess.run([PTC, *arguments], input=stdin, capture_output=True, text=True, timeout=60, check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def batch(*lines, options=()):
    _, out, _ = run("eval", "--jsonl", *options, stdin="".join(json.dumps(line) + "\n" for line in lines))
    return [json.loads(line) for line in out.splitlines()]


def with_tools(*arguments):
    return run(*arguments, "--tools", json.dumps(TOOLS))


# ----------------------------------------------------------------------------------- the option

def test_eval():
    """The three words, in every command that runs one program."""
    for command in (["eval"], []):
        for words, status in (([], 1), (["error"], 1), (["warn"], 0), (["off"], 0)):
            got = with_tools(*command, *(["--check", *words] if words else []), PAYS)
            check(f"{command} {words}", got[0] == status, got)
            check(f"{command} {words}: what it says", ("error: there is no key :totl" in got[2]) == (status == 1), got)
    for word, phase in (("error", "check"), ("warn", "run"), ("off", "run")):
        a, = batch({"program": FAILS, "tools": TOOLS, "options": {"check": word}})
        check(f"{word}: phase", not a["ok"] and a["phase"] == phase and a["kind"] == "type_error", a)
        check(f"{word}: calls", len(a["tool_calls"]) == (0 if word == "error" else 2), a)
    got = with_tools("eval", "--check", "of", "1")
    check("no such word", got[0] == 2 and "--check is one of error|warn|off, not 'of'; did you mean off?" in got[2], got)


def test_repl():
    done = subprocess.run([PTC, "repl", "--check", "warn", "--tools", json.dumps(TOOLS)], input=PAYS + "\n", capture_output=True,
                          text=True, timeout=60, check=False)
    check("repl", done.stdout.startswith("0\n"), done)


def test_batch():
    line = {"program": PAYS, "tools": TOOLS}
    a = batch(line, {**line, "options": {"check": "warn"}}, {**line, "options": {"check": 1}}, {**line, "options": {"check": "no"}})
    check("as usual", not a[0]["ok"] and a[0]["kind"] == "unknown_key" and a[0]["phase"] == "check", a[0])
    check("warn", a[1]["ok"] and a[1]["warnings"][0]["kind"] == "unknown_key", a[1])
    for wrong in a[2:]:
        check("a word is wanted", wrong["kind"] == "args_error" and wrong["message"] == "options.check must be one of error|warn|off", wrong)
    a = batch(line, {**line, "options": {"check": "error"}}, {**line, "options": {"check": "off"}}, options=["--check", "warn"])
    check("lines may differ", [one["ok"] for one in a] == [True, False, True], a)


def test_phase():
    """What was found before, and what only the run saw; what the run says better it says."""
    both = "(do (count data/ordres) (sum-by :totl (map identity data/orders)))"
    a, b = batch({"program": both, "context": {"orders": [{"total": 1}]}},
                 {"program": "(if (tool/pay {:id \"x\"}) (:idd (tool/pay {:id \"x\"})) 1)", "tools": TOOLS, "options": {"check": "warn"}})
    phases = {w["kind"]: w["phase"] for w in a["warnings"]}
    check("both phases", phases == {"unknown_data": "check", "dropped_value": "check", "unknown_key": "run"}, a)
    check("a key that is looked up", [(w["kind"], w["phase"]) for w in b["warnings"]] == [("unknown_key", "check")], b)


def test_test_file():
    """In the header of a case; a file of a page says it with a word, too."""
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "t.ptct")
        path.write_text(";;@ a match session=s\n(def rows [{:total 1}])\n=> #'rows\n\n"
                        ";;@ b match session=s\n(inc rows)\n!! type_error 1:1\n\n"
                        ";;@ c match session=s check=off\n(inc rows)\nwarn> none\n!! type_error 1:1\n\n"
                        ";;@ d match session=s check=warn\n(try (inc rows) (finally 1))\nwarn> type_mismatch 1:6 \"inc: argument 1 is a list of maps, expected a number\" "
                        "(for each element use (map f coll), for one (first coll))\n!! type_error 1:6\n", encoding="utf-8")
        got = run("test", str(path))
        check("a word in a header", got[0] == 0, got)
        path.write_text(";;@ a match check=wran\n1\n=> 1\n", encoding="utf-8")
        got = run("test", str(path))
        check("no such word", got[0] != 0 and "check wants" in got[1] + got[2], got)


def says(program):
    return {"content": f"```clojure\n{program}\n```"}


AGENT = {"prompt": "Pay.", "signature": "() -> :any", "max_turns": 2, "tools": TOOLS,
         "llm": [says(f"(return {PAYS})"), says("(return 7)")]}


def answer_of(agent, *options):
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "agent.json")
        path.write_text(json.dumps(agent), encoding="utf-8")
        return run("run", *options, str(path))


def test_agent():
    """The file, and the option over it."""
    got = answer_of(AGENT)
    check("as usual", got[0] == 0 and got[1] == "7\n", got)
    got = answer_of({**AGENT, "check": "warn"})
    check("the file", got[0] == 0 and got[1] == "0\n", got)
    got = answer_of({**AGENT, "check": "warn"}, "--check", "error")
    check("the option wins", got[1] == "7\n", got)
    got = answer_of(AGENT, "--check", "off")
    check("off", got[1] == "0\n", got)
    got = answer_of({**AGENT, "check": "of"})
    check("no such word", got[0] == 2 and 'did you mean "off"?' in got[2], got)
    got = answer_of({"prompt": "Hi.", "output": "text", "check": "off", "llm": [{"content": "hello"}]})
    check("no programs", got[0] == 2 and "check" in got[2], got)
    top = {"prompt": "Ask.", "signature": "() -> :any", "tools": {"inner": {"agent": AGENT}}, "llm": [says("(return (tool/inner {}))")]}
    check("an agent inside", answer_of(top)[1] == "7\n", answer_of(top))
    check("an agent inside, the option", answer_of(top, "--check", "warn")[1] == "0\n", answer_of(top, "--check", "warn"))


def test_chat():
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "agent.json")
        agent = {**AGENT}
        agent["output"], agent["ptc_transport"] = "ptc_lisp", None
        path.write_text(json.dumps({k: v for k, v in agent.items() if k != "signature"}), encoding="utf-8")
        for word, answer in (("error", "7"), ("warn", "0")):
            got = run("chat", "--check", word, str(path), stdin="pay\n")
            check(f"chat {word}", answer in got[1].split(), got)


def test_mcp():
    """In the process itself and in workers."""
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "lisp_eval", "arguments": {"program": PAYS}}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                                          "clientInfo": {"name": "t", "version": "1"}}}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    stdin = "".join(json.dumps(m) + "\n" for m in (hello, ready, call))
    with tempfile.TemporaryDirectory() as place:
        pathlib.Path(place, "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
        for isolation in ("none", "auto"):
            for word, failed in (("error", True), ("warn", False)):
                _, out, err = run("mcp", "--isolation", isolation, "--check", word, "--tools", "@tools.json", "--no-upstreams",
                                  stdin=stdin, cwd=place)
                result = next((m["result"] for m in map(json.loads, out.splitlines()) if m.get("id") == 2), None)
                check(f"mcp {isolation} {word}", result and result.get("isError", False) == failed, (out, err))


# ---------------------------------------------------------------------------------- ptc check

def test_check():
    """Exit status, text and JSON; nothing runs."""
    got = with_tools("check", PAYS)
    check("text", got[0] == 1 and not got[1] and got[2].startswith("error: there is no key :totl"), got)
    got = with_tools("check", "(do (println 1) (tool/pay {:id \"x\"}))")
    check("right, and not run", got == (0, "", ""), got)
    warned = "(sum-by :totl (tool/orders {:month 1}))"
    got = with_tools("check", warned)
    check("a warning", got[0] == 0 and got[2].startswith("warning: there is no key :totl"), got)
    check("strict", with_tools("check", "--strict", warned)[0] == 1)
    got = with_tools("check", "--json", PAYS, warned, "(+ 1")
    told = json.loads(got[1])
    check("json", got[0] == 1 and not got[2] and told["ok"] is False, got)
    check("its findings", [(f["severity"], f["kind"], f["phase"]) for f in told["findings"]]
          == [("error", "unknown_key", "check"), ("warning", "unknown_key", "check"), ("error", "parse_error", "parse")], told)
    check("its members", set(told["findings"][0]) == {"kind", "severity", "message", "hint", "line", "column", "phase"}, told)
    got = with_tools("check", "--json", "--strict", "1")
    check("json of nothing", got[:2] == (0, '{"ok":true,"findings":[]}\n'), got)
    check("json, strict", json.loads(with_tools("check", "--json", "--strict", warned)[1])["ok"] is False)


def test_check_files():
    with tempfile.TemporaryDirectory() as place:
        for name, text in (("a.clj", "#!/usr/bin/env ptc\n(count rows)\n(inc rows)\n"), ("b.clj", "(+ 1 2)"), ("t.json", json.dumps(TOOLS))):
            pathlib.Path(place, name).write_text(text, encoding="utf-8")
        got = run("check", "--context", '{"rows": [1, 2]}', "a.clj", "b.clj", cwd=place)
        check("files", got[0] == 1 and " --> a.clj, line 3, column 1" in got[2] and "b.clj" not in got[2], got)
        got = run("check", "--tools", "@t.json", "--json", "b.clj", "-", stdin=PAYS, cwd=place)
        check("standard input", got[0] == 1 and "file" not in json.loads(got[1])["findings"][0], got)
        got = run("check", "--json", "--context", '{"rows": [1, 2]}', "a.clj", cwd=place)
        check("file of a finding", [f["file"] for f in json.loads(got[1])["findings"] if f["severity"] == "error"] == ["a.clj"], got)
        got = run("check", "c.clj", cwd=place)
        check("no such file", got[0] == 2 and "there is no such file" in got[2], got)


def test_check_answer():
    for wanted in (("--signature", "{n :int}"), ("--output-schema", '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}')):
        got = run("check", *wanted, '{:n "x"}')
        check(f"{wanted[0]}: answer", got[0] == 1 and "the answer is not what was asked for" in got[2], got)
        check(f"{wanted[0]}: right", run("check", *wanted, "{:n 1}")[0] == 0)
    for wrong in (["--signature", "{", "1"], ["--output-schema", "{", "1"], ["--signature", ":int", "--output-schema", "{}", "1"], [],
                  ["--context", "[1]", "1"], ["--tools", "@nowhere.json", "1"], ["--colour", "1"]):
        got = run("check", *wrong)
        check(f"usage {wrong}", got[0] == 2 and got[2], got)


def test_check_hostile():
    """Large programs end within the bounds; the time limit and the size are told."""
    for program in ("(" * 100000, "[" + "(inc nil) " * 1000 + "]", "(defn f [x] (f x)) (f 1)", "(loop [x 1] (recur [x]))",
                    "(let [" + " ".join(f"x{i} [x{i - 1} x{i - 1}]" for i in range(1, 500)).replace("x0", "1") + "] x499)"):
        got = run("check", "-", stdin=program)
        check(f"hostile: {program[:20]}", got[0] in (0, 1), got)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
sys.exit(finish())
