#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_secrets.py PTC: secrets in variables, headers, files and from programs, with upstreams that echo them in every way they can:
none is found in an answer, a description, an error, a log, a trace, a debug record, a file that ptc wrote, or the memory of a
worker."""
import base64
import concurrent.futures
import json
import os
import sys
import tempfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.dont_write_bytecode = True
from place import Counts, Mcp, Place  # noqa: E402

counts = Counts()
PTC = sys.argv[1]

SECRETS = {
    "variable": 'var/4711+"quoted"\\x?&=',
    "literal": "literal-4711-in-the-file",
    "file": "of-env-file-4711-7",
    "bearer": "bearer-4711-abcdef",
    "credential file": "cred-file-4711-ghijk",
    "program": "exec-4711-lmnopq",
    "header": "header-4711-rstuv",
    "address": "addr-4711-wxyz",
    "argument": "argument-4711-abc",
    "option": "option-4711-defgh",
    "inherited": "inherited-4711-ij",
}
SHORT = "zq9x7"  # too short to be taken out of results, not of records


def forms(secret):
    """How a secret may come back."""
    raw = secret.encode()
    out = {secret, urllib.parse.quote(secret, safe=""), json.dumps(secret)[1:-1], base64.b64encode(raw).decode(),
           base64.urlsafe_b64encode(raw).decode(), base64.b64encode(b"user:" + raw).decode(), base64.b64encode(b"a" + raw).decode(),
           "".join(f"%{b:02x}" for b in raw), "".join(f"%{b:02X}" for b in raw)}
    return sorted(out)


# A server that says all it knows, wherever it can.  WHAT(request headers) gives the texts.
SAYS = r'''
import base64, json, urllib.parse
def encoded(secret):
    raw = secret.encode()
    return [secret, urllib.parse.quote(secret, safe=""), json.dumps(secret), base64.b64encode(raw).decode(),
            base64.b64encode(b"user:" + raw).decode(), base64.b64encode(b"a" + raw).decode(),
            "".join(f"%{b:02x}" for b in raw), "".join(f"%{b:02X}" for b in raw)]
def answer(method, params, secrets):
    all = " ".join(form for s in secrets for form in encoded(s))
    read = {"readOnlyHint": True}
    if method == "initialize":
        return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "instructions": all,
                           "serverInfo": {"name": "says " + all, "version": "1"}}}
    if method == "tools/list":
        names = ["say", "fail", "error", "link", "split"]
        return {"result": {"tools": [{"name": n, "description": n + " " + all, "annotations": read, "inputSchema": {
            "type": "object", "properties": {"x": {"type": "string", "description": all, "default": all, "enum": [all, "x"]}}}}
            for n in names]}}
    if method == "tools/call" and params["name"] == "say":
        return {"result": {"content": [{"type": "text", "text": all}], "structuredContent": {"all": all, "each": secrets, all[:40]: 1}}}
    if method == "tools/call" and params["name"] == "split":
        pieces = [all[i:i + 7] for i in range(0, len(all), 7)]
        return {"result": {"content": [{"type": "text", "text": p} for p in pieces]}}
    if method == "tools/call" and params["name"] == "fail":
        return {"result": {"content": [{"type": "text", "text": "failed: " + all}], "isError": True}}
    if method == "tools/call" and params["name"] == "link":
        return {"result": {"content": [{"type": "resource_link", "uri": "x://" + all, "name": all},
                                       {"type": "image", "mimeType": "image/png", "data": base64.b64encode(all.encode()).decode()}]}}
    return {"error": {"code": -32000, "message": "refused: " + all, "data": {"all": all}}}
'''

STDIO = SAYS + r'''
import os, sys
names = ["VARIABLE", "API_TOKEN", "OF_FILE", "SHORT_TOKEN", "INHERITED_TOKEN"]
secrets = [os.environ[n] for n in names if n in os.environ] + [a for a in sys.argv[1:] if not a.startswith("--")]
print("stderr says", *secrets, *sys.argv, file=sys.stderr, flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        print("[log]", *secrets, file=sys.stderr, flush=True)
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **answer(m["method"], m.get("params", {}), secrets)}), flush=True)
'''
DIES = SAYS + r'''
import os, sys
sys.exit("cannot log in with " + " ".join(form for s in [os.environ["API_TOKEN"]] for form in encoded(s)))
'''
exec(SAYS)  # answer() for the server over HTTP


class Web(BaseHTTPRequestHandler):
    """Says what it was sent."""
    protocol_version = "HTTP/1.1"
    seen = set()

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        secrets = [v.split(" ", 1)[-1] for k, v in self.headers.items() if k.lower() in ("authorization", "x-api-key", "x-other", "x-plain")]
        secrets += urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("key", [])
        Web.seen.update(secrets)
        status, body = 202, b""
        if "id" in message:
            status = 200
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"],
                               **answer(message["method"], message.get("params", {}), secrets)}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def new_place(home):
    place = Place(PTC, home, VARIABLE=SECRETS["variable"], BEARER=SECRETS["bearer"], ADDRESS=SECRETS["address"], SHORT=SHORT,
                  ARGUMENT_TOKEN=SECRETS["argument"], INHERITED_TOKEN=SECRETS["inherited"])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    script, dies = place.write("planted/stdio.py", STDIO), place.write("planted/dies.py", DIES)
    place.write("planted/.env", f"OF_FILE={SECRETS['file']}\n")
    token = place.write("planted/token", SECRETS["credential file"] + "\n", 0o600)
    env = {"VARIABLE": "${VARIABLE}", "API_TOKEN": SECRETS["literal"], "SHORT_TOKEN": "${SHORT}"}
    web = {"transport": "http", "url": url + "/mcp"}
    upstreams = {
        "s": {"command": sys.executable, "args": [script], "env": env, "env_file": place.path("planted/.env")},
        "dies": {"command": sys.executable, "args": [dies], "env": env},
        "bearer": {**web, "auth": [{"scheme": "bearer", "binding": "b"}]},
        "key": {**web, "auth": [{"scheme": "api_key", "header": "X-Api-Key", "binding": "f"}]},
        "program": {**web, "auth": [{"scheme": "custom_header", "header": "X-Other", "binding": "e"}]},
        "address": {"transport": "http", "url": url + "/mcp?key=${ADDRESS}"},
        "line": {"command": sys.executable, "args": [script, "${ARGUMENT_TOKEN}", "--api-token", SECRETS["option"]],
                 "inherit_env": ["INHERITED_*"]},
        "place": {"command": sys.executable, "args": [script], "cwd": "/nowhere/${ARGUMENT_TOKEN}"},
    }
    credentials = {"b": {"source": "env", "var": "BEARER"}, "f": {"source": "file", "path": token},
                   "e": {"source": "exec", "command": ["printf", "%s\\n", SECRETS["program"]]}}
    place.write("planted/u.json", {"upstreams": upstreams, "credentials": credentials})
    place.write("planted/c.json", {"mcpServers": {"theirs": {"type": "http", "url": url + "/mcp",
                                                             "headers": {"X-Plain": "Key " + SECRETS["header"], "X-Api-Key": SECRETS["header"]}}}})
    return place, server


def has_none(where, text, short=False):
    for name, secret in SECRETS.items():
        for form in forms(secret):
            at = text.find(form)
            counts.check(f"{where}: {name} as {form[:60]!r}", at < 0, text[max(0, at - 100):at + 100])
    if short:
        counts.check(f"{where}: the short one", SHORT not in text, text[max(0, text.find(SHORT) - 100):][:200])


def files_of(place):
    """All that ptc wrote."""
    text = ""
    for directory, _, names in os.walk(place.home):
        if "planted" in directory:
            continue
        for name in names:
            with open(os.path.join(directory, name), "rb") as f:
                text += f"\n== {name}\n" + f.read().decode("utf-8", "replace")
    return text


def memory_of(pid):
    """What a process can write to, piece by piece, as far as we may look."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
            for line in maps:
                span, mode = line.split()[:2]
                first, last = (int(x, 16) for x in span.split("-"))
                if mode[:2] == "rw" and last - first < 1 << 28:
                    try:
                        mem.seek(first)
                        yield mem.read(last - first)
                    except (OSError, ValueError):
                        pass
    except OSError:
        pass


def children_of(pid):
    out = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            if int(fields[1]) == pid:
                out += [int(name), *children_of(int(name))]
        except (OSError, ValueError, IndexError):
            pass
    return out


PROGRAMS = ['(bearer/say {})', '(s/say {})', '(key/say {})', '(program/say {})', '(address/say {})', '(theirs/say {})',
            '(s/fail {})', '(bearer/fail {})', '(key/error {})', '(s/error {})', '(dies/say {})', '(s/link {})',
            '(tool/blob (get-in (s/link {}) ["content" 1 "ref"]))', '(println (s/say {}))', '(doc \'s)', "(doc 's/say)", "(meta 's/say)",
            '(tool/call {:server "program" :tool "say" :args {} :raw true})', "(doc 'bearer)", '(tool/servers)', '(apropos "say" {:load true})',
            '(apply str (clojure.string/split-lines (s/split {})))', '(apply str (clojure.string/split-lines (bearer/split {})))',
            '(apply str (map #(get % "text") (get (:value (tool/call {:server "s" :tool "split" :args {} :raw true})) "content")))',
            '(line/say {})', '(line/fail {})', '(place/say {})', '(s/say {:x "no"})', '(s/sya {})', '(try (program/error {}) (catch Exception e (ex-data e)))']


def test_mcp(home):
    place, server = new_place(home)
    traces = place.path("traces")
    mcp = Mcp(place, "--upstreams", place.path("planted/u.json"), "--upstreams", place.path("planted/c.json"), "--trace-dir", traces,
              "--trace-payloads", "full", "--debug-tool", "--sessions", "--isolation", "on")
    text = json.dumps(mcp.hello) + json.dumps(mcp.request("tools/list"))
    looked = 0
    for program in PROGRAMS:
        text += json.dumps(mcp.eval(program), ensure_ascii=False)
    for pid in children_of(mcp.process.pid):
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            pieces = memory_of(pid) if b"--ptc-zygote" in f.read() else ()
        found = set()
        for piece in pieces:
            looked += 1
            found.update(name for name, secret in SECRETS.items() if secret.encode() in piece)
        counts.check(f"the memory of worker {pid}", not found, found)
    if not looked:
        print("test_secrets.py: the memory of workers cannot be read here")
    for operation in ("list", "stats"):
        text += json.dumps(mcp.request("tools/call", {"name": "lisp_debug", "arguments": {"op": operation}}))
    text += json.dumps(mcp.request("tools/list"))
    mcp.end()
    counts.check("the upstreams have them", {SECRETS[k] for k in ("bearer", "credential file", "program", "header", "address")} <= Web.seen,
                 Web.seen)
    counts.check("they were echoed", text.count("[secret]") > 50, text[:2000])
    has_none("answers", text)
    log = mcp.said()
    counts.check("there is a log", "[s]" in log and "[secret]" in log, log[:500])
    has_none("the log", log, short=True)
    wrote = files_of(place)
    counts.check("there are files", "== pins.json" in wrote and '"tools":' in wrote and "[secret]" in wrote)
    written = "".join(open(os.path.join(traces, n), encoding="utf-8").read() for n in os.listdir(traces))
    counts.check("there are traces", "bearer/say" in written and "[secret]" in written, written[:500])
    has_none("files", wrote)
    has_none("traces", written, short=True)
    server.shutdown()


def test_commands(home):
    """What a person sees in a terminal may be pasted into an issue."""
    place, server = new_place(home)
    files = ("--upstreams", place.path("planted/u.json"), "--upstreams", place.path("planted/c.json"))
    for words in (["check", "--verbose"], ["list"], ["list", "--json"], ["doctor"], ["doc", "s"], ["doc", "bearer/say"], ["call", "s/say"],
                  ["call", "key/say", "--raw"], ["call", "program/error"], ["call", "s/fail"], ["call", "line/say"], ["pins", "--json"]):
        out = place.upstreams(*words, *files)
        has_none(" ".join(words), out.stdout + out.stderr)
    out = place.run("eval", *files, "(s/say {})")
    counts.check("eval", "[secret]" in out.stdout, out)
    has_none("eval", out.stdout + out.stderr)
    out = place.run("eval", *files, "(s/fail {})")
    has_none("a failure in eval", out.stdout + out.stderr)
    server.shutdown()


class Elsewhere(BaseHTTPRequestHandler):
    """Another origin; nobody should come here."""
    visits = []

    def do_POST(self):
        Elsewhere.visits.append(dict(self.headers))
        self.send_response(500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *args):
        pass


def sends_away(status, to):
    """A server that sends whoever comes to another origin: by a redirect, or as the endpoint of HTTP+SSE."""
    class Away(Elsewhere):
        def do_POST(self):
            self.send_response(status)
            self.send_header("Location", to + "/mcp")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self):
            body = f"event: endpoint\ndata: {to}/messages\n\n".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
    return Away


def start(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def test_origin(home):
    """Credentials go to the origin that is configured, wherever that sends us; and no value breaks out of its header."""
    place = Place(PTC, home, BEARER=SECRETS["bearer"], LINES="a\r\nX-Other: b")
    elsewhere, to = start(Elsewhere)
    servers, upstreams = [elsewhere], {}
    auth = {"auth": [{"scheme": "bearer", "binding": "b"}], "handshake_timeout_ms": 5000, "retry": "none"}
    for status in (301, 302, 303, 307, 308):
        server, url = start(sends_away(status, to))
        servers.append(server)
        upstreams[f"http-{status}"] = {"transport": "http", "url": url + "/mcp", **auth}
        upstreams[f"sse-{status}"] = {"transport": "sse", "url": url + "/sse", **auth}
    credentials = {"b": {"source": "env", "var": "BEARER"}, "lines": {"source": "env", "var": "LINES"}}
    upstreams["lines"] = {"transport": "http", "url": to + "/mcp", "auth": [{"scheme": "bearer", "binding": "lines"}]}
    path = place.write("u.json", {"upstreams": upstreams, "credentials": credentials})
    out = place.upstreams("check", "--upstreams", path)
    counts.check("none can be used", out.returncode == 1 and " ok " not in out.stdout, out)
    theirs = place.write("c.json", {"mcpServers": {"l": {"url": to + "/mcp", "headers": {"X-A": "${LINES}"}},
                                                   "n": {"url": to + "/mcp", "headers": {"X A": "b"}}}})
    listed = place.listed("--upstreams", theirs)
    counts.check("no line breaks in headers", all("bad_header" in listed[n]["reason"] for n in "ln"), listed)
    counts.check("nobody went elsewhere", Elsewhere.visits == [], Elsewhere.visits)
    for server in servers:
        server.shutdown()


class Guarded(Web):
    """Takes the token that is in a file, and no other."""
    token = ""

    def do_POST(self):
        if self.headers.get("X-Token") == open(Guarded.token, encoding="utf-8").read():
            Web.do_POST(self)
            return
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()


def test_programs(home):
    """Programs that print credentials and headers: not for every request, and again after 401."""
    place = Place(PTC, home)
    server, url = start(Guarded)
    Guarded.token = place.write("token", "printed-4711-one")
    prints = place.write("prints.sh", f"echo x >>{place.path('asked')}; cat {Guarded.token}\n")
    helper = place.write("helper.sh", f"echo x >>{place.path('asked')}\n"
                                      f'printf \'{{"X-Token": "%s", "Host": "other"}}\' "$(cat {Guarded.token})"\n')
    ours = place.write("u.json", {
        "upstreams": {"s": {"transport": "http", "url": url + "/mcp",
                            "auth": [{"scheme": "custom_header", "header": "X-Token", "binding": "c"}]}},
        "credentials": {"c": {"source": "exec", "command": ["sh", prints]}}})
    theirs = place.write("c.json", {"mcpServers": {"s": {"type": "http", "url": url + "/mcp", "headersHelper": f"sh {helper}"}}})
    for what, file in (("exec", ours), ("headersHelper", "claude-code:" + theirs)):
        place.write("token", "printed-4711-one")
        place.taken("asked")
        mcp = Mcp(place, "--upstreams", file)
        text = json.dumps(mcp.eval("[(s/say {}) (s/say {}) (s/say {})]"))
        counts.check(f"{what}: it can be called", "each" in text and "printed-4711" not in text, text)
        counts.check(f"{what}: the program was asked once", len(place.taken("asked")) == 1)
        place.write("token", "printed-4711-two")
        text = json.dumps(mcp.eval("[(s/say {}) (s/say {})]"))
        counts.check(f"{what}: and again after 401", "each" in text and "printed-4711" not in text, text)
        counts.check(f"{what}: once", len(place.taken("asked")) == 1)
        place.write("token", "\nnever\n")
        text = json.dumps(mcp.eval("(s/say {})"))
        counts.check(f"{what}: no end of asking", len(place.taken("asked")) <= 3 and "error" in text, text)
        mcp.end()
        has_none(what, mcp.said())
    bad = place.write("c.json", {"mcpServers": {"s": {"type": "http", "url": url + "/mcp", "headersHelper": "echo no"}}})
    out = place.upstreams("check", "--upstreams", "claude-code:" + bad)
    counts.check("what is no object", out.returncode == 1 and "headersHelper" in out.stdout, out)
    server.shutdown()


def in_home(test):
    with tempfile.TemporaryDirectory() as home:
        test(home)


def main():
    with concurrent.futures.ThreadPoolExecutor() as pool:  # most of the time is waiting
        list(pool.map(in_home, (test_mcp, test_commands, test_origin, test_programs)))
    return counts.done()


if __name__ == "__main__":
    sys.exit(main())
