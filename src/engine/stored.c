/* SPDX-License-Identifier: MIT
 * Stored values in a few words. */
#include "engine/stored.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/vm/vm_int.h"
#include "tool/wire/fence.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum {
    STORED_BYTES = 4 * PTC_KB, /* of a value that are printed in order to be cut */
    SHORT_CHARS = 80,          /* as many as this are shown as they are */
    STORED_KEYS = 8,
    KEY_CHARS = 24,
};

/* Appends the beginning of what a program would print; `all`: nothing unless it is all of it.  True: it was all. */
static bool add_print(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t max_chars, bool all)
{
    PtcBuf text;
    ptc_buf_init(&text, out->mem, STORED_BYTES);
    bool whole = ptc_outcome_print_value(o, &text, v);
    PtcText shown = ptc_buf_view(&text);
    shown.len = ptc_utf8_valid_prefix(shown.bytes, shown.len);
    PtcCut cut = ptc_cut_chars(shown, max_chars);
    whole = whole && cut.left_out == 0;
    if (whole || !all)
        ptc_buf_add(out, shown.bytes, cut.kept);
    if (!whole && !all)
        ptc_buf_add_cstr(out, " ...");
    out->failed = out->failed || text.failed;
    ptc_buf_deinit(&text);
    return whole;
}

static void add_beginning(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t max_chars)
{
    add_print(o, out, v, max_chars, false);
}

/* ------------------------------------------------------------------------------------ kinds */

/* What all items are, in the plural. */
static const char *kind_of_items(PtcOutcome *o, PtcValue list)
{
    static const struct {
        bool (*is)(PtcValue v);
        const char *name;
    } kinds[] = {{ptc_is_map, "maps"},
                 {ptc_is_string, "strings"},
                 {ptc_is_number, "numbers"},
                 {ptc_is_sequential, "lists"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        PtcIter it;
        PtcValue v;
        bool all = ptc_iter_init(&it, &o->heap, list);
        while (all && ptc_iter_next(&it, &v))
            all = kinds[i].is(v);
        if (all && !it.failed)
            return kinds[i].name;
    }
    return "values";
}

static void add_key(PtcOutcome *o, PtcBuf *out, PtcValue key)
{
    PtcText name = ptc_is_string(key) ? ptc_str_text(key) : (PtcText){NULL, 0};
    bool plain = name.len > 0 && name.len <= KEY_CHARS;
    for (size_t i = 0; i < name.len && plain; i++)
        plain = ptc_ascii_is_name(name.bytes[i]) || name.bytes[i] == '-';
    ptc_buf_add_char(out, ' ');
    if (plain)
        ptc_buf_add(out, name.bytes, name.len);
    else
        add_beginning(o, out, key, KEY_CHARS);
}

/* The first keys, each behind a space. */
static void add_keys(PtcOutcome *o, PtcBuf *out, PtcValue map)
{
    PtcValue key, value;
    size_t n = 0;
    for (size_t pos = 0; n < STORED_KEYS && ptc_map_next(map, &pos, &key, &value); n++)
        add_key(o, out, key);
    if (n < ptc_map_count(map))
        ptc_buf_add_cstr(out, " ...");
}

/* ------------------------------------------------------------------------------ collections */

static void add_sample(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t max_chars)
{
    ptc_buf_add_cstr(out, "; first ");
    add_beginning(o, out, v, max_chars);
}

static void describe_list(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t sample)
{
    PtcValue first = ptc_seq_nth(v, 0);
    const char *kind = kind_of_items(o, v);
    ptc_buf_addf(out, "%zu %s", ptc_seq_count(v), kind);
    if (ptc_is_map(first)) {
        ptc_buf_add_char(out, ',');
        add_keys(o, out, first);
    }
    add_sample(o, out, first, sample);
}

static void describe_map(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t sample)
{
    PtcValue key, value;
    size_t pos = 0;
    ptc_buf_addf(out, "map of %zu,", ptc_map_count(v));
    add_keys(o, out, v);
    if (ptc_map_next(v, &pos, &key, &value))
        add_sample(o, out, value, sample);
}

static void describe_set(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t sample)
{
    PtcIter it;
    PtcValue first;
    ptc_buf_addf(out, "set of %zu", ptc_map_count(v));
    if (ptc_iter_init(&it, &o->heap, v) && ptc_iter_next(&it, &first))
        add_sample(o, out, first, sample);
}

static void describe_string(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t sample)
{
    ptc_buf_addf(out, "string of %zu characters; first ",
                 ptc_utf8_count(ptc_str_bytes(v), ptc_str_len(v)));
    add_beginning(o, out, v, sample);
}

void ptc_stored_describe(PtcOutcome *o, PtcBuf *out, PtcValue v, size_t max_chars)
{
    size_t sample = max_chars / 3;
    bool list = ptc_is_sequential(v) && !ptc_is_queue(v) && ptc_seq_count(v) > 0;
    if (ptc_is(v, PTC_T_CLOSURE))
        ptc_buf_add_cstr(out, "function");
    else if (add_print(o, out, v, max_chars < SHORT_CHARS ? max_chars : SHORT_CHARS, true))
        return;
    else if (list)
        describe_list(o, out, v, sample);
    else if (ptc_is_map(v))
        describe_map(o, out, v, sample);
    else if (ptc_is_set(v))
        describe_set(o, out, v, sample);
    else if (ptc_is_string(v))
        describe_string(o, out, v, sample);
    else
        add_beginning(o, out, v, max_chars);
}
