#!/usr/bin/env python3
"""The public headers and the libraries: symbols, and what its comments say of kinds and limits.  test_header.py PTC"""
import ctypes
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish, skip  # pylint: disable=wrong-import-position

BUILD = pathlib.Path(sys.argv[1]).resolve().parent
HEADERS = sorted((pathlib.Path(__file__).parents[2] / "include/ptc").glob("*.h"))
HEADER = "".join(path.read_text(encoding="utf-8") for path in HEADERS)


def declared():
    """Functions of the header: PTC_API marks each."""
    return set(re.findall(r"^PTC_API\b[^;()]*?\b(\w+)\(", HEADER, re.MULTILINE))


def symbols(*arguments):
    told = subprocess.run(["nm", "--defined-only", *arguments], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in told.splitlines() if len(line.split()) == 3}


def test_symbols():
    for library, option in (("libptc.so", "-D"), ("libptc.a", "-g")):
        got = symbols(option, str(BUILD / library))
        check(f"{library} has nothing but what the headers declare", got == declared(), sorted(got ^ declared()))


class Range(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("normal", ctypes.c_int64), ("most", ctypes.c_int64)]


def number(text):
    """ "2^40", "64 KiB", "1000" """
    text = text.strip()
    if "^" in text:
        base, power = text.split("^")
        return int(base) ** int(power)
    amount, _, unit = text.partition(" ")
    return int(amount) * {"": 1, "KiB": 1024, "MiB": 1024**2}[unit]


def test_limits(lib):
    struct = HEADER.partition("the default is in\n * brackets. */")[2].partition("} PtcLimits;")[0]
    said = {name: (number(normal), number(most))
            for name, normal, most in re.findall(r"int64_t\s+(\w+);[^\[]*\[([^]]*)\],\s+(?:\* )?at most\s+(?:\* )?([^*]*?)\s*\*/", struct)}
    got, row = {}, Range(size=ctypes.sizeof(Range))
    while lib.ptc_limit_range(ctypes.c_size_t(len(got)), ctypes.byref(row)):
        got[row.name.decode()] = (row.normal, row.most)
    check("ranges of limits", got == said and len(got) == 16, sorted(set(got.items()) ^ set(said.items())))


def test_kinds(lib):
    block = HEADER.partition("each kind belongs to one reason.\n")[2].partition(" * The kind at an index")[0]
    said, reason = {}, None
    for line in block.splitlines():
        words = re.findall(r"\w+", line)
        if re.match(r" \*   \w", line):
            reason, words = words[0], words[1:]
        said.update({kind: reason for kind in words})
    got, reason = {}, ctypes.c_char_p()
    lib.ptc_error_kind_at.restype = ctypes.c_char_p
    while (kind := lib.ptc_error_kind_at(ctypes.c_size_t(len(got)), ctypes.byref(reason))) is not None:
        got[kind.decode()] = reason.value.decode()
    check("kinds and reasons", got == said and len(got) > 20, sorted(set(got.items()) ^ set(said.items())))


if (BUILD / "libptc.so").exists() and (BUILD / "libptc.a").exists() and shutil.which("nm"):
    library = ctypes.CDLL(str(BUILD / "libptc.so"))
    test_symbols()
    test_limits(library)
    test_kinds(library)
else:
    skip("no libraries beside ptc, or no nm")
sys.exit(finish())
