"""What the tests of the command line share: a directory with files, shell commands in it, a pseudo-terminal."""
import fcntl
import gzip
import json
import os
import pathlib
import pty
import select
import struct
import subprocess
import tempfile
import termios

ORDERS = "id,customer,total,zip\n1,Ada,10.5,00501\n2,Ben,20,10001\n3,Ada,30,10002\n"


# What is said on standard error when standard input was taken for something.
CSV4 = "note: read as CSV with 4 columns; --input lines reads it as lines\n"
NUMBERS = "note: read as JSON; --input lines reads it as lines\n"


class Desk:
    """Runs commands in a directory of their own and counts what was checked."""

    def __init__(self, ptc):
        self.ptc, self.counts = os.path.abspath(ptc), {True: 0, False: 0}
        self.holder = tempfile.TemporaryDirectory()
        self.where = pathlib.Path(self.holder.name)
        self.write("orders.csv", ORDERS)
        self.write("x.json", '{"a":1,"b":[1,2,3]}\n')
        self.write("orders.csv.gz", gzip.compress(ORDERS.encode()))

    def write(self, name, text):
        self.where.joinpath(name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def check(self, name, ok, got):
        self.counts[bool(ok)] += 1
        if not ok:
            print(f"FAIL {name}\n    got  {got!r}")

    def env(self, **more):
        path = os.path.dirname(self.ptc) + os.pathsep + os.environ["PATH"]
        return {"PATH": path, "HOME": str(self.where), "LANG": "C.UTF-8", **more}

    def sh(self, command):
        """Status, standard output and standard error of a shell command; its standard input has no end of its own."""
        reader, writer = os.pipe()
        try:
            done = subprocess.run(["bash", "-c", "set -o pipefail\n" + command], cwd=self.where, env=self.env(),
                                  stdin=reader, capture_output=True, timeout=60, check=False)
        finally:
            os.close(reader)
            os.close(writer)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def prints(self, command, expected, note=""):
        got = self.sh(command)
        self.check(command, got == (0, expected, note), got)

    def gives(self, command, value, note=""):
        status, out, err = self.sh(command)
        self.check(command, status == 0 and json.loads(out) == value and err == note, (status, out, err))

    def refuses(self, command, *texts, status=2):
        got = self.sh(command)
        self.check(command, got[0] == status and got[1] == "" and all(text in got[2] for text in texts), got)

    def terminal(self, *args, columns=0, **env):
        """What a command shows on a terminal, of that width or of none, with its CR LF undone."""
        pid, fd = pty.fork()
        if pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
            os.chdir(self.where)
            os.execve(self.ptc, [self.ptc, *args], self.env(**{"TERM": "xterm", **env}))
        got = b""
        while select.select([fd], [], [], 60)[0]:
            try:
                piece = os.read(fd, 65536)
            except OSError:
                break
            if not piece:
                break
            got += piece
        os.close(fd)
        os.waitpid(pid, 0)
        return got.replace(b"\r\n", b"\n").decode(errors="surrogateescape")

    def end(self, name):
        self.holder.cleanup()
        print(f"{name}: {self.counts[True]} passed, {self.counts[False]} failed")
        return 1 if self.counts[False] else 0
