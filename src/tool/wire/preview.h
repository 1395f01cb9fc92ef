/* SPDX-License-Identifier: MIT
 * preview.h - what the model sees of a large result: a tool that is exposed both ways and cached answers a native
 * call with a preview, while the complete result stays in the cache for a program.
 *
 * A preview is a JSON object.  It always has `status` "ok", `full_result_cached` true and `cache_hint`, a sentence
 * with the program that gets the complete result.  By kind:
 *   metadata  `schema`, a JSON Schema in outline; for lists `result_count`; for objects, and lists of objects that have
 *             the same keys, `sample_keys`.  At most PTC_PREVIEW_KEYS keys, in order; `truncated` in the schema says
 *             when there are more.
 *             Of an object with one list of objects in it, a page, all this is about that list; `rows_in` is its key,
 *             and `rest` has the short other fields, among them the cursor.
 *   rows      the same of the first `limit` rows, and these as `rows`; of what is no list, the metadata.
 *   custom    the fields of the map that a function of the host gives; of two keys that are the same in JSON the last
 *             counts, and the three fields above stay ours.
 * If the function fails, or does not return a map, or returns one that cannot be JSON, or that does not fit (the same
 * goes for rows), the metadata are used instead. */
#ifndef PTC_TOOL_WIRE_PREVIEW_H
#define PTC_TOOL_WIRE_PREVIEW_H

#include "base/buf.h"
#include "value/heap.h"

enum {
    PTC_PREVIEW_KEYS = 20,
    PTC_PREVIEW_LIMIT = 20,       /* rows, unless a tool says otherwise */
    PTC_PREVIEW_HINT_BYTES = 2000 /* of arguments in the cache hint; longer ones are not repeated */
};

typedef enum {
    PTC_PREVIEW_METADATA,
    PTC_PREVIEW_ROWS,
    PTC_PREVIEW_CUSTOM,
} PtcPreviewKind;

/* "metadata", "rows".  False for anything else. */
bool ptc_preview_parse(const char *text, size_t len, PtcPreviewKind *out);

/* Makes a map from a result, in the heap it is given.  False: it could not. */
typedef bool (*PtcPreviewFn)(void *user, PtcHeap *heap, PtcValue result, PtcValue *preview);

/* How a tool wants its results shown.  All zero but the limit: metadata. */
typedef struct PtcNativeResult {
    PtcPreviewKind kind;
    int64_t limit; /* rows, at least 1 */
    PtcPreviewFn fn;
    void *user;
} PtcNativeResult;

typedef enum {
    PTC_PREVIEW_OK,
    PTC_PREVIEW_FALLBACK, /* the metadata were used instead */
    PTC_PREVIEW_FAILED, /* nothing was appended: the buffer is too small, or the heap's budget stopped */
} PtcPreviewStatus;

/* Appends the preview of a result.  `args` are the call's, before or after ptc_tool_args. */
PTC_MUST_USE PtcPreviewStatus ptc_preview(PtcHeap *heap, PtcBuf *out, const PtcNativeResult *how,
                                          const char *name, size_t name_len, PtcValue args,
                                          PtcValue result);

/* Appends an outline of a result that is too long to be shown and is not kept anywhere: its metadata, its first rows
 * if they fit, and `truncated` true.  False: nothing was appended. */
PTC_MUST_USE bool ptc_preview_outline(PtcHeap *heap, PtcBuf *out, PtcValue result);

#endif
