"""Random JSON texts, valid ones and broken ones.  The same seed makes the same texts with any version of Python."""
import random
import struct

from cases import json_cases

NAMES = ["", "a", "b", "ab", "a-b", "a_b", "id", "name", "é", "key with spaces", "seventeen letters", "\u0000"]
CHARACTERS = ["a", "Z", "0", " ", "~", "\x7f", "/", "'", "é", "\u0080", "\u07ff", "\u0800", "\u2028", "\ud7ff", "\ue000",
              "\ufeff", "\uffff", "\U00010000", "😀", "\U0010ffff"]
ESCAPED = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
NUMBERS = ["0", "-0", "1", "-1", "0.0", "-0.0", "1.0", "1e0", "1E+2", "1e-2", "0e5", "4611686018427387903",
           "4611686018427387904", "-4611686018427387904", "-4611686018427387905", "9223372036854775807",
           "9223372036854775808", "18446744073709551616", "9007199254740993", "9007199254740993.0",
           "1.7976931348623157e308", "1.7976931348623159e308", "1e308", "1e309", "-1e400", "5e-324",
           "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308", "1e-400", "1e23",
           "8.442911973260991817129021e-309", "0.1", "123456789012345678901234567890"]
WRONG = ["01", "+1", ".5", "1.", "1e", "-", "--1", "0x1", "1_0", "NaN", "Infinity", "-Infinity", "nul", "True", "'a'",
         '"\\x"', '"\\u12"', '"\\ud800"', '"\\udc00\\ud800"', '"\x01"', '"', "[1,]", "[,1]", '{"a"}', '{"a":}', "{a:1}",
         '{"a":1,}', "[1 2]", "[1", "]", "//", "/**/"]
PIECES = [b"[", b"]", b"{", b"}", b",", b":", b'"', b"\\", b"\\u", b"\\ud83d", b"\\ude00", b"0", b"-", b".", b"e", b"+",
          b"1", b"9", b"null", b"true", b"false", b" ", b"\n", b"\t", b"\x00", b"\x0b", b"\x80", b"\xff", b"\xc3", b"\xe2\x82",
          b"\xed\xa0\x80", b"\xf0\x9f", b"\xef\xbb\xbf", b"\xc2\xa0", b"/", b"'", b'"a":1', b"[]", b"{}"]


class Maker:
    """Makes texts."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.corpus = [text for _, text, _ in json_cases() if len(text) < 500]

    def pick(self, items):
        return items[int(self.chance.random() * len(items))]

    def below(self, n):
        return int(self.chance.random() * n)

    def often(self, share):
        return self.chance.random() < share

    # ---------------------------------------------------------------------- valid texts

    def space(self):
        return "" if self.often(0.8) else "".join(self.pick(" \t\n\r") for _ in range(1 + self.below(3)))

    def character(self):
        """One character as it may stand in a string."""
        if self.often(0.6):
            code = chr(32 + self.below(95))
        elif self.often(0.5):
            code = self.pick(CHARACTERS)
        else:
            code = chr(self.below(32))
        if code in ESCAPED and (code != "/" or self.often(0.3)):
            return ESCAPED[code] if self.often(0.8) else f"\\u{ord(code):04x}"
        if ord(code) < 32 or self.often(0.05):
            units = struct.unpack(f">{len(code.encode('utf-16-be')) // 2}H", code.encode("utf-16-be"))
            form = "\\u%04X" if self.often(0.5) else "\\u%04x"
            return "".join(form % unit for unit in units)
        return code

    def string(self):
        if self.often(0.3):
            return '"' + "".join(self.pick("abcde fgh") for _ in range(self.below(25))) + '"'
        return '"' + "".join(self.character() for _ in range(self.below(12))) + '"'

    def name(self):
        if self.often(0.2):
            return self.string()
        name = self.pick(NAMES)
        return '"' + name.replace("\u0000", "\\u0000") + '"'

    def double(self):
        """A double of random bits, with as many digits as it needs, more, or fewer."""
        value = struct.unpack(">d", struct.pack(">Q", self.below(1 << 53) << 11 | self.below(2048)))[0]
        if value != value or value in (float("inf"), float("-inf")):
            value = 0.5
        return self.pick([repr(value), f"{value:.16e}", f"{value:.5e}", f"{value:.25e}", f"{value:.3E}"])

    def number(self):
        kind = self.below(5)
        if kind == 0:
            return self.pick(NUMBERS)
        if kind == 1:
            return self.double()
        digits = "".join(self.pick("0123456789") for _ in range(1 + self.below(self.pick([3, 20, 25])))).lstrip("0") or "0"
        text = ("-" if self.often(0.3) else "") + digits
        if kind == 2:
            text += "." + "".join(self.pick("0123456789") for _ in range(1 + self.below(12)))
        if kind == 3:
            text += self.pick(["e", "E", "e+", "e-", "E-"]) + str(self.below(self.pick([5, 50, 340])))
        return text

    def scalar(self):
        kind = self.below(8)
        return self.string() if kind < 3 else self.number() if kind < 6 else self.pick(["null", "true", "false"])

    def array(self, depth):
        count = self.below(self.pick([1, 3, 3, 4, 4, 40 if depth == 0 else 4]))
        return "[" + self.space() + ",".join(self.value(depth + 1) for _ in range(count)) + "]"

    def object(self, depth):
        count = self.below(self.pick([1, 3, 3, 4, 4, 24 if depth == 0 else 4]))
        pairs = (self.space() + self.name() + self.space() + ":" + self.value(depth + 1) for _ in range(count))
        return "{" + self.space() + ",".join(pairs) + "}"

    def rows(self):
        """Objects that have most of their names in common, as tables do."""
        names = [self.name() for _ in range(1 + self.below(5))]

        def row():
            own = names if self.often(0.7) else [self.name() if self.often(0.3) else name for name in names]
            return "{" + ",".join(f"{name}:{self.scalar()}" for name in own) + "}"
        return "[" + ",".join(row() for _ in range(2 + self.below(5))) + "]"

    def value(self, depth=0):
        kind = self.below(10)
        if depth >= 5 or kind < 5:
            text = self.scalar()
        elif kind < 7:
            text = self.array(depth)
        else:
            text = self.object(depth) if kind < 9 else self.rows()
        return self.space() + text + self.space()

    def deep(self):
        """Nested about as deep as we read."""
        depth = self.pick([10, 500, 509, 510, 511, 512, 513, 514, 600])
        opening = [self.pick(["[", '{"a":']) for _ in range(depth)]
        closing = ["]" if bracket == "[" else "}" for bracket in reversed(opening)]
        return "".join(opening) + self.pick(["1", "[]", "{}", '"x"']) + "".join(closing)

    # --------------------------------------------------------------------- broken texts

    def mutate(self, text):
        """Changes some bytes."""
        for _ in range(1 + self.below(3)):
            at = self.below(len(text) + 1)
            size = 1 + self.below(self.pick([1, 4, 20]))
            kind = self.below(8)
            if kind == 0:
                text = text[:at] + text[at + size:]
            elif kind == 1:
                text = text[:at] + text[at:at + size] + text[at:]
            elif kind in (2, 3):
                text = text[:at] + self.pick(PIECES) + text[at:]
            elif kind == 4:
                text = text[:at] + bytes([self.below(256)]) + text[at + 1:]
            elif kind == 5:
                text = text[:at] + self.pick(PIECES) + text[at + size:]
            elif kind == 6:
                other = self.pick(self.corpus)
                text = text[:at] + other[self.below(len(other) + 1):]
            else:
                text = text[:at]
        return text

    def soup(self):
        return b"".join(self.pick(PIECES) for _ in range(1 + self.below(12)))

    def replace_one(self):
        """A valid text but for one value in it."""
        text = self.pick(["[%s]", "[1,%s]", '{"a":%s}', '{"a":1,"b":[%s]}', "%s", " %s ", '[{"a":1},{"a":%s}]'])
        return text % self.pick(WRONG)

    def text(self):
        kind = self.below(20)
        if kind < 7:
            return self.value().encode()
        if kind < 14:
            return self.mutate(self.value().encode())
        if kind < 16:
            return self.mutate(self.pick(self.corpus))
        if kind < 17:
            return self.soup()
        if kind < 19:
            return self.replace_one().encode()
        return self.deep().encode() if self.often(0.1) else self.rows().encode()
