/* SPDX-License-Identifier: MIT
 * outline.h - what is known of a value before the program runs: which kinds it may have, what its elements and members
 * are like.
 *
 * Outlines never change once they are made.  They are made in the run's arena, at most PTC_OUTLINE_BYTES of it; when
 * that is used up, or memory is, every further one is `any` and `out` of the maker is set: then nothing may be said of
 * the program at all.  The same outline is mostly found again (the table forgets), so that equal pointers mean equal
 * and different ones mean nothing. */
#ifndef PTC_LISP_CHECK_OUTLINE_H
#define PTC_LISP_CHECK_OUTLINE_H

#include "base/arena.h"
#include "base/text.h"
#include "lisp/vm/kinds.h"
#include "value/value.h"

enum {
    PTC_OUTLINE_BYTES = 256 * PTC_KB,
    PTC_OUTLINE_DEPTH =
        10, /* more than what comes from outside has, so that a program can put it into something */
    PTC_ORIGIN_DEPTH = 6,
    PTC_OUTLINE_FIELDS = 64,
    PTC_OUTLINE_TUPLE = 8,
    PTC_OUTLINE_SORTS = 4, /* of a union, nil and the kinds of numbers aside */
    PTC_OUTLINE_TABLE = 256,
    PTC_OUTLINE_WORK = 400 * 1000,
    PTC_OUTLINE_SOURCES = 64,
    PTC_ENOUGH = 2, /* elements: more are not counted */
};

typedef struct PtcOutline PtcOutline;

/* A member of a map, or (without a name) an element of a tuple. */
typedef struct PtcOutlineField {
    PtcText name;
    uint32_t hash; /* of the name, the same for all its spellings */
    bool optional; /* it may be absent */
    const PtcOutline *of;
} PtcOutlineField;

enum {
    PTC_OUTLINE_OPEN = 1, /* the map may have other members, of which nothing is known */
    PTC_OUTLINE_DECLARED =
        2, /* it has no others as far as somebody declared: enough to ask about a key, no more */
    PTC_OUTLINE_GIVEN =
        4, /* from a tool, the context or the session: a key that it lacks is worth a word */
    PTC_OUTLINE_MAYBE = 8,  /* nil is among the kinds because something declared may be absent */
    PTC_OUTLINE_ENTRY = 16, /* a tuple that is an entry of a map */
    PTC_OUTLINE_SEEN = 32,  /* nobody has declared it: nothing that follows from it is certain */
    PTC_OUTLINE_CALLEES =
        64, /* it is, or has somewhere, a function that is known; made, not given */
};

struct PtcOutline {
    uint16_t kinds; /* PTC_IS_...; 0: control never comes here */
    uint8_t
        least; /* of LIST, SET, MAP, STRING: it has at least so many elements, up to PTC_ENOUGH */
    uint8_t flags, depth;
    uint8_t count; /* of fields */
    uint32_t
        source; /* with MAYBE: what may be absent; of a nil that is a missing key: hash of the key */
    /* Elements of LIST and SET; NULL: anything.  Of a nil that is a missing key: the map. */
    const PtcOutline *item;
    const PtcOutline *rest; /* MAP: what any other member is; NULL: nothing is said */
    /* MAP: its members.  LIST without MAP: exactly these elements. */
    const PtcOutlineField *fields;
    const struct PtcCallee *callee; /* FN: which; NULL: nobody knows */
    PtcValue literal;               /* of one scalar kind: the value; PTC_NONE: any */
};

typedef struct PtcOutlines {
    PtcArena *arena;
    size_t bytes;
    uint32_t work; /* done so far: parts made and compared */
    bool out;
    /* A function that was known is no longer: who calls it can not be followed.  Or NULL. */
    void (*lost)(void *user, const struct PtcCallee *callee);
    void *user;
    const PtcOutline *table[PTC_OUTLINE_TABLE];
    PtcText sources
        [PTC_OUTLINE_SOURCES]; /* members that may be absent, by their hash; the latest of several */
} PtcOutlines;

/* Remembers the name of a member that may be absent; where there is no room, it has none. */
void ptc_outline_note_source(PtcOutlines *os, uint32_t source, PtcText name);
/* Absent: nobody has told it. */
PtcText ptc_outline_source(const PtcOutlines *os, uint32_t source);

/* Kinds alone. */
extern const PtcOutline ptc_outline_any, ptc_outline_never, ptc_outline_nil;
const PtcOutline *ptc_outline_of_kinds(PtcOutlines *os, unsigned kinds);

/* The same outline in the arena; its fields are copied. */
const PtcOutline *ptc_outline_make(PtcOutlines *os, const PtcOutline *from);
/* Counts work; too much of it ends all making. */
static inline void ptc_outline_charge(PtcOutlines *os, size_t n)
{
    os->work += (uint32_t)n;
    os->out |= os->work > PTC_OUTLINE_WORK;
}
/* Memory of the same budget; NULL: it is used up. */
void *ptc_outline_alloc(PtcOutlines *os, size_t size);

/* Functions that are known in it will not be known any more. */
void ptc_outline_lose(PtcOutlines *os, const PtcOutline *o);

/* What is one or the other. */
const PtcOutline *ptc_outline_join(PtcOutlines *os, const PtcOutline *a, const PtcOutline *b);
/* The same without the other kinds. */
const PtcOutline *ptc_outline_only(PtcOutlines *os, const PtcOutline *o, unsigned kinds);
/* A list of such elements, at least so many. */
const PtcOutline *ptc_outline_list(PtcOutlines *os, const PtcOutline *item, unsigned least);
/* A list of exactly these. */
const PtcOutline *ptc_outline_tuple(PtcOutlines *os, const PtcOutline *const *items, size_t n,
                                    unsigned flags);
/* What elements of it are: of a map, entries; NULL never. */
const PtcOutline *ptc_outline_item(PtcOutlines *os, const PtcOutline *o);
/* Any member of a map. */
const PtcOutline *ptc_outline_member(PtcOutlines *os, const PtcOutline *o);
/* A map on its way to another one.  It must stay where it is: map.fields points to fields. */
typedef struct PtcOutlineEdit {
    PtcOutline map;
    PtcOutlineField fields[PTC_OUTLINE_FIELDS];
} PtcOutlineEdit;
void ptc_outline_edit(PtcOutlineEdit *e, const PtcOutline *map);
/* A member is put in its place, or added. */
void ptc_outline_put(PtcOutlines *os, PtcOutlineEdit *e, PtcText name, const PtcOutline *of);
/* The same under a key that is not known: it may be that of any member. */
void ptc_outline_put_any(PtcOutlines *os, PtcOutlineEdit *e, const PtcOutline *key,
                         const PtcOutline *of);
/* The map with one member put. */
const PtcOutline *ptc_outline_with(PtcOutlines *os, const PtcOutline *map, PtcText name,
                                   const PtcOutline *of);
/* The same outline without what says that nil may be there because something declared is absent, at every depth. */
const PtcOutline *ptc_outline_sure(PtcOutlines *os, const PtcOutline *o);

/* The member that a key of this name finds; NULL: there is none. */
const PtcOutlineField *ptc_outline_field(const PtcOutline *map, PtcText name);

static inline bool ptc_outline_is_tuple(const PtcOutline *o)
{
    return (o->kinds & (PTC_IS_LIST | PTC_IS_MAP)) == PTC_IS_LIST && o->fields;
}

/* The tuple's element, or what any element is, or anything. */
const PtcOutline *ptc_outline_element(PtcOutlines *os, const PtcOutline *o, size_t i);

/* Can it be true, can it be false, as a test? */
bool ptc_outline_may_be_true(const PtcOutline *o);
bool ptc_outline_may_be_false(const PtcOutline *o);

#endif
