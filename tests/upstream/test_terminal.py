#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_terminal.py PTC: whoever sits at the terminal is asked about calls of `ptc eval` and `ptc repl`, and what servers want to know;
without a terminal calls are denied and nothing is answered; dry runs make none."""
import json
import os
import subprocess
import sys
import tempfile
import time

from place import DESTROY, READ, WAIT, Counts, Place, tool
from terminals import Terminal

counts = Counts()


def talk(place, command, answers, term="dumb", cwd=None, early=b""):
    """Runs ptc at a terminal of its own and answers each question; what was shown, and the exit status.  `early`: typed before all."""
    t = Terminal([place.ptc, *command], {**place.env, "TERM": term}, cwd or place.home)
    os.write(t.fd, early)
    shown, left = b"", list(answers)
    while piece := t.read(WAIT):
        shown += piece
        if left and shown.rstrip().endswith(left[0][0]):
            os.write(t.fd, left.pop(0)[1])
    return shown.decode(errors="replace"), t.end()


# usage: asker.py HOME: the tool ask sends the form of HOME/form.json and gives what was answered.
ASKER = r'''
import json, os, sys
home = sys.argv[1]
def send(m):
    print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)
def answer(m, result):
    send({"id": m["id"], "result": result})
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        with open(os.path.join(home, "offered"), "w") as f:
            f.write(json.dumps(m["params"]["capabilities"]))
        answer(m, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}})
    elif m.get("method") == "tools/list":
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        answer(m, {"tools": [{"name": "ask", "inputSchema": schema, "annotations": {"readOnlyHint": True}},
                             {"name": "write", "inputSchema": schema, "annotations": {"destructiveHint": True}}]})
    elif m.get("method") == "tools/call" and m["params"]["name"] == "ask":
        call = m
        with open(os.path.join(home, "form.json")) as f:
            send({"id": "q", "method": "elicitation/create", "params": json.load(f)})
    elif m.get("method") == "tools/call":
        answer(m, {"content": [{"type": "text", "text": "written"}]})
    elif m.get("id") == "q":
        answer(call, {"content": [{"type": "text", "text": json.dumps(m.get("result", {"refused": True}))}]})
    elif "id" in m:
        send({"id": m["id"], "error": {"code": -32601, "message": "no"}})
'''

FIELDS = {"name": {"type": "string", "title": "Your\u001b[31m name", "minLength": 2, "maxLength": 10},
          "age": {"type": "integer", "description": "In years.", "minimum": 0, "maximum": 150},
          "colour": {"type": "string", "enum": ["red", "2", "blue"], "enumNames": ["Red", "Two"]},
          "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
          "sure": {"type": "boolean", "default": True},
          "tags": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"const": "c"}]}},
          "ratio": {"type": "number"}, "note": {"type": "string"}}


def forms(place):
    """What a server wants to know is asked field by field."""
    script = place.write("asker.py", ASKER)
    file = place.write("ask.json", {"upstreams": {"f": {"command": sys.executable, "args": [script, place.home]}}})

    def form(**schema):
        place.write("form.json", {"message": "Who are\u001b[2Jyou?", "requestedSchema": {"type": "object", **schema}})

    def ask(answers, program='(json/generate-string (f/ask {}))', command="eval"):
        return talk(place, [command, "--upstreams", file, program], [(before.encode(), typed.encode() + b"\n" if typed != "\x04" else b"\x04")
                                                                     for before, typed in answers])

    end = "):"
    form(properties=FIELDS, required=["name", "size"])
    shown, status = ask([(end, t) for t in ("", "x", "Ann", "old", "200", "42", "2", "3", "2", "", "3, a", "1.5", "")])
    counts.check("a form", status == 0 and r'{\"action\":\"accept\",\"content\":{' in shown, shown)
    for part in ('The server "f" asks: Who are', "an answer is required", "characters at least 2", "In years.", "at most 150",
                 "2. 2 - Two", "expected a number or a value from the list", "1. s - Small",
                 "Enter for true", "Enter leaves it out", "numbers or values from the list"):
        counts.check(f"the form tells: {part}", part in shown, shown)
    for part in ('name\\":\\"Ann', 'age\\":42', 'colour\\":\\"2', 'size\\":\\"l', 'sure\\":true', 'tags\\":[\\"c\\",\\"a\\"]', 'ratio\\":1.5'):
        counts.check(f"the answer has {part}", part in shown, shown)
    counts.check("what was left out", "note" not in shown.split("accept")[-1], shown)
    counts.check("nothing controls the terminal", "\x1b[31m" not in shown and "\x1b[2J" not in shown, shown)
    shown, status = ask([(end, "Ann"), (end, "\x04")])
    counts.check("Ctrl-D puts it away", status == 0 and 'cancel' in shown and "accept" not in shown, shown)
    shown, status = ask([(end, "x"), (end, ""), (end, "y")])
    counts.check("so do three wrong answers", status == 0 and "put away" in shown and "cancel" in shown, shown)
    begun = time.monotonic()
    shown, status = ask([(end, "\x03")])
    counts.check("Ctrl-C ends the run", status == 1 and time.monotonic() - begun < WAIT / 2 and "accept" not in shown and "cancel\\" not in shown, shown)
    form(properties={})
    for typed, action in (("y", "accept"), ("no", "decline"), ("\x04", "cancel")):
        shown, status = ask([(end, typed)])
        counts.check(f"without fields: {action}", status == 0 and f'action\\":\\"{action}' in shown, shown)
    form(properties={"token": {"type": "string"}})
    shown, status = ask([(end, "secret\na"), ("(c)?", "n")], '(f/ask {}) (f/write {:text "a"})')
    counts.check("lines that were pasted into a form approve nothing", status == 1 and "said no" in shown, shown)
    form(properties={f"f{i}": {"type": "string"} for i in range(51)})
    shown, status = ask([])
    counts.check("too many fields", status == 0 and "too many" in shown and "cancel" in shown, shown)
    form(properties={"x": True, "y": {"type": 7, "pattern": "(((", "enum": "no", "oneOf": 3, "default": {"a": 1}}}, required=[1, "x", {}])
    shown, status = ask([(end, "one"), (end, "")])
    counts.check("odd schemas", status == 0 and 'x\\":\\"one' in shown and 'y\\":{' in shown, shown)
    form(properties={"x": {"type": "string", "default": "a\nptc: all is well"}})
    shown, status = ask([(end, "")])
    counts.check("no line of its own", status == 0 and "Enter for a\\nptc: all is well" in shown and 'x\\":\\"a' in shown, shown)
    form(properties={"name": {"type": "string"}})
    shown, status = ask([(end, "Ann"), ("(c)?", "y")], '[(:name (:content (f/ask {}))) (f/write {:text "a"})]')
    counts.check("with an approval", status == 0 and '["Ann" "written"]' in shown, shown)
    agent = place.write("asks.json", {"prompt": "Ask.", "llm": [{"content": "```clojure\n(return (:name (:content (f/ask {}))))\n```"}]})
    shown, status = talk(place, ["run", agent, "--upstreams", file], [(end.encode(), b"Bob\n")])
    counts.check("of an agent", status == 0 and "Bob" in shown.split("leaves it out")[-1], shown)
    counts.check("offered at a terminal", json.loads(place.read("offered")) == {"elicitation": {"form": {}}}, place.read("offered"))
    out = place.run("eval", "--upstreams", file, "(f/ask {})")
    counts.check("nobody to ask", "refused" in out.stdout and place.read("offered") == "{}", out)


def dry_runs(place, file):
    """What a program would call, without a call that is no read."""
    program = '(println 1) (notes/read {:text "a"})\n(doseq [t ["b" "c"]] (notes/write {:text t}))'
    out = place.run("eval", "--upstreams", file, "--dry-run", "plan", program)
    counts.check("plan", out.returncode == 0 and "plan: 2 places" in out.stdout and not place.taken("calls")
                 and '\n1:14 notes/read (read, allow) once {"text":"a"}\n' in out.stdout
                 and "\n2:23 notes/write (destructive, ask) perhaps many times" in out.stdout, out)
    out = place.run("eval", "--upstreams", file, "--dry-run", "plan", "--format", "json", program)
    plan = json.loads(out.stdout)
    counts.check("plan as JSON", plan["dry_run"] == "plan" and plan["count"] == 2 and [c["line"] for c in plan["calls"]] == [1, 2]
                 and plan["calls"][1]["open"] == ["text"], plan)
    out = place.run("eval", "--upstreams", file, "--dry-run", "reads", program)
    counts.check("reads", out.returncode == 0 and "before 1 call:\n1. destructive \"notes\"/\"write\" {\"text\":\"b\"}" in out.stdout
                 and out.stderr == "1\n" and place.taken("calls") == ["read"], out)
    out = place.run("eval", "--upstreams", file, "--allow", "notes", "--dry-run", "reads", "--format", "json", program)
    counts.check("reads as JSON, whatever is allowed", json.loads(out.stdout)["calls"][0]["tool"] == "write"
                 and place.taken("calls") == ["read"], out)
    out = place.run("eval", "--upstreams", file, "--dry-run", "reads", '(notes/read {:text "a"})')
    counts.check("reads only", out.returncode == 0 and out.stdout == '{"text" "a"}\n' and place.taken("calls") == ["read"], out)
    out = place.run("eval", "--upstreams", file, "--dry-run", "plan", "(notes/wrote {})")
    counts.check("a mistake", out.returncode == 1 and "notes/write" in out.stderr, out)
    for wrong in (["--no-upstreams"], ["--upstreams", file, "--format", "csv"], ["--upstreams", file, "--dry-run", "all"],
                  ["--upstreams", file, "--dry-run", "reads", "--tools", '{"t": {"command": ["true"]}}']):
        out = place.run("eval", "--dry-run", "plan", *wrong, "1")
        counts.check(f"wrong: {wrong}", out.returncode == 2 and "dry-run" in out.stderr, out)


def questions(place):
    """Whatever a tool is called and however its arguments are padded: the question shows what is called."""
    open_schema = {"type": "object"}
    odd = 'read" {"a": 1}\n2. read "b\u202e\u200d'
    place.write("odd.json", [tool("put", annotations=DESTROY, schema=open_schema), tool(odd, annotations=DESTROY, schema=open_schema)])
    file = place.write("odd-u.json", {"upstreams": {"odd": {"command": sys.executable, "args": [place.script, place.home, "odd"]}}})

    def ask(program, *answers):
        return talk(place, ["eval", "--upstreams", file, program], [(b"(c)?", a) for a in answers])

    name = json.dumps(odd, ensure_ascii=False)
    shown, status = ask(f'(tool/call {{:server "odd" :tool {name} :args {{:v "a\\nb\u2066\u00a0\u3164"}}}})', b"y\n")
    counts.check("a name imitates nothing", status == 0 and r'1. destructive "odd"/"read\" {\"a\": 1}\n2. read \"b\u{202e}\u{200d}" '
                 r'{"v":"a\nb\u{2066}\u{a0}\u{3164}"}' in shown, shown)
    shown, status = ask('(odd/put {:a (apply str (concat ["begin"] (repeat 9000 " ") ["end"])) :list (range 1000) '
                        ':rows (concat (repeat 50 {:id 1}) [{:id 1 :sudo true}] (repeat 50 {:id 2})) :z "last"})', b"n\n")
    counts.has("padded arguments", shown, '{"a":"begin ', 'bytes left out] "', ' end"', '992 items left out], 999]',
               '93 items left out, with the keys "id", "sudo"]', '"z":"last"}')
    shown, status = ask('(pmap #(odd/put {:n %}) (range 40))', b"n\n")
    counts.check("a short question has no totals", "these are" not in shown, shown)
    shown, status = ask('(pmap #(odd/put {:n %, :text (apply str (repeat 200 "lines "))}) (range 40))', b"n\n")
    counts.check("a long question ends with what it is about", "\nthese are 40 destructive calls\r\nyes, once (y)" in shown, shown)
    shown, status = ask('(odd/put (into {} (map #(vector (str "key" %) %) (range 1000))))')
    counts.check("more keys than can be shown", status == 1 and "more keys than" in shown and "(c)?" not in shown
                 and place.taken("calls") == odd.split(), shown)


def entries(place):
    """An always belongs to what is started, not to a name."""
    for name in ("one", "two"):
        place.write(name + ".json", [tool("wipe", annotations=DESTROY)])
    wipe, other = '(db/wipe {:text "a"})', "it was allowed before, but not for this server"

    def file(name="one", **more):
        return place.write("db.json", {"upstreams": {"db": place.server(name, **more)}})

    def ask(path, *answers, cwd=None):
        return talk(place, ["eval", "--upstreams", path, wipe], [(b"(c)?", a) for a in answers], cwd=cwd)

    shown, status = ask(file(), b"always\n")
    counts.check("always for an entry", status == 0 and "allowed before" not in shown and place.taken("calls") == ["wipe"], shown)
    elsewhere = place.path("elsewhere")
    os.mkdir(elsewhere)
    for what, more, cwd in (("arguments", {"name": "two"}, None), ("variables", {"env": {"X": "1"}}, None),
                            ("directory", {"cwd": elsewhere}, None), ("working directory", {}, elsewhere)):
        path = file(**more)
        out = place.run("eval", "--upstreams", path, wipe, cwd=cwd)
        counts.check(f"other {what}: denied", out.returncode == 1 and not place.taken("calls"), out)
        shown, status = ask(path, b"n\n", cwd=cwd)
        counts.check(f"other {what}: asked, and why", status == 1 and other in shown and not place.taken("calls"), shown)
    shown, status = ask(file(env={"X": "1"}), b"always\n")
    shown, status = ask(file(env={"X": "2"}))
    counts.check("values of variables do not count", status == 0 and place.taken("calls") == ["wipe", "wipe"], shown)
    shown, status = ask(place.write("other.json", {"upstreams": {"db": place.server("one")}}))
    counts.check("nor does the file", status == 0 and place.taken("calls") == ["wipe"], shown)
    place.write("one.json", [tool("wipe", "Wipes everything", annotations=DESTROY)])
    place.run("upstreams", "check", "--upstreams", file())
    place.run("upstreams", "approve", "db", "--upstreams", file())
    shown, status = ask(file(), b"n\n")
    counts.check("another definition: asked, and why", status == 1 and "its definition has changed" in shown, shown)


def unkept(ptc):
    """An always that cannot be kept says so, and holds as long as it can."""
    with tempfile.TemporaryDirectory() as home:
        place = Place(ptc, home)
        place.write(".local/state", "not a directory")
        place.write("tools.json", [tool("write", annotations=DESTROY)])
        file = place.write("u.json", {"upstreams": {"notes": place.server()}})
        twice = '(notes/write {:text "a"}) (notes/write {:text "b"})'
        shown, status = talk(place, ["eval", "--upstreams", file, twice], [(b"(c)?", b"always\n")])
        counts.check("it could not be kept", status == 0 and "this could not be kept for later: " in shown and ".local/state" in shown
                     and shown.count("(c)?") == 1 and place.taken("calls") == ["write", "write"], shown)


def effects(place, file):
    """A program that fails after it has done something says what, and one that only read does not."""
    for program, said in (('(notes/write {:text "b"}) (notes/write {:text "c"}) (/ 1 0)', "effects: took effect: notes/write 2 times; run again: unsafe\n"),
                          ('(notes/read {:text "a"}) (/ 1 0)', ""), ('(notes/write {:text "b"})', "")):
        for words, text in ((["eval", program], ""), (["repl"], f"(do {program})\n")):
            out = subprocess.run([place.ptc, *words, "--upstreams", file, "--allow", "notes"], input=text, env=place.env, cwd=place.home,
                                 capture_output=True, text=True, timeout=WAIT, check=False)
            shown = "".join(line for line in out.stderr.splitlines(True) if line.startswith("effects: "))
            counts.check(f"effects: {words} {program}", shown == said and out.stderr.endswith(said), out.stderr)
            place.taken("calls")


def main(place):
    place.write("tools.json", [tool("read", annotations=READ), tool("write", annotations=DESTROY)])
    file = place.write("u.json", {"upstreams": {"notes": place.server()}})
    program = '(notes/read {:text "a"}) (notes/write {:text "b"})'
    ask = b"(c)?"

    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"what\n"), (ask, b"once\n")])
    counts.check("once", status == 0 and '"b"' in shown and 'destructive "notes"/"write" {"text":"b"}' in shown, shown)
    counts.check("once: each call once", place.taken("calls") == ["read", "write"])
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"n\n")])
    counts.check("no", status == 1 and "said no" in shown and place.taken("calls") == ["read"], shown)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"c\n")])
    counts.check("cancel", status == 1 and "approval" in shown and place.taken("calls") == ["read"], shown)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"\x04")])
    counts.check("end of input", status == 1 and place.taken("calls") == ["read"], shown)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"n\n")], early=b"y\ny\n")
    counts.check("a yes that was typed before the question", status == 1 and "said no" in shown and place.taken("calls") == ["read"], shown)
    out = place.run("eval", "--upstreams", file, program)
    counts.check("nobody to ask", out.returncode == 1 and '"write": "allow"' in out.stderr and not place.taken("calls"), out.stderr)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [(ask, b"always\n")])
    counts.check("always", status == 0 and place.taken("calls") == ["read", "write"], shown)
    shown, status = talk(place, ["eval", "--upstreams", file, program], [])
    counts.check("always: not asked", status == 0 and "wants" not in shown and place.taken("calls") == ["read", "write"], shown)
    out = place.run("eval", "--upstreams", file, program)
    counts.check("always: without a terminal", out.returncode == 0 and place.taken("calls") == ["read", "write"], out.stderr)
    place.write("tools.json", [tool("read", annotations=READ), tool("write", "Does something else", annotations=DESTROY)])
    out = place.run("eval", "--upstreams", file, program)
    counts.check("always: as it was defined", out.returncode == 1 and place.taken("calls") == ["read"], out.stderr)
    effects(place, file)
    questions(place)
    entries(place)
    unkept(place.ptc)
    dry_runs(place, file)
    forms(place)
    return counts.done()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        sys.exit(main(Place(sys.argv[1], home)))
