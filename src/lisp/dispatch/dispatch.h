/* SPDX-License-Identifier: MIT
 * dispatch.h - protocols and multimethods: which function a call means.
 *
 * Both are records that hold a cell (value/cell.h), and the cell a map of functions.  So extend-type and defmethod
 * follow the rules of def: a run that fails leaves the protocols and multimethods of its session as they were,
 * snapshots have them, and inside of a pmap they cannot be changed.
 *
 *   protocol     name (symbol), methods (vector of keywords), cell: type -> {:method function}.  A type is the symbol
 *                of its name (user.Point, java.lang.String), or nil.
 *   method       protocol, keyword: what the program calls
 *   multimethod  name, dispatch function, default value, hierarchy (nil: the global one), cell: {value function},
 *                cell: {value #{values it is preferred to}}
 *   inline       closure, vector of integers: for each value that it captures the number of the field, or -1.  A method
 *                inside of defrecord or deftype sees the fields as locals around it; a call fills them in.
 *
 * Cells come from snapshots as well, so nothing here trusts what they hold. */
#ifndef PTC_LISP_DISPATCH_DISPATCH_H
#define PTC_LISP_DISPATCH_DISPATCH_H

#include "lisp/vm/record.h"

enum { PTC_PROTOCOL_NAME, PTC_PROTOCOL_METHODS, PTC_PROTOCOL_CELL, PTC_PROTOCOL_FIELDS };
enum { PTC_METHOD_PROTOCOL, PTC_METHOD_KEY, PTC_METHOD_FIELDS };
enum {
    PTC_MULTI_NAME,
    PTC_MULTI_BY,
    PTC_MULTI_DEFAULT,
    PTC_MULTI_HIERARCHY,
    PTC_MULTI_METHODS,
    PTC_MULTI_PREFERS,
    PTC_MULTI_FIELDS
};
enum { PTC_INLINE_CLOSURE, PTC_INLINE_PLACES, PTC_INLINE_FIELDS };

/* The function that a call of f, which ptc_is_dispatch, with these arguments means: never one that dispatches itself.
 * May call the program and collect: f and the arguments must be rooted.  *out need not be. */
PTC_MUST_USE bool ptc_dispatch(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv,
                               PtcValue *out);

/* --- protocols (protocols.c) --- */

/* The methods of a protocol for a value: a map, or PTC_NONE when there are none. */
PtcValue ptc_protocol_methods(PtcVM *vm, PtcValue protocol, PtcValue v);

/* --- multimethods (multi.c) --- */

/* The method for a dispatch value, PTC_NONE when there is none.  False: two fit equally well. */
PTC_MUST_USE bool ptc_multi_find(PtcVM *vm, PtcValue multi, PtcValue value, PtcValue *out);

/* --- hierarchies (hierarchy.c) --- */

#define PTC_HIERARCHY_NAME "global-hierarchy"
/* What a hierarchy argument means: nil the global one, a var or an atom what it holds.  nil: an empty one. */
PtcValue ptc_hierarchy_of(PtcVM *vm, PtcValue given);
/* Is child the same as parent, or below it?  Vectors element by element. */
bool ptc_isa(PtcVM *vm, PtcValue hierarchy, PtcValue child, PtcValue parent);

#endif
