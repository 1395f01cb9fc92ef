"""Prints what bench/run measured.  Usage: report.py RESULTS.tsv

Lines are "workload, runner, ns"; for cold starts "cold, name, min ns, median ns, peak KiB".
Status 1 when a floor is missed, 2 when a figure that a floor needs is not there.
"""
import statistics
import sys
from collections import defaultdict

# Columns of the table of times: workload, title, unit in ns.
COLUMNS = [('small', 'small us', 1e3), ('pipeline', 'pipeline us', 1e3),
           ('fused', 'fused us', 1e3), ('handed', 'handed us', 1e3), ('fib', 'fib ms', 1e6),
           ('loop', 'loop ms', 1e6), ('for', 'for ms', 1e6), ('call', 'call us', 1e3)]

# What we are measured by: title, our workload, their workload and runner, the highest ratio.
FLOORS = [
    ('cold start / LuaJIT', 'cold', 'cold', 'luajit', 1.1),
    ('small / Monty fresh', 'small', 'small', 'monty fresh', 1 / 3),
    ('small / Lua 5.4 fresh state', 'small', 'small', 'lua5.4 fresh', 1 / 4),
    ('pipeline / Lua 5.4 hand loop, no row tables', 'pipeline', 'fused', 'lua5.4 shared', 2),
    ('rows handed over / quickjs-emscripten', 'handed', 'handed', 'quickjs-wasm shared', 1 / 8),
    ('fib(24) / Lua 5.4', 'fib', 'fib', 'lua5.4 shared', 1.2),
    ('1e6 loop / Lua 5.4 while', 'loop', 'loop', 'lua5.4 shared', 1.2),
    ('10,000 tool calls / Lua 5.4 C function', 'call', 'call', 'lua5.4 shared', 2),
]
# The same without a verdict that counts: other readings of the same workloads.
INFORMATION = [
    ('pipeline / Lua 5.4 hand loops over row tables', 'pipeline', 'pipeline', 'lua5.4 shared', 2),
    ('fused / Lua 5.4 hand loop, no row tables', 'fused', 'fused', 'lua5.4 shared', 2),
    ('1e6 loop / Lua 5.4 numeric for', 'loop', 'for', 'lua5.4 shared', 1.2),
    ('1e6 reduce over range / Lua 5.4 numeric for', 'for', 'for', 'lua5.4 shared', 1.2),
]
PEAK_MB = 3.0


def load(path):
    """{(workload, runner): [best per round]}, the same of medians, {runner: peak KiB}"""
    bests, medians, peaks = defaultdict(list), defaultdict(list), defaultdict(int)
    for line in open(path):
        workload, runner, best, *cold = line.rstrip('\n').split('\t')
        bests[workload, runner].append(float(best))
        medians[workload, runner].append(float(cold[0] if cold else best))
        if cold:
            peaks[runner] = max(peaks[runner], int(cold[1]))
    return bests, medians, peaks


def table(header, rows):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, ['-' * width for width in widths], *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]
        print('  '.join(cells).rstrip())
    print()


def megabytes(kib):
    return kib * 1024 / 1e6


def print_cold(bests, medians, peaks):
    rows = [[name, f'{min(bests["cold", name]) / 1e6:.2f}',
             f'{statistics.median(medians["cold", name]) / 1e6:.2f}', f'{megabytes(kib):.2f}']
            for name, kib in peaks.items()]
    table(['Cold start, print 1+2', 'best ms', 'median ms', 'peak MB'], rows)


def print_times(bests):
    def cell(workload, runner, unit):
        figures = bests.get((workload, runner))
        return f'{min(figures) / unit:.2f}' if figures else '-'

    runners = dict.fromkeys(runner for workload, runner in bests if workload != 'cold')
    rows = [[runner, *(cell(name, runner, unit) for name, _, unit in COLUMNS)]
            for runner in runners]
    table(['In process, fresh source, best', *(title for _, title, _ in COLUMNS)], rows)


def ratio_row(floor, bests, medians, counts):
    title, our_workload, workload, runner, highest = floor
    ours, theirs = (our_workload, 'ptc'), (workload, runner)
    if ours not in bests or theirs not in bests:
        print(f'bench: no figures for {title}', file=sys.stderr)
        sys.exit(2)
    ratio = min(bests[ours]) / min(bests[theirs])
    median = statistics.median(medians[ours]) / statistics.median(medians[theirs])
    verdict = 'PASS' if ratio <= highest else 'MISS'
    return [title, f'{ratio:.3f}', f'{median:.3f}', f'{highest:.3f}',
            verdict if counts else f'({verdict.lower()})']


def print_ratios(bests, medians, peaks):
    peak = megabytes(peaks['ptc'])
    rows = [ratio_row(floor, bests, medians, True) for floor in FLOORS]
    rows.insert(1, ['cold start, peak MB', f'{peak:.3f}', '', f'{PEAK_MB:.3f}',
                    'PASS' if peak <= PEAK_MB else 'MISS'])
    missed = any(row[-1] == 'MISS' for row in rows)
    rows += [ratio_row(floor, bests, medians, False) for floor in INFORMATION]
    table(['ptc / peer (in brackets: for information)', 'of bests', 'of medians', 'at most', ''],
          rows)
    return missed


def main():
    bests, medians, peaks = load(sys.argv[1])
    print()
    print_cold(bests, medians, peaks)
    print_times(bests)
    if 'ptc' not in peaks:
        print('ptc was not measured.')
        return 0
    return 1 if print_ratios(bests, medians, peaks) else 0


sys.exit(main())
