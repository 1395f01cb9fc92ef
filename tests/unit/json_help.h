/* SPDX-License-Identifier: MIT
 * json_help.h - text to values and back, for the tests of the parser and the writer. */
#ifndef PTC_TESTS_JSON_HELP_H
#define PTC_TESTS_JSON_HELP_H

#include "check.h"

#include <stdlib.h>

#include "json/parse.h"
#include "json/write.h"
#include "value/str.h"

static CheckHeap h;
static char out[1 << 16]; /* what the helpers below return */

static inline const char *keep(PtcBuf *buf)
{
    size_t n = buf->len < sizeof out - 1 ? buf->len : sizeof out - 1;
    if (n)
        memcpy(out, buf->data, n);
    out[n] = 0;
    ptc_buf_deinit(buf);
    return out;
}

static inline const char *write_with(const PtcJsonWriter *w, PtcValue v)
{
    PtcBuf buf;
    PtcJsonError e;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    if (ptc_json_write(w, &buf, v, &e))
        return keep(&buf);
    ptc_buf_deinit(&buf);
    snprintf(out, sizeof out, "! %s", e.message);
    return out;
}

static inline const char *write(PtcValue v)
{
    return write_with(&(PtcJsonWriter){&h.heap, -1, NULL}, v);
}

static inline PtcValue parse(const char *text)
{
    PtcJsonError e;
    /* A copy of exact size, so that a sanitizer sees reads beyond the end. */
    size_t n = strlen(text);
    char *copy = malloc(n ? n : 1);
    memcpy(copy, text, n);
    PtcValue v = ptc_json_parse(&h.heap, copy, n, &e);
    free(copy);
    if (v == PTC_NONE)
        snprintf(out, sizeof out, "! %s @%zu %u:%u", e.message, e.offset, e.line, e.column);
    return v;
}

/* Text, parsed and written again; or what the parser says is wrong. */
static inline const char *again(const char *text)
{
    PtcValue v = parse(text);
    return v == PTC_NONE ? out : write(v);
}

static inline PtcValue str(const char *s)
{
    return ptc_str_new(&h.heap, s, strlen(s));
}

static inline PtcValue keyword(const char *s)
{
    return ptc_keyword_new(&h.heap, s, strlen(s));
}

#endif
