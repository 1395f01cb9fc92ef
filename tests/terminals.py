# SPDX-License-Identifier: MIT
"""Commands on a terminal of their own."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios

from checks import check

WAIT = 60  # seconds, for a busy machine


class Terminal:
    """A command that runs at one.  `columns`: its width; 0: it says none; None: as it comes."""

    def __init__(self, argv, env, where=None, columns=None):
        self.got, self.prompt = b"", b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if columns is not None:
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
            if where:
                os.chdir(where)
            os.execve(argv[0], argv, env)

    def read(self, seconds=WAIT):
        """What it shows next; b"" when it has ended, or shows nothing for that long."""
        try:
            return os.read(self.fd, 65536) if select.select([self.fd], [], [], seconds)[0] else b""
        except OSError:
            return b""

    def wait_for(self, text, seconds=WAIT):
        """Reads up to the end of the text; False when it does not come."""
        while text not in self.got:
            piece = self.read(seconds)
            if not piece:
                return False
            self.got += piece
        self.got = self.got[self.got.index(text) + len(text):]
        return True

    def type(self, keys, expected, prompt=None):
        """Types and waits for an answer and then the prompt (b"": none): what is typed before it is edited by the
        terminal itself."""
        os.write(self.fd, keys)
        prompt = self.prompt if prompt is None else prompt
        ok = self.wait_for(expected) and (not prompt or self.wait_for(prompt))
        check(f"terminal: {keys!r}", ok, f"not {expected!r} in {self.got!r}")

    def end(self, keys=b""):
        """Its status, once the rest has been read; it is killed when it does not end."""
        if keys:
            os.write(self.fd, keys)
        piece = True
        while piece and select.select([self.fd], [], [], WAIT)[0]:
            piece = self.read(0)
            self.got += piece
        if piece:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def show(argv, env, where=None, columns=None, text=b""):
    """Its status, and what a command that ends by itself writes on a terminal after this was typed."""
    t = Terminal(argv, env, where, columns)
    if text:
        os.write(t.fd, text)
    status = t.end()
    return status, t.got
