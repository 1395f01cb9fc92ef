/* SPDX-License-Identifier: MIT
 * Writes YAML from JSON text, sign by sign: containers become lines with an indentation, scalars stay what they are. */
#include "yaml/yaml_write.h"

#include <string.h>

#include "base/ascii.h"

enum {
    INDENT = 2,
    LONGEST_KEY = 1000 /* of one that may stand before a colon on its line: 1024 */
};

typedef struct {
    PtcBuf *out;
    const char *at, *end;
    PtcBuf maps;  /* by depth: is the container a map? */
    bool fresh;   /* the next item begins where we are: at the begin, or behind "- " */
    bool written; /* a key or "- " stands before the value */
} YamlWriting;

/* ------------------------------------------------------------------------------------ texts */

static bool is_word_of_yaml(PtcText t)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]), k = 0;
        while (n == t.len && k < n && ptc_ascii_lower(t.bytes[k]) == words[i][k])
            k++;
        if (n == t.len && k == n)
            return true;
    }
    return false;
}

/* Of a string of JSON, without its quotes.  Only signs that mean nothing anywhere in YAML. */
static bool is_plain_text(PtcText t)
{
    if (t.len == 0 || t.len > LONGEST_KEY || !ptc_ascii_is_letter(t.bytes[0]) ||
        t.bytes[t.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < t.len; i++)
        if (!ptc_ascii_is_alnum(t.bytes[i]) && !memchr(" _-./+@()", t.bytes[i], 9))
            return false;
    return !is_word_of_yaml(t);
}

/* Bytes at p that YAML takes for a line end or refuses, though JSON has them as they are; 0: none. */
static size_t escape_of(const char *p, size_t left, char escaped[8])
{
    const unsigned char *u = (const unsigned char *)p;
    unsigned code = u[0] == 0x7f                               ? 0x7f
                    : left >= 2 && u[0] == 0xc2 && u[1] < 0xa0 ? u[1]
                    : left >= 3 && u[0] == 0xe2 && u[1] == 0x80 && u[2] >> 1 == 0x54
                        ? 0x2000u + (u[2] & 0x3f)
                    : left >= 3 && memcmp(u, "\xef\xbb\xbf", 3) == 0 ? 0xfeff
                                                                     : 0;
    if (!code)
        return 0;
    static const char digits[] = "0123456789abcdef";
    escaped[0] = '\\';
    escaped[1] = 'u';
    for (int i = 0; i < 4; i++)
        escaped[2 + i] = digits[code >> (12 - 4 * i) & 15];
    return code < 0x80 ? 1 : code < 0x100 ? 2 : 3;
}

static void write_quoted(PtcBuf *out, PtcText t)
{
    char escaped[8];
    size_t from = 0;
    for (size_t i = 0; i < t.len;) {
        size_t n = escape_of(t.bytes + i, t.len - i, escaped);
        if (n) {
            ptc_buf_add(out, t.bytes + from, i - from);
            ptc_buf_add(out, escaped, 6);
            from = i + n;
        }
        i += n ? n : 1;
    }
    ptc_buf_add(out, t.bytes + from, t.len - from);
}

/* The scalar at `at`. */
static PtcText next_scalar(const YamlWriting *w)
{
    const char *q = w->at;
    if (*q == '"') {
        for (q++; q < w->end && *q != '"'; q++)
            q += *q == '\\' && q + 1 < w->end;
        q += q < w->end;
    } else {
        while (q < w->end && !memchr(",:]}", *q, 4))
            q++;
    }
    return (PtcText){w->at, (size_t)(q - w->at)};
}

static void write_scalar(PtcBuf *out, PtcText t)
{
    bool text = t.bytes[0] == '"' && t.len >= 2;
    PtcText inside = {t.bytes + 1, t.len - 2};
    if (!text)
        ptc_buf_add(out, t.bytes, t.len);
    else if (is_plain_text(inside))
        ptc_buf_add(out, inside.bytes, inside.len);
    else
        write_quoted(out, t);
}

/* ------------------------------------------------------------------------------- containers */

static bool in_map(const YamlWriting *w)
{
    return w->maps.len > 0 && w->maps.data[w->maps.len - 1];
}

static void begin_yaml_line(YamlWriting *w)
{
    if (!w->fresh) {
        ptc_buf_add_char(w->out, '\n');
        for (size_t i = INDENT; i < w->maps.len * INDENT; i++)
            ptc_buf_add_char(w->out, ' ');
    }
    w->fresh = false;
}

/* What stands before the next value: its key, or the sign of an item. */
static void begin_yaml_item(YamlWriting *w)
{
    begin_yaml_line(w);
    w->written = true;
    if (!in_map(w)) {
        ptc_buf_add_cstr(w->out, "- ");
        w->fresh = true;
        return;
    }
    PtcText key = next_scalar(w);
    bool large = key.len > LONGEST_KEY;
    if (large)
        ptc_buf_add_cstr(w->out, "? ");
    write_scalar(w->out, key);
    if (large)
        begin_yaml_line(w);
    ptc_buf_add_char(w->out, ':');
    w->at += key.len + 1; /* and its colon */
}

static void write_value(YamlWriting *w, PtcText text)
{
    if (w->written && in_map(w))
        ptc_buf_add_char(w->out, ' ');
    write_scalar(w->out, text);
    w->at += text.len;
    w->fresh = w->written = false;
}

static void write_next(YamlWriting *w)
{
    bool opens = *w->at == '[' || *w->at == '{', closes = *w->at == ']' || *w->at == '}';
    if (closes || *w->at == ',') {
        w->maps.len -= closes;
        w->at++;
    } else if (w->maps.len > 0 && !w->written) {
        begin_yaml_item(w);
    } else if (!opens) {
        write_value(w, next_scalar(w));
    } else if (w->at + 1 < w->end && (w->at[1] == ']' || w->at[1] == '}')) {
        write_value(w, (PtcText){w->at, 2});
    } else {
        ptc_buf_add_char(&w->maps, *w->at == '{');
        w->at++;
        w->written = false;
    }
}

bool ptc_yaml_write(PtcBuf *out, PtcText json, size_t depth)
{
    YamlWriting w = {.out = out, .at = json.bytes, .end = json.bytes + json.len, .fresh = true};
    ptc_buf_init(&w.maps, out->mem, depth + 1);
    while (w.at < w.end && ptc_buf_ok(out) && ptc_buf_ok(&w.maps))
        write_next(&w);
    ptc_buf_add_char(out, '\n');
    bool ok = ptc_buf_ok(out) && ptc_buf_ok(&w.maps);
    ptc_buf_deinit(&w.maps);
    return ok;
}
