/* SPDX-License-Identifier: MIT
 * URI templates: literal text and {name}, where a name stands for one or more bytes other than a slash.  What always
 * holds: two names never touch, so matching needs no backtracking; a name ends at the first place where the literal
 * after it fits. */
#include "mcp/server/mcp_int.h"

#include "base/ascii.h"

/* The end of the name that begins at p (after the brace); NULL: it is not closed, or empty. */
static const char *name_end(const char *p)
{
    const char *q = p;
    while (ptc_ascii_is_name(*q))
        q++;
    return *q == '}' && q > p ? q : NULL;
}

int ptc_mcp_template_var(const char *uri_template, const char *name)
{
    int count = 0;
    for (const char *p = uri_template; *p; p++) {
        if (*p == '}')
            return -1;
        if (*p != '{')
            continue;
        const char *end = name_end(p + 1);
        if (!end || end[1] == '{' || count == PTC_MCP_MAX_VARS)
            return -1;
        size_t len = (size_t)(end - p - 1);
        if (name && strlen(name) == len && memcmp(name, p + 1, len) == 0)
            return count;
        count++;
        p = end;
    }
    return name ? -1 : count;
}

/* Length of the literal text at p. */
static size_t literal_length(const char *p)
{
    return strcspn(p, "{");
}

/* How many bytes of the text a variable takes if `after` follows it; 0: it does not fit. */
static size_t variable_length(PtcText text, const char *after, size_t after_len)
{
    for (size_t n = 0; n < text.len; n++) {
        if (n && after_len && text.len - n >= after_len &&
            memcmp(text.bytes + n, after, after_len) == 0)
            return n;
        if (text.bytes[n] == '/')
            return 0;
    }
    return after_len ? 0 : text.len;
}

static void advance_text(PtcText *text, size_t n)
{
    text->bytes += n;
    text->len -= n;
}

bool ptc_mcp_template_match(const char *uri_template, PtcText uri, PtcText vars[PTC_MCP_MAX_VARS])
{
    const char *p = uri_template;
    for (int count = 0;; count++) {
        size_t n = literal_length(p);
        if (uri.len < n || (n && memcmp(uri.bytes, p, n) != 0))
            return false;
        advance_text(&uri, n);
        p += n;
        if (!*p)
            return uri.len == 0;
        p = strchr(p, '}') + 1;
        size_t len = variable_length(uri, p, literal_length(p));
        if (!len)
            return false;
        vars[count] = (PtcText){uri.bytes, len};
        advance_text(&uri, len);
    }
}
