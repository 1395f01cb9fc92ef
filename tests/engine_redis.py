# SPDX-License-Identifier: MIT
"""A real Redis for tests, in a temporary directory and on loopback; and servers that only look like one."""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from engines import WAIT, Missing, free_port, wait_until


class Redis:
    """A server; `settings` are words of its command line."""

    def __init__(self, *settings):
        self.program = shutil.which("redis-server") or shutil.which("valkey-server")
        self.client = shutil.which("redis-cli") or shutil.which("valkey-cli")
        if not self.program or not self.client:
            raise Missing("redis-server is not installed")
        self.directory = tempfile.mkdtemp(prefix="ptc-redis-")
        self.port = free_port()
        self.settings, self.password, self.process = list(settings), None, None
        if "--requirepass" in settings:
            self.password = settings[settings.index("--requirepass") + 1]
        self.start()

    def start(self):
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.directory, "--save", "", *self.settings]
        self.process = subprocess.Popen([self.program, *words], stdin=subprocess.DEVNULL,  # pylint: disable=consider-using-with
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        if not wait_until(lambda: self.ask("PING") == "PONG"):
            raise Missing("redis-server does not start")

    def ask(self, *words, database=0):
        """What it answers; "" when it does not."""
        environment = {**os.environ, **({"REDISCLI_AUTH": self.password} if self.password else {})}
        done = subprocess.run([self.client, "-h", "127.0.0.1", "-p", str(self.port), "-n", str(database), *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                              check=False, timeout=WAIT)
        return done.stdout.decode().strip()

    def stop(self, hard=False):
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGKILL if hard else signal.SIGTERM)
        self.process.wait(WAIT)

    def url(self, prefix, port=None):
        return f"redis://127.0.0.1:{port or self.port}?prefix={prefix}:"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(True)
        shutil.rmtree(self.directory, ignore_errors=True)


class Liar:
    """Passes commands on to a server until `lie` is set; then it gives that for an answer, again and again if `endless`.  Without
    a server it lies from the beginning; None is silence."""

    def __init__(self, to=None, lie=None, endless=False):
        self.to, self.lie, self.endless = to, lie, endless
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listening.accept()
                threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        with near, contextlib.suppress(OSError):
            far = socket.create_connection(("127.0.0.1", self.to), 5) if self.to else None
            while data := near.recv(65536):
                if self.lie is None and far:
                    far.sendall(data)
                    near.sendall(far.recv(1 << 20))
                elif self.lie is not None:
                    near.sendall(self.lie)
                while self.lie and self.endless:
                    near.sendall(self.lie)

    def close(self):
        self.listening.close()
