"""The workloads of bench/bindings from Python: bench.py ROWS.json; prints "name microseconds", the best of five."""
import asyncio
import json
import sys
import time

import ptc

rows = json.load(open(sys.argv[1], encoding="utf-8"))
engine = ptc.Engine(limits={"context_bytes": 64 << 20, "memory_bytes": 64 << 20},
                    tools={"twice": lambda n: 2 * n})
plain = ptc.Engine(limits={"context_bytes": 64 << 20, "memory_bytes": 64 << 20})
kept = plain.data(rows)
SUM = "(sum-by :total data/rows)"


async def later(n):
    return 2 * n


waiting = ptc.Engine(tools={"twice": later})


def best(work, count=1):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(count):
            work()
        times.append((time.perf_counter() - begin) / count * 1e6)
    return min(times)


def same(got, wanted):
    assert got == wanted, got


CALLS = "(reduce + (map (fn [n] (tool/twice {:n n})) (range 1000)))"
print(f"small {best(lambda: same(plain.evaluate('(+ 1 2)'), 3), 1000):.2f}")
print(f"fresh {best(lambda: same(plain.evaluate(SUM, rows), 49995000)):.1f}")
print(f"kept {best(lambda: same(plain.evaluate(SUM, kept), 49995000)):.1f}")
print(f"call {best(lambda: same(engine.evaluate(CALLS), 999000)) / 1000:.2f}")
print(f"pending {best(lambda: same(waiting.evaluate(CALLS), 999000)) / 1000:.2f}")
