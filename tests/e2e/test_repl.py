#!/usr/bin/env python3
"""Drives `ptc repl` through a pipe and through a terminal.  test_repl.py PTC"""
import os
import pty
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

PTC = sys.argv[1]
PROMPT = b"ptc=> \x1b[0m\x1b[K"  # of an empty line: the terminal is ours again
MORE = b" ...  \x1b[0m\x1b[K"
counts = {True: 0, False: 0}


def check(name, ok, got):
    counts[bool(ok)] += 1
    if not ok:
        print(f"FAIL {name}\n    got  {got!r}")


def pipe(text):
    done = subprocess.run([PTC, "repl"], input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Terminal:
    """ptc repl on a terminal of its own."""

    def __init__(self, home, *options):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            env = {"TERM": "xterm", "HOME": home, "XDG_STATE_HOME": home + "/state"}
            os.execve(PTC, [PTC, "repl", *options], env)
        self.got = b""
        self.wait_for(PROMPT)

    def wait_for(self, text, seconds=60):
        """Reads up to the end of the text; False when it does not come."""
        while text not in self.got:
            if not select.select([self.fd], [], [], seconds)[0]:
                return False
            try:
                self.got += os.read(self.fd, 65536)
            except OSError:
                return False
        self.got = self.got[self.got.index(text) + len(text):]
        return True

    def type(self, keys, expected, prompt=PROMPT):
        """Types and waits for an answer and then the prompt: what is typed before it is edited by
        the terminal itself."""
        os.write(self.fd, keys)
        ok = self.wait_for(expected) and (not prompt or self.wait_for(prompt))
        check(f"terminal: {keys!r}", ok, f"not {expected!r} in {self.got!r}")

    def interrupt(self, expected):
        """Ctrl-C until it is heard: before the program runs it is a key like others."""
        for _ in range(200):
            os.write(self.fd, b"\x03")
            if self.wait_for(expected, 0.3):
                break
        check("terminal: Ctrl-C", self.wait_for(PROMPT), f"not {expected!r} in {self.got!r}")

    def end(self):
        """Its status; it is killed when it does not end."""
        os.write(self.fd, b"\x04")
        try:
            while select.select([self.fd], [], [], 60)[0] and os.read(self.fd, 4096):
                pass
            os.kill(self.pid, signal.SIGKILL)
        except OSError:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


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
    t = Terminal(home, "--timeout-ms", "60000", "--loop-limit", "1000000000000")
    t.type(b"(+ 1 2)\r", b"\x1b[36m3")
    t.type(b"+ 1 5)\x01(\x05\r", b"\x1b[36m6")  # home, end
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
    t.type(b"(loop [i 0] (recur (inc i)))\r", b"\r\n", None)
    t.interrupt(b"cancelled")
    t.type(b"(nope)\r", b"\x1b[31merror: nothing is named nope")
    check("terminal: status", t.end() == 0, "another")
    path = home + "/state/ptc/history"
    check("history: mode", stat.S_IMODE(os.stat(path).st_mode) == 0o600, os.stat(path).st_mode)
    with open(path, encoding="utf-8") as file:
        check("history: one entry a line", "(defn my-function [x]\\n(inc x))\n" in file.read(), path)
    t = Terminal(home)
    t.type(b"\x1b[A\x1b[A\x1b[A\r", b"{1 2}")  # kept between sessions
    check("terminal: status", t.end() == 0, "another")


def main():
    home = tempfile.mkdtemp()
    try:
        test_pipe()
        test_terminal(home)
    finally:
        shutil.rmtree(home)
    print(f"test_repl: {counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
