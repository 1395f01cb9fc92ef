#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/llm/fuzz_seeds.py DIRECTORY: inputs for the fuzz_llm_* targets, made from tests/wire."""
import json
import pathlib
import sys

from wire_help import WireFile, parse_answer

WIRE = pathlib.Path(__file__).resolve().parent.parent / "wire"
PROVIDERS = ["openai", "openai-compat", "openrouter", "groq", "anthropic", "google", "ollama", "bedrock"]  # as in provider.c
HEADERS = ["7", "1.5", "34.07s", "250ms", "Thu, 01 Jan 1970 00:01:40 GMT", "https://api.example.com:443/v1?x=1",
           "http://[::1]:8/x", "http://127.0.0.1", "anthropic.claude-haiku-4-5-20251001-v1:0", "overloaded_error",
           '{"a":[1,{"b":"xyz"}]}\n{"a":[1,{"b":"xyw"}],"c":null}']


class Seeds:
    def __init__(self, root, target):
        self.place, self.count = root / target, 0
        self.place.mkdir(parents=True, exist_ok=True)

    def add(self, *parts):
        data = b"".join(bytes([p]) if isinstance(p, int) else p.encode() if isinstance(p, str) else p for p in parts)
        (self.place / str(self.count)).write_bytes(data)
        self.count += 1


def main(root):
    provider, stream, files, headers = (Seeds(root, "llm_" + n) for n in ("provider", "stream", "files", "headers"))
    replies, requests = [], []
    for path in sorted(WIRE.glob("*.wire")):
        wire = WireFile(path)
        number = PROVIDERS.index(wire.model.split(":")[0].replace("amazon_", ""))
        for exchange in wire.exchanges:
            status, fields, body = parse_answer(exchange.sections["answer"])
            streams = exchange.json("request").get("stream", False)
            provider.add(number | (16 if streams else 0) | (32 if status != 200 else 0), 5, body)
            provider.add(128 | number, 0, json.dumps(exchange.json("request")))
            replies.append(json.dumps(exchange.json("reply")))
            requests.append(exchange.sections["sends"].partition("\n\n")[2])
            if streams and status == 200:
                aws = "amazon" in fields.get("content-type", "")
                stream.add(2 if aws else 1, 3, 0, 6, 1, body)
    for n in range(0, len(replies), 4):
        files.add(2, 0, "\n".join(replies[n:n + 4]))
    files.add(2, 0, "[" + ",".join(replies[:5]) + "]")
    line = {"ptc_record": 1, "model": "script:x", "network": False, "agent": "", "hash": "0" * 64,
            "request": {"ptc_llm": 1, "messages": [{"role": "user", "content": "hi"}]}, "reply": json.loads(replies[0])}
    files.add(3, 0, json.dumps(line) + "\n" + json.dumps({**line, "agent": "x", "request": json.loads(requests[0])}))
    files.add(7, 0, json.dumps(line))
    files.add(0, 0, (WIRE.parent.parent / "src" / "llm" / "models.json").read_text(encoding="utf-8"))
    files.add(1, 0, "# note\nexport OPENAI_API_KEY='a b' # c\nAWS_REGION=\"eu\\n\"\nX=1\n")
    for text in HEADERS:
        headers.add(text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
