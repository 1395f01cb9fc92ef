/* SPDX-License-Identifier: MIT
 * Opens the store that a place names: "sqlite:FILE", or memory.  The only file that knows which kinds of stores there
 * are. */
#include "store/store.h"

#include <stdio.h>

#include "store/store_memory.h"
#include "store/store_sqlite.h"

static const char sqlite[] = "sqlite:";

bool ptc_store_is_place(const char *place)
{
    return strncmp(place, sqlite, sizeof sqlite - 1) == 0 && place[sizeof sqlite - 1];
}

PtcStore *ptc_store_open(const char *place, PtcWhy *why)
{
    if (!place)
        return ptc_store_memory(why);
    if (ptc_store_is_place(place))
        return ptc_store_sqlite(place + sizeof sqlite - 1, why);
    ptc_why_say(why, PTC_WHY_INVALID, "a store is sqlite:FILE, not '%.100s'", place);
    return NULL;
}
