# SPDX-License-Identifier: MIT
"""A bank on several nodes with one store: clients add to counters, move money and write registers in shared sessions, while
nodes are killed, ended and stopped and the store is troubled.  Afterwards the sums must be those of what was acknowledged;
what was answered "nothing was done" must not be there; what is unknown may be there once."""
import collections
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mcp"),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
from http_help import modern_body, modern_headers  # noqa: E402 pylint: disable=wrong-import-position
from linearizable import Op, linearizable  # noqa: E402 pylint: disable=wrong-import-position
from watch import WAIT, start  # noqa: E402 pylint: disable=wrong-import-position

TOKEN = "t" * 40
LEASE = 5
NOT_DONE = {"session_busy", "store_failed", "unknown_session", "session_limit", "no_memory", "busy"}
BEGIN = "(do (def n 0) (def a 1000) (def b 1000) (def r 0) (def ops []) :ok)"


class Node:
    """A server that comes back at the same port."""

    def __init__(self, ptc, directory, number, options, environment=None):
        self.environment = {**os.environ, **(environment or {})}
        self.command = [ptc, "mcp", "--token-file", os.path.join(directory, "token"), "--sessions", "--isolation", "none",
                        "--quiet", "--leave-ms", "100", "--max-sessions", "1000", *options]
        self.log = os.path.join(directory, f"node{number}.log")
        self.port, self.process = 0, None
        self.begin()

    def begin(self):
        """The port that it got at first, or again."""
        if os.path.exists(self.log):
            os.truncate(self.log, 0)
        with open(self.log, "ab") as log:
            self.process = start([*self.command, "--http", f"127.0.0.1:{self.port}"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=log, env=self.environment)
        end = time.monotonic() + WAIT
        while time.monotonic() < end and self.process.poll() is None:
            text = self.text()
            if "listening on port " in text:
                self.port = int(text.split("listening on port ")[1].split()[0])
                return
            time.sleep(0.01)
        raise AssertionError("a node did not start: " + self.text()[-500:])

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def end(self, how):
        """Its status."""
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(how)
        return self.process.wait(WAIT)


def ask(port, tool, arguments, timeout=10):
    """("ok", result), ("no", why): nothing was done, or ("unknown", why)."""
    body = json.dumps(modern_body("tools/call", {"name": tool, "arguments": arguments}))
    sent = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        sent.connect()
    except OSError as e:
        return "no", type(e).__name__
    try:
        sent.request("POST", "/mcp", body, dict(modern_headers("tools/call", tool, {"Authorization": "Bearer " + TOKEN})))
        answer = sent.getresponse()
        text = answer.read().decode()
    except (OSError, http.client.HTTPException) as e:
        return "unknown", type(e).__name__
    finally:
        sent.close()
    if answer.status != 200:
        return ("no" if answer.status == 503 else "unknown"), f"http {answer.status}"
    if not text.startswith("{"):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    return judge(json.loads(text))


def judge(message):
    if "error" in message:
        return ("no" if message["error"]["code"] == -32000 else "unknown"), str(message["error"]["code"])
    result = message["result"]
    if not result.get("isError"):
        data = result["structuredContent"]
        return "ok", data.get("result", data.get("session_id"))
    reason = result["content"][0]["text"].split(":")[0]
    return ("no" if reason in NOT_DONE else "unknown"), reason


class Account:
    """One session, and what the clients know of it."""

    def __init__(self, session):
        self.session = session
        self.lock = threading.Lock()
        self.acknowledged, self.unknown, self.register = {}, {}, []

    def evaluate(self, port, program, timeout=10):
        return ask(port, "lisp_session_eval", {"session_id": self.session, "program": program}, timeout)


class Client(threading.Thread):
    """Calls any node about any session; the answer "nothing was done" makes it try again, with the same operation."""

    def __init__(self, bank, number):
        super().__init__(daemon=True)
        self.bank, self.random = bank, random.Random(bank.seed * 1000 + number)
        self.number, self.turn = number, 0
        self.counts, self.whys = collections.Counter(), collections.Counter()

    def run(self):
        while not self.bank.over.is_set():
            self.turn += 1
            account = self.random.choice(self.bank.accounts)
            work = self.random.choices([self.add, self.move, self.write, self.swap, self.read], [4, 3, 2, 1, 2])[0]
            work(account, self.number * 1000000 + self.turn)

    def again(self, account, program):
        """The answer, with when the call that had it began."""
        while True:
            begun = time.monotonic()
            status, out = account.evaluate(self.random.choice(self.bank.nodes).port, program)
            self.counts[status] += 1
            if status != "ok":
                self.whys[f"{status} {out}"] += 1
            if status != "no" or self.bank.over.is_set():
                return status, out, begun
            time.sleep(0.005 + self.random.random() * 0.03)

    def settle(self, account, number, what, program):
        status, out, begun = self.again(account, program)
        if status == "no":
            return
        with account.lock:
            known = account.acknowledged if status == "ok" else account.unknown
            known[number] = (*what, out, begun, time.monotonic())

    def add(self, account, number):
        k = self.random.randint(1, 9)
        self.settle(account, number, ("add", k), f"(do (def n (+ n {k})) (def ops (conj ops {number})) n)")

    def move(self, account, number):
        k = self.random.randint(1, 50)
        self.settle(account, number, ("move", k),
                    f"(do (def a (- a {k})) (def b (+ b {k})) (def ops (conj ops {number})) (+ a b))")

    def note(self, account, kind, arg, program):
        status, out, begun = self.again(account, program)
        if status != "no" and not (status == "unknown" and kind == "read"):
            end = time.monotonic() if status == "ok" else None
            with account.lock:
                account.register.append(Op(kind, arg, out, begun, end))

    def write(self, account, number):
        self.note(account, "write", number, f"(do (def r {number}) {number})")

    def swap(self, account, number):
        with account.lock:
            known = [op.arg for op in account.register[-5:] if op.kind == "write"]
        old = self.random.choice(known or [0])
        self.note(account, "cas", (old, number), f"(let [was r] (if (= was {old}) (def r {number}) nil) was)")

    def read(self, account, number):
        del number
        self.note(account, "read", None, "r")


class Bank:
    """`clocks`: what each node has in its environment that others have not."""

    def __init__(self, ptc, options, nodes=3, clients=12, sessions=20, seed=1, clocks=({}, {}, {})):
        self.directory = tempfile.mkdtemp(prefix="ptc-bank-")
        with open(os.open(os.path.join(self.directory, "token"), os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as f:
            f.write(TOKEN)
        self.seed, self.over, self.made = seed, threading.Event(), collections.Counter()
        self.nodes = [Node(ptc, self.directory, i, options, clocks[i]) for i in range(nodes)]
        self.accounts = [self.open_account() for _ in range(sessions)]
        self.clients = [Client(self, i) for i in range(clients)]

    def open_account(self):
        status, session = ask(self.nodes[0].port, "lisp_session_start", {})
        assert status == "ok", session
        account = Account(session)
        assert account.evaluate(self.nodes[0].port, BEGIN)[0] == "ok"
        return account

    def run(self, seconds, faults, every=1.5, quiet=None):
        """`faults`: functions that take the bank and a random generator and return when the fault is over."""
        pick, quiet = random.Random(self.seed), seconds * 0.2 if quiet is None else quiet
        begun = time.monotonic()
        for client in self.clients:
            client.start()
        while time.monotonic() < begun + seconds - quiet:
            time.sleep(min(every * (0.5 + pick.random()), max(0, begun + seconds - quiet - time.monotonic())))
            if faults and time.monotonic() < begun + seconds - quiet:
                fault = pick.choice(faults)
                fault(self, pick)
                self.made[fault.__name__] += 1
        time.sleep(max(0, begun + seconds - time.monotonic()))
        self.over.set()
        for client in self.clients:
            client.join(WAIT)
            assert not client.is_alive(), "a client hangs"

    def counts(self):
        return sum((c.counts for c in self.clients), collections.Counter())

    def report(self, name):
        counts, whys = self.counts(), sum((c.whys for c in self.clients), collections.Counter())
        print(f"{name}: {counts['ok']} acknowledged, {counts['unknown']} unknown, {counts['no']} tried again; faults "
              f"{dict(self.made)}; answers {dict(whys)}", flush=True)

    def close(self):
        for node in self.nodes:
            if node.process.poll() is None:
                node.end(signal.SIGKILL)
        subprocess.run(["rm", "-rf", self.directory], check=True)

    # -------------------------------------------------------------------------------------------------- what must hold

    def final(self, account, program):
        """The same from every node."""
        answers = []
        for node in self.nodes:
            end = time.monotonic() + WAIT
            status, out = account.evaluate(node.port, program)
            while status == "no" and time.monotonic() < end:
                time.sleep(0.1)
                status, out = account.evaluate(node.port, program)
            assert status == "ok", f"cannot be read: {out}"
            answers.append(out)
        assert all(a == answers[0] for a in answers), f"nodes disagree: {answers}"
        return answers[0]

    def check(self):
        for number, account in enumerate(self.accounts):
            try:
                self.check_account(account)
            except AssertionError as e:
                raise AssertionError(f"session {number}: {e}") from e

    def check_account(self, account):
        n, a, b, register, ops = self.final(account, "[n a b r ops]")
        known, there = {**account.acknowledged, **account.unknown}, collections.Counter(ops)
        twice = [x for x, times in there.items() if times > 1]
        lost = [x for x in account.acknowledged if x not in there]
        alien = [x for x in there if x not in known]
        assert not twice, f"done twice: {twice[:5]}"
        assert not lost, f"{len(lost)} acknowledged operations are lost: {lost[:5]}"
        assert not alien, f"answered \"nothing was done\", and done: {alien[:5]}"
        want = sum(known[x][1] for x in ops if known[x][0] == "add")
        assert n == want, f"the sum is {n}, of the operations {want}"
        assert a + b == 2000, f"a move was torn: {a} + {b}"
        self.check_order(account, ops)
        end = time.monotonic()
        history = account.register + [Op("read", None, register, end, end)]
        assert linearizable(history, 0) is not False, "the register is not linearizable"

    @staticmethod
    def check_order(account, ops):
        """What had ended before something began comes before it; each answer is the sum at its place."""
        total, latest = 0, 0.0
        for x in ops:
            kind, k, out, begun, end = {**account.unknown, **account.acknowledged}[x]
            total += k if kind == "add" else 0
            assert x not in account.acknowledged or end >= latest, f"{x} had ended before an operation that precedes it"
            latest = max(latest, begun)
            if x in account.acknowledged and kind == "add":
                assert out == total, f"{x} answered {out}, at its place it is {total}"


# ------------------------------------------------------------------------------------------------------- faults of nodes

def kill(bank, pick):
    node = pick.choice(bank.nodes)
    node.end(signal.SIGKILL)
    time.sleep(pick.random() * 0.5)
    node.begin()


def term(bank, pick):
    node = pick.choice(bank.nodes)
    status = node.end(signal.SIGTERM)
    assert status == 0, f"a node ended with {status}: {node.text()[-500:]}"
    node.begin()


def stop(bank, pick):
    node = pick.choice(bank.nodes)
    node.process.send_signal(signal.SIGSTOP)
    time.sleep(LEASE * (2 if os.environ.get("PTC_TEST_FULL") else 1.1))
    node.process.send_signal(signal.SIGCONT)
