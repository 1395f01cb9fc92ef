/* SPDX-License-Identifier: MIT
 * JSON objects of servers.  What always holds: a text that is handed out is printable ASCII, so it may go into a
 * header, a form or a line on a terminal. */
#include "oauth/oauth_doc.h"

#include <string.h>

#include "base/ascii.h"
#include "base/units.h"
#include "json/parse.h"
#include "net/url.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { DOC_HEAP_BYTES = 16 * PTC_MB, OAUTH_DOC_WORDS = 200, WORDS_BYTES = 4096 };

bool ptc_oauth_doc_read(PtcOauthDoc *doc, PtcMem *mem, PtcArena *arena, PtcText json)
{
    PtcJsonError error;
    ptc_pool_init(&doc->pool, mem);
    ptc_budget_init(&doc->budget);
    ptc_heap_init(&doc->heap, &doc->pool, &doc->budget, DOC_HEAP_BYTES);
    doc->arena = arena;
    doc->short_of_memory = false;
    doc->root = PTC_NONE;
    if (json.len <= PTC_OAUTH_DOC_BYTES)
        doc->root = ptc_json_parse(&doc->heap, json.bytes, json.len, &error);
    return doc->root != PTC_NONE && ptc_is_map(doc->root);
}

void ptc_oauth_doc_deinit(PtcOauthDoc *doc)
{
    ptc_heap_deinit(&doc->heap);
    ptc_pool_deinit(&doc->pool);
}

bool ptc_oauth_doc_end(PtcOauthDoc *doc, bool ok, PtcWhy *why)
{
    ptc_oauth_doc_deinit(doc);
    return doc->short_of_memory ? ptc_why_no_memory(why) : ok;
}

const char *ptc_oauth_doc_keep(PtcArena *arena, PtcText text)
{
    char *kept = ptc_arena_alloc(arena, text.len + 1);
    if (!kept)
        return NULL;
    if (text.len)
        memcpy(kept, text.bytes, text.len);
    kept[text.len] = '\0';
    return kept;
}

static bool is_printable_text(PtcText text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] < ' ' || text.bytes[i] > '~')
            return false;
    return text.bytes && text.len;
}

static const char *keep_string(PtcOauthDoc *doc, PtcValue v)
{
    PtcText text = v == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(v);
    if (!is_printable_text(text))
        return NULL;
    const char *kept = ptc_oauth_doc_keep(doc->arena, text);
    doc->short_of_memory |= !kept;
    return kept;
}

const char *ptc_oauth_doc_text(PtcOauthDoc *doc, const char *name)
{
    return keep_string(doc, ptc_map_field(&doc->heap, doc->root, name));
}

const char *ptc_oauth_doc_address(PtcOauthDoc *doc, const char *name)
{
    PtcUrl url;
    const char *text = ptc_oauth_doc_text(doc, name);
    return text && ptc_url_parse(ptc_text_cstr(text), &url, NULL) ? text : NULL;
}

static int64_t read_doc_digits(PtcText text, int64_t otherwise)
{
    int64_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!ptc_ascii_is_digit(text.bytes[i]) || i > 12)
            return otherwise;
        n = n * 10 + (text.bytes[i] - '0');
    }
    return text.len ? n : otherwise;
}

int64_t ptc_oauth_doc_number(PtcOauthDoc *doc, const char *name, int64_t otherwise)
{
    static const int64_t MOST = INT64_C(4000) * PTC_MILLION; /* seconds: more than a century */
    PtcValue v = ptc_map_field(&doc->heap, doc->root, name);
    int64_t n = -1;
    if (v == PTC_NONE)
        return otherwise;
    if (ptc_is_int(v))
        n = ptc_to_int(v);
    else if (ptc_is_string(v))
        n = read_doc_digits(ptc_str_text(v), -1);
    else if (ptc_is_float(v) && ptc_to_float(v) >= 0 && ptc_to_float(v) <= (double)MOST)
        n = (int64_t)ptc_to_float(v);
    return n < 0 || n > MOST ? otherwise : n;
}

bool ptc_oauth_doc_is_true(PtcOauthDoc *doc, const char *name)
{
    return ptc_map_field(&doc->heap, doc->root, name) == PTC_TRUE;
}

/* ------------------------------------------------------------------------------------ lists */

static PtcValue find_doc_list(PtcOauthDoc *doc, const char *name, size_t *count)
{
    PtcValue v = ptc_map_field(&doc->heap, doc->root, name);
    bool list = v != PTC_NONE && ptc_is_sequential(v);
    *count = list ? ptc_seq_count(v) : 0;
    *count = *count < OAUTH_DOC_WORDS ? *count : OAUTH_DOC_WORDS;
    return list ? v : PTC_NONE;
}

bool ptc_oauth_doc_lists(PtcOauthDoc *doc, const char *name, const char *word)
{
    size_t count;
    PtcValue list = find_doc_list(doc, name, &count);
    for (size_t i = 0; i < count; i++) {
        PtcText text = ptc_str_text(ptc_seq_nth(list, i));
        if (text.bytes && ptc_text_is(text, word))
            return true;
    }
    return false;
}

const char *ptc_oauth_doc_item(PtcOauthDoc *doc, const char *name, size_t n)
{
    size_t count;
    PtcValue list = find_doc_list(doc, name, &count);
    return n < count ? keep_string(doc, ptc_seq_nth(list, n)) : NULL;
}

const char *ptc_oauth_doc_words(PtcOauthDoc *doc, const char *name)
{
    char words[WORDS_BYTES];
    size_t count, len = 0;
    PtcValue list = find_doc_list(doc, name, &count);
    for (size_t i = 0; i < count; i++) {
        PtcText text = ptc_str_text(ptc_seq_nth(list, i));
        if (!is_printable_text(text) || memchr(text.bytes, ' ', text.len) ||
            len + text.len + 1 >= sizeof words)
            continue;
        if (len)
            words[len++] = ' ';
        memcpy(words + len, text.bytes, text.len);
        len += text.len;
    }
    if (!len)
        return NULL;
    const char *kept = ptc_oauth_doc_keep(doc->arena, (PtcText){words, len});
    doc->short_of_memory |= !kept;
    return kept;
}
