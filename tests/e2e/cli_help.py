"""What the tests of the command line share: a directory with files, shell commands in it, a pseudo-terminal."""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position
from terminals import show  # pylint: disable=wrong-import-position

ORDERS = "id,customer,total,zip\n1,Ada,10.5,00501\n2,Ben,20,10001\n3,Ada,30,10002\n"


# What is said on standard error when standard input was taken for something.
CSV4 = "note: read as CSV with 4 columns; --input lines reads it as lines\n"
NUMBERS = "note: read as JSON; --input lines reads it as lines\n"


class Desk:
    """Runs commands in a directory of their own and counts what was checked."""

    def __init__(self, ptc):
        self.ptc, self.check = os.path.abspath(ptc), check
        self.holder = tempfile.TemporaryDirectory()
        self.where = pathlib.Path(self.holder.name)
        self.write("orders.csv", ORDERS)
        self.write("x.json", '{"a":1,"b":[1,2,3]}\n')
        self.write("orders.csv.gz", gzip.compress(ORDERS.encode()))

    def write(self, name, text):
        self.where.joinpath(name).write_bytes(text if isinstance(text, bytes) else text.encode())

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
        got = show([self.ptc, *args], self.env(**{"TERM": "xterm", **env}), self.where, columns)[1]
        return got.replace(b"\r\n", b"\n").decode(errors="surrogateescape")

    def end(self):
        self.holder.cleanup()
        return finish()
