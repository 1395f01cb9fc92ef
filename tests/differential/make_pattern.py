"""Random patterns of ECMA-262, as schemas, and short texts that they may match."""
import json
import random

CHARACTERS = ["a", "b", "c", "A", "1", "9", "_", "-", " ", "\n", "\r", "\t", "\u000b", "\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff",
              "\u200b", "\u3000", "é", "ß", "K", "\u212a", "Σ", "٣", "あ", "😀", "😎", "\u0000", ".", "$", "^", "\\", "]", "/", "\u0301"]
ATOMS = ["a", "b", "c", "1", "é", "😀", ".", ".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\.", "\\$", "\\/", "\\n", "\\t", "\\x61",
         "\\u0061", "\\u{1F600}", "\\ud83d\\ude00", "\\0", "\\cJ", "\\v", "\\p{L}", "\\P{L}", "\\p{Lu}", "\\p{Letter}", "\\p{Nd}",
         "\\p{Script=Greek}", "\\p{N}", "\\p{Z}", "[^]", "[]"]
IN_CLASS = ["a", "b", "1", "-", "a-c", "0-9", "\\d", "\\w", "\\s", "\\S", "\\D", "\\W", "\\n", "\\]", "\\-", "\\b", ".", "$", "é", "😀-😎", "\\u{61}",
            "\\p{L}", "\\x41-\\x5a", "[", "&", "(", "|", "^", "\\cJ", "\\0", "/"]
AROUND = ["(?:%s)", "(%s)", "(?=%s)", "(?!%s)", "(?<n%d>%s)"]
QUANTIFIERS = ["", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{0,2}", "{1,2}?"]


class Maker:
    """Makes a pattern at a time."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.groups = 0
        self.refers = False  # may the pattern have back references?

    def below(self, n):
        return int(self.chance.random() * n)

    def pick(self, items):
        return items[self.below(len(items))]

    def char_class(self):
        inside = [self.pick(IN_CLASS) for _ in range(1 + self.below(3))]
        # A hyphen in the middle would be a range, and ^ in front a negation.
        inside.sort(key=lambda item: (item == "-", item == "^"))
        return "[" + self.pick(["", "", "^"]) + ("a" if inside[0] == "^" else "") + "".join(inside) + "]"

    def group(self, depth):
        around = self.pick(AROUND)
        if around == "(%s)":
            self.groups += 1
        if "%d" in around:
            self.groups += 1
            return around % (self.groups, self.alternatives(depth + 1))
        return around % self.alternatives(depth + 1)

    def atom(self, depth):
        kind = self.below(12)
        if kind == 0 and self.groups and self.refers:
            return f"\\{1 + self.below(self.groups)}"
        if kind <= 2 and depth < 3:
            return self.group(depth)
        if kind <= 4:
            return self.char_class()
        if kind == 5:
            return self.pick(["^", "$", "\\b", "\\B", "(?<=a)", "(?<!b)", "(?<=\\s)"])
        return self.pick(ATOMS)

    def piece(self, depth):
        atom = self.atom(depth)
        bare = atom in ("^", "$", "\\b", "\\B") or atom.startswith(("(?=", "(?!", "(?<=", "(?<!"))
        # In a repeated group ECMA-262 clears the captures at each repetition; PCRE2, and so we, do not.
        bare = bare or (self.refers and atom.startswith("("))
        follows = "" if bare else self.pick(QUANTIFIERS)
        return atom + follows

    def alternatives(self, depth=0):
        branches = ["".join(self.piece(depth) for _ in range(1 + self.below(3))) for _ in range(self.pick([1, 1, 1, 2]))]
        return "|".join(branches)

    def pattern(self):
        self.groups = 0
        self.refers = self.below(3) == 0
        return self.pick(["%s", "^%s", "^(?:%s)$", "%s$"]) % self.alternatives()

    def text(self):
        return "".join(self.pick(CHARACTERS[:5] if self.below(2) else CHARACTERS) for _ in range(self.below(6)))

    def pairs(self, count):
        """Yields (schema text, value text): a few texts for each pattern."""
        for number in range(count):
            if number % 5 == 0:
                schema = json.dumps({"pattern": self.pattern()}, ensure_ascii=False)
            yield schema, json.dumps(self.text(), ensure_ascii=False)
