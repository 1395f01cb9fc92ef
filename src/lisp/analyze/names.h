/* SPDX-License-Identifier: MIT
 * names.h - the names of global variables, numbered in the order they were first seen.  A session
 * keeps one; names that a failed run added are dropped again. */
#ifndef PTC_LISP_ANALYZE_NAMES_H
#define PTC_LISP_ANALYZE_NAMES_H

#include "base/buf.h"
#include "base/text.h"

typedef struct PtcName {
    char *text;
    uint32_t len;
    uint32_t hash;
} PtcName;

/* What ns and require declared: (require '[clojure.string :as s]) makes s stand for clojure.string, :refer [join] makes
 * join stand for clojure.string/join. */
typedef enum { PTC_ALIAS_NAMESPACE, PTC_ALIAS_REFERRED } PtcAliasKind;

typedef struct PtcAlias {
    PtcAliasKind kind;
    uint32_t name_len, ns_len;
    char *text; /* the name, then the namespace */
} PtcAlias;

typedef struct PtcNames {
    PtcMem *mem;
    PtcName *items;
    uint32_t count;
    size_t cap;
    uint32_t *table; /* index + 1, or 0 */
    size_t table_cap;
    PtcAlias *aliases;
    uint32_t alias_count;
    size_t alias_cap;
    PtcBuf lost; /* names that failed programs defined, the latest few, a line each */
} PtcNames;

/* How much there was at some time, to go back to. */
typedef struct PtcNamesMark {
    uint32_t count, alias_count;
} PtcNamesMark;

void ptc_names_init(PtcNames *names, PtcMem *mem);
void ptc_names_deinit(PtcNames *names);
/* Index of a name, -1 when it is not there. */
int ptc_names_find(const PtcNames *names, const char *text, size_t len);
/* Index of a name, added when it is not there; -1: out of memory. */
int ptc_names_add(PtcNames *names, const char *text, size_t len);
static inline PtcNamesMark ptc_names_mark(const PtcNames *names)
{
    return (PtcNamesMark){names->count, names->alias_count};
}
/* Drops what was added since the mark; {0, 0} is everything. */
void ptc_names_reset(PtcNames *names, PtcNamesMark mark);

/* Before the reset of a program that failed: remembers the names that go, for whoever asks what became of them. */
void ptc_names_note_lost(PtcNames *names, PtcNamesMark mark);
bool ptc_names_is_lost(const PtcNames *names, PtcText name);

/* Declares an alias; of two for one name the later one counts.  False: out of memory, or too many. */
PTC_MUST_USE bool ptc_alias_add(PtcNames *names, PtcAliasKind kind, PtcText name, PtcText ns);
/* The namespace it stands for; {NULL, 0}: there is no such alias. */
PtcText ptc_alias_find(const PtcNames *names, PtcAliasKind kind, PtcText name);
static inline PtcText ptc_alias_name(const PtcAlias *alias)
{
    return (PtcText){alias->text, alias->name_len};
}
static inline PtcText ptc_alias_ns(const PtcAlias *alias)
{
    return (PtcText){alias->text + alias->name_len, alias->ns_len};
}

/* *1 to *9: results of earlier runs, not definitions. */
static inline bool ptc_is_history_name(const PtcName *name)
{
    return name->len == 2 && name->text[0] == '*' && name->text[1] >= '1' && name->text[1] <= '9';
}

#endif
