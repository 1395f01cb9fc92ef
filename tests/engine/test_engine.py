#!/usr/bin/env python3
"""The product that is the engine alone: what it has, and that it says what was left out.  test_engine.py PTC"""
import subprocess
import sys

PTC = sys.argv[1]
THERE = ["eval", "check", "test", "repl", "signature", "docs", "doc", "completions", "man"]
LEFT_OUT = ["run", "chat", "init", "mcp", "upstreams", "view", "trace"]
passed = failed = 0


def check(what, ok, seen=""):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    if not ok:
        print(f"FAIL {what}: {seen}")


def ptc(*args, stdin=""):
    p = subprocess.run([PTC, *args], input=stdin, capture_output=True, text=True, timeout=60, check=False, env={"PATH": "/usr/bin:/bin"})
    return p.returncode, p.stdout, p.stderr


def test_commands():
    _, out, _ = ptc("--help")
    listed = [line.split()[0] for line in out.split("commands:\n")[1].split("\n\n")[0].splitlines()]
    check("--help lists what there is", listed == THERE, listed)
    for name in LEFT_OUT:
        for args in ([name], [name, "--help"]):
            code, out, err = ptc(*args)
            check(f"{name} says that it was left out", code == 2 and not out and f"{name} is not in this build" in err, err)
    for name in THERE:
        check(f"{name} --help", ptc(name, "--help")[0] == 0)
    _, out, _ = ptc("completions", "bash")
    check("completions know no other", not any(f" {name} " in out for name in LEFT_OUT), out[:300])


def test_programs():
    for args, stdin, want in [
        (["eval", "(+ 1 2)"], "", "3\n"),
        (["(sum-by :n rows)"], "n,m\n1,5\n2,6\n", "3\n"),
        (["eval", "--tools", '{"t": {"command": ["cat"]}}', "(:n (tool/t {:n 5}))"], "", "5\n"),
        (["signature", "() -> :int"], "", None),
        (["repl"], "(def a 2)\n(* a a)\n", None),
    ]:
        code, out, err = ptc(*args, stdin=stdin)
        check(args, code == 0 and (want is None or out == want), (out, err))
    code, out, _ = ptc("eval", "--jsonl", stdin='{"program":"(inc 1)"}\n')
    check("--jsonl", code == 0 and '"2"' in out, out)


def test_left_out():
    for kind in ("http", "agent", "llm"):
        code, _, err = ptc("eval", "--tools", '{"t": {"%s": {}}}' % kind, "1")
        check(kind, code == 2 and f"{kind} is not in this build" in err, err)
    check("--upstreams", "--upstreams" not in ptc("eval", "--help", "all")[1])
    _, out, _ = ptc("docs")
    check("pages", "  language" in out and "  agents" not in out, out)
    code, _, err = ptc("docs", "agents")
    check("a page that was left out", code == 2 and "engine alone" in err, err)
    needed = subprocess.run(["ldd", PTC], capture_output=True, text=True, check=False).stdout
    for library in ("curl", "microhttpd", "yaml", "sqlite"):
        check(f"no {library}", library not in needed, needed)
        with open(PTC, "rb") as f:
            check(f"lib{library} is not even loaded", b"lib" + library.encode() not in f.read())


for test in (test_commands, test_programs, test_left_out):
    test()
print(f"engine: {passed} passed, {failed} failed")
sys.exit(failed > 0)
