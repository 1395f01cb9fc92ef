/* SPDX-License-Identifier: MIT
 * Fills templates in: one pass over the nodes, which goes back to the beginning of a section for each entry.  Open
 * sections are on a stack of fixed depth, so there is no recursion. */
#include "agent/prompt/template.h"

#include "tool/convert.h"
#include "tool/wire/fence.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

/* An open section: where its names are looked up, and the position in its list. */
typedef struct TemplateFrame {
    PtcValue value; /* the entry; PTC_NONE: it brings nothing into scope (an inverted one) */
    bool over_list; /* more entries come from `rest` */
    PtcIter rest;
} TemplateFrame;

typedef struct Fill {
    const PtcTemplate *t;
    PtcHeap *heap;
    const PtcTemplateOptions *options;
    PtcBuf *out;
    PtcValue *keys; /* one string for each name of the template, made on first use */
    TemplateFrame stack[PTC_TEMPLATE_DEPTH + 1];
    size_t depth; /* of open sections; stack[0] is the context */
    size_t entries, missing;
    PtcTemplateStatus status;
} Fill;

/* Always false. */
static bool fail_filling(Fill *f, PtcTemplateStatus status)
{
    if (f->status == PTC_TEMPLATE_OK)
        f->status = status;
    return false;
}

/* ------------------------------------------------------------------------------ looking */

static PtcValue key_of_tag_name(Fill *f, const PtcTemplateNode *node, size_t i)
{
    PtcValue *key = &f->keys[node->first_name + i];
    if (*key == PTC_NONE)
        *key = ptc_str_new(f->heap, node->names[i].bytes, node->names[i].len);
    if (*key == PTC_NONE)
        fail_filling(f, PTC_TEMPLATE_STOPPED);
    return *key;
}

/* The first name is looked up from the innermost section outwards. */
static PtcValue find_first(Fill *f, PtcValue key)
{
    for (size_t i = f->depth + 1; i-- > 0;) {
        PtcValue at = f->stack[i].value;
        PtcValue found =
            at != PTC_NONE && ptc_is_map(at) ? ptc_map_get_flex(f->heap, at, key) : PTC_NONE;
        if (found != PTC_NONE)
            return found;
    }
    return PTC_NONE;
}

static PtcValue dot(const Fill *f)
{
    size_t i = f->depth;
    while (i > 0 && f->stack[i].value == PTC_NONE)
        i--;
    return f->stack[i].value;
}

/* The value of a tag; PTC_NONE: it has none, or the filling in has failed. */
static PtcValue look_up_tag_value(Fill *f, const PtcTemplateNode *node)
{
    if (node->name_count == 0)
        return dot(f);
    PtcValue key = key_of_tag_name(f, node, 0), v = key == PTC_NONE ? PTC_NONE : find_first(f, key);
    for (size_t i = 1; v != PTC_NONE && i < node->name_count; i++) {
        if (!ptc_is_map(v))
            return PTC_NONE;
        key = key_of_tag_name(f, node, i);
        v = key == PTC_NONE ? PTC_NONE : ptc_map_get_flex(f->heap, v, key);
    }
    return v;
}

static bool is_false(PtcValue v)
{
    return v == PTC_NONE || v == PTC_NIL || v == PTC_FALSE ||
           (ptc_is_string(v) && ptc_str_len(v) == 0) ||
           (ptc_is_sequential(v) && ptc_seq_count(v) == 0);
}

/* ------------------------------------------------------------------------------ writing */

static bool add_filled_text(Fill *f, PtcText text)
{
    if (ptc_buf_add(f->out, text.bytes, text.len))
        return true;
    return fail_filling(f, f->out->full ? PTC_TEMPLATE_TOO_LARGE : PTC_TEMPLATE_STOPPED);
}

static bool add_filled_json(Fill *f, PtcValue v)
{
    PtcJsonError error = {0};
    if (ptc_to_json_value(f->heap, f->out, v, -1, &error))
        return true;
    if (error.what[0])
        return fail_filling(f, PTC_TEMPLATE_NO_JSON);
    return fail_filling(f, f->out->full ? PTC_TEMPLATE_TOO_LARGE : PTC_TEMPLATE_STOPPED);
}

static bool add_reference(Fill *f, const PtcTemplateNode *node)
{
    if (node->name_count == 0)
        return add_filled_text(f, PTC_TEXT("data"));
    const PtcText *first = &node->names[0], *last = &node->names[node->name_count - 1];
    return add_filled_text(f, PTC_TEXT("data/")) &&
           add_filled_text(
               f, (PtcText){first->bytes, (size_t)(last->bytes + last->len - first->bytes)});
}

/* Text of several lines could pass for what is around it, and so could what is not seen. */
static bool add_filled_string(Fill *f, PtcText text)
{
    if (!f->options->fences)
        return add_filled_text(f, text);
    bool lines = memchr(text.bytes, '\n', text.len);
    if (lines && f->out->len && f->out->data[f->out->len - 1] != '\n')
        ptc_buf_add_char(f->out, '\n');
    if (lines)
        ptc_fence_add(f->out, "data", text);
    else
        ptc_fence_add_visible(f->out, text);
    return add_filled_text(f, (PtcText){"", 0});
}

static bool add_filled_value(Fill *f, const PtcTemplateNode *node)
{
    PtcValue v = look_up_tag_value(f, node);
    if (f->status != PTC_TEMPLATE_OK)
        return false;
    if (v == PTC_NONE) {
        f->missing++;
        if (f->options->keep_missing)
            return add_filled_text(f, node->text);
    }
    if (f->options->references && f->depth == 0)
        return add_reference(f, node);
    if (v == PTC_NONE || v == PTC_NIL)
        return true;
    return ptc_is_string(v) ? add_filled_string(f, ptc_str_text(v)) : add_filled_json(f, v);
}

/* ----------------------------------------------------------------------------- sections */

static bool count_entry(Fill *f)
{
    if (++f->entries > PTC_TEMPLATE_ENTRIES)
        return fail_filling(f, PTC_TEMPLATE_TOO_LARGE);
    return ptc_tick(f->heap->budget, 1) || fail_filling(f, PTC_TEMPLATE_STOPPED);
}

/* Opens the section at node *at, or skips it. */
static bool open_filled_section(Fill *f, size_t *at)
{
    const PtcTemplateNode *node = &f->t->nodes[*at];
    PtcValue v = look_up_tag_value(f, node);
    if (f->status != PTC_TEMPLATE_OK || !count_entry(f))
        return false;
    if (is_false(v) != (node->kind == PTC_TEMPLATE_INVERTED)) {
        *at = node->end;
        return true;
    }
    TemplateFrame *frame = &f->stack[++f->depth];
    frame->value = node->kind == PTC_TEMPLATE_INVERTED ? PTC_NONE : v;
    frame->over_list = frame->value != PTC_NONE && ptc_is_sequential(v);
    if (!frame->over_list)
        return true;
    return (ptc_iter_init(&frame->rest, f->heap, v) &&
            ptc_iter_next(&frame->rest, &frame->value)) ||
           fail_filling(f, PTC_TEMPLATE_STOPPED);
}

/* At the END of the innermost section: back to its beginning, or out of it. */
static bool end_section(Fill *f, size_t *at)
{
    TemplateFrame *frame = &f->stack[f->depth];
    if (!frame->over_list || !ptc_iter_next(&frame->rest, &frame->value)) {
        f->depth--;
        return true;
    }
    *at = f->t->nodes[*at].end;
    return count_entry(f);
}

static bool fill_template_nodes(Fill *f)
{
    for (size_t at = 0; at < f->t->count; at++) {
        const PtcTemplateNode *node = &f->t->nodes[at];
        bool ok = true;
        switch (node->kind) {
        case PTC_TEMPLATE_TEXT: ok = add_filled_text(f, node->text); break;
        case PTC_TEMPLATE_VALUE: ok = add_filled_value(f, node); break;
        case PTC_TEMPLATE_SECTION:
        case PTC_TEMPLATE_INVERTED: ok = open_filled_section(f, &at); break;
        case PTC_TEMPLATE_END: ok = end_section(f, &at); break;
        }
        if (!ok)
            return false;
    }
    return true;
}

PtcTemplateStatus ptc_template_fill(const PtcTemplate *t, PtcHeap *heap, PtcValue context,
                                    const PtcTemplateOptions *options, PtcBuf *out, size_t *missing)
{
    Fill f = {.t = t, .heap = heap, .options = options, .out = out};
    size_t bytes = t->name_count * sizeof *f.keys;
    f.keys = bytes ? ptc_mem_alloc(out->mem, bytes) : NULL;
    if (bytes && !f.keys)
        return PTC_TEMPLATE_STOPPED;
    if (bytes)
        memset(f.keys, 0, bytes);
    f.stack[0].value = context;
    fill_template_nodes(&f);
    ptc_mem_free(out->mem, f.keys, bytes);
    if (missing)
        *missing = f.missing;
    return f.status;
}
