/* SPDX-License-Identifier: MIT
 * oauth_doc.h - a JSON object that a server sent or that we keep: its members as texts that live in the caller's
 * arena. */
#ifndef PTC_OAUTH_OAUTH_DOC_H
#define PTC_OAUTH_OAUTH_DOC_H

#include "base/arena.h"
#include "base/why.h"
#include "value/heap.h"

enum { PTC_OAUTH_DOC_BYTES = 256 * PTC_KB }; /* a document has no more */

typedef struct PtcOauthDoc {
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena *arena;
    PtcValue root;
    bool short_of_memory; /* a text could not be kept; look at it once, at the end */
} PtcOauthDoc;

/* False: it is no JSON object, or out of memory.  Deinit it in any case.  A document must not move. */
PTC_MUST_USE bool ptc_oauth_doc_read(PtcOauthDoc *doc, PtcMem *mem, PtcArena *arena, PtcText json);
void ptc_oauth_doc_deinit(PtcOauthDoc *doc);
/* Ends the reading of a document: true if `ok` and every text was kept. */
PTC_MUST_USE bool ptc_oauth_doc_end(PtcOauthDoc *doc, bool ok, PtcWhy *why);

/* A string of printable ASCII without anything that has a meaning in headers and lines, ended by a NUL, in the arena.
 * NULL: there is none, or it is something else. */
const char *ptc_oauth_doc_text(PtcOauthDoc *doc, const char *name);
/* Such a string that is an address as ptc_url_parse takes it. */
const char *ptc_oauth_doc_address(PtcOauthDoc *doc, const char *name);
/* A number, also one that is written as a string of digits, as some servers do; negative and absurd ones are
 * `otherwise`. */
int64_t ptc_oauth_doc_number(PtcOauthDoc *doc, const char *name, int64_t otherwise);
bool ptc_oauth_doc_is_true(PtcOauthDoc *doc, const char *name);
/* Has the list of that name this word? */
bool ptc_oauth_doc_lists(PtcOauthDoc *doc, const char *name, const char *word);
/* The n-th item of a list of texts; NULL: there is none, or it is no such text. */
const char *ptc_oauth_doc_item(PtcOauthDoc *doc, const char *name, size_t n);
/* The words of a list, with blanks between them; NULL: there are none. */
const char *ptc_oauth_doc_words(PtcOauthDoc *doc, const char *name);

/* A copy in the arena, ended by a NUL; NULL: out of memory. */
PTC_MUST_USE const char *ptc_oauth_doc_keep(PtcArena *arena, PtcText text);

#endif
