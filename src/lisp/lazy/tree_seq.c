/* SPDX-License-Identifier: MIT
 * tree-seq: the nodes of a tree that functions describe.  The tree may have no end, so only the first nodes are listed
 * at once; the others wait until they are asked for.
 *
 * The state of a walk is a value, [node stack]: the node that was given last, whose children are not asked for before
 * the next node is, or PTC_UNBOUND; and what is still to be visited, the innermost sequence of siblings first.  It is
 * replaced when a step has succeeded, so that a step that failed can be taken again. */
#include "lisp/lazy/force.h"
#include "lisp/lazy/produce.h"

enum { AT_ONCE = 32 };

enum { TREE_NODE, TREE_STACK, TREE_STATE };
enum { BRANCH, CHILDREN };

/* Root slots of a step. */
enum { TREE_SIBLINGS, TREE_FOUND, TREE_LEFT, TREE_NEW_STATE, TREE_SLOTS };

/* What is left to visit after the siblings have lost one: them, if there are more, before the rest. */
static PtcValue new_tree_state(PtcVM *vm, PtcValue node, PtcValue siblings, PtcValue stack)
{
    bool none =
        siblings == PTC_NIL || (ptc_is_sequential(siblings) && ptc_seq_count(siblings) == 0);
    if (!none)
        stack = ptc_cons_new(vm->heap, siblings, stack);
    PtcValue state[TREE_STATE] = {node, stack};
    return stack == PTC_NONE ? stack : ptc_vec_new(vm->heap, state, TREE_STATE, 0);
}

/* The same into a root slot. */
static bool keep_tree_state(PtcVM *vm, PtcValue *slots, PtcValue node, PtcValue siblings)
{
    slots[TREE_FOUND] = node;
    PtcValue v = new_tree_state(vm, node, siblings, slots[TREE_LEFT]);
    if (v == PTC_NONE && ptc_recover_keeping(vm, 1, &siblings, PTC_NIL))
        v = new_tree_state(vm, node, siblings, slots[TREE_LEFT]);
    slots[TREE_NEW_STATE] = v;
    return v != PTC_NONE;
}

/* The children of the node that was given last come first. */
static bool visit_children(PtcVM *vm, PtcValue functions, PtcValue node, PtcValue *slots)
{
    PtcValue yes, all;
    if (!ptc_call1(vm, ptc_seq_nth(functions, BRANCH), node, &yes))
        return false;
    if (!ptc_truthy(yes))
        return true;
    if (!ptc_call1(vm, ptc_seq_nth(functions, CHILDREN), node, &all))
        return false;
    if (!ptc_is_seqable(all) && !ptc_is_producer(all)) {
        vm->running = (uint32_t)ptc_builtin_find("tree-seq", strlen("tree-seq"));
        return ptc_fail_value_type(vm, all, "what the function for children gave",
                                   "a collection or nil");
    }
    if (!keep_tree_state(vm, slots, PTC_UNBOUND, all))
        return false;
    slots[TREE_LEFT] = ptc_seq_nth(slots[TREE_NEW_STATE], TREE_STACK);
    return true;
}

/* A sequence without end that is no lazy one is made lazy, since it cannot be gone on with otherwise. */
static int first_sibling(PtcVM *vm, PtcValue *slots)
{
    int got = ptc_force_first(vm, &slots[TREE_SIBLINGS], &slots[TREE_FOUND]);
    if (got != 2)
        return got;
    PtcValue lazy =
        PTC_RETRY(vm, ptc_producer_keep(vm, slots[TREE_SIBLINGS], PTC_NONE, PTC_STEP_MAP));
    if (lazy == PTC_NONE)
        return -1;
    slots[TREE_SIBLINGS] = lazy;
    return ptc_force_first(vm, &slots[TREE_SIBLINGS], &slots[TREE_FOUND]);
}

static bool rest_of_stack(PtcVM *vm, PtcValue *slots)
{
    PtcValue rest = PTC_RETRY(vm, ptc_seq_drop(vm, slots[TREE_LEFT], 1));
    if (rest != PTC_NONE)
        slots[TREE_LEFT] = rest;
    return rest != PTC_NONE && ptc_tick(&vm->budget, 1);
}

/* The next node into slots[FOUND], and the state after it into slots[NEW_STATE]. */
static int step_tree_seq(PtcVM *vm, PtcValue functions, PtcValue state, PtcValue *slots)
{
    PtcValue node = ptc_seq_nth(state, TREE_NODE);
    int got = 0;
    slots[TREE_LEFT] = ptc_seq_nth(state, TREE_STACK);
    if (node != PTC_UNBOUND && !visit_children(vm, functions, node, slots))
        return -1;
    while (got == 0 && ptc_seq_count(slots[TREE_LEFT]) > 0) {
        slots[TREE_SIBLINGS] = ptc_seq_nth(slots[TREE_LEFT], 0);
        if ((got = first_sibling(vm, slots)) >= 0 && !rest_of_stack(vm, slots))
            return -1;
    }
    if (got <= 0)
        return got;
    return keep_tree_state(vm, slots, slots[TREE_FOUND], slots[TREE_SIBLINGS]) ? 1 : -1;
}

int ptc_tree_next(PtcVM *vm, PtcValue functions, PtcValue *state, PtcValue *x)
{
    size_t roots = vm->root_count;
    PtcValue *slots = ptc_roots(vm, TREE_SLOTS);
    int got = slots ? step_tree_seq(vm, functions, *state, slots) : -1;
    if (got > 0) {
        *state = slots[TREE_NEW_STATE];
        *x = slots[TREE_FOUND];
    }
    vm->root_count = roots;
    return got;
}

/* Where a walk begins. */
static PtcValue begin_tree_seq(PtcVM *vm, PtcValue root)
{
    PtcValue siblings = ptc_vec_new(vm->heap, &root, 1, PTC_SEQ);
    PtcValue none = siblings == PTC_NONE ? siblings : ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ);
    return none == PTC_NONE ? none : new_tree_state(vm, PTC_UNBOUND, siblings, none);
}

/* What follows the nodes that are listed already, slots[0], from the state in slots[1] on. */
static bool wait(PtcVM *vm, PtcValue *slots, PtcValue functions, PtcValue *out)
{
    PtcValue p = ptc_producer_new(vm, PTC_FROM_TREE, functions, slots[1]);
    PtcValue parts[2] = {slots[0],
                         p == PTC_NONE ? p : ptc_force_new(vm, p, PTC_UNBOUND, PTC_NIL, false)};
    return parts[1] != PTC_NONE && ptc_concat_later(vm, 2, parts, out);
}

PTC_BUILTIN(
    core_tree_seq, "clojure.core", "tree-seq", 3, 3,
    PTC_B_CALLS | PTC_TAKES2(PTC_IS_CALLED, PTC_IS_CALLED) | PTC_GIVES(PTC_IS_LIST),
    "(tree-seq branch? children root)",
    "All nodes of a tree, each before its children; branch? says which nodes may have children. "
    "After the first nodes the others wait until they are asked for, so that a tree may have no "
    "end.",
    "(tree-seq vector? identity [1 [2]]) => [[1 [2]] 1 [2] 2]\n"
    "(map :id (tree-seq :kids :kids {:id 1 :kids [{:id 2} {:id 3}]})) => [1 2 3]\n"
    "(take 3 (tree-seq number? (fn [n] [(* 2 n)]) 1)) => [1 2 4]\n"
    "(tree-seq \"a\" \"b\" {}) !! type_error")
{
    enum { TREE_LISTED, TREE_WALK, TREE_FUNCTIONS, TREE_MOST };
    PtcValue x, *slots = ptc_roots(vm, TREE_MOST);
    if (!slots || !ptc_arg_callable(vm, argv, 0) || !ptc_arg_callable(vm, argv, 1))
        return false;
    for (int tries = 0; tries < 2 && slots[TREE_WALK] == PTC_NIL; tries++) {
        PtcValue functions = ptc_vec_new(vm->heap, argv, 2, 0), state = begin_tree_seq(vm, argv[2]);
        if (functions != PTC_NONE && state != PTC_NONE) {
            slots[TREE_FUNCTIONS] = functions;
            slots[TREE_WALK] = state;
        } else if (!ptc_recover(vm)) {
            return false;
        }
    }
    int got = slots[TREE_WALK] != PTC_NIL && ptc_root_build(vm, &slots[TREE_LISTED]) ? 1 : -1;
    for (int n = 0; got == 1 && n < AT_ONCE; n++) {
        got = ptc_tree_next(vm, slots[TREE_FUNCTIONS], &slots[TREE_WALK], &x);
        if (got == 1 && !ptc_root_push(vm, &slots[TREE_LISTED], x))
            return false;
    }
    if (got < 0 || !ptc_root_done(vm, &slots[TREE_LISTED], PTC_SEQ, &slots[TREE_LISTED]))
        return false;
    if (got == 0)
        return ptc_give(out, slots[TREE_LISTED]);
    return PTC_RETRY(vm, wait(vm, slots, slots[TREE_FUNCTIONS], out));
}

PTC_BUILTIN_TABLE(ptc_lib_tree_seq, core_tree_seq);
