/* SPDX-License-Identifier: MIT
 * test_upstream_link.c - a link to a stdio server, with every fault of tests/upstream/faulty.py. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "base/os/leash.h"
#include "unit/link_help.h"

static PtcMem mem;
static PtcLoop *loop;
static Peer peer;
static Call call;
static Listing listing;
static PtcLinkRoom room = {.limit = 32 << 20};
static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "TOKEN=abc123secret",
                                          NULL};

static void open_link(const char *modes, const char *era, const char *seconds, PtcLinkConfig *more)
{
    const char *argv[] = {
        "python3", "tests/upstream/faulty.py", modes, "--era", era, "--seconds", seconds, NULL};
    peer_init(&peer, &mem, loop);
    PtcLinkConfig c = peer_config(&peer);
    c.argv = argv;
    c.env = environment;
    c.room = &room;
    if (more) {
        c.era = more->era;
        c.handshake_ms = more->handshake_ms ? more->handshake_ms : c.handshake_ms;
        c.max_message = more->max_message;
        c.cwd = more->cwd;
    }
    peer.link = ptc_link_new(&mem, loop, &c);
    CHECK(peer.link);
}

static void close_link(void)
{
    peer_free(&peer);
    free(call.text);
    memset(&call, 0, sizeof call);
}

static bool start(const char *modes, const char *era)
{
    open_link(modes, era, "1", NULL);
    return peer_connect(&peer);
}

/* It is given back right after the answer. */
static void check_room(void)
{
    for (int i = 0; i < 5000 && atomic_load(&room.used); i++)
        check_pause_us(2000);
    CHECK(atomic_load(&room.used) == 0);
}

/* A plain server in an era: everything works. */
static void check_works(void)
{
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_ANSWER);
    CHECK(strstr(call.text, "\"hello\""));
}

static void test_eras(void)
{
    static const struct {
        const char *modes, *era;
        PtcLinkEra is;
        const char *version;
    } rows[] = {{"", "legacy", PTC_LINK_LEGACY, "2025-11-25"},
                {"", "modern", PTC_LINK_MODERN, "2026-07-28"},
                {"", "both", PTC_LINK_MODERN, "2026-07-28"},
                {"exit_at_probe", "legacy", PTC_LINK_LEGACY, "2025-11-25"},
                {"silent_probe", "legacy", PTC_LINK_LEGACY, "2025-11-25"},
                {"modern_error", "both", PTC_LINK_LEGACY, "2025-06-18"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(start(rows[i].modes, rows[i].era));
        CHECK(ptc_link_era(peer.link) == rows[i].is);
        PtcText about = ptc_link_about(peer.link);
        CHECK(memmem(about.bytes, about.len, rows[i].version, 10));
        CHECK(memmem(about.bytes, about.len, "\"name\": \"faulty\"", 16) ||
              memmem(about.bytes, about.len, "\"name\":\"faulty\"", 15));
        CHECK(memmem(about.bytes, about.len, "Be careful.", 11));
        check_works();
        CHECK(list_tools(&listing, &peer) == PTC_LINK_ANSWER && listing.items == 7 &&
              !listing.note);
        close_link();
    }
}

/* What an earlier connection knew is tried first, and given up when it is wrong. */
static void test_known_era(void)
{
    PtcLinkConfig more = {.era = PTC_LINK_LEGACY};
    open_link("", "modern", "1", &more);
    CHECK(peer_connect(&peer) && ptc_link_era(peer.link) == PTC_LINK_MODERN);
    check_works();
    close_link();
    more.era = PTC_LINK_MODERN;
    open_link("", "legacy", "1", &more);
    CHECK(peer_connect(&peer) && ptc_link_era(peer.link) == PTC_LINK_LEGACY);
    check_works();
    close_link();
}

static void test_starts(void)
{
    PtcLinkConfig more = {.handshake_ms = 300};
    CHECK(!start("exit_at_start", "legacy"));
    CHECK(strstr(peer.why, "it ended with status 4") &&
          strstr(peer.why, "problem with the configuration"));
    CHECK(call_tool(&call, &peer, ECHO, 1000) == PTC_LINK_BROKEN && !call.delivered);
    close_link();
    open_link("silent", "legacy", "1", &more);
    CHECK(!peer_connect(&peer) && strstr(peer.why, "the handshake took too long"));
    CHECK(!peer_connect(&peer)); /* again, as often as one likes */
    close_link();
    more = (PtcLinkConfig){.cwd = "/no/such/place"};
    open_link("", "legacy", "1", &more);
    CHECK(!peer_connect(&peer) &&
          strstr(peer.why, "cannot change to the directory /no/such/place"));
    close_link();
    CHECK(start("slow_start,banner,junk,deep", "legacy"));
    check_works();
    CHECK(strstr(peer.log, "is not a message and was skipped: Welcome"));
    close_link();
}

static void test_no_program(void)
{
    const char *argv[] = {"no-such-program-here", NULL};
    peer_init(&peer, &mem, loop);
    PtcLinkConfig c = peer_config(&peer);
    c.argv = argv;
    c.env = environment;
    peer.link = ptc_link_new(&mem, loop, &c);
    CHECK(!peer_connect(&peer));
    CHECK(strstr(peer.why, "cannot start no-such-program-here: No such file or directory"));
    close_link();
}

/* Starts a command that says something on standard error and ends; what it said is in peer.why. */
static void hear(const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    peer_init(&peer, &mem, loop);
    PtcLinkConfig c = peer_config(&peer);
    c.argv = argv;
    c.env = environment;
    peer.link = ptc_link_new(&mem, loop, &c);
    CHECK(!peer_connect(&peer));
    close_link();
}

/* The environment is what the config says, nothing else; three descriptors, default signals, a session of its own. */
static void test_surroundings(void)
{
    CHECK(start("", "legacy"));
    CHECK(call_tool(&call, &peer, "{\"name\":\"env\",\"arguments\":{}}", 20000) == PTC_LINK_ANSWER);
    CHECK(strstr(call.text, "abc123secret") && !strstr(call.text, "HOME"));
    close_link();
    hear("exec ls /proc/self/fd >&2");
    CHECK(strstr(peer.why, "0\n1\n2\n3")); /* the last one is where ls reads this */
    CHECK(!strstr(peer.why, "\n4"));
    hear("exec grep -E 'SigBlk|SigIgn' /proc/self/status >&2");
    CHECK(strstr(peer.why, "SigBlk:\t0000000000000000"));
    /* bits 31 and 32 are the thread library's own, and come from whoever started the test */
    const char *ignored = strstr(peer.why, "SigIgn:\t");
    CHECK(ignored && (strtoull(ignored + 8, NULL, 16) & ~0x180000000ull) == 0);
    hear("exec cat /proc/self/stat >&2");
    int pid = 0, group = 0, session = 0;
    const char *stat = strstr(peer.why, "ends with: ");
    CHECK(stat && sscanf(stat + 11, "%d (%*[^)]) %*c %*d %d %d", &pid, &group, &session) == 3);
    CHECK(pid > 0 && pid == group && pid == session);
}

static void test_calls(void)
{
    CHECK(start("dies", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_BROKEN && call.delivered);
    CHECK(strstr(call.text, "it ended with status 7"));
    PEER_WAIT(&peer, peer.state == PTC_LINK_DOWN);
    CHECK(peer_connect(&peer)); /* and starts again */
    close_link();
    CHECK(start("hangs", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 300) == PTC_LINK_TIMEOUT && call.delivered);
    close_link();
    CHECK(start("twice,unknown_id,banner", "legacy"));
    for (int i = 0; i < 5; i++)
        check_works();
    close_link();
    CHECK(start("late", "both"));
    CHECK(call_tool(&call, &peer, ECHO, 200) == PTC_LINK_TIMEOUT);
    CHECK(call_tool(&call, &peer, ECHO, 20000) ==
          PTC_LINK_ANSWER); /* its own answer, not the late one */
    close_link();
    CHECK(start("bad_result", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_BAD_ANSWER && call.delivered);
    close_link();
    CHECK(start("half_pair", "modern")); /* no JSON for us, but an answer */
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_BAD_ANSWER && call.delivered);
    CHECK(strstr(call.text, "cannot be read"));
    close_link();
    CHECK(start("protocol_error", "modern"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_ERROR &&
          strstr(call.text, "something broke"));
    close_link();
    CHECK(start("closes_stdout", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_BROKEN);
    CHECK(strstr(call.text, "closed its standard output"));
    close_link();
}

static void test_cancel(void)
{
    CHECK(start("hangs", "modern"));
    call_begin(&call, &peer, "tools/call", ECHO, 60000);
    ptc_link_cancel(peer.link, &call.ask);
    CHECK(call_wait(&call) == PTC_LINK_CANCELLED);
    ptc_link_cancel(peer.link, &call.ask); /* too late, and harmless */
    call_begin(&call, &peer, "tools/call", ECHO, 60000);
    ptc_link_free(peer.link);
    CHECK(call.over && call.end == PTC_LINK_BROKEN);
    peer.link = NULL;
    close_link();
}

/* Progress is told and gives more time, up to a limit. */
static void test_progress(void)
{
    CHECK(start("progress", "legacy"));
    call.ask.progress = call_progress;
    call.ask.most_ns = ptc_clock_ns(NULL) + (int64_t)60 * 1000000000;
    CHECK(call_tool(&call, &peer, ECHO, 900) == PTC_LINK_ANSWER);
    CHECK(peer.progress == 5 && peer.last_progress == 5);
    CHECK_STR(peer.message, "st\xc3\xa9p \"4\"");
    close_link();
    CHECK(start("progress", "legacy")); /* the limit may come later, with another end */
    call.ask.progress = call_progress;
    call.ask.most_ns = 0;
    call_begin(&call, &peer, "tools/call", ECHO, 60000);
    int64_t now = ptc_clock_ns(NULL);
    ptc_link_extend(peer.link, &call.ask, now + (int64_t)900 * 1000000,
                    now + (int64_t)60 * 1000000000);
    CHECK(call_wait(&call) == PTC_LINK_ANSWER && peer.progress == 5);
    close_link();
}

/* One line of 100 MB, and floods: bounded memory, and the next call works. */
static void test_floods(void)
{
    PtcLinkConfig more = {.max_message = 1 << 20};
    open_link("flood_line", "legacy", "1", &more);
    CHECK(peer_connect(&peer));
    size_t before = atomic_load(&mem.used);
    call_tool(&call, &peer, ECHO, 60000);
    CHECK(call.end == PTC_LINK_TOO_LARGE || call.end == PTC_LINK_ANSWER);
    CHECK(atomic_load(&mem.used) < before + (1 << 20));
    check_works();
    check_room();
    close_link();
    CHECK(start("flood", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 60000) == PTC_LINK_ANSWER);
    PEER_WAIT(&peer, peer.notices == 100000);
    close_link();
    CHECK(start("stderr_flood", "legacy"));
    check_works();
    CHECK(peer.log_lines <= 201);
    close_link();
    open_link("long_answer", "legacy", "1", &more);
    CHECK(peer_connect(&peer));
    CHECK(call_tool(&call, &peer, ECHO, 60000) == PTC_LINK_TOO_LARGE && call.bytes > 20 << 20);
    close_link();
}

/* Prints the line that a call brings, with its own id in the place of OWN and much in the place of MUCH. */
static const char printer[] =
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    m = json.loads(line)\n"
    "    own = str(m.get('id'))\n"
    "    if m['method'] == 'server/discover':\n"
    "        text = '{\"id\":OWN,\"result\":{\"supportedVersions\":[\"2026-07-28\"],'\\\n"
    "               '\"capabilities\":{\"tools\":{\"listChanged\":true}}}}'\n"
    "    elif m['method'] == 'tools/call':\n"
    "        text = m['params']['line']\n"
    "    else:\n"
    "        continue\n"
    "    print(text.replace('OWN', own).replace('MUCH', 'x' * 300000), flush=True)\n";

static void start_printer(void)
{
    const char *argv[] = {"python3", "-c", printer, NULL};
    peer_init(&peer, &mem, loop);
    PtcLinkConfig c = peer_config(&peer);
    c.argv = argv;
    c.env = environment;
    c.max_message = 100000;
    peer.link = ptc_link_new(&mem, loop, &c);
    CHECK(peer.link && peer_connect(&peer));
}

/* An answer that is too long ends the call that it is for, whatever else is called an id in it, and nothing else
 * does. */
static void test_whose_is_too_long(void)
{
    static const char *const lines[] = {
        "{\\\"result\\\":{\\\"a\\\":{\\\"id\\\":%llu,\\\"b\\\":\\\"MUCH\\\"}},\\\"jsonrpc\\\":"
        "\\\"2.0\\\",\\\"id\\\":OWN}",
        "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\": "
        "OWN,\\\"result\\\":{\\\"b\\\":\\\"MUCH\\\",\\\"id\\\":%llu}}",
        "{\\\"result\\\":{\\\"b\\\":\\\"MUCH\\\",\\\"c\\\":[{\\\"id\\\":%llu}]},\\\"id\\\":OWN,"
        "\\\"jsonrpc\\\":\\\"2.0\\\"}",
        "{\\\"method\\\":\\\"notifications/"
        "a\\\",\\\"params\\\":{\\\"id\\\":%llu,\\\"b\\\":\\\"MUCH\\\"}}\\n"
        "{\\\"method\\\":\\\"a\\\",\\\"id\\\":%llu,\\\"params\\\":{\\\"b\\\":\\\"MUCH\\\"}}\\n"
        "{\\\"id\\\":OWN,\\\"result\\\":{}}"};
    static Call other;
    char params[1000], line[500];
    start_printer();
    for (size_t i = 0; i < 4; i++) {
        call_begin(&other, &peer, "tools/call", "{\"line\":\"\"}", 60000);
        unsigned long long id = other.ask.id;
        snprintf(line, sizeof line, lines[i], id, id);
        snprintf(params, sizeof params, "{\"line\":\"%s\"}", line);
        CHECK(call_tool(&call, &peer, params, 20000) ==
              (i < 3 ? PTC_LINK_TOO_LARGE : PTC_LINK_ANSWER));
        peer_lock(&peer);
        CHECK(!other.over);
        pthread_mutex_unlock(&peer.lock);
        ptc_link_cancel(peer.link, &other.ask);
        CHECK(call_wait(&other) == PTC_LINK_CANCELLED);
    }
    free(other.text);
    other.text = NULL;
    close_link();
}

/* Where an answer shows no id it is for the only call that waits, not for the stream of changes. */
static void test_only_call_too_long(void)
{
    start_printer();
    do
        CHECK(call_tool(&call, &peer,
                        "{\"line\":\"{\\\"result\\\":{\\\"b\\\":\\\"MUCH\\\"},\\\"id\\\":OWN,"
                        "\\\"c\\\":{\\\"b\\\":\\\"MUCH\\\"}}\"}",
                        20000) == PTC_LINK_TOO_LARGE);
    while (call.end == PTC_LINK_TOO_LARGE && call.ask.id < 70);
    close_link();
}

/* A page whose items fill the buffer, and no memory for the bracket that ends the list. */
static void test_list_no_memory(void)
{
    PtcLinkReply page = {.end = PTC_LINK_ANSWER, .delivered = true};
    start_printer();
    listing = (Listing){.peer = &peer, .list.listed = listing_done};
    CHECK(ptc_link_list(peer.link, &listing.list, "tools/list", "tools"));
    ptc_buf_init(&page.text, &mem, 1000);
    CHECK(listing.list.all.cap == 64 && listing.list.all.len == 1);
    ptc_buf_addf(&page.text, "{\"tools\":[\"%061d\"]}", 0);
    size_t limit = mem.limit;
    mem.limit = atomic_load(&mem.used);
    listing.list.ask.done(&listing.list.ask, &page);
    mem.limit = limit;
    CHECK(listing.over && listing.end == PTC_LINK_NO_MEMORY);
    ptc_buf_deinit(&page.text);
    close_link();
}

/* A server of the older era that greets, and then does what the script says. */
static bool start_script(const char *script)
{
    char text[1024];
    snprintf(text, sizeof text,
             "read a; echo '{\"id\":1,\"error\":{\"code\":-32601}}'; read b;"
             "echo '{\"id\":2,\"result\":{\"protocolVersion\":\"2025-11-25\"}}'; %s",
             script);
    const char *argv[] = {"sh", "-c", text, NULL};
    peer_init(&peer, &mem, loop);
    PtcLinkConfig c = peer_config(&peer);
    c.argv = argv;
    c.env = environment;
    peer.link = ptc_link_new(&mem, loop, &c);
    return peer.link && peer_connect(&peer);
}

/* A server that asks, and does not read what it is told: only so much is kept for it. */
static void test_asks_without_reading(void)
{
    CHECK(start_script("read c; read d;"
                       "yes '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}' |"
                       "head -n 100000; echo '{\"id\":3,\"result\":{}}'; sleep 60"));
    size_t before = atomic_load(&mem.used);
    CHECK(call_tool(&call, &peer, ECHO, 60000) == PTC_LINK_ANSWER);
    CHECK(atomic_load(&mem.used) < before + (1 << 20));
    close_link();
}

/* Large answers go through the shared room and give it back. */
static void test_large(void)
{
    CHECK(start("", "legacy"));
    for (int i = 0; i < 3; i++) {
        CHECK(call_tool(&call, &peer, "{\"name\":\"big\",\"arguments\":{\"bytes\":5000000}}",
                        60000) == PTC_LINK_ANSWER);
        CHECK(strlen(call.text) > 5000000 && call.bytes > 5000000);
    }
    check_room();
    close_link();
}

/* Every allocation fails once: no leak, no hang, and every ask ends. */
static void test_no_memory(void)
{
    const char *argv[] = {
        "sh", "-c",
        "read a; echo '{\"id\":1,\"error\":{\"code\":-32601}}'; read b;"
        "echo '{\"id\":2,\"result\":{\"protocolVersion\":\"2025-11-25\"}}'; read c; read d;"
        "echo '{\"id\":3,\"result\":{\"tools\":[{}]}}'; read e",
        NULL};
    unsigned ready = 0;
    for (uint64_t n = 1; n < 80; n++) {
        PtcMem own;
        ptc_mem_init(&own, SIZE_MAX / 2);
        peer_init(&peer, &own, loop);
        PtcLinkConfig c = peer_config(&peer);
        c.argv = argv;
        c.env = environment;
        c.handshake_ms = 300;
        ptc_mem_fail_at(&own, n);
        peer.link = ptc_link_new(&own, loop, &c);
        if (peer.link && peer_connect(&peer)) {
            ready++;
            listing = (Listing){.peer = &peer, .list.listed = listing_done};
            listing.list.ask.end_ns = ptc_clock_ns(NULL) + (int64_t)300 * 1000000;
            if (ptc_link_list(peer.link, &listing.list, "tools/list", "tools"))
                PEER_WAIT(&peer, listing.over);
        }
        close_link();
        for (int i = 0; i < 5000 && atomic_load(&own.used);
             i++) /* what waits for the process to end */
            check_pause_us(2000);
        CHECK(atomic_load(&own.used) == 0);
    }
    CHECK(ready > 10);
}

/* A server that never reads: what was not written is not delivered, and memory is bounded. */
static void test_never_reads(void)
{
    static Call many[40];
    size_t size = 1 << 20;
    char *params = malloc(size + 100);
    CHECK(start("", "legacy"));
    close_link();
    CHECK(start_script("exec sleep 1000"));
    memset(params, 'x', size);
    memcpy(params, "{\"a\":\"", 6);
    memcpy(params + size, "\"}", 3);
    for (size_t i = 0; i < 40; i++)
        call_begin(&many[i], &peer, "tools/call", params, 2500);
    size_t delivered = 0, refused = 0;
    for (size_t i = 0; i < 40; i++) {
        call_wait(&many[i]);
        CHECK(many[i].end == PTC_LINK_TIMEOUT || many[i].end == PTC_LINK_BROKEN);
        delivered += many[i].delivered;
        refused += many[i].end == PTC_LINK_BROKEN;
        free(many[i].text);
        many[i].text = NULL;
    }
    CHECK(delivered == 1 && refused >= 8);
    free(params);
    close_link();
}

/* Is a request of so many bytes taken?  It is taken back at once. */
static bool is_taken(char *params, size_t size)
{
    static Call one;
    params[size - 2] = '"';
    params[size - 1] = '}';
    params[size] = 0;
    call_begin(&one, &peer, "tools/call", params, 60000);
    params[size - 2] = params[size - 1] = params[size] = 'x';
    ptc_link_cancel(peer.link, &one.ask);
    bool taken = call_wait(&one) == PTC_LINK_CANCELLED;
    free(one.text);
    one.text = NULL;
    return taken;
}

/* What waits to be written has a limit, also when a message fits exactly. */
static void test_full_queue(void)
{
    static Call first, last;
    size_t most = 32 << 20, least = 100;
    char *params = malloc(most + 1);
    memset(params, 'x', most + 1);
    memcpy(params, "{\"a\":\"", 6);
    CHECK(start_script("exec sleep 1000"));
    params[1 << 20] = 0;
    memcpy(params + (1 << 20) - 2, "\"}", 2);
    call_begin(&first, &peer, "tools/call", params, 60000);
    memset(params + (1 << 20) - 2, 'x', 3);
    while (most - least > 1) { /* the longest that is taken */
        size_t size = least + (most - least) / 2;
        *(is_taken(params, size) ? &least : &most) = size;
    }
    memcpy(params + least - 2, "\"}", 3);
    call_begin(&last, &peer, "tools/call", params, 60000);
    memset(params + least - 2, 'x', 3);
    CHECK(!is_taken(params, 1 << 20) && !is_taken(params, 100));
    free(params);
    close_link();
    CHECK(first.end == PTC_LINK_BROKEN && last.end == PTC_LINK_BROKEN && !last.delivered);
    free(first.text);
    free(last.text);
    first.text = last.text = NULL;
}

static void test_requests(void)
{
    static const char *const rows[][2] = {{"asks", "elicitation/create"},
                                          {"samples", "sampling/createMessage"},
                                          {"wants_roots", "roots/list"}};
    for (size_t i = 0; i < 3; i++) {
        CHECK(start(rows[i][0], "legacy"));
        CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_ANSWER &&
              strstr(call.text, "-32601"));
        CHECK_STR(peer.request, rows[i][1]);
        CHECK(strstr(peer.log, "was refused"));
        peer.answer = "{\"roots\":[]}";
        CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_ANSWER &&
              strstr(call.text, "roots"));
        close_link();
    }
    CHECK(start("wants_ping", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_ANSWER && peer.requests == 0);
    close_link();
}

static void test_lists(void)
{
    static const struct {
        const char *modes;
        PtcLinkEnd end;
        size_t items;
        const char *note;
    } rows[] = {{"repeated_cursor", PTC_LINK_ANSWER, 7, "it gave the same cursor twice"},
                {"empty_cursor", PTC_LINK_ANSWER, 7, NULL},
                {"endless_pages", PTC_LINK_ANSWER, 200, "it has more than 200 pages"},
                {"many_tools", PTC_LINK_ANSWER, 5000, "it has more than 5000 entries"},
                {"equal_names", PTC_LINK_ANSWER, 8, NULL},
                {"bad_tools", PTC_LINK_ANSWER, 11, NULL},
                {"failed_page", PTC_LINK_ERROR, 3, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(start(rows[i].modes, i % 2 ? "modern" : "legacy"));
        CHECK(list_tools(&listing, &peer) == rows[i].end && listing.items == rows[i].items);
        CHECK(rows[i].note ? listing.note && !strcmp(listing.note, rows[i].note) : !listing.note);
        if (i % 2)
            CHECK(strstr(listing.first, "\"ttlMs\":1000"));
        close_link();
    }
    CHECK(start("changes_list", "legacy"));
    CHECK(list_tools(&listing, &peer) == PTC_LINK_ANSWER && listing.items == 7);
    PEER_WAIT(&peer, peer.notices == 1);
    CHECK_STR(peer.notice, "notifications/tools/list_changed");
    CHECK(list_tools(&listing, &peer) == PTC_LINK_ANSWER && listing.items == 1);
    close_link();
}

/* ---------------------------------------------------------------------- processes */

/* Children of this process that are no zombies, and descriptors. */
static size_t count_entries(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* Processes whose environment has this text. */
static size_t count_marked(const char *mark)
{
    size_t found = 0;
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char path[300], text[8192];
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        FILE *file = entry->d_name[0] >= '0' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        size_t n = file ? fread(text, 1, sizeof text, file) : 0;
        found += n && memmem(text, n, mark, strlen(mark));
        if (file)
            fclose(file);
    }
    if (dir)
        closedir(dir);
    return found;
}

static size_t wait_until_gone(const char *mark, int64_t ms)
{
    size_t left = 1;
    for (int64_t end = ptc_clock_ns(NULL) + ms * 1000000; left && ptc_clock_ns(NULL) < end;) {
        left = count_marked(mark);
        if (left)
            check_pause_us(10000);
    }
    return left;
}

/* In a child: connects to the server with grandchildren, says so, and waits to be killed. */
static void be_parent(int ready, const char *mark)
{
    const char *argv[] = {"python3", "tests/upstream/faulty.py", "grandchild", NULL};
    const char *env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", mark, NULL};
    PtcMem own;
    ptc_mem_init(&own, SIZE_MAX / 2);
    peer_init(&peer, &own, ptc_loop_new(&own));
    PtcLinkConfig c = peer_config(&peer);
    c.argv = argv;
    c.env = env;
    peer.link = ptc_link_new(&own, peer.loop, &c);
    if (peer_connect(&peer))
        (void)!write(ready, "r", 1);
    for (;;)
        pause();
}

/* Two grandchildren that ignore SIGTERM, one of them in a session of its own; the server ignores SIGTERM too. */
static void test_killed_parent(void)
{
    char mark[64], byte;
    int ends[2];
    snprintf(mark, sizeof mark, "PTC_MARK=link-%d", (int)getpid());
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0)
        be_parent(ends[1], mark);
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK(count_marked(mark) == 4); /* leash, server, two grandchildren */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    int64_t begun = ptc_clock_ns(NULL);
    CHECK(wait_until_gone(mark, 20000) == 0);
    printf("after SIGKILL everything was gone in %d ms\n",
           (int)((ptc_clock_ns(NULL) - begun) / 1000000));
    close(ends[0]);
    close(ends[1]);
}

/* Asks once more when it has ended; `again` counts for how long that goes on. */
static struct {
    PtcLinkAsk ask;
    int asked, ended;
} again;

static void ask_again(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    (void)reply;
    again.ended++;
    again.asked +=
        ptc_link_ask(peer.link, ask, "tools/call", PTC_TEXT("{\"line\":\"\"}"), (PtcText){NULL, 0});
}

/* Whoever asks while a link is being freed is told, or hears that it cannot be. */
static void test_asked_when_freed(void)
{
    start_printer();
    memset(&again, 0, sizeof again);
    again.ask.done = ask_again;
    again.asked = ptc_link_ask(peer.link, &again.ask, "tools/call", PTC_TEXT("{\"line\":\"\"}"),
                               (PtcText){NULL, 0});
    close_link();
    CHECK(again.asked > 0 && again.ended == again.asked);
}

/* The end of a leash takes the server with it. */
static void test_freed(void)
{
    char mark[64];
    snprintf(mark, sizeof mark, "PTC_MARK=free-%d", (int)getpid());
    const char *argv[] = {"python3", "tests/upstream/faulty.py", "grandchild", NULL};
    const char *env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", mark, NULL};
    peer_init(&peer, &mem, loop);
    PtcLinkConfig c = peer_config(&peer);
    c.argv = argv;
    c.env = env;
    peer.link = ptc_link_new(&mem, loop, &c);
    CHECK(peer_connect(&peer));
    close_link();
    CHECK(wait_until_gone(mark, 20000) == 0);
}

/* Starts and stops leave nothing behind: no descriptor, no process, no memory. */
static void test_many_starts(int times)
{
    const char *argv[] = {
        "sh", "-c",
        "read a; echo '{\"id\":1,\"error\":{\"code\":-32601}}'; read b;"
        "echo '{\"id\":2,\"result\":{\"protocolVersion\":\"2025-11-25\"}}'; read c; read d",
        NULL};
    size_t descriptors = 0, used = 0;
    for (int i = 0; i < times; i++) {
        peer_init(&peer, &mem, loop);
        PtcLinkConfig c = peer_config(&peer);
        c.argv = argv;
        c.env = environment;
        peer.link = ptc_link_new(&mem, loop, &c);
        CHECK(peer_connect(&peer));
        close_link();
        for (int wait = 0; wait < 1000 && (waitpid(-1, NULL, WNOHANG) == 0); wait++)
            check_pause_us(2000);
        if (i == 0) {
            check_pause_us(50000);
            descriptors = count_entries("/proc/self/fd");
            used = atomic_load(&mem.used);
        }
    }
    int64_t end = ptc_clock_ns(NULL) + (int64_t)10 * 1000000000;
    while (count_entries("/proc/self/fd") > descriptors && ptc_clock_ns(NULL) < end)
        check_pause_us(10000);
    CHECK(count_entries("/proc/self/fd") <= descriptors);
    CHECK(atomic_load(&mem.used) <= used);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

int main(int argc, char **argv)
{
    if (ptc_leash_asked(argc, argv))
        return ptc_leash_main(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    loop = ptc_loop_new(&mem);
    const char *only = argc > 1 ? argv[1] : "";
#define RUN(call)            \
    if (strstr(#call, only)) \
    CHECK_RUN(call)
    RUN(test_eras());
    RUN(test_known_era());
    RUN(test_starts());
    RUN(test_no_program());
    RUN(test_surroundings());
    RUN(test_calls());
    RUN(test_cancel());
    RUN(test_progress());
    RUN(test_asks_without_reading());
    RUN(test_floods());
    RUN(test_whose_is_too_long());
    RUN(test_only_call_too_long());
    RUN(test_list_no_memory());
    RUN(test_large());
    RUN(test_never_reads());
    RUN(test_full_queue());
    RUN(test_no_memory());
    RUN(test_requests());
    RUN(test_lists());
    RUN(test_asked_when_freed());
    RUN(test_freed());
    RUN(test_many_starts(200));
    ptc_loop_free(loop);
    CHECK(atomic_load(&mem.used) == 0);
    RUN(test_killed_parent());
    return check_done("link");
}
