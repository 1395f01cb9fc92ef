/* SPDX-License-Identifier: MIT
 * Grants, and the sheet that keeps them, the file approvals.json or a record for each owner.  What always holds: it is
 * replaced whole, and names servers and tools in words, so that a person can read it and take a line out; owners are in
 * it as digests only, so a sheet that was given to another owner grants nothing. */
#include "upstream/run/grants.h"

#include <errno.h>

#include "base/grow.h"
#include "base/text/hex.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum {
    GRANTS_FORMAT = 2, /* files of another one are not read */
    GRANTS_FILE_BYTES = 4 * PTC_MB,
    GRANTS_HEAP_BYTES = 32 * PTC_MB,
    GRANTS_LOCK_MS = 2000,
    GRANTS_TURNS = 50, /* of those who write at once */
};

void ptc_grants_init(PtcGrants *g, PtcMem *mem)
{
    *g = (PtcGrants){.mem = mem};
}

void ptc_grants_deinit(PtcGrants *g)
{
    ptc_mem_free(g->mem, g->items, g->cap * sizeof *g->items);
    *g = (PtcGrants){.mem = g->mem};
}

bool ptc_grants_copy(PtcGrants *to, const PtcGrants *from)
{
    ptc_grants_deinit(to);
    if (!PTC_GROW(to->mem, &to->items, &to->cap, from->count))
        return false;
    if (from->count)
        memcpy(to->items, from->items, from->count * sizeof *from->items);
    to->count = from->count;
    return true;
}

const char *ptc_grant_lapse(PtcGrantState was)
{
    static const char *const lapses[] = {
        [PTC_GRANT_OTHER_ENTRY] = "it was allowed before, but not for this server: its command, "
                                  "directory or address is another one now",
        [PTC_GRANT_OTHER_TOOL] = "it was allowed before, but its definition has changed since",
        [PTC_GRANT_HOLDS] = NULL};
    return lapses[was];
}

void ptc_grants_pack(const PtcGrants *g, PtcBuf *out)
{
    ptc_pack_u32(out, (uint32_t)g->count);
    ptc_buf_add(out, g->items, g->count * sizeof *g->items);
}

bool ptc_grants_unpack(PtcGrants *g, PtcPackedReader *in)
{
    uint32_t n = ptc_unpack_below(in, PTC_GRANTS_MOST);
    const char *bytes = ptc_unpack_bytes(in, n * sizeof *g->items);
    in->bad = in->bad || !PTC_GROW(g->mem, &g->items, &g->cap, n);
    if (in->bad)
        return false;
    if (n)
        memcpy(g->items, bytes, n * sizeof *g->items);
    g->count = n;
    return true;
}

void ptc_grants_owner(const char *realm, const char *owner, uint8_t out[PTC_SHA256_BYTES])
{
    PtcText parts[] = {PTC_TEXT("ptc owner\0"), ptc_text_cstr(realm), ptc_text_cstr(owner)};
    ptc_sha256_parts(parts, 3, out);
}

static void digest_tool(const uint8_t owner[PTC_SHA256_BYTES], PtcText server, PtcText tool,
                        uint8_t out[PTC_SHA256_BYTES])
{
    uint64_t len = server.len; /* so that no name can pass for the beginning of another */
    PtcText parts[] = {
        {(const char *)owner, PTC_SHA256_BYTES}, {(const char *)&len, sizeof len}, server, tool};
    ptc_sha256_parts(parts, 4, out);
}

static PtcGrant make_grant(PtcGrantOf of)
{
    PtcGrant grant = {.until_ms = 0};
    uint8_t owner[PTC_SHA256_BYTES];
    ptc_grants_owner(of.realm, of.owner, owner);
    digest_tool(owner, of.server, of.tool, grant.name);
    memcpy(grant.entry, of.entry, sizeof grant.entry);
    memcpy(grant.pin, of.pin, sizeof grant.pin);
    return grant;
}

static PtcGrantState compare_grants(const PtcGrant *a, const PtcGrant *b)
{
    return memcmp(a->name, b->name, sizeof a->name) != 0      ? PTC_GRANT_NONE
           : memcmp(a->entry, b->entry, sizeof a->entry) != 0 ? PTC_GRANT_OTHER_ENTRY
           : memcmp(a->pin, b->pin, sizeof a->pin) != 0       ? PTC_GRANT_OTHER_TOOL
                                                              : PTC_GRANT_HOLDS;
}

/* The most alike. */
static PtcGrantState find_like_grant(const PtcGrants *g, const PtcGrant *wanted, PtcGrant **found)
{
    PtcGrantState best = PTC_GRANT_NONE;
    for (size_t i = 0; i < g->count; i++) {
        PtcGrantState state = compare_grants(&g->items[i], wanted);
        if (state <= best)
            continue;
        best = state;
        *found = &g->items[i];
    }
    return best;
}

static bool add_grant(PtcGrants *g, const PtcGrant *new)
{
    PtcGrant *grant = NULL;
    if (find_like_grant(g, new, &grant) >= PTC_GRANT_OTHER_TOOL) {
        *grant = *new;
        return true;
    }
    if (g->count >= PTC_GRANTS_MOST || !PTC_GROW(g->mem, &g->items, &g->cap, g->count + 1))
        return false;
    g->items[g->count++] = *new;
    return true;
}

bool ptc_grants_add(PtcGrants *g, PtcGrantOf of)
{
    PtcGrant grant = make_grant(of);
    return add_grant(g, &grant);
}

PtcGrantState ptc_grants_find(const PtcGrants *g, PtcGrantOf of)
{
    PtcGrant *found, wanted;
    if (g->count == 0)
        return PTC_GRANT_NONE;
    wanted = make_grant(of);
    return find_like_grant(g, &wanted, &found);
}

/* ------------------------------------------------------------------------------------- sheet */

/* Of the owners of a realm; in files that of all. */
static PtcSheet grants_sheet(const char *realm, const char *owner)
{
    return (PtcSheet){.kind = "grant",
                      .owner = ptc_text_cstr(owner),
                      .key = ptc_text_cstr(*realm ? realm : "local"),
                      .file = "approvals.json",
                      .lock_file = "approvals.lock"};
}

/* The approvals of a sheet, a list; PTC_NONE: it is not in our form. */
static PtcValue parse_grants(PtcScratch *scratch, PtcText text)
{
    PtcJsonError error;
    PtcValue file = ptc_json_parse(&scratch->heap, text.bytes, text.len, &error);
    bool ours = file != PTC_NONE && ptc_is_map(file) &&
                ptc_fields_is(&scratch->heap, file, "format", ptc_int(GRANTS_FORMAT));
    PtcValue list = ours ? ptc_map_field(&scratch->heap, file, "approvals") : PTC_NONE;
    return list != PTC_NONE && ptc_is_sequential(list) ? list : PTC_NONE;
}

static bool read_grant_line(PtcHeap *heap, PtcValue line, PtcGrant *grant)
{
    uint8_t owner[PTC_SHA256_BYTES];
    if (!ptc_is_map(line) ||
        !ptc_hex_read(ptc_fields_text(heap, line, "owner"), owner, PTC_SHA256_BYTES) ||
        !ptc_hex_read(ptc_fields_text(heap, line, "definition"), grant->pin, PTC_SHA256_BYTES) ||
        !ptc_hex_read(ptc_fields_text(heap, line, "entry"), grant->entry, PTC_SHA256_BYTES))
        return false;
    PtcText server = ptc_fields_text(heap, line, "server"),
            tool = ptc_fields_text(heap, line, "tool");
    if (!server.bytes || !tool.bytes)
        return false;
    PtcValue end = ptc_map_field(heap, line, "until");
    grant->until_ms = 0;
    if (end != PTC_NONE && (!ptc_is_int(end) || (grant->until_ms = ptc_to_int(end)) <= 0))
        return false; /* what cannot be understood does not last for ever */
    digest_tool(owner, server, tool, grant->name);
    return true;
}

static bool is_grant_over(const PtcGrant *grant, int64_t now_ms)
{
    return grant->until_ms && now_ms >= grant->until_ms;
}

PtcSheetStatus ptc_grants_load(PtcGrants *g, PtcShelf *shelf, const char *realm, const char *owner)
{
    PtcScratch scratch;
    PtcGrant grant;
    PtcBuf text;
    PtcWhy why;
    PtcSheetMark mark;
    PtcSheet sheet = grants_sheet(realm, owner);
    ptc_scratch_init(&scratch, g->mem, GRANTS_HEAP_BYTES);
    ptc_buf_init(&text, g->mem, GRANTS_FILE_BYTES);
    PtcSheetStatus status =
        shelf ? shelf->read(shelf, &sheet, &text, &mark, &why) : PTC_SHEET_ABSENT;
    PtcValue list = status == PTC_SHEET_OK ? parse_grants(&scratch, ptc_buf_view(&text)) : PTC_NONE;
    for (size_t i = 0; list != PTC_NONE && i < ptc_fields_count(list); i++)
        if (read_grant_line(&scratch.heap, ptc_seq_nth(list, i), &grant) &&
            !is_grant_over(&grant, shelf->now_ms(shelf)) && !add_grant(g, &grant))
            break;
    ptc_buf_deinit(&text);
    ptc_scratch_deinit(&scratch);
    return status;
}

/* A sheet that is being changed. */
typedef struct {
    PtcShelf *shelf;
    PtcSheet sheet;
    PtcScratch scratch;
    PtcBuf before, after;
    PtcSheetMark mark;
    PtcGrantOf of;
    int64_t now_ms, until_ms; /* of the new one */
    int64_t last_ms;          /* when all of them are over; 0: never */
} GrantEdit;

static void note_grant_end(GrantEdit *e, int64_t until_ms)
{
    e->last_ms = !e->last_ms || !until_ms ? 0 : until_ms > e->last_ms ? until_ms : e->last_ms;
}

static void put_new_grant(GrantEdit *e)
{
    uint8_t owner[PTC_SHA256_BYTES];
    PtcBuf *out = &e->after;
    ptc_emit_object(out);
    ptc_emit_field_text(out, "server", e->of.server);
    ptc_emit_field_text(out, "tool", e->of.tool);
    ptc_grants_owner(e->of.realm, e->of.owner, owner);
    ptc_emit_field_hex(out, "owner", owner, PTC_SHA256_BYTES);
    ptc_emit_field_hex(out, "entry", e->of.entry, PTC_SHA256_BYTES);
    ptc_emit_field_hex(out, "definition", e->of.pin, PTC_SHA256_BYTES);
    if (e->until_ms)
        ptc_emit_field_int(out, "until", e->until_ms);
    ptc_emit_object_end(out);
}

/* The lines that were there but for one of the same tool and server and those that are over, then the new one. */
static bool put_grant_lines(GrantEdit *e, PtcValue list)
{
    PtcGrant new = make_grant(e->of), other;
    PtcBuf *out = &e->after;
    e->last_ms = e->until_ms;
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "about",
                        "tools that ptc may call without asking, as long as their server and their "
                        "definition stay as they are; remove an entry to be asked again");
    ptc_emit_field_int(out, "format", GRANTS_FORMAT);
    ptc_emit_key(out, "approvals");
    ptc_emit_array(out);
    for (size_t i = 0; list != PTC_NONE && i < ptc_fields_count(list); i++) {
        PtcValue line = ptc_seq_nth(list, i);
        if (!read_grant_line(&e->scratch.heap, line, &other) || is_grant_over(&other, e->now_ms) ||
            compare_grants(&other, &new) >= PTC_GRANT_OTHER_TOOL)
            continue;
        ptc_emit_value(out, &e->scratch.heap, line);
        note_grant_end(e, other.until_ms);
    }
    put_new_grant(e);
    ptc_emit_array_end(out);
    return ptc_emit_object_end(out);
}

static PtcSheetStatus fail_grants(const GrantEdit *e, const char *what, PtcWhy *why)
{
    char place[PTC_SHELF_PATH];
    ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%.120s: %.70s",
                ptc_sheet_place(e->shelf, &e->sheet, place), what);
    return PTC_SHEET_FAILED;
}

/* Reads the sheet, and writes it with the new line. */
static PtcSheetStatus rewrite_grants(GrantEdit *e, PtcWhy *why)
{
    PtcValue list = PTC_NONE;
    PtcWhy unread;
    PtcSheetStatus status = e->shelf->read(e->shelf, &e->sheet, &e->before, &e->mark, &unread);
    if (status == PTC_SHEET_OK)
        list = parse_grants(&e->scratch, ptc_buf_view(&e->before));
    if (status == PTC_SHEET_FAILED && e->shelf->shared)
        return fail_grants(e, unread.text, why);
    if (status == PTC_SHEET_FAILED || (status == PTC_SHEET_OK && list == PTC_NONE))
        /* somebody's mistake to mend, not ours to replace */
        return fail_grants(e, "it cannot be read, or is not in the form that ptc writes", why);
    if (!put_grant_lines(e, list) || !ptc_fields_ok(&e->scratch.heap))
        return fail_grants(e, "out of memory", why);
    const PtcSheetWrite how = {.over = e->mark, .until_ms = e->last_ms, .line = true};
    return e->shelf->write(e->shelf, &e->sheet, ptc_buf_view(&e->after), &how, &e->mark, why);
}

static PtcSheetStatus try_to_keep(PtcMem *mem, GrantEdit *e, PtcWhy *why)
{
    ptc_scratch_init(&e->scratch, mem, GRANTS_HEAP_BYTES);
    ptc_buf_init(&e->before, mem, GRANTS_FILE_BYTES);
    ptc_buf_init(&e->after, mem, GRANTS_FILE_BYTES);
    PtcSheetStatus status = rewrite_grants(e, why);
    ptc_buf_deinit(&e->before);
    ptc_buf_deinit(&e->after);
    ptc_scratch_deinit(&e->scratch);
    return status;
}

bool ptc_grants_keep(PtcMem *mem, PtcShelf *shelf, PtcGrantOf of, int64_t ms, PtcWhy *why)
{
    PtcSheetLock lock;
    GrantEdit e = {.shelf = shelf, .sheet = grants_sheet(of.realm, of.owner), .of = of};
    PtcSheetStatus status = PTC_SHEET_CHANGED;
    if (!shelf)
        return ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                           "approvals.json: there is no place for it: set HOME or XDG_STATE_HOME");
    if (!shelf->lock(shelf, &e.sheet, GRANTS_LOCK_MS, &lock, why))
        return fail_grants(&e, strerror(errno), why) == PTC_SHEET_OK;
    e.now_ms = shelf->now_ms(shelf);
    e.until_ms = ms ? e.now_ms + ms : 0;
    for (int i = 0; status == PTC_SHEET_CHANGED && i < GRANTS_TURNS; i++)
        status = try_to_keep(mem, &e, why);
    shelf->unlock(shelf, &lock);
    if (status == PTC_SHEET_CHANGED)
        (void)fail_grants(&e, "others write it all the time", why);
    return status == PTC_SHEET_OK;
}
