/* SPDX-License-Identifier: MIT
 * parse.h - JSON text (RFC 8259, strictly) straight into values.
 *
 * Objects become maps with string keys, arrays vectors, numbers without point and exponent integers of any size,
 * other numbers doubles.  Of two equal keys the last value wins, in the place of the first.  A number too large for
 * a double is refused, because infinity could not be written back. */
#ifndef PTC_JSON_PARSE_H
#define PTC_JSON_PARSE_H

#include "base/text.h"
#include "base/text/bad_lines.h"
#include "json/path.h"
#include "value/heap.h"

enum { PTC_JSON_MAX_DEPTH = 512 }; /* containers inside each other */

/* What went wrong, for the parser and the writer. */
typedef struct PtcJsonError {
    size_t offset;         /* parser: the byte where it happened */
    uint32_t line, column; /* parser: the same from 1; columns count code points */
    /* Not the data's fault: the heap's budget says why.  (That stops for an integer that is too large as well, which
     * is the data's fault: ptc_budget_go_on.) */
    bool stopped;
    bool too_deep; /* nested deeper than PTC_JSON_MAX_DEPTH */
    char message[200];
    char what[48];             /* writer: what cannot be JSON, such as "a function"; else empty */
    char path[PTC_PATH_BYTES]; /* writer: where, such as rows[0].ts; "" for the whole value */
} PtcJsonError;

/* The value of the whole text, or PTC_NONE with *error filled. */
PTC_MUST_USE PtcValue ptc_json_parse(PtcHeap *heap, const char *text, size_t len,
                                     PtcJsonError *error);

/* The same for one value at the start of the text; *used becomes the offset of what follows it and the white space
 * after it. */
PTC_MUST_USE PtcValue ptc_json_parse_prefix(PtcHeap *heap, const char *text, size_t len,
                                            size_t *used, PtcJsonError *error);

/* Makes byte `offset` of the text the place of an error: its line and column, which are counted only then. */
void ptc_json_place_error(PtcJsonError *error, const char *text, size_t offset);

/* JSON Lines: a vector of the values of all lines that are not blank.  An error's line counts from 1 at the start of
 * the text; its offset is in the line. */
PTC_MUST_USE PtcValue ptc_json_parse_lines(PtcHeap *heap, PtcText text, PtcBadLines *bad,
                                           PtcJsonError *error);

/* Members wanted as text: those members of the object at `path` whose values are objects.  Each becomes an empty
 * map, and texts[i] points to its JSON in the text being parsed; texts of missing names, and of members that are not
 * objects, are absent. */
typedef struct PtcJsonKeep {
    const char *const *path;  /* keys from the outermost object on; ends in NULL */
    const char *const *names; /* ends in NULL too */
    PtcText *texts;           /* one for each name */
    /* Reads the object that the rest of the text begins with, into another heap: how many bytes it had; 0: it could
     * not, and the member is parsed like any other.  NULL: the object is only checked. */
    size_t (*read)(void *user, PtcText rest);
    void *user;
} PtcJsonKeep;

PTC_MUST_USE PtcValue ptc_json_parse_keeping(PtcHeap *heap, PtcText text, const PtcJsonKeep *keep,
                                             PtcJsonError *error);

#endif
