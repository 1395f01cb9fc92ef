/* SPDX-License-Identifier: MIT
 * discover_int.h - what the builtins that look things up share: their options and their lines. */
#ifndef PTC_LISP_LIB_AGENT_DISCOVER_INT_H
#define PTC_LISP_LIB_AGENT_DISCOVER_INT_H

#include "lisp/lib/agent/discover_host.h"

enum { PTC_QUERY_BYTES = 4096 }; /* of a search that count; longer names are not looked for */

/* Argument i, if it is there, must be a map of options. */
bool ptc_disc_arg_options(PtcVM *vm, int argc, const PtcValue *argv, int i);
/* An integer option between min and max; *out stays as it is when the option is not given. */
bool ptc_disc_int_option(PtcVM *vm, PtcValue options, const char *name, int64_t min, int64_t max,
                         int64_t *out);

/* "name - doc" as an element of the list; the doc is cut at `most` bytes. */
bool ptc_disc_add_line(PtcVM *vm, PtcValue list, const char *start, const char *name,
                       const char *doc, size_t most);
/* A tool or data as an element of the list; `whole`: with tool/ or data/ before the name. */
bool ptc_disc_add_thing(PtcVM *vm, PtcValue list, const char *start, const PtcHostThing *thing,
                        bool whole);

#endif
