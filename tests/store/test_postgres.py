#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A store in PostgreSQL: a real server, and a way to it on which things go wrong."""
import os
import subprocess
import sys
import threading
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), *part) for part in (("..", "mcp"), ("..",))]
import engines  # noqa: E402 pylint: disable=wrong-import-position
from store_help import Load, Peer  # noqa: E402 pylint: disable=wrong-import-position
from watch import expect, main, test, test_beside  # noqa: E402 pylint: disable=wrong-import-position

PTC, PEER, CASES = sys.argv[1:4]
SERVER = None
NAMES = iter(range(1000))


def new_url(port=None, password="secret", **options):
    """Of a database that nobody has used."""
    name = f"db{next(NAMES)}"
    SERVER.database(name)
    return SERVER.url(name, port, "ptc" + (password and ":" + password), **options)


def refused(url, upgrade=False, env=None, timeout_ms=1000):
    with Peer(PEER, url, timeout_ms, upgrade, env) as peer:
        expect(peer.opened.status, "refused", peer.opened)
        assert "secret" not in peer.opened.text and "wrong" not in peer.opened.text, peer.opened
        return peer.opened.text


def until(peer, words, status, seconds):
    """Asks until this is the answer; how long that took."""
    begun = time.monotonic()
    while (answer := peer.ask(*words)).status != status:
        assert time.monotonic() - begun < seconds, answer
        time.sleep(0.02)
    return time.monotonic() - begun


@test
def cases():
    done = subprocess.run([CASES], env={**os.environ, "PTC_TEST_STORE": new_url()}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=120)
    assert done.returncode == 0, done.stdout.decode()


@test
def all_at_once():
    """Several nodes find an empty database."""
    url = new_url()
    peers = [Peer(PEER, url) for _ in range(6)]
    for peer in peers:
        with peer:
            expect(peer.opened.status, "ok", peer.opened)
            expect(peer.status("add", "n"), "ok")
            last = peer.ask("get", "n").text
    expect(last, "6")


@test
def told():
    with Peer(PEER, new_url()) as peer:
        said = peer.ask("tell").text
        assert said.startswith("postgresql ") and said.endswith(
            ", schema 1, not sealed|what was acknowledged may be lost: fsync is off"), said


@test_beside
def who_may():
    """The password comes from the URL, the environment or a file, and is never said."""
    expect(refused(new_url(password="wrong")), 'the store refused user "ptc"')
    expect(refused(new_url(password="")), 'the store refused user "ptc"')
    expect(refused(SERVER.url("db0", user="nobody:wrong")), 'the store refused user "nobody"')
    with Peer(PEER, new_url(password=""), env={**os.environ, "PGPASSWORD": "secret"}) as peer:
        expect(peer.status("new", "a", "x"), "ok")
    with open(os.path.join(SERVER.directory, "pgpass"), "w", encoding="ascii") as f:
        os.chmod(f.name, 0o600)
        f.write("127.0.0.1:*:*:ptc:secret\n")
    with Peer(PEER, new_url(password=""), env={**os.environ, "PGPASSFILE": f.name}) as peer:
        expect(peer.status("new", "a", "x"), "ok")
    assert 'database "none" does not exist' in refused(SERVER.url("none", user="ptc:secret"))
    expect(refused("postgres://ptc:secret@[::1/x"), "the store is not postgres://USER@HOST:PORT/DATABASE")
    assert "ssl" in refused(SERVER.url("db0", user="ptc:secret") + "?sslmode=require").lower()
    for plain in ("wr@ng", "wr/ng", "5432/wr@ng", "@", "/"):
        expect(refused(SERVER.url("db0", user="ptc:" + plain)), "an @ or / in the password of the store is written %40 or %2F")


def peak_mib(peer):
    with open(f"/proc/{peer.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) >> 10


@test
def too_long():
    """What somebody else has written is not fetched beyond what is allowed."""
    url = new_url()
    with Peer(PEER, url) as peer:
        expect(peer.status("new", "a", "x"), "ok")
        before = peak_mib(peer)
        SERVER.sql("update ptc_record set bytes = decode(repeat('41', 200000000), 'hex'), meta = decode(repeat('41', 1000000), 'hex'), "
                   "tag = meta, seal = seal || meta where kind = 'thing'", url.split("/")[-1])
        assert peer.status("get", "a") != "ok"
        assert peak_mib(peer) < before + 100, (before, peak_mib(peer))


@test
def schemas():
    url = new_url()
    name = url.rsplit("/", 1)[1]
    with Peer(PEER, url) as peer:
        expect(peer.status("new", "a", "kept"), "ok")
    SERVER.sql("update ptc_meta set schema = 0", name)
    expect(refused(url), "the store has schema 0, this ptc needs 1: run ptc store migrate")
    with Peer(PEER, url, upgrade=True) as peer:
        expect(peer.ask("get", "a").text, "kept")
    with Peer(PEER, url) as peer:
        expect(peer.ask("get", "a").text, "kept")
    SERVER.sql("update ptc_meta set schema = 2", name)
    for upgrade in (False, True):
        expect(refused(url, upgrade), "schema 2 is newer than this ptc knows (1)")
    SERVER.sql(f"alter database {name} set synchronous_commit = off")
    expect(refused(url), "the store would lose what it acknowledged: synchronous_commit is off")


def be_read_only(name, yes):
    """For connections that are made from now on; those that are there end."""
    SERVER.sql(f"alter database {name} set default_transaction_read_only = {'on' if yes else 'off'}")
    SERVER.sql(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")


@test_beside
def read_only():
    """Also while it is in use: then it can be read."""
    url = new_url()
    name = url.rsplit("/", 1)[1]
    with Peer(PEER, url) as peer:
        version = peer.ask("new", "a", "x").version
        be_read_only(name, True)
        until(peer, ("hold", "a"), "failed", 10)
        until(peer, ("get", "a"), "ok", 10)
        expect(peer.ask("set", "a", version, "y")[:3], ("failed", 0, "the store is read-only"))
        until(peer, ("get", "a"), "ok", 10)
        expect(refused(url), "the store is read-only")
        be_read_only(name, False)
        until(peer, ("set", "a", version, "y"), "ok", 10)


@test
def full():
    """A disk cannot be filled here; this is what the server says when one is."""
    url = new_url()
    name = url.rsplit("/", 1)[1]
    with Peer(PEER, url) as peer:
        expect(peer.status("new", "a", "x"), "ok")
        SERVER.sql("create function no_room() returns trigger language plpgsql as $$ begin raise 'no space left'"
                   " using errcode = '53100'; end $$; create trigger t before insert or update on ptc_record"
                   " for each row execute function no_room()", name)
        answer = peer.ask("new", "b", "y")
        expect(answer[:3], ("failed", 0, "the store is full"))
        expect(peer.ask("get", "a").text, "x")
        SERVER.sql("drop trigger t on ptc_record", name)
        expect(peer.status("new", "b", "y"), "ok")


@test_beside
def nobody_there():
    port = engines.free_port()
    words = f"cannot connect to 127.0.0.1:{port}: connection refused"
    expect(refused(f"postgres://ptc:secret@127.0.0.1:{port}/x"), words)
    done = subprocess.run([PTC, "mcp", "--sessions", "--store-timeout-ms", "500", "--store",
                           f"postgres://ptc:secret@127.0.0.1:{port}/x"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == 1 and words in done.stderr.decode(), done


@test
def holds():
    url = new_url()
    with Peer(PEER, url) as a, Peer(PEER, url) as b:
        expect(a.status("hold", "h"), "ok")
        expect(b.status("hold", "h"), "held")
        expect(a.status("free", "h"), "ok")
        expect(b.status("hold", "h"), "ok")


@test_beside
def listens():
    """One connection of a node hears of changes, and is made again."""
    url = new_url()
    name = url.rsplit("/", 1)[1]

    def listening():
        return SERVER.sql(f"select pid from pg_stat_activity where datname = '{name}' and query = 'listen ptc'")
    with Peer(PEER, url):
        assert engines.wait_until(listening), "nobody listens"
        first = listening()
        SERVER.sql(f"select pg_terminate_backend({first})")
        assert engines.wait_until(lambda: listening() not in ("", first)), "nobody listens again"


@test_beside
def lost_answers():
    """Requests arrive and their answers do not: the record tells what became of them."""
    way = engines.Trouble(SERVER.port)
    url = new_url(way.port)
    def heal(cuts):
        engines.wait_until(lambda: way.cuts > cuts)
        way.mode = "pass"
    with Peer(PEER, url) as peer:
        version = peer.ask("new", "a", 0).version
        for i in range(1, 13):
            healer = threading.Thread(target=heal, args=(way.cuts,))
            way.mode = "cut"
            healer.start()
            answer = peer.ask("set", "a", version, i)
            healer.join()
            expect(answer[:2], ("ok", version + 1), answer)
            version = answer.version
        expect(peer.ask("get", "a")[:3], ("ok", version, "12"))
    way.close()


@test_beside
def slow_way():
    """Two seconds for each answer are waited for; more than the time-out is said to be too slow."""
    way = engines.Trouble(SERVER.port)
    url = new_url(way.port)
    with Peer(PEER, url) as patient, Peer(PEER, url, 500) as hasty:
        version = hasty.ask("new", "a", "x").version
        way.delay, way.mode = 1, "delay"
        answer = patient.ask("set", "a", version, "y")
        expect(answer.status, "ok", answer)
        assert 1.9 < answer.seconds < 5, answer
        answer = hasty.ask("get", "a")
        assert answer.status in ("busy", "failed") and answer.seconds < 2, answer
        way.mode = "pass"
        until(hasty, ("get", "a"), "ok", 10)
    way.delay, way.mode = 0.3, "delay"
    with Peer(PEER, url, 2000) as late:
        expect(late.opened.status, "ok", late.opened)
        assert late.opened.seconds > 2, late.opened
    way.close()


@test_beside
def no_way():
    """While nobody gets in, calls fail at once, and /ready says so; nothing has to be started again."""
    way = engines.Trouble(SERVER.port)
    url = new_url(way.port)
    with Peer(PEER, url) as peer:
        expect(peer.status("new", "a", "x"), "ok")
        expect(peer.status("ready"), "ok")
        way.mode = "drop"
        way.drop()
        until(peer, ("ready",), "failed", 4)
        quick = min(peer.ask("get", "a").seconds for _ in range(5))
        assert quick < 0.05, quick
        way.mode = "pass"
        until(peer, ("ready",), "ok", 7)
        expect(peer.ask("get", "a").text, "x")
    way.close()


@test_beside
def mute_way():
    way = engines.Trouble(SERVER.port)
    with Peer(PEER, new_url(way.port), 700) as peer:
        version = peer.ask("new", "a", "x").version
        way.mode = "mute"
        answer = peer.ask("get", "a")
        assert answer.status in ("busy", "failed") and answer.seconds < 3, answer
        way.mode = "pass"
        until(peer, ("set", "a", version, "y"), "ok", 10)
    way.close()


def trouble_load(server, way, url):
    peers = [Peer(PEER, url, 2000) for _ in range(4)]
    for peer in peers:
        expect(peer.answer().status, "ok")
    with Load(peers) as load:
        for what in ("drop", "restart", "cut", "kill", "cut", "drop"):
            time.sleep(0.4)
            if what in ("restart", "kill"):
                server.stop(what == "kill")
                server.start()
                continue
            way.mode = what
            if what == "drop":
                way.drop()
            time.sleep(0.3)
            way.mode = "pass"
        time.sleep(1)
    for peer in peers:
        peer.__exit__()
    return load


@test_beside
def under_load():
    """Nodes count while the server is restarted, killed, and the way to it is troubled."""
    with engines.Postgres() as server:
        way = engines.Trouble(server.port)
        load = trouble_load(server, way, server.url("postgres", way.port))
        way.close()
        with Peer(PEER, server.url("postgres")) as peer:
            load.check(peer, 50)
    print(f"under load: {dict(load.statuses)}, slowest {load.slowest:.1f} s")


if __name__ == "__main__":
    try:
        with engines.Postgres(auth="scram-sha-256") as SERVER:
            main("postgres")
    except engines.Missing as e:
        print(f"skipped: {e}")
