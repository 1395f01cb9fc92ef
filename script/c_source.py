"""Reads C source as far as the checks need it: without comments and strings, and where its functions are.

Nothing is expanded.  A macro that opens a brace which another one closes would confuse the scanner; it then reports
that the braces of the file do not match, rather than guess.
"""
import bisect
import re

TOKEN = re.compile(r'/\*.*?\*/|//(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\([^;{}]*?\)\)|\[\[.*?\]\]", re.DOTALL)
DIRECTIVE = re.compile(r"\s*#\s*(\w+)")
WORD = re.compile(r"[A-Za-z_]\w*")
CALLED = re.compile(r"([A-Za-z_]\w*)\s*$")
NOT_FUNCTIONS = {"if", "for", "while", "switch", "return", "sizeof", "_Static_assert", "_Alignas"}


class BraceError(Exception):
    """The braces of a file do not match."""


def spaces(text):
    """As many lines and columns, without the text."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text, kept=""):
    """The code with comments, strings and characters blanked; every line and column stays where it was.

    What begins with a mark that is to be kept stays: "'" for characters.
    """
    def blank(match):
        found = match.group(0)
        if found[0] in kept:
            return found
        return spaces(found) if found[0] == "/" else found[0] + spaces(found[1:-1]) + found[-1]
    return TOKEN.sub(blank, text)


def only_code(text):
    """The code without comments; strings stay."""
    return TOKEN.sub(lambda match: " " if match.group(0)[0] == "/" else match.group(0), text)


def comments(text):
    """Yields (line, text) of every comment."""
    for match in TOKEN.finditer(text):
        if match.group(0)[0] == "/":
            yield text.count("\n", 0, match.start()) + 1, match.group(0)


def directives(code):
    """Yields (first line, last line, word, text) of every preprocessor line; lines are counted from 1."""
    lines = code.split("\n")
    number = 0
    while number < len(lines):
        first = number
        match = DIRECTIVE.match(lines[number])
        while match and lines[number].endswith("\\") and number + 1 < len(lines):
            number += 1
        number += 1
        if match:
            yield first + 1, number, match.group(1), "\n".join(lines[first:number])


def without_directives(code):
    """Code with preprocessor lines blanked, and of each #if only the branch left that a C compiler may see first."""
    lines = code.split("\n")
    hidden = []  # one entry for each open #if: whether we are outside of the branch that stays
    at = {first: (last, word, text) for first, last, word, text in directives(code)}
    number = 1
    while number <= len(lines):
        last, word, text = at.get(number, (number, None, ""))
        if word in ("if", "ifdef", "ifndef"):
            hidden.append(word == "ifdef" and "__cplusplus" in text)
        elif word in ("else", "elif") and hidden:
            hidden[-1] = not hidden[-1]
        elif word == "endif" and hidden:
            hidden.pop()
        if word or any(hidden):
            for i in range(number - 1, last):
                lines[i] = ""
        number = last + 1
    return "\n".join(lines)


def groups(head):
    """Yields (word before it, start of that word, start, end) of each pair of parentheses at the top level of head."""
    depth = 0
    for at, char in enumerate(head):
        if char == "(":
            if depth == 0:
                start = at
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                word = CALLED.search(head, 0, start)
                yield word.group(1) if word else "", word.start() if word else start, start, at + 1


def outside(head, found):
    """The text of head that is in none of the parentheses found."""
    edges = [0] + [edge for group in found for edge in group[2:]] + [len(head)]
    return "".join(head[edges[i]:edges[i + 1]] for i in range(0, len(edges), 2))


def is_old_style(head):
    """Whether head is "int f(a, b) int a": a function of the oldest kind, whose body comes after more semicolons."""
    head = ATTRIBUTE.sub(lambda m: spaces(m.group(0)), head)
    found = [g for g in groups(head) if g[0] and g[0] not in NOT_FUNCTIONS]
    if not found or "=" in outside(head, found) or "typedef" in head.split():
        return False
    names = head[found[0][2] + 1:found[0][3] - 1]
    after = head[found[0][3]:].rpartition(";")[2]
    return bool(re.fullmatch(r"[\w\s,]*\w[\w\s,]*", names)) and len(WORD.findall(after)) >= 2 and \
        not any(" " in name.strip() for name in names.split(","))


def function_name(head):
    """(Name, where its declaration begins in head, whether a macro declares it) for the text before a body, or None."""
    head = ATTRIBUTE.sub(lambda m: spaces(m.group(0)), head)
    found = [g for g in groups(head) if g[0] not in NOT_FUNCTIONS]
    if not found or "=" in outside(head, found):
        return None
    begin = 0
    for word, at, start, end in found:
        if word and not word.isupper():
            return word, begin, False
        if not word:  # int (*name(int a))(int b)
            inner = WORD.search(head, start)
            return (inner.group(0), begin, False) if inner else None
        begin = end
    word, at, start, end = found[-1]
    name = WORD.search(head, start, end)
    return (name.group(0) if name else word), at, True


class Function:
    """A function with a body: where its head begins, where the brace opens and where it closes."""

    def __init__(self, name, head, first, opening, last, is_macro):
        self.name, self.head, self.first, self.opening, self.last = name, head, first, opening, last
        self.is_macro = is_macro

    @property
    def is_static(self):
        return self.is_macro or "static" in self.head.split()

    @property
    def lines(self):
        """Lines that a reader counts; what a macro such as PTC_BUILTIN holds before the body is a table row."""
        return self.last - (self.opening if self.is_macro else self.first) + 1


def top_level(code):
    """Yields (head, line of its first word, opening line, closing line) of each brace pair outside every other.

    A head is the text since the declaration before.  A declaration that ends with a semicolon has None for the lines of
    its braces, and their text in its head.
    """
    ends = [match.start() for match in re.finditer("\n", code)]
    depth, parens, start, head_end = 0, 0, 0, 0
    for match in re.finditer(r"[{}();]", code):
        at, char = match.start(), match.group(0)
        if char == "{":
            head_end = at if depth == 0 else head_end
            depth += 1
        elif char == "}":
            depth -= 1
            if depth < 0:
                raise BraceError(f"line {line_of(ends, at)}: a brace closes that none opened")
            if depth == 0:
                head = code[start:head_end]
                lead = start + len(head) - len(head.lstrip())
                yield head.strip(), line_of(ends, lead), line_of(ends, head_end), line_of(ends, at)
                start = at + 1 if function_name(head) else start
        elif depth == 0 and char in "()":
            parens += 1 if char == "(" else -1
        elif depth == 0 and parens == 0 and not is_old_style(code[start:at]):
            head = code[start:at]
            yield head.strip(), line_of(ends, start + len(head) - len(head.lstrip())), None, None
            start = at + 1
    if depth:
        raise BraceError(f"line {line_of(ends, head_end)}: the brace that opens here never closes")


def line_of(ends, at):
    """The line, from 1, of a place in a text whose lines end at these places."""
    return bisect.bisect_left(ends, at) + 1


def functions(text):
    """The functions of a C file, in order; macros of more than one line count as functions too."""
    code = without_comments(text)
    found = []
    for head, line, opening, closing in top_level(without_directives(code)):
        named = function_name(head) if opening else None
        if named:
            name, begin, is_macro = named
            lead = head[begin:]
            skip = head[:begin].count("\n") + lead[:len(lead) - len(lead.lstrip())].count("\n")
            found.append(Function(name, head, line + skip, opening, closing, is_macro))
    for first, last, word, directive in directives(code):
        name = re.match(r"\s*#\s*define\s+(\w+)\(", directive)
        if word == "define" and name and last > first:
            found.append(Function(name.group(1), "static", first, first, last, False))
    return sorted(found, key=lambda f: f.first)
