#!/usr/bin/env python3
"""What `ptc eval` and `ptc doc` say about names that are not there.  test_hints.py PTC"""
import json
import subprocess
import sys

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

PTC = sys.argv[1]
TOOLS = {"price": {"value": 1.5, "signature": "(sku :string) -> :float"}, "get-orders": {"value": []}}


def hint(*arguments, given=""):
    done = subprocess.run([PTC, *arguments], input=given, capture_output=True, text=True, timeout=60, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("hint: ")]
    return lines[0][6:] if lines else ""


def test_tools():
    for program, want in [
        ('(price {:sku "a"})', "did you mean tool/price?"),
        ("(get_orders)", "did you mean tool/get-orders?"),
        ("(getOrders)", "did you mean tool/get-orders?"),
        ('(tools/price {:sku "a"})', "did you mean tool/price?"),
        ('(tool.price {:sku "a"})', "did you mean tool/price?"),
        ('(tool/prices {:sku "a"})', "did you mean tool/price?"),
        ("(tool/weather {})", "this run has 2 tools, such as tool/price; (dir 'tool) lists them"),
    ]:
        got = hint("eval", "--tools", json.dumps(TOOLS), program)
        check(program, got == want, got)


def test_doc_as_eval():
    """Both give the same advice about a name."""
    for name in ["mapp", "len", "slurp", "Thread/sleep", "Duration/parze", "str/map", "group_by"]:
        said, doc = hint("eval", f"({name} 1)"), hint("doc", name)
        check(f"doc {name}", said == doc and said, (said, doc))
    check("doc foo", hint("doc", "foo") == "", hint("doc", "foo"))


def test_points():
    """data.a where `data` is what is on standard input."""
    for program, want in [
        ("data.a", "write (:a data) for a field"),
        ("(inc data.a.b)", "write (get-in data [:a :b]) for a field"),
        ("(count rows.a)", "write (map :a rows) for a field"),
        ("(let [r (first rows)] r.a.b)", "write (get-in r [:a :b]) for a field"),
    ]:
        got = hint(program, given='{"a": {"b": 2}}')
        check(program, got == want, got)


test_tools()
test_points()
test_doc_as_eval()
sys.exit(finish())
