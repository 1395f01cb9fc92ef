#!/usr/bin/env python3
"""Signatures: the cases of tests/boundary through `ptc-test-driver signature`, and `ptc signature` by hand.  test_signature.py PTC"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = sys.argv[1]
CASES = pathlib.Path(__file__).resolve().parent.parent / "boundary"

# Where we answer otherwise on purpose; docs/divergences/signatures.md says why.
DIVERGES = {
    "sv-198": "a name given twice is an error",
}


DRIVER = pathlib.Path(PTC).with_name("ptc-test-driver")


def run(*args, text="", program=PTC):
    done = subprocess.run([program, "signature", *args], input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def ask(requests):
    """One answer for each request, in order."""
    lines = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in requests)
    status, out, err = run(text=lines, program=DRIVER)
    check("status of a batch", status == 0 and err == "", (status, err))
    return [json.loads(line) for line in out.splitlines()]


def load(name):
    with open(CASES / f"{name}.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def plain(value):
    """What a tagged value is as JSON."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if not isinstance(value, dict):
        return value
    tags = [k for k in value if k.startswith("$")]
    if len(value) == 1 and tags:
        inner = value[tags[0]]
        return {plain(k): plain(v) for k, v in inner} if tags[0] == "$map" else plain(inner)
    return {k: plain(v) for k, v in value.items()}


def same(a, b):
    """Integers and floats are different; -0.0 is 0.0."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and a == b


def paths(answer):
    return [e["path"] for e in answer.get("errors", [])]


def judge_errors(expect, answer):
    return answer["ok"] == expect["valid"] and paths(answer) == paths(expect)


def judge_parse(expect, answer):
    if not expect["ok"]:
        return not answer["ok"] and answer["error"]["message"]
    return answer["ok"] and same(answer["params"], expect["params"]) and same(answer["return"], expect["return"])


def judge_validate(expect, answer):
    if not judge_errors(expect, answer):
        return False
    route = expect.get("json_route")
    return judge_errors(route, answer["json_route"]) if route else "json_route" not in answer


def judge_coerce(expect, answer):
    if not expect["ok"]:
        return not answer["ok"] and answer["errors"]
    return (answer["ok"] and same(answer["value"], plain(expect["value"]))
            and len(answer["warnings"]) == expect["warning_count"])


def closed(parameters, schema):
    """The expected parameters as we write them: what is not named there is refused."""
    return {**parameters, "additionalProperties": False} if "additionalProperties" in schema else parameters


def judge_schema(expect, answer):
    if not expect["parses"]:
        return not answer["ok"]
    tool, wanted = answer["tool_schema"], expect["tool"]
    if "function" in tool:
        wanted = {**wanted, "parameters": closed(wanted["parameters"], tool["function"]["parameters"])}
        ok = tool["type"] == expect["tool_type"] and same(tool["function"], wanted)
    else:
        ok = same(tool, closed(wanted["parameters"], tool))
    return (ok and answer["ok"] and same(answer["schema"], expect["return_schema"])
            and answer["returns_list"] == expect["returns_list"])


def test_cases(name, op, judge):
    cases = load(name)
    requests = []
    for case in cases:
        request = dict(case["input"], id=case["id"], op=op)
        if "type" in request:
            request["signature"] = request.pop("type")
        requests.append(request)
    answers = ask(requests)
    check(f"{name}: one answer a line", [a["id"] for a in answers] == [c["id"] for c in cases], len(answers))
    for case, answer in zip(cases, answers):
        ok = judge(case["expect"], answer)
        if case["id"] in DIVERGES:
            check(f"{case['id']} diverges still", not ok, answer)
        else:
            check(case["id"], ok, answer)


def test_import():
    cases = load("schema_import")
    ask_all = [dict(c["input"], id=c["id"], op=op) for c in cases for op in ("parse", "schema", "validate")]
    answers = iter(ask(ask_all))
    for case in cases:
        expect = case["expect"]
        parse, schema, validate = next(answers), next(answers), next(answers)
        check(case["id"], parse["ok"] == expect["ok"], parse)
        if not expect["ok"]:
            check(f"{case['id']} says why", parse["error"]["message"], parse)
            continue
        check(f"{case['id']} type", same(parse["return"], expect["type"]), parse)
        if "exported" in expect:
            check(f"{case['id']} export", same(schema["schema"], expect["exported"]), schema)
        if "valid" in expect:
            check(f"{case['id']} value", judge_errors(expect, validate), validate)


def test_prints_parse_back():
    """What `parse` prints is the same signature, and prints the same."""
    texts = [c["input"]["signature"] for c in load("signature_parse") if c["expect"]["ok"]]
    first = ask([{"signature": t, "op": "parse"} for t in texts])
    second = ask([{"signature": a["text"], "op": "parse"} for a in first])
    for text, a, b in zip(texts, first, second):
        check(f"prints back: {text}", a == b, (a, b))


def test_bad_lines():
    answers = ask(["nonsense", "[1]", "", {"id": 1}, {"id": 2, "signature": ":int", "op": "chek"},
                   {"id": 3, "signature": ":int", "op": "validate"},
                   {"id": 4, "signature": ":int", "op": "validate", "value": 1, "mode": "loose"},
                   {"id": {"a": 1}, "signature": ":intt", "op": "parse"},
                   {"id": 5, "signature": "{a :int, b :int, a :int}", "op": "parse"},
                   {"id": 6, "signature": ":int", "op": "parse"}])
    check("bad lines: count", len(answers) == 9, answers)
    for a in answers[:-1]:
        check("bad lines: ok false and a message", not a["ok"] and a["error"]["message"], a)
    reasons = [a.get("reason") for a in answers]
    check("bad lines: reasons", reasons == ["args_error"] * 6 + ["parse_error"] * 2 + [None], reasons)
    check("bad lines: id of any kind", answers[6]["id"] == {"a": 1}, answers[6])
    check("bad lines: nearest", "did you mean :int?" in answers[6]["error"]["message"], answers[6])
    check("bad lines: place of a name given twice", answers[7]["error"]["column"] == 18, answers[7])
    check("bad lines: the batch goes on", answers[8]["ok"], answers[8])


def test_modes():
    def one(op, mode, value, signature="(n :int) -> {n :int}"):
        return ask([{"signature": signature, "op": op, "value": value, "mode": mode}])[0]

    a = one("coerce", "enabled", {"n": "1", "x": 2})
    check("enabled refuses what is not named", not a["ok"] and paths(a) == [["x"]], a)
    a = one("coerce", "enabled", {"n": "1"})
    check("enabled coerces", a["ok"] and a["value"] == {"n": 1} and len(a["warnings"]) == 1, a)
    a = one("coerce", "warn_only", {"n": "1", "x": 2})
    check("warn_only coerces", a["ok"] and a["value"] == {"n": 1, "x": 2} and len(a["warnings"]) == 2, a)
    a = one("coerce", "strict", {"n": "1", "x": 2})
    check("strict does not coerce", not a["ok"] and paths(a) == [["n"], ["x"]], a)
    a = one("coerce", "warn_only", {"n": "one"})
    check("warn_only goes on", a["ok"] and a["value"] == {"n": "one"} and len(a["warnings"]) == 1, a)
    a = one("coerce", "disabled", {"n": "one"})
    check("disabled does not look", a["ok"] and a["value"] == {"n": "one"} and a["warnings"] == [], a)
    check("strict refuses others", paths(one("validate", "strict", {"n": 1, "x": 2})) == [["x"]], None)
    check("enabled takes others", one("validate", "enabled", {"n": 1, "x": 2})["ok"], None)
    a = one("validate", "warn_only", {"n": "one"})
    check("warn_only warns", a["ok"] and len(a["warnings"]) == 1, a)
    check("disabled takes all", one("validate", "disabled", 7)["ok"], None)


def test_command():
    status, out, err = run("( q:string ,n :int? )->[ {id:int} ]")
    check("prints the signature", (status, out) == (0, "(q :string, n :int?) -> [{id :int}]\n"), (status, out, err))
    status, out, err = run("{a :int,\n b :strin}")
    check("bad signature", status == 1 and out == "" and "line 2, column 4" in err and ":string?" in err, err)
    status, out, err = run("{results [{customer {id :int}}]}", "--value",
                           '{"results":[{"customer":{"id":"abc"}}]}')
    check("path message", status == 1 and
          err == 'error: results[0].customer.id: expected int, got string "abc"\n', err)
    status, out, err = run("(n :int) -> :any", "--input", "--value", '{"n":"10"}')
    check("input", (status, out) == (0, '{"n":10}\n') and err == 'warning: n: took string "10" as int\n', (out, err))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write("[1,2]")
        file.flush()
        status, out, err = run("[:int]", "--value", "@" + file.name, "--schema")
        check("value from a file, and schema", status == 0 and out.splitlines()[0] == "[1,2]"
              and json.loads(out.splitlines()[1])["required"] == ["items"], (out, err))
    status, out, _ = run("(n :int?) -> :any", "--input", "--schema")
    check("schema of the parameters", json.loads(out)["properties"] == {"n": {"type": "integer"}}, out)
    status, _, err = run(":datetime", "--value", '"2024-02-29T10:00:00Z"')
    check("note about datetimes", status == 1 and "as a JSON answer" in err, err)
    for args in ([], ["a", "b"], [":int", "--value", "{"], [":int", "--value", "@/nonexistent"],
                 [":int", "--input"], [":int", "--mode", "strict"], ["--jsonl"], ["--jsonn"]):
        status, out, err = run(*args)
        check(f"usage {args}", status == 2 and out == "" and ("--help" in err) != ("--value" in args), (status, out, err))
    status, out, _ = run("--help")
    check("help", status == 0 and "examples:" in out and "--value" in out, out)


test_cases("signature_parse", "parse", judge_parse)
test_cases("signature_validate", "validate", judge_validate)
test_cases("signature_coerce", "coerce", judge_coerce)
test_cases("signature_schema", "schema", judge_schema)
test_import()
test_prints_parse_back()
test_bad_lines()
test_modes()
test_command()
sys.exit(finish())
