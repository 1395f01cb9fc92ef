#!/usr/bin/env python3
"""An MCP server on standard input and output with the tools of a file; every call is noted beside that file."""
import json
import sys


def answer(tools, notes, method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "checked", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{k: v for k, v in tool.items() if k != "result"} for tool in tools]}
    if method != "tools/call":
        return {}
    tool = next(tool for tool in tools if tool["name"] == params["name"])
    with open(notes, "a", encoding="utf-8") as file:
        file.write(tool["name"] + "\n")
    return {"content": [{"type": "text", "text": json.dumps(tool["result"])}], "structuredContent": tool["result"]}


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        tools = json.load(file)["tools"]
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answer(tools, path + ".calls", message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
