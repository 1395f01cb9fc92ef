/* SPDX-License-Identifier: MIT
 * http_head.h - the head of one HTTP request: the header fields MCP looks at, found once, and the rules for their
 * values.  Knows neither sockets nor an HTTP library, so that tests and fuzzing can call it directly. */
#ifndef PTC_MCP_HTTP_HTTP_HEAD_H
#define PTC_MCP_HTTP_HTTP_HEAD_H

#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum {
    PTC_HTTP_HOST,
    PTC_HTTP_ORIGIN,
    PTC_HTTP_AUTHORIZATION,
    PTC_HTTP_ACCEPT,
    PTC_HTTP_CONTENT_TYPE,
    PTC_HTTP_CONTENT_LENGTH,
    PTC_HTTP_TRANSFER_ENCODING,
    PTC_HTTP_EXPECT,
    PTC_HTTP_PROTOCOL_VERSION,
    PTC_HTTP_METHOD,
    PTC_HTTP_NAME,
    PTC_HTTP_SESSION_ID,
    PTC_HTTP_LAST_EVENT_ID,
    PTC_HTTP_REQUEST_METHOD, /* from a browser that asks before it calls */
    /* Of a trace (W3C).  Whatever they say, the request counts; one that is there twice says nothing. */
    PTC_HTTP_TRACE_PARENT,
    PTC_HTTP_TRACE_STATE,
    PTC_HTTP_BAGGAGE,
    PTC_HTTP_FIELD_COUNT
} PtcHttpField;

enum {
    PTC_HTTP_PARAMS_MAX = 32, /* Mcp-Param-* fields of one request */
    PTC_HTTP_ACCEPTS_MAX = 4, /* further lines of Accept; the rest is not looked at */
};

/* Values have no white space around them, and are absent when the field is. */
typedef struct PtcHttpParam {
    PtcText name; /* what follows Mcp-Param- */
    PtcText value;
} PtcHttpParam;

/* Borrows every text from the HTTP library, where each ends with a NUL after its white space; valid until the
 * request is answered. */
typedef struct PtcHttpHead {
    PtcText field[PTC_HTTP_FIELD_COUNT];
    PtcHttpParam param[PTC_HTTP_PARAMS_MAX];
    size_t param_count;
    PtcText accept[PTC_HTTP_ACCEPTS_MAX]; /* what comes behind the first line */
    size_t accept_count;
    PtcText twice; /* name of a field that may only be given once and was given again */
    bool crowded;  /* more Mcp-Param-* fields than we keep */
    bool broken;   /* a value contains something other than visible ASCII, spaces and tabs */
    bool odd;      /* something that two readers of the head could understand in two ways */
} PtcHttpHead;

/* Is the length of the body given in one way that everybody understands? */
bool ptc_http_head_has_one_length(const PtcHttpHead *head);

/* Takes one header field; `head` starts zeroed.  For unknown names only the form is checked. */
void ptc_http_head_add(PtcHttpHead *head, const char *name, size_t name_len, const char *value,
                       size_t value_len);

/* The value of a field by its name in any case, as `header` of PtcMcpIn wants it; user is the head. */
const char *ptc_http_head_find(void *user, const char *name);

/* Is the text this constant? */
bool ptc_http_text_is(PtcText text, const char *want);
/* The same, ignoring case. */
bool ptc_http_text_is_nocase(PtcText text, const char *want);

/* Does what the request accepts, in however many lines, admit `type`? */
bool ptc_http_head_accepts(const PtcHttpHead *head, const char *type);
/* Does the comma-separated list of media types (Accept) admit `type`, such as "application/json"? */
bool ptc_http_accepts(PtcText accept, const char *type);
/* Is a Content-Type application/json, whatever its parameters? */
bool ptc_http_is_json(PtcText content_type);

#endif
