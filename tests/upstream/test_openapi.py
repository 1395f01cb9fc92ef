#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_openapi.py PTC: OpenAPI services from outside: the example of docs/upstreams.md against a small server, and every way to
write a parameter or a body against prism, which validates requests, as far as it is installed (script/bootstrap).

Nothing here depends on how fast the machine is."""
import email
import http.server
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from place import MODULES, node

PTC = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PRISM = pathlib.Path(MODULES, ".bin", "prism")
WAIT = 120
counts = {True: 0, False: 0}


def check(good, what, seen=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAILED {what}: {str(seen)[:2000]}")


def run(home, *args):
    env = dict(os.environ, HOME=home, XDG_CACHE_HOME=home + "/cache", XDG_STATE_HOME=home + "/state",
               XDG_CONFIG_HOME=home + "/config")
    return subprocess.run([PTC, *args], cwd=home, env=env, capture_output=True, text=True, timeout=WAIT, check=False)


class Service(http.server.BaseHTTPRequestHandler):
    """A service that answers in JSON."""

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

    @classmethod
    def start(cls):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), cls)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server


# ---------------------------------------------------------------------------------------------- the example of the page

class Pets(Service):
    """GET /pets?limit=2"""

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        limit = int(urllib.parse.parse_qs(url.query).get("limit", ["9"])[0])
        self.answer(200 if url.path == "/pets" else 404, [{"name": n} for n in ("Rex", "Tom", "Kit")][:limit])


def test_page(home):
    page = (ROOT / "docs" / "upstreams.md").read_text().split("## OpenAPI services")[1].split("\n## ")[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    server = Pets.start()
    for kind, text in blocks:
        if kind == "yaml":
            pathlib.Path(home, "pets.yaml").write_text(text)
        elif kind == "json":
            pathlib.Path(home, "pets.json").write_text(text.replace(":4010", f":{server.server_port}"))
    shown = [text for kind, text in blocks if kind == ""][0]
    for command, expected in re.findall(r"^\$ ptc (.*)\n(.*)$", shown, re.MULTILINE):
        done = run(home, *shlex.split(command))
        said = (done.stdout + done.stderr).splitlines()
        check(said and said[0] == expected, command, done)
    server.shutdown()


# ------------------------------------------------------------------------------------------------ paths that lead outside

class Paths(Service):
    """Answers with the path that it was asked for."""

    def do_GET(self):
        self.answer(200, {"path": self.path})


def test_outside(home):
    server = Paths.start()
    bad = ["/../a", "/x/%2E%2e/a", "/x/.%2e%2Fa", "/./a", "/..\\a", "/..;v=1/a", "/x/.."]
    part = {"name": "p", "in": "path", "required": True, "schema": {"type": ["string", "array"]}}
    paths = {path: {"get": {"operationId": f"bad{i}"}} for i, path in enumerate(bad)}
    paths["/ok/{p}"] = {"get": {"operationId": "one", "parameters": [part]}}
    paths["/dot/.{p}"] = {"get": {"operationId": "dot", "parameters": [dict(part, explode=True, style="label")]}}
    doc = {"openapi": "3.1.0", "info": {"title": "P", "version": "1"}, "paths": paths}
    pathlib.Path(home, "p.json").write_text(json.dumps(doc))
    entry = {"base_url": f"http://127.0.0.1:{server.server_port}/v1/api", "schema_file": "p.json"}
    pathlib.Path(home, "u.json").write_text(json.dumps({"upstreams": {"p": entry}}))
    done = run(home, "upstreams", "check", "--upstreams", "u.json")
    check(done.returncode == 0 and "2 tools" in done.stdout and "7 operations are left out" in done.stdout and
          "/../a" in done.stdout, "left out", done.stdout)
    done = run(home, "upstreams", "doctor", "--json", "--upstreams", "u.json")
    check('"path_outside"' in done.stdout, "doctor", done.stdout)
    for code, wanted in [('(p/bad0 {})', "leads out of the service"), ('(p/one {:p "a/b"})', "/v1/api/ok/a%2Fb"),
                         ('(p/one {:p ".."})', "cannot be"), ('(p/one {:p "a/../../.."})', "cannot be"),
                         ('(p/dot {:p [""]})', "cannot be")]:
        done = run(home, "eval", "--upstreams", "u.json", code)
        check(wanted in done.stdout + done.stderr, code, done)
    server.shutdown()


# ------------------------------------------------------------------------------------------- one name, several operations

class Heard(Service):
    """Notes what it was asked."""
    heard = []

    def any(self):
        self.heard.append(f"{self.command} {self.path}")
        self.answer(200, {})

    do_GET = do_POST = do_DELETE = do_TRACE = any


def test_one_name(home):
    """What is sent is the operation that the tool was made of, not another one with its name; and where a document sends a tool
    elsewhere, it is a changed tool."""
    server = Heard.start()
    entry = {"base_url": f"http://127.0.0.1:{server.server_port}", "schema_file": "n.json", "allow_writes": True}

    def heard(paths, code, **more):
        pathlib.Path(home, "n.json").write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "N", "version": "1"}, "paths": paths}))
        pathlib.Path(home, "u.json").write_text(json.dumps({"upstreams": {"n": {**entry, **more}}}))
        Heard.heard.clear()
        done = run(home, "eval", "--upstreams", "u.json", code)
        return list(Heard.heard), done

    read = {"/b": {"get": {"operationId": "x"}}}
    for other in ({"delete": {"operationId": "x", "deprecated": True}}, {"trace": {"operationId": "x"}},
                  {"post": {"operationId": "x", "deprecated": True}}):
        got, done = heard({"/all": other, **read}, "(n/x {})", description=json.dumps(other))
        check(got == ["GET /b"], f"x is GET /b beside {other}", (got, done))
    note = {"operationId": "note"}
    got, done = heard({"/notes": {"post": note}}, "(n/note {})", policy={"note": "allow"}, pin="strict")
    check(got == ["POST /notes"], "as it was pinned", (got, done))
    got, done = heard({"/transfers": {"post": note}}, "(n/note {})", policy={"note": "allow"}, pin="strict")
    check(not got and "changed since it was pinned" in done.stderr, "another path is a change", (got, done))
    server.shutdown()


# --------------------------------------------------------------------------------------------------------- what is left out

def write(home, document, **entry):
    pathlib.Path(home, "d.json").write_text(json.dumps(document))
    pathlib.Path(home, "u.json").write_text(json.dumps({"upstreams": {"d": {"schema_file": "d.json", "transport": "openapi", **entry}}}))


def test_left_out(home):
    """Every operation is a tool or counted, with the reason."""
    body = {"required": True, "content": {"multipart/related": {}}}
    paths = {"/ok": {"get": {"operationId": "ok"}, "post": {"operationId": "add"}, "put": {"operationId": "put"}, "trace": {"operationId": "t"}},
             "/old": {"get": {"operationId": "old", "deprecated": True}},
             "/far": {"get": {"operationId": "far", "servers": [{"url": "https://far.example"}]}},
             "/ref": {"get": {"operationId": "ref", "parameters": [{"$ref": "#/components/parameters/None"}]}},
             "/web": {"get": {"operationId": "web", "parameters": [{"$ref": "https://far.example/p.yaml"}]}},
             "/item": {"$ref": "item.yaml"}, "/lost": {"$ref": "#/components/pathItems/Lost"},
             "/bad": {"get": {"operationId": "bad", "parameters": [{"name": "p", "in": "air"}]}},
             "/many": {"get": {"operationId": "many", "parameters": [{"name": f"p{i}", "in": "query"} for i in range(201)]}},
             "/body": {"get": {"operationId": "body", "requestBody": body}},
             "/long": {"get": {"operationId": "n" * 257}},
             "/same": {"get": {"operationId": "ok"}}}
    document = {"openapi": "3.1.0", "info": {"title": "D", "version": "1"}, "servers": [{"url": "https://d.example"}], "paths": paths}
    wanted = {"writes": 2, "deprecated": 1, "trace": 1, "other_host": 1, "remote_reference": 2, "broken_reference": 2, "bad_parameter": 1,
              "many_parameters": 1, "media_type": 1, "long_name": 1, "same_name": 1}
    write(home, document)
    done = run(home, "upstreams", "check", "--upstreams", "u.json")
    check("1 tool," in done.stdout and '2 operations are left out, such as add: it writes; "allow_writes": true' in done.stdout and
          "1 operation is left out, old: it is deprecated" in done.stdout, "check", done.stdout)
    check(len(done.stdout.splitlines()) == 1 + len(wanted), "a line for each reason", done.stdout)
    listed = json.loads(run(home, "upstreams", "list", "--json", "--upstreams", "u.json").stdout)[0]
    check(listed["tools"] == 1 and listed.get("left_out") == wanted, "list --json", listed)
    done = run(home, "upstreams", "list", "--upstreams", "u.json")
    check("1 tool, 14 left out" in done.stdout, "list", done.stdout)
    told = json.loads(run(home, "upstreams", "doctor", "--json", "--upstreams", "u.json").stdout)
    check({a["code"] for a in told if a.get("server") == "d"} >= wanted.keys(), "doctor", told)
    for name, why in (("ref", "leads nowhere"), ("web", "another document"), ("far", "another host"), ("many", "200 parameters")):
        done = run(home, "eval", "--upstreams", "u.json", f"(d/{name} {{}})")
        check("does not offer" in done.stderr and why in done.stderr, f"a program is told of {name}", done.stderr)
    write(home, {**document, "servers": []}, exclude_operations=["b*"], allow_writes=False)
    listed = run(home, "upstreams", "check", "--upstreams", "u.json") and run(home, "upstreams", "list", "--json", "--upstreams", "u.json")
    left = json.loads(listed.stdout)[0]["left_out"]
    check(left.get("no_server", 0) > 3 and left.get("excluded") == 2, "no address, excluded", left)
    told = {a["code"] for a in json.loads(run(home, "upstreams", "doctor", "--json", "--upstreams", "u.json").stdout)}
    check("no_server" in told and not told & {"writes", "excluded"}, "what the entry says itself is no advice", told)


def test_other_method(home):
    """A header that stands for another method makes a GET what it may become."""
    header = {"name": "X-HTTP-Method-Override", "in": "header", "required": True, "schema": {"enum": ["DELETE"]}}
    document = {"openapi": "3.1.0", "info": {"title": "S", "version": "1"}, "paths": {"/a": {"get": {"operationId": "a", "parameters": [header]}}}}
    for writes, words in ((False, "it writes"), (True, "its effect is destructive")):
        write(home, document, base_url="http://127.0.0.1:9", allow_writes=writes)
        done = run(home, "eval", "--upstreams", "u.json", "(d/a {})")
        check(done.returncode == 1 and words in done.stderr, "another method", done)


def test_shared(home):
    """A large document whose schemas lead to each other loads; a tool changes with what its schemas lead to, and not otherwise."""
    def document(word, other, n=1200):
        schemas = {f"S{i}": {"type": "object", "description": "d" * 400, "properties": {
            "a": {"$ref": f"#/components/schemas/S{(i * 7 + 1) % n}"}, "b": {"$ref": f"#/components/schemas/S{(i + 1) % n}"}}} for i in range(n)}
        schemas["S9"]["title"], schemas["Alone"] = word, {"title": other}
        paths = {f"/p{i}": {"get": {"operationId": f"o{i}", "responses": {"200": {"description": "ok", "content": {
            "application/json": {"schema": {"$ref": f"#/components/schemas/S{i}"}}}}}}} for i in range(n)}
        return {"openapi": "3.1.0", "info": {"title": "S", "version": "1"}, "servers": [{"url": "https://s.example"}], "paths": paths,
                "components": {"schemas": schemas}}
    for words, changed in ((("one", "one"), False), (("one", "two"), False), (("two", "two"), True)):
        write(home, document(*words))
        done = run(home, "upstreams", "check", "--upstreams", "u.json")
        check("1200 tools" in done.stdout and ("changed" in done.stdout) == changed, f"{words}: changed: {changed}", done.stdout[:500])


def test_sizes(home):
    """A request that would be too large is refused before it is made, and so are bodies of ever more kinds."""
    media = {f"application/x{i}+json": {"schema": {"maxLength": i}} for i in range(40)}
    form = {"application/x-www-form-urlencoded": {"schema": {}, "encoding": {"f": {"style": "deepObject", "explode": True}}}}
    filtered = {"operationId": "list", "parameters": [{"name": "f", "in": "query", "style": "deepObject", "schema": {"type": "object"}}]}
    many = {"operationId": "many", "parameters": [{"name": "n" * 10000, "in": "cookie", "schema": {"type": "array"}}]}
    write(home, {"openapi": "3.1.0", "info": {"title": "S", "version": "1"}, "paths": {
        "/a": {"get": filtered, "post": {"operationId": "add", "requestBody": {"content": form}}},
        "/b": {"get": many, "post": {"operationId": "any", "requestBody": {"content": media}}}}},
          base_url="http://127.0.0.1:9", allow_writes=True, policy={"*": "allow"})
    long = '{(apply str (repeat 400000 "k")) (zipmap (map str (range 40000)) (range 40000))}'
    for call in (f"(d/list {{:f {long}}})", f"(d/add {{:body {{:f {long}}}}})", '(d/many {(apply str (repeat 10000 "n")) (range 1000)})'):
        done = run(home, "eval", "--upstreams", "u.json", call)
        check(done.returncode == 1 and "the request would be too large: its address may have 2048 bytes" in done.stderr, call, done)
    done = run(home, "eval", "--upstreams", "u.json", "(get-in (meta 'd/any) [:schema \"properties\" \"body\"])")
    check(done.stdout == "{}\n", "a body of many kinds", done)


# ------------------------------------------------------------------------------------------------------------- Swagger 2.0

class Echo(Service):
    """Answers with what it was sent; the parts of a multipart body are read as servers read them."""

    def any(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/token":
            self.answer(200, {"access_token": "token-value", "token_type": "Bearer"})
            return
        kind = self.headers.get("Content-Type", "")
        parts = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + text)
        told = [[p.get_param("name", header="Content-Disposition"), p.get_filename(), p["Content-Type"], p.get_payload()]
                for p in parts.get_payload()] if parts.is_multipart() else text.decode()
        self.answer(200, {"method": self.command, "path": self.path, "type": kind.split(";")[0], "body": told,
                          "key": self.headers.get("X-Key"), "auth": self.headers.get("Authorization")})

    do_GET = do_POST = do_PATCH = any


SWAGGER = """swagger: '2.0'
info: {title: Shop, version: '1'}
host: HOST
basePath: /v1
schemes: [http]
securityDefinitions:
  key: {type: apiKey, in: header, name: X-Key}
  login: {type: basic}
  client: {type: oauth2, flow: application, tokenUrl: 'http://HOST/token', scopes: {}}
security: [{key: []}]
definitions:
  Item: {type: object, required: [name], properties: {name: {type: string}}}
responses:
  Items: {description: all, schema: {type: array, items: {$ref: '#/definitions/Item'}}}
paths:
  /items:
    get:
      operationId: items
      security: [{login: []}]
      responses: {'200': {$ref: '#/responses/Items'}}
    post:
      operationId: upload
      parameters:
        - {name: file, in: formData, type: file, required: true, description: the picture}
        - {name: kind, in: formData, type: string}
        - {name: tags, in: formData, type: array, items: {type: string}}
      responses: {'200': {description: ok}}
  /items/{id}:
    get:
      operationId: item
      parameters: [{name: id, in: path, required: true, type: string}]
      responses: {'200': {description: ok}}
    patch:
      operationId: change
      consumes: [application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json]
      parameters:
        - {name: id, in: path, required: true, type: string}
        - {name: item, in: body, required: true, schema: {$ref: '#/definitions/Item'}}
      responses: {'200': {description: ok}}
"""


def test_swagger(home):
    server = Echo.start()
    pathlib.Path(home, "s.yaml").write_text(SWAGGER.replace("HOST", f"127.0.0.1:{server.server_port}"))
    entry = {"schema_file": "s.yaml", "allow_writes": True, "policy": {"*": "allow"},
             "security": {"key": "k", "login": "l"}}
    credentials = {"k": {"source": "literal", "value": "key-value"}, "l": {"source": "literal", "value": "user:pass"}}
    pathlib.Path(home, "u.json").write_text(json.dumps({"credentials": credentials, "upstreams": {"s": entry}}))

    def sent(code):
        done = run(home, "eval", "--upstreams", "u.json", "--format", "json", code)
        answer = json.loads(done.stdout) if done.returncode == 0 else done.stderr
        return answer.get("value", answer) if isinstance(answer, dict) else answer

    got = sent("(s/items {})")
    check(got["path"] == "/v1/items" and got["auth"] and not got["key"], "basic", got)
    got = sent('(s/upload {:body {:file "bytes" :tags ["a" "b"]}})')
    check(got["type"] == "multipart/form-data" and got["key"] and got["body"] ==
          [["file", "file", "application/octet-stream", "bytes"], ["tags", None, None, "a,b"]], "a file has a name and a type", got)
    got = sent('(s/upload {:body {:file {:text "a,b" :filename "\\"x.csv" :mimeType "text/csv"} :kind "k"}})')
    check(got["body"] == [["file", "%22x.csv", "text/csv", "a,b"], ["kind", None, None, "k"]], "that the caller gives", got)
    got = sent('(s/upload {:body {:file {:filename "x"}}})')
    check("files a string" in str(got), "a file without bytes", got)
    got = sent("(s/item {:id 7})")
    check(isinstance(got, dict) and got["path"] == "/v1/items/7", "a number for a text in a path", got)
    for code, kind in (('{:id 7 :body {:name "n"}}', "merge-patch"), ('{:id 7 :body [{:op "remove" :path "/name"}]}', "json-patch"),
                       ('{:id 7 :body {:name "n"} :content-type "application/strategic-merge-patch+json"}', "strategic-merge-patch")):
        got = sent(f"(s/change {code})")
        check(isinstance(got, dict) and got["type"] == f"application/{kind}+json", code, got)
    got = sent('(s/change {:id 7 :body {:nam "n"}})')
    check("body.nam" in str(got) and "did you mean name" in str(got), "a slip is still told", got)
    for code, said in (('(s/upload {:file "bytes"})', "argument file: the tool has no such argument; it is a part of body, which is a map"),
                       ("(s/upload {:body {:file 5}})", "argument body.file: it fits none of the allowed forms; expected string|{"),
                       ("(s/change {:id 7 :body {:name [1]}})", "argument body.name: it has the wrong type; expected string"),
                       ('(s/change {:id 7 :body {:name "n"} :content-type "x/y"})', 'allowed values; expected "application/json-patch+json"|')):
        got = sent(code)
        check(said in str(got), f"what is expected: {code}", got)
    shown = run(home, "upstreams", "doc", "s/change", "--upstreams", "u.json").stdout
    check("content_type" in shown and "left out: application/merge-patch+json, and a vector as" in shown, "doc", shown)
    shown = run(home, "upstreams", "doc", "s/items", "--upstreams", "u.json").stdout
    check("[{name string}]" in shown, "doc of an answer", shown)
    del entry["security"]
    entry["oauth"] = {"client_id": "id", "client_secret": "secret-value"}
    pathlib.Path(home, "u.json").write_text(json.dumps({"upstreams": {"s": entry}}))
    got = sent("(s/items {})")
    check(isinstance(got, dict) and str(got["auth"]).startswith("Bearer "), "client credentials", got)
    server.shutdown()


# --------------------------------------------------------------------------------------------------------------- prism

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
LIST = {"type": "array", "items": NUMBER, "minItems": 1}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}
OBJECT = {"type": "object", "properties": {"a": NUMBER, "b": TEXT}, "required": ["a", "b"], "additionalProperties": False}
SMALL = {"type": "object", "properties": {"a": NUMBER}, "required": ["a"], "additionalProperties": False}
STYLES = {"path": ["simple", "label", "matrix"], "header": ["simple"], "cookie": ["form"],
          "query": ["form", "spaceDelimited", "pipeDelimited", "deepObject"]}


def value_for(place, style, kind, explode):
    """A schema and a value for what OpenAPI defines, as far as prism 5.14 can read it: a comma in a path ends it, and it takes items
    that are delimited by blanks for one.  How those are written is among the cases of cases.jsonl."""
    if style in ("spaceDelimited", "pipeDelimited"):
        return (TEXTS, ["one", "two"]) if kind == "list" and not explode else None
    if style == "deepObject":
        return (OBJECT, {"a": 1, "b": "two"}) if kind == "object" and explode else None
    if kind == "text":
        return (TEXT, "x y/z")
    if kind == "list":
        return (LIST, [1] if place == "path" and not (explode and style != "simple") else [1, 2])
    if place == "path":
        several = explode and style == "matrix"
        return (OBJECT, {"a": 1, "b": "two"}) if several else (SMALL, {"a": 1}) if explode else None
    return (OBJECT, {"a": 1, "b": "two"})


def parameters():
    """Name of the operation, its parameter, a value for it."""
    for place, styles in STYLES.items():
        for style in styles:
            for kind in ("text", "list", "object"):
                for explode in (False, True):
                    schema, value = value_for(place, style, kind, explode) or (None, None)
                    if schema:
                        yield (f"{place}_{style}_{kind}_{explode}".lower(),
                               {"name": "X-P" if place == "header" else "p", "in": place, "required": True, "style": style,
                                "explode": explode, "schema": schema}, value)
    yield ("query_reserved", {"name": "p", "in": "query", "required": True, "allowReserved": True, "schema":
                              {"type": "string", "pattern": "^a:/[?]b@c$"}}, "a:/?b@c")
    yield ("query_content", {"name": "p", "in": "query", "required": True, "content": {"application/json": {"schema": OBJECT}}},
           {"a": 1, "b": "two"})


BODIES = [
    ("post", "json", "application/json", OBJECT, {"a": 1, "b": "two"}),
    ("put", "json_vendor", "application/vnd.x+json", OBJECT, {"a": 1, "b": "two"}),
    ("post", "form", "application/x-www-form-urlencoded", OBJECT, {"a": 1, "b": "two & three"}),
    ("post", "multipart", "multipart/form-data",
     {"type": "object", "required": ["file", "note"], "properties": {"file": {"type": "string", "format": "binary"}, "note": TEXT}},
     {"file": "some bytes", "note": "n"}),
    ("patch", "text", "text/plain", {"type": "string", "minLength": 3}, "plain text"),
    ("post", "binary", "application/octet-stream", {"type": "string", "format": "binary"}, "bytes"),
    ("delete", "nothing", None, None, None),
]


def document():
    """The document, and the calls of every operation that it has."""
    answer = {"200": {"description": "ok", "content": {"application/json": {
        "schema": {"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["done"]}, "example": {"done": True}}}}}
    paths, calls, writes = {}, [], []
    for name, parameter, value in parameters():
        path = f"/{name}/{{p}}/end" if parameter["in"] == "path" else f"/{name}"
        paths[path] = {"get": {"operationId": name, "parameters": [parameter], "responses": answer}}
        calls.append((name, {parameter["name"]: value}))
    for method, name, media, schema, value in BODIES:
        operation = {"operationId": "body_" + name, "responses": answer}
        if media:
            operation["requestBody"] = {"required": True, "content": {media: {"schema": schema}}}
        paths[f"/body/{name}"] = {method: operation}
        writes.append(("body_" + name, {"body": value} if media else {}))
    return {"openapi": "3.0.3", "info": {"title": "All", "version": "1"}, "paths": paths}, calls, writes


def as_yaml(value, indent=""):
    """Blocks for objects, JSON for the rest, which is YAML too."""
    if not isinstance(value, dict) or not value:
        return " " + json.dumps(value) + "\n"
    return "\n" + "".join(f"{indent}{json.dumps(k)}:{as_yaml(v, indent + '  ')}" for k, v in value.items())


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_prism(home, port):
    """--errors: a request that the document does not allow is answered with a failure."""
    with open(home + "/prism.log", "w", encoding="utf-8") as log:
        prism = subprocess.Popen([node(), PRISM, "mock", "--errors", "-h", "127.0.0.1", "-p", str(port), home + "/all.json"],
                                 stdout=log, stderr=log)
    end = time.monotonic() + WAIT
    while time.monotonic() < end and prism.poll() is None:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return prism
        time.sleep(0.1)
    prism.kill()
    prism.wait()
    return None


def program(calls):
    """Every call in one program; the names of those that were not accepted."""
    # JSON inside of a string of the language, which a context would spare us, but `ptc eval` needs only one file so
    rows = json.dumps([{"tool": tool, "args": args} for tool, args in calls])
    return ('(->> (json/parse-string ' + json.dumps(rows) + ') '
            '(map (fn [{:keys [tool args]}] [tool (tool/call {:server "all" :tool tool :args args})])) '
            '(remove (fn [[_ r]] (= {"done" true} (:value r)))) vec)')


def test_prism(home):
    doc, calls, writes = document()
    pathlib.Path(home, "all.json").write_text(json.dumps(doc))
    pathlib.Path(home, "all.yaml").write_text(as_yaml(doc).lstrip())
    port = free_port()
    prism = start_prism(home, port)
    check(prism, "prism starts", pathlib.Path(home, "prism.log").read_text())
    if not prism:
        return
    try:
        for name in ("all.json", "all.yaml"):
            for allowed in (False, True):
                entry = {"transport": "openapi", "base_url": f"http://127.0.0.1:{port}", "schema_file": name,
                         "allow_writes": allowed, "policy": {"*": "allow"}}
                pathlib.Path(home, "u.json").write_text(json.dumps({"upstreams": {"all": entry}}))
                done = run(home, "eval", "--timeout-ms", "60000", "--upstreams", "u.json", program(calls))
                check(done.stdout.strip() == "[]", f"{name}: reads, writes allowed: {allowed}", done.stdout + done.stderr)
                done = run(home, "eval", "--timeout-ms", "60000", "--upstreams", "u.json", program(writes))
                refused = done.stdout.count("allow_writes")
                check((done.stdout.strip() == "[]") if allowed else refused == len(writes),
                      f"{name}: writes, allowed: {allowed}", done.stdout + done.stderr)
        log = pathlib.Path(home, "prism.log").read_text()
        asked = len(re.findall(r"Request received", log))
        check(asked == 4 * len(calls) + 2 * len(writes), "each was asked once", asked)
    finally:
        prism.terminate()
        prism.wait(WAIT)


def main():
    with tempfile.TemporaryDirectory() as home:
        test_page(home)
    with tempfile.TemporaryDirectory() as home:
        test_outside(home)
    with tempfile.TemporaryDirectory() as home:
        test_one_name(home)
    for test in (test_left_out, test_other_method, test_shared, test_sizes, test_swagger):
        with tempfile.TemporaryDirectory() as home:
            test(home)
    if PRISM.exists():
        with tempfile.TemporaryDirectory() as home:
            test_prism(home)
    else:
        print("skipped: prism is not installed")
    print(f"openapi services: {counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
