// SPDX-License-Identifier: MIT
// The smallest server that the official SDK makes: one tool, on stdio.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "smallest", version: "1" });
server.registerTool("echo", { inputSchema: { message: z.string() } },
    async ({ message }) => ({ content: [{ type: "text", text: message }] }));
await server.connect(new StdioServerTransport());
