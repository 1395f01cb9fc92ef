"""Runs the cases below at three sizes and prints the cost of one element and its growth.

Usage: scaling.py WORK_DIRECTORY [CASE...]

Time is the best of several runs; instructions are counted by callgrind between entering and
leaving bench_measured in ptc_scaling.c, which is one ptc_eval: reading, compiling and running
the program, over rows that were made before.  Nothing is subtracted.  The floors are about
instructions, which do not depend on what else the machine does.
"""
import json
import os
import re
import subprocess
import sys

import rows as data

SIZES = [1000, 10000, 100000]

# name: the highest growth (None: for information), the program, the answer from the same rows.
CASES = {
    'filter': (
        1.5, '(count (filter (fn [r] (and (:active r) (> (:amount r) 100))) data/rows))',
        lambda rows: sum(r['active'] and r['amount'] > 100 for r in rows)),
    'group-by': (
        1.5, '(count (get (group-by :dept data/rows) "d3"))',
        lambda rows: sum(r['dept'] == 'd3' for r in rows)),
    'sort-by': (
        2.0, '(:id (nth (sort-by :rank data/rows) 777))',
        lambda rows: sorted(rows, key=lambda r: r['rank'])[777]['id']),
    'reduce+assoc': (
        1.5, '(let [m (reduce (fn [m r] (assoc m (:id r) (:amount r))) {} data/rows)]'
             ' (+ (count m) (get m 777)))',
        lambda rows: len(rows) + rows[777]['amount']),
    'into': (
        1.5, '(let [v (into [] (map :amount data/rows))] (+ (count v) (nth v 777)))',
        lambda rows: len(rows) + rows[777]['amount']),
    'str/join': (
        1.5, '(str/join "," (map :dept data/rows))',
        lambda rows: ','.join(r['dept'] for r in rows)),
    'into map': (
        None, '(let [m (into {} (map (fn [r] [(:id r) (:amount r)]) data/rows))]'
              ' (+ (count m) (get m 777)))',
        lambda rows: len(rows) + rows[777]['amount']),
    'map+distinct': (
        None, '(count (distinct (map :rank data/rows)))', len),
    # text of ten characters or so for each row, made on the way
    'split': (
        None, '(count (str/split (str/join "," (map :rank data/rows)) #","))', len),
    're-seq': (
        None, '(count (re-seq #"[0-9]+" (str/join "," (map :rank data/rows))))', len),
    'replace': (
        None, '(count (str/split (str/replace (str/join "," (map :rank data/rows)) #",([0-9])" ";$1") #";"))',
        len),
    'sort': (
        None, '(count (sort (map :rank data/rows)))', len),
    'frequencies': (
        None, '(get (frequencies (map :dept data/rows)) "d3")',
        lambda rows: sum(r['dept'] == 'd3' for r in rows)),
}


class Bench:
    def __init__(self, directory):
        self.directory = directory
        self.rows = {}
        for size in SIZES:
            self.rows[size] = data.rows(size, rank=True)
            self.write(f'rows-{size}.json', json.dumps(self.rows[size], separators=(',', ':')))

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), 'w') as file:
            file.write(text)

    def driver(self, mode, size):
        return [self.path('ptc_scaling'), mode, self.path(f'rows-{size}.json'),
                self.path('case.clj'), self.path('answer.txt')]

    def nanoseconds(self, size):
        return int(subprocess.run(self.driver('time', size), check=True, text=True,
                                  stdout=subprocess.PIPE).stdout)

    def instructions(self, size):
        report = self.path('callgrind.out')
        done = subprocess.run(
            ['valgrind', '--tool=callgrind', '--toggle-collect=bench_measured',
             f'--callgrind-out-file={report}', *self.driver('once', size)],
            text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        count = re.search(r'^(?:totals|summary): (\d+)', open(report).read(), re.M) \
            if done.returncode == 0 else None
        if not count or int(count[1]) == 0:
            sys.stderr.write(done.stderr)
            print('bench: callgrind counted nothing', file=sys.stderr)
            sys.exit(2)
        return int(count[1])

    def costs(self, name):
        """[(ns, instructions) of one element] for each size"""
        _, program, answer = CASES[name]
        self.write('case.clj', program)
        result = []
        for size in SIZES:
            self.write('answer.txt', str(answer(self.rows[size])))
            result.append((self.nanoseconds(size) / size, self.instructions(size) / size))
        return result


def verdict(floor, growth):
    if floor is None:
        return ''
    return f'{"PASS" if growth <= floor else "MISS"} (at most {floor})'


def main():
    directory, *names = sys.argv[1:]
    bench = Bench(directory)
    sizes = ''.join(f'{size // 1000:>8}k' for size in SIZES)
    print(f'\n{"":14}{"ns per element":>27}{"instructions per element":>29}   growth 1k to 100k')
    print(f'{"":14}{sizes}  {sizes}{"ns":>8}{"instr":>7}')
    missed = False
    for name in names or CASES:
        costs = bench.costs(name)
        ns_growth, growth = (costs[-1][i] / costs[0][i] for i in (0, 1))
        line = verdict(CASES[name][0], growth)
        missed = missed or line.startswith('MISS')
        print(f'{name:14}' + ''.join(f'{ns:9.1f}' for ns, _ in costs) + '  '
              + ''.join(f'{count:9.1f}' for _, count in costs)
              + f'{ns_growth:8.2f}{growth:7.2f}  {line}', flush=True)
    return 1 if missed else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failed:
        print(f'bench: {failed}', file=sys.stderr)
        sys.exit(2)
