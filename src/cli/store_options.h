/* SPDX-License-Identifier: MIT
 * store_options.h - the options of every command that keeps something in a store, and opening it. */
#ifndef PTC_CLI_STORE_OPTIONS_H
#define PTC_CLI_STORE_OPTIONS_H

#include "cli/options.h"
#include "store/store.h"

typedef struct PtcStoreOptions {
    const char *url, *key_file;
    int64_t timeout_ms, connections;
    /* no options, but PtcStoreConfig.say of whoever has a log */
    void (*say)(void *user, const char *text);
    void *say_user;
} PtcStoreOptions;

#define PTC_STORE_ROW(at, in, name, type, field, value, help, min, max)                   \
    {                                                                                     \
        name, 0, type, (at) + offsetof(PtcStoreOptions, field), value, help, min, max, in \
    }
#define PTC_STORE_ROWS(at, in)                                                                    \
    PTC_STORE_ROW(at, in, "store", PTC_OPTION_TEXT, url, "URL",                                   \
                  "where state is kept, as PTC_STORE in the environment says it, too: memory:, "  \
                  "sqlite:FILE, postgres://... or redis://HOST",                                  \
                  0, 0),                                                                          \
        PTC_STORE_ROW(at, in, "store-key", PTC_OPTION_TEXT, key_file, "FILE",                     \
                      "one or two keys that seal it; sqlite:FILE has its own in FILE.key", 0, 0), \
        PTC_STORE_ROW(at, in, "store-timeout-ms", PTC_OPTION_INT, timeout_ms, "N",                \
                      "time for one operation on it (5000)", 100, 60000),                         \
        PTC_STORE_ROW(at, in, "store-connections", PTC_OPTION_INT, connections, "N",              \
                      "connections to it at once (8)", 1, 64)

/* The URL that the options or PTC_STORE name; NULL: neither does. */
const char *ptc_store_url(const PtcStoreOptions *options);
/* Opens what the options or PTC_STORE name, in memory if neither does.  `command` is for the message on standard
 * error.  NULL: it was told. */
PTC_MUST_USE PtcStore *ptc_store_open_options(const PtcStoreOptions *options, const char *command,
                                              bool upgrade);

#endif
