#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_eval.py PTC [ISOLATION]: lisp_eval, profiles, pages, data, tools, cancellation, lisp_debug, traces."""
import json
import os
import tempfile
import threading
import time

from app_help import Answer, Server, clean_env, conforms, expect, kept, main, misfit, test


@test
def value():
    with Server() as s:
        a = s.eval("(+ 1 2)")
        expect(a.text, "3")
        expect(a.data, {"result": 3})
        assert not a.failed
        a = s.eval('(do (println "a") (println "b") {:x [1 nil "s"]})')
        expect(a.text, 'a\nb\n{:x [1 nil "s"]}')
        expect(a.data, {"result": {"x": [1, None, "s"]}, "prints": ["a", "b"]})
        expect(s.eval("nil").text, "nil")
        expect(s.eval("(def x 1)").text, "#'x")
        assert s.eval("x").failed, "nothing is remembered"
        expect(s.eval('"ä\\n"').data["result"], "ä\n")
        expect(s.eval('"ä\\n"').text, '"ä\\n"')
        expect(s.close(), 0)


@test
def context_and_validation():
    with Server() as s:
        rows = {"rows": [{"n": 1}, {"n": 20}]}
        expect(s.eval("(map :n data/rows)", context=rows).text, "[1 20]")
        s.send(b'{"jsonrpc":"2.0","id":"pretty","method":"tools/call","params":{"arguments":{"context" : {"k":\t[1 ,{"a":'
               b'"}"}]}\r, "program":"data/k"},"name":"lisp_eval"}}')
        expect(Answer(s.answer("pretty")).data, {"result": [1, {"a": "}"}]})
        a = s.eval("data/n", context={"n": 10**400})
        assert a.failed or a.data["result"] == 10**400, a.text
        s.send(b'{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"lisp_eval","arguments":{"program":'
               b'"1","context":{"n":1e999}}}}')
        a = Answer(s.answer("big"))
        assert a.failed and a.text.startswith("args_error: `context`: line 1, column 6: "), a.text
        a = s.eval("{:total 3}", signature="{total :int}")
        expect(a.data, {"result": {"total": 3}})
        a = s.eval("{:total 3}", output_schema={"type": "object", "required": ["total"]})
        expect(a.data, {"result": {"total": 3}})
        a = s.eval('{:total "x"}', signature="{total :int}")
        assert a.failed and a.data is None and a.text.startswith("validation_error: "), a.text
        assert "total" in a.text
        a = s.eval("1", signature="{total :", context={})
        assert a.failed and a.text.startswith("args_error"), a.text
        a = s.eval("1", signature=":int", output_schema={})
        expect(a.text, "args_error: give `signature` or `output_schema`, not both")


@test
def errors():
    with Server() as s:
        for program, start in [("(", "parse_error: "), ("(/ 1 0)", "runtime_error: "), ("(frob)", "runtime_error: "),
                               ("(fail {:a 1})", "fail: "), ("(loop [] (recur))", "timeout: "),
                               ("(reduce + (map #(count (sort (range %))) (range 100000)))", "timeout: ")]:
            a = s.eval(program)
            assert a.failed and a.data is None and a.text.startswith(start), (program, a.text)
        a = s.eval("(/ 1 0)")
        assert "line 1, column 1" in a.text and "hint:" in a.text, a.text
        a = s.eval("(reduce conj [] (range 100000000))")
        assert a.failed, a.text
        expect(s.eval("(+ 1 1)").text, "2")


WRONG = [None, 1, 1.5, True, "text", [], ["a"], {}, {"a": {"b": 1}}, "", "\u0000", -1, 10**30]


@test
def hostile_arguments():
    with Server("--sessions", "--debug-tool", "--profile", "slim") as s:
        tools = s.tools()
        for name, tool in tools.items():
            for arg in list(tool["inputSchema"]["properties"]) + ["other"]:
                for wrong in WRONG:
                    arguments = {"program": "1", "session_id": "x", "op": "stats", "handle": "h", arg: wrong}
                    if arg != "other":
                        known = tool["inputSchema"]["properties"]
                        arguments = {k: v for k, v in arguments.items() if k in known}
                    a = s.call(name, **arguments)
                    assert "error" not in a.message, (name, arg, wrong, a.message)
                    given = {k: v for k, v in arguments.items() if v is not None}
                    if misfit(tool["inputSchema"], given):
                        assert a.text.startswith("args_error: "), (name, arg, wrong, a.text)
                    if a.failed:
                        assert a.text and a.data is None, (name, arg, wrong)
        expect(s.eval("1").text, "1")
        expect(s.call("lisp_eval").text,
               "args_error: lisp_eval requires a non-empty `program` string argument.")
        expect(s.eval(42).text, "args_error: lisp_eval `program` must be a string, got 42.")
        expect(s.eval("  ").text, "args_error: lisp_eval `program` must be a non-empty string.")
        expect(s.eval("1", contxt={}).text,
               "args_error: contxt: this key is not allowed; did you mean \"context\"?")
        expect(s.eval("1", context=[1]).text, "args_error: context: expected object, got array [1]")
        assert "empty" in s.eval("1", context={"": 1}).text
        assert "/" in s.eval("1", context={"a/b": 1}).text
        for params in [[], 1, "x", {"name": 5}, {"name": "lisp_eval", "arguments": []}, {"name": "nothing"}]:
            assert "error" in s.request("tools/call", params), params


@test
def limits():
    with Server("--max-program-bytes", "20", "--max-context-bytes", "100", "--max-frame-bytes", "2000",
                "--program-timeout-ms", "500", "--program-memory-mb", "2") as s:
        expect(s.eval("1" * 21).text, "args_error: `program` has 21 bytes; 20 are allowed")
        expect(s.eval("1", context={"a": "x" * 200}).text, "args_error: `context` has 209 bytes; 100 are allowed")
        s.send(b'{"jsonrpc":"2.0","id":77,"method":"ping","params":{"x":"' + b"y" * 5000 + b'"}}')
        expect(s.eval("(+ 1 1)").text, "2")
        assert s.eval("(loop[](recur))").failed
        description = s.tools()["lisp_eval"]["description"]
        assert "Limits: 500 ms, 2 MiB. " in description


@test
def clients_with_types():
    """Clients that build types from the output schema (FastMCP) lose nothing of what it is about."""
    for profile, member in (("slim", "result"), ("structured", "validated"), ("debug", "validated")):
        with Server("--profile", profile) as s:
            schema = s.tools()["lisp_eval"]["outputSchema"]
            for program in ["3", "2.5", "true", "nil", '"x"', '[1 "a" nil [true [{:k [1.5]}]] {"a" {"b" [1]}}]', '{"a" 1 "b" {"c" [true {}]}}', "[]", "{}"]:
                a = s.eval(program, signature=":any")
                assert json.dumps(kept(schema, a.data)) == json.dumps({k: a.data[k] for k in schema["properties"] if k in a.data}), (profile, a.data)
                assert member in kept(schema, a.data), (profile, program)


@test
def description():
    with Server() as s:
        tools = s.tools()
        expect(list(tools), ["lisp_eval", "lisp_result_page"])
        assert len(tools["lisp_eval"]["description"].encode()) <= 1950
        for tool in tools.values():
            assert tool["inputSchema"]["type"] == "object" and tool["outputSchema"]["type"] == "object"
            assert "oneOf" not in json.dumps(tool) and "$ref" not in json.dumps(tool)
            assert tool["annotations"]["readOnlyHint"] is True
            assert tool["annotations"]["openWorldHint"] is False
    with Server("--sessions", "--debug-tool") as s:
        expect(list(s.tools()), ["lisp_eval", "lisp_session_start", "lisp_session_eval", "lisp_session_inspect",
                                 "lisp_session_list", "lisp_session_forget", "lisp_session_close",
                                 "lisp_result_page", "lisp_debug"])


@test
def profiles():
    program = '(do (println "p") {:n 1})'
    for profile in ["slim", "structured", "debug"]:
        with Server("--profile", profile, "--sessions") as s:
            tools = s.tools()
            a = s.eval(program, signature="{n :int}")
            conforms(tools["lisp_eval"], a)
            expect(a.data["prints"], ["p"])
            expect(a.data["result"], {"n": 1} if profile == "slim" else "user=> {:n 1}")
            if profile == "slim":
                expect(a.text, "p\n{:n 1}")
                expect(set(a.data), {"result", "prints"})
            else:
                expect(a.data["validated"], {"n": 1})
                expect(a.data["status"], "ok")
            if profile == "debug":
                expect(json.loads(a.text), a.data)
                expect(a.data["truncated"], False)
                assert a.data["metrics"]["program_bytes"] == len(program)
            bad = s.eval("(/ 1 0)")
            assert bad.failed and bad.data is None
            if profile == "debug":
                expect(json.loads(bad.text)["reason"], "runtime_error")
            bad = s.eval(1)
            if profile == "debug":
                expect(json.loads(bad.text)["reason"], "args_error")


@test
def each_half_is_whole():
    """Some clients show the structured content only, others the text only."""
    with Server("--sessions") as s:
        for program, printed, value in [
                ("{:a [1 2.5 nil true], :b #{:k}}", "{:a [1 2.5 nil true], :b #{:k}}", {"a": [1, 2.5, None, True], "b": ["k"]}),
                ('"say \\"hi\\""', '"say \\"hi\\""', 'say "hi"'),
                ('(LocalDate/parse "2024-02-29")', '"2024-02-29"', "2024-02-29"),
                ("nil", "nil", None), ("inc", "#fn[inc]", "#fn[inc]"), ("(def x 1)", "#'x", "#'x"),
                ("[inc]", "[#fn[inc]]", "[#fn[inc]]"), ("(range 5)", "[0 1 2 3 4]", [0, 1, 2, 3, 4])]:
            a = s.eval(program)
            expect((a.text, a.data), (printed, {"result": value}), program)
            a = s.eval(program, signature=":any") if value != printed or value is None else a
            assert "validated" not in json.dumps(a.data), a.data
        session = s.call("lisp_session_start").data["session_id"]
        a = s.call("lisp_session_eval", session_id=session, program='(println "p") (def k [1]) (def l 2)')
        expect((a.text, a.data), ("p\n#'l\n[stored: k, l]", {"result": "#'l", "prints": ["p"], "stored": ["k", "l"]}))
        # Longer as JSON than as text, but not by so much that the value would have to go.
        a = s.eval("(zipmap (map #(keyword (str \"k\" %)) (range 700)) (range 700))")
        expect(a.data, {"result": {f"k{i}": i for i in range(700)}})


@test
def output_limits():
    many = '(dotimes [i 300] (println (str "line " i)))'
    long = '(dotimes [i 40] (println (apply str (repeat 1500 "x"))))'
    for profile, entries, prints, envelope in [("slim", 20, 8, 32), ("structured", 50, 16, 96), ("debug", 200, 64, 512)]:
        with Server("--profile", profile, "--program-timeout-ms", "20000") as s:
            a = s.eval(many)
            expect(len(a.data["prints"]), entries, profile)
            assert a.data["truncated"] and a.data["prints_truncated"]
            expect(a.data.get("output_truncated"), None if profile == "slim" else True)
            assert a.text.startswith("line 0\n") and "more was printed" in a.text or profile == "debug", a.text[-300:]
            handle, offset = a.data["result_handle"], a.data["prints_next_offset"]
            assert f'"part":"prints","offset":{offset}' in a.text or profile == "debug", a.text[-300:]
            p = s.call("lisp_result_page", handle=handle, part="prints", offset=offset)
            expect("\n".join(a.data["prints"]) + "\n" + p.data["text"], "".join(f"line {i}\n" for i in range(300)))
            a = s.eval('(vec (range 300))', signature=":any")
            assert "cut" not in a.text, "the result is whole, though its preview is not"
            a = s.eval(long)
            size = len(json.dumps(a.data.get("prints", []), separators=(",", ":")))
            assert (prints - 1) * 1024 < size <= prints * 1024 or profile == "debug", (profile, size)
            for value in ['(apply str (repeat 20000 "\\""))', '(apply str (repeat 100000 "\\u0001"))',
                          '(vec (range 100000))', '(repeat 5000 "ä€😀")']:
                a = s.eval(value, signature=":any")
                assert not a.failed, a.text
                size = len(json.dumps(a.result, ensure_ascii=False).encode())
                assert size <= envelope * 1024, (profile, value, size)
                if profile == "slim" or "100000" in value:
                    assert a.data["truncated"] and a.data["result_handle"].startswith("r-"), a.data
                conforms(s.tools()["lisp_eval"], a)
            if profile != "slim":
                a = s.eval("(vec (range 3000))", signature="[:int]")
                expect(a.data["validated"], list(range(3000)))


@test
def pages():
    with Server() as s:
        a = s.eval("(mapv #(str \"ä\" %) (range 5000))")
        handle, total = a.data["result_handle"], a.data["result_bytes"]
        assert handle in a.text and "cut" in a.text
        text, offset, n = "", 0, 0
        while offset is not None:
            p = s.call("lisp_result_page", handle=handle, offset=offset, limit=7001)
            conforms(s.tools()["lisp_result_page"], p)
            assert p.text.startswith(p.data["text"])
            text += p.data["text"]
            offset = p.data.get("next_offset")
            n += 1
        expect(len(text.encode()), total)
        shown, offset = a.data["result"], a.data["next_offset"]
        assert f'"handle":"{handle}","offset":{offset}' in a.text, a.text[-200:]
        expect(a.text.split("\n[cut: ")[0], shown)
        rest = s.call("lisp_result_page", handle=handle, offset=offset, limit=65536)
        expect(shown + rest.data["text"], text, "the answer and the next page")
        expect(text, "[" + " ".join(f'"ä{i}"' for i in range(5000)) + "]")
        assert n > 5
        p = s.call("lisp_result_page", handle=handle, part="json", limit=65536)
        expect(json.loads(p.data["text"] + s.call("lisp_result_page", handle=handle, part="json", limit=65536,
                                                   offset=p.data["next_offset"]).data["text"]
                          if "next_offset" in p.data else p.data["text"]), [f"ä{i}" for i in range(5000)])
        for arguments, word in [({"handle": handle, "offset": 10**7}, "past the end"),
                                ({"handle": "r-x"}, "unknown_handle"), ({"handle": handle, "part": "prints"}, "no part"),
                                ({"handle": handle, "limit": 0}, "limit: expected at least 1"),
                                ({}, "\"handle\" is missing"), ({"handle": handle, "part": 1}, "part: expected"),
                                ({"handle": handle, "offset": 10**30}, "from 0 to")]:
            p = s.call("lisp_result_page", **arguments)
            assert p.failed and word in p.text, p.text
        for i in range(70):
            s.eval(f"(vec (range {5000 + i}))")
        assert s.call("lisp_result_page", handle=handle).failed, "old results go"


@test
def cancel():
    with Server("--max-concurrent-calls", "2", "--program-timeout-ms", "60000") as s:
        for _ in range(5):
            number = s.begin_call("lisp_eval", {"program": "(loop [i 0] (recur (inc i)))"} |
                                  {"program": "(reduce (fn [a x] (+ a (count (sort (range 2000))))) 0 (range 1000000))"})
            time.sleep(0.05)
            s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            # Both places are free again: had the program gone on, the second of these would wait for a minute, which is more than WAIT.
            numbers = [s.begin_call("lisp_eval", {"program": "(+ 1 2)"}) for _ in range(2)]
            for n in numbers:
                expect(Answer(s.answer(n)).text, "3")
            assert number not in s.answers, "nothing is sent for a cancelled call"


@test
def end_of_input_cancels():
    s = Server("--program-timeout-ms", "60000")
    s.begin_call("lisp_eval", {"program": "(reduce + (map (fn [x] (count (range x))) (range 1000000)))"})
    time.sleep(0.1)
    expect(s.close(), 0)  # which waits for WAIT at most


@test
def busy():
    with Server("--max-concurrent-calls", "1", "--max-queued-calls", "1", "--program-timeout-ms", "1500") as s:
        slow = [s.begin_call("lisp_eval", {"program": "(reduce + (map (fn [x] (count (sort (range 3000)))) (range 1000000)))"})
                for _ in range(4)]
        codes = [s.answer(n).get("error", {}).get("code") for n in slow]
        expect(sorted(c for c in codes if c), [-32000, -32000])
        expect(s.eval("1").text, "1")


# ----------------------------------------------------------------------------------- data and tools

def files(directory):
    def write(name, text):
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path
    return write


@test
def warnings():
    rows = {"rows": [{"Unit Price": 2}, {"Unit Price": 3}]}
    with Server() as s:
        a = s.eval("(sum-by :price data/rows)", context=rows)
        assert not a.failed and a.text.startswith("0\n[warning: line 1, column 1: ") and ":unit-price" in a.text, a.text
        expect([w["kind"] for w in a.data["warnings"]], ["unknown_key"])
        a = s.eval("(count data/rwos)", context=rows)
        assert a.data["result"] == 0 and "data/rows" in a.data["warnings"][0]["hint"] and "data/rows" in a.text, a.text
        a = s.eval("(do (count data/rwos) (/ 1 0))", context=rows)
        assert a.failed and "[warning: line 1, column 12: " in a.text, a.text
        a = s.eval("(sum-by :unit-price data/rows)", context=rows)
        expect((a.text, a.data), ("5", {"result": 5}))
    with Server("--profile", "structured") as s:
        a = s.eval("(count data/rwos)", context=rows)
        expect(len(a.data["warnings"]), 1)


@test
def data():
    with tempfile.TemporaryDirectory() as d:
        write = files(d)
        orders = write("o.csv", "id,region,total\n" + "".join(f"{i},{'NS'[i % 2]},{i}.5\n" for i in range(1000)))
        events = write("e.jsonl", '{"k":"a"}\n{"k":"b"}\n')
        conf = write("c.json", '{"rate":0.25}')
        with Server("--data", f"orders=@{orders}", "--data", f"events=@{events}", "--data=conf=@" + conf) as s:
            about = s.tools()["lisp_eval"]["description"]
            assert "data/orders: 1000 rows: :id int, :region string, :total float" in about, about
            assert "data/conf: a map of 1 key: :rate float" in about
            expect(s.eval("(->> data/orders (filter #(= (:region %) \"N\")) (map :total) (reduce +))").text,
                   "249750.0")
            expect(s.eval("[(count data/events) (:rate data/conf) data/own]", context={"own": 7}).text,
                   "[2 0.25 7]")
            expect(s.eval("data/conf", context={"conf": 1}).text, "1")
            expect(s.eval("[(conj data/events 1) (assoc (first data/orders) :x 1)]").failed, False)
            numbers = [s.begin_call("lisp_eval", {"program": "(count (distinct (map :region data/orders)))"})
                       for _ in range(40)]
            for n in numbers:
                expect(Answer(s.answer(n)).text, "2")


@test
def tools():
    with tempfile.TemporaryDirectory() as d:
        write = files(d)
        path = write("t.json", json.dumps({
            "price": {"table": {'{"sku":"A"}': 5, "*": 0}, "signature": "(sku :string) -> :int",
                      "description": "The price of a thing. In euros."},
            "fails": {"error": "no luck"},
            "echo": {"command": ["cat"]}}))
        with Server("--tools", f"@{path}") as s:
            row = s.tools()["lisp_eval"]
            assert "tool/price (sku :string) -> :int: The price of a thing\n" in row["description"], row["description"]
            assert "no tools" not in row["description"] and "(tool/name {:arg 1})" in row["description"]
            assert row["annotations"].get("openWorldHint") is not False
            expect(s.eval('(tool/price {:sku "A"})').text, "5")
            expect(s.eval('(pmap #(tool/price {:sku %}) ["A" "B"])').text, "[5 0]")
            expect(s.eval('(:x (tool/echo {:x 1}))').text, "1")
            a = s.eval("(tool/fails)")
            assert a.failed and "no luck" in a.text, a.text


HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
HARMLESS = (True, False, True, False)


@test
def annotations_follow_the_tools():
    command = {"command": ["true"]}
    with tempfile.TemporaryDirectory() as d:
        for definitions, want in [
                ({}, HARMLESS),
                ({"v": {"value": 1}, "e": {"error": "x"}, "t": {"table": {"*": 1}}, "l": {"lisp": "(fn [a] a)"}}, HARMLESS),
                ({"v": {"value": 1}, "c": command | {"read_only": True}}, (True, False, True, True)),
                ({"v": {"value": 1}, "c": command}, (False, True, False, True)),
                ({"c": command | {"idempotent": True}}, (False, True, True, True)),
                ({"v": {"value": 1, "read_only": False}}, (False, True, False, False))]:
            path = files(d)("t.json", json.dumps(definitions))
            with Server("--sessions", "--tools", f"@{path}") as s:
                rows = s.tools()
                told = {name: tuple(rows[name]["annotations"][h] for h in HINTS) for name in
                        ["lisp_eval", "lisp_session_eval"]}
                expect(told["lisp_eval"], want, definitions)
                expect(told["lisp_session_eval"], (False, want[1], False, want[3]), definitions)


@test
def lisp_tools_are_charged_to_the_program():
    with tempfile.TemporaryDirectory() as d:
        path = files(d)("t.json", json.dumps({
            "spin": {"lisp": "(fn [args] (loop [] (recur)))"},
            "hog": {"lisp": "(fn [args] (count (vec (range 3000000))))"},
            "own": {"lisp": "(fn [args] #{:a})"}}))
        with Server("--tools", f"@{path}", "--program-timeout-ms", "300") as s:
            for program, reason in [("(try (tool/spin) (catch Exception e 1))", "timeout: "),
                                    ("(try (tool/hog) (catch Exception e 1))", "memory_limit: ")]:
                a = s.eval(program, signature=":any")
                assert a.failed and (a.text.startswith(reason) or a.text.startswith("timeout: ")), (program, a.text)
            expect(s.eval("(tool/own)").text, "#{:a}", "a value that JSON does not have")


# ---------------------------------------------------------------------------------- debug and traces

@test
def debug_tool():
    with Server("--debug-tool", "--debug-ring", "10") as s:
        for i in range(12):
            s.eval(f"(+ {i} 1)")
        s.eval("(/ 1 0)")
        stats = s.call("lisp_debug", op="stats").data
        expect(stats["calls"], 10)
        expect(stats["by_tool"]["lisp_eval"]["error"], 1)
        expect(stats["errors"], {"runtime_error": 1})
        recent = s.call("lisp_debug", op="recent", limit=3).data
        expect(recent["count"], 3)
        expect([r["ok"] for r in recent["records"]], [False, True, True])
        failures = s.call("lisp_debug", op="recent", errors_only=True, since_seconds=100).data
        expect(failures["count"], 1)
        record = s.call("lisp_debug", op="get", request_id=recent["records"][0]["request_id"]).data["record"]
        expect(record["reason"], "runtime_error")
        assert len(record["program"]["sha256"]) == 64 and "text" not in record["program"]
        assert s.call("lisp_debug", op="get", request_id="c1").failed
        assert s.call("lisp_debug", op="what").failed
        expect(s.eval("1").data["status"], "ok")  # --debug-tool makes the profile debug


TOOLS = {"look": {"table": {'{"key":"k1"}': "v1", "*": None}, "cache": True}, "broken": {"error": "no luck"}}
CALLS = '[(tool/look {:key "k1"}) (tool/look {:key "k1"}) (try (tool/broken) (catch Exception e 0))]'


@test
def tool_calls_are_told():
    with tempfile.TemporaryDirectory() as d:
        path = files(d)("t.json", json.dumps(TOOLS))
        with Server("--debug-tool", "--tools", f"@{path}", "--trace-payloads", "full") as s:
            a = s.eval(CALLS)
            calls = a.data["tool_calls"]
            expect([(c["name"], c["ok"], c["cached"]) for c in calls],
                   [("look", True, False), ("look", True, True), ("broken", False, False)])
            expect([(c["arguments"], c["result"]) for c in calls],
                   [('{"key" "k1"}', '"v1"'), ('{"key" "k1"}', '"v1"'), ("{}", "no luck")])
            assert all(isinstance(c["duration_us"], int) and c["duration_us"] >= 0 for c in calls), calls
            request = s.call("lisp_debug", op="recent").data["records"][0]["request_id"]
            record = s.call("lisp_debug", op="get", request_id=request).data["record"]
            expect(record["tool_calls"], 3)
            expect([(c["name"], c["ok"], c["arguments"]["text"], c["result"]["text"]) for c in record["calls"]],
                   [("look", True, '{"key" "k1"}', '"v1"')] * 2 + [("broken", False, "{}", "no luck")])
            assert "tool_calls" not in s.eval("1").data


@test
def tool_calls_in_traces():
    for policy in ["none", "summary", "full"]:
        with tempfile.TemporaryDirectory() as d:
            path, traces = files(d)("t.json", json.dumps(TOOLS)), os.path.join(d, "new")
            with Server("--tools", f"@{path}", "--trace-dir", traces, "--trace-payloads", policy) as s:
                s.eval(CALLS)
            with open(os.path.join(traces, os.listdir(traces)[0]), encoding="utf-8") as f:
                stop = [json.loads(line) for line in f][-1]
            expect([(c["name"], c["ok"], c["cached"]) for c in stop["calls"]],
                   [("look", True, False), ("look", True, True), ("broken", False, False)])
            expect(stop["calls"][0]["arguments"]["bytes"], len('{"key" "k1"}'))
            expect("sha256" in stop["calls"][0]["result"], policy != "none")
            expect("k1" in json.dumps(stop["calls"]), policy == "full")


@test
def trace_policies():
    for policy in ["none", "summary", "full"]:
        with tempfile.TemporaryDirectory() as d:
            traces = os.path.join(d, "new")
            with Server("--trace-dir", traces, "--trace-payloads", policy, "--trace-max-files", "3") as s:
                for _ in range(5):
                    s.eval('(str "se" "cret" data/a)', context={"a": 1})
                s.eval("(/ 1 0)")
            names = sorted(os.listdir(traces))
            expect(len(names), 3)
            with open(os.path.join(traces, names[0]), encoding="utf-8") as f:
                lines = [json.loads(line) for line in f]
            expect([l["event"] for l in lines], ["trace.start", "call.start", "call.stop"])
            expect(os.stat(os.path.join(traces, names[0])).st_mode & 0o777, 0o600)
            expect(lines[1]["program"]["bytes"], 24)
            expect("sha256" in lines[1]["program"], policy != "none")
            text = json.dumps(lines)
            expect("secret1" in text and "(str" in text, policy == "full")
            with open(os.path.join(traces, names[-1]), encoding="utf-8") as f:
                expect(json.loads(f.readlines()[-1])["reason"], "runtime_error")


@test
def many_clients_at_once():
    with Server("--max-concurrent-calls", "8") as s:
        numbers = {s.begin_call("lisp_eval", {"program": f"(* {i} 2)"}): i for i in range(60)}
        for n, i in numbers.items():
            expect(Answer(s.answer(n)).text, f"{2 * i}")


if __name__ == "__main__":
    main("mcp_app_eval")
