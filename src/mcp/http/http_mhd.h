/* SPDX-License-Identifier: MIT
 * http_mhd.h - libmicrohttpd, loaded only when something is to be served over HTTP (`ptc mcp --http`, `ptc view`), so
 * that a server on stdio has no network code in its process. */
#ifndef PTC_MCP_HTTP_HTTP_MHD_H
#define PTC_MCP_HTTP_HTTP_MHD_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/why.h"

/* The functions we use, each with the type the header gives it. */
#define PTC_MHD_FUNCTIONS(X)           \
    X(MHD_start_daemon)                \
    X(MHD_add_connection)              \
    X(MHD_run)                         \
    X(MHD_get_timeout)                 \
    X(MHD_get_daemon_info)             \
    X(MHD_stop_daemon)                 \
    X(MHD_get_connection_values_n)     \
    X(MHD_get_connection_info)         \
    X(MHD_queue_response)              \
    X(MHD_create_response_from_buffer) \
    X(MHD_create_response_from_fd64)   \
    X(MHD_add_response_header)         \
    X(MHD_destroy_response)            \
    X(MHD_get_reason_phrase_for)       \
    X(MHD_get_version)

typedef struct PtcMhd {
#define PTC_MHD_MEMBER(name) __typeof__(&name) name;
    PTC_MHD_FUNCTIONS(PTC_MHD_MEMBER)
#undef PTC_MHD_MEMBER
} PtcMhd;

/* The library stays loaded.  False with a text in `why`: it is not installed or lacks a function. */
PTC_MUST_USE bool ptc_mhd_load(PtcMhd *mhd, PtcWhy *why);
/* Before 1.0 it takes NUL for the end of a header, and blanks before a colon for part of a name. */
bool ptc_mhd_trusts_nul(const PtcMhd *mhd);

#endif
