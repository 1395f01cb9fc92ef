#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_task.py PTC: lisp_task of ptc mcp, with scripted models and faulty.py: answers, turns, limits, what may be called."""
import json
import os
import subprocess
import sys
import tempfile
import time

from mcp_talk import Talk, environment, faulty, lines_of

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])


def script(home, *replies):
    """A model that says these programs (texts) or replies (objects), one after the other."""
    path = os.path.join(home, "replies.jsonl")
    with open(path, "w", encoding="utf-8") as out:
        for reply in replies:
            if isinstance(reply, str):
                reply = {"content": f"```clojure\n{reply}\n```", "tokens": {"input": 10, "output": 5}}
            out.write(json.dumps(reply) + "\n")
    return ("--task", "--task-model", "script:" + path)


def recorder(home, program):
    """A model that keeps the request in HOME/asked.json and says a program."""
    path = os.path.join(home, "model.py")
    with open(path, "w", encoding="utf-8") as out:
        out.write("import json, sys\nrequest = sys.stdin.read()\n"
                  f"open({os.path.join(home, 'asked.json')!r}, 'w').write(request)\n"
                  f"print(json.dumps({{'content': {program!r}}}))\n")
    return ("--task", "--task-model", f"exec:{sys.executable} {path}")


def task(talk, text="Do it.", **more):
    """(ok, what was said) of lisp_task."""
    result = talk.call("lisp_task", task=text, **more)
    if result.get("isError"):
        return False, json.loads(result["content"][0]["text"])
    return True, result["structuredContent"]


def check_read(home):
    up = {"f": faulty(home, "f")}
    programs = ('(return (f/echo {:text data/word}))', '(return (mapv (fn [i] (:sum (f/sum {:a i :b 1}))) (range 3)))', '(fail "no such thing")')
    with Talk(PTC, home, up, *script(home, *programs)) as talk:
        row = next(t for t in talk.request("tools/list")["tools"] if t["name"] == "lisp_task")
        check("the row", row["inputSchema"]["required"] == ["task"] and row["annotations"]["readOnlyHint"] is True, row)
        ok, said = task(talk, "Say it.", context={"word": "hello"})
        check("an answer", ok and said["status"] == "ok" and said["answer"] == "hello" and "structured_result" not in said, said)
        check("its program", said["program"] == programs[0], said)
        calls = said["upstream_calls"]
        check("its calls", [(c["server"], c["tool"], c["status"], c["effect"]) for c in calls] == [("f", "echo", "ok", "read")], calls)
        planner = said["planner"]
        check("its planner", planner["model"].startswith("script:") and planner["turns"] == 1 and planner["requests"] == 1
              and planner["input_tokens"] == 10 and planner["output_tokens"] == 5 and planner["duration_ms"] >= 0, planner)
        check("reads have no effects", "effects" not in said and "warnings" not in said, said)
        ok, said = task(talk, constraints={"max_items": 2})
        check("data", ok and said["structured_result"] == [1, 2, 3] and json.loads(said["answer"]) == [1, 2, 3], said)
        check("too many items", [w["kind"] for w in said["warnings"]] == ["max_items_exceeded"], said)
        ok, said = task(talk)
        check("fail", not ok and said["status"] == "error" and said["reason"] == "failed" and "no such thing" in said["message"], said)
        ok, said = task(talk)
        check("the model has nothing to say", not ok and said["reason"] == "llm_error" and said["upstream_calls"] == [], said)
        for arguments in ({}, {"task": ""}, {"task": " \n"}, {"task": 1}, {"task": "x", "what": 1}, {"task": "x", "context": 1},
                          {"task": "x", "constraints": {"max_items": 0}}, {"task": "x", "constraints": {"most": 1}}, {"task": "x" * 70000}):
            result = talk.call("lisp_task", **arguments)
            check("wrong arguments", result.get("isError") and "args_error" in result["content"][0]["text"], (arguments, result))


def check_prompt(home):
    """What the model reads: the task as it is, the context, the upstreams."""
    up = {"f": faulty(home, "f")}
    with Talk(PTC, home, up, *recorder(home, "(return (f/echo {:text \"x\"}))"), "--task-hide-program") as talk:
        ok, said = task(talk, "Tell {{this}} as it is.", context={"word": "hello"}, constraints={"max_items": 7})
        check("a program as model", ok and said["answer"] == "x" and "program" not in said, said)
        with open(os.path.join(home, "asked.json"), encoding="utf-8") as asked:
            request = json.load(asked)
        text = request["messages"][-1]["content"]
        check("the task is no template", "Tell {{this}} as it is." in text, text)
        check("what there is", "data/word" in text and "at most 7 items" in text and "f/echo" in text, text)
        check("output tokens", request["max_output_tokens"] == 1200, request)


def write_file(home, name, text):
    path = os.path.join(home, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def check_files(home):
    up = {"f": faulty(home, "f")}
    agent = write_file(home, "agent.json", json.dumps({"max_turns": 2, "retry_turns": 1, "system_prompt": {"prefix": "FIRST", "suffix": "LAST"}}))
    summary = write_file(home, "about.txt", "There is f/echo.\n")
    model = recorder(home, "(+ 1 (no-such-function))")
    with Talk(PTC, home, up, *model, "--task-agent", agent, "--task-summary", summary) as talk:
        row = next(t for t in talk.request("tools/list")["tools"] if t["name"] == "lisp_task")
        check("a summary of one's own", row["description"].endswith("There is f/echo."), row)
        ok, said = task(talk)
        check("turns of the file", not ok and said["planner"]["requests"] == 3, said)
        with open(os.path.join(home, "asked.json"), encoding="utf-8") as asked:
            request = json.load(asked)
        check("words of the file", request["system"].startswith("FIRST") and request["system"].rstrip().endswith("LAST"), request["system"])
        check("the model reads it", "There is f/echo." in request["messages"][0]["content"], request["messages"])
    with Talk(PTC, home, up, *model, "--task-agent", agent, "--task-max-turns", "1", "--task-retry-turns", "0") as talk:
        ok, said = task(talk)
        check("options win", not ok and said["planner"]["requests"] == 1, said)
    path = write_file(home, "one.json", json.dumps({"upstreams": up}))
    for text, expected in (("[", "JSON object"), ("{\"tools\": {}}", "nothing else"), ("{\"max_turns\": 0}", "from 1 to 100"),
                           ("{\"system_prompt\": {\"text\": \"x\"}}", "prefix and suffix"), ("{\"system_prompt\": {\"prefix\": 1}}", "texts")):
        status, said = refused(home, "--upstreams", path, *model, "--task-agent", write_file(home, "bad.json", text))
        check("a bad file", status == 2 and expected in said and "bad.json" in said, said)
    status, said = refused(home, "--upstreams", path, *model, "--task-summary", os.path.join(home, "none"))
    check("no such file", status == 2 and "none" in said, said)


def check_writes(home):
    write, after = '(f/write {:text "a"})', '(return (f/echo {:text "second"}))'
    caught = '(return (try (tool/call {:server (str "f") :tool "write" :args {:text "a"}}) (catch Exception e (ex-message e))))'
    up = {"f": faulty(home, "f")}
    with Talk(PTC, home, up, "--allow", "f/*", *script(home, write, caught)) as talk:
        ok, said = task(talk)
        check("a write is denied", not ok and "may only read" in said["message"] and said["program"] == write, said)
        ok, said = task(talk)
        check("also where it is only known when it runs", ok and "may only read" in said["answer"], said)
        check("the denial is told", said["effects"]["denied"] == [{"name": "f/write", "times": 1}] and said["effects"]["run_again"] == "safe", said)
        check("nothing was called", lines_of(f"{home}/f.count") == [], lines_of(f"{home}/f.count"))
        check("lisp_eval has the policy of the server", talk.run(write)["result"] is not None and lines_of(f"{home}/f.count") == ["write"])
    os.remove(f"{home}/f.count")
    with Talk(PTC, home, up, "--task-allow-writes", *script(home, write)) as talk:
        ok, said = task(talk)
        check("what would be asked about is denied", not ok and lines_of(f"{home}/f.count") == [], said)
    allow = ("--task-allow-writes", "--allow", "f/write", "--task-max-turns", "3", "--task-retry-turns", "1")
    with Talk(PTC, home, up, *allow, *script(home, f"(return (do {write} \"written\"))", f"(do {write} (println 1) nil)", after)) as talk:
        row = next(t for t in talk.request("tools/list")["tools"] if t["name"] == "lisp_task")
        ok, said = task(talk)
        check("a write that is allowed", ok and said["answer"] == "written" and said["effects"] ==
              {"ran": [{"name": "f/write", "times": 1}], "run_again": "unsafe"}, said)
        ok, said = task(talk)
        check("no turn after a write", not ok and said["reason"] == "partial_side_effects" and said["planner"]["requests"] == 1, said)
        check("what took effect", said["effects"]["ran"] == [{"name": "f/write", "times": 1}] and len(said["upstream_calls"]) == 1, said)
        check("it was written once", lines_of(f"{home}/f.count") == ["write", "write"], lines_of(f"{home}/f.count"))
        ok, said = task(talk)
        check("the next task is another one", ok and said["answer"] == "second", said)
        check("the row of writes", not row["annotations"].get("readOnlyHint"), row)


def check_turns(home):
    up = {"f": faulty(home, "f")}
    bad, good = "(return (f/echo {:text (no-such-function)}))", '(return (f/echo {:text "good"}))'
    with Talk(PTC, home, up, *script(home, bad)) as talk:
        ok, said = task(talk)
        check("a bad program", not ok and said["reason"] == "max_turns_exceeded" and "no-such-function" in said["message"], said)
    with Talk(PTC, home, up, "--task-retry-turns", "1", *script(home, bad, good, bad, bad)) as talk:
        ok, said = task(talk)
        check("is repaired", ok and said["answer"] == "good" and said["program"] == good and said["planner"]["turns"] == 2, said)
        ok, said = task(talk)
        check("but once", not ok and said["reason"] == "budget_exhausted" and said["planner"]["requests"] == 2, said)
    turns = ('(def a (f/echo {:text "one"}))', '(return (str a "-" (f/echo {:text "two"})))')
    with Talk(PTC, home, up, "--task-max-turns", "2", *script(home, *turns)) as talk:
        ok, said = task(talk)
        check("programs build on each other", ok and said["answer"] == "one-two" and len(said["upstream_calls"]) == 2, said)
        check("calls are numbered through", [c["id"] for c in said["upstream_calls"]] == [1, 2], said)


def check_limits(home):
    up = {"f": faulty(home, "f"), "slow": faulty(home, "slow", "slow", "--seconds", "60")}
    late = {"content": "```clojure\n(return 1)\n```", "sleep_ms": 60000}
    with Talk(PTC, home, up, "--task-planner-timeout-ms", "300", *script(home, late)) as talk:
        begun = time.monotonic()
        ok, said = task(talk)
        check("the planner is too slow", not ok and said["reason"] == "planner_timeout" and time.monotonic() - begun < 50, said)
    with Talk(PTC, home, up, "--task-timeout-ms", "2000", *script(home, '(return (slow/echo {:text "x"}))', late)) as talk:
        begun = time.monotonic()
        ok, said = task(talk)
        check("the task is too slow", not ok and time.monotonic() - begun < 50, said)
        ok, said = task(talk)
        check("its model too", not ok and said["reason"] == "task_timeout" and time.monotonic() - begun < 50, said)
    with Talk(PTC, home, up, "--task-max-answer-bytes", "100",
              *script(home, '(return (apply str (repeat 60 "äb")))', "(return (vec (range 1000)))", "(return (vec (range 10)))")) as talk:
        ok, said = task(talk)
        check("an answer is cut", ok and said["answer"] == "äb" * 33 and said["warnings"][0]["kind"] == "answer_truncated", said)
        ok, said = task(talk)
        check("data is left out", ok and len(said["answer"]) == 100 and "structured_result" not in said
              and [w["kind"] for w in said["warnings"]] == ["answer_truncated", "result_left_out"], said)
        ok, said = task(talk)
        check("what fits stays", ok and said["structured_result"] == list(range(10)) and "warnings" not in said, said)


def check_progress(home):
    """What a server says of its progress reaches the client, whether or not the task may have to ask first."""
    up = {"f": faulty(home, "f", "progress", "--seconds", "0.3")}
    for more, capabilities in (((), None), (("--task-allow-writes",), {"elicitation": {}})):
        with Talk(PTC, home, up, *more, *script(home, '(return (f/echo {:text "x"}))'), capabilities=capabilities) as talk:
            result = talk.request("tools/call", {"name": "lisp_task", "arguments": {"task": "Do it."}, "_meta": {"progressToken": "p"}})
            told = [talk.notices.get_nowait() for _ in range(talk.notices.qsize())]
            told = [m["params"]["message"] for m in told if m["method"] == "notifications/progress"]
            check("progress in a task", not result.get("isError") and told[:1] == ["calling f/echo"]
                  and told[-1:] == ["f/echo done"] and len(told) > 2 and all(m.startswith("f: ") for m in told[1:-1]), (more, result, told))


def check_silent(home):
    """An upstream that says nothing is waited for, but not long."""
    up = {"f": faulty(home, "f"), "quiet": faulty(home, "quiet", "silent,silent_probe")}
    with Talk(PTC, home, up, "--task-timeout-ms", "20000", *recorder(home, "(return (f/echo {:text \"x\"}))")) as talk:
        ok, said = task(talk)
        with open(os.path.join(home, "asked.json"), encoding="utf-8") as asked:
            text = json.load(asked)["messages"][-1]["content"]
        check("without the silent one", ok and said["answer"] == "x" and "f/echo" in text and "quiet: not listed yet" in text, (said, text))


def check_cancelled(home):
    """While the model thinks, others have their turn; a task that is cancelled ends at once."""
    asked, path = os.path.join(home, "asked"), os.path.join(home, "model.py")
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"import json, os, sys, time\nif not os.path.exists({asked!r}):\n    open({asked!r}, 'w').close()\n    time.sleep(200)\n"
                  "print(json.dumps({'content': '(return 2)'}))\n")
    options = ("--task", "--task-model", f"exec:{sys.executable} {path}", "--task-timeout-ms", "100000",
               "--task-planner-timeout-ms", "100000", "--max-concurrent-calls", "1")
    with Talk(PTC, home, {"f": faulty(home, "f")}, *options) as talk:
        talk.number += 1
        talk.send({"jsonrpc": "2.0", "id": talk.number, "method": "tools/call",
                   "params": {"name": "lisp_task", "arguments": {"task": "x"}}})
        number, begun = talk.number, time.monotonic()
        while not os.path.exists(asked) and time.monotonic() - begun < 60:
            time.sleep(0.02)
        check("others run while the model thinks", talk.run("(+ 1 2)")["result"] == 3)
        talk.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        ok, said = task(talk)
        check("after a cancelled task", ok and said["answer"] == "2", said)
    check("it ended soon", time.monotonic() - begun < 90, time.monotonic() - begun)


def refused(home, *options):
    done = subprocess.run([PTC, "mcp", *options], env=environment(home), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=100, check=False)
    return done.returncode, done.stderr.decode()


def check_refused(home):
    model = script(home, "1")
    status, said = refused(home, *model)
    check("no upstream", status == 2 and "--task: it needs at least one upstream" in said, said)
    path = os.path.join(home, "one.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"upstreams": {"f": faulty(home, "f")}}, out)
    status, said = refused(home, "--upstreams", path, "--task")
    check("no model", status == 2 and "--task-model" in said, said)
    status, said = refused(home, "--upstreams", path, "--task", "--task-model", "no-such-model")
    check("a model that is none", status == 2 and "--task-model" in said and "no-such-model" in said, said)
    status, said = refused(home, "--upstreams", path, "--task-allow-writes")
    check("alone", status == 2 and "it goes with --task" in said, said)
    up = {"f": faulty(home, "f")}
    with Talk(PTC, home, up) as talk:
        without = talk.request("tools/list")["tools"]
    with Talk(PTC, home, up, *model) as talk:
        tools = talk.request("tools/list")["tools"]
    check("nothing else changes", [t for t in tools if t["name"] != "lisp_task"] == without and len(tools) == len(without) + 1, tools)


def check_records(home):
    up = {"f": faulty(home, "f")}
    with Talk(PTC, home, up, "--debug-tool", "--isolation", "none", *script(home, '(return (f/echo {:text "x"}))')) as talk:
        ok, said = task(talk)
        check("with the debug tool", ok and "arguments" not in said["upstream_calls"][0], said)
        stats = talk.call("lisp_debug", op="stats")["structuredContent"]
        check("it is counted", stats["by_tool"]["lisp_task"]["calls"] == 1 and "f" in json.dumps(stats["upstream_calls"]), stats)


def main():
    for part in (check_read, check_prompt, check_files, check_writes, check_turns, check_limits, check_progress, check_silent, check_cancelled, check_refused, check_records):
        with tempfile.TemporaryDirectory() as home:
            part(os.path.realpath(home))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
