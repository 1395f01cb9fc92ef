/* SPDX-License-Identifier: MIT
 * guides.h - pages of docs/ inside the command; cmake/embed.cmake makes the bytes. */
#ifndef PTC_CLI_GUIDES_H
#define PTC_CLI_GUIDES_H

#include <stddef.h>

#define PTC_GUIDE(name)                            \
    extern const unsigned char ptc_guide_##name[]; \
    extern const size_t ptc_guide_##name##_len;

PTC_GUIDE(language)
PTC_GUIDE(limits)
PTC_GUIDE(cli)
PTC_GUIDE(data)
PTC_GUIDE(batch)
PTC_GUIDE(protocol)
PTC_GUIDE(mcp)
PTC_GUIDE(tools)
PTC_GUIDE(upstreams)
PTC_GUIDE(signatures)
PTC_GUIDE(trace)
PTC_GUIDE(viewer)
PTC_GUIDE(differences)
PTC_GUIDE(agents)
PTC_GUIDE(providers)
PTC_GUIDE(transports)
PTC_GUIDE(replay)
#undef PTC_GUIDE

#endif
