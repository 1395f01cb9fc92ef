#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_clients.py PTC: files of seven clients, as these write them, in a temporary home: what --import makes of each entry, what the
servers are started with, and what is told on standard error."""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
from place import READ, Counts, Place, tool  # noqa: E402

counts = Counts()
PTC = sys.argv[1]


class Home:
    """A home with the server, and a project in it."""

    def __init__(self, home, **env):
        self.place = Place(PTC, home, **env)
        self.place.write("tools.json", [tool("echo", "Say it again", READ), tool("env", "Shows", READ, {"type": "object"}),
                                        tool("old", "Gone soon", READ)])
        self.project = self.place.path("work/app")
        os.makedirs(self.project)
        # as it stands in JSON that a person or a client writes
        self.run = f'"command": {json.dumps(sys.executable)}, "args": [{json.dumps(self.place.script)}, {json.dumps(self.place.home)}]'
        self.py, self.script = json.dumps(sys.executable), json.dumps(self.place.script)
        self.home = json.dumps(self.place.home)

    def listed(self, client):
        return self.place.listed("--import", client, cwd=self.project)

    def notes(self, client):
        return self.place.upstreams("list", "--import", client, cwd=self.project).stderr

    def states(self, what, client, **states):
        """state[/transport] of each entry, and no others."""
        listed = self.listed(client)
        counts.check(f"{client}: {what}: the names", sorted(listed) == sorted(k.replace("_", "-") for k in states), listed)
        for name, want in states.items():
            entry = listed.get(name.replace("_", "-"), {})
            state, _, rest = want.partition("/")
            good = entry.get("state") == state and (rest in (entry.get("transport"), "") or rest in entry.get("reason", ""))
            counts.check(f"{client}: {name} is {want}", good, entry)

    def env_of(self, client, name):
        out = self.place.upstreams("call", f"{name}/env", "--import", client, cwd=self.project)
        try:
            return json.loads(out.stdout)
        except ValueError:
            counts.check(f"{client}: {name} can be called", False, out)
            return {}

    def tools(self, client, name):
        self.place.upstreams("check", name, "--import", client, cwd=self.project)
        return self.listed(client).get(name, {}).get("tools")


def test_claude_code(home):
    h = Home(home, SENTRY_TOKEN="sentry-4711")
    h.place.write(".claude.json", """{
  "numStartups": 184, "installMethod": "global", "autoUpdates": true, "tipsHistory": {"new-user-warmup": 12},
  "userID": "0f", "hasCompletedOnboarding": true,
  "projects": {
    "%s": {"allowedTools": [], "history": [{"display": "fix it", "pastedContents": {}}], "mcpContextUris": [],
      "mcpServers": {"nearest": {"type": "stdio", %s, "env": {"WHERE": "project"}}}, "enabledMcpjsonServers": [], "hasTrustDialogAccepted": true},
    "%s": {"allowedTools": [], "mcpServers": {"above": {"type": "stdio", %s, "env": {}}}}
  },
  "mcpServers": {
    "files": {"type": "stdio", %s, "env": {"LEVEL": "2"}},
    "sentry": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ${SENTRY_TOKEN}"}},
    "old": {"type": "sse", "url": "https://mcp.example.com/sse"},
    "lacking": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ${NOT_SET_4711}"}},
    "socket": {"type": "ws", "url": "https://mcp.example.com/"}
  }
}""" % (h.project, h.run, h.place.path("work"), h.run, h.run))
    h.states("user", "claude-code", files="cold/stdio", nearest="cold/stdio", sentry="cold/http", old="cold/sse",
             lacking="unusable/NOT_SET_4711", socket="unusable/unknown_transport")
    counts.check("claude-code: of the nearest directory", h.env_of("claude-code", "nearest").get("WHERE") == "project")
    counts.check("claude-code: env", h.env_of("claude-code", "files").get("LEVEL") == "2")
    h.place.write("work/app/.mcp.json", '{"mcpServers": {"p": {"command": "${PYTHON:-%s}", "args": [%s, %s], "env": {"A": "${B:-c}"}}}}'
                  % (sys.executable, h.script, h.home))
    h.states("project", "claude-code:project", p="unusable/approve p")
    done = h.place.upstreams("approve", "p", "--import", "claude-code:project", cwd=h.project)
    counts.check("claude-code: what is approved is shown", done.returncode == 0 and '"command":"${PYTHON:-' in done.stdout, done)
    h.place.write("work/app/.mcp.json", '{"mcpServers": {"q": {"command": "x", "env": {"A": "${NOT_SET_4711}"}}}}')
    done = h.place.upstreams("approve", "q", "--import", "claude-code:project", cwd=h.project)
    counts.check("claude-code: what approval cannot help", done.returncode == 1 and "NOT_SET_4711 is not set" in done.stderr, done)
    h.place.write("work/app/.mcp.json", '{"mcpServers": {"p": {"command": "${PYTHON:-%s}", "args": [%s, %s], "env": {"A": "${B:-c}"}}}}'
                  % (sys.executable, h.script, h.home))
    counts.check("claude-code: a default", h.env_of("claude-code:project", "p").get("A") == "c")


def test_claude_desktop(home):
    h = Home(home)
    h.place.write(".config/Claude/claude_desktop_config.json", """{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "memory": {%s, "env": {"MEMORY_FILE_PATH": "/data/memory.json", "RETRIES": 3}},
    "ptc": {"command": "ptc", "args": ["mcp", "--import", "claude-desktop"]},
    "one-line": {"command": "npx -y @example/server"},
    "My Server": {%s}
  }
}""" % (h.run, h.run))
    h.states("user", "claude-desktop", memory="cold/stdio", ptc="unusable/self", one_line="unusable/shell_line",
             **{"My Server": "cold/stdio"})
    env = h.env_of("claude-desktop", "memory")
    counts.check("claude-desktop: numbers become text", env.get("RETRIES") == "3" and env.get("MEMORY_FILE_PATH") == "/data/memory.json", env)
    counts.check("claude-desktop: a namespace", h.listed("claude-desktop")["My Server"]["namespace"] == "My-Server")
    out = h.place.upstreams("list", "--import", "claude-desktop:project", cwd=h.project)
    counts.check("claude-desktop: it has no project file", out.returncode == 1 and "no file here" in out.stderr, out)


def test_cursor(home):
    h = Home(home, KEY="from-env")
    h.place.write("work/app/local.env", "# mine\nexport FIRST='one'\nSECOND=\"two 3\" # more\nBOTH=file\n")
    h.place.write(".cursor/mcp.json", """{
  "mcpServers": {
    "local": {"type": "stdio", %s, "env": {"KEY": "${env:KEY}", "BOTH": "entry", "HOME": null}, "envFile": "${workspaceFolder}/local.env"},
    "remote": {"url": "https://mcp.example.com/mcp", "headers": {"X-Api-Key": "${env:KEY}", "Content-Type": "text/plain"}},
    "oauth": {"url": "https://mcp.example.com/mcp", "auth": {"CLIENT_ID": "id", "CLIENT_SECRET": "secret-4711", "scopes": ["read"]}},
    "no-file": {%s, "envFile": "missing.env"},
    "plain": {"url": "http://mcp.example.com/mcp"}
  }
}""" % (h.run, h.run))
    h.states("user", "cursor", local="cold/stdio", remote="cold/auto", oauth="cold/auto", no_file="unusable/missing.env",
             plain="unusable/insecure_url")
    env = h.env_of("cursor", "local")
    counts.check("cursor: env and envFile", env.get("FIRST") == "one" and env.get("SECOND") == "two 3" and env.get("BOTH") == "entry", env)
    counts.check("cursor: null takes a variable away", "HOME" not in env, env)
    counts.has("cursor: notes", h.notes("cursor"), "mcpServers.remote.headers.Content-Type", "we set this header ourselves")
    h.place.write("work/app/.cursor/mcp.json", '{"mcpServers": {"p": {%s}}}' % h.run)
    h.states("project", "cursor:project", p="unusable/approve p --import cursor:project")


def test_vscode(home):
    h = Home(home, PTC_INPUT_API_KEY="typed-4711", NAME="ana")
    h.place.write(".config/Code/User/mcp.json", """{
  // servers of this machine
  "inputs": [
    {"type": "promptString", "id": "api-key", "description": "Key", "password": true},
    {"type": "promptString", "id": "region", "description": "Region", "default": "eu"},
    {"type": "promptString", "id": "secret", "description": "Secret", "password": true, "default": "no"},
  ],
  "servers": {
    "local": {"type": "stdio", %s, "env": {"KEY": "${input:api-key}", "REGION": "${input:region}", "WHO": "${env:NAME}",
              "WHERE": "${workspaceFolder}", "BASE": "${workspaceFolderBasename}", "SEP": "${pathSeparator}${/}"},
              "dev": {"watch": "src/**"}, "gallery": true},
    "web": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ${input:api-key}"}},
    "asks": {"type": "stdio", %s, "env": {"KEY": "${input:secret}"}},
    "confined": {"type": "stdio", %s, "sandboxEnabled": true},
    "odd": {"type": "stdio", %s, "cwd": "${command:pick}"}, /* of an extension */
  },
}""" % (h.run, h.run, h.run, h.run))
    h.states("user", "vscode", local="cold/stdio", web="cold/http", asks="unusable/secret", confined="unusable/sandboxed",
             odd="unusable/bad_placeholder")
    env = h.env_of("vscode", "local")
    want = {"KEY": "[secret]", "REGION": "eu", "WHO": "ana", "WHERE": h.project, "BASE": "app", "SEP": "//"}
    shown = {k: env.get(k) for k in want}
    counts.check("vscode: variables, and what was typed is a secret", shown == want, shown)
    h.place.write("work/app/.vscode/mcp.json", '{"servers": {"p": {%s}}}' % h.run)
    h.states("project", "vscode:project", p="unusable/approve p")
    h.place.write("work/app/settings.json", '{"editor.tabSize": 2, "mcp": {"servers": {"q": {%s}}}}' % h.run)
    listed = h.place.listed("--upstreams", "vscode:" + os.path.join(h.project, "settings.json"))
    counts.check("vscode: settings", listed["q"]["state"] == "cold", listed)


def test_windsurf(home):
    h = Home(home, KEY="k-4711-k")
    h.place.write(".codeium/windsurf/mcp_config.json", """{
  "mcpServers": {
    "local": {%s, "env": {"KEY": "${env:KEY}"}, "disabledTools": ["old"], "alwaysAllow": ["echo"]},
    "remote": {"serverUrl": "https://mcp.example.com/sse"},
    "off": {%s, "disabled": true},
    "at-odds": {%s, "disabled": true, "enabled": true}
  }
}""" % (h.run, h.run, h.run))
    h.states("user", "windsurf", local="cold/stdio", remote="cold/auto", off="disabled", at_odds="unusable/conflict")
    counts.check("windsurf: disabledTools", h.tools("windsurf", "local") == 2, h.listed("windsurf"))
    counts.has("windsurf: notes", h.notes("windsurf"), "mcpServers.local.alwaysAllow", "consent given to another program")


def test_zed(home):
    h = Home(home)
    h.place.write(".config/zed/settings.json", """// Zed settings
{
  "theme": {"mode": "system", "light": "One Light", "dark": "One Dark"},
  "vim_mode": true,
  "context_servers": {
    "older": {"source": "custom", "command": {"path": %s, "args": [%s, %s], "env": {"AGE": "old"}}, "settings": {}},
    "newer": {"source": "custom", "enabled": true, %s, "env": {}},
    "list": {"command": [%s, %s, %s]},
    "extension": {"source": "extension", "enabled": true, "settings": {}},
    "remote": {"url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer literal-4711"}},
  },
}""" % (h.py, h.script, h.home, h.run, h.py, h.script, h.home))
    h.states("user", "zed", older="cold/stdio", newer="cold/stdio", list="cold/stdio", extension="unusable/missing", remote="cold/auto")
    counts.check("zed: the older form", h.env_of("zed", "older").get("AGE") == "old")
    counts.check("zed: a list", h.tools("zed", "list") == 3)
    h.place.write("work/app/.zed/settings.json", '{"context_servers": {"p": {%s}}}' % h.run)
    h.states("project", "zed:project", p="unusable/approve p")


def test_gemini(home):
    h = Home(home, TOKEN="gem-4711-gem")
    h.place.write(".gemini/settings.json", """{
  "selectedAuthType": "oauth-personal", "theme": "Default",
  "mcpServers": {
    "local": {%s, "env": {"TOKEN": "$TOKEN", "SAME": "${TOKEN}"}, "timeout": 15000, "trust": true,
              "includeTools": ["echo", "env"], "excludeTools": ["echo"]},
    "http": {"httpUrl": "https://mcp.example.com/mcp", "timeout": 5000, "headers": {"Authorization": "Bearer $TOKEN"}},
    "sse": {"url": "https://mcp.example.com/sse"},
    "lacking": {%s, "env": {"X": "$NOT_SET_4711"}}
  }
}""" % (h.run, h.run))
    h.states("user", "gemini", local="cold/stdio", http="cold/http", sse="cold/auto", lacking="unusable/NOT_SET_4711")
    counts.check("gemini: exclusion wins", h.tools("gemini", "local") == 1, h.listed("gemini"))
    env = h.env_of("gemini", "local")
    counts.check("gemini: both spellings, as secrets", env.get("TOKEN") == env.get("SAME") == "[secret]", env)
    counts.has("gemini: notes", h.notes("gemini"), "mcpServers.local.trust", "consent given to another program")
    h.place.write("work/app/.gemini/settings.json", '{"mcpServers": {"p": {%s}}}' % h.run)
    h.states("project", "gemini:project", p="unusable/approve p")


def test_all_at_once(home):
    """One ptc in front of all of them; the first to have a name keeps it."""
    h = Home(home)
    files = {".claude.json": "mcpServers", ".config/Claude/claude_desktop_config.json": "mcpServers", ".cursor/mcp.json": "mcpServers",
             ".config/Code/User/mcp.json": "servers", ".codeium/windsurf/mcp_config.json": "mcpServers",
             ".config/zed/settings.json": "context_servers", ".gemini/settings.json": "mcpServers"}
    clients = ["claude-code", "claude-desktop", "cursor", "vscode", "windsurf", "zed", "gemini"]
    for (path, key), client in zip(files.items(), clients):
        h.place.write(path, '{"%s": {"shared": {%s}, "of-%s": {%s}}}' % (key, h.run, client, h.run))
    options = [word for client in clients for word in ("--import", client)]
    out = h.place.upstreams("check", *options)
    counts.check("all run", out.returncode == 0 and out.stdout.count(" ok ") == 8, out)
    counts.check("the others are left out", out.stderr.count('"shared" is left out') == 6, out.stderr)
    out = h.place.run("eval", *options, '(count (filter (fn [s] (= "cold" (:state s))) (tool/servers)))')
    counts.check("programs see them", out.stdout.strip() == "8", out)


def test_broken(home):
    """Broken syntax stops the start, whoever wrote it."""
    h = Home(home)
    h.place.write(".cursor/mcp.json", '{"mcpServers": {"a": {%s}\n "b": {}}}' % h.run)
    out = h.place.upstreams("list", "--import", "cursor")
    counts.check("no JSON", out.returncode == 2 and "mcp.json:2" in out.stderr, out)
    h.place.write(".cursor/mcp.json", '\ufeff{"mcpServers": {"a": {%s}, "a": {}}}' % h.run)
    out = h.place.upstreams("list", "--import", "cursor")
    counts.check("a key twice", out.returncode == 2 and "twice" in out.stderr, out)
    os.remove(h.place.path(".cursor/mcp.json"))
    os.mkfifo(h.place.path(".cursor/mcp.json"))
    out = h.place.upstreams("list", "--import", "cursor")
    counts.check("a pipe holds nobody up", out.returncode == 1 and "regular file" in out.stderr, out)


def main():
    for test in (test_claude_code, test_claude_desktop, test_cursor, test_vscode, test_windsurf, test_zed, test_gemini,
                 test_all_at_once, test_broken):
        with tempfile.TemporaryDirectory() as home:
            test(home)
    return counts.done()


if __name__ == "__main__":
    sys.exit(main())
