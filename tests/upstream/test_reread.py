#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_reread.py PTC: SIGHUP makes `ptc mcp --http` read the files of upstreams again, and no call is lost by it.

Nothing here depends on how fast the machine is."""
import json
import os
import signal
import sys
import tempfile
import threading

from mcp_talk import environment, faulty, lines_of

sys.path.insert(1, f"{sys.path[0]}/..")
sys.path.insert(1, f"{sys.path[0]}/../mcp")
from checks import check, finish  # pylint: disable=wrong-import-position
from http_help import Server, call, legacy, wait_for  # pylint: disable=wrong-import-position

PTC = os.path.abspath(sys.argv[1])


class Place:
    """A server, and the file that it reads."""

    def __init__(self, home):
        self.home, self.path = home, os.path.join(home, "m.json")
        self.server = None

    def serve(self):
        self.server = Server([PTC, "mcp", "--isolation", "auto", "--stateless", "--upstreams", self.path], env=environment(self.home))
        return self.server

    def write(self, upstreams, **more):
        with open(self.path, "w", encoding="utf-8") as out:
            json.dump({"upstreams": upstreams, **more}, out)

    def reread(self, word):
        """Asks for it, and waits until the log has one more of these words."""
        count = self.server.log_text().count(word)
        self.server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: self.server.log_text().count(word) > count, word)

    def run(self, program):
        answer = call(self.server, "lisp_eval", {"program": program})
        return json.loads(answer.body)["result"]["content"][0]["text"] if answer.status == 200 else str(answer.status)

    def described(self):
        tools = legacy(self.server, "tools/list").json()["result"]["tools"]
        return next(t for t in tools if t["name"] == "lisp_eval")["description"]


def keep_calling(place, over, wrong):
    while not over.is_set():
        try:
            said = place.run('(f/echo {:text "hello"})')
        except (OSError, ValueError, KeyError) as e:
            said = repr(e)
        if "hello" not in said:
            wrong.append(said)


def check_under_load(place):
    """Calls under way, and those that come meanwhile, are answered; what is new can be called, what is gone cannot."""
    f, s, g = (faulty(place.home, n, *m) for n, m in (("f", ()), ("s", ("slow", "--seconds", "3")), ("g", ())))
    place.write({"f": f, "s": s})
    with place.serve() as server:
        check("before", "hello" in place.run('(s/echo {:text "hello"})'), server.log_text())
        over, wrong, slow = threading.Event(), [], []
        threads = [threading.Thread(target=keep_calling, args=(place, over, wrong)) for _ in range(4)]
        threads.append(threading.Thread(target=lambda: slow.append(place.run('(s/echo {:text "slow"})'))))
        for thread in threads:
            thread.start()
        wait_for(lambda: len(lines_of(os.path.join(place.home, "s.count"))) == 2, "the slow call to be sent")
        for i in range(6):
            place.write({"f": f, ("g" if i % 2 == 0 else "s"): g if i % 2 == 0 else s})
            place.reread("files of upstreams were read again: 2 upstreams")
        place.write({"f": f, "g": g})
        place.reread("files of upstreams were read again: 2 upstreams")
        threads[-1].join(60)
        over.set()
        for thread in threads:
            thread.join(60)
        check("calls meanwhile", not wrong, wrong[:5])
        check("the call under way", slow and "slow" in slow[0], slow)
        check("what is new", "hello" in place.run('(g/echo {:text "hello"})'), server.log_text()[-2000:])
        said = place.run('(s/echo {:text "hello"})')
        check("what is gone", "there is no namespace s" in said, said)
        wait_for(lambda: "g/echo" in place.described() and "s/echo" not in place.described(), "what is new to be described")


def check_mistakes(place):
    """With a wrong file everything stays, and the log says what is wrong."""
    f = faulty(place.home, "f")
    place.write({"f": f})
    with place.serve() as server:
        check("before", "hello" in place.run('(f/echo {:text "hello"})'), server.log_text())
        started = os.path.join(place.home, "f.starts")
        begun = lines_of(started)
        place.reread("the files of upstreams say what they said")
        place.write({})
        place.reread("stay as they were: the files name none")
        place.write({"f": {"comand": "x"}})
        place.reread("the upstreams stay as they were")
        check("which mistake", "comand" in server.log_text(), server.log_text())
        with open(place.path, "w", encoding="utf-8") as out:
            out.write('{"upstreams": ')
        place.reread("the upstreams stay as they were")
        os.unlink(place.path)
        place.reread("the upstreams stay as they were")
        os.mkfifo(place.path)  # nobody will ever write into it
        place.reread("it is not a regular file")
        os.unlink(place.path)
        check("after mistakes", "hello" in place.run('(f/echo {:text "hello"})'), server.log_text())
        check("it was not started again", lines_of(started) == begun, lines_of(started))
        place.write({"f": f}, policy={"f/echo": "deny"})
        place.reread("files of upstreams were read again: 1 upstream")
        said = place.run('(f/echo {:text "hello"})')
        check("a rule that is new", "hello" not in said and "den" in said, said)
        place.write({"f": f})
        place.reread("files of upstreams were read again: 1 upstream")
        check("a rule that is gone", "hello" in place.run('(f/echo {:text "hello"})'), server.log_text())


def check_none():
    """A server without upstreams has nothing but its tokens to read."""
    with tempfile.TemporaryDirectory() as home:
        with Server([PTC, "mcp", "--isolation", "auto", "--no-upstreams"], env=environment(home)) as server:
            server.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "there is no token file" in server.log_text(), "a word about it")


def main():
    for part in (check_under_load, check_mistakes):
        with tempfile.TemporaryDirectory() as home:
            part(Place(home))
    check_none()
    finish("reread")


if __name__ == "__main__":
    main()
