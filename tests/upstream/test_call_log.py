#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_call_log.py PTC: what answers and lisp_debug tell of calls in upstreams: `upstream_calls`, `ptc_metrics`, stats; and what traces, metrics and upstreams see of them; pictures in answers; the
description that changes once.

Nothing here depends on how fast the machine is."""
import base64
import contextlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request

from mcp_talk import Talk, environment, faulty

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish, skip  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
PROGRAMS = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "npm" / "node_modules" / ".bin"


MEMBERS = {"id", "server", "tool", "status", "duration_ms", "result_bytes", "oversize", "effect", "policy", "approved",
           "attempts", "wait_ms", "request_bytes"}


def check_lines(way, talk):
    said = talk.run('[(count (f/echo {:text "hello"})) (:reason (tool/call {:server "f" :tool "fail" :args {}}))]')
    calls = said.get("upstream_calls", [])
    check(way + ": a line for each call", [(c["tool"], c["status"]) for c in calls] == [("echo", "ok"), ("fail", "error")], said)
    if len(calls) != 2:
        return
    check(way + ": the members", MEMBERS <= set(calls[0]) and "reason" not in calls[0], calls[0])
    check(way + ": a failure", calls[1]["reason"] == "tool_error" and calls[1]["error"], calls[1])
    check(way + ": effect and policy", (calls[0]["effect"], calls[0]["policy"], calls[0]["approved"]) == ("read", "allow", False))
    check(way + ": bytes", calls[0]["result_bytes"] > 40 and calls[0]["request_bytes"] > 20 and calls[0]["attempts"] == 1)
    m = said["ptc_metrics"]
    check(way + ": counts", (m["upstream_call_count"], m["upstream_ok_count"], m["upstream_error_count"]) == (2, 1, 1), m)
    check(way + ": bytes of what succeeded", m["upstream_result_bytes"] == calls[0]["result_bytes"]
          and m["upstream_error_bytes"] == calls[1]["result_bytes"], m)
    ratio = m["upstream_result_bytes"] / m["final_result_bytes"]
    check(way + ": the ratio", abs(m["payload_reduction_ratio"] - ratio) <= 0.006, m)
    check(way + ": nothing made up", m["baseline"]["optimistic"]["available"] is False
          and m["baseline"]["conservative"]["ratio"] == m["payload_reduction_ratio"], m["baseline"])


def check_edges(way, talk):
    said = talk.run("(+ 1 2)")
    check(way + ": no calls, no ratio", said["upstream_calls"] == []
          and said["ptc_metrics"]["payload_reduction_ratio"] is None, said)
    said = talk.run('(do (f/echo {:text "x"}) (/ 1 0))')
    check(way + ": a program that fails tells of its calls", said["status"] == "error" and len(said["upstream_calls"]) == 1
          and said["ptc_metrics"]["payload_reduction_ratio"] is None
          and said["ptc_metrics"]["final_result_bytes"] == 0, said)
    said = talk.run('(:reason (tool/call {:server "f" :tool "big" :args {:bytes 3000000}}))')
    call = said["upstream_calls"][0]
    check(way + ": too large", call["oversize"] is True and call["reason"] == "response_too_large"
          and said["ptc_metrics"]["upstream_oversize_count"] == 1
          and said["ptc_metrics"]["upstream_result_bytes"] == 0, said)
    check(way + ": too large, bytes", call["result_bytes"] >= 1000000, call)
    said = talk.run('(map #(:reason (tool/call {:server "f" :tool % :args {:text "x"}})) (repeat 40 (str "wri" "te")))')
    refused = [c for c in said["upstream_calls"] if c["reason"] == "denied" and c["attempts"] == 0]
    check(way + ": what was denied is told, the first few times", len(refused) == len(said["upstream_calls"]) == 16, len(refused))
    said = talk.run('(frequencies (map (fn [_] (:reason (tool/call {:server "f" :tool "count" :args {}}))) (range 203)))')
    check(way + ": beyond the cap", [c.get("reason") for c in said["upstream_calls"]] == [None] * 200 + ["cap_exhausted"] * 3,
          said["upstream_calls"][-4:])


def check_debug(way, talk):
    stats = talk.call("lisp_debug", op="stats")["structuredContent"]
    calls = stats["upstream_calls"]
    check(way + ": outcomes", calls["by_server"]["f"]["total"] == calls["total"]
          and calls["by_reason"]["response_too_large"] == 1 and calls["by_reason"]["cap_exhausted"] == 3
          and calls["total"] == calls["ok"] + sum(calls["by_reason"].values()), calls)
    reduction = stats["payload_reduction"]
    check(way + ": ratios", reduction["reduction_ratio"]["max"] >= reduction["reduction_ratio"]["p50"]
          and reduction["top_reducers"][0]["ratio"] == reduction["reduction_ratio"]["max"], reduction)
    up = stats["upstreams"][0]
    check(way + ": the upstream", (up["server"], up["state"], up["breaker"], up["restarts"]) == ("f", "ready", "closed", 0)
          and up["tool_count"] == 7 and up["catalog_bytes"] > 500, up)
    recent = talk.call("lisp_debug", op="recent")["structuredContent"]["records"]
    first = [r for r in recent if r.get("upstream_calls") == 2]
    check(way + ": recent", len(first) == 1 and first[0]["payload_reduction_ratio"], recent)
    record = talk.call("lisp_debug", op="get", request_id=first[0]["request_id"])["structuredContent"]["record"]
    check(way + ": get", [c["tool"] for c in record["upstream_calls"]] == ["echo", "fail"]
          and record["ptc_metrics"]["upstream_call_count"] == 2, record)
    check(way + ": what a failure said is a payload", "text" not in record["upstream_calls"][1]["error"]
          and record["upstream_calls"][1]["error"]["bytes"] > 0, record["upstream_calls"][1])


def check_profiles(home):
    for profile in ("slim", "structured"):
        with Talk(PTC, home, {"f": faulty(home, "f")}, "--profile", profile) as talk:
            said = talk.run('(f/echo {:text "x"})')
            check(profile + ": nothing of it", not {"upstream_calls", "ptc_metrics"} & set(said), said)


def check_tool_error(home):
    """A write whose tool says that it failed may have done a part of its work."""
    for effect, told, again in (("write", True, "unknown"), ("write idempotent", True, "safe"), ("read", False, "safe")):
        with Talk(PTC, home, {"f": faulty(home, "f", effects={"fail": effect}, policy={"*": "allow"}, pin=False)}) as talk:
            said = talk.call("lisp_eval", program="(do (f/fail {}) 1)")
            text = said["content"][0]["text"]
            check(f"tool error: {effect}", ("sent, but what it did is not known: f/fail" in text) == told and f"run again: {again}" in text
                  and "took effect" not in text, said)


def check_restart(home):
    with Talk(PTC, home, {"d": faulty(home, "d", "dies"), "f": faulty(home, "f")}, "--debug-tool") as talk:
        said = talk.run('(:reason (tool/call {:server "d" :tool "echo" :args {:text "x"}}))')
        call = said["upstream_calls"][0]
        check("a server that dies", call["attempts"] == 3 and call["reason"] == "upstream_unavailable", said)
        ups = {u["server"]: u for u in talk.call("lisp_debug", op="stats")["structuredContent"]["upstreams"]}
        check("its restarts", ups["d"]["restarts"] >= 1 and ups["f"]["restarts"] == 0, ups)
        check("three exits are not five", ups["d"]["breaker"] == "closed", ups)
        said = talk.run('(:reason (tool/call {:server "d" :tool "echo" :args {:text "x"}}))')
        call = said["upstream_calls"][0]
        ups = {u["server"]: u for u in talk.call("lisp_debug", op="stats")["structuredContent"]["upstreams"]}
        check("five exits open the breaker", call["attempts"] == 2 and ups["d"]["breaker"] == "open", [call, ups])


SECRET = "sesame-street-77"


def check_traces(home, payloads):
    traces = os.path.join(home, payloads)
    up = {"f": faulty(home, "f", "echoes_credential", env={"TOKEN": SECRET}), "g": faulty(home, "g")}
    with Talk(PTC, home, up, "--trace-dir", traces, "--trace-payloads", payloads) as talk:
        talk.run(f'[(f/echo {{:text "{SECRET} and more"}}) (:reason (tool/call {{:server "g" :tool "fail" :args {{}}}}))]')
    with open(os.path.join(traces, os.listdir(traces)[0]), encoding="utf-8") as f:
        text = f.read()
    events = [json.loads(line) for line in text.splitlines()]
    check(payloads + ": events", [(e["event"], e.get("id")) for e in events] ==
          [("trace.start", None), ("call.start", None), ("upstream.start", "u1"), ("upstream.stop", "u1"),
           ("upstream.start", "u2"), ("upstream.stop", "u2"), ("call.stop", None)], events)
    start, stop, failed = events[2], events[3], events[5]
    check(payloads + ": start", (start["server"], start["tool"], start["effect"]) == ("f", "echo", "read") and start["ts"], start)
    check(payloads + ": stop", stop["status"] == "ok" and stop["duration_ms"] > 0 and stop["result_bytes"] > 20, stop)
    check(payloads + ": failure", failed["reason"] == "tool_error" and failed["error"]["bytes"] > 0, failed)
    check(payloads + ": no secret", SECRET not in text, text)
    if payloads == "full":
        check("full: texts", "[secret] and more" in start["arguments"]["text"] and "[secret]" in stop["result"]["text"]
              and failed["error"]["text"] == "it did not work", (start, stop))
    elif payloads == "summary":
        check("summary: digests", len(start["arguments"]["sha256"]) == 64 and "text" not in start["arguments"], start)
    else:
        check("none: nothing", "arguments" not in start and "result" not in stop, (start, stop))


PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def check_traceparent(home):
    for options in (("--isolation", "auto"), ("--isolation", "none")):
        with Talk(PTC, home, {"f": faulty(home, "f", "meta")}, *options) as talk:
            def meta_of(parent):
                result = talk.request("tools/call", {"name": "lisp_eval", "_meta": {"traceparent": parent},
                                                     "arguments": {"program": '(map #(f/echo {:text %}) ["a" "b"])'}})
                return [m.get("traceparent") if isinstance(m, dict) else None for m in result["structuredContent"]["result"]]
            a, b = meta_of(PARENT)
            check("the trace goes on", a and b and a[:36] == b[:36] == PARENT[:36] and a[-3:] == "-01" and len(a) == 55, (a, b))
            check("with an id for each call", a != b and a != PARENT, (a, b))
            for wrong in ("x", PARENT[:-1], PARENT + "0", PARENT.upper(), "00-" + "0" * 32 + PARENT[35:], "ff" + PARENT[2:]):
                check("what is none goes nowhere: " + wrong, meta_of(wrong) == [None, None])


STATE, BAGGAGE = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", "user=a%20b;secret=no, region=eu"
LONG_STATE = ",".join(f"k{i}=" + "v" * 60 for i in range(12))
NAMES = ("traceparent", "tracestate", "baggage")


def check_state_and_baggage(home):
    """Both go on beside traceparent; what is not as the standards say does not."""
    with Talk(PTC, home, {"f": faulty(home, "f", "meta")}) as talk:
        def meta_of(**meta):
            result = talk.request("tools/call", {"name": "lisp_eval", "_meta": meta,
                                                 "arguments": {"program": '(f/echo {:text "a"})'}})
            got = result["structuredContent"]["result"] or {}
            return [(got if isinstance(got, dict) else {}).get(name) for name in NAMES]
        parent, state, baggage = meta_of(traceparent=PARENT, tracestate=STATE, baggage=BAGGAGE)
        check("all three go on", parent[:36] == PARENT[:36] and (state, baggage) == (STATE, BAGGAGE), (parent, state, baggage))
        check("no state without a parent", meta_of(tracestate=STATE, baggage=BAGGAGE) == [None, None, BAGGAGE])
        cut = meta_of(traceparent=PARENT, tracestate=LONG_STATE)[1]
        check("a long state loses its oldest members", len(cut) <= 512 and LONG_STATE.startswith(cut + ","), cut)
        for wrong in ("x", "=y", "A=b", "a=b,a=c", "a=b=c", "a=" + "v" * 257, "a=b\r\nX: y", "a=\u00e9", ",".join(f"k{i}=v" for i in range(33))):
            check(f"no state: {wrong[:20]!r}", meta_of(traceparent=PARENT, tracestate=wrong)[1] is None)
        for wrong in ("x", "=y", "a b=c", 'a="b"', "a=b\nX: y", "a=\u00e9", "a=" + "v" * 8192, ",".join(f"k{i}=v" for i in range(65)), 7):
            check(f"no baggage: {str(wrong)[:20]!r}", meta_of(traceparent=PARENT, baggage=wrong)[2] is None)


class Noting(http.server.BaseHTTPRequestHandler):
    """A service that notes the headers of its requests."""
    heard = []

    def do_GET(self):
        Noting.heard.append([self.headers.get(name) for name in NAMES])
        body = b"{}"
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def check_headers_of_traces(home):
    """They come in headers of HTTP too, and reach services in theirs."""
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Noting)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    document = {"openapi": "3.1.0", "info": {"title": "N", "version": "1"}, "paths": {"/b": {"get": {"operationId": "x"}}}}
    pathlib.Path(home, "n.json").write_text(json.dumps(document), encoding="utf-8")
    command = [sys.executable, str(pathlib.Path(__file__).with_name("faulty.py")), "meta", "--http"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as other:
        its = re.search(r"listening on port (\d+)", other.stderr.readline()).group(1)
        upstreams = {"n": {"base_url": f"http://127.0.0.1:{service.server_port}", "schema_file": str(pathlib.Path(home, "n.json"))},
                     "f": {"url": f"http://127.0.0.1:{its}/mcp", "trust_annotations": True, "policy": {"*": "allow"}}}
        pathlib.Path(home, "u.json").write_text(json.dumps({"upstreams": upstreams}), encoding="utf-8")
        with serving(home, "--upstreams", str(pathlib.Path(home, "u.json"))) as port:
            def heard(program, **headers):
                Noting.heard.clear()
                text = post(port, "tools/call", {"name": "lisp_eval", "arguments": {"program": program}}, headers)
                return list(Noting.heard), json.loads(text)["result"].get("structuredContent", {}).get("result", text)
            sent = dict(zip(NAMES, (PARENT, STATE, BAGGAGE)))
            (got,), _ = heard("(n/x {})", **sent)
            check("a service gets headers", got[0][:36] == PARENT[:36] and got[0] != PARENT and got[1:] == [STATE, BAGGAGE], got)
            _, meta = heard('(f/echo {:text "a"})', **sent)
            check("an upstream answers", isinstance(meta, dict), meta)
            check("an upstream gets _meta", meta["traceparent"][:36] == PARENT[:36] and meta["baggage"] == BAGGAGE, meta)
            (got,), _ = heard("(n/x {})", traceparent="00-x", tracestate="a=b", baggage="a\u00ff=b")
            check("what is none is no reason to refuse the call", got == [None, None, None], got)
        other.terminate()
    service.shutdown()


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return answer.read().decode()


def post(port, method, params, headers=None):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", json.dumps(body).encode(), {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": params.get("name", ""),
        **(headers or {})})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def serving(home, *options):
    """A server over HTTP; gives its port."""
    server = subprocess.Popen([PTC, "mcp", "--http", "127.0.0.1:0", "--quiet", *options], env=environment(home),
                              stderr=subprocess.PIPE, text=True)
    try:
        port = next(int(line.split()[-1]) for line in server.stderr if "listening on port" in line)
        threading.Thread(target=server.stderr.read, daemon=True).start()
        yield port
    finally:
        server.terminate()
        server.wait(timeout=60)
        server.stderr.close()


def check_metrics(home):
    path = os.path.join(home, "m.json")
    with open(path, "w", encoding="utf-8") as out:
        many = {f"off-{i}": {"command": "none", "enabled": False} for i in range(300)}
        json.dump({"upstreams": {"f x": faulty(home, "f"), "d": faulty(home, "d", "dies", retry="none"), **many}}, out)
    with serving(home, "--upstreams", path) as port:
        said = post(port, "tools/call", {"name": "lisp_eval", "arguments": {"program": """
            [(f-x/echo {:text "x"}) (:reason (tool/call {:server "f x" :tool "fail" :args {}}))
             (:reason (tool/call {:server "d" :tool "echo" :args {:text "x"}}))]"""}})
        page = get(port, "/metrics")
        for line in ('ptc_upstream_calls_total{server="f-x",status="ok",reason=""} 1',
                     'ptc_upstream_calls_total{server="f-x",status="error",reason="tool_error"} 1',
                     'ptc_upstream_calls_total{server="d",status="error",reason="upstream_unavailable"} 1',
                     'ptc_upstream_call_seconds_count{server="f-x"} 2', 'ptc_upstream_attempts_total{server="f-x"} 2',
                     'ptc_upstream_connections{server="f-x",state="ready"} 1',
                     'ptc_upstream_connections{server="d",state="down"} 1', 'ptc_upstream_breaker_open{server="f-x"} 0',
                     'ptc_upstream_restarts_total{server="f-x"} 0', 'ptc_upstream_tools{server="f-x"} 7'):
            check("metrics", line + "\n" in page, (line, said, page[-4000:]))
        check("metrics of many upstreams", 'ptc_upstream_starts_total{server="off-299"} 0\n' in page, len(page))
        check("metrics: age and bytes", 'ptc_upstream_catalog_age_seconds{server="f-x"} ' in page
              and 'ptc_upstream_catalog_bytes{server="f-x"} 1' in page, page[-900:])


def check_pictures(home):
    for options in ((), ("--isolation", "none"), ("--profile", "debug"), ("--sessions",)):
        up = {"f": faulty(home, "f", "pictures"), "e": faulty(home, "e", "echoes_credential", env={"TOKEN": SECRET})}
        with Talk(PTC, home, up, *options) as talk:
            def run(program):
                return talk.call("lisp_eval", program=program)["content"]

            content = run("(f/big {:bytes 30})")
            kinds = [block["type"] for block in content]
            check("pictures behind the text", kinds == ["text", "image", "audio", "resource"], content)
            if len(kinds) != 4:
                continue
            check("the picture", content[1]["mimeType"] == "image/png" and base64.b64decode(content[1]["data"]) == b"p" * 30)
            check("the file", content[3]["resource"]["blob"] == "AAEC" and content[3]["resource"]["mimeType"] == "application/x-a")
            check("the text refers to them", "blob-1" in content[0]["text"] and content[1]["data"] not in content[0]["text"])
            content = run("(->> (range 3) (map (fn [_] (first (get (f/big {:bytes 30}) \"content\")))) (map #(assoc % :n 1)))")
            check("those that the answer holds", [b["type"] for b in content] == ["text"] + ["image"] * 3, content)
            content = run("(->> (range 6) (mapv (fn [i] (first (get (f/big {:bytes (+ 3 (* 3 i))}) \"content\")))))")
            check("four at most", [len(b["data"]) for b in content[1:]] == [4, 8, 12, 16], content)
            content = run("(f/big {:bytes 900000}) (mapv (fn [i] (first (get (f/big {:bytes i}) \"content\"))) [900000 900000 3])")
            check("1 MiB at most", [len(b["data"]) for b in content[1:]] == [1200000, 4], [len(str(b)) for b in content])
            content = run("""(let [all (pmap (fn [i] [(* 4 i) (first (get (f/big {:bytes (* 3 i)}) "content"))]) (range 1 21))]
                [(count (set (map #(get (second %) "ref") all)))
                 (every? (fn [[n b]] (= n (count (tool/blob (get b "ref"))))) all)])""")
            check("each its own, at once", "[20 true]" in content[0]["text"], content)
            check("none without a ref", len(run("(count (f/big {:bytes 30}))")) == 1)
            check("a ref in a text is none", len(run('(do (f/big {:bytes 3}) (str "{\\"ref\\":\\"blob-1\\"}"))')) == 1)
            check("of another run", len(run('{:type "image" :ref "blob-1"}')) == 1)
            check("one behind very many refs", len(run('(let [p (f/big {:bytes 30})] (conj (vec (repeat 1200 {:ref "blob-99"})) p))')) == 1)
            check("one behind many refs to another", len(run('(let [p (get (f/big {:bytes 30}) "content")] (conj (vec (repeat 500 (first p))) (get p 2)))')) == 3)
            check("no number of ours", len(run('(do (f/big {:bytes 30}) [{:ref "blob-01"} {:ref "blob-"} {:ref "blob-1x"} {:ref "blob-18446744073709551617"}])')) == 1)
            content = run("(e/big {:bytes 30})")
            check("one with a secret in it", len(content) == 1 and SECRET not in str(content), content)


def check_retold(home):
    """What models read changes once, when upstreams that were never listed have been; not at all when all are known."""
    ups = {"f": faulty(home, "f"), "dead": faulty(home, "dead", "exit_at_start")}

    def eval_row(talk):
        return next(t for t in talk.request("tools/list")["tools"] if t["name"] == "lisp_eval")

    with Talk(PTC, home, ups, "--upstreams-policy", "read-only") as talk:
        check("a change is announced", talk.initialized["capabilities"]["tools"] == {"listChanged": True}, talk.initialized)
        before = eval_row(talk)
        told = talk.notices.get(timeout=100)["method"]
        check("the change is told", told == "notifications/tools/list_changed", told)
        after = eval_row(talk)
        check("tools are in the description now", "echo" in after["description"] and "echo" not in before["description"], after)
        check("nothing else has changed", {**after, "description": before["description"]} == before, (before, after))
        check("programs run", talk.run('(f/echo {:text "x"})')["result"] == "x")
        check("it is told once", talk.notices.empty())
    with Talk(PTC, home, {"f": ups["f"]}) as talk:
        check("nothing is announced when all is known", talk.initialized["capabilities"]["tools"] == {}, talk.initialized)
        check("what was known is told at once", "echo" in eval_row(talk)["description"])


def check_filesystem(home):
    """5 MB of JSON read through a real server; ten rows come back."""
    server = PROGRAMS / "mcp-server-filesystem"
    if not server.exists():
        skip("mcp-server-filesystem is not installed")
        return
    rows = [{"id": i, "kind": f"k{i % 10}", "size": i, "text": "x" * 60} for i in range(52000)]
    text = json.dumps(rows)
    with open(os.path.join(home, "rows.json"), "w", encoding="utf-8") as out:
        out.write(text)
    program = """(->> (files/read_text_file {:path "%s/rows.json"}) :content json/parse-string (group-by :kind)
                      (map (fn [[k v]] {:kind k :n (count v) :size (reduce + (map :size v))})) (sort-by :kind))""" % home
    entry = {"command": str(server), "args": [home]}
    for options in ((), ("--profile", "debug", "--isolation", "none")):
        with Talk(PTC, home, {"files": entry}, *options) as talk:
            said = talk.run(program)
            result = said["result"]
            if not options:
                check("ten rows", len(result) == 10 and result[3] == {"kind": "k3", "n": 5200, "size": sum(range(3, 52000, 10))}, said)
                check("in few bytes", talk.line_bytes < 1000, talk.line_bytes)
                continue
            call = said["upstream_calls"][0]
            # The server sends the text twice, as content and as structured content, each as a JSON string.
            least = 2 * len(json.dumps(text))
            check("all that was received is counted", least <= call["result_bytes"] <= least + 400, (least, call))
            check("the ratio of it", said["ptc_metrics"]["payload_reduction_ratio"] > 10000, said["ptc_metrics"])


def main():
    for isolation in ("auto", "none"):
        with tempfile.TemporaryDirectory() as home:
            up = {"f": faulty(home, "f", max_response_bytes=1000000)}
            with Talk(PTC, home, up, "--debug-tool", "--isolation", isolation) as talk:
                check_lines(isolation, talk)
                check_edges(isolation, talk)
                check_debug(isolation, talk)
    with tempfile.TemporaryDirectory() as home:
        check_retold(home)
    with tempfile.TemporaryDirectory() as home:
        check_profiles(home)
        check_tool_error(home)
        check_restart(home)
        for payloads in ("none", "summary", "full"):
            check_traces(home, payloads)
        check_traceparent(home)
        check_state_and_baggage(home)
        check_headers_of_traces(home)
        check_metrics(home)
        check_pictures(home)
        check_filesystem(os.path.realpath(home))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
