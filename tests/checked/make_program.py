"""Random programs with tools whose results fit their signatures, mostly right ones.

What is made from a seed is the same every time.  A program knows the type of every name in its scope; now and then a value
of another type, or a key that is not there, is put where it does not belong.
"""
import random

STRINGS = ["ada", "bob", "x-1", "", "12", "urgent"]
KEYS = ["id", "name", "total", "status", "note", "tags", "unit_price", "lines", "city", "owner"]
NEAR = {"id": "ids", "name": "nam", "total": "totals", "unit_price": "price", "status": "state", "lines": "line"}


def listof(t):
    return ("list", t)


def is_(t, kind):
    return isinstance(t, tuple) and t[0] == kind


class Make:
    """One program.  wrong: of a hundred values, how many are of another type."""

    def __init__(self, seed, wrong=3, size=5):
        self.r = random.Random(seed)
        self.wrong = wrong
        self.size = size
        self.names = 0
        self.left = 160
        self.tools = {}
        self.types = {}
        self.in_fn = 0
        self.returns = self.r.random() < 0.4
        self.scope = []
        for i in range(self.r.randint(2, 4)):
            self.add_tool(f"t{i}")
        self.tools["save"] = {"value": True, "read_only": False, "signature": "(x :any) -> :bool"}
        self.types["save"] = "bool"
        self.context_type = self.map_type(2)
        self.context = None

    # ------------------------------------------------------------------------------- types

    def scalar_type(self):
        return self.r.choice(["int", "int", "float", "str", "str", "bool"])

    def map_type(self, depth):
        fields = {}
        for key in self.r.sample(KEYS, self.r.randint(1, 4)):
            t = self.any_type(depth - 1)
            fields[key] = (t, self.r.random() < 0.25)
        return ("map", fields)

    def any_type(self, depth):
        n = self.r.random()
        if depth <= 0 or n < 0.5:
            return self.scalar_type()
        if n < 0.75:
            return listof(self.any_type(depth - 1))
        return self.map_type(depth)

    def text_of(self, t):
        if is_(t, "list"):
            return f"[{self.text_of(t[1])}]"
        if is_(t, "map"):
            inner = ", ".join(f"{k} {self.text_of(u)}{'?' if o else ''}" for k, (u, o) in t[1].items())
            return "{" + inner + "}"
        return {"int": ":int", "float": ":float", "str": ":string", "bool": ":bool"}[t]

    def value_of(self, t, r):
        """Some value that fits, as JSON; lists have two elements at least."""
        if is_(t, "list"):
            return [self.value_of(t[1], r) for _ in range(r.randint(2, 3))]
        if is_(t, "map"):
            out = {}
            for k, (u, optional) in t[1].items():
                if optional and r.random() < 0.5:
                    if r.random() < 0.5:
                        out[k] = None
                    continue
                out[k] = self.value_of(u, r)
            return out
        if t == "int":
            return r.choice([0, 1, 2, -3, 40])
        if t == "float":
            return r.choice([0.5, 1.25, -2.0, 3.75])
        return r.choice(STRINGS) if t == "str" else r.random() < 0.5

    def add_tool(self, name):
        n = self.r.random()
        t = listof(self.map_type(3)) if n < 0.5 else self.map_type(3) if n < 0.75 else listof(self.scalar_type())
        self.types[name] = t
        self.tools[name] = {"signature": f"() -> {self.text_of(t)}"}

    def data(self, seed):
        """The tools and the context with other values."""
        r = random.Random(seed)
        tools = {n: dict(t) for n, t in self.tools.items()}
        for name, t in self.types.items():
            if name != "save":
                tools[name]["value"] = self.value_of(t, r)
        return tools, {"cfg": self.value_of(self.context_type, r)}

    # --------------------------------------------------------------------------- expressions

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def chance(self, percent):
        return self.r.random() * 100 < percent

    def with_names(self, pairs, make):
        old = list(self.scope)
        self.scope += pairs
        out = make()
        self.scope = old
        return out

    def key(self, k):
        n = self.r.random()
        k = k.replace("_", "-") if self.chance(50) else k
        return f'"{k}"' if n < 0.1 else f":{k}"

    def literal(self, t):
        r = self.r
        if is_(t, "maybe"):
            return self.literal(t[1]) if self.chance(60) else "nil"
        if is_(t, "list"):
            return "[" + " ".join(self.literal(t[1]) for _ in range(r.randint(0, 3))) + "]"
        if is_(t, "dict"):
            return "{" + " ".join(f":{k} {self.literal(t[1])}" for k in r.sample(KEYS, r.randint(0, 2))) + "}"
        if is_(t, "map"):
            return "{" + " ".join(f"{self.key(k)} {self.literal(u)}" for k, (u, o) in t[1].items() if not o or r.random() < 0.5) + "}"
        if is_(t, "fn"):
            return self.function(t, 0)
        if t == "int":
            return str(r.choice([0, 1, 2, 3, -1, 10]))
        if t == "float":
            return r.choice(["0.5", "1.0", "-2.25"])
        if t == "str":
            return '"' + r.choice(STRINGS) + '"'
        if t == "kw":
            return ":" + r.choice(KEYS)
        return r.choice(["true", "false"]) if t == "bool" else "nil"

    def paths(self, want):
        """Expressions without calls that are of the type: names in scope, members of maps that they are."""
        found = []
        for name, t in self.scope:
            if t == want:
                found.append(name)
            if is_(t, "map"):
                for k, (u, optional) in t[1].items():
                    if u == want and (not optional or self.chance(15)):
                        found.append(self.look_up(name, k))
                    if optional and is_(want, "maybe") and want[1] == u:
                        found.append(self.look_up(name, k))
                    if is_(u, "map") and not optional:
                        for k2, (u2, o2) in u[1].items():
                            if u2 == want and not o2:
                                found.append(self.r.choice([f"(get-in {name} [{self.key(k)} {self.key(k2)}])",
                                                            f"(-> {name} {self.plain_key(k)} {self.plain_key(k2)})",
                                                            f"(:{k2} (:{k} {name}))"]))
            if is_(t, "list") and t[1] == want and self.chance(30):
                found.append(self.r.choice([f"(first {name})", f"(last {name})", f"(nth {name} 0)", f"(second {name})"]))
            if is_(t, "list") and is_(t[1], "map") and self.chance(40):
                for k, (u, o) in t[1][1].items():
                    if u == want and not o:
                        found.append(self.look_up(f"(first {name})", k))
        return found

    def plain_key(self, k):
        return ":" + (k.replace("_", "-") if self.chance(50) else k)

    def look_up(self, m, k):
        return self.r.choice([f"({self.plain_key(k)} {m})", f"({self.plain_key(k)} {m})", f"(get {m} {self.key(k)})",
                              f"({m} {self.plain_key(k)})" if m[0] != "(" else f"(:{k} {m})"])

    def make(self, t, depth):
        """An expression of a type; now and then of another."""
        self.left -= 1
        if self.chance(self.wrong) and not is_(t, "fn"):
            t = self.r.choice(["int", "str", "bool", "nil", "kw", listof("int"), listof("str"), ("map", {"id": ("int", False)}), ("maybe", t)])
        if depth <= 0 or self.left <= 0:
            found = self.paths(t)
            return self.r.choice(found) if found and self.chance(85) else self.literal(t)
        n = self.r.random()
        if n < 0.3:
            found = self.paths(t)
            if found:
                return self.wrong_key(self.r.choice(found))
        if n < 0.62:
            return self.special(t, depth - 1)
        return self.typed(t, depth - 1)

    def wrong_key(self, text):
        if self.chance(2 * self.wrong):
            for k, near in NEAR.items():
                if f":{k} " in text:
                    return text.replace(f":{k} ", f":{self.r.choice([near, 'zzz'])} ")
        return text

    def typed(self, t, depth):
        if is_(t, "maybe"):
            return self.make(t[1], depth) if self.chance(60) else self.maybe(t[1], depth)
        if is_(t, "list"):
            return self.a_list(t[1], depth)
        if is_(t, "map"):
            return self.a_map(t, depth)
        if is_(t, "dict"):
            return self.a_dict(t[1], depth)
        if is_(t, "fn"):
            return self.function(t, depth)
        return {"int": self.an_int, "float": self.a_float, "str": self.a_str, "bool": self.a_bool}.get(t, lambda d: self.literal(t))(depth)

    # ----------------------------------------------------------------------------- by type

    def source(self, depth, t=None):
        """A list and the type of its elements."""
        lists = [(n, u[1]) for n, u in self.scope if is_(u, "list") and (t is None or u[1] == t)]
        if lists and self.chance(70):
            return self.r.choice(lists)
        t = t or self.any_type(2)
        return self.make(listof(t), depth), t

    def number(self, depth):
        return self.make(self.r.choice(["int", "int", "float"]), depth)

    def an_int(self, depth):
        m = self.make
        n = self.r.randrange(16)
        coll, item = self.source(depth)
        if n < 4:
            return f"({self.r.choice(['+', '-', '*', 'max', 'min'])} {m('int', depth)} {m('int', depth)})"
        if n < 6:
            return f"(count {coll})"
        if n == 6:
            return f"(reduce + {m('int', depth)} {m(listof('int'), depth)})"
        if n == 7:
            return f"(apply {self.r.choice(['+', 'max', '+ 1'])} 0 {m(listof('int'), depth)})"
        if n == 8:
            f = self.function(("fn", [item], "int"), depth)
            return f"(reduce (fn [a x] (+ a ({f} x))) 0 {coll})"
        if n == 9:
            f = self.function(("fn", [item], "int"), depth)
            return f"(sum-by {f} {coll})"
        if n == 10:
            return f"(let [a (atom {m('int', depth)})] (swap! a + {m('int', depth)}) @a)"
        if n == 11:
            return f"(reduce (fn [a x] (if (> a 3) (reduced a) (+ a {self.with_names([('x', item), ('a', 'int')], lambda: m('int', depth - 1))}))) 0 {coll})"
        if n == 12:
            return f"(transduce (map {self.function(('fn', [item], 'int'), depth)}) + {coll})"
        if n == 13:
            return f"(get (frequencies {coll}) {m(item, depth)} 0)"
        if n == 14:
            return f"(or {m(('maybe', 'int'), depth)} {m('int', depth)})"
        return f"(inc {m('int', depth)})"

    def a_float(self, depth):
        n = self.r.randrange(4)
        if n == 0:
            return f"(+ 0.5 {self.number(depth)})"
        if n == 1:
            return f"(double {self.number(depth)})"
        return f"({self.r.choice(['+', '-', '*'])} {self.make('float', depth)} {self.number(depth)})"

    def a_str(self, depth):
        m = self.make
        n = self.r.randrange(7)
        if n < 2:
            return f"(str {m(self.any_type(1), depth)} {m('str', depth)})"
        if n == 2:
            return f"(str/{self.r.choice(['upper-case', 'trim', 'lower-case'])} {m('str', depth)})"
        if n == 3:
            return f'(str/join "," {self.source(depth)[0]})'
        if n == 4:
            return f"(name {m('kw', depth)})"
        if n == 5:
            return f"(or {m(('maybe', 'str'), depth)} {m('str', depth)})"
        return f'(str/replace {m("str", depth)} "a" {m("str", depth)})'

    def a_bool(self, depth):
        m = self.make
        n = self.r.randrange(9)
        if n == 0:
            return f"({self.r.choice(['<', '>', '<=', '='])} {self.number(depth)} {self.number(depth)})"
        if n == 1:
            t = self.any_type(1)
            return f"(= {m(t, depth)} {m(t, depth)})"
        if n == 2:
            return f"(not {m('bool', depth)})"
        if n == 3:
            return f"({self.r.choice(['some?', 'nil?'])} {m(('maybe', self.scalar_type()), depth)})"
        if n == 4:
            coll, item = self.source(depth)
            return f"({self.r.choice(['every?', 'not-any?'])} {self.function(('fn', [item], 'bool'), depth)} {coll})"
        if n == 5:
            return f"(empty? {self.source(depth)[0]})"
        if n == 6:
            return f"({self.r.choice(['string?', 'number?', 'map?', 'int?', 'coll?', 'keyword?'])} {m(self.any_type(1), depth)})"
        if n == 7:
            return f"(contains? #{{{m('int', depth)}}} {m('int', depth)})" if self.chance(40) else f'(str/starts-with? {m("str", depth)} "a")'
        return f"({self.r.choice(['and', 'or'])} {m('bool', depth)} {m('bool', depth)})"

    def maybe(self, t, depth):
        n = self.r.randrange(6)
        if n == 0:
            return f"(when {self.make('bool', depth)} {self.make(t, depth)})"
        if n == 1:
            return f"(first {self.make(listof(t), depth)})"
        if n == 2:
            coll, item = self.source(depth, t)
            return f"(first (filter {self.function(('fn', [item], 'bool'), depth)} {coll}))"
        if n == 3:
            coll, item = self.source(depth)
            return f"(some {self.function(('fn', [item], ('maybe', t)), depth)} {coll})"
        if n == 4:
            return f"(get {self.make(('dict', t), depth)} {self.make('kw', depth)})"
        return f"(second {self.make(listof(t), depth)})"

    def a_list(self, t, depth):
        m = self.make
        coll, item = self.source(depth)
        f = lambda out: self.function(("fn", [item], out), depth)
        same = lambda: m(listof(t), depth)
        n = self.r.randrange(24)
        if n < 3:
            return f"({self.r.choice(['map', 'mapv', 'pmap'])} {f(t)} {coll})"
        if n == 3:
            return f"({self.r.choice(['filter', 'remove', 'filterv', 'take-while'])} {self.function(('fn', [t], 'bool'), depth)} {same()})"
        if n == 4:
            key = self.function(("fn", [t], self.r.choice(["int", "str"])), depth)
            return f"(sort-by {key} {self.r.choice(['', '', '> ' if 'int' else ''])}{same()})"
        if n == 5:
            return f"({self.r.choice(['take', 'drop', 'take-last'])} {self.r.randint(0, 3)} {same()})"
        if n == 6:
            return f"(concat {same()} {same()})"
        if n == 7:
            return f"(keep {f(('maybe', t))} {coll})"
        if n == 8:
            return f"(mapcat {f(listof(t))} {coll})"
        if n < 12:
            return self.a_for(t, coll, item, depth)
        if n == 12:
            return f"({self.r.choice(['reverse', 'vec', 'distinct', 'rest', 'butlast', 'shuffle', 'doall'])} {same()})"
        if n == 13:
            return f"(conj {same()} {m(t, depth)})"
        if n == 14:
            return f"(into {self.r.choice(['[]', '#{}'])} {same()})"
        if n == 15:
            return f"(into [] ({self.r.choice(['map', 'keep'])} {f(t)}) {coll})"
        if n == 16:
            x = self.name()
            body = self.with_names([(x, item), ("acc", listof(t))], lambda: m(t, depth - 1))
            return f"(reduce (fn [acc {x}] (conj acc {body})) [] {coll})"
        if n == 17:
            return f"(vals {m(('dict', t), depth)})"
        if n == 18:
            return f"(lazy-seq {same()})"
        if n == 19:
            x = self.name()
            body = self.with_names([(x, item), ("acc", listof(t))], lambda: m(t, depth - 1))
            return f"(loop [xs {coll} acc []] (if (empty? xs) acc (let [{x} (first xs)] (recur (rest xs) (conj acc {body})))))"
        if n == 20:
            return f"(map-indexed (fn [i x] {self.with_names([('i', 'int'), ('x', item)], lambda: m(t, depth - 1))}) {coll})"
        if n == 21:
            return f"[{m(t, depth)} {m(t, depth)}]"
        if n == 22:
            return f"((juxt {f(t)} {f(t)}) {m(item, depth)})"
        return f"(take {self.r.randint(0, 2)} (repeatedly (fn [] {m(t, depth)})))"

    def a_for(self, t, coll, item, depth):
        bind, names = self.pattern(item)
        extra = ""
        old = list(self.scope)
        self.scope += names
        if self.chance(40):
            extra += f" :when {self.make('bool', depth - 1)}"
        if self.chance(20):
            extra += f" :while {self.make('bool', depth - 1)}"
        if self.chance(30):
            u = self.any_type(1)
            x = self.name()
            extra += f" :let [{x} {self.make(u, depth - 1)}]"
            self.scope.append((x, u))
        if self.chance(20):
            inner, u = self.source(depth - 1)
            x = self.name()
            extra += f" {x} {inner}"
            self.scope.append((x, u))
        out = f"(for [{bind} {coll}{extra}] {self.make(t, depth - 1)})"
        self.scope = old
        return out

    def pattern(self, t):
        """A binding form for a value of a type, and the names it binds."""
        x = self.name()
        if is_(t, "map") and self.chance(45):
            keys = [k for k in t[1] if k not in [n for n, _ in self.scope]]
            names = [(k, ("maybe", u) if o else u) for k, (u, o) in t[1].items() if k in keys]
            if keys:
                form = self.r.choice(["keys", "keys", "strs"])
                whole = f" :as {x}" if self.chance(50) else ""
                return f"{{:{form} [{' '.join(keys)}]{whole}}}", names + ([(x, t)] if whole else [])
        if is_(t, "list") and self.chance(30):
            y = self.name()
            return f"[{x} & {y}]", [(x, ("maybe", t[1])), (y, listof(t[1]))]
        return x, [(x, t)]

    def a_map(self, t, depth):
        m = self.make
        fields = t[1]
        n = self.r.randrange(8)
        lists = [name for name, u in self.scope if is_(u, "list") and u[1] == t]
        if lists and n < 4:
            return self.r.choice([f"(first {lists[0]})", f"(nth {lists[-1]} 1)", f"(last {lists[0]})"])
        k, (u, o) = self.r.choice(list(fields.items())) if fields else ("id", ("int", False))
        if n == 4:
            return f"(assoc {m(t, depth)} {self.key(k)} {m(u, depth)})"
        if n == 5:
            return f"(merge {m(t, depth)} {{{self.plain_key(k)} {m(u, depth)}}})"
        if n == 6 and not o:
            return f"(update {m(t, depth)} {self.key(k)} {self.function(('fn', [u], u), depth)})"
        if n == 7:
            return f"(select-keys {m(t, depth)} [{' '.join(self.plain_key(k) for k in fields)}])"
        return "{" + " ".join(f"{self.plain_key(k)} {m(u, depth)}" for k, (u, o) in fields.items() if not o or self.chance(60)) + "}"

    def a_dict(self, t, depth):
        coll, item = self.source(depth)
        key = lambda i: self.function(("fn", [i], self.r.choice(["str", "int", "bool"])), depth)
        n = self.r.randrange(6)
        if n == 0 and is_(t, "list"):
            c, i = self.source(depth, t[1])
            return f"(group-by {key(i)} {c})"
        if n == 1:
            return f"(zipmap {self.make(listof('str'), depth)} {self.make(listof(t), depth)})"
        if n == 2:
            return f"(into {{}} (map (fn [x] [{self.with_names([('x', item)], lambda: self.make('str', depth - 1))} {self.with_names([('x', item)], lambda: self.make(t, depth - 1))}]) {coll}))"
        if n == 3:
            u = self.any_type(1)
            return f"(update-vals {self.make(('dict', u), depth)} {self.function(('fn', [u], t), depth)})"
        if n == 4:
            return f"(reduce (fn [m x] (assoc m {self.with_names([('x', item)], lambda: self.make('str', depth - 1))} {self.with_names([('x', item)], lambda: self.make(t, depth - 1))})) {{}} {coll})"
        return self.literal(("dict", t))

    def function(self, t, depth):
        """A function of one or more arguments, as an expression."""
        args, out = t[1], t[2]
        named = [n for n, u in self.scope if u == t]
        if named and self.chance(60):
            return self.r.choice(named)
        if len(args) == 1 and is_(args[0], "map") and self.chance(45):
            keys = [k for k, (u, o) in args[0][1].items() if (u == out and not o) or out == ("maybe", u) or (out == "bool" and o)]
            if keys:
                return self.plain_key(self.r.choice(keys))
        simple = {("int", "int"): ["inc", "dec", "(partial + 1)", "(comp inc inc)", "identity"], ("int", "bool"): ["odd?", "pos?", "#{1 2 3}", "#(> % 1)", "(complement zero?)"],
                  ("str", "str"): ["str/upper-case", "str/trim", "identity", "(partial str \"a\")"], ("str", "int"): ["count", "(comp inc count)"],
                  ("str", "bool"): ["empty?", "#{\"ada\"}", "(complement empty?)"]}.get((args[0], out) if len(args) == 1 and isinstance(args[0], str) and isinstance(out, str) else None)
        if simple and self.chance(50):
            return self.r.choice(simple)
        pairs, forms = [], []
        for a in args:
            form, names = self.pattern(a)
            forms.append(form)
            pairs += names
        self.in_fn += 1
        body = self.with_names(pairs, lambda: self.make(out, max(depth - 1, 0)))
        self.in_fn -= 1
        made = f"(fn [{' '.join(forms)}] {body})"
        if self.chance(6):
            return f"(memoize {made})"
        if self.chance(6):
            return f"(comp identity {made})"
        if self.chance(4):
            return f"(:f {{:f {made}}})"
        if self.chance(4):
            return f"(deref (atom {made}))"
        return made

    # ------------------------------------------------------------------------- special forms

    def bind_some(self, depth, make_body, form="let"):
        parts, old = [], list(self.scope)
        for _ in range(self.r.randint(1, 3)):
            t = self.r.choice([self.any_type(2), self.any_type(1), ("fn", [self.any_type(2)], self.scalar_type()), listof(self.map_type(1)),
                               ("maybe", self.scalar_type())])
            value, t = self.tool_value() if self.chance(35) else (self.make(t, depth), t)
            bind, names = self.pattern(t)
            parts.append(f"{bind} {value}")
            self.scope += names
        out = f"({form} [{' '.join(parts)}] {make_body()})"
        self.scope = old
        return out

    def tool_value(self):
        name = self.r.choice([n for n in self.types if n != "save"])
        return f"(tool/{name})", self.types[name]

    def narrowing(self, t, depth):
        """A value that may be nil, and a use of it behind a test."""
        u = self.scalar_type()
        value = self.make(("maybe", u), depth)
        x = self.name()
        there = lambda: self.with_names([(x, u)], lambda: self.make(t, depth))
        gone = self.make(t, depth)
        n = self.r.randrange(8)
        if n == 0:
            return f"(if-let [{x} {value}] {there()} {gone})"
        if n == 1:
            return f"(let [{x} {value}] (if (nil? {x}) {gone} {there()}))"
        if n == 2:
            return f"(let [{x} {value}] (if (some? {x}) {there()} {gone}))"
        if n == 3:
            return f"(let [{x} {value} ok (some? {x})] (if ok {there()} {gone}))"
        if n == 4:
            return f"(let [{x} {value}] (cond (nil? {x}) {gone} :else {there()}))"
        if n == 5 and self.returns:
            return f"(let [{x} {value}] (when-not (some? {x}) (return {gone})) {there()})"
        if n == 6:
            return f"(let [{x} (or {value} {self.literal(u)})] {there()})"
        return f"(or (when-let [{x} {value}] {there()}) {gone})"

    def special(self, t, depth):
        m = self.make
        n = self.r.randrange(19)
        if n < 5:
            return self.bind_some(depth, lambda: m(t, depth))
        if n == 5:
            return f"(if {m('bool', depth)} {m(t, depth)} {m(t, depth)})"
        if n == 6:
            return f"(cond {m('bool', depth)} {m(t, depth)} {m('bool', depth)} {m(t, depth)} :else {m(t, depth)})"
        if n == 7:
            return f'(case {m("str", depth)} "ada" {m(t, depth)} ("bob" "") {m(t, depth)} {m(t, depth)})'
        if n == 8:
            return self.narrowing(t, depth)
        if n == 9:
            what = self.r.choice([f"(tool/save {{:x {m(self.any_type(1), depth)}}})", f"(println {m(self.scalar_type(), depth)})"])
            return f"(do {what} {m(t, depth)})"
        if n == 10:
            body = m(t, depth)
            throws = f"(when {m('bool', depth)} (throw (ex-info \"no\" {{}}))) " if self.chance(40) else ""
            return f"(try {throws}{body} (catch Exception e {m(t, depth)}){' (finally 1)' if self.chance(20) else ''})"
        if n == 11 and self.returns:
            return f"(do (when {m('bool', depth)} (return {m(self.any_type(1), depth)})) {m(t, depth)})"
        if n == 12:
            arg = self.any_type(2)
            f = self.name()
            made = self.function(("fn", [arg], t), depth)
            return f"(let [{f} {made}] ({f} {m(arg, depth)}))"
        if n == 13:
            arg = self.any_type(1)
            return f"(apply {self.function(('fn', [arg], t), depth)} [{m(arg, depth)}])"
        if n == 14:
            arg = self.any_type(1)
            return f"(-> {m(arg, depth)} ({self.function(('fn', [arg], t), depth)}))"
        if n == 15:
            i = self.name()
            body = self.with_names([(i, "int"), ("acc", t)], lambda: m(t, depth))
            return f"(loop [{i} 0 acc {m(t, depth)}] (if (< {i} 2) (recur (inc {i}) {body}) acc))"
        if n == 16:
            f, arg = self.name(), self.any_type(1)
            x = self.name()
            base = self.with_names([(x, arg)], lambda: m(t, depth))
            return f"(let [{f} (fn {f} [n {x}] (if (pos? n) ({f} (dec n) {x}) {base}))] ({f} 2 {m(arg, depth)}))"
        if n == 17:
            return f"@(delay {m(t, depth)})"
        return self.narrowing(t, depth)

    # ----------------------------------------------------------------------------- programs

    def program(self):
        """Definitions and an expression."""
        parts = []
        for _ in range(self.r.randint(0, 3)):
            name = self.name()
            n = self.r.random()
            if n < 0.3:
                value, t = self.tool_value()
            elif n < 0.6:
                args = [self.any_type(2) for _ in range(self.r.randint(1, 2))]
                out = self.any_type(1)
                pairs, forms = [], []
                for a in args:
                    form, names = self.pattern(a)
                    forms.append(form)
                    pairs += names
                self.in_fn += 1
                body = self.with_names(pairs, lambda: self.make(out, self.size - 2))
                self.in_fn -= 1
                parts.append(f"(defn {name} [{' '.join(forms)}] {body})")
                self.scope.append((name, ("fn", args, out)))
                continue
            elif n < 0.7:
                value, t = "data/cfg", self.context_type
            else:
                t = self.any_type(2)
                value = self.make(t, self.size - 2)
            parts.append(f"(def {name} {value})")
            self.scope.append((name, t))
            if self.chance(10):
                parts.append(f"(defn re{name} [] (def {name} {self.make(t, 1)}))")
                parts.append(f"(re{name})")
        if self.chance(20):
            parts.append("(tool/save {:x 1})")
        parts.append(self.bind_some(self.size - 1, lambda: self.make(self.any_type(2), self.size)))
        return "\n".join(parts)
