/* SPDX-License-Identifier: MIT
 * Search.  Tokens are runs of letters and digits, split where small letters meet capitals, in lower case.  The work is
 * one walk over the texts of the catalogue to count how many tools have each word of the query, and one to score.
 *
 * Names of servers choose the server and add nothing: in a catalogue where twenty tools begin with `browser`, the word
 * says where to look, not which tool is meant. */
#include "upstream/catalog/tool_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "tool/schema/schema_view.h"
#include "value/coll/fields.h"

enum { SEARCH_TOKEN_BYTES = 64, PREFIX_MIN = 3, STEM_REST = 3 };

static const double name_weight = 2, argument_weight = 0.5, prefix_weight = 0.4;

/* ---------------------------------------------------------------------------------- tokens */

typedef struct {
    PtcText text;
    size_t at;
    char token[SEARCH_TOKEN_BYTES]; /* in lower case; longer ones are cut */
    size_t len;
} Tokens;

static bool is_search_char(char c)
{
    return ptc_ascii_is_alnum(c) || ((unsigned char)c & 0x80);
}

/* Does a new token begin at i, inside of a run?  In createIssue and in HTTPServer it does. */
static bool splits(PtcText t, size_t i)
{
    if (!ptc_ascii_is_upper(t.bytes[i]))
        return false;
    bool small_before = !ptc_ascii_is_upper(t.bytes[i - 1]);
    bool small_behind = i + 1 < t.len && ptc_ascii_is_lower(t.bytes[i + 1]);
    return small_before || small_behind;
}

static bool next_search_token(Tokens *t)
{
    while (t->at < t->text.len && !is_search_char(t->text.bytes[t->at]))
        t->at++;
    size_t start = t->at;
    t->len = 0;
    while (t->at < t->text.len && is_search_char(t->text.bytes[t->at]) &&
           (t->at == start || !splits(t->text, t->at))) {
        char c = t->text.bytes[t->at++];
        if (t->len < SEARCH_TOKEN_BYTES)
            t->token[t->len++] = ptc_ascii_lower(c);
    }
    return t->at > start;
}

static bool is_common(PtcText word)
{
    static const char *const words[] = {"a",   "an",  "the", "of",   "to",     "in",   "on",
                                        "for", "and", "or",  "by",   "with",   "from", "is",
                                        "are", "be",  "it",  "this", "that",   "all",  "my",
                                        "me",  "i",   "how", "do",   "please", "can"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptc_text_is(word, words[i]))
            return true;
    return false;
}

/* ----------------------------------------------------------------------------------- query */

typedef struct {
    char bytes[SEARCH_TOKEN_BYTES];
    size_t len;
    double weight; /* by how few tools have it */
    size_t tools;
} ToolWord;

typedef struct {
    PtcHeap *heap;
    const PtcCatalog *catalog;
    ToolWord words[PTC_TOOL_SEARCH_WORDS];
    size_t count;
    const PtcCatalogServer *only;        /* that the query names; NULL: none, or several */
    char joined[4 * SEARCH_TOKEN_BYTES]; /* the query as one folded name */
    size_t joined_len;
} ToolSearch;

static bool has_word(const ToolSearch *s, PtcText word)
{
    for (size_t i = 0; i < s->count; i++)
        if (ptc_text_same(word, (PtcText){s->words[i].bytes, s->words[i].len}))
            return true;
    return false;
}

static bool is_name_of(PtcText word, PtcText name)
{
    Tokens t = {.text = name};
    return next_search_token(&t) && ptc_text_same(word, (PtcText){t.token, t.len}) &&
           !next_search_token(&t);
}

static const PtcCatalogServer *named_server(const PtcCatalog *catalog, PtcText word)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (is_name_of(word, catalog->servers[i].name) || is_name_of(word, catalog->servers[i].ns))
            return &catalog->servers[i];
    return NULL;
}

static void join_query_word(ToolSearch *s, PtcText word)
{
    size_t room = sizeof s->joined - s->joined_len, n = word.len < room ? word.len : room;
    memcpy(s->joined + s->joined_len, word.bytes, n);
    s->joined_len += n;
}

/* Words of the query; with `servers`, those that name a server choose it instead. */
static void read_query(ToolSearch *s, PtcText query, bool servers)
{
    Tokens t = {.text = query};
    s->count = s->joined_len = 0;
    s->only = NULL;
    while (next_search_token(&t)) {
        PtcText word = {t.token, t.len};
        const PtcCatalogServer *server = servers ? named_server(s->catalog, word) : NULL;
        join_query_word(s, word);
        if (server && (!s->only || s->only == server)) {
            s->only = server;
            continue;
        }
        if (is_common(word) || has_word(s, word) || s->count == PTC_TOOL_SEARCH_WORDS)
            continue;
        ToolWord *to = &s->words[s->count++];
        *to = (ToolWord){.len = word.len};
        memcpy(to->bytes, word.bytes, word.len);
    }
}

/* --------------------------------------------------------------------------------- scoring */

/* How much of a word a token is: all, a part, nothing.  `issue` finds `issues`, and the other way round. */
static double likeness(const ToolWord *word, const Tokens *t)
{
    size_t common = word->len < t->len ? word->len : t->len;
    if (memcmp(word->bytes, t->token, common) != 0)
        return 0;
    if (word->len == t->len)
        return 1;
    bool part = common >= PREFIX_MIN && (common == word->len || word->len - common <= STEM_REST);
    return part ? prefix_weight : 0;
}

/* What a text has of each word, the best of its tokens; added to `has` with a weight. */
static void look_for_words(const ToolSearch *s, PtcText text, double weight,
                           double has[PTC_TOOL_SEARCH_WORDS])
{
    double best[PTC_TOOL_SEARCH_WORDS] = {0};
    Tokens t = {.text = text};
    while (text.bytes && next_search_token(&t))
        for (size_t w = 0; w < s->count; w++) {
            double like = likeness(&s->words[w], &t);
            best[w] = like > best[w] ? like : best[w];
        }
    for (size_t w = 0; w < s->count; w++)
        has[w] += weight * best[w];
}

/* What a tool has of each word; nothing once the budget has stopped. */
static void look_at_tool(const ToolSearch *s, const PtcCatalogTool *tool,
                         double has[PTC_TOOL_SEARCH_WORDS])
{
    PtcValue name, schema;
    memset(has, 0, PTC_TOOL_SEARCH_WORDS * sizeof *has);
    if (!ptc_tick_scan(s->heap->budget, PTC_TICK_SCAN + tool->description.len * (1 + s->count / 4)))
        return;
    look_for_words(s, tool->name, name_weight, has);
    look_for_words(s, tool->description, 1, has);
    PtcValue input = tool->definition == PTC_NONE
                         ? PTC_NONE
                         : ptc_map_field(s->heap, tool->definition, "inputSchema");
    PtcValue properties =
        input == PTC_NONE ? PTC_NONE : ptc_map_field(s->heap, input, "properties");
    if (properties != PTC_NONE && ptc_is_map(properties))
        for (size_t pos = 0;
             ptc_tick(s->heap->budget, 1) && ptc_map_next(properties, &pos, &name, &schema);)
            look_for_words(s, ptc_str_text(name), argument_weight, has);
}

static bool is_leading(const ToolSearch *s, const PtcCatalogTool *tool)
{
    size_t n = 0;
    for (size_t i = 0; i < tool->name.len && n < s->joined_len; i++) {
        char c = tool->name.bytes[i];
        if (!is_search_char(c))
            continue;
        if (ptc_ascii_lower(c) != s->joined[n++])
            return false;
    }
    return s->joined_len > 0 && n == s->joined_len;
}

static void weigh_words(ToolSearch *s)
{
    double has[PTC_TOOL_SEARCH_WORDS];
    size_t all = 0;
    for (size_t i = 0; i < s->catalog->count; i++)
        for (size_t j = 0; j < s->catalog->servers[i].count; j++, all++) {
            look_at_tool(s, &s->catalog->servers[i].tools[j], has);
            for (size_t w = 0; w < s->count; w++)
                s->words[w].tools += has[w] > 0;
        }
    for (size_t w = 0; w < s->count; w++)
        s->words[w].weight = log(1 + (double)(all + 1) / (double)(s->words[w].tools + 1));
}

/* False: it is no answer. */
static bool score_tool(const ToolSearch *s, const PtcCatalogServer *server,
                       const PtcCatalogTool *tool, PtcToolHit *hit)
{
    double has[PTC_TOOL_SEARCH_WORDS];
    *hit = (PtcToolHit){.server = server, .tool = tool, .leading = is_leading(s, tool)};
    if (s->only && s->only != server)
        return false;
    look_at_tool(s, tool, has);
    for (size_t w = 0; w < s->count; w++) {
        hit->words += has[w] > 0;
        hit->score += has[w] * s->words[w].weight;
    }
    if (s->count == 0)
        return s->only != NULL;
    return hit->leading || (hit->words > 0 && 2 * hit->words >= s->count);
}

static int by_text(PtcText a, PtcText b)
{
    int order = memcmp(a.bytes, b.bytes, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_fit(const void *a, const void *b)
{
    const PtcToolHit *x = a, *y = b;
    if (x->leading != y->leading)
        return x->leading ? -1 : 1;
    if (x->words != y->words)
        return x->words > y->words ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    int order = by_text(x->server->ns, y->server->ns);
    return order ? order : by_text(x->tool->symbol, y->tool->symbol);
}

static size_t collect_tool_hits(const ToolSearch *s, PtcToolHit *hits)
{
    size_t n = 0;
    for (size_t i = 0; i < s->catalog->count; i++)
        for (size_t j = 0; j < s->catalog->servers[i].count; j++)
            n += score_tool(s, &s->catalog->servers[i], &s->catalog->servers[i].tools[j], &hits[n]);
    qsort(hits, n, sizeof *hits, by_fit);
    return n;
}

bool ptc_tool_search(PtcArena *arena, PtcHeap *heap, const PtcCatalog *catalog, PtcText query,
                     PtcToolHit **hits, size_t *count)
{
    size_t all = 1;
    for (size_t i = 0; i < catalog->count; i++)
        all += catalog->servers[i].count;
    ToolSearch *s = ptc_arena_zalloc(arena, sizeof *s);
    *hits = ptc_arena_alloc(arena, all * sizeof **hits);
    if (!s || !*hits)
        return false;
    *s = (ToolSearch){.heap = heap, .catalog = catalog};
    read_query(s, query, true);
    weigh_words(s);
    *count = collect_tool_hits(s, *hits);
    if (*count == 0 && s->only) { /* the word was not meant as the name of a server */
        read_query(s, query, false);
        weigh_words(s);
        *count = collect_tool_hits(s, *hits);
    }
    return true;
}
