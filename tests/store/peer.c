/* SPDX-License-Identifier: MIT
 * A node that does with a store what it is told, line by line, for tests that trouble the engine in between:
 *
 *   peer URL TIMEOUT [upgrade]
 *   new KEY TEXT | set KEY VERSION TEXT | get KEY | remove KEY | hold KEY | free KEY | wait KEY VERSION MS
 *   add KEY: adds one to the number in the record | ready | tell
 *
 * Each line is answered by one: the status, the version, the text (its ends of lines are |) and, of a failure, why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

static const char *const status_names[PTC_STORE_STATUSES] = {
    [PTC_STORE_OK] = "ok",
    [PTC_STORE_ABSENT] = "absent",
    [PTC_STORE_CONFLICT] = "conflict",
    [PTC_STORE_FULL] = "full",
    [PTC_STORE_HELD] = "held",
    [PTC_STORE_FENCED] = "fenced",
    [PTC_STORE_BUSY] = "busy",
    [PTC_STORE_NO_MEMORY] = "no_memory",
    [PTC_STORE_DAMAGED] = "damaged",
    [PTC_STORE_NEWER] = "newer",
    [PTC_STORE_UNKNOWN] = "unknown",
    [PTC_STORE_FAILED] = "failed",
};

static PtcMem mem;
static PtcStore *store;

/* What a command works on. */
typedef struct {
    PtcStoreKey key;
    PtcStored stored;
    uint64_t version;
    PtcBuf bytes;
} Work;

static PtcStoreStatus write_record(Work *w, uint64_t expected, const char *text)
{
    PtcStorePut put = {.expected = expected,
                       .used_ms = ptc_store_now(store),
                       .expires_ms = PTC_STORE_NEVER,
                       .wakes = true,
                       .bytes = ptc_text_cstr(text)};
    return ptc_store_put(store, &w->key, &put, &w->version);
}

static PtcStoreStatus read_record(Work *w)
{
    PtcStoreStatus status = ptc_store_get(store, &w->key, NULL, &w->stored, &w->bytes);
    w->version = w->stored.version;
    return status;
}

static PtcStoreStatus add_one(Work *w)
{
    char text[32];
    PtcStoreStatus status = read_record(w);
    if (status != PTC_STORE_OK && status != PTC_STORE_ABSENT)
        return status == PTC_STORE_UNKNOWN ? PTC_STORE_FAILED : status;
    long n = status == PTC_STORE_OK ? strtol(ptc_buf_text(&w->bytes), NULL, 10) : 0;
    snprintf(text, sizeof text, "%ld", n + 1);
    return write_record(w, status == PTC_STORE_OK ? w->version : 0, text);
}

static PtcStoreStatus hold_for(Work *w, int64_t n)
{
    return ptc_store_hold(store, &w->key, &(PtcStoreHold){n, 1, 60000});
}

static PtcStoreStatus do_command(Work *w, const char *name, const char *first, const char *second)
{
    char why[PTC_STORE_WHY];
    uint64_t version = strtoull(first, NULL, 10);
    if (strcmp(name, "new") == 0)
        return write_record(w, 0, first);
    if (strcmp(name, "set") == 0)
        return write_record(w, version, second);
    if (strcmp(name, "get") == 0)
        return read_record(w);
    if (strcmp(name, "add") == 0)
        return add_one(w);
    if (strcmp(name, "remove") == 0)
        return ptc_store_remove(store, &w->key, 0);
    if (strcmp(name, "hold") == 0 || strcmp(name, "free") == 0)
        return hold_for(w, name[0] == 'h');
    if (strcmp(name, "ready") == 0)
        return ptc_store_ready(store, why) ? PTC_STORE_OK : PTC_STORE_FAILED;
    if (strcmp(name, "tell") == 0)
        return ptc_store_tell(store, &w->bytes);
    ptc_store_wait(store, &w->key, version, strtol(second, NULL, 10)); /* wait */
    return PTC_STORE_OK;
}

static void answer(Work *w, PtcStoreStatus status)
{
    char why[PTC_STORE_WHY] = "";
    for (size_t i = 0; i < w->bytes.len; i++)
        if (w->bytes.data[i] == '\n')
            w->bytes.data[i] = '|';
    if (status == PTC_STORE_FAILED || status == PTC_STORE_BUSY || status == PTC_STORE_UNKNOWN)
        ptc_store_why(store, why);
    printf("%s %llu %s%s\n", status_names[status], (unsigned long long)w->version,
           w->bytes.len ? ptc_buf_text(&w->bytes) : "", why);
}

static void obey(char *line)
{
    char *words[4] = {"", "", "", ""}, *rest = NULL;
    Work w = {.version = 0};
    for (int i = 0; i < 4; i++)
        if (!(words[i] = strtok_r(i ? NULL : line, " \n", &rest)))
            words[i] = "";
    w.key = (PtcStoreKey){"thing", PTC_TEXT("ann"), ptc_text_cstr(words[1])};
    ptc_buf_init(&w.bytes, &mem, PTC_MB);
    answer(&w, do_command(&w, words[0], words[2], words[3]));
    ptc_buf_deinit(&w.bytes);
}

int main(int argc, char **argv)
{
    char line[1000];
    PtcWhy why;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3)
        return 2;
    PtcStoreConfig config = {
        .url = argv[1], .timeout_ms = strtol(argv[2], NULL, 10), .upgrade = argc > 3};
    if (!(store = ptc_store_open(&config, &why))) {
        printf("refused 0 %s\n", why.text);
        return 1;
    }
    printf("ok 0 open\n");
    while (fgets(line, sizeof line, stdin))
        obey(line);
    ptc_store_free(store);
    return 0;
}
