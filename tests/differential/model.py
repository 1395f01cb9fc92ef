"""JSON Schema 2020-12 as short as it can be said: what the specification writes, without care for speed or messages.

A second opinion for schemas of make_schema.py.  It knows their ways of referring to definitions, and their patterns.
Validation of a place gives None when the value is invalid there, or the names and indexes that were evaluated.
"""
import re
from fractions import Fraction

from make_schema import PATTERNS


def matches(pattern, text):
    return re.search(PATTERNS[pattern], text) is not None


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def is_integer(v):
    return is_number(v) and v == int(v)


IS_TYPE = {"null": lambda v: v is None, "boolean": lambda v: isinstance(v, bool), "number": is_number, "integer": is_integer,
           "string": lambda v: isinstance(v, str), "array": lambda v: isinstance(v, list), "object": lambda v: isinstance(v, dict)}


def same(a, b):
    if is_number(a) and is_number(b):
        return a == b
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return a == b


class Model:
    """One schema."""

    def __init__(self, schema):
        self.root = schema

    def target(self, reference):
        if reference == "#":
            return self.root
        number = re.search(r"\d+", reference).group()
        return self.root["$defs"]["d" + number]

    def valid(self, schema, value):
        return self.check(schema, value) is not None

    def check(self, schema, value):
        """The names and indexes that were evaluated, or None."""
        if isinstance(schema, bool):
            return set() if schema else None
        if not self.assertions(schema, value):
            return None
        seen = set()
        for found in self.in_place(schema, value):
            if found is None:
                return None
            seen |= found
        parts = self.object(schema, value) if isinstance(value, dict) else self.array(schema, value) if isinstance(value, list) else set()
        if parts is None:
            return None
        return self.unevaluated(schema, value, seen | parts)

    # ------------------------------------------------------------------ the value itself

    def assertions(self, schema, value):
        types = schema.get("type", list(IS_TYPE))
        types = types if isinstance(types, list) else [types]
        return (any(IS_TYPE[name](value) for name in types)
                and ("const" not in schema or same(schema["const"], value))
                and ("enum" not in schema or any(same(item, value) for item in schema["enum"]))
                and (not is_number(value) or self.number(schema, value))
                and (not isinstance(value, str) or self.string(schema, value)))

    @staticmethod
    def number(schema, v):
        return (v >= schema.get("minimum", v) and v <= schema.get("maximum", v)
                and ("exclusiveMinimum" not in schema or v > schema["exclusiveMinimum"])
                and ("exclusiveMaximum" not in schema or v < schema["exclusiveMaximum"])
                and (Fraction(v) / Fraction(schema.get("multipleOf", Fraction(v) or 1))).denominator == 1)

    @staticmethod
    def string(schema, v):
        return (schema.get("minLength", 0) <= len(v) <= schema.get("maxLength", len(v))
                and ("pattern" not in schema or matches(schema["pattern"], v)))

    # ------------------------------------------------------------- schemas at the same place

    def in_place(self, schema, value):
        """What each of them evaluated, or None when it must hold and does not."""
        if "$ref" in schema:
            yield self.check(self.target(schema["$ref"]), value)
        for inner in schema.get("allOf", []):
            yield self.check(inner, value)
        for name, wrong in (("anyOf", lambda n: n == 0), ("oneOf", lambda n: n != 1)):
            held = [found for found in (self.check(inner, value) for inner in schema.get(name, [])) if found is not None]
            yield None if name in schema and wrong(len(held)) else set().union(*held)
        if "not" in schema:
            yield None if self.valid(schema["not"], value) else set()
        if "if" in schema:
            condition = self.check(schema["if"], value)
            yield condition or set()
            yield self.check(schema.get("else" if condition is None else "then", True), value)
        for name, inner in schema.get("dependentSchemas", {}).items():
            yield self.check(inner, value) if isinstance(value, dict) and name in value else set()

    # ------------------------------------------------------------------------- its parts

    def object(self, schema, value):
        seen = set()
        for name, item in value.items():
            rules = [schema["properties"][name]] if name in schema.get("properties", {}) else []
            rules += [inner for pattern, inner in schema.get("patternProperties", {}).items() if matches(pattern, name)]
            if not rules and "additionalProperties" in schema:
                rules = [schema["additionalProperties"]]
            if not all(self.valid(inner, item) for inner in rules) or not self.valid(schema.get("propertyNames", True), name):
                return None
            seen |= {name} if rules else set()
        needed = [*schema.get("required", [])]
        for name, names in schema.get("dependentRequired", {}).items():
            needed += names if name in value else []
        enough = schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value))
        return seen if enough and all(name in value for name in needed) else None

    def array(self, schema, value):
        seen = set()
        prefix = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            rule = prefix[index] if index < len(prefix) else schema.get("items")
            if rule is not None and not self.valid(rule, item):
                return None
            seen |= {index} if rule is not None else set()
        if "contains" in schema:
            found = {index for index, item in enumerate(value) if self.valid(schema["contains"], item)}
            if not schema.get("minContains", 1) <= len(found) <= schema.get("maxContains", len(value)):
                return None
            seen |= found
        twins = schema.get("uniqueItems") and any(same(a, b) for i, a in enumerate(value) for b in value[:i])
        return seen if schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and not twins else None

    def unevaluated(self, schema, value, seen):
        keyword = {dict: "unevaluatedProperties", list: "unevaluatedItems"}.get(type(value))
        if keyword not in schema:
            return seen
        for part, item in value.items() if isinstance(value, dict) else enumerate(value):
            if part not in seen and not self.valid(schema[keyword], item):
                return None
        return set(value) if isinstance(value, dict) else set(range(len(value)))


def judge(schema, value):
    """"+" or "-"."""
    return "+" if Model(schema).valid(schema, value) else "-"
