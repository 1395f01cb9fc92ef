/* SPDX-License-Identifier: MIT
 * Names.  What always holds: namespaces and symbols are made of A-Za-z0-9_.- and can be read back by the reader of
 * programs; what they are made of (names of servers, names of tools) may be any bytes. */
#include "upstream/catalog/naming.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/text/hex.h"
#include "base/text/hmac.h"
#include "base/text/nearest.h"
#include "base/utf8.h"
#include "lisp/vm/registry.h"
#include "value/coll/fields.h"

enum { NAMESPACE_DIGITS = 6, SYMBOL_DIGITS = 4, DIGITS_MAX = 2 * PTC_SHA256_BYTES };

static bool is_plain_name_char(char c)
{
    return ptc_ascii_is_name(c) || c == '.' || c == '-';
}

/* The first digits of the digest of a name. */
static void digest_name(PtcText name, char out[DIGITS_MAX + 1])
{
    uint8_t bytes[PTC_SHA256_BYTES];
    ptc_sha256(name.bytes, name.len, bytes);
    ptc_hex_write(out, bytes, sizeof bytes);
}

/* ---------------------------------------------------------------------------- namespaces */

static bool same_without_case(PtcText a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.bytes, b, a.len) == 0;
}

/* A namespace of the language, in any case. */
static bool is_language_namespace(PtcText ns)
{
    const char *prefix;
    for (size_t i = 0; (prefix = ptc_namespace_prefix(i)); i++)
        if (same_without_case(ns, prefix))
            return true;
    return same_without_case(ns, "data");
}

/* The name with each run of other characters made one hyphen, into out, which has room for it. */
static size_t make_plain(PtcText name, char *out)
{
    size_t n = 0, start = 0;
    for (size_t i = 0; i < name.len; i++)
        if (is_plain_name_char(name.bytes[i]))
            out[n++] = name.bytes[i];
        else if (i == 0 || is_plain_name_char(name.bytes[i - 1]))
            out[n++] = '-';
    while (start < n && (out[start] == '-' || out[start] == '.'))
        start++;
    while (n > start && (out[n - 1] == '-' || out[n - 1] == '.'))
        n--;
    memmove(out, out + start, n - start);
    return n - start;
}

bool ptc_naming_namespace(PtcArena *arena, PtcText name, PtcText *ns)
{
    char digits[DIGITS_MAX + 1];
    enum { NAMING_PREFIX = 4 };
    char *out = ptc_arena_alloc(arena, name.len + NAMING_PREFIX + NAMESPACE_DIGITS + 2);
    if (!out)
        return false;
    digest_name(name, digits);
    memcpy(out, "mcp-", NAMING_PREFIX);
    size_t n = make_plain(name, out + NAMING_PREFIX);
    *ns = (PtcText){out + NAMING_PREFIX, n};
    if (n == 0) {
        memcpy(out + NAMING_PREFIX, digits, NAMESPACE_DIGITS);
        *ns = (PtcText){out, NAMING_PREFIX + NAMESPACE_DIGITS};
    } else if (!ptc_ascii_is_letter(ns->bytes[0]) || is_language_namespace(*ns)) {
        *ns = (PtcText){out, NAMING_PREFIX + n};
    }
    if (ns->len > PTC_NAMING_NAMESPACE) {
        size_t kept = PTC_NAMING_NAMESPACE - NAMESPACE_DIGITS - 1;
        char *end = out + (ns->bytes - out) + kept;
        *end = '-';
        memcpy(end + 1, digits, NAMESPACE_DIGITS);
        ns->len = PTC_NAMING_NAMESPACE;
    }
    return true;
}

bool ptc_naming_is_namespace(PtcText ns)
{
    if (ns.len == 0 || ns.len > PTC_NAMING_NAMESPACE || !ptc_ascii_is_letter(ns.bytes[0]) ||
        is_language_namespace(ns))
        return false;
    for (size_t i = 0; i < ns.len; i++)
        if (!is_plain_name_char(ns.bytes[i]))
            return false;
    return ns.bytes[ns.len - 1] != '.' && ns.bytes[ns.len - 1] != '-';
}

static char fold_hyphen(char c)
{
    return c == '_' ? '-' : ptc_ascii_lower(c);
}

bool ptc_naming_same_namespace(PtcText a, PtcText b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (fold_hyphen(a.bytes[i]) != fold_hyphen(b.bytes[i]))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------- symbols */

static bool starts_symbol(char c)
{
    return !ptc_ascii_is_digit(c) && c != '-' && c != '.';
}

size_t ptc_naming_symbol(PtcText name, char *out)
{
    uint32_t code;
    size_t n = 0;
    for (size_t i = 0; i < name.len;) {
        char c = name.bytes[i];
        if (i == 0 && !starts_symbol(c))
            out[n++] = '_';
        out[n++] = is_plain_name_char(c) ? c : '_';
        i += ptc_utf8_decode(name.bytes + i, name.len - i, &code);
    }
    return n;
}

static bool base_symbol(PtcArena *arena, PtcText name, PtcText *symbol)
{
    char *out = ptc_arena_alloc(arena, name.len + 1);
    if (out)
        *symbol = (PtcText){out, ptc_naming_symbol(name, out)};
    return out != NULL;
}

/* The symbol, followed by as many digits of the name's digest as make it unique. */
static bool unlike_others(PtcArena *arena, PtcHeap *heap, PtcValue taken, PtcCatalogTool *tool)
{
    char digits[DIGITS_MAX + 1];
    size_t n = tool->symbol.len;
    char *out = ptc_arena_alloc(arena, n + 1 + DIGITS_MAX);
    if (!out)
        return false;
    digest_name(tool->name, digits);
    memcpy(out, tool->symbol.bytes, n);
    out[n] = '-';
    memcpy(out + n + 1, digits, DIGITS_MAX);
    for (size_t more = SYMBOL_DIGITS; more <= DIGITS_MAX; more *= 2) {
        tool->symbol = (PtcText){out, n + 1 + more};
        if (ptc_fields_get(heap, taken, tool->symbol) == PTC_NONE)
            break;
    }
    return true;
}

/* How many tools would have each symbol. */
static bool count_symbols(PtcArena *arena, PtcHeap *heap, PtcCatalogServer *server, PtcValue *count)
{
    for (size_t i = 0; i < server->count; i++) {
        PtcCatalogTool *tool = &server->tools[i];
        if (!base_symbol(arena, tool->name, &tool->symbol))
            return false;
        PtcValue before = ptc_fields_get(heap, *count, tool->symbol);
        int64_t n = before == PTC_NONE ? 0 : ptc_to_int(before);
        ptc_fields_put_key(heap, count, tool->symbol, ptc_int(n + 1));
    }
    return ptc_fields_ok(heap);
}

bool ptc_naming_symbols(PtcArena *arena, PtcHeap *heap, PtcCatalogServer *server)
{
    PtcValue taken = ptc_fields_map(heap);
    if (taken == PTC_NONE || !count_symbols(arena, heap, server, &taken))
        return false;
    for (size_t i = 0; i < server->count; i++) {
        PtcCatalogTool *tool = &server->tools[i];
        PtcValue count = ptc_fields_get(heap, taken, tool->symbol);
        if (ptc_text_same(tool->symbol, tool->name) || count == PTC_NONE || ptc_to_int(count) < 2)
            continue;
        if (!unlike_others(arena, heap, taken, tool))
            return false;
        ptc_fields_put_key(heap, &taken, tool->symbol, ptc_int(1));
    }
    return ptc_fields_ok(heap);
}

/* ------------------------------------------------------------------------------- finding */

bool ptc_naming_fold(PtcArena *arena, PtcText text, PtcText *folded)
{
    size_t n = 0;
    char *out = ptc_arena_alloc(arena, text.len + 1);
    if (!out)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i];
        if (c != '-' && c != '_' && c != '.')
            out[n++] = ptc_ascii_lower(c);
    }
    *folded = (PtcText){out, n};
    return true;
}

static const PtcCatalogServer *find_catalog_server(const PtcCatalog *catalog, PtcText ns,
                                                   PtcNamed *named)
{
    PtcNearest near;
    for (size_t i = 0; i < catalog->count; i++)
        if (ptc_text_same(catalog->servers[i].ns, ns))
            return &catalog->servers[i];
    for (size_t i = 0; i < catalog->count; i++)
        if (ptc_naming_same_namespace(catalog->servers[i].ns, ns))
            return &catalog->servers[i];
    ptc_nearest_init(&near, ns.bytes, ns.len);
    for (size_t i = 0; i < catalog->count; i++)
        ptc_nearest_offer(&near, catalog->servers[i].ns.bytes, catalog->servers[i].ns.len);
    named->nearest = (PtcText){near.best, near.best_len};
    return NULL;
}

static const PtcCatalogTool *find_exact(const PtcCatalogServer *server, PtcText tool)
{
    for (size_t i = 0; i < server->count; i++)
        if (ptc_text_same(server->tools[i].symbol, tool))
            return &server->tools[i];
    for (size_t i = 0; i < server->count; i++)
        if (ptc_text_same(server->tools[i].name, tool))
            return &server->tools[i];
    return NULL;
}

static int by_bytes(const void *a, const void *b)
{
    const PtcText *x = a, *y = b;
    int order = memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Tools whose folded name is the word, taken when it is one.  False: out of memory. */
static bool find_folded(PtcArena *arena, const PtcText *folded, PtcText word, PtcNamed *named)
{
    const PtcCatalogServer *server = named->server;
    PtcText *several = NULL;
    size_t n = 0;
    for (size_t i = 0; i < server->count; i++) {
        if (!ptc_text_same(folded[i], word))
            continue;
        if (!(several = ptc_arena_push(arena, several, n, sizeof *several)))
            return false;
        several[n++] = server->tools[i].symbol;
        named->tool = &server->tools[i];
    }
    if (n > 1) {
        qsort(several, n, sizeof *several, by_bytes);
        named->tool = NULL;
        named->several = several;
        named->several_count = n;
    }
    return true;
}

/* The nearest of the folded names to one of two words; else one of which the tool as it is written is a short form. */
static void find_nearest(const PtcText *folded, const PtcText words[2], PtcText tool,
                         PtcNamed *named)
{
    const PtcCatalogServer *server = named->server;
    size_t best = PTC_NEAREST_BYTES;
    for (size_t w = 0; w < 2; w++) {
        PtcNearest near;
        ptc_nearest_init(&near, words[w].bytes, words[w].len);
        near.mistakes_only = true;
        for (size_t i = 0; i < server->count; i++) {
            const char *before = near.best;
            ptc_nearest_offer(&near, folded[i].bytes, folded[i].len);
            if (near.best != before && near.best_distance < best) {
                named->nearest = server->tools[i].symbol;
                best = near.best_distance;
            }
        }
    }
    if (named->nearest.bytes)
        return;
    PtcNearest near;
    ptc_nearest_init(&near, tool.bytes, tool.len);
    for (size_t i = 0; i < server->count; i++)
        ptc_nearest_offer(&near, server->tools[i].symbol.bytes, server->tools[i].symbol.len);
    named->nearest = (PtcText){near.best, near.best_len};
}

static bool fold_all(PtcArena *arena, const PtcCatalogServer *server, PtcText **folded)
{
    *folded = ptc_arena_alloc(arena, (server->count + 1) * sizeof **folded);
    if (!*folded)
        return false;
    for (size_t i = 0; i < server->count; i++)
        if (!ptc_naming_fold(arena, server->tools[i].name, &(*folded)[i]))
            return false;
    return true;
}

/* The words to look for: the tool, and the tool with the namespace before it. */
static bool fold_words(PtcArena *arena, PtcText ns, PtcText tool, PtcText words[2])
{
    char *both = ptc_arena_alloc(arena, ns.len + tool.len + 1);
    if (!both)
        return false;
    memcpy(both, ns.bytes, ns.len);
    memcpy(both + ns.len, tool.bytes, tool.len);
    return ptc_naming_fold(arena, tool, &words[0]) &&
           ptc_naming_fold(arena, (PtcText){both, ns.len + tool.len}, &words[1]);
}

bool ptc_naming_find(PtcArena *arena, const PtcCatalog *catalog, PtcText ns, PtcText tool,
                     PtcNamed *named)
{
    PtcText *folded, words[2];
    *named = (PtcNamed){0};
    named->server = find_catalog_server(catalog, ns, named);
    if (!named->server || (named->tool = find_exact(named->server, tool)))
        return true;
    if (!fold_all(arena, named->server, &folded) ||
        !fold_words(arena, named->server->ns, tool, words))
        return false;
    for (size_t w = 0; w < 2 && !named->tool && !named->several; w++)
        if (!find_folded(arena, folded, words[w], named))
            return false;
    if (!named->tool && !named->several)
        find_nearest(folded, words, tool, named);
    return true;
}
