/* SPDX-License-Identifier: MIT
 * names.h - the names of global variables, numbered in the order they were first seen.  A session
 * keeps one; names that a failed run added are dropped again. */
#ifndef PTC_LISP_NAMES_H
#define PTC_LISP_NAMES_H

#include "base/mem.h"

typedef struct PtcName {
    char *text;
    uint32_t len;
    uint32_t hash;
} PtcName;

typedef struct PtcNames {
    PtcMem *mem;
    PtcName *items;
    uint32_t count, cap;
    uint32_t *table; /* index + 1, or 0 */
    uint32_t table_cap;
} PtcNames;

/* Names that no program can write begin with a space: those that ns, require and import made (see analyze_ns.c), and what
 * a host keeps beside them. */
static inline bool ptc_name_is_alias(const PtcName *name)
{
    return name->text[0] == ' ' && (name->text[1] == '@' || name->text[1] == '!');
}

void ptc_names_init(PtcNames *names, PtcMem *mem);
void ptc_names_deinit(PtcNames *names);
/* Index of a name, -1 when it is not there. */
int ptc_names_find(const PtcNames *names, const char *text, size_t len);
/* Index of a name, added when it is not there; -1 when memory is short. */
int ptc_names_add(PtcNames *names, const char *text, size_t len);
/* Drops all names from number `count` on. */
void ptc_names_truncate(PtcNames *names, uint32_t count);

/* *1 to *9: results of earlier runs, not definitions. */
static inline bool ptc_is_history_name(const PtcName *name)
{
    return name->len == 2 && name->text[0] == '*' && name->text[1] >= '1' && name->text[1] <= '9';
}

#endif
