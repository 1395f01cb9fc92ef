/* SPDX-License-Identifier: MIT
 * Hierarchies of keywords: a map of :parents, :ancestors and :descendants, each from a name to a set.  The global one
 * is the variable global-hierarchy, which a program has that says derive; so it follows the rules of def.
 * Here is what calls of multimethods ask; lisp/prelude/core.clj has the rest. */
#include "lisp/analyze/names.h"
#include "lisp/dispatch/class.h"
#include "lisp/dispatch/dispatch.h"
#include "lisp/prelude/prelude.h"
#include "value/cell.h"
#include "value/coll/typed.h"

enum { ISA_DEPTH = 50 };

/* ------------------------------------------------------------------------------ reading */

static int global_index(const PtcVM *vm)
{
    int at = ptc_names_find(vm->names, PTC_HIERARCHY_NAME, strlen(PTC_HIERARCHY_NAME));
    return at >= 0 && (size_t)at < vm->global_count ? at : -1;
}

static PtcValue global_of(const PtcVM *vm, int64_t index)
{
    bool there = index >= 0 && (size_t)index < vm->global_count;
    PtcValue v = there ? vm->globals[index] : PTC_UNBOUND;
    return v == PTC_UNBOUND ? PTC_NIL : v;
}

PtcValue ptc_hierarchy_of(PtcVM *vm, PtcValue given)
{
    if (given == PTC_NIL)
        return global_of(vm, global_index(vm));
    if (ptc_is(given, PTC_T_VAR))
        return global_of(vm, ptc_to_int(ptc_record_field(given, 1)));
    return ptc_is_cell(given) ? ptc_cell_get(vm->heap, given) : given;
}

static PtcValue keyword(PtcVM *vm, const char *name)
{
    return ptc_keyword_new(vm->heap, name, strlen(name));
}

/* The map under :parents and so on; PTC_NONE: none.  Looked up, not searched for: any map may be given as a
 * hierarchy. */
static PtcValue hierarchy_part(PtcVM *vm, PtcValue h, const char *name)
{
    PtcValue key = ptc_is_map(h) ? keyword(vm, name) : PTC_NONE;
    PtcValue value = key == PTC_NONE ? PTC_NONE : ptc_map_get(vm->heap, h, key);
    return value != PTC_NONE && ptc_is_map(value) ? value : PTC_NONE;
}

/* The set that a tag has there; PTC_NONE: none. */
static PtcValue set_of(PtcVM *vm, PtcValue map, PtcValue tag)
{
    PtcValue s = map == PTC_NONE ? PTC_NONE : ptc_map_get(vm->heap, map, tag);
    return s != PTC_NONE && ptc_is_set(s) ? s : PTC_NONE;
}

static bool is_related(PtcVM *vm, PtcValue map, PtcValue tag, PtcValue other)
{
    PtcValue s = set_of(vm, map, tag);
    return s != PTC_NONE && ptc_set_has(vm->heap, s, other);
}

static bool isa(PtcVM *vm, PtcValue h, PtcValue child, PtcValue parent, int depth)
{
    if (ptc_equal(vm->heap, child, parent))
        return true;
    if (ptc_is(child, PTC_T_FLAT) && ptc_is(parent, PTC_T_FLAT) && depth < ISA_DEPTH) {
        size_t n = ptc_seq_count(child), i = 0;
        if (n != ptc_seq_count(parent) || !ptc_tick(&vm->budget, (int64_t)n))
            return false;
        while (i < n && isa(vm, h, ptc_seq_nth(child, i), ptc_seq_nth(parent, i), depth + 1))
            i++;
        return i == n;
    }
    if (ptc_class_is_below(child, parent))
        return true;
    return is_related(vm, hierarchy_part(vm, h, "ancestors"), child, parent);
}

bool ptc_isa(PtcVM *vm, PtcValue h, PtcValue child, PtcValue parent)
{
    return isa(vm, h, child, parent, 0);
}

/* ----------------------------------------------------------------------------- changing */

PTC_BUILTIN_EXPR(hidden_hierarchy, "clojure.core", "hierarchy", 1, 1, PTC_B_HIDDEN,
                 "(hierarchy given)",
                 "The hierarchy that is given, maybe as a var or an atom; the global one for nil.",
                 "", ptc_give(out, ptc_hierarchy_of(vm, argv[0])))

PTC_BUILTIN(hidden_set_hierarchy, "clojure.core", "set-hierarchy", 1, 1,
            PTC_B_HIDDEN | PTC_B_EFFECT, "(set-hierarchy h)", "Makes h the global hierarchy.", "")
{
    int at = global_index(vm);
    if (at < 0)
        return ptc_fail(vm, PTC_E_VALUE,
                        "the global hierarchy is not at hand here: use (make-hierarchy) "
                        "and give it as the first argument");
    vm->globals[at] = argv[0];
    vm->defined = true;
    return ptc_give(out, PTC_NIL);
}

PTC_PRELUDE(core_make_hierarchy, "clojure.core", "make-hierarchy", 0, 0, 0, "(make-hierarchy)",
            "A hierarchy of names in which nothing is derived yet; derive gives one with more.",
            "(isa? (derive (make-hierarchy) :dog :animal) :dog :animal) => true\n"
            "(make-hierarchy 1) !! arity_error");

PTC_PRELUDE(
    core_derive, "clojure.core", "derive", 2, 3, PTC_B_EFFECT, "(derive hierarchy? tag parent)",
    "Puts a name below another: isa? and multimethods then take it for one of them. Without a "
    "hierarchy it changes the global one, as def would, and both names need a namespace.",
    "(derive ::dog ::animal) (isa? ::dog ::animal) => true\n"
    "(derive :dog :animal) !! value_error\n(derive (make-hierarchy) :a :a) !! value_error\n"
    "(derive ::a 5) !! type_error");

PTC_PRELUDE(core_underive, "clojure.core", "underive", 2, 3, PTC_B_EFFECT,
            "(underive hierarchy? tag parent)", "Takes back what derive did.",
            "(derive ::a ::b) (underive ::a ::b) (isa? ::a ::b) => false\n(underive 1 2) !! "
            "type_error");

PTC_BUILTIN(core_isa, "clojure.core", "isa?", 2, 3, PTC_GIVES(PTC_IS_BOOL),
            "(isa? hierarchy? child parent)",
            "Is the child the same as the parent, or below it in the hierarchy or among classes? "
            "Vectors element by element.",
            "(isa? Long Number) => true\n(isa? :a :a) => true\n(derive ::b ::a) (isa? [::b 1] [::a "
            "1]) => true\n(isa? :b :a) => false\n(isa?) !! arity_error")
{
    PtcValue h = ptc_hierarchy_of(vm, argc == 3 ? argv[0] : PTC_NIL);
    return ptc_give(out, ptc_bool(ptc_isa(vm, h, argv[argc - 2], argv[argc - 1])));
}

PTC_PRELUDE(core_parents, "clojure.core", "parents", 1, 2, 0, "(parents hierarchy? tag)",
            "The names that a name was derived from, as a set; nil when there are none.",
            "(derive ::a ::b) (parents ::a) => #{:user/b}\n(parents :x) => nil\n(parents) !! "
            "arity_error");

PTC_PRELUDE(core_ancestors, "clojure.core", "ancestors", 1, 2, 0, "(ancestors hierarchy? tag)",
            "All names above a name, as a set; nil when there are none.",
            "(derive ::a ::b) (derive ::b ::c) (ancestors ::a) => #{:user/b :user/c}\n"
            "(ancestors) !! arity_error");

PTC_PRELUDE(core_descendants, "clojure.core", "descendants", 1, 2, 0,
            "(descendants hierarchy? tag)",
            "All names below a name, as a set; nil when there are none.",
            "(derive ::a ::b) (derive ::b ::c) (descendants ::c) => #{:user/b :user/a}\n"
            "(descendants) !! arity_error");

PTC_BUILTIN_TABLE(ptc_lib_hierarchy, hidden_hierarchy, hidden_set_hierarchy, core_make_hierarchy,
                  core_derive, core_underive, core_isa, core_parents, core_ancestors,
                  core_descendants);
