#!/usr/bin/env python3
"""`ptc mcp --install CLIENT` on the files of clients, in a home directory of its own.  test_client_install.py PTC"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = pathlib.Path(sys.argv[1]).resolve()
FILES = {"claude-code": (".claude.json", "mcpServers"),
         "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers"),
         "cursor": (".cursor/mcp.json", "mcpServers"), "vscode": (".config/Code/User/mcp.json", "servers"),
         "gemini": (".gemini/settings.json", "mcpServers"), "opencode": (".config/opencode/opencode.json", "mcp"),
         "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers"),
         "zed": (".config/zed/settings.json", "context_servers"), "lmstudio": (".lmstudio/mcp.json", "mcpServers")}


def install(home, client, *more):
    done = subprocess.run([PTC, "mcp", *more, "--install", client], capture_output=True, text=True, timeout=60, check=False,
                          env={"HOME": str(home), "PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr


def plain(text):
    """JSON as people write it, as JSON: the comments here stand on lines of their own."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


def in_home(test):
    with tempfile.TemporaryDirectory() as home:
        test(pathlib.Path(home))


def test_every_client(home):
    for client, (name, section) in FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        status, told = install(home, client, "--sessions")
        entry = json.loads(path.read_text())[section]["ptc"]
        command = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
        check(f"{client}: a new file", status == 0 and command == [str(PTC), "mcp", "--sessions"], (told, entry))
        before = path.read_text()
        status, told = install(home, client, "--sessions")
        check(f"{client}: once is enough", status == 0 and "already" in told and path.read_text() == before, told)
        check(f"{client}: no copy of nothing", len(list(path.parent.glob(path.name + "*"))) == 1)


KEPT = """// my servers
{
  // this one is for work
  "mcpServers": {
    "other": {"command": "x", "args": [],},
  },
  "theme": "dark", /* not a server */
}
"""


def test_keeps(home):
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text(KEPT)
    path.chmod(0o640)
    status, told = install(home, "cursor")
    now = path.read_text()
    begin = KEPT.index('{\n    "other"') + 1
    check("what was there stays", status == 0 and now.startswith(KEPT[:begin]) and now.endswith(KEPT[begin:]), (told, now))
    read = plain(now.replace("/* not a server */", ""))
    check("both servers", list(read["mcpServers"]) == ["ptc", "other"] and read["theme"] == "dark", read)
    check("mode", path.stat().st_mode & 0o777 == 0o640)
    copy = path.with_name("mcp.json.before-ptc-1")
    check("a copy", copy.read_text() == KEPT and str(copy) in told, told)
    status, told = install(home, "cursor", "--sessions")
    again = path.read_text()
    check("other options replace the entry", status == 0 and '"--sessions"' in again and again.count('"ptc"') == 1, again)
    check("a second copy", path.with_name("mcp.json.before-ptc-2").read_text() == now)


def test_places(home):
    (home / ".cursor").mkdir()
    path = home / ".cursor/mcp.json"
    for before in ("", "  \n", "{}", '{"a":1}', '{"mcpServers":{}}', '{"mcpServers": {"b": {}}}', "\ufeff{}"):
        path.write_text(before)
        status, told = install(home, "cursor")
        read = json.loads(path.read_text().lstrip("\ufeff"))
        check(f"into {before!r}", status == 0 and read["mcpServers"]["ptc"]["command"] == str(PTC), (told, read))


def test_refuses(home):
    (home / ".cursor").mkdir()
    path = home / ".cursor/mcp.json"
    for before in ("{", "[]", '{"mcpServers": []}', '{"mcpServers": {"ptc": 1, "ptc": 2}}', '{"a":1} x', "nonsense",
                   '{"mcpServers": {}, "mcpServers": {}}', '{"mcpServers": {"a": }}'):
        path.write_text(before)
        status, told = install(home, "cursor")
        check(f"refuses {before!r}", status == 1 and path.read_text() == before and "mcp.json: " in told, (status, told))
    check("leaves nothing beside it", list(path.parent.iterdir()) == [path])
    path.unlink()
    path.mkdir()
    check("a directory", install(home, "cursor")[0] == 1)


def test_clients_without(home):
    check("not installed", install(home, "vscode")[0] == 1 and not (home / ".config").exists())
    status, told = install(home, "codex")
    check("no JSON", status == 2 and "--print-config" in told, told)
    check("no such client", install(home, "emacs")[0] == 2)


def test_link(home):
    (home / "dotfiles").mkdir()
    (home / ".cursor").mkdir()
    real = home / "dotfiles/mcp.json"
    real.write_text("{}")
    (home / ".cursor/mcp.json").symlink_to(real)
    status, _ = install(home, "cursor")
    check("a link stays a link", status == 0 and (home / ".cursor/mcp.json").is_symlink() and "ptc" in real.read_text())
    real.unlink()
    status, told = install(home, "cursor")
    check("a link that leads nowhere is left alone", status == 1 and (home / ".cursor/mcp.json").is_symlink() and
          not real.exists() and "a link to a file that is not there" in told, told)


def test_line_ends(home):
    (home / ".cursor").mkdir()
    path = home / ".cursor/mcp.json"
    for before in (b'{\r\n  "a": 1\r\n}\r\n', b'{\r\n  "mcpServers": {}\r\n}\r\n',
                   b'{\r\n  "mcpServers": {"ptc": {"command": "x"}}\r\n}\r\n'):
        path.write_bytes(before)
        status, told = install(home, "cursor", "--sessions")
        now = path.read_bytes()
        check(f"lines end as before: {before!r}", status == 0 and now.count(b"\n") == now.count(b"\r\n") > before.count(b"\n") and
              "ptc" in json.loads(now)["mcpServers"], (told, now))


def test_data(home):
    (home / ".cursor").mkdir()
    status, told = install(home, "cursor", "--data", "x=y")
    check("--data without @", status == 2 and "NAME=@FILE" in told and not list((home / ".cursor").iterdir()), told)
    done = subprocess.run([PTC, "mcp", "--print-config", "cursor", "--data", "x"], capture_output=True, text=True, timeout=60,
                          check=False)
    check("--data without a file", done.returncode == 2 and "NAME=@FILE" in done.stderr and not done.stdout, done)


for each in (test_every_client, test_keeps, test_places, test_refuses, test_clients_without, test_link, test_line_ends, test_data):
    in_home(each)
sys.exit(finish())
