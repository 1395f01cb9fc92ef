/* SPDX-License-Identifier: MIT
 * sig.h - signatures: what a tool takes and returns, `(query :string, limit :int?) -> [{id :int}]`.
 *
 * A parsed signature lives in the arena it was parsed into and never changes afterwards, so threads may share it.  It
 * points to nothing outside the arena.  Everything here is reentrant. */
#ifndef PTC_TOOL_SIG_SIG_H
#define PTC_TOOL_SIG_SIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "value/heap.h"

enum {
    PTC_SIG_MAX_BYTES = 64 * PTC_KB, /* of a signature's text */
    PTC_SIG_MAX_DEPTH = 200,         /* types inside each other */
    PTC_SIG_MAX_FIELDS = 1000,       /* of one map or parameter list */
    PTC_SIG_KEYS = 6,                /* spellings a field's key may have in a value */
};

typedef enum {
    PTC_SIG_ANY,
    PTC_SIG_STRING,
    PTC_SIG_INT,
    PTC_SIG_FLOAT,
    PTC_SIG_BOOL,
    PTC_SIG_KEYWORD,
    PTC_SIG_DATETIME,
    PTC_SIG_MAP,      /* any map */
    PTC_SIG_LIST,     /* of item */
    PTC_SIG_FIELDS,   /* a map with these fields; others are allowed */
    PTC_SIG_CLOSED,   /* the same, no others allowed; only JSON Schema makes these */
    PTC_SIG_OPTIONAL, /* item, or nil, or (for a field) absent */
} PtcSigKind;

typedef struct PtcSigType PtcSigType;

typedef struct PtcSigField {
    const char *name; /* as written; followed by a NUL that is not counted */
    size_t name_len;
    const PtcSigType *type;
    /* The keys that stand for it, best first: with underscores, as written, with hyphens; for each the keyword before
     * the string.  They are strings outside any heap: for look-ups, not to be stored in a map. */
    const PtcValue *keys;
    uint32_t key_count;
    uint32_t hash; /* of all of them */
} PtcSigField;

struct PtcSigType {
    PtcSigKind kind;
    bool aliased;           /* two fields may be found under the same key */
    const PtcSigType *item; /* LIST, OPTIONAL */
    const PtcSigField *fields;
    size_t field_count;
};

typedef struct PtcSig {
    PtcSigType params; /* PTC_SIG_FIELDS; none when there is no `(...) ->` */
    bool has_params;   /* it was written with `(...) ->`, even if that is `() ->` */
    const PtcSigType *result;
} PtcSig;

/* Why a signature, or a JSON Schema, was refused. */
typedef struct PtcSigError {
    size_t offset;         /* byte of the text; 0 for a schema */
    uint32_t line, column; /* the same, from 1, columns in characters; 0 for a schema */
    bool stopped;          /* out of memory or budget: not the fault of the text */
    const char *nearest; /* the name of a type that may have been meant, without colon; else NULL */
    char message[240];
} PtcSigError;

/* Reads the whole text.  False with *error filled. */
PTC_MUST_USE bool ptc_sig_parse(PtcArena *arena, const char *text, size_t len, const PtcSig **out,
                                PtcSigError *error);

/* The name of a kind without parts as in signatures, without colon; "list" and "map" for the others. */
const char *ptc_sig_kind_name(PtcSigKind kind);

/* The type without `?`. */
static inline const PtcSigType *ptc_sig_required(const PtcSigType *type)
{
    return type->kind == PTC_SIG_OPTIONAL ? type->item : type;
}

/* Appends the text, which parses back to an equal signature.  (A type from JSON Schema has no text of its own where
 * it is a closed map, or has names that are no names here: it prints as if it had.)  False if the buffer is full. */
bool ptc_sig_print(PtcBuf *buf, const PtcSig *sig);
bool ptc_sig_type_print(PtcBuf *buf, const PtcSigType *type);

/* Appends a value that fits the type, as programs write it: {:query "text"}; fields that may be absent are left out.
 * False if the buffer is full or a name cannot be written as a keyword: what was appended is then of no use. */
PTC_MUST_USE bool ptc_sig_example(PtcBuf *buf, const PtcSigType *type);

#endif
