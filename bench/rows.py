"""Prints the benchmark's rows as JSON.  Usage: rows.py COUNT [--rank]

--rank adds a field that is different in every row and in no order, for sorting.
"""
import json
import sys

# Both primes: i * STRIDE % MODULUS is a permutation as long as COUNT < MODULUS.
STRIDE, MODULUS = 7919, 100003


def row(i, rank):
    fields = {'id': i, 'dept': f'd{i * 7 % 8}', 'amount': i * 37 % 500, 'active': i % 3 != 0}
    return {**fields, 'rank': i * STRIDE % MODULUS} if rank else fields


def rows(count, rank):
    return [row(i, rank) for i in range(count)]


if __name__ == '__main__':
    print(json.dumps(rows(int(sys.argv[1]), '--rank' in sys.argv), separators=(',', ':')), end='')
