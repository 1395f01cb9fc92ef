/* SPDX-License-Identifier: MIT
 * `ptc store`: looks after what servers keep.  What always holds: nothing of a record is shown, and a password that is
 * in a URL is shown nowhere. */
#include "cli/cmd/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/store_options.h"

typedef struct {
    PtcStoreOptions store;
    const char *owner;
} StoreCommandOptions;

static const PtcOption table[] = {
    PTC_STORE_ROWS(offsetof(StoreCommandOptions, store), 0),
    {"owner", 0, PTC_OPTION_TEXT, offsetof(StoreCommandOptions, owner), "NAME",
     "erase: whose records; without tokens, local; -: what is everybody's, such as pins", 0, 0,
     PTC_GROUP_COMMON},
};

static const PtcUsage usage = {
    .command = "store",
    .synopsis = "migrate|check|erase --store URL [OPTIONS]",
    .summary =
        "  migrate            sets a store up or brings an older one to this version, while "
        "servers "
        "go on; seals with the first of two keys what has the second\n"
        "  check              what it is, how long a write takes, and what does not work with it\n"
        "  erase --owner NAME removes all that is kept for an owner\n"
        "Exit status: 0 done, 1 it could not be done, 2 wrong usage.",
    .examples = "  ptc store check --store sqlite:sessions.db\n"
                "  ptc store migrate --store sqlite:sessions.db\n"
                "  ptc store erase --owner alice --store sqlite:sessions.db\n",
    .words = "migrate|check|erase",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

/* What the store says is wrong, or what the status means. */
static int fail_store_word(PtcStore *store, const char *word, PtcStoreStatus status)
{
    char why[PTC_STORE_WHY];
    ptc_store_why(store, why);
    const char *said = status == PTC_STORE_NO_MEMORY ? "out of memory"
                       : status == PTC_STORE_BUSY    ? "the store is busy"
                       : status == PTC_STORE_FULL    ? "the store is full"
                       : status == PTC_STORE_NEWER   ? "written by a newer ptc"
                       : status == PTC_STORE_DAMAGED ? "the record was changed by somebody else"
                       : status == PTC_STORE_UNKNOWN ? "the answer was lost"
                                                     : "it failed";
    ptc_io_printf(PTC_IO_STDERR, "ptc store %s: store: %s\n", word, why[0] ? why : said);
    return PTC_EXIT_FAILED;
}

/* ---------------------------------------------------------------------------------- migrate */

static int migrate(PtcMem *mem, PtcStore *store, const StoreCommandOptions *o)
{
    size_t count = 0;
    (void)mem;
    (void)o;
    /* what an older schema sealed is sealed anew too */
    PtcStoreStatus status = ptc_store_reseal(store, &count);
    if (status != PTC_STORE_OK)
        return fail_store_word(store, "migrate", status);
    if (ptc_store_is_new(store))
        ptc_io_printf(PTC_IO_STDOUT, "schema 0 -> 1: done\n");
    else
        ptc_io_printf(PTC_IO_STDOUT, "schema 1: nothing to do\n");
    if (count)
        ptc_io_printf(PTC_IO_STDOUT, "%zu record%s sealed with the first key\n", count,
                      count == 1 ? "" : "s");
    return PTC_EXIT_OK;
}

/* ------------------------------------------------------------------------------------ check */

/* How long one write takes, of several; the first may have opened a connection. */
static PtcStoreStatus time_of_write(PtcStore *store, int64_t *us)
{
    enum { PROBE_WRITES = 9, WRITTEN_MS = 60 * 1000 };
    int64_t took[PROBE_WRITES];
    char name[32];
    PtcStoreStatus status = PTC_STORE_OK;
    for (int i = 0; i < PROBE_WRITES; i++) {
        uint64_t version;
        int64_t now = ptc_store_now(store), begun = ptc_clock_ns(NULL);
        int n = snprintf(name, sizeof name, "check-%llx", (unsigned long long)begun);
        const PtcStoreKey key = {"probe", PTC_TEXT("-"), {name, (size_t)n}};
        const PtcStorePut put = {
            .used_ms = now, .expires_ms = now + WRITTEN_MS, .bytes = PTC_TEXT("ptc store check")};
        status = ptc_store_put(store, &key, &put, &version);
        int64_t ns = ptc_clock_ns(NULL) - begun;
        if (status == PTC_STORE_OK)
            status = ptc_store_remove(store, &key, version);
        if (status != PTC_STORE_OK)
            return status;
        int at = i;
        for (; at > 0 && took[at - 1] > ns; at--)
            took[at] = took[at - 1];
        took[at] = ns;
    }
    *us = took[PROBE_WRITES / 2] / PTC_US;
    return status;
}

/* The time goes behind the first line.  A name with a mistake in it leads to an empty store, so that is told. */
static int check_store(PtcMem *mem, PtcStore *store, const StoreCommandOptions *o)
{
    PtcBuf said;
    int64_t us = 0;
    (void)o;
    ptc_buf_init(&said, mem, 64 * PTC_KB);
    PtcStoreStatus status = ptc_store_tell(store, &said);
    if (status == PTC_STORE_OK)
        status = time_of_write(store, &us);
    PtcText text = ptc_buf_view(&said);
    if (status == PTC_STORE_OK) {
        size_t first = 0;
        while (first < text.len && text.bytes[first] != '\n')
            first++;
        ptc_io_printf(PTC_IO_STDOUT, "%.*s: %lld us a write\n", PTC_ARG_OF(text.bytes, first),
                      (long long)us);
        if (first + 1 < text.len)
            (void)!ptc_shown_write_line(PTC_IO_STDOUT, text.bytes + first + 1,
                                        text.len - first - 1 - (text.bytes[text.len - 1] == '\n'));
    }
    ptc_buf_deinit(&said);
    if (status == PTC_STORE_OK && ptc_store_is_new(store))
        ptc_io_printf(PTC_IO_STDOUT, "there was none: it is new%s\n",
                      ptc_store_is_sealed(store) ? "" : ", and will never be sealed");
    return status == PTC_STORE_OK ? PTC_EXIT_OK : fail_store_word(store, "check", status);
}

/* ------------------------------------------------------------------------------------ erase */

static int erase_owner(PtcMem *mem, PtcStore *store, const StoreCommandOptions *o)
{
    size_t count = 0, more = 0;
    (void)mem;
    PtcStoreStatus status = ptc_store_erase(store, ptc_text_cstr(o->owner), &count);
    /* whom a server calls nothing, because nobody has a token */
    if (status == PTC_STORE_OK && strcmp(o->owner, "local") == 0)
        status = ptc_store_erase(store, PTC_TEXT(""), &more);
    count += more;
    if (status != PTC_STORE_OK)
        return fail_store_word(store, "erase", status);
    ptc_io_printf(PTC_IO_STDOUT, "%zu record%s of %s erased\n", count, count == 1 ? "" : "s",
                  o->owner);
    return PTC_EXIT_OK;
}

/* ------------------------------------------------------------------------------------- words */

static const struct {
    const char *word;
    int (*run)(PtcMem *mem, PtcStore *store, const StoreCommandOptions *o);
    bool upgrade, of_owner;
} words[] = {
    {"migrate", migrate, true, false},
    {"check", check_store, false, false},
    {"erase", erase_owner, false, true},
};
enum { STORE_WORDS = sizeof words / sizeof *words };

static int check_owner(const char *owner, bool wanted)
{
    if (!wanted)
        return owner ? ptc_options_wrong(&usage, "--owner goes with erase") : PTC_EXIT_OK;
    if (!owner || !*owner)
        return ptc_options_wrong(&usage, "erase: say whose records with --owner NAME");
    if (strlen(owner) > PTC_STORE_NAME)
        return ptc_options_wrong(&usage, "erase: --owner: this is no owner");
    return PTC_EXIT_OK;
}

/* What fails is told with the word, once. */
static void say_nothing(void *user, const char *text)
{
    (void)user;
    (void)text;
}

int ptc_cmd_store(PtcMem *mem, int argc, char **argv)
{
    StoreCommandOptions o = {.store.say = say_nothing};
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    int word = 0;
    while (argc > 0 && word < STORE_WORDS && strcmp(argv[0], words[word].word) != 0)
        word++;
    if (argc != 1 || word == STORE_WORDS)
        return ptc_options_wrong(&usage, "say one of migrate, check and erase");
    if (!ptc_store_url(&o.store))
        return ptc_options_wrong(&usage, "say which store: --store URL, or PTC_STORE");
    int status = check_owner(o.owner, words[word].of_owner);
    if (status != PTC_EXIT_OK)
        return status;
    char name[24];
    snprintf(name, sizeof name, "store %s", words[word].word);
    PtcStore *store = ptc_store_open_options(&o.store, name, words[word].upgrade);
    if (!store)
        return PTC_EXIT_FAILED;
    status = words[word].run(mem, store, &o);
    ptc_store_free(store);
    return status;
}
