/* SPDX-License-Identifier: MIT
 * Names and values of headers, checked and compared. */
#include "upstream/config/header.h"

#include <strings.h>

#include "base/ascii.h"
#include "value/coll/map.h"
#include "value/str.h"

static bool is_header_token_char(char c)
{
    return ptc_ascii_is_alnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool ptc_header_is_name(PtcText name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_header_token_char(name.bytes[i]))
            return false;
    return name.len > 0 && name.len <= 256;
}

bool ptc_header_is_value(PtcText value)
{
    for (size_t i = 0; i < value.len; i++)
        if (value.bytes[i] == '\r' || value.bytes[i] == '\n' || value.bytes[i] == 0)
            return false;
    return true;
}

static bool is_header_among(PtcText name, const char *const *words)
{
    for (; *words; words++)
        if (name.len == strlen(*words) && strncasecmp(name.bytes, *words, name.len) == 0)
            return true;
    return false;
}

bool ptc_header_is_ours(PtcText name)
{
    static const char *const words[] = {"host",
                                        "content-type",
                                        "content-length",
                                        "content-encoding",
                                        "accept",
                                        "accept-encoding",
                                        "connection",
                                        "keep-alive",
                                        "te",
                                        "trailer",
                                        "transfer-encoding",
                                        "upgrade",
                                        "expect",
                                        "user-agent",
                                        "last-event-id",
                                        "proxy-authorization",
                                        "proxy-connection",
                                        NULL};
    return is_header_among(name, words) ||
           (name.len >= 4 && strncasecmp(name.bytes, "mcp-", 4) == 0);
}

bool ptc_header_is_reserved(PtcText name)
{
    static const char *const words[] = {"authorization", "cookie", "set-cookie", "x-api-key", NULL};
    return is_header_among(name, words) || ptc_header_is_ours(name);
}

PtcValue ptc_header_lower(PtcHeap *heap, PtcText name)
{
    PtcValue lower = ptc_str_begin(heap, PTC_T_STRING, name.len);
    if (lower == PTC_NONE)
        return lower;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.bytes[i];
        ptc_str_room(lower)[i] = ptc_ascii_lower(c);
    }
    ptc_str_seal(lower);
    return lower;
}

PtcText ptc_header_get(PtcValue headers, const char *name)
{
    PtcValue key, value;
    if (headers != PTC_NONE && ptc_is_map(headers))
        for (size_t pos = 0; ptc_map_next(headers, &pos, &key, &value);) {
            PtcText text = ptc_str_text(key);
            if (text.len == strlen(name) && strncasecmp(text.bytes, name, text.len) == 0)
                return ptc_str_text(value);
        }
    return (PtcText){NULL, 0};
}
