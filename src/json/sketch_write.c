/* SPDX-License-Identifier: MIT
 * What is known of values as text.  What always holds: every character of it is seen, so that names from outside can
 * neither end a line nor pass for something else.  Recursion follows the sketch, whose depth is bounded. */
#include "base/text/one_line.h"
#include "base/utf8.h"
#include "json/sketch.h"

/* How much of it is written: maps so deep, so many members of each. */
typedef struct {
    int levels;
    uint32_t shown;
    bool whole;
} SketchCut;

static void write_sketch(PtcBuf *out, const PtcSketch *s, SketchCut cut);

void ptc_sketch_write_string(PtcBuf *out, PtcText text)
{
    uint32_t code;
    ptc_buf_add_char(out, '"');
    for (size_t i = 0, n; i < text.len; i += n) {
        n = ptc_utf8_decode(text.bytes + i, text.len - i, &code);
        if (code == '\n' || code == '\t' || ptc_one_line_is_unseen(code))
            ptc_buf_addf(out, "\\u{%x}", (unsigned)code);
        else if (code == '"' || code == '\\')
            ptc_buf_addf(out, "\\%c", (int)code);
        else
            ptc_buf_add(out, text.bytes + i, n);
    }
    ptc_buf_add_char(out, '"');
}

/* Can it stand without quotes? */
static bool is_sketch_word(PtcText name)
{
    uint32_t code;
    bool word = name.len > 0 && !memchr(":*.", *name.bytes, 3);
    for (size_t i = 0; word && i < name.len;
         i += ptc_utf8_decode(name.bytes + i, name.len - i, &code)) {
        (void)ptc_utf8_decode(name.bytes + i, name.len - i, &code);
        word = !ptc_utf8_is_space(code) && !ptc_one_line_is_unseen(code) &&
               !(code < 0x80 && memchr("\"\\{}[]|?!,", (int)code, 10));
    }
    return word;
}

void ptc_sketch_write_name(PtcBuf *out, PtcText name)
{
    if (is_sketch_word(name))
        ptc_buf_add(out, name.bytes, name.len);
    else
        ptc_sketch_write_string(out, name);
}

static void write_sketch_map(PtcBuf *out, const PtcSketch *s, SketchCut cut)
{
    uint32_t n = cut.whole || s->count < cut.shown ? s->count : cut.shown;
    if ((!cut.whole && cut.levels == 0) || (s->count == 0 && !s->item && !s->closed)) {
        ptc_buf_add_cstr(out, "map");
        return;
    }
    cut.levels--;
    ptc_buf_add_char(out, '{');
    for (uint32_t i = 0; i < n; i++) {
        ptc_buf_add_cstr(out, i ? ", " : "");
        ptc_sketch_write_name(out, s->fields[i].name);
        ptc_buf_add_cstr(out, s->fields[i].optional ? "? " : " ");
        write_sketch(out, s->fields[i].type, cut);
    }
    if (n < s->count)
        ptc_buf_add_cstr(out, ", ...");
    if (s->item) {
        ptc_buf_add_cstr(out, n ? ", * " : "* ");
        write_sketch(out, s->item, cut);
    }
    ptc_buf_add_cstr(out, cut.whole && s->closed ? "}!" : "}");
}

static void write_sketch(PtcBuf *out, const PtcSketch *s, SketchCut cut)
{
    static const char *const words[] = {"any",    "nil",    "bool",    "int",
                                        "number", "string", "keyword", "datetime"};
    if (!ptc_buf_ok(out))
        return;
    if (s->kind == PTC_SKETCH_MAP) {
        write_sketch_map(out, s, cut);
    } else if (s->kind == PTC_SKETCH_LIST) {
        ptc_buf_add_char(out, '[');
        if (s->item)
            write_sketch(out, s->item, cut);
        ptc_buf_add_char(out, ']');
    } else if (s->kind == PTC_SKETCH_UNION) {
        for (uint32_t i = 0; i < s->count; i++) {
            ptc_buf_add_cstr(out, i ? "|" : "");
            write_sketch(out, s->of[i], cut);
        }
    } else if (s->literal.bytes && s->kind == PTC_SKETCH_STRING) {
        ptc_sketch_write_string(out, s->literal);
    } else if (s->literal.bytes) {
        ptc_buf_add(out, s->literal.bytes, s->literal.len);
    } else {
        ptc_buf_add_cstr(out, words[s->kind]);
    }
}

void ptc_sketch_write(PtcBuf *out, const PtcSketch *sketch)
{
    write_sketch(out, sketch, (SketchCut){.whole = true});
}

/* Everything, then less and less of it; a type of which not even that fits is `any`. */
void ptc_sketch_write_short(PtcBuf *out, const PtcSketch *sketch, size_t most)
{
    static const SketchCut cuts[] = {{3, 12, false}, {2, 12, false}, {2, 6, false}, {1, 12, false},
                                     {1, 6, false},  {1, 3, false},  {0, 0, false}};
    PtcBuf text;
    bool fits = false;
    ptc_buf_init(&text, out->mem, most);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts && !fits && !text.failed; i++) {
        ptc_buf_clear(&text);
        write_sketch(&text, sketch, cuts[i]);
        fits = ptc_buf_ok(&text);
    }
    if (fits)
        ptc_buf_add(out, text.data, text.len);
    else
        ptc_buf_add_cstr(out, "any");
    ptc_buf_end_part(out, &text);
}
