/* SPDX-License-Identifier: MIT
 * expose.h - where a tool can be called from: by the model itself (native), by programs, or both. */
#ifndef PTC_TOOL_EXPOSE_H
#define PTC_TOOL_EXPOSE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    PTC_EXPOSE_UNSET, /* the mode decides */
    PTC_EXPOSE_NATIVE,
    PTC_EXPOSE_PTC_LISP,
    PTC_EXPOSE_BOTH,
} PtcExpose;

/* What the model answers with, and how its programs arrive. */
typedef enum { PTC_OUTPUT_PTC_LISP, PTC_OUTPUT_TEXT } PtcOutput;
typedef enum { PTC_TRANSPORT_UNSET, PTC_TRANSPORT_CONTENT, PTC_TRANSPORT_TOOL_CALL } PtcTransport;

/* "native", "ptc_lisp", "both".  False for anything else; *out is then PTC_EXPOSE_UNSET. */
bool ptc_expose_parse(const char *text, size_t len, PtcExpose *out);
/* The same words; NULL for PTC_EXPOSE_UNSET. */
const char *ptc_expose_name(PtcExpose expose);

/* Never PTC_EXPOSE_UNSET: unset means native in text mode and for programs otherwise. */
PtcExpose ptc_effective_expose(PtcExpose expose, PtcOutput output, PtcTransport transport);

#endif
