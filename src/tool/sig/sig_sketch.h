/* SPDX-License-Identifier: MIT
 * sig_sketch.h - signatures as sketches, for who knows sketches only (json/sketch.h). */
#ifndef PTC_TOOL_SIG_SIG_SKETCH_H
#define PTC_TOOL_SIG_SIG_SKETCH_H

#include "json/sketch.h"
#include "tool/sig/sig.h"

/* A type in the arena; names stay where they are.  closed: the map has no members but those it names.  NULL: out of
 * memory. */
PTC_MUST_USE const PtcSketch *ptc_sig_sketch(PtcArena *arena, const PtcSigType *type, bool closed);

#endif
