#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_doctor.py PTC: mistakes are planted one by one; ptc upstreams doctor finds each, and what it advises mends it."""
import json
import os
import stat
import sys
import tempfile

sys.dont_write_bytecode = True
from place import READ, Counts, Place, tool  # noqa: E402

counts = Counts()
PTC = sys.argv[1]
OURS = ".config/ptc/upstreams.json"


def advice(place, *args, **more):
    """Pieces of advice as (server, code) -> text."""
    out = place.upstreams("doctor", "--json", *args, **more)
    try:
        return {(a["server"], a["code"]): a["advice"] for a in json.loads(out.stdout)}
    except ValueError:
        return {"broken": out}


class Planted:
    """One mistake in a home that is otherwise in order."""

    def __init__(self, home, name, entry=None, mode=0o600, **env):
        self.place = Place(PTC, home, **env)
        self.name = name
        self.place.write("tools.json", [tool("echo", "Say it again", READ)])
        self.ours({"s": self.place.server() if entry is None else entry(self.place)}, mode=mode)

    def ours(self, upstreams, mode=0o600, **more):
        self.place.write(OURS, {"upstreams": upstreams, **more}, mode)

    def found(self, code, *parts, server="s", options=()):
        told = advice(self.place, *options)
        text = told.get((server, code), "")
        counts.check(f"{self.name}: {code} is found", text, told)
        counts.has(f"{self.name}", text, *parts)

    def mended(self, code, server="s", options=()):
        told = advice(self.place, *options)
        counts.check(f"{self.name}: the advice helps", (server, code) not in told, told)


def test_order(home):
    p = Planted(home, "order")
    out = p.place.upstreams("doctor")
    counts.check("nothing to mend", out.returncode == 0 and "Nothing to mend." in out.stdout, out)
    counts.has("order", out.stdout, " ok ", "1 tool,", "A model sees", "their own lists of tools have")


def test_runner(home):
    """npx, with a package that it has fetched; then installed; then named."""
    p = Planted(home, "npx")
    place, name = p.place, "@example/server-files"
    start = f'exec {sys.executable} {place.script} {place.home} tools\n'
    place.write("bin/npx", "#!/bin/sh\nshift 2\n" + start, 0o755)
    place.env["PATH"] = place.path("bin") + ":" + place.env["PATH"]
    p.ours({"s": {"command": "npx", "args": ["-y", name + "@1.2.3", "/data"]}})
    p.found("runner", f"npm install -g {name}", "its program")
    place.write(f".npm/_npx/0a1b/node_modules/{name}/package.json", {"name": name, "bin": {"mcp-server-files": "dist/index.js"}})
    p.found("runner", f"npm install -g {name}", '"command": "mcp-server-files"')
    place.write("bin/mcp-server-files", "#!/bin/sh\n" + start, 0o755)
    p.found("runner", "is installed", '"command": "mcp-server-files"')
    p.ours({"s": {"command": "mcp-server-files", "args": ["/data"]}})
    p.mended("runner")
    counts.check("it runs", place.upstreams("check").returncode == 0)


def test_variables(home):
    """A server that says which variable it wants, before it ends."""
    p = Planted(home, "variables", None, COLOUR="red-4711", S="no")
    place = p.place
    script = place.write("wants.py", "import os, sys\nif 'COLOUR' not in os.environ:\n"
                                     "    sys.exit('error: COLOUR environment variable is required')\n"
                                     f"sys.argv = ['x', {place.home!r}, 'tools']\n" + place.read("server.py"))
    entry = {"command": sys.executable, "args": [script]}
    p.ours({"s": entry})
    p.found("not_passed_on", "COLOUR is set here", '"inherit_env": ["COLOUR"]')
    counts.check("no value is shown", "red-4711" not in place.upstreams("doctor").stdout)
    p.ours({"s": {**entry, "inherit_env": ["COLOUR"]}})
    p.mended("not_passed_on")
    place.env["HTTPS_PROXY"] = "http://127.0.0.1:9"
    p.found("not_passed_on", "HTTPS_PROXY is set here")
    p.ours({"s": entry})
    told = [line for line in place.upstreams("doctor").stdout.splitlines() if "not passed on" in line]
    counts.check("one advice for all of them", len(told) == 1 and "COLOUR" in told[0] and "HTTPS_PROXY" in told[0]
                 and " are set here and not passed on to it; " in told[0], told)


def test_named_variable(home):
    p = Planted(home, "named variable", None, GITHUB_TOKEN="t-4711-4711")
    p.ours({"github": p.place.server()})
    p.found("not_passed_on", "GITHUB_TOKEN", server="github")
    p.ours({"github": p.place.server(env={"GITHUB_TOKEN": "${GITHUB_TOKEN}"})})
    p.mended("not_passed_on", server="github")


def test_client(home):
    """Cursor starts ptc and, beside it, what ptc stands in front of."""
    p = Planted(home, "client")
    place = p.place
    files = {"mcpServers": {"ptc": {"command": "ptc", "args": ["mcp"]}, "s": place.server()}}
    place.write(".cursor/mcp.json", files)
    p.found("started_twice", "cursor starts ptc", place.path(".cursor/mcp.json"))
    p.found("started_twice", "cursor", options=("--import", "cursor"))
    del files["mcpServers"]["s"]
    place.write(".cursor/mcp.json", files)
    p.mended("started_twice")


def test_permissions(home):
    p = Planted(home, "permissions", mode=0o666)
    path = p.place.path(OURS)
    p.found("loose", f"chmod 644 {path}")
    os.chmod(path, 0o644)
    p.mended("loose")


def test_secret(home):
    """A token in the file, which others may read."""
    p = Planted(home, "secret", lambda place: place.server(env={"API_TOKEN": "clear-4711-clear"}), mode=0o644)
    path = p.place.path(OURS)
    p.found("loose", f"chmod 600 {path}")
    p.found("literal_secret", "env.API_TOKEN", '"${API_TOKEN}"')
    counts.check("it is not shown", "clear-4711-clear" not in p.place.upstreams("doctor").stdout)
    os.chmod(path, 0o600)
    p.mended("loose")
    p.place.env["API_TOKEN"] = "clear-4711-clear"
    p.ours({"s": p.place.server(env={"API_TOKEN": "${API_TOKEN}"})})
    p.mended("literal_secret")


def test_credentials(home):
    p = Planted(home, "credentials")
    web = {"url": "http://127.0.0.1:9/mcp", "auth": [{"scheme": "bearer", "binding": "c"}]}
    p.ours({"s": web}, credentials={"c": {"source": "literal", "value": "clear-4711"}})
    p.found("literal_secret", 'credential "c"', server=None)
    token = p.place.write("token", "4711-4711", 0o644)
    p.ours({"s": web}, credentials={"c": {"source": "file", "path": token}})
    p.mended("literal_secret", server=None)
    p.found("loose", f"chmod 600 {token}", server=None)
    os.chmod(token, 0o600)
    p.mended("loose", server=None)


def test_annotations(home):
    p = Planted(home, "annotations")
    p.place.write("tools.json", [tool("get_it"), tool("echo", "x", READ)])
    p.found("no_annotations", "tools that do not say what they do: 1 of 2", '"effects"')
    p.ours({"s": p.place.server(effects={"get_*": "read"})})
    p.mended("no_annotations")


def test_rules(home):
    p = Planted(home, "rules", lambda place: place.server(policy={"ecoh": "deny"}))
    p.found("rule_fits_none", '"ecoh": "deny"', '"echo"')
    p.ours({"s": p.place.server(policy={"echo": "deny"})})
    p.mended("rule_fits_none")


def test_program(home):
    p = Planted(home, "program", lambda place: {"command": "no-such-program-4711"})
    p.found("no_program", "no-such-program-4711", "PATH")
    p.ours({"s": {"command": sys.executable, "args": [p.place.script, p.place.home]}})
    p.mended("no_program")


def test_directory(home):
    p = Planted(home, "directory", lambda place: place.server(cwd=place.path("nowhere")))
    p.found("no_directory", "nowhere")
    os.mkdir(p.place.path("nowhere"))
    p.mended("no_directory")


def test_unset(home):
    p = Planted(home, "unset", lambda place: place.server(env={"X": "${NOT_SET_4711}"}))
    p.found("unusable", "NOT_SET_4711 is not set")
    p.place.env["NOT_SET_4711"] = "now"
    p.mended("unusable")


def test_project(home):
    p = Planted(home, "project")
    p.place.write("app/.mcp.json", {"mcpServers": {"t": p.place.server()}})
    how, cwd = ("--import", "claude-code:project"), p.place.path("app")
    told = advice(p.place, *how, cwd=cwd)
    counts.has("project", told.get(("t", "unusable"), str(told)), "approve t --import claude-code:project")
    p.place.upstreams("approve", "t", *how, cwd=cwd)
    counts.check("project: the advice helps", ("t", "unusable") not in advice(p.place, *how, cwd=cwd))


def test_changed(home):
    p = Planted(home, "changed")
    p.place.upstreams("check")
    p.place.write("tools.json", [tool("echo", "Another text", READ)])
    p.found("changed", "1 of its tools", "approve s")
    p.place.upstreams("approve", "s")
    p.mended("changed")
    path = p.place.path(".local/state/ptc/pins.json")
    os.chmod(path, 0o666)
    p.found("pins", f"chmod 600", server=None)
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
    p.mended("pins", server=None)


def test_help(home):
    """Every word explains itself with an example."""
    place = Place(PTC, home)
    for word in ("list", "check", "call", "doc", "doctor", "pins", "approve"):
        out = place.upstreams(word, "--help")
        counts.check(f"{word} --help", out.returncode == 0 and f"usage: ptc upstreams {word} " in out.stdout
                     and f"\n  ptc upstreams {word}" in out.stdout, out.stdout[:200])


def main():
    for test in (test_order, test_runner, test_variables, test_named_variable, test_client, test_permissions, test_secret,
                 test_credentials, test_annotations, test_rules, test_program, test_directory, test_unset, test_project,
                 test_changed, test_help):
        with tempfile.TemporaryDirectory() as home:
            test(home)
    return counts.done()


if __name__ == "__main__":
    sys.exit(main())
