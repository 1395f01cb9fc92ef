#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak.py PTC [CALLS]: programs call three servers with random faults, 100,000 times by default.  Memory stays flat, and what the
ledgers of all programs say together is what the servers counted: calls, how they ended, and bytes.

A server writes a line for each call before it does anything else about it, so a line is there even when it then dies.  Of a
server that dies only one call is under way at a time: others could be in its pipe, sent and never seen."""
import collections
import json
import os
import sys
import tempfile
import time

from mcp_talk import Talk

PTC = os.path.abspath(sys.argv[1])
CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
EACH = 198   # of a program
WARM = 5     # after this part of all calls memory is measured for the first time
ROOM_KB = 6 * 1024

SERVER = r'''
import json, os, random, sys, time
path, seed, deaths = sys.argv[1], sys.argv[2], float(sys.argv[3])
chance = random.Random(seed + str(os.getpid()))
book = open(path, "a", buffering=1)
out = sys.stdout
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOLS = [{"name": "do", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
         {"name": "put", "inputSchema": SCHEMA, "annotations": {"destructiveHint": True}}]

def send(m):
    line = json.dumps(m)
    out.write(line + "\n")
    out.flush()
    return len(line)

def call(m):
    dice, answer = chance.random(), {"jsonrpc": "2.0", "id": m["id"]}
    text = "x" * chance.choice([0, 10, 200, 3000])
    answer["result"] = {"content": [{"type": "text", "text": text}]}
    kind = "ok"
    if dice < deaths:
        book.write("died 0\n")
        os._exit(7)
    elif dice < 0.02:
        del answer["result"]
        answer["error"] = {"code": -32603, "message": "broken"}
        kind = "upstream_error"
    elif dice < 0.05:
        answer["result"]["isError"] = True
        kind = "tool_error"
    elif dice < 0.06:
        answer["result"]["content"][0]["text"] = "y" * 70000
        kind = "response_too_large"
    elif dice < 0.07:
        answer["result"] = {"content": 7}
        kind = "upstream_error"
    book.write("%s %d\n" % (kind, len(json.dumps(answer))))
    if dice > 0.999:
        out.write("no json at all\n{\"id\":\n")
    elif dice > 0.99:
        send({"jsonrpc": "2.0", "id": 10 ** 9, "result": {}})
    elif dice > 0.98:
        send(answer)
    elif dice > 0.975:
        time.sleep(0.003)
    elif dice > 0.9745:
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    send(answer)

for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    if m["method"] == "tools/call":
        call(m)
    elif m["method"] == "initialize":
        send({"jsonrpc": "2.0", "id": m["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
              "serverInfo": {"name": "x", "version": "1"}}})
    elif m["method"] == "tools/list":
        send({"jsonrpc": "2.0", "id": m["id"], "result": {"tools": TOOLS}})
    else:
        send({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}})
'''
PROGRAM = """(frequencies (pmap (fn [i] (let [r (tool/call {:server (nth ["a" "b" "c"] (rem i 3)) :tool (if (zero? (rem i 7)) "put" "do")
                                                            :args {:n i}})] (if (:ok r) :ok (:reason r)))) (range %d)))""" % EACH


def resident_kb(pid):
    """Of a process and those that it started, the servers left out."""
    def status(one):
        with open(f"/proc/{one}/status", encoding="utf-8") as f:
            return dict(line.split(":", 1) for line in f if ":" in line)
    total = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            s = status(name)
            if (int(name) == pid or int(s["PPid"]) == pid) and s["Name"].strip().startswith("ptc"):
                total += int(s["VmRSS"].split()[0])
        except (OSError, KeyError, ValueError):
            continue
    return total


class Sums:
    def __init__(self):
        self.calls, self.bytes, self.attempts = collections.Counter(), collections.Counter(), collections.Counter()

    def add(self, line):
        server = line["server"]
        kind = "ok" if line["status"] == "ok" else line.get("reason", "unknown")
        self.calls[server, kind] += 1
        self.attempts[server] += line["attempts"]
        self.bytes[server] += line["result_bytes"]


def counted(path):
    kinds, total = collections.Counter(), 0
    with open(path, encoding="utf-8") as f:
        for line in f:
            kind, size = line.split()
            kinds[kind] += 1
            total += int(size)
    return kinds, total


def compare(home, sums):
    wrong = []
    for server in "abc":
        kinds, total = counted(f"{home}/{server}.book")
        mine = {kind: n for (name, kind), n in sums.calls.items() if name == server}
        if sums.attempts[server] != sum(kinds.values()):
            wrong.append(f"{server}: sent {sums.attempts[server]} times, it counted {sum(kinds.values())}")
        for kind in ("ok", "upstream_error", "tool_error", "response_too_large"):
            if mine.get(kind, 0) != kinds[kind]:
                wrong.append(f"{server}: {kind}: {mine.get(kind, 0)} in ledgers, it counted {kinds[kind]}")
        if sums.bytes[server] != total:
            wrong.append(f"{server}: {sums.bytes[server]} bytes in ledgers, it sent {total}")
        print(f"  {server}: {sum(kinds.values())} calls, {dict(kinds)}, {total} bytes; ledgers: {mine}")
    return wrong


def main():
    with tempfile.TemporaryDirectory() as home:
        script = os.path.join(home, "server.py")
        with open(script, "w", encoding="utf-8") as out:
            out.write(SERVER)
        ups = {name: {"command": sys.executable, "args": [script, f"{home}/{name}.book", name, deaths], "policy": {"*": "allow"},
                      "max_response_bytes": 60000, "max_concurrency": many}
               for name, deaths, many in (("a", "0", 8), ("b", "0", 3), ("c", "0.0004", 1))}
        sums, made, first, begun = Sums(), 0, 0, time.monotonic()
        with Talk(PTC, home, ups, "--profile", "debug", "--max-program-bytes", "10000") as talk:
            while made < CALLS:
                said = talk.run(PROGRAM)
                assert said["status"] == "ok" and len(said["upstream_calls"]) == EACH, str(said)[:500]
                for line in said["upstream_calls"]:
                    sums.add(line)
                made += EACH
                if made >= CALLS // WARM and not first:
                    first = resident_kb(talk.process.pid)
            last = resident_kb(talk.process.pid)
        wrong = compare(home, sums)
    if last > first + ROOM_KB:
        wrong.append(f"memory grew from {first} to {last} KiB")
    print(f"soak: {made} calls in {time.monotonic() - begun:.0f} s, resident {first} KiB after {CALLS // WARM}, {last} KiB at the end")
    for text in wrong:
        print("soak.py: " + text)
    print(f"upstream soak: {0 if wrong else 1} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
