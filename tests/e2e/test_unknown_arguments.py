#!/usr/bin/env python3
"""Arguments that a tool does not have: in programs, of models, in calls of other servers.  test_unknown_arguments.py PTC"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
ADD = "(title :string, priority :string?, who {name :string, mail :string?}?) -> :any"
TOOLS = {
    "add": {"echo": True, "signature": ADD, "read_only": False},
    "open": {"echo": True, "signature": ADD, "extra": True},
    "none": {"value": 1, "signature": "() -> :int"},
    "any": {"echo": True, "signature": ":any"},
    "bare": {"echo": True},
    "hyphen": {"echo": True, "signature": "(per-page :int, page_token :string?) -> :any"},
    "find": {"echo": True, "signature": "(text :string, limit :int?) -> :any", "cache": True},
}

# program, what the message has (None: it runs), what the answer is
CASES = [
    ('(tool/add {:title "a"})', None, {"title": "a"}),
    ('(tool/add {:title "a" :prio "urgent"})', "tool/add: prio: unexpected field; did you mean priority? There are title, priority, who", None),
    ('(tool/add :title "a" :colour 1)', "colour: unexpected field; there are title, priority, who", None),
    ('(tool/add {:title "a" :colour nil})', "colour: unexpected field", None),
    ('(tool/add {:title "a" :who {:name "b" :nme 1}})', "who.nme: unexpected field; did you mean name? There are name, mail", None),
    ('(tool/add {:title "a" :b 1 :c 2})', "b: unexpected field; there are title, priority, who; c: unexpected field", None),
    ('(tool/find {:txt "Halo"})', 'text: missing, expected string; there is "txt"; txt: unexpected field; did you mean text?', None),
    ('(tool/open {:title "a" :prio 1 :who {:name :b :nme 1}})', None, {"title": "a", "prio": 1, "who": {"name": "b", "nme": 1}}),
    ('(tool/none)', None, 1),
    ('(tool/none {})', None, 1),
    ('(tool/none {:a 1})', "a: unexpected field; there are none", None),
    ('(tool/any {:a 1})', None, {"a": 1}),
    ('(tool/bare {:a 1})', None, {"a": 1}),
    ('(tool/hyphen {:per_page 1 "page-token" "x"})', None, {"per_page": 1, "page_token": "x"}),
    ('(tool/hyphen {:per-page 1 :page-tokn "x"})', "tokn: unexpected field; did you mean page_token? There are per-page, page_token", None),
    ('(tool/find "x")', None, {"text": "x"}),
    ('(pmap (fn [i] (tool/find {:text (str i) :limt i})) [1 2 3])', "limt: unexpected field; did you mean limit?", None),
    ('(try (tool/add {:title "a" :prio 1}) (catch Exception e (tool/add {:title "b"})))', None, {"title": "b"}),
    ('(pmap #(try (tool/add {:title "a" % 1}) (catch Exception e :no)) [:priority :prio])', None, ["no", "no"]),
]


def run_lines(*lines, options=()):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([PTC, "eval", "--jsonl", *options], input=text, capture_output=True, text=True, timeout=120, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_programs():
    answers = run_lines(*({"program": program, "tools": TOOLS} for program, _, _ in CASES))
    for (program, message, value), a in zip(CASES, answers):
        if message:
            check(program, not a["ok"] and a["kind"] == "invalid_tool_args" and message in a["message"] and not a.get("tool_calls"), a)
        else:
            check(program, a["ok"] and a["json"] == value, a)


def test_no_call():
    """A call that is refused is none: not for the limit, the cache or the record."""
    refused = '(try (tool/add {:title "a" :prio 1}) (catch Exception e nil))'
    a, = run_lines({"program": f'(do {refused} {refused} (tool/add {{:title "b"}}))', "tools": TOOLS, "limits": {"max_tool_calls": 1}})
    check("limit", a["ok"] and len(a["tool_calls"]) == 1, a)
    a, = run_lines({"program": '(do (tool/find {:text "a"}) (tool/find (zipmap [:text (keyword "limt")] ["a" 1])))', "tools": TOOLS})
    check("cache", not a["ok"] and len(a["tool_calls"]) == 1, a)


# program, the longest message that is fine
HOSTILE = [
    ('(tool/add (assoc (zipmap (map str (range 100000)) (range)) :title "x"))', "0: unexpected field"),
    ('(tool/add {:title "x" :who (assoc (zipmap (map str (range 100000)) (range)) :name "x")})', "who.0: unexpected field"),
    ('(tool/add (assoc {:title "x"} (apply str (repeat 1000000 "k")) 1))', 'kkk..."]: unexpected field'),
    ('(tool/add (let [k (apply str (repeat 1000000 "k"))] (into {:title "x"} (map (fn [i] [(str i k) 1]) (range 8)))))', 'kkk..."]: unexpected field'),
    ('(tool/add {:title "x" "a\\u001b[31mb\\u009bc\\u202e" 1})', r'["a\\u{1b}[31mb\\u{9b}c\\u{202e}"]: unexpected field'),
    ('(tool/add {"ti\\u001btle" "x"})', r'there is "ti\u{1b}tle"'),
]


def test_hostile():
    wide = {"wide": {"echo": True, "signature": "(" + ", ".join(f"parameter{i} :int?" for i in range(1000)) + ") -> :any"}}
    many = '(tool/wide (zipmap (map (fn [i] (str "paramete" i)) (range 2000)) (range)))'
    for program, message in [*HOSTILE, (many, "unexpected field; did you mean parameter0?")]:
        a, = run_lines({"program": program, "tools": {**TOOLS, **wide}}, options=["--memory-mb", "200", "--timeout-ms", "60000"])
        text = a["message"] + a.get("hint", "")
        check(program, not a["ok"] and message in a["message"] and len(text) < 1500 and text.isprintable(), a)
    a, = run_lines({"program": many.replace("2000", "100000"), "tools": wide}, options=["--memory-mb", "200", "--timeout-ms", "40"])
    check("work is charged", not a["ok"] and a["reason"] == "timeout", a)


# ----------------------------------------------------------------------------------- models

def native(tool, args):
    reply = {"content": None, "tool_calls": [{"id": "a", "name": tool, "args": args}]}
    return {"agent": {"prompt": "Do it.", "output": "text", "tools": TOOLS}, "llm": [reply, {"content": "done"}], "run": {"full_requests": True}}


def test_models():
    lines = [native("add", {"title": "a", "prio": "urgent"}), native("add", {"title": "a", "who": {"name": "b", "x": 1}}),
             native("open", {"title": "a", "prio": 1}), native("none", {"a": 1}), native("bare", {"a": 1})]
    wanted = ["did you mean priority? There are title, priority, who", "who.x: unexpected field", None, "unexpected field; there are none", None]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([PTC, "run", "--jsonl"], input=text, capture_output=True, text=True, timeout=60, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for message, a in zip(wanted, answers):
        request = a["requests"][-1]
        said = next(m["content"] for m in request["messages"] if m["role"] == "tool")
        check("what the model reads", (message in said and "args_error" in said) if message else "unexpected" not in said, said)
        check("whether it ran", bool(a.get("tool_runs")) == (message is None), a.get("tool_runs"))


# ---------------------------------------------------------------------------------- workers

def test_workers(home):
    """`ptc mcp` checks arguments in a worker, which must know about "extra"."""
    with open(home + "/tools.json", "w", encoding="utf-8") as file:
        json.dump({"add": TOOLS["add"], "open": {"lisp": "(fn [m] m)", "signature": ADD, "extra": True}}, file)
    lines = [{"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}]
    for program in ['(tool/add {:title "a" :prio 1})', '(tool/open {:title "a" :prio 1})']:
        lines.append({"method": "tools/call", "params": {"name": "lisp_eval", "arguments": {"program": program}}})
    with subprocess.Popen([PTC, "mcp", "--tools", f"@{home}/tools.json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={"HOME": home, "PATH": os.environ["PATH"]}) as server:
        answers = []
        for i, line in enumerate(lines):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": i, **line}) + "\n")
            server.stdin.flush()
            answers.append(server.stdout.readline())
        server.stdin.close()
    check("a worker refuses", "prio: unexpected field; did you mean priority?" in answers[1], answers)
    check("a worker takes more", "unexpected" not in answers[2] and "prio" in answers[2], answers)


# ---------------------------------------------------------------------------------- servers

SERVER = """import json, sys
properties = {"title": {"type": "string"}, "priority": {"type": "string"}, "\\u001bcol": {"type": "string"}}
schema = {"type": "object", "properties": properties, "required": ["title"]}
tools = [{"name": "closed", "inputSchema": {**schema, "additionalProperties": False}}, {"name": "loose", "inputSchema": schema},
         {"name": "wide", "inputSchema": {**schema, "additionalProperties": True}},
         {"name": "none", "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False}}]
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    if m["method"] == "tools/call":
        with open(sys.argv[1], "a") as file:
            file.write(m["params"]["name"] + " ")
    answer = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
              "tools/list": {"tools": [{**t, "annotations": {"readOnlyHint": True}} for t in tools]},
              "tools/call": {"content": [{"type": "text", "text": json.dumps(m.get("params", {}).get("arguments"))}]}}.get(m["method"])
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **({"result": answer} if answer else {"error": {"code": -32601, "message": "no"}})}), flush=True)
"""

# arguments are in a local, so that they are looked at when the call is made
SERVER_CASES = [
    ('(let [m {:title "a"}] (desk/closed m))', None, "closed"),
    ('(let [m {:title "a" :prio "x"}] (desk/closed m))', "prio: the tool has no such argument; there are title, priority", ""),
    ('(desk/closed {:title "a" :prio "x"})', "did you mean priority?", ""),
    ('(let [m {:title "a" :colour "x"}] (desk/closed m))', "colour: the tool has no such argument; there are title, priority", ""),
    ('(let [m {:title "a" "c\\u001bol" "x"}] (desk/closed m))', r"\u{1b}col", ""),
    ('(let [m {:a 1}] (desk/none m))', "a: the tool has no such argument; there are none", ""),
    ('(let [m {:title "a" :colour "x"}] (desk/loose m))', None, "loose"),
    ('(let [m {:title "a" :prio "x"}] (desk/wide m))', None, "wide"),
    ('(let [m (assoc (zipmap (map str (range 50000)) (range)) :title "x")] (desk/closed m))', "(and more)", ""),
    ('(map (fn [k] (try (desk/closed {:title "a" k "x"}) (catch Exception e nil))) [:colour :prio :priority])', None, "closed"),
    ('(map (fn [k] (:reason (tool/call {:server "desk" :tool "closed" :args {:title "a" k "x"}}))) [:colour :priority])', None, "closed"),
    ('(pmap (fn [k] (desk/closed {:title "a" k "x"})) [:colour :colour])', "colour: the tool has no such argument", ""),
]


def test_servers(home):
    count, config = home + "/calls", home + "/upstreams.json"
    with open(home + "/server.py", "w", encoding="utf-8") as file:
        file.write(SERVER)
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"upstreams": {"desk": {"command": sys.executable, "args": [home + "/server.py", count]}}}, file)
    for program, message, calls in SERVER_CASES:
        open(count, "w", encoding="utf-8").close()
        done = subprocess.run([PTC, "eval", "--upstreams", config, "--max-tool-calls", "1", "--memory-mb", "200", program], capture_output=True, text=True,
                              timeout=60, check=False, env={"HOME": home, "PATH": os.environ["PATH"]})
        with open(count, encoding="utf-8") as file:
            called = file.read().strip()
        said = done.stderr.replace("\n", " ")
        if message:
            ok = done.returncode == 1 and message in said and len(said) < 1500 and said.isprintable()
        else:
            ok = done.returncode == 0
        check(program, ok and called == calls, (done, called))


test_programs()
test_no_call()
test_hostile()
test_models()
with tempfile.TemporaryDirectory() as directory:
    test_workers(directory)
    test_servers(directory)
sys.exit(finish())
