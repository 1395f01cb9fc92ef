/* SPDX-License-Identifier: MIT
 * Hierarchies of keywords: a map of :parents, :ancestors and :descendants, each from a name to a set.  The global one
 * is the variable global-hierarchy, which a program has that says derive; so it follows the rules of def. */
#include "lisp/analyze/names.h"
#include "lisp/lib/java/class.h"
#include "lisp/vm/dispatch.h"
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

static PtcValue map_or_empty(PtcVM *vm, PtcValue map)
{
    return map == PTC_NONE ? ptc_map_empty(vm->heap) : map;
}

static PtcValue add_all_to_set(PtcVM *vm, PtcValue set, PtcValue more)
{
    PtcValue x;
    for (size_t pos = 0; set != PTC_NONE && more != PTC_NONE && ptc_map_next(more, &pos, &x, NULL);)
        set = ptc_tick(&vm->budget, 1) ? ptc_set_add(vm->heap, set, x) : PTC_NONE;
    return set;
}

/* The map, with `target` and all of `targets` of it in the set of one tag. */
static PtcValue add_to_tag_set(PtcVM *vm, PtcValue map, PtcValue tag, PtcValue target,
                               PtcValue targets)
{
    PtcValue set = set_of(vm, map, tag);
    set = set == PTC_NONE ? ptc_set_empty(vm->heap) : set;
    set = set == PTC_NONE ? set : ptc_set_add(vm->heap, set, target);
    set = add_all_to_set(vm, set, set_of(vm, targets, target));
    return set == PTC_NONE ? set : ptc_map_assoc(vm->heap, map, tag, set);
}

/* The same for a tag and everything that `sources` has for it. */
static PtcValue add_to_all_tags(PtcVM *vm, PtcValue map, PtcValue tag, PtcValue sources,
                                PtcValue target)
{
    PtcValue targets = map, x, all = set_of(vm, sources, tag);
    map = add_to_tag_set(vm, map_or_empty(vm, map), tag, target, targets);
    for (size_t pos = 0; map != PTC_NONE && all != PTC_NONE && ptc_map_next(all, &pos, &x, NULL);)
        map = ptc_tick(&vm->budget, 1) ? add_to_tag_set(vm, map, x, target, targets) : PTC_NONE;
    return map;
}

static PtcValue with_part(PtcVM *vm, PtcValue h, const char *name, PtcValue map)
{
    PtcValue key = h == PTC_NONE || map == PTC_NONE ? PTC_NONE : keyword(vm, name);
    return key == PTC_NONE ? key : ptc_map_assoc(vm->heap, h, key, map);
}

static PtcValue empty_hierarchy(PtcVM *vm)
{
    PtcValue none = ptc_map_empty(vm->heap), h = none;
    h = with_part(vm, h, "parents", none);
    h = with_part(vm, h, "descendants", none);
    return with_part(vm, h, "ancestors", none);
}

static PtcValue derived(PtcVM *vm, PtcValue h, PtcValue tag, PtcValue parent)
{
    PtcValue up = hierarchy_part(vm, h, "ancestors"), down = hierarchy_part(vm, h, "descendants");
    PtcValue parents = map_or_empty(vm, hierarchy_part(vm, h, "parents"));
    if (parents == PTC_NONE)
        return parents;
    PtcValue own = set_of(vm, parents, tag);
    own = own == PTC_NONE ? ptc_set_empty(vm->heap) : own;
    own = own == PTC_NONE ? own : ptc_set_add(vm->heap, own, parent);
    parents = own == PTC_NONE ? own : ptc_map_assoc(vm->heap, parents, tag, own);
    PtcValue new_up = add_to_all_tags(vm, up, tag, down, parent);
    PtcValue new_down = new_up == PTC_NONE ? new_up : add_to_all_tags(vm, down, parent, up, tag);
    h = with_part(vm, map_or_empty(vm, ptc_is_map(h) ? h : PTC_NONE), "parents", parents);
    h = with_part(vm, h, "ancestors", new_up);
    return with_part(vm, h, "descendants", new_down);
}

static bool arg_tags(PtcVM *vm, const PtcValue *argv, int tag)
{
    bool child =
        ptc_is_keyword(argv[tag]) || ptc_is(argv[tag], PTC_T_SYMBOL) || ptc_is_type(argv[tag]);
    bool parent = ptc_is_keyword(argv[tag + 1]) || ptc_is(argv[tag + 1], PTC_T_SYMBOL);
    return (child || ptc_fail_type(vm, argv, tag, "a keyword or a type")) &&
           (parent || ptc_fail_type(vm, argv, tag + 1, "a keyword"));
}

/* May parent be put above tag? */
static bool check_order(PtcVM *vm, PtcValue h, PtcValue tag, PtcValue parent)
{
    PtcValue up = hierarchy_part(vm, h, "ancestors");
    if (ptc_equal(vm->heap, tag, parent))
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(ASSERTION),
                        "derive: a name cannot be its own parent");
    if (is_related(vm, up, parent, tag))
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(EXCEPTION),
                        "derive: the second name is below the first already, so "
                        "this would be a circle");
    if (is_related(vm, up, tag, parent))
        return ptc_fail(vm, PTC_E_VALUE | PTC_AS(EXCEPTION),
                        "derive: the second name is above the first already");
    return true;
}

static bool derive(PtcVM *vm, PtcValue h, PtcValue tag, PtcValue parent, PtcValue *out)
{
    if (is_related(vm, hierarchy_part(vm, h, "parents"), tag, parent))
        return ptc_give(out, h);
    return check_order(vm, h, tag, parent) && ptc_give(out, derived(vm, h, tag, parent));
}

static bool has_namespace(PtcValue v)
{
    return !ptc_is_keyword(v) || memchr(ptc_str_bytes(v), '/', ptc_str_len(v));
}

static bool set_global(PtcVM *vm, PtcValue h, PtcValue *out)
{
    int at = global_index(vm);
    if (at < 0)
        return ptc_fail(vm, PTC_E_VALUE,
                        "the global hierarchy is not at hand here: use (make-hierarchy) "
                        "and give it as the first argument");
    vm->globals[at] = h;
    vm->defined = true;
    return ptc_give(out, PTC_NIL);
}

PTC_BUILTIN(core_make_hierarchy, "clojure.core", "make-hierarchy", 0, 0, 0, "(make-hierarchy)",
            "A hierarchy of names in which nothing is derived yet; derive gives one with more.",
            "(isa? (derive (make-hierarchy) :dog :animal) :dog :animal) => true\n"
            "(make-hierarchy 1) !! arity_error")
{
    PTC_UNUSED(argc);
    PTC_UNUSED(argv);
    return ptc_give(out, empty_hierarchy(vm));
}

PTC_BUILTIN(
    core_derive, "clojure.core", "derive", 2, 3, PTC_B_EFFECT, "(derive hierarchy? tag parent)",
    "Puts a name below another: isa? and multimethods then take it for one of them. Without a "
    "hierarchy it changes the global one, as def would, and both names need a namespace.",
    "(derive ::dog ::animal) (isa? ::dog ::animal) => true\n"
    "(derive :dog :animal) !! value_error\n(derive (make-hierarchy) :a :a) !! value_error\n"
    "(derive ::a 5) !! type_error")
{
    PtcValue h = argc == 3 ? argv[0] : ptc_hierarchy_of(vm, PTC_NIL);
    const PtcValue *tags = argv + argc - 2;
    if (!arg_tags(vm, argv, argc - 2))
        return false;
    if (argc == 3)
        return ptc_arg_map(vm, argv, 0) && derive(vm, h, tags[0], tags[1], out);
    if (!has_namespace(tags[0]) || !has_namespace(tags[1])) {
        ptc_fail(vm, PTC_E_VALUE, "derive: in the global hierarchy names have a namespace");
        return ptc_fail_hint(vm, "write ::dog, or give a hierarchy: (derive (make-hierarchy) :dog "
                                 ":animal)");
    }
    return derive(vm, h, tags[0], tags[1], &h) && set_global(vm, h, out);
}

/* All that was derived but one pair, derived again. */
static PtcValue rederive_without(PtcVM *vm, PtcValue h, PtcValue tag, PtcValue parent)
{
    PtcValue new = empty_hierarchy(vm), parents = hierarchy_part(vm, h, "parents"), child, set, x;
    for (size_t pos = 0;
         new != PTC_NONE &&parents != PTC_NONE &&ptc_map_next(parents, &pos, &child, &set);)
        for (size_t at = 0;
             new != PTC_NONE &&ptc_is_set(set) && ptc_map_next(set, &at, &x, NULL);) {
            bool gone = ptc_equal(vm->heap, child, tag) && ptc_equal(vm->heap, x, parent);
            if (!ptc_tick(&vm->budget, 1))
                return PTC_NONE;
            new = gone ? new : derived(vm, new, child, x);
        }
    return new;
}

PTC_BUILTIN(core_underive, "clojure.core", "underive", 2, 3, PTC_B_EFFECT,
            "(underive hierarchy? tag parent)", "Takes back what derive did.",
            "(derive ::a ::b) (underive ::a ::b) (isa? ::a ::b) => false\n(underive 1 2) !! "
            "type_error")
{
    PtcValue h = argc == 3 ? argv[0] : ptc_hierarchy_of(vm, PTC_NIL);
    const PtcValue *tags = argv + argc - 2;
    if (!arg_tags(vm, argv, argc - 2) || (argc == 3 && !ptc_arg_map(vm, argv, 0)))
        return false;
    PtcValue new = rederive_without(vm, h, tags[0], tags[1]);
    return new != PTC_NONE && (argc == 3 ? ptc_give(out, new) : set_global(vm, new, out));
}

PTC_BUILTIN(core_isa, "clojure.core", "isa?", 2, 3, 0, "(isa? hierarchy? child parent)",
            "Is the child the same as the parent, or below it in the hierarchy or among classes? "
            "Vectors element by element.",
            "(isa? Long Number) => true\n(isa? :a :a) => true\n(derive ::b ::a) (isa? [::b 1] [::a "
            "1]) => true\n(isa? :b :a) => false\n(isa?) !! arity_error")
{
    PtcValue h = ptc_hierarchy_of(vm, argc == 3 ? argv[0] : PTC_NIL);
    return ptc_give(out, ptc_bool(ptc_isa(vm, h, argv[argc - 2], argv[argc - 1])));
}

static bool give_hierarchy_set(PtcVM *vm, int argc, const PtcValue *argv, const char *name,
                               PtcValue *out)
{
    PtcValue h = ptc_hierarchy_of(vm, argc == 2 ? argv[0] : PTC_NIL);
    PtcValue set = set_of(vm, hierarchy_part(vm, h, name), argv[argc - 1]);
    return ptc_give(out, set == PTC_NONE || ptc_map_count(set) == 0 ? PTC_NIL : set);
}

PTC_BUILTIN(core_parents, "clojure.core", "parents", 1, 2, 0, "(parents hierarchy? tag)",
            "The names that a name was derived from, as a set; nil when there are none.",
            "(derive ::a ::b) (parents ::a) => #{:user/b}\n(parents :x) => nil\n(parents) !! "
            "arity_error")
{
    return give_hierarchy_set(vm, argc, argv, "parents", out);
}

PTC_BUILTIN(core_ancestors, "clojure.core", "ancestors", 1, 2, 0, "(ancestors hierarchy? tag)",
            "All names above a name, as a set; nil when there are none.",
            "(derive ::a ::b) (derive ::b ::c) (ancestors ::a) => #{:user/b :user/c}\n"
            "(ancestors) !! arity_error")
{
    return give_hierarchy_set(vm, argc, argv, "ancestors", out);
}

PTC_BUILTIN(core_descendants, "clojure.core", "descendants", 1, 2, 0,
            "(descendants hierarchy? tag)",
            "All names below a name, as a set; nil when there are none.",
            "(derive ::a ::b) (derive ::b ::c) (descendants ::c) => #{:user/b :user/a}\n"
            "(descendants) !! arity_error")
{
    return give_hierarchy_set(vm, argc, argv, "descendants", out);
}

const PtcBuiltin *const ptc_lib_hierarchy[] = {
    &core_make_hierarchy_def, &core_derive_def,    &core_underive_def,    &core_isa_def,
    &core_parents_def,        &core_ancestors_def, &core_descendants_def, NULL};
