/* SPDX-License-Identifier: MIT
 * clojure.zip: going about in a tree and changing it on the way.
 *
 * A location is a vector of the node, the path to it and the three functions that say what a tree is: branch?,
 * children, make-node.  The path is nil at the top, :end behind the last node, else a vector of the siblings to the
 * left, the nodes above (from the top), the path of the parent, the siblings to the right and whether anything was
 * changed.  Programs can make such vectors themselves, so everything is checked when it is taken apart.  All that is in
 * hand lies in root slots. */
#include "lisp/lib/seq/seq_int.h"
#include "lisp/vm/vm_int.h"

enum { L_NODE, L_PATH, L_FNS, L_COUNT };                         /* of a location */
enum { P_LEFT, P_ABOVE, P_PARENT, P_RIGHT, P_CHANGED, P_COUNT }; /* of a path */
enum { ZIP_F_BRANCH, ZIP_F_CHILDREN, ZIP_F_MAKE, ZIP_F_COUNT };
/* Root slots: the location, its path taken apart, and two for work. */
enum {
    ZIP_NODE,
    ZIP_PATH,
    ZIP_FNS,
    ZIP_LEFT,
    ZIP_ABOVE,
    ZIP_PARENT,
    ZIP_RIGHT,
    ZIP_CHANGED,
    ZIP_WORK,
    ZIP_MORE,
    ZIP_SLOTS
};

typedef struct {
    PtcVM *vm;
    PtcValue *s;
    bool end;
} Zip;

/* Something new, after a collection if out of memory. */
#define MAKE(z, slot, expression)                      \
    do {                                               \
        PtcValue made_ = (expression);                 \
        if (made_ == PTC_NONE && ptc_recover((z)->vm)) \
            made_ = (expression);                      \
        if (made_ == PTC_NONE)                         \
            return false;                              \
        (z)->s[slot] = made_;                          \
    } while (0)

static const char *zip_builtin_name(const Zip *z)
{
    return ptc_builtin_row(z->vm->running)->name;
}

/* ------------------------------------------------------------------------- taking apart */

static bool is_vector(PtcValue v, size_t count)
{
    return ptc_is_sequential(v) && !ptc_seq_endless(v) && !ptc_is_seq_flagged(v) &&
           (count == SIZE_MAX || ptc_seq_count(v) == count);
}

static bool is_end(PtcValue v)
{
    return ptc_is_keyword(v) && ptc_text_is((PtcText){ptc_str_bytes(v), ptc_str_len(v)}, "end");
}

/* nil, or a path with the parts that its places need. */
static bool is_zip_path(PtcValue v)
{
    if (v == PTC_NIL)
        return true;
    if (!is_vector(v, P_COUNT))
        return false;
    PtcValue parent = ptc_seq_nth(v, P_PARENT), right = ptc_seq_nth(v, P_RIGHT),
             above = ptc_seq_nth(v, P_ABOVE);
    return is_vector(ptc_seq_nth(v, P_LEFT), SIZE_MAX) && is_vector(above, SIZE_MAX) &&
           ptc_seq_count(above) > 0 && (parent == PTC_NIL || is_vector(parent, P_COUNT)) &&
           (right == PTC_NIL || (ptc_is_sequential(right) && !ptc_seq_endless(right)));
}

/* Takes the path in hand apart; at the top all parts are nil. */
static bool open_path(Zip *z)
{
    PtcValue path = z->s[ZIP_PATH];
    if (!is_zip_path(path))
        return ptc_fail(z->vm, PTC_E_TYPE, "%s: this is not a location in a tree",
                        zip_builtin_name(z));
    for (int i = 0; i < P_COUNT; i++)
        z->s[ZIP_LEFT + i] = path == PTC_NIL ? PTC_NIL : ptc_seq_nth(path, (size_t)i);
    return true;
}

static bool fail_location(PtcVM *vm, const PtcValue *argv)
{
    return ptc_fail_type(vm, argv, 0, "a location, as vector-zip or zipper gives it");
}

static bool zip_init(Zip *z, PtcVM *vm, const PtcValue *argv)
{
    *z = (Zip){.vm = vm, .s = ptc_roots(vm, ZIP_SLOTS)};
    if (!z->s || !is_vector(argv[0], L_COUNT))
        return z->s && fail_location(vm, argv);
    PtcValue fns = ptc_seq_nth(argv[0], L_FNS), path = ptc_seq_nth(argv[0], L_PATH);
    if (!is_vector(fns, ZIP_F_COUNT))
        return fail_location(vm, argv);
    z->s[ZIP_NODE] = ptc_seq_nth(argv[0], L_NODE);
    z->s[ZIP_FNS] = fns;
    z->end = is_end(path);
    z->s[ZIP_PATH] = z->end ? PTC_NIL : path;
    return open_path(z);
}

static bool at_top(const Zip *z)
{
    return z->s[ZIP_PATH] == PTC_NIL;
}

/* A new path of the parts in hand. */
static bool close_path(Zip *z)
{
    MAKE(z, ZIP_PATH, ptc_vec_new(z->vm->heap, z->s + ZIP_LEFT, P_COUNT, 0));
    return true;
}

static bool give_location(Zip *z, PtcValue *out)
{
    MAKE(z, ZIP_WORK, ptc_vec_new(z->vm->heap, z->s, L_COUNT, 0));
    return ptc_give(out, z->s[ZIP_WORK]);
}

static bool give_end(Zip *z, PtcValue *out)
{
    MAKE(z, ZIP_PATH, ptc_keyword_new(z->vm->heap, "end", 3));
    return give_location(z, out);
}

/* ----------------------------------------------------------------------------- the tree */

static PtcValue function(const Zip *z, size_t i)
{
    return ptc_seq_nth(z->s[ZIP_FNS], i);
}

static bool is_branch(Zip *z, bool *yes)
{
    PtcValue y;
    if (!ptc_call1(z->vm, function(z, ZIP_F_BRANCH), z->s[ZIP_NODE], &y))
        return false;
    *yes = ptc_truthy(y);
    return true;
}

/* The children of the node in hand as a sequence in WORK; nil when there are none. */
static bool children(Zip *z)
{
    if (!ptc_call1(z->vm, function(z, ZIP_F_CHILDREN), z->s[ZIP_NODE], &z->s[ZIP_WORK]))
        return false;
    if (!ptc_is_seqable(z->s[ZIP_WORK]) && !ptc_is_producer(z->s[ZIP_WORK]))
        return ptc_fail_value_type(z->vm, z->s[ZIP_WORK], "what children gave",
                                   "a collection or nil");
    z->s[ZIP_MORE] = z->s[ZIP_WORK];
    if (!ptc_root_seq(z->vm, z->s + ZIP_MORE, 0, true, &z->s[ZIP_WORK]))
        return false;
    if (ptc_seq_count(z->s[ZIP_WORK]) == 0)
        z->s[ZIP_WORK] = PTC_NIL;
    return true;
}

/* Adds the elements of a sequence, or nil, to the builder in MORE. */
static bool add_zip_elements(Zip *z, PtcValue seq, size_t from)
{
    size_t n = seq == PTC_NIL ? 0 : ptc_seq_count(seq);
    for (size_t i = from; i < n; i++)
        if (!ptc_tick(&z->vm->budget, 1) ||
            !ptc_root_push(z->vm, &z->s[ZIP_MORE], ptc_seq_nth(seq, i)))
            return false;
    return true;
}

/* The node that make-node makes of a node and the children in WORK. */
static bool make_node(Zip *z, PtcValue node)
{
    return ptc_call2(z->vm, function(z, ZIP_F_MAKE), node, z->s[ZIP_WORK], &z->s[ZIP_NODE]);
}

/* The parent's path with the mark that something in it was changed; WORK is its node's. */
static bool mark_parent(Zip *z)
{
    z->s[ZIP_PATH] = z->s[ZIP_PARENT];
    if (!open_path(z))
        return false;
    if (at_top(z))
        return true;
    z->s[ZIP_CHANGED] = PTC_TRUE;
    return close_path(z);
}

static PtcValue parent_node(const Zip *z)
{
    return ptc_seq_nth(z->s[ZIP_ABOVE], ptc_seq_count(z->s[ZIP_ABOVE]) - 1);
}

/* ------------------------------------------------------------------------------- moves */

/* All moves change the location in hand, unless *moved is false. */

static bool go_down_zip(Zip *z, bool *moved)
{
    if (!is_branch(z, moved) || !*moved)
        return !z->vm->failed;
    if (!children(z))
        return false;
    *moved = z->s[ZIP_WORK] != PTC_NIL;
    if (!*moved)
        return true;
    if (at_top(z))
        MAKE(z, ZIP_ABOVE, ptc_vec_new(z->vm->heap, z->s + ZIP_NODE, 1, 0));
    else
        MAKE(z, ZIP_ABOVE, ptc_vec_conj(z->vm->heap, z->s[ZIP_ABOVE], z->s[ZIP_NODE]));
    z->s[ZIP_PARENT] = z->s[ZIP_PATH];
    z->s[ZIP_CHANGED] = PTC_NIL;
    z->s[ZIP_RIGHT] = PTC_NIL;
    MAKE(z, ZIP_LEFT, ptc_vec_new(z->vm->heap, NULL, 0, 0));
    z->s[ZIP_NODE] = ptc_seq_nth(z->s[ZIP_WORK], 0);
    if (ptc_seq_count(z->s[ZIP_WORK]) > 1)
        MAKE(z, ZIP_RIGHT, ptc_seq_drop(z->vm, z->s[ZIP_WORK], 1));
    return close_path(z);
}

static bool go_up(Zip *z, bool *moved)
{
    *moved = !at_top(z);
    if (!*moved)
        return true;
    if (!ptc_truthy(z->s[ZIP_CHANGED])) {
        z->s[ZIP_NODE] = parent_node(z);
        z->s[ZIP_PATH] = z->s[ZIP_PARENT];
        return open_path(z);
    }
    if (!ptc_root_build(z->vm, &z->s[ZIP_MORE]) || !add_zip_elements(z, z->s[ZIP_LEFT], 0) ||
        !ptc_root_push(z->vm, &z->s[ZIP_MORE], z->s[ZIP_NODE]) ||
        !add_zip_elements(z, z->s[ZIP_RIGHT], 0) ||
        !ptc_root_done(z->vm, &z->s[ZIP_MORE], PTC_SEQ, &z->s[ZIP_WORK]) ||
        !make_node(z, parent_node(z)))
        return false;
    return mark_parent(z);
}

static bool go_right(Zip *z, bool *moved)
{
    *moved = !at_top(z) && z->s[ZIP_RIGHT] != PTC_NIL && ptc_seq_count(z->s[ZIP_RIGHT]) > 0;
    if (!*moved)
        return true;
    MAKE(z, ZIP_LEFT, ptc_vec_conj(z->vm->heap, z->s[ZIP_LEFT], z->s[ZIP_NODE]));
    z->s[ZIP_NODE] = ptc_seq_nth(z->s[ZIP_RIGHT], 0);
    if (ptc_seq_count(z->s[ZIP_RIGHT]) > 1)
        MAKE(z, ZIP_RIGHT, ptc_seq_drop(z->vm, z->s[ZIP_RIGHT], 1));
    else
        z->s[ZIP_RIGHT] = PTC_NIL;
    return close_path(z);
}

static bool go_left(Zip *z, bool *moved)
{
    size_t n = at_top(z) ? 0 : ptc_seq_count(z->s[ZIP_LEFT]);
    *moved = n > 0;
    if (!*moved)
        return true;
    MAKE(z, ZIP_RIGHT, ptc_seq_prepend(z->vm, z->s[ZIP_NODE], z->s[ZIP_RIGHT]));
    z->s[ZIP_NODE] = ptc_seq_nth(z->s[ZIP_LEFT], n - 1);
    MAKE(z, ZIP_LEFT, ptc_vec_pop(z->vm->heap, z->s[ZIP_LEFT]));
    return close_path(z);
}

static bool go_rightmost(Zip *z, bool *moved)
{
    size_t n = at_top(z) || z->s[ZIP_RIGHT] == PTC_NIL ? 0 : ptc_seq_count(z->s[ZIP_RIGHT]);
    *moved = true;
    if (n == 0)
        return true;
    if (!ptc_root_build(z->vm, &z->s[ZIP_MORE]) || !add_zip_elements(z, z->s[ZIP_LEFT], 0) ||
        !ptc_root_push(z->vm, &z->s[ZIP_MORE], z->s[ZIP_NODE]))
        return false;
    for (size_t i = 0; i + 1 < n; i++)
        if (!ptc_tick(&z->vm->budget, 1) ||
            !ptc_root_push(z->vm, &z->s[ZIP_MORE], ptc_seq_nth(z->s[ZIP_RIGHT], i)))
            return false;
    z->s[ZIP_NODE] = ptc_seq_nth(z->s[ZIP_RIGHT], n - 1);
    z->s[ZIP_RIGHT] = PTC_NIL;
    return ptc_root_done(z->vm, &z->s[ZIP_MORE], 0, &z->s[ZIP_LEFT]) && close_path(z);
}

static bool go_leftmost(Zip *z, bool *moved)
{
    size_t n = at_top(z) ? 0 : ptc_seq_count(z->s[ZIP_LEFT]);
    *moved = true;
    if (n == 0)
        return true;
    if (!ptc_root_build(z->vm, &z->s[ZIP_MORE]) || !add_zip_elements(z, z->s[ZIP_LEFT], 1) ||
        !ptc_root_push(z->vm, &z->s[ZIP_MORE], z->s[ZIP_NODE]) ||
        !add_zip_elements(z, z->s[ZIP_RIGHT], 0))
        return false;
    z->s[ZIP_NODE] = ptc_seq_nth(z->s[ZIP_LEFT], 0);
    if (!ptc_root_done(z->vm, &z->s[ZIP_MORE], PTC_SEQ, &z->s[ZIP_RIGHT]))
        return false;
    MAKE(z, ZIP_LEFT, ptc_vec_new(z->vm->heap, NULL, 0, 0));
    return close_path(z);
}

/* To the last node below this one. */
static bool go_deepest(Zip *z)
{
    bool moved = true;
    while (moved) {
        if (!ptc_tick(&z->vm->budget, 1) || !go_down_zip(z, &moved))
            return false;
        if (moved && !go_rightmost(z, &moved))
            return false;
    }
    return true;
}

static bool go_prev(Zip *z, bool *moved)
{
    if (!go_left(z, moved))
        return false;
    return *moved ? go_deepest(z) : go_up(z, moved);
}

/* *moved is false at the end of the tree; the location in hand is the top then. */
static bool go_next(Zip *z, bool *moved)
{
    if (!go_down_zip(z, moved) || *moved || !go_right(z, moved) || *moved)
        return !z->vm->failed && z->vm->budget.stop == PTC_STOP_NONE;
    for (bool up = true; up;) {
        if (!ptc_tick(&z->vm->budget, 1) || !go_up(z, &up))
            return false;
        if (up && (!go_right(z, moved) || *moved))
            return *moved;
    }
    *moved = false;
    return true;
}

static bool move_zip(PtcVM *vm, const PtcValue *argv, bool (*how)(Zip *, bool *), PtcValue *out)
{
    Zip z;
    bool moved;
    if (!zip_init(&z, vm, argv) || !how(&z, &moved))
        return false;
    return moved ? give_location(&z, out) : ptc_give(out, PTC_NIL);
}

/* -------------------------------------------------------------------------------- rows */

#define ZIP(id, name, min, max, usage, doc, examples) \
    PTC_BUILTIN(id, "clojure.zip", name, min, max, PTC_B_CALLS, usage, doc, examples)

static bool new_location(PtcVM *vm, PtcValue root, const PtcValue fns[ZIP_F_COUNT], PtcValue *out)
{
    PtcValue made = ptc_vec_new(vm->heap, fns, ZIP_F_COUNT, 0);
    PtcValue parts[L_COUNT] = {root, PTC_NIL, made};
    return made != PTC_NONE && ptc_give(out, ptc_vec_new(vm->heap, parts, L_COUNT, 0));
}

PTC_BUILTIN(zip_zipper, "clojure.zip", "zipper", 4, 4, 0,
            "(zip/zipper branch? children make-node root)",
            "The top of a tree as a location: branch? says whether a node may have children, "
            "children gives them, make-node makes a node of an old one and new children.",
            "(-> (zip/zipper map? :kids (fn [n ks] (assoc n :kids ks)) {:id 1, :kids [{:id 2}]}) "
            "zip/down zip/node) => {:id 2}\n(zip/zipper 5 seq conj [1]) !! type_error")
{
    PTC_UNUSED(argc);
    for (int i = 0; i < ZIP_F_COUNT; i++)
        if (!ptc_arg_callable(vm, argv, i))
            return false;
    return new_location(vm, argv[ZIP_F_COUNT], argv, out);
}

enum { ZIP_OF_SEQ, ZIP_OF_VECTOR, ZIP_OF_XML };

static PtcValue find_named_builtin(const char *name)
{
    return ptc_builtin((uint32_t)ptc_builtin_find(name, strlen(name)));
}

static bool new_of_kind(PtcVM *vm, int kind, PtcValue branch, PtcValue kids, PtcValue root,
                        PtcValue *out)
{
    PtcValue number = ptc_int(kind);
    PtcValue fns[ZIP_F_COUNT] = {branch, kids, ptc_fn_record(vm, "zip-made", &number, 1)};
    return branch != PTC_NONE && kids != PTC_NONE && fns[ZIP_F_MAKE] != PTC_NONE &&
           new_location(vm, root, fns, out);
}

PTC_BUILTIN(zip_vector_zip, "clojure.zip", "vector-zip", 1, 1, 0, "(zip/vector-zip root)",
            "The top of a tree of nested vectors as a location.",
            "(-> (zip/vector-zip [1 [2 3]]) zip/down zip/right zip/down zip/node) => 2\n"
            "(-> (zip/vector-zip [1 2]) zip/down (zip/edit inc) zip/root) => [2 2]\n"
            "(zip/vector-zip) !! arity_error")
{
    PTC_UNUSED(argc);
    return new_of_kind(vm, ZIP_OF_VECTOR, find_named_builtin("vector?"), find_named_builtin("seq"),
                       argv[0], out);
}

PTC_BUILTIN(zip_seq_zip, "clojure.zip", "seq-zip", 1, 1, 0, "(zip/seq-zip root)",
            "The top of a tree of nested lists as a location.",
            "(-> (zip/seq-zip '(1 (2 3))) zip/down zip/right zip/node) => [2 3]\n"
            "(zip/seq-zip) !! arity_error")
{
    PTC_UNUSED(argc);
    return new_of_kind(vm, ZIP_OF_SEQ, find_named_builtin("seq?"), find_named_builtin("identity"),
                       argv[0], out);
}

PTC_BUILTIN(
    zip_xml_zip, "clojure.zip", "xml-zip", 1, 1, 0, "(zip/xml-zip root)",
    "The top of a tree of maps with :tag, :attrs and :content as a location; strings are "
    "its leaves.",
    "(-> (zip/xml-zip {:tag :a :content [\"x\" {:tag :b}]}) zip/down zip/right zip/node :tag) "
    "=> :b\n(zip/xml-zip) !! arity_error")
{
    PTC_UNUSED(argc);
    PtcValue is_string = find_named_builtin("string?");
    return new_of_kind(vm, ZIP_OF_XML, ptc_fn_record(vm, "negated", &is_string, 1),
                       ptc_keyword_new(vm->heap, "content", strlen("content")), argv[0], out);
}

PTC_BUILTIN(hidden_zip_made, "clojure.core", "zip-made", 3, 3, PTC_B_HIDDEN,
            "(make-node node children)", "A node of seq-zip, vector-zip or xml-zip.", "")
{
    PTC_UNUSED(argc);
    PtcIter it;
    PtcValue kind = ptc_record_field(argv[0], 1);
    if (!ptc_arg_all(vm, argv, 2, &it))
        return false;
    PtcValue made = ptc_seq_copy(vm, &it, kind == ptc_int(ZIP_OF_SEQ) ? PTC_SEQ : 0);
    if (made == PTC_NONE || kind != ptc_int(ZIP_OF_XML))
        return ptc_give(out, made);
    if (!ptc_is_map(argv[1]))
        return ptc_fail_value_type(vm, argv[1], "the node", "a map");
    PtcValue key = ptc_keyword_new(vm->heap, "content", strlen("content"));
    return key != PTC_NONE && ptc_give(out, ptc_map_assoc(vm->heap, argv[1], key,
                                                          ptc_seq_count(made) ? made : PTC_NIL));
}

ZIP(zip_node, "node", 1, 1, "(zip/node loc)", "The node at a location.",
    "(zip/node (zip/vector-zip [1])) => [1]\n(zip/node 5) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    return zip_init(&z, vm, argv) && ptc_give(out, z.s[ZIP_NODE]);
}

ZIP(zip_is_branch, "branch?", 1, 1, "(zip/branch? loc)", "May the node here have children?",
    "(zip/branch? (zip/vector-zip [1])) => true\n"
    "(zip/branch? (zip/down (zip/vector-zip [1]))) => false\n(zip/branch? nil) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    bool yes;
    return zip_init(&z, vm, argv) && is_branch(&z, &yes) && ptc_give(out, ptc_bool(yes));
}

static bool need_branch(Zip *z)
{
    bool yes;
    if (!is_branch(z, &yes))
        return false;
    return yes || ptc_fail(z->vm, PTC_E_VALUE | PTC_AS(EXCEPTION), "%s: the node here is a leaf",
                           zip_builtin_name(z));
}

ZIP(zip_children, "children", 1, 1, "(zip/children loc)", "The children of the node here.",
    "(zip/children (zip/vector-zip [1 2])) => [1 2]\n"
    "(zip/children (zip/down (zip/vector-zip [1]))) !! value_error")
{
    PTC_UNUSED(argc);
    Zip z;
    return zip_init(&z, vm, argv) && need_branch(&z) && children(&z) &&
           ptc_give(out, z.s[ZIP_WORK]);
}

ZIP(zip_make_node, "make-node", 3, 3, "(zip/make-node loc node children)",
    "A new node of an old one and new children, in the way of the tree of this location.",
    "(zip/make-node (zip/vector-zip []) [1] [2 3]) => [2 3]\n(zip/make-node 1 2 3) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    if (!zip_init(&z, vm, argv))
        return false;
    z.s[ZIP_WORK] = argv[2];
    return make_node(&z, argv[1]) && ptc_give(out, z.s[ZIP_NODE]);
}

ZIP(zip_path, "path", 1, 1, "(zip/path loc)",
    "The nodes above this one, from the top; nil at the top.",
    "(-> (zip/vector-zip [[1]]) zip/down zip/down zip/path) => [[[1]] [1]]\n"
    "(zip/path (zip/vector-zip [])) => nil\n(zip/path 1) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    return zip_init(&z, vm, argv) && ptc_give(out, z.s[ZIP_ABOVE]);
}

/* Siblings: nil when there are none. */
static bool give_siblings(Zip *z, PtcValue seq, PtcValue *out)
{
    if (seq == PTC_NIL || ptc_seq_count(seq) == 0)
        return ptc_give(out, PTC_NIL);
    z->s[ZIP_MORE] = seq;
    MAKE(z, ZIP_WORK, ptc_seq_drop(z->vm, z->s[ZIP_MORE], 0));
    return ptc_give(out, z->s[ZIP_WORK]);
}

ZIP(zip_lefts, "lefts", 1, 1, "(zip/lefts loc)",
    "The siblings to the left, nil when there are none.",
    "(-> (zip/vector-zip [1 2 3]) zip/down zip/right zip/lefts) => [1]\n(zip/lefts 1) !! "
    "type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    return zip_init(&z, vm, argv) && give_siblings(&z, z.s[ZIP_LEFT], out);
}

ZIP(zip_rights, "rights", 1, 1, "(zip/rights loc)",
    "The siblings to the right, nil when there are none.",
    "(-> (zip/vector-zip [1 2 3]) zip/down zip/rights) => [2 3]\n(zip/rights 1) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    return zip_init(&z, vm, argv) && give_siblings(&z, z.s[ZIP_RIGHT], out);
}

#define MOVE(id, name, go, doc, examples)                    \
    ZIP(id, name, 1, 1, "(zip/" name " loc)", doc, examples) \
    {                                                        \
        PTC_UNUSED(argc);                                    \
        return move_zip(vm, argv, go, out);                  \
    }

MOVE(zip_down, "down", go_down_zip, "The first child, nil when there is none.",
     "(zip/node (zip/down (zip/vector-zip [7 8]))) => 7\n(zip/down (zip/vector-zip [])) => nil\n"
     "(zip/down 5) !! type_error")
MOVE(zip_up, "up", go_up, "The parent, nil at the top.",
     "(-> (zip/vector-zip [7]) zip/down zip/up zip/node) => [7]\n(zip/up (zip/vector-zip [])) => "
     "nil\n"
     "(zip/up nil) !! type_error")
MOVE(zip_left, "left", go_left, "The next sibling to the left, nil when there is none.",
     "(-> (zip/vector-zip [1 2]) zip/down zip/right zip/left zip/node) => 1\n(zip/left 1) !! "
     "type_error")
MOVE(zip_right, "right", go_right, "The next sibling to the right, nil when there is none.",
     "(-> (zip/vector-zip [1 2]) zip/down zip/right zip/node) => 2\n(zip/right 1) !! type_error")
MOVE(zip_leftmost, "leftmost", go_leftmost, "The first of the siblings, or this one.",
     "(-> (zip/vector-zip [1 2]) zip/down zip/right zip/leftmost zip/node) => 1\n"
     "(zip/leftmost 1) !! type_error")
MOVE(zip_rightmost, "rightmost", go_rightmost, "The last of the siblings, or this one.",
     "(-> (zip/vector-zip [1 2 3]) zip/down zip/rightmost zip/node) => 3\n(zip/rightmost 1) !! "
     "type_error")
MOVE(zip_prev, "prev", go_prev, "The node before this one, depth first; nil at the top.",
     "(-> (zip/vector-zip [[1 2] 3]) zip/down zip/right zip/prev zip/node) => 2\n(zip/prev 1) !! "
     "type_error")

ZIP(zip_next, "next", 1, 1, "(zip/next loc)",
    "The node after this one, depth first; after the last one a location for which end? is true.",
    "(->> (zip/vector-zip [1 [2]]) (iterate zip/next) (take-while (complement zip/end?)) "
    "(map zip/node)) => [[1 [2]] 1 [2] 2]\n(zip/next 1) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    bool moved;
    if (!zip_init(&z, vm, argv))
        return false;
    if (z.end)
        return ptc_give(out, argv[0]);
    if (!go_next(&z, &moved))
        return false;
    return moved ? give_location(&z, out) : give_end(&z, out);
}

ZIP(zip_is_end, "end?", 1, 1, "(zip/end? loc)", "Has zip/next gone through the whole tree?",
    "(zip/end? (zip/vector-zip [])) => false\n(zip/end? (zip/next (zip/vector-zip []))) => true\n"
    "(zip/end? nil) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    return zip_init(&z, vm, argv) && ptc_give(out, ptc_bool(z.end));
}

ZIP(zip_root, "root", 1, 1, "(zip/root loc)", "The whole tree, with all changes.",
    "(-> (zip/vector-zip [1 [2]]) zip/down zip/right zip/down (zip/replace 5) zip/root) => [1 "
    "[5]]\n"
    "(zip/root 1) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    if (!zip_init(&z, vm, argv))
        return false;
    for (bool up = true; up;)
        if (!ptc_tick(&vm->budget, 1) || !go_up(&z, &up))
            return false;
    return ptc_give(out, z.s[ZIP_NODE]);
}

/* ------------------------------------------------------------------------------ changes */

/* The location in hand with the node that is in it now. */
static bool give_changed(Zip *z, PtcValue *out)
{
    z->s[ZIP_CHANGED] = PTC_TRUE;
    return (at_top(z) || close_path(z)) && give_location(z, out);
}

ZIP(zip_replace, "replace", 2, 2, "(zip/replace loc node)", "The location with another node.",
    "(-> (zip/vector-zip [1 2]) zip/down (zip/replace :a) zip/root) => [:a 2]\n"
    "(zip/replace 1 2) !! type_error")
{
    PTC_UNUSED(argc);
    Zip z;
    if (!zip_init(&z, vm, argv))
        return false;
    z.s[ZIP_NODE] = argv[1];
    return give_changed(&z, out);
}

ZIP(zip_edit, "edit", 2, -1, "(zip/edit loc f & args)",
    "The location with what (f node args...) gives as its node.",
    "(-> (zip/vector-zip [1 2]) zip/down (zip/edit + 10) zip/root) => [11 2]\n"
    "(zip/edit 1 inc) !! type_error")
{
    enum { ZIP_MOST = 16 };
    Zip z;
    PtcValue args[ZIP_MOST];
    if (!zip_init(&z, vm, argv) || !ptc_arg_callable(vm, argv, 1))
        return false;
    if (argc > ZIP_MOST)
        return ptc_fail(vm, PTC_E_ARITY, "edit: more than %d arguments", ZIP_MOST);
    args[0] = z.s[ZIP_NODE];
    for (int i = 2; i < argc; i++)
        args[i - 1] = argv[i];
    return ptc_call(vm, argv[1], argc - 1, args, &z.s[ZIP_NODE]) && give_changed(&z, out);
}

static bool below_top(Zip *z)
{
    return !at_top(z) || ptc_fail(z->vm, PTC_E_VALUE | PTC_AS(EXCEPTION),
                                  "%s: this is the top of the tree", zip_builtin_name(z));
}

ZIP(zip_insert_left, "insert-left", 2, 2, "(zip/insert-left loc node)",
    "The location with a new sibling to its left.",
    "(-> (zip/vector-zip [1]) zip/down (zip/insert-left 0) zip/root) => [0 1]\n"
    "(zip/insert-left (zip/vector-zip [1]) 0) !! value_error")
{
    PTC_UNUSED(argc);
    Zip z, *at = &z;
    if (!zip_init(&z, vm, argv) || !below_top(&z))
        return false;
    MAKE(at, ZIP_LEFT, ptc_vec_conj(vm->heap, z.s[ZIP_LEFT], argv[1]));
    return give_changed(&z, out);
}

ZIP(zip_insert_right, "insert-right", 2, 2, "(zip/insert-right loc node)",
    "The location with a new sibling to its right.",
    "(-> (zip/vector-zip [1]) zip/down (zip/insert-right 2) zip/root) => [1 2]\n"
    "(zip/insert-right (zip/vector-zip [1]) 0) !! value_error")
{
    PTC_UNUSED(argc);
    Zip z, *at = &z;
    if (!zip_init(&z, vm, argv) || !below_top(&z))
        return false;
    MAKE(at, ZIP_RIGHT, ptc_seq_prepend(vm, argv[1], z.s[ZIP_RIGHT]));
    return give_changed(&z, out);
}

/* The node here with one child more. */
static bool add_child(PtcVM *vm, const PtcValue *argv, bool first, PtcValue *out)
{
    Zip z;
    if (!zip_init(&z, vm, argv) || !need_branch(&z) || !children(&z) ||
        !ptc_root_build(vm, &z.s[ZIP_MORE]) ||
        (first && !ptc_root_push(vm, &z.s[ZIP_MORE], argv[1])) ||
        !add_zip_elements(&z, z.s[ZIP_WORK], 0) ||
        (!first && !ptc_root_push(vm, &z.s[ZIP_MORE], argv[1])) ||
        !ptc_root_done(vm, &z.s[ZIP_MORE], PTC_SEQ, &z.s[ZIP_WORK]) ||
        !make_node(&z, z.s[ZIP_NODE]))
        return false;
    return give_changed(&z, out);
}

ZIP(zip_insert_child, "insert-child", 2, 2, "(zip/insert-child loc node)",
    "The location with a new first child.",
    "(zip/root (zip/insert-child (zip/vector-zip [1]) 0)) => [0 1]\n"
    "(zip/insert-child (zip/down (zip/vector-zip [1])) 0) !! value_error")
{
    PTC_UNUSED(argc);
    return add_child(vm, argv, true, out);
}

ZIP(zip_append_child, "append-child", 2, 2, "(zip/append-child loc node)",
    "The location with a new last child.",
    "(zip/root (zip/append-child (zip/vector-zip [1]) 2)) => [1 2]\n(zip/append-child 1 2) !! "
    "type_error")
{
    PTC_UNUSED(argc);
    return add_child(vm, argv, false, out);
}

ZIP(zip_remove, "remove", 1, 1, "(zip/remove loc)",
    "The tree without the node here, at the node that came before it depth first.",
    "(-> (zip/vector-zip [1 2 3]) zip/down zip/right zip/remove zip/root) => [1 3]\n"
    "(zip/remove (zip/vector-zip [1])) !! value_error")
{
    PTC_UNUSED(argc);
    Zip z, *at = &z;
    if (!zip_init(&z, vm, argv) || !below_top(&z))
        return false;
    size_t n = ptc_seq_count(z.s[ZIP_LEFT]);
    if (n > 0) {
        z.s[ZIP_NODE] = ptc_seq_nth(z.s[ZIP_LEFT], n - 1);
        MAKE(at, ZIP_LEFT, ptc_vec_pop(vm->heap, z.s[ZIP_LEFT]));
        z.s[ZIP_CHANGED] = PTC_TRUE;
        return close_path(&z) && go_deepest(&z) && give_location(&z, out);
    }
    z.s[ZIP_WORK] = z.s[ZIP_RIGHT];
    return make_node(&z, parent_node(&z)) && mark_parent(&z) && give_location(&z, out);
}

const PtcBuiltin *const ptc_lib_zip[] = {
    &zip_zipper_def,       &zip_vector_zip_def,   &zip_seq_zip_def,
    &zip_xml_zip_def,      &hidden_zip_made_def,  &zip_node_def,
    &zip_is_branch_def,    &zip_children_def,     &zip_make_node_def,
    &zip_path_def,         &zip_lefts_def,        &zip_rights_def,
    &zip_down_def,         &zip_up_def,           &zip_left_def,
    &zip_right_def,        &zip_leftmost_def,     &zip_rightmost_def,
    &zip_prev_def,         &zip_next_def,         &zip_is_end_def,
    &zip_root_def,         &zip_replace_def,      &zip_edit_def,
    &zip_insert_left_def,  &zip_insert_right_def, &zip_insert_child_def,
    &zip_append_child_def, &zip_remove_def,       NULL,
};
