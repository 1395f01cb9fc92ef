#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/mcp/test_app_discover.py PTC [ISOLATION]: what programs find out about 150 tools, more than the description has room
for, and about data."""
import json
import os
import tempfile

from app_help import Server, expect, main, test

COUNT = 150
SIGNATURE = "(x :int, tag :string?) -> :int"
CSV = "id,Unit Price,Price (EUR),zip,paid\n1,2.5,3,00501,true\n2,3,4.5,10001,false\n"


def about(i):
    return f"Gives {i}. The rest of the description fills the room that there is for all of them."


def start(folder):
    tools, data = os.path.join(folder, "tools.json"), os.path.join(folder, "orders.csv")
    with open(tools, "w", encoding="utf-8") as f:
        json.dump({f"t{i}": {"value": i, "signature": SIGNATURE, "description": about(i)} for i in range(COUNT)}, f)
    with open(data, "w", encoding="utf-8") as f:
        f.write(CSV)
    return Server("--tools", f"@{tools}", "--data", f"orders=@{data}")


def holds(server, program, **more):
    """The program compares for itself."""
    answer = server.eval(program, **more)
    expect((answer.failed, answer.text.split()[-1:]), (False, ["true"]), f"{program}: {answer.text[:400]}")


@test
def description():
    with tempfile.TemporaryDirectory() as folder, start(folder) as s:
        text = s.tools()["lisp_eval"]["description"]
        assert "tool/t1 " + SIGNATURE in text and "tool/t149 " not in text
        assert 'more: (apropos "")' in text, text
        want = 'data/orders: 2 rows: :id int, :unit-price float, "Price (EUR)" float, :zip string, :paid bool'
        assert want in text, text
        assert '(get row "...")' in text, text
        holds(s, '(let [r (last data/orders)] (= [3.0 4.5] [(:unit-price r) (get r "Price (EUR)")]))')


@test
def search():
    line = f"tool: tool/t149 {SIGNATURE} - {about(149)}"
    with tempfile.TemporaryDirectory() as folder, start(folder) as s:
        holds(s, f'(= (apropos "t149") [{json.dumps(line)}])')
        holds(s, f'(= (first (apropos "gives 149")) {json.dumps(line)})')
        holds(s, '(= 50 (count (apropos "")))')
        holds(s, f'(= {COUNT + 1} (count (apropos "" {{:limit 200}})))')
        holds(s, '(= (drop 50 (apropos "" {:limit 100})) (apropos "" {:offset 50 :limit 50}))')
        holds(s, '(starts-with? (first (apropos "unit price")) "data: data/orders - 2 rows: ")')


@test
def by_name():
    with tempfile.TemporaryDirectory() as folder, start(folder) as s:
        holds(s, f"(and (includes? (doc 'tool/t1) {json.dumps(SIGNATURE)}) (includes? (doc 'tool/t149) {json.dumps(about(149))}))")
        holds(s, f"(= [{json.dumps(SIGNATURE)}] (:signatures (meta 'tool/t149)))")
        holds(s, f"(= {json.dumps(f't149 {SIGNATURE} - {about(149)}')} (last (take {COUNT} (dir 'tool {{:limit 200}}))))")
        holds(s, "(every? #(includes? (doc 'data/orders) %) [\":id int\" \"named \\\"Unit Price\\\"\" \":zip string\" "
                 "\"(get row \\\"Price (EUR)\\\")\" \"First: {\\\"id\\\" 1\"])")
        answer = s.eval("(doc 'tool/t150)")
        assert answer.failed and "there is no tool named t150" in answer.text, answer.text


@test
def what_a_call_brings():
    with tempfile.TemporaryDirectory() as folder, start(folder) as s:
        want = json.dumps('data/own\nKind: data\nType: 1 row\nColumns:\n  :k int\nFirst: {"k" 1}')
        holds(s, f"(= (doc 'data/own) {want})", context={"own": [{"k": 1}]})


if __name__ == "__main__":
    main("mcp_app_discover")
