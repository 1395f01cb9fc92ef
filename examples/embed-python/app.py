#!/usr/bin/env python3
"""A program inside an application: two tools are Python functions, the program comes from elsewhere, the result has a type."""
import ptc

PRICES = {"bolt": 12, "nut": 5, "hinge": 340}


@ptc.tool(signature="(item :string) -> :int")
def price(item):
    "Cents for one piece."
    return PRICES[item]


@ptc.tool(signature="() -> [{item :string, pieces :int}]")
def orders():
    "Orders that nobody has paid yet."
    return [{"item": "bolt", "pieces": 100}, {"item": "hinge", "pieces": 2}]


engine = ptc.Engine(tools=[price, orders])
print(engine.evaluate("{:cents (sum-by #(* (:pieces %) (tool/price {:item (:item %)})) (tool/orders))}", signature="{cents :int}"))
for program in ('(tool/price {:item "saw"})', "(loop [] (recur))"):
    error = engine.run(program).error
    print(error.kind, "at line", error.line)
