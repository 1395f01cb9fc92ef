#!/usr/bin/env python3
"""Drives `ptc repl` through a pipe and through a terminal.  test_repl.py PTC"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position
from terminals import Terminal  # pylint: disable=wrong-import-position

PTC = sys.argv[1]
PROMPT = b"ptc=> \x1b[0m\x1b[K"  # of an empty line: the terminal is ours again
MORE = b" ...  \x1b[0m\x1b[K"


def pipe(text):
    done = subprocess.run([PTC, "repl"], input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Repl(Terminal):
    """ptc repl on a terminal of its own."""

    def __init__(self, home, *options):
        super().__init__([PTC, "repl", *options], {"TERM": "xterm", "HOME": home, "XDG_STATE_HOME": home + "/state"},
                         columns=60)
        self.prompt = PROMPT
        self.wait_for(PROMPT)

    def interrupt(self, expected):
        """Ctrl-C until it is heard: before the program runs it is a key like others."""
        heard = False
        for _ in range(200):
            os.write(self.fd, b"\x03")
            heard = self.wait_for(expected, 0.3)
            if heard:
                break
        check("terminal: Ctrl-C", heard and self.wait_for(PROMPT), f"not {expected!r} in {self.got!r}")

    def end(self, keys=b"\x04"):
        return super().end(keys)


def test_pipe():
    status, out, err = pipe("(+ 1 2)\n(def x\n  5)\n(* x *2)\n[*1 *2 *3]\n:a-keyword\n")
    check("pipe: results", out == "3\n#'x\n15\n[15 #'x 3]\n:a-keyword\n", out)
    check("pipe: no prompt, no colour", err == "" and "\033" not in out, err)
    check("pipe: status", status == 0, status)
    status, out, err = pipe('(println "hi")\n(/ 1 0)\n(inc 1)\n(unclosed')
    check("pipe: an error does not end it", out == "nil\n2\n" and status == 0, out)
    check("pipe: errors and prints on stderr", err.startswith("hi\nerror: /: division by zero") and
          "never closed" in err, err)
    _, _, err = pipe("(defn f [x]\n  (/ x 0))\n(f 1)\n")
    check("pipe: an error in an earlier program shows its form",
          err.startswith("error: /: division by zero\n --> an earlier program, line 2, column 3\n"
                         "  (/ x 0)\n"), err)
    status, out, _ = pipe("(def y 1)\n:reset\ny\n:doc inc\n:quit\n(+ 1 1)\n")
    check("pipe: commands", "One more than" in out and not out.endswith("2\n"), out)
    with tempfile.NamedTemporaryFile("w", suffix=".clj") as file:
        file.write("(defn twice [x]\n  (* 2 x))\n(twice 4)\n")
        file.flush()
        status, out, _ = pipe(f":load {file.name}\n(twice 5)\n:load /no/such/file\n")
    check("pipe: load", out == "8\n10\n", out)


def test_terminal(home):
    t = Repl(home, "--timeout-ms", "60000", "--loop-limit", "1000000000000")
    t.type(b"(+ 1 2)\r", b"\x1b[36m3")
    t.type(b"+ 1 5)\x01(\x05\r", b"\x1b[36m6")  # home, end
    t.type(b"help\r", b"Tab completes names")
    t.type(b":halp\r", b":halp is a keyword, not a command; did you mean :help?")
    t.type(b"(+ 1 15)\x02\x7f\x02\x1b[3~3\r", b"\x1b[36m4")  # left, backspace, delete
    t.type(b"(* 2 2) junk\x17\r", b"\x1b[36m4")  # Ctrl-W
    t.type(b"junk\x15(+ 40 2)\r", b"\x1b[36m42")  # Ctrl-U
    t.type("(count \"é日本\")\r".encode(), b"\x1b[36m3")
    t.type(b"\x1b[A\x1b[A\r", b"\x1b[36m42")  # history
    t.type(b"(defn my-function [x]\r", b"(defn", MORE)
    t.type(b"(inc x))\r", b"#'my-function")
    t.type(b"(my-f\t 5)\r", b"\x1b[36m6")  # completion of a definition
    t.type(b"(frequen\t [1 1])\r", b"{1 2}")
    t.type(b"(pars\t\t", b"parse-long", b"(parse")
    t.type(b"\x03", b"^C")
    t.type(b"(loop [i 0] (recur (inc i)))\r", b"\r\n", b"")
    t.interrupt(b"cancelled")
    t.type(b"(nope)\r", b"\x1b[31merror: nothing is named nope")
    check("terminal: status", t.end() == 0, "another")
    path = home + "/state/ptc/history"
    check("history: mode", stat.S_IMODE(os.stat(path).st_mode) == 0o600, os.stat(path).st_mode)
    with open(path, encoding="utf-8") as file:
        check("history: one entry a line", "(defn my-function [x]\\n(inc x))\n" in file.read(), path)
    t = Repl(home)
    t.type(b"\x1b[A\x1b[A\x1b[A\r", b"{1 2}")  # kept between sessions
    check("terminal: status", t.end() == 0, "another")


TOOLS = '{"price": {"table": {"*": 7}, "signature": "(sku :string) -> :int", "description": "what it costs"}}'
SERVER = """import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    tools = [{"name": "list_rows", "description": "Rows.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]
    answer = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
              "tools/list": {"tools": tools},
              "tools/call": {"content": [{"type": "text", "text": "[1,2]"}]}}.get(m["method"])
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **({"result": answer} if answer else {"error": {"code": -32601, "message": "no"}})}), flush=True)
"""


def test_words(home):
    """Tab completes data, tools and upstreams; tools can be called."""
    with open(home + "/server.py", "w", encoding="utf-8") as file:
        file.write(SERVER)
    with open(home + "/upstreams.json", "w", encoding="utf-8") as file:
        file.write('{"upstreams": {"depot": {"command": "%s", "args": ["%s/server.py"]}}}' % (sys.executable, home))
    t = Repl(home, "--context", '{"orders": [{"total": 5}], "ordinary": 1, "other": 2, "ord\\u001b[31m": 3, "ord\\u009b": 4}', "--tools", TOOLS,
                 "--upstreams", home + "/upstreams.json")
    t.type(b"(count data/orde\t)\r", b"\x1b[36m1")
    t.type(b"data/ord\t\t", b"data/ord\\u009b", b"data/ord")  # shown, not sent; the one with ESC is no name
    t.type(b"\x03", b"^C")
    t.type(b'(tool/pr\t {:sku "A"})\r', b"\x1b[36m7")
    t.type(b"(depo\tli\t)\r", b"\x1b[36m[1 2]")
    t.type(b":doc tool/price\r", b"what it costs")
    t.type(b":doc depot/list_rows\r", b"Rows.")
    check("words: status", t.end() == 0, "another")
    done = subprocess.run([PTC, "repl", "--tools", '{"t": 1}'], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    check("words: wrong tools", done.returncode == 2 and "--tools: tool t" in done.stderr, done)


def test_files(home):
    """Files as data: rows and names, columns with Tab, wide limits."""
    with open(home + "/orders.csv", "w", encoding="utf-8") as file:
        file.write("id,unitprice\n" + "".join(f"{i},{i}\n" for i in range(150_000)))
    t = Repl(home, home + "/orders.csv", "o=" + home + "/orders.csv")
    t.type(b"(sum-by :unitp\t (take 3 rows))\r", b"\x1b[36m3")
    t.type(b"(count o)\r", b"\x1b[36m150000")
    t.type(b"(count row\t)\r", b"\x1b[36m150000")
    check("files: status", t.end() == 0, "another")
    done = subprocess.run([PTC, "repl", "orders.csv"], capture_output=True, text=True, timeout=60, cwd=home,
                          input="(def big (map #(assoc % :twice (* 2 (:id %))) rows))\n(:twice (last big))\n")
    check("files: large definitions", done.stdout == "#'big\n299998\n", done)
    for words, text in ((["none.csv"], "No such file"), (["-"], "standard input is where programs"), ([home + "/server.clj"], "")):
        done = subprocess.run([PTC, "repl", *words], capture_output=True, text=True, timeout=60, cwd=home, stdin=subprocess.DEVNULL)
        check(f"files: {words}", done.returncode == 2 and text in done.stderr, done)


def test_search(home):
    t = Repl(home)
    t.type(b"(+ 100 1)\r", b"\x1b[36m101")
    t.type(b"(+ 100 2)\r", b"\x1b[36m102")
    t.type(b"(* 3 3)\r", b"\x1b[36m9")
    t.type(b"\x12100\r", b"\x1b[36m102")  # the newest one
    t.type(b"\x12100\x12\r", b"\x1b[36m101")  # the one before
    t.type(b"\x12(* \x05\x7f 2)\r", b"\x1b[36m18")  # another key edits what was found
    t.type(b"(inc 7\x12nowhere\x07)\r", b"\x1b[36m8")  # given up: what was typed is back
    t.type(b"\x12100x\x7f\r", b"\x1b[36m101")  # a letter taken back
    check("search: status", t.end() == 0, "another")


def test_paste(home):
    """What is pasted is one entry of the history, whatever it contains."""
    t = Repl(home)
    program = b"(defn thrice [x]\r\n\t(* 3 x))\n\n(thrice 5)\n"
    t.type(b"\x1b[200~" + program + b"\x1b[201~\r", b"\x1b[36m15")
    t.type(b"\x1b[A\r", b"\x1b[36m15")
    t.type(b"(count \x1b[200~\"a\x1b[31mb\x04\"\x1b[201~)\r", b"\x1b[36m6")  # keys are no keys in it
    t.type(b"(+ 1 \x1b[200~\x1b[201~1)\r", b"\x1b[36m2")  # nothing
    check("paste: status", t.end() == 0, "another")
    with open(home + "/state/ptc/history", encoding="utf-8") as file:
        check("paste: one entry", "(defn thrice [x]\\n\t(* 3 x))\\n\\n(thrice 5)\n" in file.read(), "not in the history")


def test_paste_dropped(home):
    """A paste that cannot be taken says so, and Ctrl-C leaves one that has no end."""
    t = Repl(home)
    os.write(t.fd, b"\x1b[200~\"")
    for _ in range(80):  # more than the terminal holds: what it draws is read between
        os.write(t.fd, b"x" * 1024)
    os.write(t.fd, b"\"\x1b[201~")
    check("paste: too long", t.wait_for(b"dropped: a line holds 64 KiB at most"), t.got)
    t.type(b"(+ 1 1)\r", b"\x1b[36m2")
    os.write(t.fd, b"\x1b[200~\xff\x1b[201~")
    check("paste: not UTF-8", t.wait_for(b"dropped: it is not UTF-8"), t.got)
    os.write(t.fd, b"\x1b[200~(+ 1")
    t.type(b"\x03(println 7)\r", b"^C")
    t.type(b"(+ 2 3)\r", b"\x1b[36m5")
    check("paste: what follows Ctrl-C is not run", b"\x1b[36m7" not in t.got, t.got)
    check("paste: status", t.end() == 0, "another")


def test_shown(home):
    """Results over several lines, shortened; docs as text; warnings below."""
    t = Repl(home)
    t.type(b"(mapv (fn [i] {:id i :name (str \"customer \" i)}) (range 3))\r",
           b'[{:id 0, :name "customer 0"}\r\n {:id 1, :name "customer 1"}\r\n {:id 2, :name "customer 2"}]')
    t.type(b"{:a (range 30) :b {:c \"[x\"}}\r", b"{:a [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\r\n     21 22 23 24 25 26 27 28 29],\r\n :b {:c \"[x\"}}")
    t.type(b"(range 5000)\r", b" ...\x1b[0m\r\n", b"")
    t.type(b"", b"characters are not shown: :all shows the whole result")
    t.type(b":all\r", b"4998 4999]")
    t.type(b"(apply str (repeat 5000 \"x\"))\r", b"xxx ...")
    t.type(b":all\r", b"x\"\r\n")
    t.type(b"1\r", b"\x1b[36m1")
    t.type(b":all\r", b"shown as a whole")
    t.type(b"(doc 'inc)\r", b"\r\nDescription: One more than")
    t.type(b"(sum-by :totl [{:total 1}])\r", b"\x1b[36m0\x1b[0m\r\n\x1b[33mwarning: sum-by")
    check("shown: status", t.end() == 0, "another")
    _, out, _ = pipe("(doc inc)\n(apropos \"frequencies\")\n(range 2000)\n")
    check("shown: text in a pipe", out.startswith("inc\nDescription: ") and "\nlocal: frequencies - " in out, out[:300])
    check("shown: one line in a pipe", out.endswith("1998 1999]\n") and "..." not in out, out[-50:])


def test_quit(home):
    for word in (b"exit", b"quit", b":q", b" quit "):
        t = Repl(home)
        os.write(t.fd, word + b"\r")
        check(f"quit: {word!r}", t.end() == 0, "another status")
    status, out, _ = pipe("(def exit 5)\nexit\n(+ 1 1)\nquit\n(+ 1 2)\n")
    check("quit: a definition comes first", out == "#'exit\n5\n2\n", out)


def test_shells(home):
    """Started from real shells, it leaves their terminal as it was."""
    for shell, *options in (["bash", "--norc", "--noprofile"], ["dash"]):
        if not shutil.which(shell):
            continue
        t = Terminal([shutil.which(shell), *options, "-i"], {"TERM": "xterm", "HOME": home, "PS1": "sh> ",
                                                             "PATH": os.environ["PATH"], "XDG_STATE_HOME": home + "/state"})
        t.prompt = PROMPT
        check(f"{shell}: prompt", t.wait_for(b"sh> "), t.got)
        t.type(f"{os.path.abspath(PTC)} repl\r".encode(), b":help for help")
        t.type(b"(+ 20 22)\r", b"\x1b[36m42")
        t.type(b"quit\r", b"\x1b[?2004l", b"sh> ")
        t.type(b"stty -a | grep -c ' echo '; echo a''b\r", b"ab\r\n", b"sh> ")
        check(f"{shell}: status", t.end(b"\x04") == 0, "another")


def main():
    home = tempfile.mkdtemp()
    try:
        test_pipe()
        test_terminal(home)
        test_words(home)
        test_files(home)
        test_search(home)
        test_paste(home)
        test_paste_dropped(home)
        test_shown(home)
        test_quit(home)
        test_shells(home)
    finally:
        shutil.rmtree(home)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
