/* SPDX-License-Identifier: MIT
 * Names of globals, in an open-addressed table, and aliases.  What always holds: the number of a name never changes
 * until it is dropped, and names are dropped only from the end. */
#include "lisp/analyze/names.h"

#include <string.h>

#include "base/grow.h"
#include "value/str.h"

enum { MAX_ALIASES = 4096, LOST_NAMES = 200, LOST_BYTES = 8 * PTC_KB };

void ptc_names_init(PtcNames *names, PtcMem *mem)
{
    memset(names, 0, sizeof *names);
    names->mem = mem;
    ptc_buf_init(&names->lost, mem, LOST_BYTES);
}

void ptc_names_deinit(PtcNames *names)
{
    ptc_names_reset(names, (PtcNamesMark){0});
    ptc_mem_free(names->mem, names->aliases, names->alias_cap * sizeof *names->aliases);
    ptc_mem_free(names->mem, names->items, names->cap * sizeof *names->items);
    ptc_mem_free(names->mem, names->table, names->table_cap * sizeof *names->table);
    ptc_buf_deinit(&names->lost);
    ptc_names_init(names, names->mem);
}

/* Where the name is in the table, or the free place where it belongs. */
static uint32_t probe_name_table(const PtcNames *names, const char *text, size_t len, uint32_t hash)
{
    uint32_t mask = names->table_cap - 1, at = hash & mask;
    while (names->table[at]) {
        const PtcName *n = &names->items[names->table[at] - 1];
        if (n->hash == hash && n->len == len && memcmp(n->text, text, len) == 0)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

int ptc_names_find(const PtcNames *names, const char *text, size_t len)
{
    if (names->count == 0)
        return -1;
    return (int)names->table[probe_name_table(names, text, len, ptc_str_hash_bytes(text, len))] - 1;
}

static void refill(PtcNames *names)
{
    memset(names->table, 0, names->table_cap * sizeof *names->table);
    for (uint32_t i = 0; i < names->count; i++) {
        const PtcName *n = &names->items[i];
        names->table[probe_name_table(names, n->text, n->len, n->hash)] = i + 1;
    }
}

static bool make_room_for_name(PtcNames *names)
{
    size_t count = names->count, table_cap = names->table_cap;
    if (!PTC_GROW(names->mem, &names->items, &names->cap, count + 1) ||
        !PTC_GROW(names->mem, &names->table, &names->table_cap, 2 * count + 1))
        return false;
    if (names->table_cap > table_cap)
        refill(names);
    return true;
}

int ptc_names_add(PtcNames *names, const char *text, size_t len)
{
    int found = ptc_names_find(names, text, len);
    if (found >= 0)
        return found;
    if (names->count >= UINT16_MAX || !make_room_for_name(names))
        return -1;
    char *copy = ptc_mem_alloc(names->mem, len + 1);
    if (!copy)
        return -1;
    memcpy(copy, text, len);
    copy[len] = 0;
    uint32_t hash = ptc_str_hash_bytes(text, len);
    names->items[names->count] = (PtcName){copy, (uint32_t)len, hash};
    names->table[probe_name_table(names, text, len, hash)] = ++names->count;
    return (int)names->count - 1;
}

void ptc_names_reset(PtcNames *names, PtcNamesMark mark)
{
    bool fewer = mark.count < names->count;
    while (names->alias_count > mark.alias_count) {
        PtcAlias *a = &names->aliases[--names->alias_count];
        ptc_mem_free(names->mem, a->text, a->name_len + a->ns_len + 1);
    }
    while (names->count > mark.count) {
        PtcName *n = &names->items[--names->count];
        ptc_mem_free(names->mem, n->text, n->len + 1);
    }
    if (fewer)
        refill(names);
}

/* When there is no more room, the older ones are forgotten. */
void ptc_names_note_lost(PtcNames *names, PtcNamesMark mark)
{
    PtcBuf *lost = &names->lost;
    uint32_t first = names->count > LOST_NAMES ? names->count - LOST_NAMES : 0;
    for (uint32_t i = first > mark.count ? first : mark.count; i < names->count; i++) {
        const PtcName *n = &names->items[i];
        if (lost->len + n->len + 1 > LOST_BYTES)
            ptc_buf_clear(lost);
        if (n->len + 1 > LOST_BYTES || ptc_names_is_lost(names, (PtcText){n->text, n->len}))
            continue;
        ptc_buf_add(lost, n->text, n->len);
        ptc_buf_add_char(lost, '\n');
    }
    if (!ptc_buf_ok(lost))
        ptc_buf_clear(lost);
}

bool ptc_names_is_lost(const PtcNames *names, PtcText name)
{
    PtcText rest = {names->lost.data, names->lost.len};
    while (rest.len) {
        const char *line = memchr(rest.bytes, '\n', rest.len);
        size_t len = line ? (size_t)(line - rest.bytes) : rest.len - 1;
        if (ptc_text_same((PtcText){rest.bytes, len}, name))
            return true;
        rest = (PtcText){rest.bytes + len + 1, rest.len - len - 1};
    }
    return false;
}

/* ------------------------------------------------------------------------------ aliases */

PtcText ptc_alias_find(const PtcNames *names, PtcAliasKind kind, PtcText name)
{
    for (uint32_t i = names->alias_count; i > 0; i--) {
        const PtcAlias *a = &names->aliases[i - 1];
        if (a->kind == kind && ptc_text_same(ptc_alias_name(a), name))
            return ptc_alias_ns(a);
    }
    return (PtcText){NULL, 0};
}

bool ptc_alias_add(PtcNames *names, PtcAliasKind kind, PtcText name, PtcText ns)
{
    PtcText now = ptc_alias_find(names, kind, name);
    if (now.bytes && ptc_text_same(now, ns))
        return true;
    bool fits = names->alias_count < MAX_ALIASES &&
                PTC_GROW(names->mem, &names->aliases, &names->alias_cap, names->alias_count + 1);
    char *text = fits ? ptc_mem_alloc(names->mem, name.len + ns.len + 1) : NULL;
    if (!text)
        return false;
    memcpy(text, name.bytes, name.len);
    memcpy(text + name.len, ns.bytes, ns.len);
    text[name.len + ns.len] = 0;
    names->aliases[names->alias_count++] =
        (PtcAlias){kind, (uint32_t)name.len, (uint32_t)ns.len, text};
    return true;
}
