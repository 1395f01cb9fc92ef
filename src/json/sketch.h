/* SPDX-License-Identifier: MIT
 * sketch.h - what is known of the values that come from somewhere, as a line of text: {id int, tags? [string]}|nil.
 *
 *   type    = one { "|" one }
 *   one     = ( word | literal | "[" [ type ] "]" | "{" [ part { "," part } ] "}" [ "!" ] ) [ "?" ]
 *   word    = any nil bool int number string keyword datetime map, also with a colon before it
 *   part    = name [ "?" ] type          a member, which may be absent with the ?
 *           | "*" type                   what any other member is
 *   name    = a word, or a string as JSON has it
 *   literal = a string, a number, true or false, as JSON has them
 *
 * It is what signatures are written in, with more: the types of tools (tool/schema/type_text.h), of results that were
 * seen (tool/seen), and of signatures all read alike.  `T?` is T or nil, and for a member absent too.  `{...}!` has no
 * members but those.  `...` among the parts or the alternatives stands for what was left out, so nothing is said of it.
 * An `int` is a number without a fraction: 2.0 is one, as in JSON Schema.
 *
 * Texts may come from servers, files and workers: reading them is bounded in bytes, depth and parts. */
#ifndef PTC_JSON_SKETCH_H
#define PTC_JSON_SKETCH_H

#include "base/arena.h"
#include "base/buf.h"

enum {
    PTC_SKETCH_BYTES = 4096, /* of a text that is read */
    PTC_SKETCH_PARTS = 1000, /* types in it */
    PTC_SKETCH_DEPTH = 20,   /* types inside each other */
};

typedef enum {
    PTC_SKETCH_ANY,
    PTC_SKETCH_NIL,
    PTC_SKETCH_BOOL,
    PTC_SKETCH_INT,
    PTC_SKETCH_NUMBER,
    PTC_SKETCH_STRING,
    PTC_SKETCH_KEYWORD,
    PTC_SKETCH_DATETIME,
    PTC_SKETCH_LIST,
    PTC_SKETCH_MAP,
    PTC_SKETCH_UNION,
} PtcSketchKind;

typedef struct PtcSketch PtcSketch;

typedef struct PtcSketchField {
    PtcText name;
    const PtcSketch *type;
    bool optional;
} PtcSketchField;

/* Never changes once it is made. */
struct PtcSketch {
    PtcSketchKind kind;
    bool closed;    /* MAP: there are no other members */
    uint32_t count; /* MAP: fields; UNION: alternatives, of which none is a union */
    /* BOOL, INT, NUMBER, STRING: the only value, a string without quotes; absent: any of the kind. */
    PtcText literal;
    /* LIST: its items; MAP: other members; NULL: nothing is said of them (of a list: none has had an item). */
    const PtcSketch *item;
    const PtcSketchField *fields;
    const PtcSketch *const *of; /* UNION */
};

/* ---- sketch_read.c */
/* The text may be any bytes; nothing of it is kept.  False: it is none, it is too large, or out of memory
 * (arena->failed). */
PTC_MUST_USE bool ptc_sketch_read(PtcArena *arena, PtcText text, const PtcSketch **out);

/* ---- sketch_write.c */
/* Appends it, so that it reads back as the same. */
void ptc_sketch_write(PtcBuf *out, const PtcSketch *sketch);
/* Appends what fits into this many bytes: deep maps as `map`, and the first members of others. */
void ptc_sketch_write_short(PtcBuf *out, const PtcSketch *sketch, size_t most);
/* The name of a member, in quotes if it is no word; characters that nobody sees are made visible. */
void ptc_sketch_write_name(PtcBuf *out, PtcText name);
void ptc_sketch_write_string(PtcBuf *out, PtcText text);

#endif
