/* SPDX-License-Identifier: MIT
 * Keys that no row has: (sum-by :prise rows) gives 0, and nobody would notice.  Asked after the work is done; where the
 * first row has the key, which is how it should be, that costs one look-up. */
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/analyze/suggest.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/vm/vm_int.h"
#include "value/coll/key_name.h"

enum { KEY_CHECK_ROWS_SEEN = 8, KEYS_SEEN = 64, KEY_CHECK_LISTED = 4, KEY_CHECK_SHOWN_BYTES = 60 };

/* The name that a row is asked for: of a path, its first. */
static PtcValue asked_key_name(PtcValue key)
{
    if (ptc_is_sequential(key) && ptc_seq_count(key) > 0 && !ptc_is_seq_flagged(key))
        key = ptc_seq_nth(key, 0);
    return ptc_is_keyword(key) || ptc_is_string(key) ? key : PTC_NONE;
}

/* Does one of them have the key?  Also true when one is not a map: then this is not a table. */
static bool any_has(PtcVM *vm, PtcValue rows, PtcValue key)
{
    PtcIter it;
    PtcValue row;
    if (!ptc_iter_init(&it, vm->heap, rows))
        return true;
    while (ptc_next(vm, &it, &row))
        if (!ptc_is_map(row) || ptc_map_key_flex(vm->heap, row, key) != PTC_NONE)
            return true;
    return it.failed;
}

/* Offers the keys of the first rows; the first few of the first one are listed. */
static void look_at_keys(PtcVM *vm, PtcValue rows, PtcSuggest *s, PtcBuf *list)
{
    PtcIter it;
    PtcValue row, key;
    char written[PTC_KEY_WRITTEN];
    size_t seen = 0;
    if (!ptc_iter_init(&it, vm->heap, rows))
        return;
    for (size_t i = 0; i < KEY_CHECK_ROWS_SEEN && ptc_iter_next(&it, &row); i++)
        for (size_t pos = 0; seen < KEYS_SEEN && ptc_map_next(row, &pos, &key, NULL); seen++) {
            if (!ptc_is_named(key))
                continue;
            ptc_key_written(key, written);
            ptc_suggest_offer(s, written[0] == ':' ? ":" : "", written + (written[0] == ':'),
                              strlen(written) - (written[0] == ':'), PTC_SUGGEST_OWN);
            if (i == 0 && pos <= KEY_CHECK_LISTED)
                ptc_buf_addf(list, "%s%s", list->len ? ", " : "", written);
        }
}

/* The key as a warning names it: in one line, whatever the data are. */
static void write_warned_key(PtcValue key, char out[PTC_KEY_WRITTEN])
{
    size_t len = ptc_str_len(key);
    len = ptc_utf8_valid_prefix(ptc_str_bytes(key),
                                len < KEY_CHECK_SHOWN_BYTES ? len : KEY_CHECK_SHOWN_BYTES);
    if (ptc_key_is_plain(key))
        snprintf(out, PTC_KEY_WRITTEN, "%s%.*s", ptc_is_keyword(key) ? ":" : "",
                 PTC_ARG_OF(ptc_str_bytes(key), len));
    else
        ptc_key_written(key, out);
}

/* :paid=true, as other languages compare: the length of its field; of any other key, its whole length. */
static size_t field_len(PtcValue key)
{
    const char *text = ptc_str_bytes(key), *equals = strchr(text, '=');
    if (!equals || !equals[1] || strlen(equals) > KEY_CHECK_SHOWN_BYTES || !ptc_is_keyword(key) ||
        !ptc_key_is_plain(key))
        return ptc_str_len(key);
    size_t n = (size_t)(equals - text);
    return n > 1 && strchr("<>!", text[n - 1]) ? n - 1 : n;
}

/* What to write for a comparison with the field that was found. */
static void hint_compare(PtcWarningItem *w, PtcValue key, const char *field)
{
    const char *op = ptc_str_bytes(key) + field_len(key), *than = strchr(op, '=') + 1;
    bool word = strcmp(than, "true") == 0 || strcmp(than, "false") == 0 || strcmp(than, "nil") == 0;
    const char *quote = word || ptc_ascii_is_digit(*than) || *than == '-' ? "" : "\"";
    ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "did you mean #(%.*s (%s %%) %s%s%s)?",
                    PTC_ARG_OF(*op == '!' ? "not=" : op, *op == '!' ? 4 : than - op), field, quote,
                    than, quote);
}

static void warn_of_missing_key(PtcVM *vm, PtcValue rows, PtcValue key, bool only_near)
{
    char room[PTC_HINT_MAX], shown[PTC_KEY_WRITTEN];
    PtcSuggest s;
    PtcBuf list = {.mem = vm->mem, .data = room, .cap = sizeof room, .max = sizeof room};
    size_t field = field_len(key);
    ptc_suggest_init(&s, ptc_str_bytes(key), field);
    look_at_keys(vm, rows, &s, &list);
    if (only_near && !ptc_suggest_found(&s))
        return;
    PtcWarningItem *w = ptc_warnings_here(vm, PTC_W_UNKNOWN_KEY);
    if (!w)
        return;
    write_warned_key(key, shown);
    size_t n = ptc_seq_count(rows);
    const char *name = ptc_builtin_row(vm->running)->name;
    if (n == 1)
        ptc_diag_format(w->message, PTC_MESSAGE_MAX + 1, "%s: the only element lacks the key %s",
                        name, shown);
    else
        ptc_diag_format(w->message, PTC_MESSAGE_MAX + 1,
                        "%s: none of the %zu elements has the key %s", name, n, shown);
    if (ptc_suggest_found(&s) && field < ptc_str_len(key))
        hint_compare(w, key, s.best);
    else if (ptc_suggest_found(&s))
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "did you mean %s?", s.best);
    else if (list.len)
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1, "the first has %.*s",
                        PTC_ARG_OF(room, list.len));
}

bool ptc_key_check(PtcVM *vm, PtcValue key, PtcValue rows, bool only_near)
{
    PtcValue name = asked_key_name(key), first;
    if (name == PTC_NONE || (only_near && !ptc_is_keyword(key)) || !ptc_is_sequential(rows) ||
        ptc_seq_count(rows) == 0 || ptc_seq_endless(rows))
        return true;
    first = ptc_seq_nth(rows, 0);
    if (!ptc_is_map(first) || ptc_map_key_flex(vm->heap, first, name) != PTC_NONE ||
        any_has(vm, rows, name))
        return vm->budget.stop == PTC_STOP_NONE;
    warn_of_missing_key(vm, rows, name, only_near);
    return true;
}
