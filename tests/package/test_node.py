#!/usr/bin/env python3
"""The Node package: packed, installed without a network, used; its types against the TypeScript compiler.  test_node.py PTC"""
import os
import pathlib
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
from package_help import ROOT, check, counts, finish, run, skip  # noqa: E402

signal.alarm(280)
BUILD = pathlib.Path(sys.argv[1]).resolve().parent
MODULES = ROOT / "build/npm/node_modules"
TYPED = """import { Agent, AgentError, Engine, evaluateSync, Llm, ProgramError, Outcome, Upstreams } from "ptc-lisp";
const n: number = evaluateSync<number>("(+ 1 2)");
const engine = new Engine({ limits: { timeout_ms: 10 }, tools: { f: async ({ x }) => x, g: { signature: "() -> :int", function: () => 1 } } });
const outcome: Promise<Outcome> = engine.run("(tool/f {:x 1})", { rows: [n] }, { now: new Date(), signal: new AbortController().signal });
outcome.then((o) => o.error instanceof ProgramError && o.error.line > 0 && o.warnings[0].hint.length);
const agent = new Agent({ prompt: "p" }, { tools: { f: () => 1 }, agents: { child: new Agent("child.json") } });
agent.run({ rows: [n] }, { model: "haiku", llm: new Llm({ dotenv: ".env" }), watch: (e) => e.kind === "ended" && e.turn })
  .then((r) => r.usage.turns + (r.reason ?? "").length, (e) => e instanceof AgentError && e.detail);
agent.chat(null, { ask: async (request) => request.messages.length > 1 ? "a" : { content: "b" } }).say("hi").then(String);
new Engine({ upstreams: new Upstreams("upstreams.json", { policy: "read-only" }) });
// @ts-expect-error there is no such policy
new Upstreams({}, { policy: "none" });
// @ts-expect-error there is no such limit
new Engine({ limits: { tiemout_ms: 1 } });
// @ts-expect-error tools are not for this one
engine.evaluateSync("1", null, { tools: {} });
"""

NAMED = """import { Agent, Engine, ProgramError } from "ptc-lisp";
import * as names from "ptc-lisp";
import { createRequire } from "node:module";
const all = createRequire(process.cwd() + "/x.js")("ptc-lisp");
console.log(Object.keys(all).every((name) => names[name] === all[name]) && all.Agent === Agent && all.ProgramError === ProgramError,
            new Engine().evaluateSync("(+ 1 2)"));"""


def test_types(home):
    (home / "typed.ts").write_text(TYPED, encoding="utf-8")
    status, out = run("node", MODULES / "typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "node16",
                      "--moduleResolution", "node16", "--types", "node", "--typeRoots", MODULES / "@types", "typed.ts", cwd=home)
    check("types", status == 0, out)


def test_package(home):
    status, out = run(ROOT / "bindings/node/build", BUILD, home, MODULES / "node-api-headers/include")
    check("packed", status == 0, out)
    (home / "package.json").write_text('{"private": true}', encoding="utf-8")
    env = {**os.environ, "npm_config_cache": str(home / "cache"), "npm_config_update_notifier": "false", "HOME": str(home)}
    status, out = run("npm", "install", "--offline", "--silent", "--no-audit", "--no-fund", out.strip().splitlines()[-1], cwd=home,
                      env=env)
    check("installed", status == 0, out)
    status, out = run("node", "--expose-gc", ROOT / "tests/package/node_cases.cjs", ROOT / "docs/node.md", BUILD / "ptc",
                      ROOT / "tests/upstream/faulty.py", cwd=home, seconds=200)
    passed, failed = out.strip().splitlines()[-1].split(": ")[-1].replace(" passed", "").replace(" failed", "").split(", ")
    counts[True] += int(passed)
    counts[False] += int(failed)
    check("cases", status == 0, "")
    status, out = run("node", "--input-type=module", "-e", 'import ptc from "ptc-lisp"; console.log(ptc.evaluateSync("(+ 1 2)"))',
                      cwd=home)
    check("as a module", out == "3\n", out)
    status, out = run("node", "--input-type=module", "-e", NAMED, cwd=home)
    check("every name can be imported", out == "true 3\n", out)
    shutil.copy(ROOT / "examples/embed-node/app.js", home)
    status, out = run("node", "app.js", cwd=home)
    page = (ROOT / "examples/embed-node/README.md").read_text(encoding="utf-8")
    check("examples/embed-node", status == 0 and f"app.js\n{out}```" in page, out)
    if os.environ.get("PTC_TEST_FULL") and (MODULES / "typescript").exists():
        test_types(home)
    else:
        skip("types, which are for script/test --full and need TypeScript in build/npm")


if shutil.which("npm") and shutil.which("cc") and (MODULES / "node-api-headers").exists():
    with tempfile.TemporaryDirectory() as directory:
        test_package(pathlib.Path(directory))
else:
    skip("no npm, no C compiler, or no node-api-headers in build/npm")
finish("test_node.py")
