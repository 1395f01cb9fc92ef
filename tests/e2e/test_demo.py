#!/usr/bin/env python3
"""script/demo: shows what it promises, and leaves nothing outside of build/.  test_demo.py PTC

It builds, so only the command of the release build is tested: there is nothing left to build then."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish, skip  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
PTC = pathlib.Path(sys.argv[1]).resolve()
ANSWER = '{"orders":4800,"euros":166071.4,"customers":[{"name":"Ada","euros":29368.84,"percent":17.68},'
SAME = '{:orders 4800, :euros 166071.4, :customers [{:name "Ada", :euros 29368.84, :percent 17.68}'


def files():
    """Everything in the tree outside of build/ and .git/."""
    skip = {"build", ".git", "node_modules", "__pycache__"}
    found = set()
    for where, dirs, names in os.walk(ROOT):
        dirs[:] = [d for d in dirs if d not in skip]
        found.update(os.path.join(where, name) for name in names)
    return found


def test_demo():
    before = files()
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8",
               "CCACHE_DISABLE": "1"}  # a compiler's cache is not the demo's
        begun = time.monotonic()
        done = subprocess.run([ROOT / "script/demo"], capture_output=True, text=True, timeout=250, env=env, check=False)
        took = time.monotonic() - begun
        left = os.listdir(home)
    check("status", done.returncode == 0, done.stderr)
    for text in (ANSWER, SAME, "rows that the tools returned:         315900 bytes", "its tools: lisp_eval, lisp_result_page",
                 "did you mean tool/orders?", "computed longer than its limit of 100 ms", 'export PATH="$PWD/build/release:$PATH"'):
        check(text, text in done.stdout, done.stdout)
    check("nothing in the home directory", left == [], left)
    check("nothing in the tree", files() == before, files() ^ before)
    print(f"the demo took {took:.1f} s")


def test_bootstrap():
    """What the build needs, and no word of what only tests need."""
    text = (ROOT / "script/bootstrap").read_text(encoding="utf-8")
    tools = text.partition('\ntools="')[2].partition('"')[0]
    check("tools of the build", set(tools.split()) == {"gcc:gcc", "cmake:cmake", "ninja:ninja-build"}, tools)
    done = subprocess.run([ROOT / "script/bootstrap", "--build"], capture_output=True, text=True, timeout=60, check=False)
    check("wrong option", done.returncode == 2 and "usage: script/bootstrap" in done.stderr, done)


if PTC == ROOT / "build/release/ptc":
    test_demo()
    test_bootstrap()
else:
    skip("not the release build")
    check("skipped", True, "")
sys.exit(finish())
