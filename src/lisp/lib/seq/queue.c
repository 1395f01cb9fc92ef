/* SPDX-License-Identifier: MIT
 * Priority queues; lisp/prelude/core.clj has the definitions.  A queue is a sorted map whose keys are [priority turn]:
 * the turn grows with each item of the same priority, so that those leave in the order in which they came. */
#include "lisp/lazy/seq_int.h"
#include "lisp/prelude/prelude.h"

/* Of the last item with this priority; -1: there is none. */
static bool find_last_turn(PtcVM *vm, PtcValue queue, PtcValue priority, int64_t *turn)
{
    size_t rank;
    PtcValue key, beyond = ptc_vec_pair(vm->heap, priority, ptc_int(PTC_INT_MAX));
    *turn = -1;
    if (beyond == PTC_NONE || !ptc_sorted_rank(vm->heap, queue, beyond, true, &rank))
        return false;
    if (rank-- == 0 || !ptc_map_next(queue, &rank, &key, NULL))
        return true;
    bool ok = true;
    if (ptc_is_sequential(key) && ptc_seq_count(key) == 2 && ptc_is_int(ptc_seq_nth(key, 1)) &&
        ptc_compare(vm->heap, ptc_seq_nth(key, 0), priority, &ok) == 0)
        *turn = ptc_to_int(ptc_seq_nth(key, 1));
    return vm->budget.stop == PTC_STOP_NONE;
}

PTC_BUILTIN(hidden_pq_turn, "clojure.core", "pq-turn", 2, 2, PTC_B_HIDDEN, "(pq-turn q priority)",
            "The turn of the next item with this priority.", "")
{
    int64_t turn;
    vm->running = ptc_prelude_running(vm);
    if (!ptc_is_sorted(argv[0]) || !ptc_is_map(argv[0]) || ptc_sorted_by(argv[0]) != PTC_NIL)
        return ptc_fail_type(vm, argv, 0, "a priority queue, which (pq) makes");
    return find_last_turn(vm, argv[0], argv[1], &turn) && ptc_give(out, ptc_int(turn + 1));
}

PTC_PRELUDE(core_pq, "clojure.core", "pq", 0, 1, 0, "(pq pairs?)",
            "A priority queue, empty or of [item priority] pairs such as those of a map. count and "
            "empty? work on it.",
            "(pq-peek (pq {:a 3 :b 1})) => [:b 1]\n(empty? (pq)) => true\n(count (pq [[:x 2] [:x "
            "2]])) => 2\n(pq [1]) !! type_error");
PTC_PRELUDE(core_pq_add, "clojure.core", "pq-add", 3, 3, 0, "(pq-add q item priority)",
            "The priority queue with one more item; the least priority leaves first, and of equal "
            "ones the item that came first.",
            "(pq-peek (-> (pq) (pq-add :late 5) (pq-add :soon 1))) => [:soon 1]\n"
            "(pq-peek (-> (pq) (pq-add :x 1) (pq-add :y 1) pq-pop)) => [:y 1]\n"
            "(pq-add [] :a 1) !! type_error\n(pq-add (pq {:a 1}) :b \"2\") !! type_error");
PTC_PRELUDE(core_pq_peek, "clojure.core", "pq-peek", 1, 1, 0, "(pq-peek q)",
            "The item of a priority queue that leaves next, as [item priority]; nil when there is "
            "none.",
            "(pq-peek (pq {:a 3 :b 1})) => [:b 1]\n(pq-peek (pq)) => nil\n(pq-peek 5) !! "
            "type_error");
PTC_PRELUDE(core_pq_pop, "clojure.core", "pq-pop", 1, 1, 0, "(pq-pop q)",
            "The priority queue without the item that leaves next.",
            "(pq-peek (pq-pop (pq {:a 3 :b 1}))) => [:a 3]\n(pq-pop (pq)) => {}\n(pq-pop nil) !! "
            "type_error");

PTC_BUILTIN_TABLE(ptc_lib_queue, hidden_pq_turn, core_pq, core_pq_add, core_pq_peek, core_pq_pop);
