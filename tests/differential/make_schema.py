"""Random schemas and values.  Both draw on few names and few scalars, so that a rule often meets a value it applies to.

What ajv always gets wrong is left out: dynamic references, most fractions in multipleOf, numbers beyond the exact doubles, and the
empty name where names are required.
"""
import json
import random

NAMES = ["a", "b", "c", "ab", "x1", "", "a b", "é"]
NAMED = [name for name in NAMES if name]
SCALARS = [None, True, False, 0, 1, 2, 3, 5, 10, -1, 1.0, 1.5, 2.5, "", "a", "b", "ab", "abc", "1", "é", "😀", "a b", "x\n"]
TYPES = ["null", "boolean", "number", "integer", "string", "array", "object"]
# A pattern of ECMA-262, and how Python writes the same.
PATTERNS = {"a": "a", "^a": "^a", "b$": "b\\Z", "^[a-c]+$": "^[a-c]+\\Z", "^.$": "^.\\Z", "\\d": "[0-9]", "^\\w*$": "^[A-Za-z0-9_]*\\Z",
            "^\\S+$": "^\\S+\\Z", "(a|b)\\1": "(a|b)\\1", "^$": "^\\Z", "[^a]": "[^a]", "é": "é", "^\\p{L}": "^[^\\W\\d_]",
            "x\\s": "x\\s", "^(?=a)": "^(?=a)", "^(?!a)": "^(?!a)", "a{2}": "a{2}", "^.{1,2}$": "^.{1,2}\\Z", "a b": "a b",
            "^x": "^x", "[\\s\\S]": "[\\s\\S]", "^[^\\S]": "^\\s", "(?<=a)b": "(?<=a)b", "a?b+?c*": "a?b+?c*"}
DEPTH = 3


class Maker:
    """Makes a schema at a time, and values for it."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.number = 0
        self.definitions = 0  # how many the schema in the making has
        self.makers = [self.type, self.type, self.enum, self.const, self.limit, self.limit, self.length, self.pattern, self.items,
                       self.prefix, self.contained, self.count, self.unique, self.properties, self.properties, self.patterns,
                       self.additional, self.names, self.required, self.members, self.needs, self.dependents, self.all_of,
                       self.any_of, self.one_of, self.negation, self.condition, self.unevaluated, self.unevaluated,
                       self.reference, self.reference, self.note]

    def below(self, n):
        return int(self.chance.random() * n)

    def pick(self, items):
        return items[self.below(len(items))]

    def often(self, share):
        return self.chance.random() < share

    def some(self, make, most):
        return [make() for _ in range(1 + self.below(most))]

    def some_names(self, most, names=NAMES):
        return list(dict.fromkeys(self.some(lambda: self.pick(names), most)))

    # --------------------------------------------------------------------- schemas
    # Each takes the depth and the number of the definition it is in, and returns some keywords.

    def type(self, depth, place):
        return {"type": self.pick(TYPES) if self.often(0.7) else list(dict.fromkeys(self.some(lambda: self.pick(TYPES), 3)))}

    def enum(self, depth, place):
        return {"enum": self.some(lambda: self.value(DEPTH - 1), 4)}

    def const(self, depth, place):
        return {"const": self.value(DEPTH - 1)}

    def limit(self, depth, place):
        if self.often(0.2):
            return {"multipleOf": self.pick([1, 2, 3, 5, 0.5])}
        name = self.pick(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
        return {name: self.pick([-1, 0, 1, 1.5, 2, 3, 10])}

    def length(self, depth, place):
        return {self.pick(["minLength", "maxLength"]): self.pick([0, 1, 2, 2.0, 3])}

    def pattern(self, depth, place):
        return {"pattern": self.pick([*PATTERNS])}

    def items(self, depth, place):
        return {"items": self.schema(depth + 1)}

    def prefix(self, depth, place):
        return {"prefixItems": self.some(lambda: self.schema(depth + 1), 3)}

    def contained(self, depth, place):
        made = {"contains": self.schema(depth + 1)}
        for name in ("minContains", "maxContains"):
            if self.often(0.3):
                made[name] = self.below(3)
        return made

    def count(self, depth, place):
        return {self.pick(["minItems", "maxItems"]): self.below(4)}

    def unique(self, depth, place):
        return {"uniqueItems": self.often(0.8)}

    def properties(self, depth, place):
        return {"properties": {name: self.schema(depth + 1) for name in self.some_names(4)}}

    def patterns(self, depth, place):
        return {"patternProperties": {self.pick([*PATTERNS]): self.schema(depth + 1) for _ in range(1 + self.below(2))}}

    def additional(self, depth, place):
        return {"additionalProperties": False if self.often(0.4) else self.schema(depth + 1)}

    def names(self, depth, place):
        return {"propertyNames": self.schema(depth + 1)}

    def required(self, depth, place):
        return {"required": self.some_names(3, NAMED)}

    def members(self, depth, place):
        return {self.pick(["minProperties", "maxProperties"]): self.below(4)}

    def needs(self, depth, place):
        return {"dependentRequired": {name: self.some_names(2, NAMED) for name in self.some_names(2)}}

    def dependents(self, depth, place):
        return {"dependentSchemas": {name: self.schema(depth + 1, place) for name in self.some_names(2)}}

    def all_of(self, depth, place):
        return {"allOf": self.some(lambda: self.schema(depth + 1, place), 3)}

    def any_of(self, depth, place):
        return {"anyOf": self.some(lambda: self.schema(depth + 1, place), 3)}

    def one_of(self, depth, place):
        return {"oneOf": self.some(lambda: self.schema(depth + 1, place), 3)}

    def negation(self, depth, place):
        return {"not": self.schema(depth + 1, place)}

    def condition(self, depth, place):
        made = {"if": self.schema(depth + 1, place)}
        for name in self.pick([("then",), ("else",), ("then", "else"), ()]):
            made[name] = self.schema(depth + 1, place)
        return made

    def unevaluated(self, depth, place):
        name = self.pick(["unevaluatedProperties", "unevaluatedItems"])
        return {name: False if self.often(0.6) else self.schema(depth + 1)}

    def reference(self, depth, place):
        """At the same place of the value only forward, so that no reference goes round without end."""
        first = 0 if place is None else place + 1
        if place is None and self.often(0.2):
            return {"$ref": "#"}
        if first >= self.definitions:
            return {}
        number = first + self.below(self.definitions - first)
        return {"$ref": self.pick([f"#/$defs/d{number}", f"#n{number}", f"d{number}.json"])}

    def note(self, depth, place):
        return self.pick([{"title": "x"}, {"format": "date"}, {"default": 1}, {"mine": {"type": 5}}, {"$comment": "c"},
                          {"deprecated": True}, {"examples": [1]}, {"contentMediaType": "application/json"}])

    def schema(self, depth, place=None):
        """A subschema.  place: the number of the definition that it applies to the same value; None: to a part of it."""
        if depth > DEPTH or self.often(0.08):
            return self.often(0.7)
        made = {}
        for _ in range(1 + self.below(4 if depth < 2 else 2)):
            made.update(self.pick(self.makers)(depth, place))
        return made

    def document(self):
        """A whole schema.  The root counts as the definition before the first."""
        self.number += 1
        self.definitions = self.below(4)
        made = self.schema(0, -1)
        if not isinstance(made, dict) or not self.definitions:
            return made
        made["$id"] = f"http://x.test/{self.number}/root.json"
        made["$defs"] = {}
        for number in range(self.definitions):
            inner = self.schema(1, number)
            inner = inner if isinstance(inner, dict) else {}
            made["$defs"][f"d{number}"] = inner
        self.name_definitions(made["$defs"])
        return made

    def name_definitions(self, definitions):
        """Gives each an anchor and an address.  With an address of its own a definition means itself by #, so the anchors of
        the others must be found from there: references inside are made by address."""
        for number in range(self.definitions):
            wrapped = definitions[f"d{number}"]
            definitions[f"d{number}"] = {"$anchor": f"n{number}", **wrapped}
            definitions[f"e{number}"] = {"$id": f"d{number}.json", "$ref": f"root.json#n{number}"}

    # ---------------------------------------------------------------------- values

    def value(self, depth=0):
        kind = self.below(10)
        if depth >= DEPTH or kind < 4:
            return self.pick(SCALARS)
        if kind < 7:
            return [self.value(depth + 1) for _ in range(self.below(4))]
        return {name: self.value(depth + 1) for name in self.some_names(4)} if kind < 9 else {}

    def fitting(self, schema, depth=0):
        """A value that may well be valid: it follows one or two keywords."""
        if not isinstance(schema, dict) or depth > DEPTH or self.often(0.1):
            return self.value(depth)
        if "const" in schema and self.often(0.8):
            return schema["const"]
        if "enum" in schema and self.often(0.8):
            return self.pick(schema["enum"])
        for name in ("allOf", "anyOf", "oneOf"):
            if name in schema and self.often(0.4):
                return self.fitting(self.pick(schema[name]), depth + 1)
        for name in ("then", "else", "if"):
            if name in schema and self.often(0.3):
                return self.fitting(schema[name], depth + 1)
        return self.of_kind(schema, depth)

    def of_kind(self, schema, depth):
        """By the type that a schema asks for, or that its keywords speak of."""
        wanted = schema.get("type")
        wanted = self.pick(wanted) if isinstance(wanted, list) else wanted
        if wanted is None and any(name in schema for name in ("properties", "required", "unevaluatedProperties", "dependentSchemas")):
            wanted = "object"
        if wanted is None and any(name in schema for name in ("items", "prefixItems", "contains", "unevaluatedItems")):
            wanted = "array"
        if wanted == "object":
            known = schema.get("properties", {})
            names = [name for name in [*known, *schema.get("required", [])] if self.often(0.7)]
            return {name: self.fitting(known.get(name, True), depth + 1) for name in names + ([] if self.often(0.6) else self.some_names(1))}
        if wanted == "array":
            items = [self.fitting(item, depth + 1) for item in schema.get("prefixItems", [])]
            return items + [self.fitting(schema.get("items", schema.get("contains", True)), depth + 1) for _ in range(self.below(3))]
        fit = {"null": lambda v: v is None, "boolean": lambda v: isinstance(v, bool), "string": lambda v: isinstance(v, str),
               "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool), "integer": lambda v: type(v) is int}
        return self.pick([v for v in SCALARS if fit[wanted](v)]) if wanted in fit else self.value(depth)

    def pairs(self, count):
        """Yields (schema text, value text): a few values for each schema."""
        made = 0
        while made < count:
            schema = self.document()
            text = json.dumps(schema, ensure_ascii=False)
            for _ in range(min(5, count - made)):
                value = self.fitting(schema) if self.often(0.7) else self.value()
                yield text, json.dumps(value, ensure_ascii=False)
                made += 1
