#!/usr/bin/env python3
"""`ptc run` from outside: what it says of a failed run, limits of chains, secrets, records, files that cannot be written,
signals.  test_run.py PTC"""
import base64
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
SECRET = "tk+live/0123456789abcdef=="


def block(program):
    return {"content": f"```clojure\n{program}\n```"}


def write(home, name, agent):
    path = os.path.join(home, name)
    pathlib.Path(path).write_text(json.dumps(agent), encoding="utf-8")
    return path


def environment(home, **more):
    return {"HOME": home, "PATH": os.environ["PATH"], **more}


def run(home, agent, *options, prefix=(), **more):
    path = agent if isinstance(agent, str) else write(home, "agent.json", agent)
    return subprocess.run([*prefix, PTC, "run", path, *options], capture_output=True, text=True, timeout=60, check=False, cwd=home,
                          env=environment(home, **more))


def outcome(home, agent, *options, **more):
    done = run(home, agent, "--json", *options, **more)
    return json.loads(done.stdout) if done.stdout else {"stderr": done.stderr}


def batch(home, *lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([PTC, "run", "--jsonl"], input=text, capture_output=True, text=True, timeout=60, check=False,
                          env=environment(home))
    return [json.loads(line) for line in done.stdout.splitlines()]


# ---------------------------------------------------------------------------------- verbose

def test_verbose(home):
    key = "sk-or-v1-0123456789abcdef"
    tools = {"key": {"command": ["sh", "-c", 'cat >/dev/null; echo "\\"$OPENROUTER_API_KEY\\""'], "env": ["OPENROUTER_API_KEY"],
                     "signature": "() -> :string"},
             "twice": {"agent": {"prompt": "Double {{n}}", "signature": "(n :int) -> :int",
                                 "llm": [block("(return (* 2 data/n))")] * 2}},
             "n": {"value": 1, "signature": "() -> :int"}}
    agent = {"prompt": "Go.", "tools": tools, "llm": [
        block('(println (str/join "\\n" (range 5000))) (println "\\u001b[31m") (tool/key {})'),
        block('(println (str (subs (apply str (repeat 300 "0123456789")) 0 1990) (tool/key {})))'),
        block("(dotimes [_ 30] (tool/n {}))"),
        {"error": {"http": 400}}]}
    done = run(home, agent, "--verbose", OPENROUTER_API_KEY=key)
    said = done.stderr.partition("ptc run: ")[0]
    check("the answer alone is on standard output", done.stdout == "", done)
    for line in ("-- turn 1: asking script\n-- turn 1: program\n(println (str/join", '-- turn 1: call key {} => "[secret]"\n',
                 "-- turn 1: printed\n0\n1\n", "\n23\n... (23895 bytes in all)\n", '-- turn 1: => "[secret]"\n',
                 "-- turn 3: ... 30 calls in all\n", "-- turn 4: no reply: HTTP 400"):
        check(f"--verbose: {line!r}", line in said, said)
    check("no part of a secret is left where a text is cut", not any(key[:n] in said for n in (8, 12)), said)
    check("one screenful", max(len(part.splitlines()) for part in said.split("-- turn")) < 30, said)
    agent["llm"] = [block("(return (+ (tool/twice {:n 4}) (inc nil)))"), block("(return (tool/twice {:n 4}))")]
    done = run(home, agent, "-v")
    check("agents inside are named", done.stdout == "8\n" and "-- twice, turn 1: program\n(return (* 2 data/n))\n-- twice, turn 1: => 8\n" in
          done.stderr and "-- turn 1: !! type_error: " in done.stderr, done)
    text = {"prompt": "Go.", "output": "text", "tools": {"n": tools["n"]},
            "llm": [{"content": "", "tool_calls": [{"id": "1", "name": "n", "args": {}}]}, {"content": "one"}]}
    done = run(home, text, "-v")
    check("native calls", done.stdout == "one\n" and "-- turn 1: call n {} => 1\n" in done.stderr and '=> "one"\n' in done.stderr, done)


# -------------------------------------------------------------------------------- fallbacks

def test_fallback(home):
    def down(http=500):
        return {"error": {"http": http}}
    agent = {"prompt": "Go.", "llm": [block("(def x 20)"), down()], "llm_retry": {"max_attempts": 1},
             "llm_fallback": [[down(401)], [block("(def y (inc x))"), block("(return (* 2 y))")], [block("(return 0)")]]}
    trace = os.path.join(home, "fallback.jsonl")
    got = outcome(home, agent, "--trace", trace)
    check("the next model goes on", got.get("return") == 42 and len(got["turns"]) == 3 and got["usage"]["llm_requests"] == 5 and
          got["usage"]["llm_errors"] == 2, got)
    events = [json.loads(line) for line in pathlib.Path(trace).read_text(encoding="utf-8").splitlines()]
    ids = [e["id"] for e in events if e["event"] == "llm.start"]
    check("each request has an id of its own", len(ids) == 5 == len(set(ids)), ids)
    agent["llm_fallback"] = [[down(401)], [down(503)]]
    got = outcome(home, agent)
    check("the last failure is the run's", got.get("reason") == "llm_error" and got["cause"] == "server_error" and
          got["message"] == "HTTP 503", got)
    agent |= {"llm": [down()] * 9, "llm_fallback": [[down(), block("(return 7)")]], "llm_retry": {"max_attempts": 2, "base_delay": 1}}
    got = outcome(home, agent)
    check("each is asked as often as one", got.get("return") == 7 and got["usage"]["llm_requests"] == 4, got)
    write(home, "one.jsonl", down(401))
    got = outcome(home, agent, "--llm", f"script:{home}/one.jsonl")
    check("--llm stands alone", got.get("reason") == "llm_error" and got["usage"]["llm_requests"] == 1, got)
    agent["llm_fallback"] = ["no-such-model"]
    done = run(home, agent)
    check("one that is not there", done.returncode == 2 and "llm_fallback: " in done.stderr and "no-such-model" in done.stderr, done)


# ------------------------------------------------------------------------------------- cost

def test_cost(home):
    agent = {"prompt": "Say hello.", "output": "text"}
    path = os.path.join(home, "costs.jsonl")

    def cost(price, tokens, *options, llm=f"script:{path}"):
        write(home, "costs.jsonl", {"content": "Hello.", "tokens": tokens})
        models = write(home, "prices.json", {"prices": {f"script:{path}": price}})
        got = outcome(home, agent, "--llm", llm, "--models", models, *options)
        return got["usage"].get("cost_usd", 0) if "usage" in got else got
    price = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75, "most_input": 1000}
    for name, tokens, want in (("input and output", {"input": 100, "output": 10}, 0.00045),
                               ("cached tokens", {"input": 100, "output": 0, "cache_read": 50, "cache_creation": 20}, 0.00018),
                               ("more than most_input", {"input": 1001, "output": 0}, 0), ("none", {"input": 0, "output": 0}, 0),
                               ("more cached than sent", {"input": 10, "output": 0, "cache_read": 11}, 0)):
        check(f"the cost of {name}", cost(price, tokens) == want, cost(price, tokens))
    check("a kind without a price is not guessed", cost({"input": 3, "output": 15}, {"input": 9, "output": 1, "cache_read": 1}) == 0, "")
    most = cost({"input": 1000, "output": 1000}, {"input": 10 ** 12, "output": 10 ** 12})
    check("the largest sum", most == 2000000, most)
    record = os.path.join(home, "costs.record")
    priced = cost(price, {"input": 100, "output": 10}, "--record", record)
    models = os.path.join(home, "prices.json")
    replayed = outcome(home, agent, "--llm", f"replay:{record}", "--models", models)
    check("a record costs what its model does", priced == 0.00045 == replayed["usage"].get("cost_usd"), (priced, replayed))
    for row in ({"input": -1, "output": 1}, {"input": 1}, {"input": 1, "output": "1"}, {"input": 1001, "output": 1}, 3,
                {"input": 1, "output": 1, "per": 2}, {"input": 1, "output": 1, "most_input": 0}):
        got = cost(row, {"input": 1, "output": 1})
        check(f"refused: {row}", f"prices.script:{path}: " in str(got), got)
    models = write(home, "list.json", {"prices": []})
    check("prices are an object", '"prices" must be an object' in run(home, agent, "--models", models).stderr, "")
    trace = os.path.join(home, "cost.trace")
    cost(price, {"input": 100, "output": 10}, "--trace", trace)
    events = [json.loads(line) for line in pathlib.Path(trace).read_text(encoding="utf-8").splitlines()]
    got = {e["event"]: e["tokens"].get("cost_usd") for e in events if "tokens" in e}
    check("traces have it", got == {"llm.stop": 0.00045, "turn.stop": 0.00045, "run.stop": 0.00045}, got)
    known = json.loads((pathlib.Path(__file__).parents[2] / "src/llm/models.json").read_text(encoding="utf-8"))
    names = {f"{provider}:{model}" for row in known["aliases"].values() for provider, model in row.items()}
    check("built-in prices are of built-in models", set(known["prices"]) <= names, set(known["prices"]) - names)


# ---------------------------------------------------------------------------------- effects

BOOK = {"command": ["sh", "-c", "cat >/dev/null; echo 7"], "signature": "() -> :int"}


def booking(*programs, **fields):
    return {"prompt": "Book.", "max_turns": len(programs), "tools": {"book": BOOK}, "llm": [block(p) for p in programs],
            **fields}


def test_safe_to_retry(home):
    """Calls in tasks that are done are not made again, unless the task is forgotten or a child's journal is lost."""
    rows = [(True, ['(task "b" (tool/book))', "(fail 1)"]),
            (True, ['(task "b" (count (pmap (fn [_] (tool/book)) [1 2 3])))', "(fail 1)"]),
            (False, ["(tool/book)", "(fail 1)"]),
            (False, ['(task "b" (tool/book)) (tool/book)', "(fail 1)"]),
            (False, ['(task "b" (do (tool/book) (fail 1)))']),
            (False, ['(task "b" (tool/book))', '(task-reset "b") (fail 1)']),
            (True, ['(task "b" (tool/book))', '(task-reset "c") (fail 1)'])]
    for safe, programs in rows:
        effects = outcome(home, booking(*programs)).get("effects", {})
        check(f"safe to retry: {programs}", effects.get("safe_to_retry") is safe, effects)
    child = booking('(task "b" (tool/book)) (fail 2)', signature="() -> :int")
    parent = {"prompt": "Ask.", "tools": {"child": {"agent": child}}, "llm": [block("(tool/child {})"), block("(fail 1)")]}
    effects = outcome(home, parent).get("effects", {})
    check("safe to retry: the journal of a child is gone", effects.get("safe_to_retry") is False, effects)


# ----------------------------------------------------------------------------------- limits

def test_failed_child(home):
    """Of an agent that failed after it had written nobody knows what it did; of one that had not there is nothing to say."""
    for program, known in (("(tool/book) (fail :no)", "may have"), ("(fail :no)", None)):
        kid = {"agent": {"prompt": "Book.", "signature": "() -> :int", "tools": {"book": BOOK}, "llm": [block(program)]}}
        got = outcome(home, {"prompt": "Do.", "tools": {"kid": kid}, "llm": [block("(tool/kid)"), block("(return (:unknown data/fail))")]})
        check(f"a child: {program}", ("it may have taken effect" in got["turns"][0]["message"]) == bool(known), got["turns"][0])
        check(f"a child: {program}: data/fail", got["return"] == ([{"tool": "kid", "args": {}}] if known else []), got)


def test_chain_tokens(home):
    def link(answer):
        return {"prompt": "p", "signature": "(n :int?) -> {n :int}",
                "llm": [{**block(f"(return {{:n {answer}}})"), "tokens": {"input": 40, "output": 10}}]}
    second = write(home, "second.json", link(2))
    enough = outcome(home, link(1), "--then", second, "--token-limit", "100")
    check("a chain within its tokens", enough.get("return") == {"n": 2}, enough)
    over = outcome(home, link(1), "--then", second, "--token-limit", "99")
    check("the tokens of the first count", over.get("reason") == "budget_callback_exceeded" and
          over["chain"][0]["return"] == {"n": 1} and over["usage"]["total_tokens"] == 50, over)


def test_context_memory(home):
    """A context whose values take more memory than a context may have, though its text is short enough."""
    agent = {"prompt": "p", "llm": [block("1")]}
    pathlib.Path(home, "numbers.json").write_text('{"a":[' + "1," * 9_000_000 + "1]}", encoding="utf-8")
    done = run(home, agent, "--context", "@numbers.json")
    check("a context beyond its memory", done.returncode == 1 and "memory" in done.stderr, done)
    done = run(home, agent, "--context", "@numbers.json", "--json")
    check("a context beyond its memory, as JSON", done.returncode == 1 and
          json.loads(done.stdout or "{}").get("reason") == "no_memory", done)
    agent["llm"] = [block("(return (count (str data/a)))")]
    pathlib.Path(home, "text.json").write_text('{"a":"' + "x" * 60_000_000 + '"}', encoding="utf-8")
    for most in range(90_000_000, 150_000_000, 10_000_000):
        done = run(home, agent, "--context", "@text.json",
                   prefix=["sh", "-c", f'ulimit -v {most // 1000} && exec "$@"', "sh"])
        check(f"a context without memory, {most}", done.stdout in ("", "60000000\n") and (done.stdout or done.returncode), done)


# -------------------------------------------------------------------------------- refusals

def test_words(home):
    tool = {"prompt": "p", "tools": {"t": {"command": ["ls"]}, "u": {"http": {"url": "https://example.org"}}}}
    got, probes, named = batch(home, {"id": 1, "agent": tool, "llm": []}, {"agent": {"prompt": "p"}, "probes": [], "llm": []},
                               {"agent": {"prompt": "p", "tools": {"t": {"value": 1, "cache": 1}}}, "llm": []})
    check("a batch names its own option", got["message"] == "command tools are not allowed here; --allow-tools allows them" and
          got["path"] == "tools.t.command", got)
    check("no other fields", probes["outcome"] == "invalid" and probes["path"] == "probes", probes)
    done = run(home, {"prompt": "p", "signature": "() -> {n :int}", "max_turns": 1, "llm": [block('(return {:n "x"})')]})
    check("what was wrong with the answer", done.returncode == 1 and
          done.stderr.endswith('last turn: the value is not what is wanted as the answer\nn: expected int, got string "x"\n'), done)
    done = run(home, booking("1"), "--context", "agent.json")
    check("a file without @", done.returncode == 2 and "write @ before it" in done.stderr, done)
    for agent, options, says in [
        ({"promt": "p"}, [], "invalid_agent: agent.json: promt: there is no such field"),
        ({"prompt": "p", "model": "haiku"}, [], "model: there is no such field; it is called llm here"),
        ("broken.json", [], "invalid_agent: broken.json: not JSON: line 1, column "),
        ({"prompt": "p", "tools": {"t": {"agent": "broken.json"}}}, [], "invalid_agent: agent.json: tools.t.agent: not JSON: line 1, "),
        ({"prompt": "p", "llm": []}, ["--context", "@broken.json"], "invalid_input: broken.json: context: not JSON: line 1, "),
    ]:
        pathlib.Path(home, "broken.json").write_text('{"a": 1,}', encoding="utf-8")
        done = run(home, "agent.json" if isinstance(agent, dict) and write(home, "agent.json", agent) else agent, *options)
        check(f"the file is named: {says}", done.returncode == 2 and says in done.stderr, done)
    check("a path names the tool", named["message"] == "cache must be true or false, not an integer" and
          named["path"] == "tools.t.cache", named)


def test_cut_texts(home):
    """What is shortened for a message stays UTF-8: a character is left out, not cut in two."""
    agent = {"prompt": "p", "llm": [block("(return 1)")]}
    longer = {n: "a" * (n - 1) + "é" * 9 for n in (40, 50, 60, 150)}
    lines = [{"agent": agent, longer[60]: 1},
             {"agent": agent, "run": {longer[60]: 1}},
             {"agent": agent, "run": {"memory": {"(" + longer[150][1:]: 1}}},
             {"agent": {**agent, "plan": [[longer[60], "x"]] * 2}},
             {"agent": {**agent, "tools": {"t": {"http": {longer[60]: 1}}}}},
             {"agent": {**agent, "tools": {"t": {"http": {"url": "https://example.org", "headers": {longer[50]: 1}}}}}},
             {"agent": {"prompt": "p", "llm": [{longer[40]: 1}]}}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([PTC, "run", "--jsonl", "--allow-tools"], input=text.encode(), capture_output=True, timeout=60, check=False,
                          env=environment(home))
    for line, got in zip(lines, done.stdout.splitlines(), strict=True):
        valid = got.decode(errors="replace")
        check(f"cut at a character: {line}", "aaaa" in valid and "\ufffd" not in valid, valid)


# --------------------------------------------------------------------------------- secrets

class Echo(http.server.BaseHTTPRequestHandler):
    """Sends the key back, in every way there is."""

    def do_GET(self):
        key = self.headers["X-Key"]
        forms = [key, key.replace("/", "\\/"), urllib.parse.quote(key, safe=""), urllib.parse.quote(key, safe="").lower(),
                 base64.b64encode(key.encode()).decode(), base64.b64encode(b"u:" + key.encode()).decode(),
                 key.replace("+", "\\u002B").replace("=", "\\u003d"), "".join(f"\\u{ord(c):04x}" for c in key)]
        body = '{"seen": ["' + '", "'.join(forms) + '"]}'
        self.send_response(403 if "bad" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        pass


def spellings(key):
    plain = key.encode()
    yield key
    yield urllib.parse.quote(key, safe="")
    yield urllib.parse.quote(key, safe="").lower()
    yield json.dumps(key)[1:-1].replace("/", "\\/")
    for i in range(3):  # the middle of base64, wherever the key begins
        yield base64.b64encode(b"xxx"[:i] + plain).decode()[4:-4]
        yield base64.urlsafe_b64encode(b"xxx"[:i] + plain).decode()[4:-4]


def test_secrets(home):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    tools = {name: {"http": {"url": url + name, "method": "GET", "headers": {"X-Key": "${MY_KEY}"}}} for name in ("good", "bad")}
    agent = {"prompt": "Ask.", "max_turns": 4, "tools": tools,
             "llm": [block("(println (tool/good {}))"), block("(def r (tool/good {})) (tool/bad {})"),
                     block("(def s (tool/good {}))"), block("(fail (tool/good {}))")]}
    native = {"prompt": "Ask.", "output": "text", "tools": tools,
              "llm": [{"tool_calls": [{"id": "1", "name": "good", "args": {}}, {"id": "2", "name": "bad", "args": {}}]},
                      {"content": "done"}]}
    texts = {}
    for name, one in (("programs", agent), ("native", native)):
        done = run(home, one, "--json", "--messages", "--trace", "t.jsonl", "--record", "r.jsonl", MY_KEY=SECRET)
        texts[name + " outcome"] = done.stdout
        texts[name + " stderr"] = done.stderr
        texts[name + " trace"] = pathlib.Path(home, "t.jsonl").read_text()
        texts[name + " record"] = pathlib.Path(home, "r.jsonl").read_text()
        plain = run(home, one, MY_KEY=SECRET)
        texts[name + " plain"] = plain.stdout + plain.stderr
    server.shutdown()
    check("secrets: something came back", "[secret]" in texts["programs outcome"] and "HTTP status 403" in
          texts["programs outcome"] and "[secret]" in texts["native outcome"], texts["programs outcome"])
    for name, text in texts.items():
        for form in spellings(SECRET):
            check(f"secrets: {name} has {form}", form not in text, text)


# ---------------------------------------------------------------------------------- replay

def test_replay(home):
    """A record gives the same outcome, byte for byte; a tool that answers otherwise stops it."""
    tool = {"command": ["sh", "-c", "cat >/dev/null; cat n.txt"], "signature": "() -> :int"}
    agent = write(home, "replay.json", {"prompt": "Count.", "signature": "() -> {n :int}", "tools": {"count": tool}})
    script = write(home, "script.json", [block("(def n (tool/count {}))\nn"), {"error": {"http": 500}},
                                         block("(return {:n (* 2 n)})")])
    pathlib.Path(home, "n.txt").write_text("21")
    first = run(home, agent, "--json", "--messages", "--llm", f"script:{script}", "--record", "record.jsonl")
    again = run(home, agent, "--json", "--messages", "--llm", "replay:record.jsonl")
    check("replay: the same failure", json.loads(first.stdout)["reason"] == "llm_error", first)
    check("replay: byte for byte", first.stdout == again.stdout and again.returncode == first.returncode, again)
    write(home, "script.json", [block("(def n (tool/count {}))\nn"), block("(return {:n (* 2 n)})")])
    first = run(home, agent, "--json", "--messages", "--llm", f"script:{script}", "--record", "record.jsonl")
    again = run(home, agent, "--json", "--messages", "--llm", "replay:record.jsonl")
    check("replay: an answer", json.loads(first.stdout)["return"] == {"n": 42}, first)
    check("replay: an answer byte for byte", first.stdout == again.stdout, again)
    pathlib.Path(home, "n.txt").write_text("22")
    changed = outcome(home, agent, "--llm", "replay:record.jsonl")
    check("replay: a changed result is named", changed["reason"] == "replay_mismatch" and
          "line 2 of the record" in changed["message"] and "messages[2].content" in changed["message"] and
          "21" in changed["message"] and "22" in changed["message"], changed)
    loose = outcome(home, agent, "--llm", "replay:record.jsonl", "--replay-loose")
    check("replay: loosely it goes on", loose.get("return") == {"n": 44}, loose)
    record = pathlib.Path(home, "record.jsonl")
    before = record.read_text(encoding="utf-8")
    for llm in ("script:missing.json", "nobody:model"):
        done = run(home, agent, "--llm", llm, "--record", "record.jsonl")
        check("record: kept when nothing can be asked", done.returncode == 2 and record.read_text(encoding="utf-8") == before, done)
    pathlib.Path(home, "n.txt").write_text("21")
    record.write_text(before + "\n" * 9, encoding="utf-8")
    same = outcome(home, agent, "--llm", "replay:record.jsonl", "--record", "record.jsonl")
    check("record: of its own replay", same.get("return") == {"n": 42} and record.read_text(encoding="utf-8") == before, same)


# ------------------------------------------------------------------------- files and signals

def test_journal(home):
    """A journal that cannot be written stops the run before it does more; one that is in use is refused."""
    os.mkdir(os.path.join(home, "j.next"))
    got = outcome(home, booking('(task "b" (tool/book))', '(task "c" (tool/book))', "(return 1)"), "--journal", "j")
    check("journal: stopped", got.get("reason") == "cancelled" and got["effects"]["ran"] == [{"name": "book", "times": 1}],
          got)
    os.rmdir(os.path.join(home, "j.next"))
    os.symlink("real", os.path.join(home, "link"))
    pathlib.Path(home, "real").write_text("{}")
    done = run(home, booking('(return (task "b" (tool/book)))'), "--journal", "link")
    check("journal: a link stays one", done.stdout == "7\n" and os.path.islink(os.path.join(home, "link")) and
          json.loads(pathlib.Path(home, "real").read_text()) == {"b": 7}, done)
    os.mkdir(os.path.join(home, "dir"))
    done = run(home, booking("1"), "--journal", "dir")
    check("journal: a directory is left alone", done.returncode == 2 and "dir.lock" not in os.listdir(home), done)
    done = subprocess.run([PTC, "run", write(home, "agent.json", booking("(return 1)"))], stderr=subprocess.PIPE, text=True,
                          stdout=open("/dev/full", "w", encoding="ascii"), timeout=60, check=False, cwd=home)
    check("standard output is full", done.returncode == 1 and "standard output cannot be written" in done.stderr, done)


# A value that refers to itself many times over: a few hundred bytes in memory, a terabyte of JSON.
SHARED = "(reduce (fn [v _] [v v]) 1 (range 40))"


def test_shared_values(home):
    """Such a value is shown as text, cut; the run goes on.  A journal on disk is never cut: there the run stops."""
    def answer(program, **fields):
        line = {"id": 1, "agent": {"prompt": "p", **fields}, "llm": [block(program), block("(return 2)")]}
        return batch(home, line)[0]
    bare = answer(SHARED)
    check("bare value", bare.get("return") == 2 and len(bare["turns"][0]["value"]["$text"]) <= 65536, str(bare)[:300])
    defined = answer(f"(def a {SHARED})")
    check("definition", defined.get("return") == 2 and "$text" in defined["memory"]["a"], str(defined)[:300])
    returned = answer(f"(return {SHARED})")
    check("returned", returned.get("return") == 2 and
          returned["turns"][0]["reason"] == "return_validation_failed", str(returned)[:300])
    failed = answer(f"(fail {SHARED})")
    check("failed", failed["reason"] == "failed" and "$text" in failed["value"], str(failed)[:300])
    task = f'(task "x" {SHARED})'
    done = answer(task, journaling=True)
    check("task", done.get("return") == 2 and "$text" in done["journal"]["x"], str(done)[:300])
    agent = {"prompt": "p", "llm": [block(task), block("(return 2)")]}
    kept = run(home, agent, "--journal", os.path.join(home, "shared.json"))
    check("journal on disk", kept.returncode == 1 and "64 MiB" in kept.stderr, kept)


def wait_for(path):
    """Until the file is there and has a line; its text."""
    for _ in range(3000):
        if os.path.exists(path) and pathlib.Path(path).read_text().endswith("\n"):
            return pathlib.Path(path).read_text()
        time.sleep(0.01)
    raise SystemExit(f"{path} does not come")


def is_gone(pid):
    for _ in range(1000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_signals(home):
    """Every signal that ends a command ends its tools too."""
    note = os.path.join(home, "pid")
    agent = {"prompt": "p", "timeout": 50000, "tools": {"s": {"command": ["sh", "-c", f"echo $$ >{note}; exec sleep 60"]}},
             "llm": [block("(tool/s {})")]}
    path = write(home, "slow.json", agent)
    line = json.dumps({"agent": {k: v for k, v in agent.items() if k != "llm"}, "llm": agent["llm"]}) + "\n"
    doors = {"run": (["run", path, "--json"], ""), "batch": (["run", "--jsonl", "--allow-tools"], line * 3),
             "chat": (["chat", path], "hello\nhello\n")}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for name, (arguments, text) in doors.items():
            if os.path.exists(note):
                os.remove(note)
            with subprocess.Popen([PTC, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env=environment(home)) as process:
                process.stdin.write(text)
                process.stdin.flush()
                pid = int(wait_for(note))
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
            check(f"{name}: {number.name} cancels", process.returncode == 1 and len((out + err).splitlines()) == 1 and
                  ("cancelled" in out or "stopped" in err), (process.returncode, out, err))
            check(f"{name}: {number.name} ends its tool", is_gone(pid), pid)


def main():
    with tempfile.TemporaryDirectory() as home:
        test_safe_to_retry(home)
        test_failed_child(home)
        test_chain_tokens(home)
        test_context_memory(home)
        test_verbose(home)
        test_cost(home)
        test_fallback(home)
        test_words(home)
        test_cut_texts(home)
        test_secrets(home)
        test_replay(home)
        test_journal(home)
        test_shared_values(home)
        test_signals(home)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
