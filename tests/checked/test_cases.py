#!/usr/bin/env python3
"""Right and wrong programs with tools: a mistake is found before anything is called, and says what to do; a right program gets no
word and keeps its result.  README.md says how a case looks.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STOP = {"zz_stop": {"value": None, "signature": "() -> :any", "read_only": True}}


def read_cases():
    with open(os.path.join(HERE, "tools.json"), encoding="utf-8") as file:
        tools = json.load(file)
    for name in ("cases.jsonl", "more.jsonl"):
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            for line in file:
                case = json.loads(line)
                if isinstance(case["tools"], list):
                    case["tools"] = {name: tools[name] for name in case["tools"]}
                yield case


def read_not_found():
    """Mistakes that are not found, or not as they should be: {id: reason}."""
    with open(os.path.join(HERE, "not_found.txt"), encoding="utf-8") as file:
        lines = [line.split(None, 1) for line in file if line.strip() and line[0] != "#"]
    return {name: reason.strip() for name, reason in lines}


def texts(findings):
    return [f"{f['message']} {f.get('hint', '')}" for f in findings]


class Outcome:
    """What one run said, whichever way it was run."""

    def __init__(self, ok, early, errors, warnings, text):
        self.ok, self.early, self.errors, self.warnings, self.text = ok, early, errors, warnings, text


# ---------------------------------------------------------------------- ways to run

def lines_of(case, stopped):
    """The lines of a batch.  stopped: the last stops at its beginning, so that all it says was known before."""
    base = {"context": case["context"]}
    name = {"session": case["id"]} if case.get("session") else {}
    for program in case.get("session", []):
        yield dict(base, program=program, tools=case["tools"], **name)
    last = dict(base, program=case["program"], tools=case["tools"], **name)
    if case.get("signature"):
        last["signature"] = case["signature"]
    if stopped:
        last.update(program="(tool/zz_stop) " + case["program"], tools=dict(case["tools"], **STOP),
                    options={"max_tool_calls": 0})
    yield last


def run_lines(peer, way, lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([peer, way], input=text, capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, PTC_PAID="/dev/null"))
    if done.returncode:
        raise RuntimeError(f"{way} ended with {done.returncode}: {done.stderr[-1000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_peer(peer, case, stopped=False, way="error"):
    a = run_lines(peer, way, lines_of(case, stopped))[-1]
    early = not a["ok"] and a["phase"] != "run" and not a.get("tool_calls")
    return Outcome(a["ok"], early, texts(a.get("errors", [])), texts(a.get("warnings", [])), a.get("text", ""))


def run_servers(ptc, case, stopped=False):
    """The command, with servers: what it says is read from its error output."""
    with tempfile.TemporaryDirectory() as home:
        def put(name, value):
            with open(os.path.join(home, name), "w", encoding="utf-8") as file:
                json.dump(value, file)
            return os.path.join(home, name)
        servers = {name: {"command": sys.executable, "policy": {"*": "allow"},
                          "args": [os.path.join(HERE, "server.py"), put(name + ".json", s)]}
                   for name, s in case["servers"].items()}
        command = [ptc, "eval", "--upstreams", put("upstreams", {"upstreams": servers}),
                   "--tools", "@" + put("tools", dict(case["tools"], **(STOP if stopped else {}))),
                   "--context", "@" + put("context", case["context"])]
        if stopped:
            command += ["--max-tool-calls", "0"]
        env = {k: home for k in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
        env["PATH"] = os.environ.get("PATH", "")
        program = ("(tool/zz_stop) " if stopped else "") + case["program"]
        done = subprocess.run(command + ["-e", program], capture_output=True, text=True, timeout=120, env=env)
        called = any(os.path.exists(os.path.join(home, name + ".json.calls")) for name in case["servers"])
    found = {"error": [], "warning": [], "hint": []}
    last = []
    for line in done.stderr.splitlines():
        kind, _, rest = line.partition(": ")
        if kind == "hint" and last:
            last[-1] += " " + rest
        elif kind in found:
            last = found[kind]
            last.append(rest)
    early = done.returncode != 0 and not called and not stopped
    return Outcome(done.returncode == 0, early, found["error"], found["warning"], done.stdout.strip())


# -------------------------------------------------------------------------- verdicts

def mentions(case, said):
    plain = " ".join(said).lower().replace("-", "_")
    return all(re.search(rf"(?<!\w){re.escape(w.lower().replace('-', '_'))}(?!\w)", plain) for w in case["must_mention"])


def wrong_about_right(case, run):
    """What is wrong about a right program; None: nothing."""
    o = run(case)
    said = o.errors + o.warnings or run(case, True).warnings
    if not o.ok or said:
        return "has a finding: " + (said + ["none"])[0]
    return None if o.text == case.get("result", o.text) else "gives " + o.text


def wrong_about_mistake(case, run):
    o = run(case)
    if o.early:
        if case["verdict"] == "warning" and not case.get("either"):
            return "is refused: " + o.errors[0]
        return None if mentions(case, o.errors) else "does not mention it: " + o.errors[0]
    if case["verdict"] == "error":
        return "is not refused"
    said = run(case, True).warnings
    if not said:
        return "is not found"
    return None if mentions(case, said) else "does not mention it: " + said[0]


class Tester:
    def __init__(self, ptc, peer, ways):
        self.ptc, self.peer, self.ways = ptc, peer, ways
        self.passed = self.failed = 0

    def check(self, case, wrong):
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong:
            print(f"{case['id']}: {wrong}\n  {case['program']}\n  {case['why']}")

    def runner(self, case):
        if case.get("servers"):
            return lambda case, stopped=False: run_servers(self.ptc, case, stopped)
        return lambda case, stopped=False: run_peer(self.peer, case, stopped)

    def judge(self, case, not_found):
        if case["verdict"] == "ok":
            self.check(case, wrong_about_right(case, self.runner(case)))
            return
        wrong = wrong_about_mistake(case, self.runner(case))
        if case["id"] in not_found:
            self.check(case, None if wrong else "is found: its line in not_found.txt is no longer needed")
        else:
            self.check(case, wrong)

    def stress(self, case):
        """The same answer with a collection at every safepoint, and where memory ends anywhere."""
        lines = list(lines_of(case, False))
        if case.get("servers") or any("command" in t for t in case["tools"].values()):
            return
        for way in self.ways:
            try:
                got = run_lines(self.peer, way, lines if way == "stress" else lines[-1:])
                want = run_lines(self.peer, "error", lines) if way == "stress" else got
                self.check(case, None if got == want else f"{way}: gives {got[-1]}")
            except RuntimeError as e:
                self.check(case, str(e))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("ptc")
    p.add_argument("peer", help="build/PRESET/checked_peer")
    p.add_argument("--ways", nargs="*", default=[], choices=["stress", "torture"])
    p.add_argument("--id", help="only this case")
    o = p.parse_args()
    cases = [c for c in read_cases() if o.id in (None, c["id"])]
    not_found = read_not_found()
    tester = Tester(o.ptc, o.peer, o.ways)
    for case in cases:
        if o.ways:
            tester.stress(case)
        else:
            tester.judge(case, not_found)
    print(f"cases: {tester.passed} passed, {tester.failed} failed")
    return 1 if tester.failed else 0


if __name__ == "__main__":
    sys.exit(main())
