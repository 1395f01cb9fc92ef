/* SPDX-License-Identifier: MIT
 * discover_host.h - what doc, dir, apropos and meta say of the tools and the data that the host gave this run. */
#ifndef PTC_LISP_LIB_AGENT_DISCOVER_HOST_H
#define PTC_LISP_LIB_AGENT_DISCOVER_HOST_H

#include "lisp/vm/builtin.h"

/* A tool, or an entry of the data. */
typedef struct PtcHostThing {
    enum { PTC_HOST_NONE, PTC_HOST_TOOL, PTC_HOST_DATA } kind;
    PtcHostTool tool;
    size_t number;       /* of the tool */
    PtcValue key, value; /* of data */
    char ref[160];       /* how a program writes it: tool/price, data/orders */
} PtcHostThing;

/* All of them one by one, first the tools, then the data. */
typedef struct PtcHostThings {
    PtcVM *vm;
    bool tools, data; /* which are still to come */
    size_t tool, entry;
} PtcHostThings;

PtcHostThings ptc_host_things_of(PtcVM *vm, bool tools, bool data);
bool ptc_host_things_next(PtcHostThings *all, PtcHostThing *out);
size_t ptc_host_things_count(const PtcVM *vm, bool tools, bool data);
/* "tool/price" or "data/orders"; the kind is NONE for any other name.  False: it is such a name, but there is none; an
 * error says so, with the nearest. */
PTC_MUST_USE bool ptc_host_thing_named(PtcVM *vm, const char *name, size_t len, PtcHostThing *out);

/* What doc gives.  False: the budget stopped. */
PTC_MUST_USE bool ptc_host_thing_describe(PtcVM *vm, PtcBuf *buf, const PtcHostThing *thing);
/* One line: "tool/price (sku :string) -> :float - The price.", or without "tool/" when not `whole`. */
PTC_MUST_USE bool ptc_host_thing_line(PtcVM *vm, PtcBuf *buf, const PtcHostThing *thing,
                                      bool whole);
/* How well it fits a search; 0: not at all. */
int ptc_host_thing_score(PtcVM *vm, const PtcHostThing *thing, const char *query, size_t len);

#endif
