/* SPDX-License-Identifier: MIT
 * Secrets are looked for in what strings say, not in how they are written: a secret that begins with the letter of an
 * escape, or that is a number, would otherwise take a part of the syntax with it. */
#include "upstream/run/blot_json.h"

#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/write.h"
#include "value/coll/visit.h"
#include "value/str.h"

typedef struct {
    const PtcSecrets *secrets;
    PtcBuf *out;
    PtcBuf plain, clean; /* of one string */
} Blot;

/* How many bytes from `at` on are inside the string that begins there. */
static size_t string_len(PtcText json, size_t at, bool *escaped)
{
    size_t i = at;
    *escaped = false;
    while (i < json.len && json.bytes[i] != '"') {
        *escaped = *escaped || json.bytes[i] == '\\';
        i += json.bytes[i] == '\\' ? 2 : 1;
    }
    return (i < json.len ? i : json.len) - at;
}

static uint32_t hex_of(const char *digits)
{
    uint32_t code = 0;
    for (size_t i = 0; i < 4; i++)
        code = code * 16 + (uint32_t)ptc_ascii_hex_value(digits[i]);
    return code;
}

/* What the string says; our writer escapes no character beyond the basic plane. */
static void unescape_json_string(PtcBuf *plain, PtcText inside)
{
    static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
    for (size_t i = 0; i < inside.len; i++) {
        char c = inside.bytes[i], bytes[4];
        if (c != '\\' || i + 1 == inside.len) {
            ptc_buf_add_char(plain, c);
            continue;
        }
        c = inside.bytes[++i];
        const char *name = strchr(names, c);
        if (c == 'u' && i + 4 < inside.len) {
            ptc_buf_add(plain, bytes, ptc_utf8_encode(hex_of(inside.bytes + i + 1), bytes));
            i += 4;
        } else {
            ptc_buf_add_char(plain, name && *name ? meant[name - names] : c);
        }
    }
}

static void put_string(Blot *b, PtcText inside, bool escaped)
{
    ptc_buf_clear(&b->plain);
    ptc_buf_clear(&b->clean);
    if (escaped)
        unescape_json_string(&b->plain, inside);
    PtcText text = escaped ? ptc_buf_view(&b->plain) : inside;
    ptc_secrets_blot_part(b->secrets, &b->clean, text, true);
    ptc_json_write_string(b->out, b->clean.data ? b->clean.data : "", b->clean.len);
}

static bool is_of_number(char c)
{
    return ptc_ascii_is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* A number, or the `e` of true and false, which is never a secret. */
static void put_blotted_number(Blot *b, PtcText number)
{
    ptc_buf_clear(&b->clean);
    ptc_secrets_blot_part(b->secrets, &b->clean, number, true);
    if (ptc_text_same(ptc_buf_view(&b->clean), number))
        ptc_buf_add(b->out, number.bytes, number.len);
    else
        ptc_buf_add_cstr(b->out, "\"[secret]\"");
}

/* One token from `at` on; returns where the next one begins. */
static size_t put_blotted_token(Blot *b, PtcText json, size_t at)
{
    size_t end = at;
    bool escaped;
    if (json.bytes[at] == '"') {
        end = at + 1 + string_len(json, at + 1, &escaped);
        put_string(b, (PtcText){json.bytes + at + 1, end - at - 1}, escaped);
        return end + 1;
    }
    while (end < json.len && is_of_number(json.bytes[end]))
        end++;
    if (end > at) {
        put_blotted_number(b, (PtcText){json.bytes + at, end - at});
        return end;
    }
    ptc_buf_add_char(b->out, json.bytes[at]);
    return at + 1;
}

void ptc_blot_json(const PtcSecrets *secrets, PtcBuf *out, PtcText json)
{
    Blot b = {.secrets = secrets, .out = out};
    ptc_buf_init(&b.plain, out->mem, PTC_UNBOUNDED);
    ptc_buf_init(&b.clean, out->mem, PTC_UNBOUNDED);
    for (size_t at = 0; at < json.len && ptc_buf_ok(out);) {
        at = put_blotted_token(&b, json, at);
        out->failed = out->failed || !ptc_buf_ok(&b.plain) || !ptc_buf_ok(&b.clean);
    }
    ptc_buf_deinit(&b.plain);
    ptc_buf_deinit(&b.clean);
}

/* ------------------------------------------------------------------------------------ values */

/* A string, a key, or a number as it would be written. */
static bool has_scalar_secret(const PtcSecrets *secrets, PtcHeap *heap, PtcBuf *number, PtcValue v)
{
    size_t len;
    PtcText text;
    if (ptc_is_string(v)) {
        text = ptc_str_text(v);
    } else {
        ptc_buf_clear(number);
        ptc_emit_value(number, heap, v);
        text = ptc_buf_view(number);
    }
    return number->failed || ptc_secrets_find(secrets, text, 0, &len) < text.len;
}

/* The next value behind one that was looked at; false: there is none. */
static bool visit_on(PtcWalk *walk, PtcValue *v)
{
    while (walk->count && ptc_visit_next(ptc_walk_top(walk), v) == PTC_VISIT_END)
        walk->count--;
    return walk->count > 0;
}

bool ptc_blot_would_find(const PtcSecrets *secrets, PtcHeap *heap, PtcValue value)
{
    PtcWalk walk;
    PtcBuf number;
    bool found = false;
    ptc_walk_init(&walk, heap);
    ptc_buf_init(&number, heap->pool->mem, PTC_UNBOUNDED);
    do
        found = ptc_visit_can(value) ? !ptc_visit_begin(&walk, value)
                                     : has_scalar_secret(secrets, heap, &number, value);
    while (!found && visit_on(&walk, &value));
    ptc_buf_deinit(&number);
    ptc_walk_deinit(&walk);
    return found;
}
