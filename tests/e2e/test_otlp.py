#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_otlp.py PTC: traces on their way to a collector: one that takes them, is slow, asks for patience, talks nonsense or
is not there.  No call waits for it."""
import contextlib
import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(1, f"{sys.path[0]}/..")
sys.path.insert(1, f"{sys.path[1]}/upstream")
from checks import check, finish  # pylint: disable=wrong-import-position
from mcp_talk import faulty  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
WAIT = 60
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"


class Collector(http.server.ThreadingHTTPServer):
    """Answers as it is told: a list of (status, headers, body), the last one for ever."""
    daemon_threads = True

    def __init__(self, *answers, pause=0):
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers, self.pause, self.requests, self.news = list(answers), pause, [], threading.Condition()
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass

    def wait(self, enough):
        with self.news:
            return self.news.wait_for(lambda: enough(self.requests), WAIT)

    def spans(self):
        return [span for _, _, body in self.requests for part in body["resourceSpans"] for scope in part["scopeSpans"]
                for span in scope["spans"]]


class Answering(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        with server.news:
            server.requests.append((self.path, dict(self.headers), json.loads(body)))
            status, headers, answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
            server.news.notify_all()
        time.sleep(server.pause)
        if not status:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


FINE = (200, {"Content-Type": "application/json"}, b"{}")


def environment(home, **more):
    return {"PATH": os.environ["PATH"], "HOME": home, **more}


class Server:
    """`ptc mcp` on stdio."""

    def __init__(self, home, *options, **env):
        self.process = subprocess.Popen([PTC, "mcp", "--isolation", "none", *options], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(home, **env))
        self.number, self.errors = 0, ""
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}})

    def request(self, method, params):
        self.number += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.number:
                return message["result"]

    def eval(self, program, **meta):
        return self.request("tools/call", {"name": "lisp_eval", "arguments": {"program": program}, "_meta": meta})

    def end(self):
        """How long it took."""
        began = time.monotonic()
        self.process.stdin.close()
        self.process.wait(WAIT)
        self.errors = self.process.stderr.read()
        self.process.stderr.close()
        self.process.stdout.close()
        return time.monotonic() - began


def told(span):
    return {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}


def test_calls(home):
    pathlib.Path(home, "t.json").write_text(json.dumps({"echo": {"command": ["cat"]}}), encoding="utf-8")
    up = {"upstreams": {"f": faulty(home, "f", "meta")}}
    pathlib.Path(home, "u.json").write_text(json.dumps(up), encoding="utf-8")
    variables = {"OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b,x-other=c", "OTEL_SERVICE_NAME": "my \"ptc\""}
    with Collector(FINE) as to:
        server = Server(home, "--otlp", to.url, "--tools", f"@{home}/t.json", "--upstreams", f"{home}/u.json", **variables)
        result = server.eval('(do (tool/echo {:a 1}) (f/echo {:text "x"}))', traceparent=PARENT + "01", tracestate="a=b")
        server.eval("(+ 1 ", traceparent=PARENT + "00")
        server.eval("(/ 1 0)")
        took = server.end()
        check("ends at once", took < 10, took)
        path, headers, body = to.requests[0]
        check("where and how", path == "/v1/traces" and headers["Content-Type"] == "application/json", (path, headers))
        check("headers of the variable", headers.get("x-key") == "a b" and headers.get("x-other") == "c", headers)
        named = body["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"]
        check("its name", named == 'my "ptc"', named)
        spans = {told(s).get("gen_ai.tool.name") or told(s)["ptc.kind"]: s for s in to.spans() if s["traceId"] == PARENT[3:35]}
        check("the call and what it calls", set(spans) == {"lisp_eval", "echo", "f/echo"}, spans)
        call, inner = spans["lisp_eval"], spans["f/echo"]
        check("the call is inside the client's span", call["parentSpanId"] == PARENT[36:52] and call["kind"] == 2, call)
        check("calls are inside it", inner["parentSpanId"] == spans["echo"]["parentSpanId"] == call["spanId"], spans)
        sent = result["structuredContent"]["result"]
        check("the other server has the same ids", sent["traceparent"] == f"{PARENT[:36]}{inner['spanId']}-01"
              and sent["tracestate"] == "a=b", (sent, inner))
        others = [s for s in to.spans() if s["traceId"] != PARENT[3:35]]
        check("an error, in a trace of its own", len(others) == 1 and others[0]["status"]["code"] == 2
              and "parentSpanId" not in others[0], others)
        check("what its client does not keep is not told", len(to.spans()) == 4, to.spans())
        check("no word about it", "otlp" not in server.errors, server.errors)


def test_secret(home):
    pathlib.Path(home, "t.json").write_text(json.dumps({"cry": {"command": ["sh", "-c", "echo $KEY >&2; exit 1"], "env": ["KEY"]}}), encoding="utf-8")
    with Collector(FINE) as to:
        server = Server(home, "--otlp", to.url + "/", "--trace-payloads", "full", "--tools", f"@{home}/t.json", KEY="very-secret-value")
        server.eval('(tool/cry {:a "a-private-text"})')
        server.end()
        check("no secrets and no texts of programs", to.spans() and "very-secret" not in json.dumps(to.requests)
              and "a-private-text" not in json.dumps(to.requests), to.requests)


def test_agent(home):
    agent = {"name": "one", "prompt": "Do.", "llm": [{"content": "```clojure\n(return (+ 1 2))\n```", "tokens": {"input": 4, "output": 9}}]}
    pathlib.Path(home, "agent.json").write_text(json.dumps(agent), encoding="utf-8")
    with Collector(FINE) as to:
        done = subprocess.run([PTC, "run", f"{home}/agent.json", "--otlp", "env", "--trace", f"{home}/t.jsonl"], capture_output=True, text=True,
                              timeout=WAIT, check=False, env=environment(home, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=to.url + "/mine"))
        check("the run", done.stdout == "3\n" and not done.stderr, done)
        check("the address as it is", {path for path, _, _ in to.requests} == {"/mine"}, to.requests)
        kinds = sorted(told(s)["ptc.kind"] for s in to.spans())
        check("its parts", kinds == sorted(["run", "turn", "model", "program"]) or len(kinds) == 4, kinds)
        file = subprocess.run([PTC, "trace", "otlp", f"{home}/t.jsonl"], capture_output=True, text=True, timeout=WAIT, check=True)
        of_file = [s for p in json.loads(file.stdout)["resourceSpans"] for sc in p["scopeSpans"] for s in sc["spans"]]
        check("the same as of the file", of_file == to.spans(), (of_file, to.spans()))
    done = subprocess.run([PTC, "run", f"{home}/agent.json"], capture_output=True, text=True, timeout=WAIT, check=False,
                          env=environment(home, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1"))
    check("variables alone send nothing", done.stdout == "3\n" and not done.stderr, done)


def test_eval(home):
    up = {"upstreams": {"f": faulty(home, "f", "meta", trust_annotations=True, policy={"*": "allow"})}}
    pathlib.Path(home, "u.json").write_text(json.dumps(up), encoding="utf-8")
    with Collector(FINE) as to:
        done = subprocess.run([PTC, "eval", "--otlp", to.url, "--upstreams", f"{home}/u.json", '(get (f/echo {:text "x"}) "traceparent")'],
                              capture_output=True, text=True, timeout=WAIT, check=False, env=environment(home))
        spans = {told(s)["gen_ai.tool.name"]: s for s in to.spans()}
        check("the program and its call", set(spans) == {"eval", "f/echo"} and spans["f/echo"]["parentSpanId"] == spans["eval"]["spanId"], (done, spans))
        check("ids reach the server", spans["f/echo"]["spanId"] in done.stdout and spans["eval"]["traceId"] in done.stdout, (done, spans))
        done = subprocess.run([PTC, "eval", "--otlp", to.url, "(/ 1 0)"], capture_output=True, text=True, timeout=WAIT, check=False, env=environment(home))
        last = to.spans()[-1]
        check("a failure", done.returncode == 1 and last["status"]["code"] == 2 and told(last)["error.type"], (done, last))
    done = subprocess.run([PTC, "eval", "--otlp", "x", "1"], capture_output=True, text=True, timeout=WAIT, check=False, env=environment(home))
    check("a wrong address", done.returncode == 2 and "--otlp: the address" in done.stderr and not done.stdout, done)


def test_patience(home):
    """Sent again, once, after what it was asked for; and given up at once where that makes no sense."""
    with Collector((429, {"Retry-After": "1"}, b"later"), (503, {}, b""), FINE) as to:
        server = Server(home, "--otlp", to.url)
        server.eval("1")
        began = time.monotonic()
        check("three tries", to.wait(lambda r: len(r) == 3), to.requests)
        check("the collector's second was waited for", time.monotonic() - began > 1)
        check("the same each time", to.requests[0][2] == to.requests[1][2] == to.requests[2][2])
        server.end()
        check("nothing was lost", "otlp" not in server.errors, server.errors)
    with Collector((400, {}, b"\xff garbage")) as to:
        server = Server(home, "--otlp", to.url)
        for _ in range(3):
            server.eval("1")
        check("refused", to.wait(len), to.requests)
        server.eval("2")
        server.end()
        check("told once", server.errors.count("the collector answered 400") == 1, server.errors)
        check("not sent again", len(to.requests) == 2, to.requests)
    with Collector((200, {}, b"\x00no JSON" * 20000)) as to:
        server = Server(home, "--otlp", to.url)
        server.eval("1")
        check("whatever it answers with 200", to.wait(len) and server.eval("2")["structuredContent"]["result"] == 2)
        server.end()


def test_trouble(home):
    """A collector that does not answer, is gone or never was costs no call anything, and two seconds at the end."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with Collector(FINE, pause=30) as slow, Collector((0, {}, b"")) as gone:
            servers = [Server(home, "--otlp", url) for url in (nowhere, slow.url, gone.url)]
            for server in servers:
                began = time.monotonic()
                for i in range(50):
                    check("calls go on", server.eval(f"{i}")["structuredContent"]["result"] == i)
                check("no call waits", time.monotonic() - began < 10)
            for server in servers:
                server.process.stdin.close()
            for server in servers:
                took = server.end()
                check("it ends soon", took < 10, took)
                check("told once", server.errors.count("--otlp:") == 1 and "traces were left out" in server.errors, server.errors)


@contextlib.contextmanager
def serving(home, *options):
    server = subprocess.Popen([PTC, "mcp", "--http", "127.0.0.1:0", "--isolation", "none", "--quiet", "--leave-ms", "0", *options],
                              env=environment(home), stderr=subprocess.PIPE, text=True)
    try:
        yield next(int(line.split()[-1]) for line in server.stderr if "listening on port" in line)
    finally:
        server.terminate()
        server.wait(WAIT)
        server.stderr.close()


def test_metrics(home):
    with Collector(FINE) as good, Collector((400, {}, b"")) as bad:
        for to, name in ((good, "sent"), (bad, "dropped")):
            with serving(home, "--otlp", to.url) as port:
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "lisp_eval", "arguments": {"program": "1"}, "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"}}}}
                request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", json.dumps(message).encode(), {
                    "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                    "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "lisp_eval"})
                urllib.request.urlopen(request, timeout=WAIT).close()
                check("sent", to.wait(len))
                page, end = "", time.monotonic() + WAIT
                while f"ptc_otlp_{name}_total 1\n" not in page and time.monotonic() < end:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=WAIT) as answer:
                        page = answer.read().decode()
                check("counted", f"ptc_otlp_{name}_total 1\n" in page, page[-500:])


def test_mistakes(home):
    for option, env in (("ftp://x", {}), ("http://u:p@host", {}), ("", {}), ("http://127.0.0.1:1", {"OTEL_EXPORTER_OTLP_HEADERS": "x"}),
                        ("http://127.0.0.1:1", {"OTEL_EXPORTER_OTLP_HEADERS": "x=%0aY: z"}), ("env", {"OTEL_EXPORTER_OTLP_ENDPOINT": "nonsense"})):
        done = subprocess.run([PTC, "mcp", "--otlp", option], capture_output=True, text=True, timeout=WAIT, check=False,
                              stdin=subprocess.DEVNULL, env=environment(home, **env))
        check(f"refused: {option} {env}", done.returncode == 2 and "--otlp" in done.stderr and ":p@" not in done.stderr, done)


if __name__ == "__main__":
    for each in (test_calls, test_secret, test_agent, test_eval, test_patience, test_trouble, test_metrics, test_mistakes):
        with tempfile.TemporaryDirectory() as directory:
            each(directory)
    sys.exit(finish("otlp"))
