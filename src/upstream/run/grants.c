/* SPDX-License-Identifier: MIT
 * Grants, and the file approvals.json.  What always holds: the file is replaced whole, under a lock, and names servers
 * and tools in words, so that a person can read it and take a line out; owners are in it as digests only. */
#include "upstream/run/grants.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/os/whole_file.h"
#include "base/text/hex.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum {
    GRANTS_FORMAT = 2, /* files of another one are not read */
    GRANTS_FILE_BYTES = 4 * PTC_MB,
    GRANTS_HEAP_BYTES = 32 * PTC_MB,
    GRANTS_PATH_BYTES = 4200,
    GRANTS_LOCK_MS = 2000,
    HEX = 2 * PTC_SHA256_BYTES,
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
    PtcGrant grant;
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

/* -------------------------------------------------------------------------------------- file */

static bool path_of(char path[GRANTS_PATH_BYTES], const char *state_dir, const char *name)
{
    int n = state_dir ? snprintf(path, GRANTS_PATH_BYTES, "%s/%s", state_dir, name) : -1;
    return n > 0 && n < GRANTS_PATH_BYTES;
}

/* The approvals of the file, a list; PTC_NONE: there is no such file, or it is broken. */
static PtcValue read_grants_file(PtcMem *mem, PtcScratch *scratch, const char *state_dir)
{
    char path[GRANTS_PATH_BYTES];
    PtcJsonError error;
    PtcBuf text;
    PtcValue list = PTC_NONE;
    ptc_buf_init(&text, mem, GRANTS_FILE_BYTES);
    if (path_of(path, state_dir, "approvals.json") && ptc_whole_file_read(path, &text)) {
        PtcValue file =
            ptc_json_parse(&scratch->heap, text.data ? text.data : "", text.len, &error);
        bool ours = file != PTC_NONE && ptc_is_map(file) &&
                    ptc_fields_is(&scratch->heap, file, "format", ptc_int(GRANTS_FORMAT));
        list = ours ? ptc_map_field(&scratch->heap, file, "approvals") : PTC_NONE;
    }
    ptc_buf_deinit(&text);
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
    digest_tool(owner, server, tool, grant->name);
    return true;
}

void ptc_grants_load(PtcGrants *g, const char *state_dir)
{
    PtcScratch scratch;
    PtcGrant grant;
    ptc_scratch_init(&scratch, g->mem, GRANTS_HEAP_BYTES);
    PtcValue list = read_grants_file(g->mem, &scratch, state_dir);
    for (size_t i = 0; list != PTC_NONE && i < ptc_fields_count(list); i++)
        if (read_grant_line(&scratch.heap, ptc_seq_nth(list, i), &grant) && !add_grant(g, &grant))
            break;
    ptc_scratch_deinit(&scratch);
}

/* The lines that were there but for one of the same tool and server, then the new one. */
static bool put_grant_lines(PtcBuf *out, PtcScratch *scratch, PtcValue list, PtcGrantOf of)
{
    PtcGrant new = make_grant(of), other;
    uint8_t owner[PTC_SHA256_BYTES];
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "about",
                        "tools that ptc may call without asking, as long as their server and their "
                        "definition stay as they are; remove an entry to be asked again");
    ptc_emit_field_int(out, "format", GRANTS_FORMAT);
    ptc_emit_key(out, "approvals");
    ptc_emit_array(out);
    for (size_t i = 0; list != PTC_NONE && i < ptc_fields_count(list); i++) {
        PtcValue line = ptc_seq_nth(list, i);
        if (!read_grant_line(&scratch->heap, line, &other) ||
            compare_grants(&other, &new) >= PTC_GRANT_OTHER_TOOL)
            continue;
        ptc_emit_value(out, &scratch->heap, line);
    }
    ptc_emit_object(out);
    ptc_emit_field_text(out, "server", of.server);
    ptc_emit_field_text(out, "tool", of.tool);
    ptc_grants_owner(of.realm, of.owner, owner);
    ptc_emit_field_hex(out, "owner", owner, PTC_SHA256_BYTES);
    ptc_emit_field_hex(out, "entry", of.entry, PTC_SHA256_BYTES);
    ptc_emit_field_hex(out, "definition", of.pin, PTC_SHA256_BYTES);
    ptc_emit_object_end(out);
    ptc_emit_array_end(out);
    return ptc_emit_object_end(out);
}

/* An empty file first, so that the directory is there for the lock. */
static int lock_grants_file(const char *state_dir)
{
    char path[GRANTS_PATH_BYTES];
    PtcWholeFile how = {.dirs = true, .only_new = true};
    if (!path_of(path, state_dir, "approvals.lock") ||
        !ptc_whole_file_put(path, (PtcText){"", 0}, how))
        return -1;
    return ptc_whole_file_lock(path, GRANTS_LOCK_MS);
}

static bool fail_grants_file(PtcWhy *why, const char *path, const char *what)
{
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%.120s: %.70s", path, what);
}

/* With the lock held. */
static bool rewrite_grants_file(PtcMem *mem, const char *state_dir, const char *path, PtcGrantOf of,
                                PtcWhy *why)
{
    PtcScratch scratch;
    PtcBuf out;
    ptc_scratch_init(&scratch, mem, GRANTS_HEAP_BYTES);
    ptc_buf_init(&out, mem, GRANTS_FILE_BYTES);
    PtcValue list = read_grants_file(mem, &scratch, state_dir);
    bool ok = list != PTC_NONE || access(path, F_OK) != 0;
    if (!ok) /* somebody's mistake to mend, not ours to replace */
        fail_grants_file(why, path, "it cannot be read, or is not in the form that ptc writes");
    else if (!(ok = put_grant_lines(&out, &scratch, list, of) && ptc_fields_ok(&scratch.heap)))
        fail_grants_file(why, path, "out of memory");
    else if (!(ok = ptc_whole_file_put(path, ptc_buf_view(&out),
                                       (PtcWholeFile){.line = true, .locked = true})))
        fail_grants_file(why, path, strerror(errno));
    ptc_buf_deinit(&out);
    ptc_scratch_deinit(&scratch);
    return ok;
}

bool ptc_grants_keep(PtcMem *mem, const char *state_dir, PtcGrantOf of, PtcWhy *why)
{
    char path[GRANTS_PATH_BYTES];
    if (!path_of(path, state_dir, "approvals.json"))
        return fail_grants_file(why, "approvals.json",
                                "there is no place for it: set HOME or XDG_STATE_HOME");
    int fd = lock_grants_file(state_dir);
    bool ok = fd >= 0 ? rewrite_grants_file(mem, state_dir, path, of, why)
                      : fail_grants_file(why, path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}
