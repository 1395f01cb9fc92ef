#!/usr/bin/env python3
"""A small MCP server on standard input and output, for the example: server.py shop|stock"""
import json
import sys

ORDERS = [{"id": i, "sku": f"S{i % 7}", "pieces": 1 + i * 3 % 5, "open": i % 4 != 0} for i in range(600)]
STOCK = {f"S{n}": 160 + n * 15 for n in range(7)}
WHO = sys.argv[1]
TOOLS = {
    "shop": {"name": "list_orders", "description": "Orders of the shop, a page of 100.",
             "inputSchema": {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}},
    "stock": {"name": "pieces", "description": "How many pieces of an article are in stock.",
              "inputSchema": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}},
}


def call(arguments):
    if WHO == "shop":
        return {"orders": ORDERS[arguments["page"] * 100:][:100]}
    return {"pieces": STOCK[arguments["sku"]]}


def answer(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": WHO, "version": "1"}}
    if method == "tools/list":
        return {"tools": [{**TOOLS[WHO], "annotations": {"readOnlyHint": True}}]}
    if method == "tools/call":
        value = call(params["arguments"])
        return {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request)
    error = {"error": {"code": -32601, "message": "no such method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **({"result": result} if result is not None else error)}), flush=True)
