/* SPDX-License-Identifier: MIT
 * suggest.h - what may have been meant by a name that is not there: the nearest of those that are, or a word about how
 * it is done here.  The analyzer and `ptc doc` ask here, so both give the same advice. */
#ifndef PTC_LISP_ANALYZE_SUGGEST_H
#define PTC_LISP_ANALYZE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { PTC_SUGGEST_NAME = 128 };

/* A search.  Nearer is better; of equally near names, the one that programs use more. */
typedef struct PtcSuggest {
    const char *word; /* as written; must outlive the search */
    size_t len;
    char best[PTC_SUGGEST_NAME]; /* as a program writes it; empty: nothing is near */
    size_t best_distance;        /* a name must be nearer than this, or as near and more common */
    unsigned best_rank;
} PtcSuggest;

/* How common a name is, from the names of the program itself to those that hardly anybody knows. */
enum { PTC_SUGGEST_OWN = 0, PTC_SUGGEST_RARE = 1000 };

void ptc_suggest_init(PtcSuggest *s, const char *word, size_t len);
/* A name that is there, written with `prefix` before it ("tool/", or ""). */
void ptc_suggest_offer(PtcSuggest *s, const char *prefix, const char *name, size_t len,
                       unsigned rank);
/* All builtins and special forms; with `ns`, only those of this prefix ("str", "Math"), written with it. */
void ptc_suggest_builtins(PtcSuggest *s, const char *ns, size_t ns_len);
static inline bool ptc_suggest_found(const PtcSuggest *s)
{
    return s->best[0] != 0;
}

/* A hint about a name, with or without a namespace, that no builtin has; false: there is nothing to say. */
bool ptc_suggest_hint(char *out, size_t size, const char *name, size_t len);
/* The same for `name` in a namespace that is there. */
void ptc_suggest_hint_in(char *out, size_t size, const char *ns, size_t ns_len, const char *name,
                         size_t len);

/* Words of other languages, and of Clojure what is not here. */
typedef struct PtcInstead {
    const char *word;
    const char *hint; /* what to write or do instead */
    bool form;        /* not a function: there is no point in analyzing what follows it */
} PtcInstead;

/* False: none of them, and no name of clojure.core that is left out (left_out.h). */
bool ptc_suggest_instead(const char *word, size_t len, PtcInstead *out);
/* Is it a name of clojure.core that is left out here? */
bool ptc_suggest_is_core(PtcText name);
/* All of them, one by one; NULL at the end. */
const PtcInstead *ptc_suggest_word(size_t i);
/* The same for namespaces that programs require. */
const char *ptc_suggest_library(const char *ns, size_t len);

#endif
