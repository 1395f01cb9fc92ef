/* SPDX-License-Identifier: MIT
 * effects_line.h - what a run did in other servers (PtcRemote.effects), in one line for people and models. */
#ifndef PTC_EXEC_EFFECTS_LINE_H
#define PTC_EXEC_EFFECTS_LINE_H

#include "base/buf.h"
#include "value/heap.h"

/* A list of effects: its key in the object, and what it is called in the line. */
typedef struct PtcEffectsList {
    const char *key, *word;
} PtcEffectsList;
enum { PTC_EFFECTS_LISTS = 4 };
extern const PtcEffectsList ptc_effects_lists[PTC_EFFECTS_LISTS];

/* Appends "took effect: notes/write 3 times; denied: notes/delete; run again: unsafe" for
 * {"ran":[{"name","times"}],...}. */
void ptc_effects_line_add(PtcBuf *text, PtcHeap *heap, PtcValue effects, PtcText run_again);

#endif
