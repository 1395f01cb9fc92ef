#!/usr/bin/env python3
"""The wheel of the Python package: made, installed without a network, used; its structs against the header.  test_python.py PTC"""
import ctypes
import importlib.util
import os
import pathlib
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
from package_help import ROOT, check, counts, finish, run, skip  # noqa: E402

signal.alarm(280)
PTC = pathlib.Path(sys.argv[1]).resolve()


def test_layouts(target, home):
    """Size of every struct, and place of every field, as the C compiler has them."""
    os.environ["PTC_LIBRARY"] = str(target / "ptc/lib/libptc.so.0")
    spec = importlib.util.spec_from_file_location("native", target / "ptc/_native.py")
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    del os.environ["PTC_LIBRARY"]
    structs = [kind for kind in vars(native).values() if isinstance(kind, type) and issubclass(kind, ctypes.Structure)
               and kind is not ctypes.Structure]
    lines = ["#include <ptc/ptc.h>", "#include <stdio.h>", "int main(void) {"]
    for kind in structs:
        lines.append(f'printf("{kind.__name__} %zu\\n", sizeof({kind.__name__}));')
        lines += [f'printf("{kind.__name__}.{name} %zu\\n", offsetof({kind.__name__}, {name}));' for name, *_ in kind._fields_]
    (home / "layout.c").write_text("\n".join([*lines, "return 0; }"]), encoding="utf-8")
    run("cc", "-I", ROOT / "include", "layout.c", "-o", "layout", cwd=home)
    said = dict(line.split() for line in run(home / "layout")[1].splitlines())
    ours = {}
    for kind in structs:
        ours[kind.__name__] = str(ctypes.sizeof(kind))
        ours |= {f"{kind.__name__}.{name}": str(getattr(kind, name).offset) for name, *_ in kind._fields_}
    check("structs", said == ours and len(structs) > 10, set(said.items()) ^ set(ours.items()))


def test_wheel(home):
    status, out = run(ROOT / "bindings/python/build", PTC.parent, home)
    check("made", status == 0, out)
    target = home / "target"
    status, out = run(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--root-user-action=ignore",
                      "--disable-pip-version-check", "--target", target, out.strip().splitlines()[-1])
    check("installed", status == 0, out)
    needs = run("ldd", target / "ptc/lib/libptc.so.0")[1]
    check("it brings what it needs", all(str(target) in line for line in needs.splitlines() if "gmp" in line or "pcre2" in line),
          needs)
    test_layouts(target, home)
    status, out = run(sys.executable, ROOT / "tests/package/python_cases.py", ROOT / "docs/python.md", PTC,
                      ROOT / "tests/upstream/faulty.py", cwd=home, seconds=200,
                      env={"PYTHONPATH": str(target), "PYTHONDONTWRITEBYTECODE": "1"})
    passed, failed = out.strip().splitlines()[-1].split(": ")[-1].replace(" passed", "").replace(" failed", "").split(", ")
    counts[True] += int(passed)
    counts[False] += int(failed)
    check("cases", status == 0, "")


if shutil.which("cc") and importlib.util.find_spec("pip"):
    with tempfile.TemporaryDirectory() as directory:
        test_wheel(pathlib.Path(directory))
else:
    skip("no C compiler, or no pip")
finish("test_python.py")
