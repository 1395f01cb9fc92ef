# SPDX-License-Identifier: MIT
"""For the tests of models: the driver from outside, and a server on loopback that says what a test wants it to say."""
import collections
import json
import os
import socket
import subprocess
import sys
import threading
import time

DRIVER = sys.argv[1] if len(sys.argv) > 1 else "build/release/llm_driver"
TESTS = []
counts = {"passed": 0, "failed": 0}

# Variable with the address of a provider, and what follows it there.
BASES = {"openai": ("OPENAI_BASE_URL", "/v1"), "openrouter": ("OPENROUTER_BASE_URL", "/api/v1"),
         "groq": ("GROQ_BASE_URL", "/openai/v1"), "anthropic": ("ANTHROPIC_BASE_URL", ""),
         "google": ("GOOGLE_GEMINI_BASE_URL", ""), "ollama": ("OLLAMA_HOST", ""),
         "bedrock": ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "")}
KEYS = {"OPENAI_API_KEY": "sk-key-of-openai-0001", "OPENROUTER_API_KEY": "sk-or-key-of-openrouter-0002",
        "GROQ_API_KEY": "gsk-key-of-groq-0003", "ANTHROPIC_API_KEY": "sk-ant-key-of-anthropic-0004",
        "GOOGLE_API_KEY": "AIza-key-of-google-0005", "AWS_ACCESS_KEY_ID": "AKIAKEYOFAWS00000006",
        "AWS_SECRET_ACCESS_KEY": "secret/of+aws/0123456789abcdefghijklm007", "AWS_REGION": "eu-west-1",
        "OPENAI_COMPAT_API_KEY": "ck-key-of-compat-0008"}


def test(function):
    TESTS.append(function)
    return function


def expect(got, want, what=""):
    assert got == want, f"{what}\n  got:  {got!r}\n  want: {want!r}"


def run_tests(name):
    only = sys.argv[2] if len(sys.argv) > 2 and not sys.argv[2].startswith("-") else ""
    for function in TESTS:
        if only not in function.__name__:
            continue
        try:
            function()
            counts["passed"] += 1
        except Exception as error:  # pylint: disable=broad-except
            counts["failed"] += 1
            print(f"{name}: {function.__name__}: {type(error).__name__}: {error}", flush=True)
    print(f"{name}: {counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


# ---------------------------------------------------------------------------------- driver

def clean_env(port=None, keys=True, **more):
    """An environment without keys of the machine; with a port, every provider is there."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
           if name in os.environ}
    env["LD_PRELOAD"] = ""
    if keys:
        env.update(KEYS)
    if port:
        env.update({var: f"http://127.0.0.1:{port}{path}" for var, path in BASES.values()})
    env.update(more)
    return {name: value for name, value in env.items() if value is not None and value != ""}


def say(text="hello", **more):
    return {"messages": [{"role": "user", "content": text}], **more}


Result = collections.namedtuple("Result", "answers status out err")


def drive(spec, *requests, env=None, options=(), timeout=60):
    """Asks a model, a request each; gives the answers in order (bodies as text)."""
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run([DRIVER, *options, spec], input=lines.encode(), capture_output=True, timeout=timeout,
                          env=env if env is not None else clean_env(), check=False)
    out = done.stdout.decode()
    answers = [json.loads(line) for line in out.splitlines() if line]
    if done.returncode not in (0, 2):
        raise AssertionError(f"the driver ended with {done.returncode}: {done.stderr.decode()[-3000:]}")
    return Result(answers, done.returncode, out, done.stderr.decode())


def ask(spec, request, **more):
    """One request; its answer."""
    result = drive(spec, request, **more)
    assert result.answers, result
    return result.answers[0]


def error_of(answer):
    return answer.get("reply", {}).get("error", {})


# ---------------------------------------------------------------------------------- server

Request = collections.namedtuple("Request", "method path headers body")


class Server:
    """handler(server, connection, request) writes the answer; True keeps the connection open for the next."""

    def __init__(self, handler, context=None):
        self.handler, self.context = handler, context
        self.requests, self.lock, self.connections = [], threading.Lock(), 0
        self.working, self.most = 0, 0  # requests at once
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(256)
        self.port = self.listener.getsockname()[1]
        self.open = True
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while self.open:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.settimeout(30)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            file = connection.makefile("rb")
            while True:
                request = read_request(file)
                if request is None:
                    break
                with self.lock:
                    self.requests.append(request)
                    self.working += 1
                    self.most = max(self.most, self.working)
                try:
                    go_on = self.handler(self, connection, request)
                finally:
                    with self.lock:
                        self.working -= 1
                if not go_on:
                    break
        except (OSError, ValueError):
            pass
        finally:
            try:
                connection.close()
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open = False
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()


def read_request(file):
    line = file.readline(65536)
    if not line.strip():
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers = {}
    while True:
        field = file.readline(65536).decode("latin-1").rstrip("\r\n")
        if not field:
            break
        name, _, value = field.partition(":")
        headers[name.lower()] = value.strip()
    return Request(method, path, headers, file.read(int(headers.get("content-length", "0"))))


def answer(body=b"", status=200, content_type="application/json", **headers):
    """A whole answer as bytes."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"content-type": content_type, "content-length": str(len(body)),
              **{k.replace("_", "-"): v for k, v in headers.items()}}
    head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items()) + "\r\n"
    return head.encode("latin-1") + body


def saying(body, **more):
    """A handler that always answers the same."""
    whole = answer(body, **more)

    def handler(_server, connection, _request):
        connection.sendall(whole)
        return True
    return handler


def chunked(connection, pieces, content_type="text/event-stream", end=True, pause=0.0):
    """An answer in pieces of its own, each a chunk and a packet."""
    connection.sendall(f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
    for piece in pieces:
        connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        if pause:
            time.sleep(pause)
    if end:
        connection.sendall(b"0\r\n\r\n")


def sse(*events):
    return b"".join(b"data: " + (e if isinstance(e, bytes) else json.dumps(e).encode()) + b"\n\n" for e in events)


OPENAI_OK = {"choices": [{"message": {"role": "assistant", "content": "fine"}, "finish_reason": "stop"}],
             "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def openai_stream(*texts):
    return [sse({"choices": [{"delta": {"content": t}}]}) for t in texts] + \
        [sse({"choices": [{"delta": {}, "finish_reason": "stop"}]}, b"[DONE]")]
