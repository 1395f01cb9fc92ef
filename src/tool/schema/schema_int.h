/* SPDX-License-Identifier: MIT
 * schema_int.h - the parts of a compiled schema; for the schema_*.c files. */
#ifndef PTC_TOOL_SCHEMA_SCHEMA_INT_H
#define PTC_TOOL_SCHEMA_SCHEMA_INT_H

#include "base/text.h"
#include "tool/schema/schema.h"
#include "tool/schema/schema_value.h"

typedef struct PtcSchemaNode PtcSchemaNode;

/* A text from the schema or the value, made safe for a message of one line: at most this many bytes of it, with
 * control characters as \u000a.  Returns out. */
enum { PTC_SCHEMA_LINE = 200 };
const char *ptc_schema_line(char out[PTC_SCHEMA_LINE], PtcText text, size_t most);

/* A name that a schema has rules for: a property, or one that others depend on. */
typedef struct PtcSchemaName {
    PtcText text;
    uint32_t hash;
    bool required;
    const PtcSchemaNode *property;  /* of properties, or NULL */
    const PtcSchemaNode *dependent; /* of dependentSchemas, or NULL */
    const uint32_t *needs;          /* of dependentRequired: numbers of names */
    uint32_t need_count;
} PtcSchemaName;

typedef struct PtcSchemaPattern {
    PtcText text;   /* as written */
    PtcValue regex; /* a frozen PTC_R_REGEX */
    const PtcSchemaNode *node;
} PtcSchemaPattern;

typedef struct PtcSchemaObject {
    PtcSchemaName *names;
    uint32_t *table; /* number of a name + 1, or 0, at its hash; table_cap is a power of two */
    uint32_t name_count, table_cap;
    PtcSchemaPattern *patterns;
    uint32_t pattern_count;
    bool has_dependents;
    const PtcSchemaNode *additional, *property_names;
    uint64_t min, max;
} PtcSchemaObject;

typedef struct PtcSchemaArray {
    const PtcSchemaNode **prefix;
    size_t prefix_count;
    const PtcSchemaNode *items, *contains;
    uint64_t min, max, min_contains, max_contains;
    bool unique;
} PtcSchemaArray;

typedef struct PtcSchemaString {
    uint64_t min, max;
    PtcSchemaPattern pattern; /* regex PTC_NONE: none */
} PtcSchemaString;

enum {
    PTC_SCHEMA_AT_LEAST,
    PTC_SCHEMA_AT_MOST,
    PTC_SCHEMA_MORE_THAN,
    PTC_SCHEMA_LESS_THAN,
    PTC_SCHEMA_MULTIPLE_OF,
    PTC_SCHEMA_NUMBER_RULES
};

typedef struct PtcSchemaNumber {
    PtcValue limits[PTC_SCHEMA_NUMBER_RULES]; /* PTC_NONE: none */
} PtcSchemaNumber;

typedef struct PtcSchemaList {
    const PtcSchemaNode **nodes;
    size_t count;
} PtcSchemaList;

/* Subschemas applied to the same place of the value. */
typedef struct PtcSchemaLogic {
    PtcSchemaList all, any, one;
    const PtcSchemaNode * not, *when, *then, *otherwise;
    const PtcSchemaNode *ref, *dynamic;
    PtcText dynamic_name; /* bytes NULL: dynamic is the same as ref */
} PtcSchemaLogic;

typedef struct PtcSchemaAnchor {
    struct PtcSchemaAnchor *next;
    PtcText name;
    const PtcSchemaNode *node;
    bool dynamic;
} PtcSchemaAnchor;

/* A schema with an address of its own; the document itself is one. */
typedef struct PtcSchemaResource {
    struct PtcSchemaResource *next;
    PtcText uri;   /* without fragment; empty when the document has no $id */
    PtcValue root; /* only while compiling */
    bool entered;  /* its $id was read */
    PtcSchemaAnchor *anchors;
} PtcSchemaResource;

typedef enum {
    PTC_SCHEMA_RULES,
    PTC_SCHEMA_ANYTHING, /* true */
    PTC_SCHEMA_NOTHING,  /* false */
    PTC_SCHEMA_META      /* the value must be a schema itself */
} PtcSchemaForm;

struct PtcSchemaNode {
    PtcSchemaForm form;
    uint32_t types; /* bits 1 << PtcSchemaKind; 0: all */
    PtcSchemaObject *object;
    PtcSchemaArray *array;
    PtcSchemaString *string;
    PtcSchemaNumber *number;
    PtcSchemaLogic *logic;
    PtcValue fixed;   /* const, frozen; PTC_NONE: none */
    PtcValue choices; /* enum, frozen */
    const PtcSchemaNode *unevaluated_items, *unevaluated_properties;
    const PtcSchemaResource *resource;
};

struct PtcSchema {
    const PtcSchemaNode *root;
};

/* The index of a name in an object's rules, -1 if it has none. */
int64_t ptc_schema_find_name(const PtcSchemaObject *object, const char *bytes, size_t len);

/* Does the value have the form of a schema?  References and patterns are not followed.  Also false if the budget
 * stops. */
PTC_MUST_USE bool ptc_schema_is_schema(PtcMem *mem, PtcBudget *budget, PtcValue value);

/* Names of the bits in a set of types: "integer or null". */
void ptc_schema_type_names(uint32_t types, char *out, size_t size);

/* ------------------------------------------------------------------ compiling */

/* A subschema that is to be turned into a node. */
typedef struct PtcSchemaPending {
    struct PtcSchemaPending *next;
    PtcSchemaNode *node;
    PtcValue value;
    PtcSchemaResource *resource;
    const struct PtcSchemaPending *up; /* the schema around it, and the steps from there: */
    const char *keyword;
    PtcText key; /* bytes NULL: index, unless that is -1 */
    int64_t index;
} PtcSchemaPending;

typedef struct PtcSchemaRef {
    struct PtcSchemaRef *next;
    const PtcSchemaPending *at;
    PtcText text;
    bool dynamic;
} PtcSchemaRef;

typedef struct PtcSchemaCompiler {
    PtcArena *arena;
    PtcSchemaWork work;
    PtcSchemaError *error;
    bool form_only; /* see ptc_schema_is_schema */
    bool older;     /* $schema names an older draft */
    PtcSchemaPending *first, *last;
    PtcSchemaPending **table; /* nodes by value and resource; table_cap is a power of two */
    size_t table_cap, node_count, frozen;
    PtcSchemaRef *refs, *last_ref;
    PtcSchemaResource *resources;
} PtcSchemaCompiler;

/* Reports a mistake: its place, below the schema at `at` (keyword and key may be NULL), and its message.  Always
 * false. */
PTC_PRINTF(4, 5)
bool ptc_schema_refuse(PtcSchemaCompiler *c, const PtcSchemaPending *at, const char *keyword,
                       const char *format, ...);
/* Out of memory.  Always false. */
bool ptc_schema_no_memory(PtcSchemaCompiler *c);

/* A step from a schema to one inside it. */
typedef struct PtcSchemaStep {
    const PtcSchemaPending *up;
    const char *keyword;
    PtcText key;
    int64_t index;
} PtcSchemaStep;

/* The node of a subschema, filled later unless it is known already; NULL after a mistake. */
PTC_MUST_USE const PtcSchemaNode *ptc_schema_node(PtcSchemaCompiler *c, PtcValue value,
                                                  PtcSchemaResource *around,
                                                  const PtcSchemaStep *step);

/* A copy of text in the arena. */
PTC_MUST_USE bool ptc_schema_keep(PtcSchemaCompiler *c, const char *bytes, size_t len,
                                  PtcText *out);
/* A copy of a value in the arena. */
PTC_MUST_USE bool ptc_schema_freeze(PtcSchemaCompiler *c, PtcValue value, PtcValue *out);

/* schema_name.c: the index of a name, which is added if it is new. */
PTC_MUST_USE bool ptc_schema_add_name(PtcSchemaCompiler *c, PtcSchemaObject *object,
                                      const char *bytes, size_t len, uint32_t *number);

/* schema_pattern.c: an ECMA-262 pattern as a frozen regex. */
PTC_MUST_USE bool ptc_schema_pattern(PtcSchemaCompiler *c, const PtcSchemaPending *at,
                                     const char *keyword, const char *bytes, size_t len,
                                     PtcSchemaPattern *out);

/* schema_ref.c */
extern const PtcSchemaNode ptc_schema_meta;
/* Does it have an address of its own, given by "$id"?  *resource is the enclosing one before the call and its own
 * after it. */
PTC_MUST_USE bool ptc_schema_enter(PtcSchemaCompiler *c, PtcValue value, const PtcSchemaStep *step,
                                   PtcSchemaResource **resource);
PTC_MUST_USE bool ptc_schema_add_anchor(PtcSchemaCompiler *c, PtcSchemaPending *at,
                                        const char *keyword, PtcText name, bool dynamic);
/* Resolves one reference; may add new nodes. */
PTC_MUST_USE bool ptc_schema_resolve(PtcSchemaCompiler *c, const PtcSchemaRef *ref);

/* schema_uri.c: a reference made absolute, without empty fragment; in the arena.  False: out of memory, or too long. */
enum { PTC_SCHEMA_URI_BYTES = 4096 };
PTC_MUST_USE bool ptc_schema_uri(PtcArena *arena, PtcText base, PtcText ref, PtcText *out);

#endif
