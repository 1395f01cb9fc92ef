/* SPDX-License-Identifier: MIT
 * Looking into messages: fields, texts, levels. */
#include "base/utf8.h"
#include "json/write.h"
#include "mcp/server/mcp_int.h"
#include "value/map.h"
#include "value/str.h"

PtcValue ptc_mcp_field(PtcMcpCall *call, PtcValue map, const char *name)
{
    if (map == PTC_NONE || !ptc_is_map(map))
        return PTC_NONE;
    PtcValue key = ptc_str_new(&call->heap, name, strlen(name));
    return key == PTC_NONE ? PTC_NONE : ptc_map_get(&call->heap, map, key);
}

PtcText ptc_mcp_text_of(PtcValue string)
{
    if (!ptc_is_string(string))
        return (PtcText){NULL, 0};
    return (PtcText){ptc_str_bytes(string), ptc_str_len(string)};
}

bool ptc_mcp_text_is(PtcText text, const char *word)
{
    return text.bytes && text.len == strlen(word) && memcmp(text.bytes, word, text.len) == 0;
}

bool ptc_mcp_write(PtcMcpCall *call, PtcBuf *buf, PtcValue v)
{
    PtcJsonError error;
    PtcJsonWriter writer = {&call->heap, -1, NULL};
    return ptc_json_write(&writer, buf, v, &error);
}

static const char *const level_names[] = {"debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency"};

bool ptc_mcp_level_of(PtcValue v, PtcMcpLevel *level)
{
    for (int i = 0; i < PTC_MCP_NO_LOG; i++)
        if (ptc_mcp_text_is(ptc_mcp_text_of(v), level_names[i])) {
            *level = (PtcMcpLevel)i;
            return true;
        }
    return false;
}

const char *ptc_mcp_level_name(PtcMcpLevel level)
{
    return level_names[level];
}

PtcText ptc_mcp_cut(PtcText text, size_t most)
{
    if (!text.bytes)
        return (PtcText){"", 0};
    if (text.len > most)
        text.len = ptc_utf8_valid_prefix(text.bytes, most);
    return text;
}
