/* SPDX-License-Identifier: MIT
 * json_box.h - a small heap for reading JSON that others wrote: responses of providers, scripts, records, lists of
 * models.  Bounded in memory and nesting.  Values are good until ptc_json_box_clear. */
#ifndef PTC_LLM_JSON_BOX_H
#define PTC_LLM_JSON_BOX_H

#include "base/text.h"
#include "base/why.h"
#include "value/heap.h"

/* Of values; a text of 16 MiB may need this much. */
enum { PTC_JSON_BOX_BYTES = 192 * PTC_MB };

typedef struct PtcJsonBox {
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
} PtcJsonBox;

void ptc_json_box_init(PtcJsonBox *box, PtcMem *mem);
void ptc_json_box_deinit(PtcJsonBox *box);
/* Frees all values. */
void ptc_json_box_clear(PtcJsonBox *box);

/* Reads a text; PTC_NONE with a reason: it is not JSON or nested deeper than PTC_LLM_JSON_DEPTH (invalid), its values
 * are more than the box holds (refused), or memory ran out. */
PTC_MUST_USE PtcValue ptc_json_box_read(PtcJsonBox *box, PtcText text, PtcWhy *why);

/* What a map has under a name.  All of these accept any value, and treat what is of another type like what is absent:
 * an absent text, `otherwise`, false, PTC_NONE. */
PtcValue ptc_json_box_get(PtcJsonBox *box, PtcValue map, const char *name);
PtcText ptc_json_box_text(PtcJsonBox *box, PtcValue map, const char *name);
bool ptc_json_box_bool(PtcJsonBox *box, PtcValue map, const char *name);
/* An integer, clamped to 0 .. most; a fraction is cut off. */
int64_t ptc_json_box_count(PtcJsonBox *box, PtcValue map, const char *name, int64_t most,
                           int64_t otherwise);
/* Items of an array; 0 for anything else. */
size_t ptc_json_box_length(PtcValue array);
PtcValue ptc_json_box_item(PtcValue array, size_t i);

#endif
