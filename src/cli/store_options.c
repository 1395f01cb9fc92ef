/* SPDX-License-Identifier: MIT
 * Opening a store by its options.  What always holds: a password in a URL is not shown. */
#include "cli/store_options.h"

#include <stdlib.h>

#include "cli/io.h"

const char *ptc_store_url(const PtcStoreOptions *o)
{
    const char *url = o->url ? o->url : getenv("PTC_STORE");
    return url && *url ? url : NULL;
}

PtcStore *ptc_store_open_options(const PtcStoreOptions *o, const char *command, bool upgrade)
{
    PtcWhy why;
    const PtcStoreConfig config = {.url = ptc_store_url(o),
                                   .key_file = o->key_file,
                                   .timeout_ms = o->timeout_ms,
                                   .connections = (unsigned)o->connections,
                                   .upgrade = upgrade,
                                   .say = o->say,
                                   .say_user = o->say_user};
    PtcStore *store = ptc_store_open(&config, &why);
    if (!store)
        ptc_io_printf(PTC_IO_STDERR, "ptc %s: store: %s\n", command, why.text);
    return store;
}
