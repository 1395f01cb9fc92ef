/* SPDX-License-Identifier: MIT
 * guides.h - pages of docs/ inside the command; cmake/embed.cmake makes the bytes. */
#ifndef PTC_CLI_CMD_GUIDES_H
#define PTC_CLI_CMD_GUIDES_H

#include <stddef.h>

#define PTC_GUIDE(name)                            \
    extern const unsigned char ptc_guide_##name[]; \
    extern const size_t ptc_guide_##name##_len;

PTC_GUIDE(start)
PTC_GUIDE(mcp_tutorial)
PTC_GUIDE(from_jq)
PTC_GUIDE(from_python)
PTC_GUIDE(from_ptcrunner)
PTC_GUIDE(language)
PTC_GUIDE(differences)
PTC_GUIDE(limits)
PTC_GUIDE(security)
PTC_GUIDE(isolation)
PTC_GUIDE(cli)
PTC_GUIDE(check)
PTC_GUIDE(data)
PTC_GUIDE(batch)
PTC_GUIDE(tools)
PTC_GUIDE(databases)
PTC_GUIDE(signatures)
PTC_GUIDE(json_schema)
PTC_GUIDE(agents)
PTC_GUIDE(transports)
PTC_GUIDE(providers)
PTC_GUIDE(replay)
PTC_GUIDE(protocol)
PTC_GUIDE(mcp)
PTC_GUIDE(mcp_http)
PTC_GUIDE(upstreams)
PTC_GUIDE(packages)
PTC_GUIDE(embedding)
PTC_GUIDE(python)
PTC_GUIDE(node)
PTC_GUIDE(wasm)
PTC_GUIDE(trace)
PTC_GUIDE(viewer)
PTC_GUIDE(observability)
PTC_GUIDE(operations)
PTC_GUIDE(fleet)
PTC_GUIDE(troubleshooting)
PTC_GUIDE(faq)
PTC_GUIDE(versioning)
#undef PTC_GUIDE

#endif
