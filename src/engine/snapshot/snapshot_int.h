/* SPDX-License-Identifier: MIT
 * snapshot_int.h - the format of snapshots, and what its writer and its reader are made of.
 *
 *   "ptcsnap", version 1
 *   sections, each: number, length, bytes; in the order of their numbers, each once
 *     1 names    depth of the history; aliases (count, texts); bound names (count, texts), among them " journal" for
 *                the journal when there is one; other names that functions refer to (count, texts).  History, bound and
 *                other names are numbered from 0 in this order.
 *     2 objects  count, then that many objects; links (count, each: closure, capture, closure); for each SNAP_INDEX in
 *                turn how many values an entry has, and the number of the vector of entries it leads to; for each
 *                SNAP_CELL in turn what it holds (SNAP_HOLE: a delay that was not computed) and its function, or nil
 *     3 values   one for each name of the history, then for each bound name
 *   tag of all that comes before it (hmac.h)
 *
 * Numbers are varints: seven bits a byte, the lowest first, the top bit set on all but the last; signed ones are
 * zigzagged.  A text is its length and that many bytes of UTF-8.  An object is a byte that says what it is (SnapKind)
 * and what belongs to it; it refers to objects before it only, so that reading needs no recursion and makes no circle.
 * Only functions of letfn refer to each other in a circle, which the links close, and cells may hold what refers to
 * them: they are written before what they hold.  The index of large maps is filled when all objects are there, since a
 * map may hold an older version of itself, which shares its index.
 *
 * Objects follow the layout in memory, down to the full nodes of large vectors and the index that versions of a map
 * share, so that what shares memory in the session does so in the snapshot and after it.  Nodes that are not full are
 * not stored: later versions of a vector may have added to them, even the vector itself.  Hashes are not stored.
 * Functions are stored as text and compiled again. */
#ifndef PTC_ENGINE_SNAPSHOT_SNAPSHOT_INT_H
#define PTC_ENGINE_SNAPSHOT_SNAPSHOT_INT_H

#include "base/why.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "engine/snapshot/idmap.h"
#include "lisp/compile/function.h"
#include "lisp/lazy/produce.h"
#include "lisp/vm/record.h"
#include "value/cell.h"
#include "value/coll/typed.h"
#include "value/coll/walk.h"

#define SNAP_MAGIC "ptcsnap\x01"

enum {
    SNAP_MAGIC_BYTES = 8,
    SNAP_NO_NAME = UINT16_MAX, /* in SnapReader.names: the journal */
    SNAP_NODE_HEIGHT =
        5, /* of full nodes: one more would exceed the elements that a vector may have */
    SNAP_PRODUCER_FIELDS = 4,
};

enum { SNAP_NAMES = 1, SNAP_OBJECTS, SNAP_VALUES };

/* A value inside something: one of these, or SNAP_REF + how many objects back it is, minus one. */
enum {
    SNAP_NIL,
    SNAP_FALSE,
    SNAP_TRUE,
    SNAP_HOLE,  /* a key that was removed; in entries of maps and sets only */
    SNAP_INT,   /* signed number */
    SNAP_FLOAT, /* eight bytes, the lowest first */
    SNAP_LATER, /* in closures: a link fills it in */
    SNAP_EMPTY_MAP,
    SNAP_EMPTY_SET,
    SNAP_REF = 16
};

/* Never renumbered: new kinds go to the end. */
typedef enum {
    SNAP_STRING = 1, /* text */
    SNAP_KEYWORD,    /* text */
    SNAP_SYMBOL,     /* text */
    SNAP_BIGINT,     /* negative, limbs, each eight bytes */
    SNAP_BUILTIN,    /* text: namespace/name */
    SNAP_FLAT,       /* flags, count, values */
    SNAP_LEAF,       /* 32 values: of large vectors */
    SNAP_INNER,      /* 32 nodes of one height */
    SNAP_VEC,     /* flags, count; full nodes, the highest first, as many as fit; the values left */
    SNAP_SLICE,   /* flags, base, start, count */
    SNAP_RANGE,   /* flags, start, step, count */
    SNAP_CONS,    /* first, rest */
    SNAP_SET,     /* count, values: a small set, or the keys of small maps */
    SNAP_MAP,     /* set of its keys, values */
    SNAP_INDEX,   /* nothing; see above */
    SNAP_DICT,    /* is a map; entries, index */
    SNAP_SORTED,  /* is a map; what orders it; count; keys, or keys and values, in order */
    SNAP_PROTO,   /* form, aliases, text; captures (text); names (count, numbers) */
    SNAP_CLOSURE, /* proto, captured values */
    SNAP_VAR,     /* name */
    SNAP_FN,      /* text: hidden builtin; count, values */
    SNAP_STEP,    /* kind, builtin, count, values: a transducer */
    SNAP_REDUCED, /* value */
    SNAP_EXCEPTION, /* kind and class (text), message, data, cause, first, last, source */
    SNAP_REGEX,     /* text */
    SNAP_DATE,      /* signed: days */
    SNAP_DATETIME,  /* signed: seconds; nanoseconds */
    SNAP_INSTANT,
    SNAP_DURATION,
    SNAP_ENUM,      /* group, ordinal */
    SNAP_FORMATTER, /* text */
    SNAP_PRODUCER,  /* source, two values, count, steps */
    SNAP_RING,      /* count, values: again and again without end */
    SNAP_TOOL,      /* text: the function that tool/name stands for */
    SNAP_DECIMAL,   /* text: without M */
    SNAP_PERIOD,    /* signed: years, months, days */
    SNAP_CELL,      /* PtcCellKind, number; what it holds comes after the objects */
    SNAP_TYPED,     /* type; then SNAP_MAP or SNAP_DICT with what belongs to it */
    SNAP_RECORD,    /* SnapRecord, count, values: types, protocols, multimethods and their parts */
    SNAP_MOMENT,    /* which (snapshot_moment.c), then its numbers, signed */
} SnapKind;

/* Of kind and class of an exception. */
enum { SNAP_EXCEPTION_TEXT = 120 };

/* Kinds of SNAP_RECORD; never renumbered. */
typedef enum {
    SNAP_R_TYPE,
    SNAP_R_OBJECT,
    SNAP_R_PROTOCOL,
    SNAP_R_METHOD,
    SNAP_R_MULTI,
    SNAP_R_INLINE,
    SNAP_R_COUNT
} SnapRecord;

/* ------------------------------------------------------------------------------ writing */

/* A capture that could not be written with its closure. */
typedef struct SnapLink {
    PtcValue closure;
    uint32_t slot;
} SnapLink;

/* A session on its way into bytes.  Each object is written after those that it refers to, with a stack of our own
 * in place of recursion.  It belongs to the thread that writes, for as long as that takes. */
typedef struct SnapWriter {
    PtcSession *session;
    /* For functions that are compiled to see whether that is possible; shares the writer's budget. */
    PtcHeapBox *work;
    PtcIdMap objects;  /* object -> number + 1; 0 while what it refers to is being written */
    PtcIdMap leaders;  /* index of large maps -> the version with the most entries, as an address */
    PtcValue *indexes; /* in the order they were written */
    size_t index_count, index_cap;
    PtcValue *cells; /* the same */
    size_t cell_count, cell_cap;
    size_t cells_done; /* what these hold has been written */
    PtcBuf out;        /* objects */
    uint64_t count;    /* objects written */
    SnapLink *links;
    size_t link_count, link_cap;
    uint32_t *numbers; /* by global of the session: number of its name in the snapshot + 1, or 0 */
    uint32_t *others;  /* globals that functions refer to and that have no value */
    uint8_t *plain;    /* by global: PTC_MAY_NAME if its name can mean nothing else */
    uint8_t *seen;     /* for one function */
    uint32_t name_count; /* numbers given out */
    uint32_t other_count;
    const PtcName *binding; /* being written */
    PtcWhy *why;            /* what was wrong first */
} SnapWriter;

/* All of these say why in w->why (unless the budget does) and return false if something cannot be stored. */

/* Writes v and everything that it refers to, unless that was done before. */
PTC_MUST_USE bool ptc_snapshot_write(SnapWriter *w, PtcValue v);
/* What follows the objects. */
PTC_MUST_USE bool ptc_snapshot_write_end(SnapWriter *w);
/* A reference to v, which has been written, from something after object `from` - 1. */
void ptc_snapshot_put_value(const SnapWriter *w, PtcBuf *out, uint64_t from, PtcValue v);
void ptc_snapshot_put_number(PtcBuf *out, uint64_t n);
void ptc_snapshot_put_signed(PtcBuf *out, int64_t n);
void ptc_snapshot_put_text(PtcBuf *out, const char *text, size_t len);
/* "name: why", cut to fit. */
bool ptc_snapshot_refuse(SnapWriter *w, const char *format, ...) PTC_PRINTF(2, 3);

/* For snapshot_write.c: a prototype or record as object number w->count. */
PTC_MUST_USE bool ptc_snapshot_write_proto(SnapWriter *w, PtcValue proto);
PTC_MUST_USE bool ptc_snapshot_write_var(SnapWriter *w, PtcValue var);
PTC_MUST_USE bool ptc_snapshot_write_record(SnapWriter *w, PtcValue record);
/* The values to be written before a record, one at a time: false at the end.  f->a is the record. */
bool ptc_snapshot_next_field(PtcFrame *f, PtcValue *child);

/* ------------------------------------------------------------------------------ reading */

/* Programs may only see the first. */
typedef enum {
    SNAP_IS_VALUE,
    SNAP_IS_ENTRIES, /* a vector with holes */
    SNAP_IS_NODE,
    SNAP_IS_INDEX,
    SNAP_IS_PROTO,
    SNAP_IS_STEP
} SnapRole;

/* An object that has been read. */
typedef struct SnapItem {
    PtcValue value;
    uint64_t holes; /* nodes and entries: removed keys under it */
    uint8_t role;   /* SnapRole */
    uint8_t height; /* nodes; 0: leaf */
    bool odd_hole;  /* nodes and entries: a hole at an odd place */
} SnapItem;

typedef struct SnapReader {
    Ptc *ptc;
    PtcSession *session;
    PtcHeap *heap; /* the session's */
    const uint8_t *at, *end;
    SnapItem *items;
    size_t count, cap;
    uint16_t *names; /* globals of the session by their number in the snapshot */
    size_t name_count;
    uint8_t *seen; /* by global */
    PtcWhy *why;   /* what was wrong first */
} SnapReader;

/* Says what is wrong with the bytes, unless that was said before.  The macro is false, which the compiler should
 * know. */
void ptc_snapshot_note(SnapReader *r, const char *format, ...) PTC_PRINTF(2, 3);
#define SNAP_BAD(...) (ptc_snapshot_note(__VA_ARGS__), false)
PTC_MUST_USE bool ptc_snapshot_get_byte(SnapReader *r, uint8_t *out);
PTC_MUST_USE bool ptc_snapshot_get_number(SnapReader *r, uint64_t most, uint64_t *out);
PTC_MUST_USE bool ptc_snapshot_get_signed(SnapReader *r, int64_t *out);
PTC_MUST_USE bool ptc_snapshot_get_text(SnapReader *r, size_t most, const char **text, size_t *len);
/* A count of things that take at least a byte each. */
PTC_MUST_USE bool ptc_snapshot_get_count(SnapReader *r, size_t *out);
/* A value that programs may see. */
PTC_MUST_USE bool ptc_snapshot_get_value(SnapReader *r, PtcValue *out);
/* The same, or PTC_UNBOUND for SNAP_HOLE (with `holes`) and PTC_NONE for SNAP_LATER (with `later`). */
PTC_MUST_USE bool ptc_snapshot_get_slot(SnapReader *r, bool holes, bool later, PtcValue *out);
/* An object of the given role. */
PTC_MUST_USE bool ptc_snapshot_get_item(SnapReader *r, uint32_t *number);
/* Adds an object that has been read, as a value. */
PTC_MUST_USE bool ptc_snapshot_add(SnapReader *r, SnapItem item);
PTC_MUST_USE bool ptc_snapshot_add_value(SnapReader *r, PtcValue value);

/* One object of each kind (snapshot_read_coll.c, snapshot_read_fn.c). */
bool ptc_snapshot_read_flat(SnapReader *r);
bool ptc_snapshot_read_leaf(SnapReader *r);
bool ptc_snapshot_read_inner(SnapReader *r);
bool ptc_snapshot_read_vec(SnapReader *r);
bool ptc_snapshot_read_slice(SnapReader *r);
bool ptc_snapshot_read_range(SnapReader *r);
bool ptc_snapshot_read_cons(SnapReader *r);
bool ptc_snapshot_read_ring(SnapReader *r);
bool ptc_snapshot_read_set(SnapReader *r);
bool ptc_snapshot_read_map(SnapReader *r);
bool ptc_snapshot_read_index(SnapReader *r);
bool ptc_snapshot_read_dict(SnapReader *r);
bool ptc_snapshot_read_sorted(SnapReader *r);
bool ptc_snapshot_read_proto(SnapReader *r);
bool ptc_snapshot_read_closure(SnapReader *r);
bool ptc_snapshot_read_var(SnapReader *r);
bool ptc_snapshot_read_fn(SnapReader *r);
bool ptc_snapshot_read_step(SnapReader *r);
bool ptc_snapshot_read_tool(SnapReader *r);
bool ptc_snapshot_read_exception(SnapReader *r);
bool ptc_snapshot_read_producer(SnapReader *r);
/* Cells, types and what belongs to them (snapshot_types.c). */
bool ptc_snapshot_read_cell(SnapReader *r);
bool ptc_snapshot_read_typed(SnapReader *r);
bool ptc_snapshot_read_record(SnapReader *r);
bool ptc_snapshot_fill_cells(SnapReader *r);
/* The SnapRecord of a kind of record, SNAP_R_COUNT for others. */
SnapRecord ptc_snapshot_record_code(unsigned kind);
/* What follows the objects (snapshot_read_coll.c, snapshot_read_fn.c). */
bool ptc_snapshot_read_links(SnapReader *r);
bool ptc_snapshot_fill_indexes(SnapReader *r);
bool ptc_snapshot_check_sets(SnapReader *r);
/* A record of n fields; PTC_NONE when the heap is full. */
PtcValue ptc_snapshot_record(SnapReader *r, unsigned kind, const PtcValue *fields, size_t n);

/* The whole section of objects. */
PTC_MUST_USE bool ptc_snapshot_read_objects(SnapReader *r);

/* Is there such a hidden builtin, and does it take this many values? */
bool ptc_snapshot_knows_composed(const char *name, size_t len, size_t n);

/* Steps as numbers that never change; PTC_STEP_KINDS for an unknown number. */
PtcStepKind ptc_snapshot_step_kind(uint64_t code);

/* Times of day, months and their kin (snapshot_moment.c). */
void ptc_snapshot_write_moment(SnapWriter *w, PtcValue v);
bool ptc_snapshot_read_moment(SnapReader *r);

#endif
