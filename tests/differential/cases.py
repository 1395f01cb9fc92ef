#!/usr/bin/env python3
"""The case files of tests/json and tests/schema, for the differential tests and for fuzzing.

cases.py DIRECTORY writes every text into DIRECTORY/json and every schema with a value into DIRECTORY/schema, as seeds.
"""
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
CODED = re.compile(r"<([^>]*)>")


def decode(text):
    """The bytes that a text in the notation of tests/json stands for."""
    def coded(match):
        times, star, what = match.group(1).partition("*")
        return what.encode() * int(times) if star else bytes.fromhex(match.group(1))

    parts, at = [], 0
    for match in CODED.finditer(text):
        parts += [text[at:match.start()].encode(), coded(match)]
        at = match.end()
    return b"".join(parts + [text[at:].encode()])


def json_cases():
    """Yields (name, bytes, accepted)."""
    for path in sorted(TESTS.glob("json/*.txt")):
        for line in path.read_text().split("\n"):
            if line and not line.startswith("#"):
                name, rest = line.split(" ", 1)
                text = re.split(" => | !! ", rest)[0]
                yield name, decode(text.strip(" ")), rest[len(text):].startswith(" =>")


def schema_cases():
    """Yields (name, schema text, value text, "+" valid, "-" invalid or "!" a schema that is refused)."""
    for path in sorted(TESTS.glob("schema/*.txt")):
        group, schema = "", []
        for line in path.read_text().split("\n"):
            if line.startswith("@ "):
                group, schema = line[2:], []
            elif line[:2] in ("+ ", "- "):
                name, value = line[2:].split(": ", 1)
                yield f"{path.stem}: {group}: {name}", " ".join(schema), value, line[0]
            elif line.startswith("! "):
                yield f"{path.stem}: {group}", " ".join(schema), "null", "!"
            elif line and not line.startswith("#"):
                schema.append(line.strip())


def write_seeds(directory):
    for kind, seeds in (("json", [text for _, text, _ in json_cases()]),
                        ("schema", [f"{s}\n{v}".encode() for _, s, v, _ in schema_cases()])):
        place = pathlib.Path(directory) / kind
        place.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            if len(seed) <= 4096:
                (place / str(number)).write_bytes(seed)


if __name__ == "__main__":
    write_seeds(sys.argv[1])
