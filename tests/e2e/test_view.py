#!/usr/bin/env python3
"""`ptc view` from outside, without a browser: who is answered, what is served, limits, its end.  test_view.py PTC"""
import http.client
import json
import os
import pathlib
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])
LINE = b'{"event":"trace.start","version":1,"ptc":"0.1.0","ts":"2026-11-15T20:22:19.046Z"}\n'
WAIT = 60


class View:
    """A viewer on a port of its own."""

    def __init__(self, *args):
        self.process = subprocess.Popen([PTC, "view", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.address = self.process.stdout.readline().decode().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.address)
        check("the address is printed", match, self.address)
        self.port, self.base = int(match.group(1)), match.group(2)

    def get(self, path, method="GET", headers=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        link.request(method, path, headers=headers or {})
        answer = link.getresponse()
        body = answer.read()
        link.close()
        return answer, body

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=WAIT)
        return self.process.returncode, errors


def test_pages(view, home):
    answer, body = view.get(view.base)
    policy = answer.headers["Content-Security-Policy"]
    check("the page", answer.status == 200 and b"<title>ptc traces</title>" in body, answer.status)
    check("its policy", "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy, policy)
    check("other headers", answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Cache-Control"] == "no-store" and
          answer.headers["Cross-Origin-Resource-Policy"] == "same-origin", answer.headers.as_string())
    check("no address of others is in it", not re.search(rb"https?://(?!www\.w3\.org/2000/svg)", body), body)
    for name, kind in (("style.css", "text/css"), ("app.js", "text/javascript"), ("worker.js", "text/javascript")):
        answer, body = view.get(view.base + name)
        check(name, answer.status == 200 and answer.headers["Content-Type"].startswith(kind) and len(body) > 1000, answer.status)
        check(f"{name}: no markup is made of texts", not re.search(rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", body), name)
        check(f"{name}: no address of others", b"http://" not in body and b"https://" not in body, name)
    answer, body = view.get(view.base + "app.js", "HEAD")
    check("HEAD", answer.status == 200 and body == b"" and int(answer.headers["Content-Length"]) > 1000, body)
    answer, body = view.get(view.base + "traces.json")
    files = json.loads(body)["files"]
    check("the list", [(f["number"], os.path.basename(f["name"]), f["bytes"]) for f in files] ==
          [(0, "a.jsonl", len(LINE)), (1, "b.jsonl", 3000 * len(LINE))], files)
    answer, body = view.get(view.base + "trace/1")
    check("a trace", answer.status == 200 and body == LINE * 3000, len(body))
    pathlib.Path(home, "c.jsonl").write_bytes(LINE)
    os.unlink(pathlib.Path(home, "a.jsonl"))
    answer, body = view.get(view.base + "traces.json")
    check("a new file, and one that is gone", [os.path.basename(f["name"]) for f in json.loads(body)["files"]] == ["b.jsonl", "c.jsonl"], body)
    check("a file that is gone", view.get(view.base + "trace/0")[0].status == 404)


def read_all(link):
    got = b""
    try:
        while piece := link.recv(65536):
            got += piece
    except ConnectionError:
        pass
    return got


def test_refusals(view):
    wrong = "/" + "0" * 32 + "/"
    for path in ("/", wrong, view.base[:-1], view.base + "trace/7", view.base + "trace/../../../../etc/passwd", view.base + "no",
                 view.base + "?x", wrong + "traces.json"):
        check(f"no {path}", view.get(path)[0].status == 404, path)
    check("another Host (DNS rebinding)", view.get(view.base, headers={"Host": f"evil.example:{view.port}"})[0].status == 403)
    check("another site's page", view.get(view.base, headers={"Sec-Fetch-Site": "cross-site"})[0].status == 403)
    check("localhost", view.get(view.base, headers={"Host": f"localhost:{view.port}"})[0].status == 200)
    with view.connect() as link:
        link.sendall(f"GET {view.base} HTTP/2.0\r\nHost: 127.0.0.1:{view.port}\r\n\r\n".encode())
        check("another version of HTTP", b" 505 " in read_all(link))
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        check(method, view.get(view.base, method)[0].status in (400, 403, 405), method)


def test_limits(view):
    with view.connect() as link:
        link.sendall(b"GET " + view.base.encode() + b" HTTP/1.1\r\nX: " + b"x" * 40000)
        got = read_all(link)
        check("a head that is too long", got == b"" or b" 431 " in got, got[:80])
    with view.connect() as link:
        link.sendall(b"\x16\x03\x01\x00\xff\x00\x00\r\n\r\n")
        got = read_all(link)
        check("no HTTP at all", got == b"" or b" 400 " in got, got[:80])
    idle = [view.connect() for _ in range(40)]
    for link in idle[:32]:
        link.sendall(b"GET ")
    check("others are answered beside 40 that say nothing", view.get(view.base)[0].status == 200)
    for link in idle:
        link.close()
    slow = view.connect()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.sendall(f"GET {view.base}trace/1 HTTP/1.1\r\nHost: 127.0.0.1:{view.port}\r\n\r\n".encode())
    check("beside one that does not read", view.get(view.base)[0].status == 200)
    slow.close()


def test_descriptors(home):
    """Connections that there is no descriptor for wait; the server does not spin meanwhile."""
    view = View(home)
    resource.prlimit(view.process.pid, resource.RLIMIT_NOFILE, (36, 36))
    links = [view.connect() for _ in range(60)]
    said = select.select([view.process.stderr], [], [], WAIT)[0]
    check("it says so", said and b"no connection can be accepted now" in view.process.stderr.readline())
    def computed():
        words = pathlib.Path(f"/proc/{view.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    before = computed()
    time.sleep(2)
    check("it does not spin", computed() - before < 0.5, computed() - before)
    for link in links:
        link.close()
    check("it goes on", view.get(view.base)[0].status == 200)
    view.end()


def test_trickle(view):
    """A head has its time, however steadily its bytes come."""
    end = time.monotonic() + 30
    with view.connect() as link:
        try:
            while time.monotonic() < end:
                link.sendall(b"G")
                time.sleep(0.25)
        except OSError:
            pass
    check("a head a byte at a time", time.monotonic() < end)


def test_usage():
    for args, text in ((["nowhere.jsonl"], "nowhere.jsonl: No such file"), (["--port", "70000"], "--port"), (["/dev/null"], "neither a file nor")):
        done = subprocess.run([PTC, "view", *args], capture_output=True, text=True, timeout=WAIT, check=False)
        check(f"usage {args}", done.returncode == 2 and text in done.stderr and done.stdout == "", done)


def test_ends(home):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        view = View(home)
        check(f"it ends by {number.name}", view.end(number) == (0, b""))
    first = View("--no-open")
    taken = subprocess.run([PTC, "view", "--port", str(first.port)], capture_output=True, text=True, timeout=WAIT, check=False)
    check("a port that is taken", taken.returncode == 2 and "is another server running there" in taken.stderr, taken)
    first.end()


def test_opens(home):
    """On a terminal the program that BROWSER names gets an address that leads to the page once, and is not waited for."""
    told, opener = pathlib.Path(home, "told"), pathlib.Path(home, "opener")
    opener.write_text(f"#!/bin/sh\necho \"$1\" > {told}.new && mv {told}.new {told}\nexec sleep 3\n", encoding="utf-8")
    opener.chmod(0o700)
    main_end, terminal = os.openpty()
    process = subprocess.Popen([PTC, "view"], stdout=terminal, stderr=subprocess.DEVNULL, env={**os.environ, "BROWSER": str(opener)})
    os.close(terminal)
    end = time.monotonic() + WAIT
    while not told.exists() and time.monotonic() < end:
        time.sleep(0.02)
    door = told.read_text(encoding="utf-8").strip() if told.exists() else "http://127.0.0.1:1/"
    link = http.client.HTTPConnection(door.split("/")[2], timeout=WAIT)
    link.request("GET", "/" + door.split("/")[3])
    answer = link.getresponse()
    check("a browser gets a door", answer.status == 303 and re.fullmatch(r"/[0-9a-f]{32}/", answer.headers["Location"] or ""), answer.status)
    link.close()
    process.terminate()
    check("it ends while the browser runs", process.wait(WAIT) == 0)
    os.close(main_end)


def main():
    with tempfile.TemporaryDirectory() as home:
        pathlib.Path(home, "a.jsonl").write_bytes(LINE)
        pathlib.Path(home, "b.jsonl").write_bytes(LINE * 3000)
        pathlib.Path(home, "other.txt").write_bytes(LINE)
        os.mkfifo(pathlib.Path(home, "pipe.jsonl"))
        view = View(home)
        test_pages(view, home)
        test_refusals(view)
        test_limits(view)
        if os.environ.get("PTC_TEST_FULL"):
            test_trickle(view)
        check("it ends", view.end() == (0, b""))
        test_descriptors(home)
        test_usage()
        test_ends(home)
        test_opens(home)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
