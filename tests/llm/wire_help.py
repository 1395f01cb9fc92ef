# SPDX-License-Identifier: MIT
"""tests/wire/*.wire: exchanges with providers, written down (tests/wire/README.md)."""
import json
import re
import struct
import zlib

SECTION = re.compile(r"^--- (\w+)$", re.M)


class Exchange:
    def __init__(self):
        self.sections = {}

    def json(self, name):
        return json.loads(self.sections[name])


class WireFile:
    def __init__(self, path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        parts = SECTION.split(text)
        self.head, self.exchanges = parts[0], []
        for name, body in zip(parts[1::2], parts[2::2]):
            if name == "request":
                self.exchanges.append(Exchange())
            self.exchanges[-1].sections[name] = body.strip("\n")
        self.model = re.search(r"^model: (.+)$", self.head, re.M).group(1)
        self.env = dict(line[5:].split("=", 1) for line in self.head.splitlines() if line.startswith("env: "))

    def write(self):
        order = ["request", "sends", "answer", "reply", "pieces"]
        text = self.head
        for exchange in self.exchanges:
            for name in order:
                if name in exchange.sections:
                    text += f"--- {name}\n{exchange.sections[name]}\n"
        self.path.write_text(text, encoding="utf-8")


def parse_answer(text):
    """(status, headers, body as bytes) of an answer section.  The lines of an event stream of AWS are made into one."""
    head, _, body = text.partition("\n\n")
    lines = head.split("\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    if "vnd.amazon.eventstream" in headers.get("content-type", ""):
        return int(lines[0]), headers, b"".join(event(line) for line in body.split("\n") if line)
    if headers.get("content-type", "").startswith("text/event-stream"):
        body += "\n\n"
    return int(lines[0]), headers, body.encode()


def header(name, value):
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()


def event(line):
    """`event NAME {...}` or `exception NAME {...}` as a message of the stream."""
    kind, name, payload = line.split(" ", 2)
    headers = header(f":{kind}-type", name) + header(":content-type", "application/json") + \
        header(":message-type", kind)
    body = payload.encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return message + struct.pack(">I", zlib.crc32(message))


def pretty(value, depth=0):
    """JSON that is read easily: short things on a line, long ones spread out."""
    flat = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    if len(flat) + 2 * depth < 110 or not isinstance(value, (dict, list)) or not value:
        return flat
    pad, inner = "  " * depth, "  " * (depth + 1)
    if isinstance(value, dict):
        rows = [f"{inner}{json.dumps(k)}: {pretty(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{pad}}}"
    return "[\n" + ",\n".join(inner + pretty(v, depth + 1) for v in value) + f"\n{pad}]"


def ordered(text):
    """A JSON text as a value in which the order of members counts."""
    return json.loads(text, object_pairs_hook=lambda pairs: ("object", pairs))
