/* SPDX-License-Identifier: MIT
 * shared.h - values loaded once and read by all runs: --data NAME=@FILE is data/NAME in every program.
 *
 * Nothing in it changes after loading, hashes of strings included, so threads need no lock, and processes that share
 * its pages keep sharing them. */
#ifndef PTC_DATA_SHARED_H
#define PTC_DATA_SHARED_H

#include "base/buf.h"
#include "value/heap.h"

typedef struct PtcShared PtcShared;

/* NULL: out of memory. */
PtcShared *ptc_shared_new(void);
/* Adds a file: JSON, JSON Lines (.jsonl, .ndjson) or CSV (.csv, .tsv; the first line names the columns), by its
 * ending.  False with a text in why (file, line, what). */
bool ptc_shared_load(PtcShared *shared, const char *name, const char *path, char *why, size_t size);
void ptc_shared_free(PtcShared *shared);
/* The context of a run: the shared values under their names, and what the call brought, which wins.  Made in `heap`;
 * PTC_NONE: out of memory. */
PtcValue ptc_shared_context(const PtcShared *shared, PtcHeap *heap, PtcValue context);
/* Lines for the tool's description, such as "data/orders: 2 rows: :id int, ...", and how to write awkward names;
 * those beyond `max` bytes are only counted.  Must come before any run, because it uses the heap. */
void ptc_shared_describe(PtcShared *shared, PtcBuf *buf, size_t max);
/* One of them by number: its name, how many elements it has, the memory it takes.  False past the last one. */
bool ptc_shared_item(const PtcShared *shared, size_t index, const char **name, size_t *count,
                     size_t *bytes);
/* The memory of all of them together. */
size_t ptc_shared_bytes(const PtcShared *shared);

#endif
