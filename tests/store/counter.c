/* SPDX-License-Identifier: MIT
 * Uses a store as it is told, a line each, so that tests can change what is around it in between.  Each answer is a
 * line: the status, what was found, and after a failure the words.
 *
 *   counter URL TIMEOUT_MS   get NAME | put NAME EXPECTED TEXT | touch NAME EXPECTED | hold NAME N MOST | claim NAME |
 *                           remove NAME | list | count NAME MS | ready | tell */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "store/store.h"

static PtcMem mem;
static PtcStore *store;

static void tell_status(PtcStoreStatus status, const char *more)
{
    static const char *const names[PTC_STORE_STATUSES] = {
        "ok",   "absent",    "conflict", "full",  "held",    "fenced",
        "busy", "no_memory", "damaged",  "newer", "unknown", "failed"};
    char why[PTC_STORE_WHY] = "";
    if (status == PTC_STORE_FAILED || status == PTC_STORE_BUSY || status == PTC_STORE_UNKNOWN)
        ptc_store_why(store, why);
    printf("%s%s%s%s%s\n", names[status], *more ? " " : "", more, *why ? ": " : "", why);
}

static PtcStoreStatus read_text(const PtcStoreKey *key, const PtcStoreHold *hold, uint64_t *version,
                                char text[100])
{
    PtcStored stored = {.version = 0};
    PtcBuf bytes;
    ptc_buf_init(&bytes, &mem, 99);
    PtcStoreStatus status = ptc_store_get(store, key, hold, &stored, &bytes);
    snprintf(text, 100, "%.*s", (int)bytes.len, bytes.data ? bytes.data : "");
    *version = status == PTC_STORE_OK ? stored.version : 0;
    ptc_buf_deinit(&bytes);
    return status;
}

static PtcStoreStatus write_text(const PtcStoreKey *key, uint64_t expected, const char *text,
                                 uint64_t *version)
{
    int64_t now = ptc_store_now(store);
    PtcStorePut put = {.expected = expected,
                       .used_ms = now,
                       .expires_ms = now + 1000 * 1000,
                       .bytes = ptc_text_cstr(text),
                       .wakes = true};
    return ptc_store_put(store, key, &put, version);
}

/* Adds one, again and again for so long; tells how often that was acknowledged, unknown, refused, the longest wait, and
 * the sum of the times of those that were acknowledged in us. */
static void count_up(const PtcStoreKey *key, int64_t ms)
{
    long done = 0, unknown = 0, failed = 0, others = 0;
    int64_t begun = ptc_clock_ns(NULL), longest = 0, spent = 0;
    while (ptc_clock_ns(NULL) - begun < ms * PTC_MS) {
        char text[100], next[32];
        uint64_t version, made;
        int64_t from = ptc_clock_ns(NULL);
        PtcStoreStatus status = read_text(key, NULL, &version, text);
        if (status == PTC_STORE_OK || status == PTC_STORE_ABSENT) {
            snprintf(next, sizeof next, "%ld", strtol(text, NULL, 10) + 1);
            status = write_text(key, version, next, &made);
        }
        int64_t took = ptc_clock_ns(NULL) - from;
        longest = took > longest ? took : longest;
        done += status == PTC_STORE_OK;
        spent += status == PTC_STORE_OK ? took : 0;
        unknown += status == PTC_STORE_UNKNOWN;
        failed += status == PTC_STORE_FAILED || status == PTC_STORE_BUSY;
        others += status == PTC_STORE_CONFLICT || status == PTC_STORE_ABSENT;
    }
    printf("%ld %ld %ld %ld %" PRId64 " %" PRId64 "\n", done, unknown, failed, others,
           longest / PTC_MS, spent / PTC_US);
}

static bool name_one(void *user, const PtcStoreKey *key, const PtcStored *stored)
{
    (void)stored;
    (void)user;
    printf("%.*s ", PTC_ARG(key->key));
    return true;
}

static void tell_all(void)
{
    PtcBuf out;
    ptc_buf_init(&out, &mem, 4000);
    PtcStoreStatus status = ptc_store_tell(store, &out);
    for (size_t i = 0; i < out.len; i++)
        out.data[i] = out.data[i] == '\n' ? '|' : out.data[i];
    printf("%d %s", ptc_store_is_durable(store), ptc_buf_text(&out));
    tell_status(status, "");
    ptc_buf_deinit(&out);
}

static void obey(const char *verb, const char *name, const char *third, const char *fourth)
{
    PtcStoreKey key = {"thing", PTC_TEXT("ann"), ptc_text_cstr(name)};
    PtcStoreHold hold = {strtol(third, NULL, 10), strtol(fourth, NULL, 10), 20 * 1000},
                 claim = {1, 1, 20 * 1000};
    uint64_t version = strtoull(third, NULL, 10);
    char text[PTC_STORE_WHY] = "", more[160];
    if (strcmp(verb, "get") == 0 || strcmp(verb, "claim") == 0) {
        PtcStoreStatus status = read_text(&key, *verb == 'c' ? &claim : NULL, &version, text);
        snprintf(more, sizeof more, "%" PRIu64 " %.99s", version, text);
        tell_status(status, status == PTC_STORE_OK ? more : "");
    } else if (strcmp(verb, "put") == 0) {
        PtcStoreStatus status = write_text(&key, version, fourth, &version);
        snprintf(more, sizeof more, "%" PRIu64, version);
        tell_status(status, version ? more : "");
    } else if (strcmp(verb, "hold") == 0) {
        tell_status(ptc_store_hold(store, &key, &hold), "");
    } else if (strcmp(verb, "remove") == 0) {
        tell_status(ptc_store_remove(store, &key, 0), "");
    } else if (strcmp(verb, "list") == 0) {
        PtcStoreStatus status =
            ptc_store_list(store, "thing", (PtcText){NULL, 0}, NULL, 1000, name_one, NULL);
        tell_status(status, "");
    } else if (strcmp(verb, "count") == 0) {
        count_up(&key, strtol(third, NULL, 10));
    } else if (strcmp(verb, "ready") == 0) {
        bool ready = ptc_store_ready(store, text);
        printf("%s\n", ready ? "ready" : text);
    } else {
        tell_all();
    }
}

int main(int argc, char **argv)
{
    char line[300], verb[20], name[100], third[100], fourth[100];
    PtcWhy why;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    store =
        ptc_store_open(&(PtcStoreConfig){.url = argc > 1 ? argv[1] : NULL,
                                         .timeout_ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0},
                       &why);
    printf("%s\n", store ? "open" : why.text);
    fflush(stdout);
    while (store && fgets(line, sizeof line, stdin)) {
        *name = *third = *fourth = '\0';
        if (sscanf(line, "%19s %99s %99s %99s", verb, name, third, fourth) < 1)
            continue;
        obey(verb, name, third, fourth);
        fflush(stdout);
    }
    ptc_store_free(store);
    return store ? 0 : 1;
}
