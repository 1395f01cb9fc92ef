-- SPDX-License-Identifier: MIT
-- wrk: calls lisp_eval in the modern era.  Prints requests, failures, bytes and latencies as one line of JSON.
wrk.method = "POST"
wrk.path = "/mcp"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = "tools/call"
wrk.headers["Mcp-Name"] = "lisp_eval"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lisp_eval",' ..
    '"arguments":{"program":"(+ 1 2)"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",' ..
    '"io.modelcontextprotocol/clientCapabilities":{}}}}'

function done(summary, latency)
    local e = summary.errors
    local bad = e.connect + e.read + e.write + e.status + e.timeout
    io.write(string.format('{"requests":%d,"failures":%d,"bytes":%d,"seconds":%f,"p50_ms":%f,"p99_ms":%f,"max_ms":%f}\n',
        summary.requests, bad, summary.bytes, summary.duration / 1e6, latency:percentile(50) / 1000,
        latency:percentile(99) / 1000, latency.max / 1000))
end
