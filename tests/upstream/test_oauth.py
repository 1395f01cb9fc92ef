#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_oauth.py PTC: signing in to an upstream, with the authorization servers oidc-provider and oauth2-mock-server on 127.0.0.1.

A browser is played by plain HTTP requests.  Skipped where the servers are not installed (script/bootstrap).  Nothing here depends on
how fast the machine is, but for the bounds in which nobody may be kept waiting."""
import fcntl
import glob
import http.cookiejar
import json
import os
import pathlib
import re
import subprocess
import socket
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from place import MODULES, node

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish, skip  # pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))
PTC = os.path.abspath(sys.argv[1])
WAIT = 60


class Servers:
    """The authorization server and what it protects."""

    def __init__(self, script="oauth_servers.mjs", **options):
        self.process = subprocess.Popen([node(), os.path.join(HERE, script), MODULES, json.dumps(options)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.at = json.loads(self.process.stdout.readline())

    def control(self, **change):
        with urllib.request.urlopen(self.at["control"], json.dumps(change).encode(), timeout=WAIT) as answer:
            return json.load(answer)

    def counted(self):
        return self.control()["counts"]

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.process.stdin.close()
        self.process.wait(WAIT)


class Home:
    """A home directory with an upstream, guarded, and whatever was ever printed there."""

    def __init__(self, place, url, oauth=None):
        self.place, self.url, self.printed = place, url, ""
        os.makedirs(place, exist_ok=True)
        self.state = os.path.join(place, "state", "ptc")
        self.file = os.path.join(place, "upstreams.json")
        self.write(oauth)
        self.env = {"PATH": os.environ["PATH"], "HOME": place, "BROWSER": "", "XDG_STATE_HOME": os.path.join(place, "state"),
                    "XDG_CACHE_HOME": os.path.join(place, "cache"), "XDG_CONFIG_HOME": os.path.join(place, "config")}
        for name in os.environ:
            if name.startswith(("ASAN", "UBSAN", "LSAN", "TSAN")):
                self.env[name] = os.environ[name]

    def write(self, oauth):
        entry = {"url": self.url, "transport": "http"}
        if oauth is not None:
            entry["oauth"] = oauth
        with open(self.file, "w", encoding="utf-8") as out:
            json.dump({"upstreams": {"guarded": entry}}, out)

    def start(self, *args, **more):
        return subprocess.Popen([PTC, *args], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def ended(self, process, text=None):
        """What is left of its output: lines that were read before are not lost, as they would be by communicate()."""
        watch = threading.Timer(WAIT, process.kill)
        watch.start()
        try:
            process.stdin.write(text or "")
            process.stdin.close()
        except BrokenPipeError:
            pass
        out, err = process.stdout.read(), process.stderr.read()
        process.wait()
        watch.cancel()
        self.printed += out + err
        return process.returncode, out, err

    def run(self, *args, text=None):
        return self.ended(self.start(*args), text)

    def eval(self, program):
        return self.run("eval", "--upstreams", self.file, program)

    def upstreams(self, *args):
        return self.run("upstreams", *args, "--upstreams", self.file)

    def begin_login(self, *args):
        """A login that has shown its address: the process and the address."""
        process = self.start("upstreams", "login", "guarded", "--upstreams", self.file, *args)
        return process, self.next_address(process)

    def next_address(self, process):
        """The next address that a login shows; "" when it ends instead."""
        for line in process.stdout:
            self.printed += line
            if found := re.fullmatch(r"  (http\S+)\n", line):
                return found.group(1)
        return ""

    def login(self, *args):
        """One that may ask several times."""
        process, url = self.begin_login(*args)
        begin = len(self.printed)
        while url:
            Browser().open(url)
            url = self.next_address(process)
        code, _, err = self.ended(process)
        return code, self.printed[begin:], err

    def token_files(self):
        return glob.glob(os.path.join(self.state, "oauth", "*.json"))

    def record(self):
        with open(self.token_files()[0], encoding="utf-8") as file:
            return json.load(file)

    def change(self, **members):
        path = self.token_files()[0]
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        record.update(members)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(record, file)


class Browser(urllib.request.HTTPRedirectHandler):
    """Follows redirects with cookies; one that keeps is not sent on to 127.0.0.1:PORT/callback but remembers it."""

    def __init__(self, keep=False):
        self.keep, self.last = keep, ""
        self.opener = urllib.request.build_opener(self, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        self.last = newurl
        if self.keep and "/callback?" in newurl:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)

    def open(self, url, form=None):
        try:
            data = urllib.parse.urlencode(form).encode() if form else None
            with self.opener.open(url, data, timeout=WAIT) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()


ECHO = '(guarded/echo {:text "hello"})'


def fails_with(home, reason, program=ECHO):
    """What a program is told whose call fails with this reason; "" if it does not."""
    code, out, err = home.eval(f"(try {program} (catch Exception e [(:reason (ex-data e)) (ex-message e)]))")
    return out if code == 0 and reason in out else ""


class Client:
    """A client of ptc mcp that can be asked to open an address; `modern`: of 2026-07-28."""

    def __init__(self, home, modern=False, elicitation=None, options=()):
        self.home, self.modern, self.number, self.asked = home, modern, 0, []
        self.can = {"elicitation": {"url": {}} if elicitation is None else elicitation}
        self.process = home.start("mcp", "--upstreams", home.file, *options)
        if not modern:
            self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": self.can,
                                        "clientInfo": {"name": "test", "version": "0"}}, None)

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, params, person):
        self.number += 1
        if self.modern:
            meta = "io.modelcontextprotocol/"
            params = {**params, "_meta": {meta + "protocolVersion": "2026-07-28", meta + "clientCapabilities": self.can,
                                          meta + "clientInfo": {"name": "test", "version": "0"}}}
        self.send({"id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "elicitation/create":
                self.asked.append(message["params"])
                self.send({"id": message["id"], "result": {"action": person(message["params"])}})
            elif message.get("id") == self.number:
                return message.get("result", message)
        return {}

    def eval(self, program, person):
        """The text of the answer; person(params) says what becomes of a question."""
        params = {"name": "lisp_eval", "arguments": {"program": program}}
        answer = self.request("tools/call", params, person)
        while answer.get("resultType") == "input_required":
            [(key, asked)] = answer["inputRequests"].items()
            self.asked.append(asked["params"])
            answer = self.request("tools/call", {**params, "requestState": answer["requestState"],
                                                 "inputResponses": {key: {"action": person(asked["params"])}}}, person)
        return answer["content"][0]["text"]

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.home.ended(self.process)


def agree(params):
    """Opens the address, as a browser that takes its time."""
    threading.Timer(0.3, lambda: Browser().open(params["url"])).start()
    return "accept"


def test_asked(servers, place):
    """ptc mcp asks for a sign-in where the client can open addresses."""
    for modern in (False, True):
        home = Home(f"{place}-{modern}", servers.at["mcp"])
        label = "asked, modern" if modern else "asked, legacy"
        with Client(home, modern) as client:
            said = client.eval(ECHO, lambda params: "decline")
            check(f"{label}: declined", "ptc upstreams login guarded" in said and len(client.asked) == 1, said)
            check(f"{label}: how", client.asked and client.asked[0]["mode"] == "url" and "guarded" in client.asked[0]["message"]
                  and client.asked[0]["url"].startswith(servers.at["issuer"]) and client.asked[0]["elicitationId"], client.asked)
            said = client.eval(ECHO, agree)
            check(f"{label}: signed in, and went on", "hello" in said and len(client.asked) == 2, (said, client.asked))
            said = client.eval(ECHO, lambda params: "cancel")
            check(f"{label}: once", "hello" in said and len(client.asked) == 2, said)
        check(f"{label}: tokens are kept", len(home.token_files()) == 1 and works(home)[0])
        states = {urllib.parse.parse_qs(urllib.parse.urlsplit(q["url"]).query)["state"][0] for q in client.asked}
        check(f"{label}: each with a state of its own", len(states) == 2, states)
    home = Home(place + "-left", servers.at["mcp"])
    with Client(home, True) as client:
        answer = client.request("tools/call", {"name": "lisp_eval", "arguments": {"program": ECHO}}, None)
        check("asked, and left", answer.get("resultType") == "input_required", answer)
    check("asked, and left: the server ends", client.process.returncode == 0 and not home.token_files(), client.process.returncode)
    home = Home(place + "-forms", servers.at["mcp"])
    with Client(home, False, {}) as client:
        said = client.eval(ECHO, agree)
        check("a client with forms alone is not asked", "ptc upstreams login guarded" in said and not client.asked, said)


def works(home):
    code, out, err = home.eval(ECHO)
    return code == 0 and "hello" in out, (code, out, err)


# ------------------------------------------------------------------------------------------------------------- sign-ins

def test_browser(servers, place):
    home = Home(place, servers.at["mcp"])
    begun = time.monotonic()
    check("unsigned: auth_failed with the command", "ptc upstreams login guarded" in fails_with(home, "auth_failed"),
          home.printed)
    took = time.monotonic() - begun
    check("unsigned: told at once", took < 20, took)
    code, out, err = home.login()
    check("login by browser", code == 0 and "Signed in to guarded" in out, (code, out, err))
    check("a call works", *works(home))
    path = home.token_files()
    check("one token file", len(path) == 1, path)
    check("token file 0600", os.stat(path[0]).st_mode & 0o777 == 0o600)
    check("its directory 0700", os.stat(os.path.dirname(path[0])).st_mode & 0o777 == 0o700)
    record = home.record()
    check("bound to the issuer and the resource", record["issuer"] == servers.at["issuer"] and record["resource"] == servers.at["mcp"], record)
    check("a refresh token", record.get("refresh_token"), record)
    return home


def test_store(servers, place):
    """Who signs in on one machine has signed in on all with the store, in which nobody can read a token."""
    homes = [Home(os.path.join(place, name), servers.at["mcp"]) for name in "ab"]
    store = ("--store", f"sqlite:{place}/s.db")

    def calls(home):
        code, out, err = home.upstreams("call", "guarded/echo", '{"text": "hello"}', *store)
        return code == 0 and "hello" in out, (code, out, err)
    check("nobody has signed in", not calls(homes[1])[0])
    code, out, err = homes[0].login(*store)
    check("login with a store", code == 0 and "Signed in to guarded" in out, (code, out, err))
    check("no file", not homes[0].token_files(), homes[0].token_files())
    kept = b"".join(pathlib.Path(name).read_bytes() for name in glob.glob(f"{place}/s.db*"))
    check("it is in the store", b"oauth" in kept)
    check("and cannot be read there", b"access_token" not in kept and b"refresh_token" not in kept)
    for home in homes:
        check("both may call", *calls(home))
    code, out, err = homes[1].upstreams("logout", "guarded", *store)
    check("logout on the other", code == 0 and "Signed out" in out, (code, out, err))
    check("nobody is signed in", not calls(homes[0])[0])


def test_refresh(servers, home):
    old, before = home.record(), servers.counted()["refresh_token"]
    home.change(expires_at=int(time.time()) + 30)
    check("before its end: works", *works(home))
    check("before its end: one refresh", servers.counted()["refresh_token"] == before + 1, servers.counted())
    new = home.record()
    check("before its end: other tokens", new["access_token"] != old["access_token"] and new["expires_at"] > time.time() + 60, new)
    check("the file is still private", os.stat(home.token_files()[0]).st_mode & 0o777 == 0o600)
    check("fresh: no refresh", works(home)[0] and servers.counted()["refresh_token"] == before + 1)
    servers.control(refuse=[new["access_token"]])
    check("on 401: works", *works(home))
    check("on 401: one refresh", servers.counted()["refresh_token"] == before + 2, servers.counted())


def test_at_once(servers, home):
    before = servers.control(slow=700)["counts"]["refresh_token"]
    home.change(expires_at=int(time.time()) - 5)
    all_of_them = [home.start("eval", "--upstreams", home.file, ECHO) for _ in range(4)]
    ends = [home.ended(one) for one in all_of_them]
    check("four at once: all work", all(code == 0 and "hello" in out for code, out, _ in ends), ends)
    check("four at once: one refresh", servers.control(slow=0)["counts"]["refresh_token"] == before + 1, servers.counted())
    token = home.record()["access_token"]
    servers.control(refuse=[token], slow=700)
    ends = [home.ended(one) for one in [home.start("eval", "--upstreams", home.file, ECHO) for _ in range(3)]]
    check("three on 401 at once: all work", all(code == 0 and "hello" in out for code, out, _ in ends), ends)
    check("three on 401 at once: one refresh", servers.control(slow=0)["counts"]["refresh_token"] == before + 2, servers.counted())


def test_refresh_fails(servers, home):
    good = home.record()
    servers.control(broken=True)
    home.change(expires_at=int(time.time()) + 30)
    check("no refresh, but still good: used", *works(home))
    home.change(expires_at=int(time.time()) - 30)
    check("no refresh: auth_failed", "ptc upstreams login guarded" in fails_with(home, "auth_failed"), home.printed[-800:])
    servers.control(broken=False)
    check("the server is back: works", *works(home))
    now = home.record()
    home.change(refresh_token="bogus-refresh-token", expires_at=int(time.time()) - 30)
    check("unknown refresh token: auth_failed", "invalid_grant" in fails_with(home, "auth_failed"), home.printed[-800:])
    check("it is not sent again", "refresh_token" not in home.record() and fails_with(home, "auth_failed"), home.record())
    home.change(**now)
    check("the old one works", *works(home))
    return good


def test_loose(home):
    path = home.token_files()[0]
    folder = os.path.dirname(path)
    os.chmod(path, 0o640)
    check("looser file refused", f"chmod 600 {path}" in fails_with(home, "auth_failed"), home.printed[-800:])
    code, _, err = home.login()
    check("looser file: no login over it", code == 1 and "chmod 600" in err, err)
    os.chmod(path, 0o600)
    os.chmod(folder, 0o755)
    check("looser directory refused", f"chmod 700 {folder}" in fails_with(home, "auth_failed"), home.printed[-800:])
    os.chmod(folder, 0o700)
    check("private again: works", *works(home))


def test_scopes(servers, home):
    told = fails_with(home, "auth_failed", "(guarded/admin {})")
    check("more scopes: told", "mcp:admin" in told and "ptc upstreams login guarded" in told, told)
    check("others still work", *works(home))
    code, out, err = home.login()
    check("login asks for all of them", code == 0 and set(home.record()["scope"].split()) >= {"mcp:tools", "mcp:admin"},
          (code, out, err, home.record()))
    code, out, err = home.eval("(guarded/admin {})")
    check("more scopes: works", code == 0 and "admin" in out, (code, out, err))
    servers.control()


def test_logout_waits(home):
    """Who replaces the token holds the lock of its file, and would write the file again if it were removed meanwhile."""
    with open(home.token_files()[0] + ".lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = home.start("upstreams", "logout", "guarded", "--upstreams", home.file)
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            pass
        check("a sign-out waits for the lock", process.poll() is None and home.token_files(), process.poll())
    code, out, err = home.ended(process)
    check("then signs out", code == 0 and "Signed out" in out and not home.token_files(), (code, out, err))


def test_logout(home):
    code, out, err = home.upstreams("logout", "guarded")
    check("logout", code == 0 and "Signed out" in out and not home.token_files(), (code, out, err))
    code, out, err = home.upstreams("logout", "guarded")
    check("logout twice", code == 0 and "Nobody was" in out, (code, out, err))
    check("signed out: auth_failed", fails_with(home, "auth_failed"), home.printed[-500:])


# --------------------------------------------------------------------------------------------------------- other ways

def test_paste(servers, home):
    process, url = home.begin_login("--paste")
    browser = Browser(keep=True)
    browser.open(url)
    code, out, err = home.ended(process, browser.last + "\n")
    check("paste", code == 0 and "Signed in" in out, (code, out, err, browser.last))
    check("paste: works", *works(home))
    process, url = home.begin_login("--paste")
    code, out, err = home.ended(process, "")
    check("paste: nothing", code == 1 and "no address" in err, (code, out, err))


def test_device(servers, home):
    before = servers.counted()["device"]
    process, url = home.begin_login("--device")
    browser = Browser()
    page = browser.open(url)
    form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page))
    browser.open(servers.at["issuer"] + "/device", {**form, "confirm": "yes"})
    code, out, err = home.ended(process)
    check("device", code == 0 and "Signed in" in out, (code, out, err, page))
    check("device: one grant", servers.counted()["device"] == before + 1)
    check("device: works", *works(home))
    check("device: a code is shown", re.search(r"type this code.*: \w{4}-\w{4}", home.printed), home.printed[-500:])


def test_known_client(servers, place):
    home = Home(place, servers.at["mcp"], {"client_id": "known", "client_secret": "known-secret-0123456789", "scopes": ["mcp:tools"]})
    registered = servers.counted()["registered"]
    code, out, err = home.login()
    check("a configured client", code == 0 and home.record()["client_id"] == "known", (code, out, err))
    check("a configured client is not registered", servers.counted()["registered"] == registered)
    check("a configured client: works", *works(home))
    home.change(expires_at=int(time.time()) - 5)
    check("a configured client: refreshes", *works(home))
    return home


# --------------------------------------------------------------------------------------------------------- what is refused

def test_client_grant(servers, place):
    """A client with credentials of its own: nobody signs in, a token is kept, replaced when it ends or is refused, and shared by threads."""
    homes, robot = [], {"grant": "client_credentials", "client_id": "robot", "client_secret": "robot-secret-0123456789"}
    ways = [robot]
    for alg, pem in servers.at["keys"].items():
        path = os.path.join(place, alg + ".pem")
        with open(path, "w", encoding="utf-8") as out:
            out.write(pem)
        os.chmod(path, 0o600)
        ways.append({"grant": "client_credentials", "client_id": alg, "private_key_file": path})
    for i, oauth in enumerate(ways):
        home = Home(os.path.join(place, f"robot{i}"), servers.at["mcp"], oauth)
        homes.append(home)
        name, before = oauth["client_id"], servers.counted()["client_credentials"]
        code, out, err = home.eval("(pmap (fn [i] (guarded/echo {:text (str i)})) (range 20))")
        check(f"{name}: calls", code == 0 and json.loads(out.replace(" ", ",")) == [str(i) for i in range(20)], err)
        check(f"{name}: one token for all", servers.counted()["client_credentials"] == before + 1, servers.counted())
        check(f"{name}: it is kept", home.eval(ECHO)[1] == '"hello"\n' and servers.counted()["client_credentials"] == before + 1)
        servers.control(refuse=[home.record()["access_token"]])
        check(f"{name}: another one when it is refused", home.eval(ECHO)[1] == '"hello"\n' and servers.counted()["client_credentials"] == before + 2)
        home.change(expires_at=1)
        check(f"{name}: and when it has ended", home.eval(ECHO)[1] == '"hello"\n' and servers.counted()["client_credentials"] == before + 3)
        code, out, err = home.upstreams("login", "guarded")
        check(f"{name}: login needs nobody", code == 0 and out.startswith("Signed in to guarded at "), (out, err))
        check(f"{name}: the key is not kept", "PRIVATE KEY" not in json.dumps(home.record()) and "-----BEGIN" not in home.printed, home.record())
    home = homes[1]
    key = ways[1]["private_key_file"]
    os.chmod(key, 0o644)
    home.change(expires_at=1)
    check("a loose key", "chmod 600" in home.eval(ECHO)[2] + home.printed, home.printed[-500:])
    os.chmod(key, 0o600)
    with open(key, "w", encoding="utf-8") as out:
        out.write("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    _, _, err = home.eval(ECHO)
    check("no key", "has no private key in PEM" in err and "ptc upstreams login" not in err, err)
    wrong = Home(os.path.join(place, "wrong"), servers.at["mcp"], {**robot, "client_secret": "not-that-one-0123"})
    code, _, err = wrong.eval(ECHO)
    check("a wrong secret", code == 1 and "invalid_client" in err and "not-that-one" not in err and "upstreams login" not in err, err)
    for oauth, said in (({"grant": "implicit"}, "authorization_code or client_credentials"), ({"private_key_file": "key.pem"}, "a whole path")):
        wrong.write(oauth)
        code, _, err = wrong.eval("1")
        check(f"{oauth} is a mistake", code == 2 and said in err, err)
    wrong.write({"grant": "client_credentials", "client_id": "robot"})
    check("half of them", "client_id with a client_secret" in wrong.eval(ECHO)[2], wrong.printed[-400:])


def test_answers(home):
    process, url = home.begin_login()
    query = urllib.parse.parse_qs(urllib.parse.urlparse(url).query)
    back = query["redirect_uri"][0]
    check("S256, state and resource", query["code_challenge_method"] == ["S256"] and len(query["state"][0]) >= 40 and
          query["resource"] == [home.url], query)
    for stray in ("?code=abc&state=wrong", "?code=abc", "?error=access_denied", "?state=", "", "?state=" + "x" * 9000):
        check(f"a stray request: {stray[:30]}", "not here" in Browser().open(back + stray) and process.poll() is None, stray[:30])
    check("other paths are not here", "not here" in Browser().open(back.replace("/callback", "/favicon.ico")))
    for noise in (b"\x16\x03\x01\x00", b"", b"GET /callback?state=\0 HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", urllib.parse.urlparse(back).port), timeout=WAIT) as link:
            link.sendall(noise)
    state = query["state"][0]
    Browser().open(f"{back}?code=abc&state={state}")
    code, out, err = home.ended(process)
    check("no iss refused", code == 1 and "iss" in err, (code, out, err))
    process, url = home.begin_login()
    process.send_signal(2)
    code, out, err = home.ended(process)
    check("Ctrl-C ends it", code == 1 and "cancelled" in err and not home.token_files(), (code, out, err))


def test_wrong_entries(place):
    home = Home(place, "http://upstream.invalid/mcp")
    cases = [({"url": "http://upstream.invalid/mcp", "allow_insecure_http": True}, "allow_insecure_auth"),
             ({"command": "true"}, "has no sign-in"),
             ({"url": "https://upstream.invalid/mcp", "auth": [{"scheme": "bearer", "binding": "b"}]}, "credentials of its own")]
    for entry, word in cases:
        with open(home.file, "w", encoding="utf-8") as out:
            json.dump({"credentials": {"b": {"source": "literal", "value": "literal-secret"}}, "upstreams": {"guarded": entry}}, out)
        code, out, err = home.login()
        check(f"{entry} cannot be signed in to", code == 1 and word in err, (code, out, err))
    code, out, err = home.upstreams("login", "nobody")
    check("no such upstream", code == 1 and "no such upstream" in err, (code, out, err))


def test_liars(place):
    cases = [({"wrong": "issuer"}, "issuer"), ({"s256": False}, "S256"), ({"wrong": "iss"}, "a server other than")]
    for number, (options, word) in enumerate(cases):
        with Servers(**options) as servers:
            home = Home(os.path.join(place, str(number)), servers.at["mcp"])
            code, out, err = home.login()
            check(f"{options} refused", code == 1 and word in err and not home.token_files(), (code, out, err))


# ------------------------------------------------------------------------------------------------------------ ptc mcp

class Mcp:
    """ptc mcp on stdio, with whatever may write something down."""

    def __init__(self, home, *options):
        self.home, self.number = home, 0
        self.traces = os.path.join(home.place, "traces")
        self.process = home.start("mcp", "--upstreams", home.file, "--trace-dir", self.traces, "--trace-payloads", "full",
                                  "--profile", "debug", *options)
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}})

    def ask(self, method, params):
        self.number += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            self.home.printed += line
            if json.loads(line).get("id") == self.number:
                return line
        return ""

    def eval(self, program):
        return self.ask("tools/call", {"name": "lisp_eval", "arguments": {"program": program}})

    def end(self):
        return self.home.ended(self.process)


def test_headless(servers, place):
    home = Home(place, servers.at["mcp"], {})
    times = []
    for _ in range(3):
        mcp = Mcp(home)
        begun = time.monotonic()
        answer = mcp.eval(ECHO)
        times.append(time.monotonic() - begun)
        check("headless: auth_failed", "auth_failed" in answer or "ptc upstreams login guarded" in answer, answer)
        check("headless: caught", "auth_failed" in mcp.eval(f"(try {ECHO} (catch Exception e (str (:reason (ex-data e)))))"))
        mcp.end()
    check("headless: within a second", min(times) < 1, times)
    mcp = Mcp(home)
    mcp.eval(ECHO)
    code, out, err = home.login()
    check("headless: login beside it", code == 0, (code, out, err))
    answer = mcp.eval(f"(loop [i 0] (let [r (try {ECHO} (catch Exception e nil))] (if (or r (> i 100)) r (recur (inc i)))))")
    check("headless: found without a restart", "hello" in answer, answer)
    token = home.record()["access_token"]
    answer = mcp.eval("(guarded/header {})")
    check("an echoed token is blotted out", "[secret]" in answer and token not in answer, answer)
    servers.control(refuse=[token])
    answer = mcp.eval(ECHO)
    check("a token refused in between is replaced", "hello" in answer, answer)
    answer = mcp.eval("(guarded/header {})")
    check("an echoed new token is blotted out", "[secret]" in answer and home.record()["access_token"] not in answer, answer)
    mcp.end()
    return home


def test_secrets(servers, *homes):
    """Nothing that was ever printed or written, but for the token files, has a token in it."""
    tokens = [token for token in servers.control()["tokens"] if token]
    check("there were tokens", len(tokens) > 10, len(tokens))
    for home in homes:
        texts = {"printed": home.printed}
        for folder, _, names in os.walk(home.place):
            for name in names:
                path = os.path.join(folder, name)
                if os.sep + "oauth" + os.sep not in path:
                    with open(path, encoding="utf-8", errors="replace") as file:
                        texts[path] = file.read()
        found = [(path, token) for path, text in texts.items() for token in tokens if token in text]
        check(f"no token in {len(texts)} texts", not found, found)


def test_plain(place):
    with Servers(plain=True) as servers:
        home = Home(place, servers.at["mcp"])
        code, out, err = home.login()
        check("plain: no client, told how", code == 1 and "client_id" in err, (code, out, err))
        home.write({"client_id": "ours"})
        code, out, err = home.login()
        check("plain: login", code == 0, (code, out, err))
        check("plain: works", *works(home))
        home.change(expires_at=int(time.time()) - 5)
        check("plain: refreshes", *works(home))
        check("plain: one refresh", servers.counted()["refresh_token"] == 1, servers.counted())
        test_secrets_of_plain = [token for token in servers.control()["tokens"] if token and token in home.printed]
        check("plain: no token printed", not test_secrets_of_plain)


def test_step_up(place):
    with Servers(ask="mcp:admin") as servers:
        home = Home(place, servers.at["mcp"])
        code, out, err = home.login()
        check("step-up in a login", code == 0 and "mcp:admin" in home.record()["scope"], (code, out, err))
        check("step-up: two sign-ins", servers.counted()["authorization_code"] == 2, servers.counted())
        servers.control(never=True)
        code, out, err = home.login()
        check("ever more scopes: given up", code == 1 and "keeps asking for more scopes" in err, (code, out, err))
        check("ever more scopes: two step-ups", servers.counted()["authorization_code"] == 5, servers.counted())


def main():
    if not node() or not os.path.exists(os.path.join(MODULES, "oidc-provider")):
        skip("oidc-provider is not installed")
        return 0
    with tempfile.TemporaryDirectory() as place:
        places = {name: os.path.join(place, name) for name in "abcdefghij"}
        with Servers() as servers:
            test_asked(servers, places["h"])
            home = test_browser(servers, places["a"])
            test_store(servers, places["j"])
            test_refresh(servers, home)
            test_at_once(servers, home)
            test_refresh_fails(servers, home)
            test_loose(home)
            test_scopes(servers, home)
            test_logout(home)
            test_paste(servers, home)
            test_logout_waits(home)
            test_device(servers, home)
            test_logout(home)
            test_answers(home)
            os.makedirs(places["i"])
            test_client_grant(servers, places["i"])
            test_secrets(servers, home, test_known_client(servers, places["b"]), test_headless(servers, places["c"]))
        test_liars(places["d"])
        test_wrong_entries(places["g"])
        test_plain(places["e"])
        test_step_up(places["f"])
    return finish()


if __name__ == "__main__":
    sys.exit(main())
