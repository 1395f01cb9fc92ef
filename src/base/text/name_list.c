/* SPDX-License-Identifier: MIT
 * Names in a message.  What always holds: the text ends in a whole name, or in dots for those that have no room. */
#include "base/text/name_list.h"

#include <stdio.h>
#include <string.h>

#include "base/text/one_line.h"

enum { NAME_LIST_DOTS = 6 }; /* ", ..." and the NUL */

void ptc_name_list_add(PtcNameList *list, PtcText name)
{
    char clean[PTC_NAME_LIST_BYTES];
    PtcBuf word = {.data = clean, .cap = sizeof clean, .max = sizeof clean};
    const char *before = list->count++ ? ", " : "";
    if (list->full)
        return;
    ptc_one_line_add(&word, ptc_text_cut(name, sizeof clean));
    size_t room = sizeof list->text - NAME_LIST_DOTS - list->len;
    list->full = name.len > sizeof clean || word.full || strlen(before) + word.len > room;
    if (list->full)
        list->len += (size_t)snprintf(list->text + list->len, NAME_LIST_DOTS, "%s...", before);
    else
        list->len += (size_t)snprintf(list->text + list->len, room + 1, "%s%.*s", before,
                                      PTC_ARG_OF(clean, word.len));
}

const char *ptc_name_list_show(const PtcNameList *list, char first, char out[PTC_NAME_LIST_SHOWN])
{
    snprintf(out, PTC_NAME_LIST_SHOWN, "%chere %s %s", first, list->count == 1 ? "is" : "are",
             list->count ? list->text : "none");
    return out;
}
