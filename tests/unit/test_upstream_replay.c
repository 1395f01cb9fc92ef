/* SPDX-License-Identifier: MIT
 * Calls of a run that are given again by their identity, with memory that runs out at every allocation, and what a
 * person reads and has allowed for longer. */
#define _GNU_SOURCE
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/os/whole_file.h"
#include "base/text/hex.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "upstream/catalog/quoted.h"
#include "upstream/run/call_replay.h"
#include "upstream/run/grants.h"

static char dir[64];
static PtcMem mem;
static PtcFileShelf file_shelf;
static PtcShelf *shelf = &file_shelf.shelf;

static void print_of(const char *text, uint8_t out[PTC_SHA256_BYTES])
{
    ptc_sha256(text, strlen(text), out);
}

static PtcMeet meet(PtcReplay *r, uint64_t path, uint32_t count, const char *what, size_t *part)
{
    uint8_t print[PTC_SHA256_BYTES];
    print_of(what, print);
    return ptc_replay_meet(r, (PtcRemoteId){path, count}, print, part);
}

/* ------------------------------------------------------------------------------------ replay */

static void test_given_again(void)
{
    PtcReplay r;
    size_t part;
    ptc_replay_init(&r, &mem);
    CHECK(meet(&r, 0, 0, "read a", &part) == PTC_MEET_CALL);
    ptc_replay_keep(&r, part, true, true, PTC_TEXT("[1]"));
    CHECK(meet(&r, 0, 1, "write b", &part) == PTC_MEET_CALL);
    CHECK(ptc_replay_put_aside(&r, part, PTC_TEXT("{\"b\":1}")));
    CHECK(ptc_replay_waiting(&r) == 1);
    r.items[part].state = PTC_REPLAY_APPROVED;
    ptc_replay_again(&r);
    CHECK(ptc_replay_waiting(&r) == 0);
    CHECK(meet(&r, 0, 0, "read a", &part) == PTC_MEET_ANSWER);
    CHECK(r.items[part].ok && r.items[part].len == 3);
    CHECK(meet(&r, 0, 1, "write b", &part) == PTC_MEET_CALL);
    CHECK(r.items[part].state == PTC_REPLAY_APPROVED);
    ptc_replay_deinit(&r);
}

/* An approval is for what was shown; an answer for what was called; an identity for one call. */
static void test_diverges(void)
{
    PtcReplay r;
    size_t part;
    ptc_replay_init(&r, &mem);
    CHECK(meet(&r, 0, 0, "write a", &part) == PTC_MEET_CALL);
    CHECK(ptc_replay_put_aside(&r, part, PTC_TEXT("")));
    r.items[part].state = PTC_REPLAY_APPROVED;
    ptc_replay_again(&r);
    CHECK(meet(&r, 0, 0, "write b", &part) == PTC_MEET_CALL);
    CHECK(r.items[part].state == PTC_REPLAY_CALLED);
    ptc_replay_keep(&r, part, true, false, PTC_TEXT("1"));
    CHECK(meet(&r, 0, 0, "write b", &part) == PTC_MEET_DIVERGED);
    ptc_replay_deinit(&r);
    ptc_replay_init(&r, &mem);
    CHECK(meet(&r, 7, 0, "write a", &part) == PTC_MEET_CALL);
    ptc_replay_keep(&r, part, true, false, PTC_TEXT("1"));
    ptc_replay_again(&r);
    CHECK(meet(&r, 7, 0, "write c", &part) == PTC_MEET_DIVERGED);
    CHECK(r.diverged && meet(&r, 7, 1, "write d", &part) == PTC_MEET_DIVERGED);
    ptc_replay_deinit(&r);
}

static void test_full(void)
{
    PtcReplay r;
    size_t part, len = PTC_REPLAY_BYTES - 10;
    char *big = ptc_mem_alloc(&mem, len);
    memset(big, 'x', len);
    ptc_replay_init(&r, &mem);
    CHECK(meet(&r, 0, 0, "a", &part) == PTC_MEET_CALL);
    ptc_replay_keep(&r, part, true, true, (PtcText){big, len});
    CHECK(!r.full);
    CHECK(meet(&r, 0, 1, "b", &part) == PTC_MEET_CALL);
    ptc_replay_keep(&r, part, true, true, (PtcText){big, 11});
    CHECK(r.full);
    ptc_replay_deinit(&r);
    ptc_mem_free(&mem, big, len);
}

static void test_replay_no_memory(void)
{
    for (uint64_t at = 1; at < 8; at++) {
        PtcReplay r;
        size_t part;
        ptc_replay_init(&r, &mem);
        ptc_mem_fail_at(&mem, at);
        for (uint32_t i = 0; i < 40; i++)
            if (meet(&r, 0, i, "a", &part) == PTC_MEET_CALL)
                ptc_replay_keep(&r, part, true, true, PTC_TEXT("answer"));
        ptc_mem_fail_at(&mem, 0);
        CHECK(r.full);
        ptc_replay_deinit(&r);
    }
}

/* ------------------------------------------------------------------------------------- grants */

/* A grant in words: whose, of which tool of "notes", what the server is, how the tool is defined. */
static PtcGrantOf grant_of(const char *owner, const char *tool, const char *entry,
                           const char *definition)
{
    static uint8_t digests[2][PTC_SHA256_BYTES];
    print_of(entry, digests[0]);
    print_of(definition, digests[1]);
    return (PtcGrantOf){"", owner, PTC_TEXT("notes"), ptc_text_cstr(tool), digests[0], digests[1]};
}

static PtcGrantState find_grant(PtcGrantOf of)
{
    PtcGrants g;
    ptc_grants_init(&g, &mem);
    (void)ptc_grants_load(&g, shelf, of.realm, of.owner);
    PtcGrantState state = ptc_grants_find(&g, of);
    ptc_grants_deinit(&g);
    return state;
}

static PtcGrantState find(const char *owner, const char *tool, const char *entry,
                          const char *definition)
{
    return find_grant(grant_of(owner, tool, entry, definition));
}

static bool has(const char *owner, const char *tool, const char *entry, const char *definition)
{
    return find(owner, tool, entry, definition) == PTC_GRANT_HOLDS;
}

static bool keep(const char *owner, const char *tool, const char *entry, const char *definition)
{
    PtcWhy why = {0};
    bool kept = ptc_grants_keep(&mem, shelf, grant_of(owner, tool, entry, definition), 0, &why);
    CHECK(kept == (why.class == PTC_WHY_NONE));
    return kept;
}

static void test_grants(void)
{
    struct stat st;
    char path[128];
    snprintf(path, sizeof path, "%s/approvals.json", dir);
    CHECK(!has("", "write", "e", "1"));
    CHECK(keep("", "write", "e", "1") && keep("ann", "mail", "e", "1"));
    CHECK(has("", "write", "e", "1") && has("ann", "mail", "e", "1"));
    CHECK(find("bob", "mail", "e", "1") == PTC_GRANT_NONE && !has("", "mail", "e", "1"));
    PtcGrantOf far = grant_of("", "write", "e", "1");
    far.realm = "http:"; /* nobody has a name there either, and is somebody else */
    CHECK(find_grant(far) == PTC_GRANT_NONE);
    CHECK(find("", "write", "e", "2") == PTC_GRANT_OTHER_TOOL);
    CHECK(find("", "write", "f", "1") == PTC_GRANT_OTHER_ENTRY);
    CHECK(keep("", "write", "e", "2") && keep("", "write", "f", "1")); /* two servers of one name */
    CHECK(has("", "write", "e", "2") && !has("", "write", "e", "1") && has("", "write", "f", "1"));
    CHECK(has("ann", "mail", "e", "1"));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    static const char *const broken[] = {"",
                                         "{",
                                         "[]",
                                         "{\"format\":1}",
                                         "{\"format\":1,\"approvals\":[]}",
                                         "{\"format\":2,\"approvals\":[7,{},{\"owner\":\"x\"}]}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        CHECK(ptc_whole_file_put(path, ptc_text_cstr(broken[i]), (PtcWholeFile){0}));
        CHECK(!has("", "write", "e", "2"));
        bool readable = i + 1 == sizeof broken / sizeof *broken;
        CHECK(readable || !keep("", "write", "e", "2")); /* what cannot be read is not replaced */
    }
    CHECK(keep("", "write", "e", "3") && has("", "write", "e", "3"));
    CHECK(chmod(path, 0622) == 0 && !has("", "write", "e", "3"));
}

/* ---------------------------------------------------------------------------------- for people */

static const char *quoted(CheckHeap *h, const char *json)
{
    static char shown[PTC_QUOTED_BYTES + 1];
    PtcBuf out;
    PtcJsonError error;
    ptc_buf_init(&out, &h->mem, PTC_QUOTED_BYTES);
    bool ok =
        ptc_quoted_add_value(&out, &h->heap, ptc_json_parse(&h->heap, json, strlen(json), &error));
    CHECK(ok || out.len == 0);
    snprintf(shown, sizeof shown, "%.*s", (int)out.len, out.data ? out.data : "");
    ptc_buf_deinit(&out);
    return ok ? shown : NULL;
}

/* What a person reads before saying yes: all keys, and what is left out. */
static void test_quoted(CheckHeap *h)
{
    static char json[200 * 1000];
    int n = 0;
    CHECK_STR(quoted(h, "{\"a\":[1,null,true,\"\"],\"b\":{}}"),
              "{\"a\":[1,null,true,\"\"],\"b\":{}}");
    CHECK_STR(quoted(h, "{\"\\u202e\\\"\":\"\\\\ \\u0000\\ufe0f\\u2800\\r\"}"),
              "{\"\\u{202e}\\\"\":\"\\\\ \\u{0}\\u{fe0f}\\u{2800}\\u{d}\"}");
    snprintf(json, sizeof json, "\"%0*d\xc3\xa9%0*d\"", 5000, 1, 149, 2);
    const char *shown = quoted(h, json);
    CHECK(shown && strstr(shown, "0\" [4852 bytes left out] \"0")); /* no half of a character */
    snprintf(json, sizeof json, "1%01000d", 7);
    CHECK(quoted(h, json) && strstr(quoted(h, json), "bytes left out] \"000"));
    n = snprintf(json, sizeof json, "[");
    for (int i = 0; i < 2000; i++)
        n += snprintf(json + n, sizeof json - (size_t)n, "{\"k%d\":[%d]},", i == 999, i);
    snprintf(json + n, sizeof json - (size_t)n, "0]");
    CHECK(quoted(h, json) &&
          strstr(quoted(h, json), "left out, with the keys \"k0\", \"k1\"], 0]"));
    for (int depth = 60; depth < 70; depth++) {
        memset(json, '[', (size_t)depth);
        memset(json + depth, ']', (size_t)depth);
        json[2 * depth] = '\0';
        CHECK((quoted(h, json) != NULL) == (depth <= 65));
    }
    n = snprintf(json, sizeof json, "{\"k\":0");
    for (int i = 0; i < 1000; i++)
        n += snprintf(json + n, sizeof json - (size_t)n, ",\"k%d\":0", i);
    snprintf(json + n, sizeof json - (size_t)n, "}");
    CHECK(!quoted(h, json));
}

static bool fits_loosely(const char *pattern, const char *name)
{
    PtcSpelt spelt = {.raw = ptc_text_cstr(name)};
    CHECK(ptc_policy_fits(ptc_text_cstr(pattern), spelt, false) ==
          ptc_policy_glob(ptc_text_cstr(pattern), spelt.raw));
    return ptc_policy_fits(ptc_text_cstr(pattern), spelt, true);
}

/* What forbids something forbids it in every spelling, and nothing that is another word. */
static void test_spellings(void)
{
    static const char *const fit[][2] = {{"delete_all", "deleteAll"},
                                         {"deleteAll", "delete-all"},
                                         {"DELETE.ALL", "delete all"},
                                         {"delete_*", "deleteAll"},
                                         {"delete_*", "Delete-x"},
                                         {"delete_*", "delete"},
                                         {"*_all", "deleteAll"},
                                         {"*_all", "all"},
                                         {"a_?", "aB"},
                                         {"my-notes/x", "my notes/X"},
                                         {"*/drop_*", "db/dropTable"},
                                         {"_*", "_x"},
                                         {"l\xc3\xb6s_chen", "L\xc3\xb6sChen"},
                                         {"a*b*c", "a-b-c"},
                                         {"*", ""}};
    static const char *const not [][2] = {{"delete_*", "deleted_items"},
                                          {"*_all", "install"},
                                          {"get_*", "getaway"},
                                          {"_*", "x"},
                                          {"*-*", "x"},
                                          {"a/b", "ab"},
                                          {"delete", "delete_all"},
                                          {"l\xc3\xb6schen", "lschen"},
                                          {"a_?", "abc"},
                                          {"", "x"},
                                          {"__", "x"}};
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++)
        CHECK(fits_loosely(fit[i][0], fit[i][1]));
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        CHECK(!fits_loosely(not [i][0], not [i][1]));
}

int main(void)
{
    CheckHeap h;
    check_heap_init(&h);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    snprintf(dir, sizeof dir, "/tmp/ptc-replay-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
    CHECK(ptc_file_shelf_init(&file_shelf, dir));
    test_given_again();
    test_diverges();
    test_full();
    test_replay_no_memory();
    test_grants();
    test_quoted(&h);
    test_spellings();
    check_heap_deinit(&h);
    CHECK(atomic_load(&mem.used) == 0);
    static const char *const files[] = {"approvals.json", "approvals.lock"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
    return check_done("upstream_replay");
}
