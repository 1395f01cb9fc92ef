/* SPDX-License-Identifier: MIT
 * name_list.h - the names there are, for a message: as many as fit, and nothing in them that acts on a terminal. */
#ifndef PTC_BASE_TEXT_NAME_LIST_H
#define PTC_BASE_TEXT_NAME_LIST_H

#include "base/text.h"

enum { PTC_NAME_LIST_BYTES = 160 };

/* Zeroed: there are none. */
typedef struct PtcNameList {
    size_t count;                   /* of all */
    size_t len;                     /* of text */
    bool full;                      /* the rest is "..." */
    char text[PTC_NAME_LIST_BYTES]; /* a, b, c */
} PtcNameList;

void ptc_name_list_add(PtcNameList *list, PtcText name);

/* "there are a, b, c", "there is a", or "there are none", the first letter as given.  Returns `out`. */
enum { PTC_NAME_LIST_SHOWN = PTC_NAME_LIST_BYTES + 16 };
const char *ptc_name_list_show(const PtcNameList *list, char first, char out[PTC_NAME_LIST_SHOWN]);

#endif
