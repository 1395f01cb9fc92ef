#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_programs.py PTC: programs that call upstreams, through `ptc eval`, `ptc repl` and `ptc mcp`, isolated and not, and in
sessions: what is told before the first call, what is called, and what is not.

Nothing here depends on how fast the machine is."""
import glob
import json
import sys
import tempfile
import time

from place import FAULTY, READ, Mcp, Place, check, finish

ONE = {"type": "object", "properties": {"text": {"type": "string"}, "mode": {"enum": ["a", "b"]}}, "required": ["text"],
       "additionalProperties": False}


def plain_tools():
    return [{"name": "echo", "description": "Say it again", "inputSchema": ONE, "annotations": READ},
            {"name": "write", "description": "Writes a note", "inputSchema": ONE, "annotations": {"destructiveHint": True}},
            {"name": "delete", "description": "Deletes", "inputSchema": ONE, "annotations": {"destructiveHint": True}},
            {"name": "rows", "description": "Many rows", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
             "annotations": READ}]


class Notes(Place):
    """A home with an upstream, notes, whose tools can be changed, and another, dead, that cannot be started."""

    def __init__(self, home):
        super().__init__(sys.argv[1], home)
        self.use({"notes": self.server(policy={"write": "allow"}), "dead": {"command": sys.executable, "args": [FAULTY, "exit_at_start"]}})
        self.set_tools(plain_tools())

    def set_tools(self, tools):
        self.write("tools.json", tools)

    def calls(self):
        """What was called since this was asked last."""
        return self.taken("calls")

    def starts(self):
        return len(self.read("starts").split())


def start_session(server):
    failed, said = server.call("lisp_session_start")
    words = [w.strip(".,:") for w in said.replace('"', " ").split()]
    check("a session", not failed, said)
    return max(words, key=len)


# what is wrong, and what the finding must name
WRONG = {
    '(nots/echo {:text "x"})': "notes",
    '(notes/ehco {:text "x"})': "notes/echo",
    '(notes/echo {:txet "x"})': "text",
    '(notes.echo {:text "x"})': "did you mean notes/echo?",
    '(tool/echo {:text "x"})': "a tool of a server is written server/tool",
    '(list_pages {})': "a tool of a server is written server/tool",
    '(notes/echo {})': "text",
    '(notes/echo {:text 5})': "text",
    '(notes/echo {:text "x" :mode "c"})': "mode",
    '(notes/echo :text "x" :text "y")': "text",
    '(notes/delete {:text "x"})': "notes/delete",
    '(tool/call {:server "notes" :tool "ehco" :args {}})': "notes/echo",
    '(tool/call {:server "nots" :tool "echo" :args {}})': "nots",
    '(map notes/ehco [{:text "x"}])': "notes/echo",
    '((fn [] (if false (notes/ehco {:text "x"}) 1)))': "notes/echo",
}


def ways(place):
    """Each way to run a program: name -> function from program to (failed, what was said)."""
    def by_eval(program):
        done = place.eval(program)
        return done.returncode != 0, done.stdout + done.stderr

    def by_repl(program):
        done = place.repl(program)
        return "error" in done.stdout + done.stderr, done.stdout + done.stderr
    yield "eval", by_eval
    yield "repl", by_repl
    for isolation in ("none", "on"):
        with Mcp(place, "--isolation", isolation, "--sessions") as server:
            yield "mcp " + isolation, lambda program, s=server: s.call("lisp_eval", program=program)
            handle = start_session(server)
            yield "session " + isolation, lambda program, s=server, h=handle: s.call("lisp_session_eval", session_id=h,
                                                                                     program=program)


def test_before(home):
    """A mistake is told before the first call, although that one is allowed to write."""
    place = Notes(home)
    for name, run in ways(place):
        failed, said = run('(notes/write {:text "x"})')
        check(f"{name}: a write", not failed and place.calls() == ["write"], said)
        for program, names in WRONG.items():
            failed, said = run(f'(do (notes/write {{:text "x"}}) {program})')
            check(f"{name}: {program} is told", failed and names in said, said)
            check(f"{name}: {program} called nothing", place.calls() == [], said)
        failed, said = run('(do (notes/write {:text "x"}) (try (dead/echo {:text "x"}) (catch Exception e (:reason (ex-data e)))))')
        check(f"{name}: an upstream that is dead is no finding", not failed and "upstream_unavailable" in said, said)
        check(f"{name}: so the first call was made", place.calls() == ["write"], said)
        failed, said = run('(let [v 5] (try (notes/echo {:text v}) (catch Exception e (:reason (ex-data e)))))')
        check(f"{name}: what is not literal is told by the call", not failed and "invalid_tool_args" in said, said)
        check(f"{name}: and not sent", place.calls() == [])


def test_functions(home):
    """Tools are functions: over the values of their only required argument, and page after page."""
    place = Notes(home)
    place.set_tools(plain_tools() + [{"name": "list", "inputSchema": {"type": "object", "properties": {"cursor": {"type": "string"}}},
                                      "annotations": READ}])
    for name, run in ways(place):
        failed, said = run('(= [{"text" "a"} {"text" "b"}] (pmap notes/echo ["a" {:text "b"}]))')
        check(f"{name}: a tool over values", not failed and "true" in said and place.calls() == ["echo"] * 2, said)
        failed, said = run('(let [v 5] (notes/echo v))')
        check(f"{name}: a value that does not fit", failed and "text" in said and place.calls() == [], said)
        failed, said = run('(let [v 5] (notes/rows v))')
        check(f"{name}: nothing is required", failed and "one map" in said and place.calls() == [], said)
        failed, said = run('(= [1 2 3] (pages notes/list))')
        check(f"{name}: all pages", not failed and "true" in said and place.calls() == ["list"] * 2, said)


def test_changes(home):
    """What is on disk is older than what the upstream has."""
    place = Notes(home)
    check("listed", place.eval('(notes/echo {:text "x"})').returncode == 0 and place.calls() == ["echo"])
    place.set_tools([t for t in plain_tools() if t["name"] != "echo"] +
                    [{"name": "new", "inputSchema": {"type": "object"}, "annotations": READ}])
    done = place.eval('(notes/new)')
    check("a tool that is new", done.returncode == 0 and place.calls() == ["new"], done)
    place.set_tools(plain_tools())
    done = place.eval('(notes/echo {:text "x"})')
    check("one that came back", done.returncode == 0 and place.calls() == ["echo"], done)
    place.set_tools([t for t in plain_tools() if t["name"] != "echo"])
    done = place.eval('(try (notes/echo {:text "x"}) (catch Exception e (:reason (ex-data e))))')
    check("one that is gone since", "upstream_error" in done.stdout and place.calls() == [], done)
    done = place.eval('(do (notes/write {:text "x"}) (notes/echo {:text "x"}))')
    check("and then it is told before", done.returncode == 1 and place.calls() == [], done)
    tools = plain_tools()
    place.set_tools(tools)
    check("again", place.eval('(notes/echo {:text "x"})').returncode == 0 and place.calls() == ["echo"])
    tools[0]["inputSchema"] = {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"],
                               "additionalProperties": False}
    place.set_tools(tools)
    done = place.eval('(notes/echo {:words "x"})')
    check("an argument that is new", done.returncode == 0 and place.calls() == ["echo"], done)
    tools = plain_tools()
    tools[0]["annotations"] = {"destructiveHint": True}
    place.set_tools(tools)
    done = place.eval('(notes/echo {:text "x"})')
    check("one that became destructive", done.returncode == 1 and place.calls() == [], done)
    done = place.eval('(notes/echo {:text "x"})')
    check("is denied before the run then", done.returncode == 1 and place.calls() == [] and "echo" in done.stderr, done)
    place.set_tools(plain_tools())
    done = place.eval('(notes/echo {:text "x"})')
    check("and allowed when it no longer is", done.returncode == 0 and place.calls() == ["echo"], done)


def test_large(home):
    place = Notes(home)
    program = '(->> (notes/rows {:n 50000}) (group-by :kind) (map (fn [[k v]] [k (count v) (apply + (map :size v))])) sort)'
    for isolation in ("none", "on"):
        with Mcp(place, "--isolation", isolation) as server:
            failed, said = server.call("lisp_eval", program=program)
            check(f"5 MB grouped, isolation {isolation}", not failed and len(said) < 1000 and "5000" in said, said)
            check("one call", place.calls() == ["rows"])


def test_sessions(home):
    """A program that failed after a write is not run again, whatever else happens to its session."""
    place = Notes(home)
    for isolation in ("none", "on"):
        with Mcp(place, "--sessions", "--isolation", isolation) as server:
            handle = start_session(server)
            failed, said = server.call("lisp_session_eval", session_id=handle, program='(notes/write {:text "x"}) (/ 1 0)')
            check(f"it failed ({isolation})", failed, said)
            check("one write", place.calls() == ["write"])
            failed, said = server.call("lisp_session_eval", session_id=handle, program="(defn f [x] (notes/echo {:text x}))")
            failed, said = server.call("lisp_session_eval", session_id=handle, program='(f "kept")')
            check("a kept function calls", not failed and "kept" in said and place.calls() == ["echo"], said)
            failed, said = server.call("lisp_session_eval", session_id=handle, program='(pmap f ["a" "b" "c" "d"])')
            check("and in parallel", not failed and place.calls() == ["echo"] * 4, said)


def test_list(home):
    place = Notes(home)
    with Mcp(place) as server:
        tools = server.request("tools/list")["result"]["tools"]
        check("no process before it is needed", place.starts() == 0 or place.starts() == 1, place.starts())
        text = json.dumps(tools, separators=(",", ":"))
        evaluate = next(t for t in tools if t["name"] == "lisp_eval")
        check("sizes", len(text) <= 5000 and len(evaluate["description"].encode()) <= 2000, len(text))
        check("the upstreams are named", "notes" in evaluate["description"], evaluate["description"])
    check("once it is listed", place.eval('(notes/echo {:text "x"})').returncode == 0)
    before = place.starts()
    with Mcp(place) as server:
        tools = server.request("tools/list")["result"]["tools"]
        check("it is not started for that", place.starts() == before)
        evaluate = next(t for t in tools if t["name"] == "lisp_eval")
        check("tools are named", "echo" in evaluate["description"], evaluate["description"])
        failed, said = server.call("lisp_eval", program="(+ 1 2)")
        check("nor for a program that uses none", not failed and "3" in said and place.starts() == before, said)
        failed, said = server.call("lisp_eval", program="[(tool/servers) (apropos \"say\") (doc 'notes/echo) (dir 'notes)]")
        check("nor for looking around", not failed and place.starts() == before and "notes/echo" in said, said)


def test_progress(home):
    """What a server says of its progress gives a call more time than it has otherwise, and reaches the client."""
    place = Notes(home)
    place.use({"long": {"command": sys.executable, "args": [FAULTY, "progress", "--seconds", "5"], "call_timeout_ms": 4000,
                          "trust_annotations": False, "policy": {"*": "allow"}}})
    for isolation in ("on", "none"):
        with Mcp(place, "--isolation", isolation) as server:
            params = {"name": "lisp_eval", "arguments": {"program": '(long/echo {:text "x"})'}, "_meta": {"progressToken": "mine"}}
            result = server.request("tools/call", params)["result"]
            check("it has time", not result.get("isError"), result)
            told = [p["message"] for p in server.progress]
            check("the call is told", told[:1] == ["calling long/echo"] and told[-1:] == ["long/echo done"], told)
            told = told[1:-1]
            check("the server is named", told and all(m.startswith("long: ") and ' of 5, st\u00e9p "' in m for m in told), told)
            grown = [p["progress"] for p in server.progress]
            check("progress grows", grown == sorted(set(grown)) and all(p["progressToken"] == "mine" for p in server.progress), grown)
            check("once a second at most", len(told) <= 6, told)


def test_resources(home):
    """Rules are for resources too."""
    place = Notes(home)
    program = '(:message (ex-data (try (tool/resource {:server "notes" :uri "x:1"}) (catch Exception e e))))'
    check("read without a rule", "may not be read" not in str(place.eval(program)) and place.starts() == 1)
    for options in (("--deny", "notes"), ("--deny", "*/resources/*")):
        said = str(place.eval(program, *options))
        check(f"{options}", "may not be read" in said and place.starts() == 1, said)
    said = str(place.eval(program, "--deny", "notes/write"))
    check("a rule for something else", "may not be read" not in said, said)


def test_end(home):
    """Whoever reads us is gone: no process is left."""
    place = Notes(home)
    with Mcp(place) as server:
        check("call", not server.call("lisp_eval", program='(notes/echo {:text "x"})')[0])
    time.sleep(0.1)
    for _ in range(100):
        left = [p for p in glob.glob("/proc/[0-9]*/cmdline") if home.encode() in read(p) and b"server.py" in read(p)]
        if not left:
            break
        time.sleep(0.1)
    check("nothing is left", not left, left)


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def main():
    for test in (test_before, test_functions, test_changes, test_large, test_sessions, test_list, test_progress, test_resources, test_end):
        with tempfile.TemporaryDirectory() as home:
            try:
                test(home)
            except Exception as e:  # pylint: disable=broad-except
                check(test.__name__, False, repr(e))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
