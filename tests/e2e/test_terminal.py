#!/usr/bin/env python3
"""What programs print cannot act on a terminal: it is shown there, and left as it is everywhere else.
test_terminal.py PTC"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position
from terminals import show  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
# Colour, a title, the cursor's place, an eight-bit CSI, CR, BEL, DEL and the letters' order; NEL and NUL.
EVIL = "a\x1b[31mb\x1b]0;t\x07\x1b[2Jc\u009b31md\re\x7f\u202ef\u0085\x00g"
LITERAL = "".join(f"\\u{ord(c):04x}" if not c.isascii() or not c.isprintable() else c for c in EVIL)
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def on_terminal(*args, text=b""):
    """Standard output and error of a command on a terminal, with the terminal's CR LF undone."""
    got = show([PTC, *args], {"TERM": "dumb", "HOME": "/nonexistent"}, text=text)[1]
    return got.replace(b"\r\n", b"\n").decode(errors="surrogateescape")


def main():
    programs = {
        "prints": f'(do (println "{LITERAL}") 1)', "result": f'"{LITERAL}"', "failure": f'(fail "{LITERAL}")',
        "thrown": f'(throw (ex-info "{LITERAL}" {{}}))', "keyword": f'(keyword "{LITERAL}")',
        "not a function": f'((keyword "{LITERAL}") 1 2 3 4)', "source": f'(+ 1 "{EVIL[:-2]}"'}
    for name, program in programs.items():
        shown = on_terminal("eval", program.replace("\x00", ""))
        check(f"eval, {name}: nothing acts", not ACTS.search(shown), shown)
        check(f"eval, {name}: it is shown", "\\u001b" in shown or "31mb" in shown, shown)
    shown = on_terminal("eval", "--format", "json", f'["{LITERAL}"]')
    check("JSON on a terminal", not ACTS.search(shown) and json.loads(shown) == [EVIL], shown)
    piped = subprocess.run([PTC, "eval", programs["prints"]], capture_output=True, timeout=60, check=False)
    check("a pipe gets every byte", piped.stderr.decode() == EVIL + "\n", piped)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "t\x1b[31m.ptct")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f';;@ a/a-001 match\n"{LITERAL}"\n=> 1\n')
        shown = on_terminal("test", path)
        check("ptc test", not ACTS.search(shown) and "FAIL" in shown, shown)
    shown = on_terminal("mcp", "--config", "no\x1b[31m\u202esuch")
    check("ptc mcp", not ACTS.search(shown) and "\\u001b[31m\\u202esuch" in shown, shown)
    shown = on_terminal("doc", "no\x1b[31m\u202esuch")
    check("ptc doc", not ACTS.search(shown) and "\\u001b[31m\\u202esuch" in shown, shown)
    shown = on_terminal("signature", "[:int", text=b"")
    check("plain text is as it was", "[:int" in shown and "\\u" not in shown, shown)
    shown = on_terminal("repl", text=f'(println "{LITERAL}")\n(keyword "{LITERAL}")\n(fail "{LITERAL}")\n\x04'.encode())
    check("repl: nothing acts", not ACTS.search(shown), shown)
    check("repl: it is shown", shown.count("a\\u001b[31mb") >= 3, shown)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
