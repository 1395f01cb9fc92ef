/* SPDX-License-Identifier: MIT
 * YAML.  libyaml gives events; here they become values, with a stack of our own and a count of what aliases stand for,
 * so that a short text cannot become an endless document. */
#include "yaml/yaml_read.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "value/coll/fields.h"
#include "value/coll/vec.h"
#include "value/number/bigint.h"
#include "value/number/number.h"
#include "yaml/yaml_library.h"

/* A collection being read. */
typedef struct {
    PtcValue value; /* a map so far, or what a list is built in */
    PtcValue key;   /* of a map: waits for its value; PTC_NONE: none */
    PtcValue anchor;
    size_t nodes; /* before it */
    bool map;
} YamlLevel;

typedef struct {
    PtcHeap *heap;
    PtcYamlError *error;
    yaml_parser_t parser;
    YamlLevel levels[PTC_YAML_DEPTH];
    size_t depth, nodes, aliased; /* what aliases stand for is in both */
    PtcValue anchors, sizes;      /* name -> value, name -> nodes */
    PtcValue document;            /* PTC_NONE: not read yet */
    bool data;
    PtcValue documents; /* of data: those before it, as a builder; PTC_NONE: none */
} YamlReading;

static bool refuse_yaml(YamlReading *r, size_t line, const char *message)
{
    if (!r->error->message[0]) {
        r->error->line = line;
        snprintf(r->error->message, sizeof r->error->message, "%s", message);
    }
    return false;
}

/* ---------------------------------------------------------------------------------- scalars */

static bool is_yaml_word_among(PtcText text, const char *const *words)
{
    for (; *words; words++)
        if (ptc_text_is(text, *words))
            return true;
    return false;
}

static bool is_digits(PtcText text)
{
    size_t i = text.len && (text.bytes[0] == '-' || text.bytes[0] == '+');
    if (i == text.len)
        return false;
    for (; i < text.len; i++)
        if (!ptc_ascii_is_digit(text.bytes[i]))
            return false;
    return true;
}

/* 0o17, 0x1f; false: it is neither. */
static bool read_based(PtcText text, int64_t *out)
{
    int base = ptc_text_starts(text, "0x") ? 16 : ptc_text_starts(text, "0o") ? 8 : 0;
    if (!base || text.len < 3 || text.len > 16)
        return false;
    *out = 0;
    for (size_t i = 2; i < text.len; i++) {
        int digit = ptc_ascii_digit_value(text.bytes[i]);
        if (digit >= base)
            return false;
        *out = *out * base + digit;
    }
    return true;
}

/* A number that has a digit before or behind its point; ptc_double_parse takes more than the core schema. */
static bool read_yaml_double(PtcText text, double *out)
{
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++)
        digits += ptc_ascii_is_digit(text.bytes[i]);
    return digits && text.len < 64 && ptc_double_parse(text.bytes, text.len, out) && isfinite(*out);
}

/* What a scalar without quotes is. */
static PtcValue plain_value(PtcHeap *heap, PtcText text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};
    int64_t n;
    double d;
    if (is_yaml_word_among(text, nulls))
        return PTC_NIL;
    if (is_yaml_word_among(text, trues))
        return PTC_TRUE;
    if (is_yaml_word_among(text, falses))
        return PTC_FALSE;
    if (is_digits(text) && text.len < 1000)
        return ptc_int_parse(heap, text.bytes, text.len);
    if (read_based(text, &n))
        return ptc_int(n);
    if (read_yaml_double(text, &d))
        return ptc_float_new(heap, d);
    return ptc_fields_string(heap, text);
}

/* ------------------------------------------------------------------------------------- nodes */

static bool count_yaml_nodes(YamlReading *r, size_t nodes, size_t line)
{
    r->nodes += nodes;
    return (r->data ? r->aliased : r->nodes) <= PTC_YAML_NODES ||
           refuse_yaml(r, line, "it is too large once its aliases are followed");
}

/* Where a finished node goes. */
static bool add_yaml_node(YamlReading *r, PtcValue v, PtcText text, size_t line)
{
    if (v == PTC_NONE)
        return false;
    if (r->depth == 0) {
        r->document = v;
        return true;
    }
    YamlLevel *level = &r->levels[r->depth - 1];
    if (!level->map) {
        return ptc_build_add(r->heap, level->value, v);
    } else if (level->key == PTC_NONE) {
        if (!text.bytes)
            return refuse_yaml(r, line, "a key must be plain text");
        level->key = ptc_fields_string(r->heap, text);
        if (level->key != PTC_NONE && ptc_map_get(r->heap, level->value, level->key) != PTC_NONE)
            return refuse_yaml(r, line, "a key occurs twice");
    } else {
        ptc_fields_put_key(r->heap, &level->value, ptc_str_text(level->key), v);
        level->key = PTC_NONE;
    }
    return ptc_fields_ok(r->heap);
}

static PtcText yaml_name_of(const yaml_char_t *name)
{
    return ptc_text_cstr((const char *)name);
}

static void remember_anchor(YamlReading *r, PtcText anchor, PtcValue v, size_t nodes)
{
    if (!anchor.bytes)
        return;
    ptc_fields_put_key(r->heap, &r->anchors, anchor, v);
    ptc_fields_put_key(r->heap, &r->sizes, anchor, ptc_int((int64_t)nodes));
}

static bool take_scalar(YamlReading *r, const yaml_event_t *event, size_t line)
{
    PtcText text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (event->data.scalar.tag)
        return refuse_yaml(r, line, "tags are not read");
    PtcValue v = plain ? plain_value(r->heap, text) : ptc_fields_string(r->heap, text);
    if (v != PTC_NONE)
        remember_anchor(r, yaml_name_of(event->data.scalar.anchor), v, 1);
    return count_yaml_nodes(r, 1, line) && add_yaml_node(r, v, text, line);
}

static bool take_alias(YamlReading *r, const yaml_event_t *event, size_t line)
{
    PtcText name = yaml_name_of(event->data.alias.anchor);
    PtcValue v = ptc_fields_get(r->heap, r->anchors, name);
    PtcValue nodes = ptc_fields_get(r->heap, r->sizes, name);
    if (v == PTC_NONE || nodes == PTC_NONE)
        return refuse_yaml(r, line, "an alias names no anchor before it");
    r->aliased += (size_t)ptc_to_int(nodes);
    return count_yaml_nodes(r, (size_t)ptc_to_int(nodes), line) &&
           add_yaml_node(r, v, ptc_str_text(v), line);
}

static bool begin_level(YamlReading *r, bool map, const yaml_char_t *anchor, const yaml_char_t *tag,
                        size_t line)
{
    if (tag)
        return refuse_yaml(r, line, "tags are not read");
    if (r->depth == PTC_YAML_DEPTH)
        return refuse_yaml(r, line, "it is nested too deep");
    PtcText name = yaml_name_of(anchor);
    r->levels[r->depth++] = (YamlLevel){
        .value = map ? ptc_fields_map(r->heap) : ptc_build_new(r->heap),
        .key = PTC_NONE,
        .anchor = name.bytes ? ptc_fields_string(r->heap, name) : PTC_NONE,
        .nodes = r->nodes,
        .map = map,
    };
    return ptc_fields_ok(r->heap) && count_yaml_nodes(r, 1, line);
}

static bool end_level(YamlReading *r, size_t line)
{
    YamlLevel level = r->levels[--r->depth];
    if (!level.map)
        level.value = ptc_build_done(r->heap, level.value, 0);
    if (level.value == PTC_NONE)
        return false;
    if (level.anchor != PTC_NONE)
        remember_anchor(r, ptc_str_text(level.anchor), level.value, r->nodes - level.nodes);
    return add_yaml_node(r, level.value, (PtcText){NULL, 0}, line);
}

/* A document begins, where only data may have had one before. */
static bool begin_document(YamlReading *r, size_t line)
{
    if (r->document == PTC_NONE)
        return true;
    if (!r->data)
        return refuse_yaml(r, line, "it has several documents");
    if (r->documents == PTC_NONE)
        r->documents = ptc_build_new(r->heap);
    bool ok = r->documents != PTC_NONE && ptc_build_add(r->heap, r->documents, r->document);
    r->document = PTC_NONE;
    r->anchors = r->sizes = ptc_fields_map(r->heap);
    return ok;
}

/* The only document, or a list of all. */
static PtcValue finish_documents(YamlReading *r)
{
    if (r->documents == PTC_NONE || r->document == PTC_NONE)
        return r->document;
    return ptc_build_add(r->heap, r->documents, r->document)
               ? ptc_build_done(r->heap, r->documents, 0)
               : PTC_NONE;
}

static bool take_yaml_event(YamlReading *r, const yaml_event_t *event)
{
    size_t line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_SCALAR_EVENT: return take_scalar(r, event, line);
    case YAML_ALIAS_EVENT: return take_alias(r, event, line);
    case YAML_SEQUENCE_START_EVENT:
        return begin_level(r, false, event->data.sequence_start.anchor,
                           event->data.sequence_start.tag, line);
    case YAML_MAPPING_START_EVENT:
        return begin_level(r, true, event->data.mapping_start.anchor, event->data.mapping_start.tag,
                           line);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return end_level(r, line);
    case YAML_DOCUMENT_START_EVENT: return begin_document(r, line);
    default: return true;
    }
}

/* ---------------------------------------------------------------------------------- document */

/* A line of blanks and tabs is an empty one, but libyaml takes the tabs for an indentation and refuses them. */
static bool is_tabbed_blank(PtcText line)
{
    return memchr(line.bytes, '\t', line.len) && ptc_text_is_blank(line);
}

/* The text as libyaml takes it: also without the control characters of Latin-1, which YAML does not allow and which
 * descriptions have where an encoding was mistaken. */
static void write_clean(PtcBuf *out, PtcText text)
{
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.bytes + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.bytes) + 1 - at : text.len - at;
        if (is_tabbed_blank((PtcText){text.bytes + at, len}))
            ptc_buf_add_char(out, '\n');
        else
            ptc_buf_add(out, text.bytes + at, len);
        at += len;
    }
    for (size_t i = 0; ptc_buf_ok(out) && i + 1 < out->len; i++) {
        unsigned char next = (unsigned char)out->data[i + 1];
        if ((unsigned char)out->data[i] == 0xc2 && next < 0xa0 && next != 0x85)
            memcpy(out->data + i, "  ", 2);
    }
}

static void read_events(YamlReading *r, const PtcYamlLibrary *lib)
{
    yaml_event_t event;
    bool more = true;
    while (more) {
        if (!lib->parser_parse(&r->parser, &event)) {
            refuse_yaml(r, r->parser.problem_mark.line + 1,
                        r->parser.problem ? r->parser.problem : "it is not YAML");
            return;
        }
        more = event.type != YAML_STREAM_END_EVENT && take_yaml_event(r, &event);
        lib->event_delete(&event);
    }
}

static PtcValue read_yaml(PtcHeap *heap, PtcText text, bool data, PtcYamlError *error)
{
    PtcYamlLibrary lib;
    *error = (PtcYamlError){0};
    void *so = ptc_yaml_library_load(&lib, error->message, sizeof error->message);
    YamlReading *r = so ? ptc_heap_scratch(heap, NULL, 0, sizeof *r) : NULL;
    PtcValue document = PTC_NONE;
    PtcBuf clean;
    ptc_buf_init(&clean, heap->pool->mem, PTC_UNBOUNDED);
    if (r) {
        *r = (YamlReading){.heap = heap,
                           .error = error,
                           .document = PTC_NONE,
                           .data = data,
                           .documents = PTC_NONE};
        r->anchors = r->sizes = ptc_fields_map(heap);
    }
    if (r && !ptc_utf8_valid(text.bytes, text.len)) {
        refuse_yaml(r, 0, "it is not UTF-8");
    } else if (r && lib.parser_initialize(&r->parser)) {
        write_clean(&clean, text);
        text = ptc_buf_view(&clean);
        if (!ptc_buf_ok(&clean))
            ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
        lib.parser_set_input_string(&r->parser, (const unsigned char *)text.bytes, text.len);
        read_events(r, &lib);
        lib.parser_delete(&r->parser);
        document = finish_documents(r);
        if (r->document == PTC_NONE && ptc_fields_ok(heap))
            refuse_yaml(r, 1, "it is empty");
    }
    if (error->message[0] || !ptc_fields_ok(heap))
        document = PTC_NONE;
    ptc_buf_deinit(&clean);
    ptc_heap_scratch_free(heap, r, sizeof *r);
    if (so)
        dlclose(so);
    return document;
}

PtcValue ptc_yaml_read(PtcHeap *heap, PtcText text, PtcYamlError *error)
{
    return read_yaml(heap, text, false, error);
}

PtcValue ptc_yaml_read_data(PtcHeap *heap, PtcText text, PtcYamlError *error)
{
    return read_yaml(heap, text, true, error);
}
