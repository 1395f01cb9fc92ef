# SPDX-License-Identifier: MIT
"""Real engines for tests, each in a temporary directory and on loopback, and a way to them on which things go wrong."""
import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

WAIT = 60  # seconds that nothing takes


class Missing(Exception):
    """The engine is not installed, or cannot be run here."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(what, seconds=WAIT):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Postgres:
    """A server, whose superuser is `ptc` and whose databases are made with `database`.  It does not wait for the disk: what ends
    here are processes, never the machine."""

    def __init__(self, settings=("fsync=off",), auth="trust"):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.bin = found[-1] if found else os.path.dirname(shutil.which("initdb") or "")
        if not self.bin or not os.path.exists(os.path.join(self.bin, "initdb")):
            raise Missing("postgresql is not installed")
        self.user = []
        self.directory = tempfile.mkdtemp(prefix="ptc-pg-")
        if os.getuid() == 0:  # it refuses to run as root
            if not shutil.which("runuser"):
                raise Missing("postgresql does not run as root, and there is no runuser")
            self.user = ["runuser", "-u", "postgres", "--"]
            shutil.chown(self.directory, "postgres", "postgres")
            os.chmod(self.directory, 0o755)
        self.data = os.path.join(self.directory, "data")
        self.password = os.path.join(self.directory, "password")
        with open(self.password, "w", encoding="ascii") as f:
            f.write("secret\n")
        os.chmod(self.password, 0o644)
        self.run("initdb", "-D", self.data, "-A", auth, "-U", "ptc", "--pwfile", self.password, "-N", "-E", "UTF8", "--locale=C")
        self.port = free_port()
        self.settings = ["listen_addresses=127.0.0.1", "shared_buffers=16MB", *settings]
        self.process = None
        self.start()

    def run(self, tool, *arguments, **options):
        return subprocess.run([*self.user, os.path.join(self.bin, tool), *arguments], cwd="/", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, timeout=WAIT, **options)

    def start(self):
        options = [part for setting in self.settings for part in ("-c", setting)]
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [*self.user, os.path.join(self.bin, "postgres"), "-D", self.data, "-p", str(self.port), "-k", self.directory, *options],
            cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        if not wait_until(self.is_ready):
            raise Missing("postgresql does not start")

    def is_ready(self):
        ready = [os.path.join(self.bin, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready, check=False).returncode == 0

    def stop(self, hard=False):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.run("pg_ctl", "-D", self.data, "-m", "immediate" if hard else "fast", "stop")
        self.process.wait(WAIT)

    def pause(self, yes):
        """Stops all its processes, or lets them go on."""
        with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as f:
            postmaster = int(f.readline())
        children = subprocess.run(["ps", "--ppid", str(postmaster), "-o", "pid="], stdout=subprocess.PIPE, check=False)
        for pid in [postmaster, *map(int, children.stdout.split())]:
            os.kill(pid, signal.SIGSTOP if yes else signal.SIGCONT)
        if not yes:
            self.process.send_signal(signal.SIGCONT)  # runuser stops with what it runs, and does not go on with it

    def sql(self, text, database="postgres"):
        """What it prints, as the superuser."""
        environment = {**os.environ, "PGPASSWORD": "secret", "PGOPTIONS": "-c default_transaction_read_only=off"}
        done = subprocess.run([os.path.join(self.bin, "psql"), "-qAtX", "-h", "127.0.0.1", "-p", str(self.port), "-U", "ptc", "-d",
                               database, "-v", "ON_ERROR_STOP=1", "-c", text], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=WAIT)
        if done.returncode:
            raise AssertionError(done.stderr.decode())
        return done.stdout.decode().strip()

    def database(self, name):
        """The URL of a new one."""
        self.sql(f"create database {name}")
        return self.url(name)

    def url(self, name, port=None, user="ptc"):
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{name}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(True)
        shutil.rmtree(self.directory, ignore_errors=True)


class Trouble:
    """TCP in the middle.  mode: pass; delay (each message by `delay` seconds); cut (closed once a request went through, before
    its answer); mute (nothing comes back); drop (nobody gets in)."""

    def __init__(self, port):
        self.to, self.mode, self.delay, self.cuts = port, "pass", 0, 0
        self.pairs, self.lock = set(), threading.Lock()
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        try:
            far = None if self.mode == "drop" else socket.create_connection(("127.0.0.1", self.to), 5)
        except OSError:
            far = None
        if not far:
            near.close()
            return
        far.settimeout(None)
        pair = (near, far)
        for s in pair:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.pairs.add(pair)
        threading.Thread(target=self.pump, args=(near, far, pair, True), daemon=True).start()
        self.pump(far, near, pair, False)

    def pump(self, source, to, pair, asks):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self.mode == "delay":
                    time.sleep(self.delay)
                while self.mode == "mute" and not asks:
                    time.sleep(0.02)
                if self.mode == "cut" and not asks:
                    self.cuts += 1
                    break
                to.sendall(data)
        self.end(pair)

    def end(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for s in pair:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()

    def drop(self):
        """All connections that there are."""
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self.end(pair)

    def close(self):
        self.listening.close()
        self.drop()


def faults(engine, way):
    """What a test may do to them at random: functions of anything and of a generator, which return when it is over."""
    def trouble(mode, seconds):
        way.mode = mode
        if mode == "drop":
            way.drop()
        time.sleep(seconds)
        way.mode = "pass"

    def drop(_, pick):
        trouble("drop", pick.random())

    def cut(_, pick):
        trouble("cut", pick.random() * 0.5)

    def delay(_, pick):
        way.delay = 0.5 + pick.random() * 0.5
        trouble("delay", 2 * way.delay)

    def restart(_, pick):
        engine.stop(pick.random() < 0.5)
        time.sleep(pick.random())
        engine.start()
    return [drop, cut, delay, restart]
