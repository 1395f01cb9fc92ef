/* SPDX-License-Identifier: MIT
 * upstreams_desk.h - one line of `ptc-test-driver upstreams` being answered, and what answers it. */
#ifndef PTC_DRIVER_UPSTREAMS_DESK_H
#define PTC_DRIVER_UPSTREAMS_DESK_H

#include "base/arena.h"
#include "json/emit.h"
#include "upstream/catalog/catalog.h"
#include "upstream/run/arguments.h"
#include "value/coll/fields.h"

/* All that answering takes; given back as a whole. */
typedef struct PtcUpstreamsDesk {
    PtcMem *mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
    PtcValue input; /* of the request */
    PtcBuf *out;    /* an open object that has its id */
} PtcUpstreamsDesk;

/* Answers by adding members to desk->out; false: the request cannot be answered, and *why says so. */
typedef bool (*PtcUpstreamsOp)(PtcUpstreamsDesk *desk, const char **why);

/* ---- upstreams_tools.c */
bool ptc_upstreams_name(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_lookup(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_doc(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_describe(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_apropos(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_policy(PtcUpstreamsDesk *desk, const char **why);

/* ---- upstreams_calls.c */
bool ptc_upstreams_args(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_result(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_mcp_headers(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_retry(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_outcome(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_era(PtcUpstreamsDesk *desk, const char **why);

void ptc_upstreams_put_issues(PtcBuf *out, const PtcArgumentIssues *issues);

/* ---- upstreams_texts.c */
bool ptc_upstreams_config(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_request(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_response(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_clean(PtcUpstreamsDesk *desk, const char **why);
bool ptc_upstreams_redact(PtcUpstreamsDesk *desk, const char **why);

/* A member of the input, PTC_NONE when it is not there or null. */
static inline PtcValue ptc_upstreams_in(PtcUpstreamsDesk *desk, const char *name)
{
    PtcValue v = ptc_map_field(&desk->heap, desk->input, name);
    return v == PTC_NIL ? PTC_NONE : v;
}

static inline PtcText ptc_upstreams_text(PtcUpstreamsDesk *desk, const char *name)
{
    return ptc_fields_text(&desk->heap, desk->input, name);
}

static inline void ptc_upstreams_put(PtcUpstreamsDesk *desk, const char *name, PtcValue v)
{
    ptc_emit_key(desk->out, name);
    ptc_emit_value(desk->out, &desk->heap, v);
}

#endif
