# SPDX-License-Identifier: MIT
"""Nodes with a store, in processes of their own, for the tests of all engines."""
import collections
import contextlib
import subprocess
import threading
import time

from watch import start  # whoever uses this has it on the path

Answer = collections.namedtuple("Answer", "status version text seconds")


class Peer:
    """A node; what it says when it is opened is `opened`."""

    def __init__(self, program, url, timeout_ms=5000, upgrade=False, env=None):
        command = [program, url, str(timeout_ms), *(["upgrade"] if upgrade else [])]
        self.process = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        self.begun = time.monotonic()
        self.opened = None

    def __enter__(self):
        self.opened = self.answer()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def answer(self):
        line = self.process.stdout.readline().decode()
        assert line, f"the node ended with {self.process.wait()}"
        status, version, text = line.rstrip("\n").split(" ", 2)
        return Answer(status, int(version), text, time.monotonic() - self.begun)

    def ask(self, *words):
        self.begun = time.monotonic()
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()
        return self.answer()

    def status(self, *words):
        return self.ask(*words).status


class Load:
    """Nodes that count in one record until it is enough.  What was acknowledged must be there, and what is unknown may be."""

    def __init__(self, peers, key="counter"):
        self.key, self.enough = key, False
        self.statuses = collections.Counter()
        self.slowest = 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.count, args=(peer,)) for peer in peers]

    def count(self, peer):
        while not self.enough:
            answer = peer.ask("add", self.key)
            with self.lock:
                self.statuses[answer.status] += 1
                self.slowest = max(self.slowest, answer.seconds)
            if answer.status not in ("ok", "conflict"):
                time.sleep(0.02)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.enough = True
        for thread in self.threads:
            thread.join()

    def check(self, peer, least):
        """Through a node that nothing troubles."""
        there = int(peer.ask("get", self.key).text)
        acknowledged, unknown = self.statuses["ok"], self.statuses["unknown"]
        assert acknowledged <= there <= acknowledged + unknown, (there, self.statuses)
        assert acknowledged >= least, self.statuses
