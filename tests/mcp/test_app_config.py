#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_config.py PTC [ISOLATION]: options from three places, wrong ones, --print-config, --http."""
import http.client
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile

from app_help import ISOLATION, PTC, WAIT, Server, clean_env, expect, main, run_ptc, start, test

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text if isinstance(text, str) else json.dumps(text))
    return path


def timeout_of(*args, env=None):
    with Server(*args, env=env) as s:
        found = re.search(r"Limits: (\d+) (m?)s,", s.tools()["lisp_eval"]["description"])
        return int(found.group(1)) * (1 if found.group(2) else 1000)


@test
def precedence():
    with tempfile.TemporaryDirectory() as d:
        config = write(d, "c.json", {"program_timeout_ms": 2000, "sessions": True})
        env = clean_env(PTC_MCP_PROGRAM_TIMEOUT_MS="3000")
        expect(timeout_of(), 1000)
        expect(timeout_of("--config", config), 2000)
        expect(timeout_of(env=clean_env(PTC_MCP_CONFIG=config)), 2000)
        expect(timeout_of("--config", config, env=env), 3000)
        expect(timeout_of("--config", config, "--program-timeout-ms", "4000", env=env), 4000)
        expect(timeout_of("--program-timeout-ms=4000", "--config=" + config), 4000)
        with Server("--config", config) as s:
            assert "lisp_session_start" in s.tools()
        with Server("--config", config, "--sessions=false") as s:
            assert "lisp_session_start" not in s.tools()
        with Server(env=clean_env(PTC_MCP_SESSIONS="true")) as s:
            assert "lisp_session_start" in s.tools()


@test
def lists():
    with tempfile.TemporaryDirectory() as d:
        one, two = write(d, "one.json", "1"), write(d, "two.json", "2")
        config = write(d, "c.json", {"data": {"a": "@" + one, "b": "@" + two}})
        array = write(d, "d.json", {"data": [f"a=@{one}"]})
        for args, env, want in [(["--config", config], None, "[1 2]"), (["--config", array], None, "[1 nil]"),
                                (["--config", config], clean_env(PTC_MCP_DATA=f"b=@{one}"), "[nil 1]"),
                                ([], clean_env(PTC_MCP_DATA=f"b=@{one},a=@{two}"), "[2 1]"),
                                (["--config", config, "--data", f"a=@{two}"], None, "[2 nil]")]:
            with Server(*args, env=env) as s:
                expect(s.eval("[data/a data/b]").text.split("\n")[0], want)


@test
def wrong_flags():
    for args, words in [
            (["--max-sessions", "0"], ["--max-sessions", "from 1 to", "'0'"]),
            (["--max-sessions", "many"], ["--max-sessions", "'many'"]),
            (["--max-sessions"], ["--max-sessions wants a value"]),
            (["--profile", "fat"], ["--profile", "slim|structured|debug"]),
            (["--isolation", "off"], ["--isolation", "auto|on|none"]),
            (["--sessions=maybe"], ["--sessions", "true or false"]),
            (["--sesions"], ["unknown option --sesions", "--sessions"]),
            (["serve"], ["'serve' is not an option"]),
            (["--data", "orders"], ["NAME=@FILE"]),
            (["--data", "orders=@/no/such.csv"], ["/no/such.csv", "No such file"]),
            (["--data", "9=@x.csv"], ["cannot be a name"]),
            (["--tools", "{}"], ["--tools", "@FILE"]),
            (["--tools", "@/no/such.json"], ["/no/such.json"]),
            (["--config", "/no/such.json"], ["/no/such.json"]),
            (["--sessions", "--session-store", "mysql:x"], ["sqlite:FILE"]),
            (["--sessions", "--session-store", "sqlite:/no/such/dir/x"], ["/no/such/dir/x"]),
            (["--trace-dir", "/proc/none/x"], ["/proc/none/x"]),
            (["--allow-host", "x"], ["--allow-host", "--http"]),
            (["--token-file", "/no/such"], ["--token-file"]),
            (["--http", "nowhere"], ["--http"]),
            (["--http", "0.0.0.0:0"], ["--http", "token"]),
            (["--print-config", "emacs"], ["--print-config", "claude-code"])]:
        status, out, err = run_ptc(*args)
        assert status in (1, 2) and out == "", (args, status, out)
        for word in words:
            assert word in err, (args, err)


@test
def wrong_environment_and_file():
    for env, words in [({"PTC_MCP_MAX_SESSIONS": "x"}, ["PTC_MCP_MAX_SESSIONS", "'x'"]),
                       ({"PTC_MCP_SESSIONS": "2"}, ["PTC_MCP_SESSIONS", "true or false"]),
                       ({"PTC_MCP_PROFILE": ""}, ["PTC_MCP_PROFILE"]),
                       ({"PTC_MCP_SESION": "1"}, ["PTC_MCP_SESION", "PTC_MCP_SESSIONS"]),
                       ({"PTC_MCP_TOKEN": "t" * 40}, ["PTC_MCP_TOKEN", "--http"])]:
        status, out, err = run_ptc(env=clean_env(**env))
        assert status == 2 and out == "", (env, status)
        for word in words:
            assert word in err, (env, err)
    with tempfile.TemporaryDirectory() as d:
        for text, words in [({"max_sessions": 0}, ["c.json", "max_sessions", "'0'"]),
                            ({"max_sessions": "5"}, ["max_sessions", "a whole number"]),
                            ({"sessions": 1}, ["sessions", "true or false"]),
                            ({"profile": 1}, ["profile", "a string"]),
                            ({"data": "a=@x"}, ["data", "list"]),
                            ({"data": [1]}, ["data", "strings"]),
                            ({"max_sesions": 1}, ["max_sesions", "max-sessions"]),
                            ({"print_config": "cursor"}, ["print_config"]),
                            ({"a\u0000b": 1}, ["not an option"]),
                            ([], ["JSON object"]), ("{", ["line 1"]), ("", ["line 1"])]:
            status, out, err = run_ptc("--config", write(d, "c.json", text))
            assert status == 2 and out == "", (text, status)
            for word in words:
                assert word in err, (text, err)


@test
def help_has_every_option():
    status, out, _ = run_ptc("--help", "all", env=clean_env(PTC_MCP_MAX_SESSIONS="wrong"))
    expect(status, 0)
    with open(os.path.join(ROOT, "docs", "mcp.md"), encoding="utf-8") as f:
        page = f.read()
    names = re.findall(r"^ +(--[a-z-]+)", out.split("examples:")[0], re.M)
    assert len(names) > 25 and "examples:" in out, out
    table = set(re.findall(r"^\| `(--[a-z-]+)", page, re.M))
    expect(set(names) - {"--help"}, table, "the table of options in docs/mcp.md")


def read_yaml(text):
    """The little of YAML that is printed: keys, nested by two blanks, one list of objects; values are JSON or a word."""
    root, stack = {}, []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        body = line.strip()
        while stack and stack[-1][0] >= indent:
            stack.pop()
        holder = stack[-1][1] if stack else root
        if body.startswith("- "):
            item = {}
            stack[-1][2].append(item)
            stack.append((indent, item, None))
            stack.append((indent + 1, item, None))
            holder, body = item, body[2:]
            indent += 2
        key, _, value = body.partition(": ")
        if value:
            holder[key] = json.loads(value) if value[0] in '"[{0123456789' and key != "version" else \
                {"true": True, "false": False}.get(value, value)
        else:
            key = key.rstrip(":")
            holder[key] = [] if key == "mcpServers" else {}
            stack.append((indent, holder[key], holder[key]))
    return root


def read_toml(text):
    found = dict(line.split(" = ", 1) for line in text.splitlines()[1:])
    expect(text.splitlines()[0], "[mcp_servers.ptc]")
    own = {"mcp_servers": {"ptc": {k: json.loads(v) for k, v in found.items()}}}
    if sys.version_info >= (3, 11):
        import tomllib  # pylint: disable=import-outside-toplevel
        expect(tomllib.loads(text), own)
    return own


def printed(client, *args, **more):
    status, out, err = run_ptc(*args, "--print-config", client, **more)
    expect(status, 0, err)
    assert err, "where to paste it"
    return out, err


def entry_of(client, text):
    """What the client reads of its own entry."""
    if client == "codex":
        return read_toml(text)["mcp_servers"]["ptc"]
    if client == "goose":
        return read_yaml(text)["extensions"]["ptc"]
    if client == "continue":
        whole = read_yaml(text)
        expect((whole["name"], whole["version"], whole["schema"], len(whole["mcpServers"])), ("ptc", "0.0.1", "v1", 1))
        return whole["mcpServers"][0]
    section = {"vscode": "servers", "zed": "context_servers", "opencode": "mcp"}.get(client, "mcpServers")
    whole = json.loads(text)
    expect(whole.get("$schema"), "https://opencode.ai/config.json" if client == "opencode" else None)
    expect(list(whole[section]), ["ptc"])
    return whole[section]["ptc"]


@test
def print_config():
    """Every client's own format, with paths that are good from any directory."""
    path = os.path.realpath(PTC)
    with tempfile.TemporaryDirectory() as d:
        d = os.path.realpath(d)
        write(d, "o 'r.csv", "x\n1\n")
        write(d, "t.json", {"t": {"value": 1}})
        given = ["--sessions", "--data", "o=@o 'r.csv", "--tools=@t.json", "--session-store", "sqlite:s.db",
                 "--trace-dir", "./traces"]
        args = ["mcp", "--sessions", "--data", f"o=@{d}/o 'r.csv", f"--tools=@{d}/t.json", "--session-store",
                f"sqlite:{d}/s.db", "--trace-dir", f"{d}/traces"]
        plain = {"command": path, "args": args}
        want = {"claude-desktop": plain, "cursor": plain, "codex": plain, "gemini": plain, "windsurf": plain, "zed": plain,
                "lmstudio": plain, "vscode": {"type": "stdio", **plain}, "cline": {**plain, "disabled": False},
                "opencode": {"type": "local", "command": [path, *args], "enabled": True},
                "continue": {"name": "ptc", "type": "stdio", **plain},
                "goose": {"enabled": True, "type": "stdio", "name": "ptc", "description": "Runs PTC-Lisp programs",
                          "cmd": path, "args": args, "envs": {}, "env_keys": [], "timeout": 300}}
        for client, entry in want.items():
            expect(entry_of(client, printed(client, *given, cwd=d)[0]), entry, client)
        out, _ = printed("claude-code", *given, cwd=d)
        words = shlex.split(out)
        expect(words, ["claude", "mcp", "add", "ptc", "--", path, *args])
        done = subprocess.run([*words[words.index(path):]], cwd="/", stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, env=clean_env(), check=False)
        expect(done.returncode, 0, done.stderr)
        for wrong, word in [(["--data", "a=@none.csv"], "none.csv"), (["--tools", "@none.json"], "none.json"),
                            (["--config", "none"], "none"), (["--trace-dir", "no/such/place"], "no/such/place"),
                            (["--sessions", "--session-store", "sqlite:no/x.db"], "no/x.db")]:
            status, out, err = run_ptc(*wrong, "--print-config", "cursor", cwd=d)
            assert status == 2 and out == "" and word in err, (wrong, err)
    expect(entry_of("cursor", printed("cursor")[0]), {"command": path, "args": ["mcp"]})


@test
def print_config_of_a_url():
    url = "http://127.0.0.1:7332/mcp"
    with tempfile.TemporaryDirectory() as d:
        tokens = write(d, "tokens", "x" * 32)
        os.chmod(tokens, 0o600)
        def headers(value):
            return {"headers": {"Authorization": "Bearer " + value}}
        yours, variable = headers("YOUR_TOKEN"), headers("${env:PTC_TOKEN}")
        want = {"cursor": ({"url": url}, variable), "windsurf": ({"serverUrl": url}, variable),
                "gemini": ({"httpUrl": url}, headers("$PTC_TOKEN")), "zed": ({"url": url}, yours),
                "lmstudio": ({"url": url}, yours), "vscode": ({"type": "http", "url": url}, headers("${input:ptc-token}")),
                "cline": ({"type": "streamableHttp", "url": url, "disabled": False}, yours),
                "opencode": ({"type": "remote", "url": url, "enabled": True}, headers("{env:PTC_TOKEN}")),
                "codex": ({"url": url}, {"bearer_token_env_var": "PTC_TOKEN"}),
                "continue": ({"name": "ptc", "type": "streamable-http", "url": url},
                             {"requestOptions": headers("${{ secrets.PTC_TOKEN }}")}),
                "goose": ({"enabled": True, "type": "streamable_http", "name": "ptc", "uri": url, "headers": {},
                           "description": "Runs PTC-Lisp programs", "envs": {}, "env_keys": [], "timeout": 300}, yours),
                "claude-desktop": ({"command": "npx", "args": ["-y", "mcp-remote", url]},
                                   {"args": ["-y", "mcp-remote", url, "--header", "Authorization:${PTC_AUTHORIZATION}"],
                                    "env": {"PTC_AUTHORIZATION": "Bearer YOUR_TOKEN"}})}
        for client, (entry, with_token) in want.items():
            out, err = printed(client, "--http", "127.0.0.1:7332", "--sessions")
            expect(entry_of(client, out), entry, client)
            assert f"{os.path.realpath(PTC)} mcp --http 127.0.0.1:7332 --sessions" in err, err
            out, err = printed(client, "--http", "0.0.0.0:7332", "--token-file", os.path.basename(tokens), cwd=d)
            expect(entry_of(client, out), {**entry, **with_token}, client)
            assert os.path.realpath(tokens) in err and "x" * 32 not in out + err, err
            out, _ = printed(client, "--http", "127.0.0.1:7332", env=clean_env(PTC_MCP_TOKEN="y" * 32))
            expect(entry_of(client, out), {**entry, **with_token}, client)
        expect(shlex.split(printed("claude-code", "--http", "127.0.0.1:7332")[0]),
               ["claude", "mcp", "add", "--transport", "http", "ptc", url])
        expect(shlex.split(printed("claude-code", "--http", "127.0.0.1:7332", "--token-file", tokens)[0])[-2:],
               ["--header", "Authorization: Bearer $PTC_TOKEN"])
        out, _ = printed("vscode", "--http", "127.0.0.1:7332", "--token-file", tokens)
        expect([(i["id"], i["type"], i["password"]) for i in json.loads(out)["inputs"]], [("ptc-token", "promptString", True)])
    expect(entry_of("cursor", printed("cursor", "--http", "[::1]:80")[0]), {"url": "http://[::1]:80/mcp"})
    for wrong in ["127.0.0.1:0", "nowhere"]:
        status, out, err = run_ptc("--http", wrong, "--print-config", "cursor")
        assert status == 2 and out == "" and "--http" in err, err


@test
def exit_statuses():
    """0 done, 1 it could not serve, 2 wrong usage: as --help says."""
    with tempfile.TemporaryDirectory() as d, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        broken = write(d, "broken.db", "this is no database" * 100)
        os.chmod(broken, 0o600)
        loose = write(d, "loose.db", "")
        os.chmod(loose, 0o644)
        none = ["--isolation", "none"]
        port = taken.getsockname()[1]
        for args, status, word in [
                (["--http", f"127.0.0.1:{port}", *none], 1, "is another server running there"),
                (["--sessions", "--session-store", f"sqlite:{broken}", *none], 1, "broken.db"),
                (["--sessions", "--session-store", f"sqlite:{loose}", *none], 1, f"chmod 600 {loose}"),
                (["--sessions", "--session-store", "sqlite:/no/such/dir/x", *none], 1, "/no/such/dir/x"),
                (["--trace-dir", "/proc/none/x", *none], 1, "/proc/none/x"),
                (["--http", "nowhere"], 2, "ADDRESS:PORT"), (["--sessions", "--session-store", "mysql:x"], 2, "sqlite:FILE"),
                (["--no-such-option"], 2, "unknown option"), (["--tools", "@/no/such"], 2, "/no/such"), (none, 0, "")]:
            got, out, err = run_ptc(*args)
            expect((got, out), (status, ""), f"{args} {err}")
            assert word in err and ("--help" in err) == (status == 2), (args, err)


# ------------------------------------------------------------------------------------------ HTTP

class Http:
    def __init__(self, *args, env=None):
        self.process = start([PTC, "mcp", "--http", "127.0.0.1:0", "--isolation", ISOLATION, *args],
                             stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env or clean_env())
        self.log = b""
        while b"listening on port" not in self.log:
            line = self.process.stderr.readline()
            assert line, self.log
            self.log += line
        self.port = int(re.search(rb"port (\d+)", self.log).group(1))

    def call(self, tool, arguments, token=None):
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments, "_meta": meta}}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
        if token:
            headers["Authorization"] = "Bearer " + token
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        connection.request("POST", "/mcp", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if answer.status == 200 else text

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        _, rest = self.process.communicate(timeout=WAIT)
        self.log += rest
        return self.process.returncode


@test
def over_http():
    server = Http()
    status, answer = server.call("lisp_eval", {"program": "(+ 1 2)"})
    expect((status, answer["result"]["structuredContent"]), (200, {"result": 3}))
    expect(server.stop(), 0)


@test
def owners():
    with tempfile.TemporaryDirectory() as d:
        ann, bob = "a" * 40, "b" * 40
        tokens = write(d, "tokens", f"# who may call\nann {ann}\nbob {bob}\n")
        os.chmod(tokens, 0o640)
        status, _, err = run_ptc("--http", "127.0.0.1:0", "--token-file", tokens)
        assert status == 2 and f"chmod 600 {tokens}" in err and "640" in err, err
        os.chmod(tokens, 0o600)
        traces = os.path.join(d, "traces")
        server = Http("--sessions", "--token-file", tokens, "--debug-tool", "--profile", "slim", "--trace-dir", traces,
                      "--trace-payloads", "full")
        expect(server.call("lisp_eval", {"program": "1"})[0], 401)
        expect(server.call("lisp_eval", {"program": "1"}, "x" * 40)[0], 401)

        def call(token, tool, **arguments):
            status, answer = server.call(tool, arguments, token)
            expect(status, 200)
            return answer["result"]
        session = call(ann, "lisp_session_start")["structuredContent"]["session_id"]
        call(ann, "lisp_session_eval", session_id=session, program="(def x 1)")
        for tool in ["lisp_session_inspect", "lisp_session_close"]:
            refused = call(bob, tool, session_id=session)
            assert refused["isError"] and "unknown_session" in refused["content"][0]["text"]
        expect(call(bob, "lisp_session_list")["structuredContent"]["count"], 0)
        expect(call(ann, "lisp_session_list")["structuredContent"]["count"], 1)
        handle = call(ann, "lisp_eval", program="(vec (range 20000))")["structuredContent"]["result_handle"]
        assert call(bob, "lisp_result_page", handle=handle)["isError"]
        assert not call(ann, "lisp_result_page", handle=handle).get("isError")
        expect(call(bob, "lisp_debug", op="stats")["structuredContent"]["by_tool"]["lisp_eval"]["calls"]
               if "lisp_eval" in call(bob, "lisp_debug", op="stats")["structuredContent"]["by_tool"] else 0, 0)
        call(ann, "lisp_eval", program=f'(str "Bearer {ann}")')
        expect(server.stop(), 0)
        text = ""
        for name in os.listdir(traces):
            with open(os.path.join(traces, name), encoding="utf-8") as f:
                text += f.read()
        assert "[secret]" in text and ann not in text and bob not in text, "secrets in traces"
        assert ann.encode() not in server.log and b"range 20000" not in server.log


@test
def token_in_environment():
    token = "t" * 40
    server = Http(env=clean_env(PTC_MCP_TOKEN=token))
    expect(server.call("lisp_eval", {"program": "1"})[0], 401)
    expect(server.call("lisp_eval", {"program": "1"}, token)[0], 200)
    with open(f"/proc/{server.process.pid}/environ", "rb") as f:
        assert token.encode() not in f.read(), "the token is taken out of the environment"
    expect(server.stop(), 0)


@test
def what_is_loaded():
    loaded = subprocess.run(["ldd", PTC], capture_output=True, text=True, check=False).stdout
    for name in ["sqlite", "microhttpd", "curl", "ssl"]:
        assert name not in loaded, loaded
    with Server("--sessions") as s:
        with open(f"/proc/{s.process.pid}/maps", encoding="utf-8") as f:
            maps = f.read()
        assert "sqlite" not in maps and "microhttpd" not in maps


@test
def only_mcp_on_stdout():
    with tempfile.TemporaryDirectory() as d:
        data = write(d, "a.csv", "x\n1\n")
        with Server("--data", f"a=@{data}", "--trace-dir", os.path.join(d, "t")) as s:
            s.eval('(println "on no account")')
            s.close()
            assert b"data/a: 1 item," in s.errors, s.errors


if __name__ == "__main__":
    main("mcp_app_config")
