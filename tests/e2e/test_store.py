#!/usr/bin/env python3
"""`ptc store`: migrate, check, erase.  test_store.py PTC"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
FIRST, SECOND = "00112233445566778899aabbccddeeff" * 2, "ff112233445566778899aabbccddeeff" * 2
EVAL = ('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
        '"clientInfo":{"name":"t","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lisp_session_start","arguments":{}}}\n')


def run(*args, env=None, text=""):
    done = subprocess.run([PTC, *args], input=text, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def key_file(where, *lines):
    path = pathlib.Path(where, "keys")
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    path.chmod(0o600)
    return str(path)


def start_session(*args):
    """A server that keeps one session and ends."""
    status, out, err = run("mcp", "--sessions", "--isolation", "none", *args, text=EVAL)
    check("a session is kept", status == 0 and "session_id" in out, (status, out[-300:], err))


def test_usage():
    for args in ((), ("look",), ("check",), ("erase", "--store", "memory:"), ("erase", "--owner", "", "--store", "memory:"),
                 ("check", "--owner", "a", "--store", "memory:"), ("check", "x", "--store", "memory:")):
        status, out, err = run("store", *args, env={"PTC_STORE": ""})
        check(f"usage of {args}", status == 2 and not out and "ptc store" in err, (status, out, err))


def test_words(where):
    url = f"sqlite:{where}/a.db"
    check("set up", run("store", "migrate", "--store", url) == (0, "schema 0 -> 1: done\n", ""))
    check("again", run("store", "migrate", env={"PTC_STORE": url}) == (0, "schema 1: nothing to do\n", ""))
    start_session("--store", url)
    status, out, err = run("store", "check", "--store", url)
    check("not new", "there was none" not in out, out)
    check("check", status == 0 and re.fullmatch(r"sqlite [\d.]+, schema 1, sealed with key [0-9a-f]{4}: \d+ us a write\n(.*\n)*", out), (status, out, err))
    check("nobody's", run("store", "erase", "--owner", "bob", "--store", url)[1] == "0 records of bob erased\n")
    status, out, _ = run("store", "erase", "--owner", "local", "--store", url)
    check("erased", status == 0 and out == "1 record of local erased\n", out)
    check("they are gone", run("store", "erase", "--owner", "local", "--store", url)[1] == "0 records of local erased\n")


def test_new(where):
    """Whoever has mistyped a name learns that this store is not the one that is in use."""
    url = f"sqlite:{where}/c.db"
    status, out, err = run("store", "check", "--store", url)
    check("new", status == 0 and out.endswith("\nthere was none: it is new\n"), (status, out, err))
    check("old", "there was none" not in run("store", "check", "--store", url)[1])


def test_keys(where):
    """The key is changed while nothing is lost."""
    url = f"sqlite:{where}/b.db"
    name = key_file(where, FIRST)
    start_session("--store", url, "--store-key", name)
    key_file(where, SECOND)
    status, _, err = run("store", "check", "--store", url, "--store-key", name)
    check("another key", status == 1 and "sealed with another key" in err, err)
    key_file(where, SECOND, FIRST)
    said = run("store", "migrate", "--store", url, "--store-key", name)
    check("sealed again", said == (0, "schema 1: nothing to do\n1 record sealed with the first key\n", ""), said)
    said = run("store", "migrate", "--store", url, "--store-key", name)
    check("once", said == (0, "schema 1: nothing to do\n", ""), said)
    key_file(where, SECOND)
    said = run("store", "erase", "--owner", "local", "--store", url, "--store-key", name)
    check("the second alone", said[:2] == (0, "1 record of local erased\n"), said)


def test_failing(where):
    for url, words in ((f"sqlite:{where}/none/x.db", "none/x.db"), ("other:x", "a store is"), ("other:secret@x", "a store is")):
        status, out, err = run("store", "check", "--store", url)
        check(f"{url} fails", status == 1 and not out and err.startswith("ptc store check: store: ") and words in err and "secret" not in err, err)


with tempfile.TemporaryDirectory() as place:
    test_usage()
    test_words(place)
    test_new(place)
    test_keys(place)
    test_failing(place)
sys.exit(finish())
