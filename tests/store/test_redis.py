#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/store/test_redis.py PTC PEER CASES: the store on Redis: what every engine does, and what it says and keeps when the server or
the way to it fails."""
import os
import subprocess
import sys
import threading
import time

sys.path.insert(1, f"{sys.path[0]}/..")
sys.dont_write_bytecode = True

import checks  # noqa: E402
from checks import check  # noqa: E402
from engine_redis import Liar, Redis  # noqa: E402
from engines import Missing, Trouble, free_port, wait_until  # noqa: E402

CASES, PEER = sys.argv[3], os.path.join(os.path.dirname(sys.argv[2]), "store_counter")
MS = 700  # how long each count goes on
SLACK = 20 if "asan" in PEER else 5


class Peer:
    """A node that does what it is told."""

    def __init__(self, url, timeout_ms=3000, **environment):
        self.process = subprocess.Popen([PEER, url, str(timeout_ms)], stdin=subprocess.PIPE,  # pylint: disable=consider-using-with
                                        stdout=subprocess.PIPE, env={**os.environ, **environment}, stderr=subprocess.PIPE)
        self.said = self.process.stdout.readline().decode().strip()

    def send(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline().decode().strip()

    def __call__(self, line):
        self.send(line)
        return self.hear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        code, errors = self.end()
        check("it ends well", code == 0 and "anitizer" not in errors, (code, errors))

    def end(self):
        """Whether it ended well, and what it wrote on standard error."""
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors.decode()


def refused(url, want, timeout_ms=400, **environment):
    begun = time.monotonic()
    peer = Peer(url, timeout_ms, **environment)
    code, errors = peer.end()
    check(f"{want}: refused", code == 1 and want in peer.said and "secret" not in peer.said + errors, (code, peer.said, errors))
    return time.monotonic() - begun


def value_of(redis, prefix, name):
    return int(redis.ask("HGET", f"{prefix}:r:thing:ann:{name}", "b") or "0")


def sums_hold(what, redis, prefix, answer, done_at_least=1):
    """Nothing that was acknowledged is lost, and nothing is there twice."""
    done, unknown, failed, others, longest, _ = map(int, answer.split())
    value = value_of(redis, prefix, "n")
    check(f"{what}: sums hold", done <= value <= done + unknown and done >= done_at_least, (answer, value))
    check(f"{what}: nobody else", others == 0, answer)
    return done, unknown, failed, longest


def cases(redis):
    done = subprocess.run([CASES], env={**os.environ, "PTC_TEST_STORE": redis.url("cases")}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    check("cases", done.returncode == 0, done.stdout.decode())
    with Peer(redis.url("order")) as peer:
        for name in ("~", "z", "-", "B", "%", "%41", ":", "z1", "\u00e9", "_"):
            check(f"put {name}", peer(f"put {name} 0 x").startswith("ok"))
        check("in the order of bytes", peer("list") == "% %41 - : B _ z z1 ~ \u00e9 ok", peer("list"))


def telling(redis):
    with Peer(redis.url("tell")) as peer:
        check("durable", peer("tell").startswith("1 redis "), peer("tell"))
        redis.ask("CONFIG", "SET", "appendfsync", "everysec")
        told = peer("tell")
        check("everysec", told.startswith("0 ") and '|runs and tasks: no: appendfsync is "everysec", not "always"' in told, told)
        redis.ask("CONFIG", "SET", "appendfsync", "always")
        redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        check("lru", 'maxmemory-policy is "allkeys-lru", not "noeviction"' in peer("tell"), peer("tell"))
        redis.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
    redis.ask("HSET", "newer:meta", "schema", "2")
    refused(redis.url("newer"), "schema 2 is newer than this ptc knows (1)")


def addresses(redis):
    for wrong in ("redis://", "redis:///2", "redis://h:port", "redis://h:1/x", "redis://h?other=1", "redis://[::1", "redis://%00"):
        refused(wrong, "store" if wrong == "redis://" else "redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]")
    refused(f"redis://127.0.0.1:{free_port()}", "connection refused")
    took = refused("redis://ptc.invalid", "cannot connect to ptc.invalid:6379")
    check("bounded", took < SLACK, took)
    with Peer(f"redis://127.0.0.1:{redis.port}/3?prefix=%70tc%2F:") as peer:
        check("database", peer("put a 0 x").startswith("ok"), peer.said)
        check("prefix", "ptc/:r:thing:ann:a" in redis.ask("KEYS", "*", database=3), redis.ask("KEYS", "*", database=3))


def passwords():
    with Redis("--requirepass", "secret word@/") as redis:
        place = f"127.0.0.1:{redis.port}"
        for url, environment in ((f"redis://:secret%20word%40%2F@{place}", {}), (f"redis://default:secret word@/@{place}", {}),
                                 (f"redis://{place}", {"PTC_STORE_PASSWORD": "secret word@/"})):
            with Peer(url, **environment) as peer:
                check("password", peer("put a 0 x").startswith("ok") and peer("remove a") == "ok", (url, peer.said))
        refused(f"redis://:secret@{place}", 'the store refused user "default"')
        refused(f"redis://ptc:secret@{place}", 'the store refused user "ptc"')
        refused(f"redis://{place}", 'the store refused user "default"')
        with Peer(f"redis://{place}", PTC_STORE_PASSWORD="secret word@/") as peer:
            redis.ask("CONFIG", "SET", "requirepass", "secret changed")
            redis.password = "secret changed"
            redis.ask("CLIENT", "KILL", "TYPE", "normal")
            said = wait_until(lambda: peer("get a").startswith("failed"), 5) and peer("get a")
            check("changed password", said == 'failed: the store refused user "default"', said)


def scripts(redis):
    """A server forgets its scripts when it is told to, and when it starts again."""
    with Peer(redis.url("scripts")) as peer:
        peer.send(f"count n {MS}")
        for _ in range(10):
            redis.ask("SCRIPT", "FLUSH")
            time.sleep(MS / 12000)
        done, unknown, failed, _ = sums_hold("forgotten scripts", redis, "scripts", peer.hear(), 50)
        check("forgotten scripts: nobody notices", not unknown and not failed, (done, unknown, failed))


def faults(redis):
    for mode in ("cut", "drop", "delay", "mute"):
        way = Trouble(redis.port)
        with Peer(redis.url(mode, way.port), 300 if mode == "mute" else 3000) as peer:
            peer("put other 0 x")
            peer.send(f"count n {2 * MS}")
            for _ in range(2):
                time.sleep(MS / 6000)
                if mode == "drop":
                    way.drop()
                way.delay, way.mode = 0.05, {"drop": "pass"}.get(mode, mode)
                time.sleep(MS / 6000)
                way.mode = "pass"
            done, unknown, failed, longest = sums_hold(mode, redis, mode, peer.hear(), 20)
            check(f"{mode}: bounded", longest < 1000 * (SLACK + 6), longest)
            check(f"{mode}: works again", wait_until(lambda: peer("get n").startswith("ok"), 6))
            if mode == "delay":
                check("delay: no failure", not unknown and not failed, (done, unknown, failed))
            if mode == "cut":
                check("cut: there were some", way.cuts > 0)
        way.close()


def away(redis):
    """A server that is not there: refused at once, and no restart is needed when it is back."""
    way = Trouble(redis.port)
    with Peer(redis.url("away", way.port)) as peer:
        check("ready", peer("ready") == "ready" and peer("put a 0 x").startswith("ok"))
        way.mode = "drop"
        way.drop()
        peer("get a")
        begun = time.monotonic()
        said = [peer("get a") for _ in range(20)]
        check("refused at once", all(one.startswith("failed: ") for one in said) and time.monotonic() - begun < 1, said[:3])
        check("not ready", wait_until(lambda: peer("ready") != "ready", 3), peer("ready"))
        way.mode = "pass"
        check("works again", wait_until(lambda: peer("get a").startswith("ok"), 6), peer("get a"))
        check("ready again", wait_until(lambda: peer("ready") == "ready", 6), peer("ready"))
    way.close()


def restarts():
    """With a log that is written each time, what was acknowledged outlives a server that is killed."""
    with Redis("--appendonly", "yes", "--appendfsync", "always") as redis, Peer(redis.url("kept")) as peer:
        peer.send(f"count n {2 * MS}")
        time.sleep(MS / 2000)
        redis.stop(hard=True)
        redis.start()
        _, unknown, _, _ = sums_hold("killed", redis, "kept", peer.hear(), 20)
        check("killed: few are unknown", unknown <= 1, unknown)


def full(redis):
    with Peer(redis.url("full")) as peer:
        version = peer("put a 0 x").split()[1]
        redis.ask("CONFIG", "SET", "maxmemory", "1")
        for line in (f"put a {version} y", "put b 0 y", "hold a 1 1"):
            check(f"full: {line}", peer(line) == "failed: the store is full", peer(line))
        check("full: reads work", peer("get a") == peer("claim a") == f"ok {version} x", peer("claim a"))
        check("full: lists work", peer("list") == "a ok", peer("list"))
        with Peer(redis.url("full")) as other:
            check("full: starts", other.said == "open", other.said)
        check("full: not ready", "the store is full" in peer("ready"), peer("ready"))
        peer("hold a 0 1")  # which needs no room
        check("full: still not ready", "the store is full" in peer("ready"), peer("ready"))
        redis.ask("CONFIG", "SET", "maxmemory", "0")
        check("not full", peer(f"put a {version} y").startswith("ok"))
        check("full: room again", peer("hold a 1 1") == "ok" and wait_until(lambda: peer("ready") == "ready", 5), peer("ready"))


def replica(redis):
    with Redis("--replicaof", "127.0.0.1", str(redis.port)) as other:
        refused(other.url("full"), "the store is read-only: it is a replica")
        other.ask("REPLICAOF", "NO", "ONE")
        with Peer(other.url("replica")) as peer:
            version = peer("put a 0 x").split()[1]
            other.ask("REPLICAOF", "127.0.0.1", "1")
            other.ask("CONFIG", "SET", "replica-serve-stale-data", "yes")
            for line in (f"put a {version} y", "hold a 1 1", "remove a"):
                check(f"read-only: {line}", wait_until(lambda: peer(line) == "failed: the store is read-only", 3), peer(line))
            check("read-only: reads work", peer("get a") == peer("claim a") == f"ok {version} x", peer("claim a"))
            other.ask("REPLICAOF", "NO", "ONE")
            check("a primary again", wait_until(lambda: peer(f"put a {version} y").startswith(("ok", "conflict")), 6))


LIES = {
    "garbage": b"\xff\x00HTTP/1.1 400 Bad Request\r\n\r\n", "long": b"$9223372036854775807\r\nx", "huge": b"$4294967296\r\nx",
    "negative": b"$-7\r\n", "wide": b"*2147483647\r\n", "wider": b"*4294967297\r\n$1\r\na\r\n", "deep": b"*1\r\n" * 300,
    "nested": b"*1\r\n*2\r\n:1\r\n:2\r\n", "empty": b"*0\r\n", "nothing": b"*-1\r\n", "number": b":42\r\n", "no number": b":x\r\n",
    "status": b"+OK\r\n", "error": b"-\r\n", "long error": b"-ERR secret\x1b[31m" + b"x" * 5000 + b"\r\n",
    "short row": b"*2\r\n$2\r\nok\r\n:7\r\n", "row of holes": b"*12\r\n$2\r\nok\r\n" + b"$-1\r\n" * 11,
    "odd row": b"*12\r\n$2\r\nok\r\n" + b":-9223372036854775808\r\n" * 11, "newer": b"%1\r\n+a\r\n,1.5\r\n", "truth": b"#t\r\n",
    "set": b"~1\r\n_\r\n", "closed": b"", "unknown word": b"*1\r\n$3\r\nyes\r\n", "conflict": b"*1\r\n$8\r\nconflict\r\n",
    "two": b"+OK\r\n+OK\r\n:1\r\n", "many names": b"*5\r\n$2\r\nok\r\n$5\r\nthing\r\n$2\r\n%:\r\n$0\r\n\r\n:9\r\n",
}


def hostile(redis):
    """Whatever a server answers, the end is an error that is soon said."""
    for name, lie in LIES.items():
        liar = Liar(lie=lie or None)
        begun = time.monotonic()
        peer = Peer(redis.url("x", liar.port), 150)
        code, errors = peer.end()
        check(f"{name}: refused", code == 1 and peer.said not in ("", "open") and "\x1b" not in peer.said and
              "anitizer" not in errors, (code, peer.said, errors))
        check(f"{name}: soon", time.monotonic() - begun < SLACK, time.monotonic() - begun)
        liar.close()


def hostile_later(redis):
    liar = Liar(redis.port)
    peer = Peer(redis.url("liar", liar.port), 150)
    version = peer("put a 0 x").split()[1]
    for name, lie in LIES.items():
        liar.lie = lie or None
        begun = time.monotonic()
        said = [peer(line) for line in ("get a", "claim a", "list", "hold a 1 1", "tell")]
        check(f"{name}: said", all(said) and "\x1b" not in "".join(said), said)
        check(f"{name}: soon", time.monotonic() - begun < SLACK, time.monotonic() - begun)
    liar.lie = None
    check("true again", wait_until(lambda: peer("get a") == f"ok {version} x", 6), peer("get a"))
    liar.lie, liar.endless = b"$1000000000\r\n" + b"x" * 65000, True
    begun = time.monotonic()
    check("endless", peer("get a").startswith(("failed", "busy")) and time.monotonic() - begun < SLACK, peer("get a"))
    liar.lie, liar.endless = None, False
    code, errors = peer.end()
    check("it lives", code == 0 and "anitizer" not in errors, (code, errors))
    liar.close()


def together(*jobs):
    def run(job, arguments):
        try:
            job(*arguments)
        except Exception as error:  # pylint: disable=broad-exception-caught # one that ends a thread ends nothing else
            check(job.__name__, False, repr(error))

    threads = [threading.Thread(target=run, args=(job, arguments)) for job, *arguments in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    try:
        with Redis("--appendonly", "yes", "--appendfsync", "always") as redis, Redis() as quick:
            together((cases, quick), (telling, redis))
            together((addresses, redis), (passwords,), (faults, quick), (away, quick), (hostile, quick), (restarts,))
            scripts(quick)
            hostile_later(quick)
            full(quick)
            replica(quick)
    except Missing as why:
        checks.skip(str(why))


main()
sys.exit(checks.finish())
