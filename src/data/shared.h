/* SPDX-License-Identifier: MIT
 * shared.h - values loaded once and read by all runs: --data NAME=@FILE is data/NAME in every program.
 *
 * Nothing in it changes after loading, so threads need no lock; where processes share its pages, not even hashes of
 * strings, so that they keep sharing them. */
#ifndef PTC_DATA_SHARED_H
#define PTC_DATA_SHARED_H

#include "base/buf.h"
#include "base/why.h"
#include "data/guess.h"
#include "value/heap.h"

typedef struct PtcShared PtcShared;

/* For processes that share pages; as much as there is.  NULL: out of memory. */
PtcShared *ptc_shared_new(void);
/* For one process: all of them together, and a file while it is read, may take `limit` bytes; hashes of strings are
 * computed when they are needed.  NULL: out of memory. */
PtcShared *ptc_shared_new_own(size_t limit);
/* May data be named so? */
bool ptc_shared_is_name(const char *name);
/* Adds a file (data_file.h); `form` is what an option says it is and becomes how it was read, NULL: none does.  False
 * with a text in why (file, line, what). */
bool ptc_shared_load(PtcShared *shared, const char *name, const char *path, PtcDataForm *form,
                     PtcWhy *why);
/* Adds the rows of a file to *all, which begins as PTC_NONE, for several files under one name.  False: as above. */
bool ptc_shared_load_rows(PtcShared *shared, PtcValue *all, const char *path, PtcDataForm *form,
                          PtcWhy *why);
/* Names what was gathered so. */
bool ptc_shared_name_rows(PtcShared *shared, const char *name, PtcValue all, PtcWhy *why);
void ptc_shared_free(PtcShared *shared);
/* The value of that name; PTC_NONE: there is none. */
PtcValue ptc_shared_value(const PtcShared *shared, const char *name);
/* Adds a value that is already here under another name: a list as it is, anything else as the only element of one. */
PTC_MUST_USE bool ptc_shared_add_rows(PtcShared *shared, const char *name, PtcValue value);
/* Adds texts, UTF-8, as a vector. */
PTC_MUST_USE bool ptc_shared_add_texts(PtcShared *shared, const char *name, char *const *texts,
                                       size_t count);
/* The context of a run: the shared values under their names, and what the call brought, which wins.  Made in `heap`;
 * PTC_NONE: out of memory. */
PtcValue ptc_shared_context(const PtcShared *shared, PtcHeap *heap, PtcValue context);
/* Lines for the tool's description, such as "data/orders: 2 rows: :id int, ...", and how to write awkward names;
 * those beyond `max` bytes are only counted.  Must come before any run, because it uses the heap. */
void ptc_shared_describe(PtcShared *shared, PtcBuf *buf, size_t max);
/* One of them by number: its name, how many elements it has, the memory it takes.  False past the last one. */
bool ptc_shared_item(const PtcShared *shared, size_t index, const char **name, size_t *count,
                     size_t *bytes);

#endif
