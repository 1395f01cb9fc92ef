/* SPDX-License-Identifier: MIT
 * test_cells.c - atoms in sessions: what a program changed is kept when it succeeds, and only then, also when memory
 * runs out anywhere, and when the session moves to a new heap. */
#include "api_help.h"

/* A failed program leaves the atoms as they were, whatever it had done before. */
static void test_rollback(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(def a (atom {:n 1})) (def b (atom [a])) (def d (delay (:n @a)))", "#'d");
    EXPECT(ptc, s, "(swap! a assoc :n 2) (swap! (first @b) assoc :k 3) @a", "{:n 2, :k 3}");
    EXPECT(ptc, s, "(reset! a :gone) (reset! b :gone) @d (/ 1 0)", "!arithmetic_error 1:38");
    EXPECT(ptc, s, "[@a (= a (first @b)) (realized? d)]", "[{:n 2, :k 3} true false]");
    EXPECT(ptc, s, "(reset! a :gone) (vec (range 9000000))", "!memory_exceeded 1:18");
    EXPECT(ptc, s, "(def c (atom 1)) (reset! a c) (fail \"no\")", "!fail 1:31");
    EXPECT(ptc, s, "[(swap! a assoc :n 4) @d]", "[{:n 4, :k 3} 4]");
    EXPECT(ptc, s, "(swap! a update :n inc) (return @a)", "{:n 5, :k 3}");
    EXPECT(ptc, s, "[@a @d (realized? d)]", "[{:n 5, :k 3} 4 true]");
    EXPECT(ptc, s, "(pmap (fn [x] (reset! a x)) [1 2])", "!value_error 1:15");
    EXPECT(ptc, s, "(swap! a assoc :n 6) (pmap (fn [x] (+ x (:n @a))) [1 2])", "[7 8]");
    ptc_session_free(s);
    end_engine(ptc);
}

/* Much is put into atoms and dropped again, so that the session is copied to new heaps. */
static void test_compaction(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    char program[200], want[80];
    EXPECT(ptc, s, "(def a (atom [])) (def all (atom {:a a})) (def k {a :found})", "#'k");
    for (int i = 0; i < 40; i++) {
        snprintf(program, sizeof program,
                 "(reset! a (vec (range %d 20000))) (swap! all assoc :n %d :me all) nil", i, i);
        EXPECT(ptc, s, program, "nil");
        snprintf(program, sizeof program, "(reset! a nil) (reset! (:a @all) :x) (/ %d 0)", i);
        PtcOutcome *o = start(ptc, program, s, 0);
        CHECK(!ptc_outcome_ok(o));
        ptc_outcome_free(o);
        snprintf(want, sizeof want, "[%d %d true true :found]", i, i);
        EXPECT(ptc, s,
               "[(first @a) (:n @all) (= (:a @all) a) (= all (:me @all)) (get k (:a @all))]", want);
    }
    ptc_session_free(s);
    end_engine(ptc);
}

/* An outcome shows what its own program left in the atom, as long as the session has not moved. */
static void test_outcome(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    char got[TEXT];
    EXPECT(ptc, s, "(def a (atom 1))", "#'a");
    PtcOutcome *o = start(ptc, "(reset! a [2 3]) [a]", s, 0);
    EXPECT(ptc, s, "(reset! a (vec (range 100))) (count @a)", "100");
    tell(o, got);
    CHECK_STR(got, "[#atom[[2 3]]]");
    ptc_outcome_free(o);
    ptc_session_free(s);
    end_engine(ptc);
}

/* With every allocation failing once, the session has the old value or the new one and nothing between. */
static void test_torture(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(def a (atom 0)) (def b (atom 0)) (def d (delay 5))", "#'d");
    bool done = false;
    for (uint64_t n = 1; !done && n < 5000; n++) {
        PtcRun run = a_run("(swap! a inc) (reset! b {:a a :n @a :d @d})", s, 0);
        PtcOutcome *o = NULL;
        ptc_mem_fail_at(&ptc->mem, n);
        PtcStatus status = ptc_eval(ptc, &run, &o);
        ptc_mem_fail_at(&ptc->mem, 0);
        done = status == PTC_OK && ptc_outcome_ok(o);
        ptc_outcome_free(o);
        EXPECT(ptc, s, "[@a (if (map? @b) (:n @b) @b) (realized? d)]",
               done ? "[1 1 true]" : "[0 0 false]");
    }
    CHECK(done);
    ptc_session_free(s);
    end_engine(ptc);
}

/* Protocols, multimethods and the global hierarchy follow the same rules. */
static void test_types(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(defprotocol S (area [s])) (defrecord Sq [n] S (area [_] (* n n)))", "user.Sq");
    EXPECT(ptc, s, "(defmulti f :k) (defmethod f :a [_] 1) (derive ::x ::y)", "nil");
    EXPECT(
        ptc, s,
        "(extend-type Sq S (area [_] :bad)) (extend-type Long S (area [_] :bad)) (defmethod f :a "
        "[_] :bad) (defmethod f :b [_] :bad) (remove-method f :a) (derive ::z ::x) (fail 1)",
        "!fail 1:163");
    EXPECT(ptc, s, "[(area (->Sq 3)) (f {:k :a}) (satisfies? S 1) (isa? ::z ::x) (isa? ::x ::y)]",
           "[9 1 false false true]");
    EXPECT(ptc, s, "(f {:k :b})", "!value_error 1:1");
    EXPECT(ptc, s, "(defmethod f :b [_] 2) (extend-type Long S (area [n] n))", "nil");
    EXPECT(ptc, s, "[(f {:k :b}) (area 5) (area (Sq. 2)) (.-n (->Sq 4))]", "[2 5 4 4]");
    EXPECT(ptc, s, "(def old (->Sq 1)) (defrecord Sq [n m] S (area [_] (* n m)))", "user.Sq");
    EXPECT(ptc, s, "[(area (->Sq 2 3)) old (instance? Sq old) (= old (map->Sq {:n 1}))]",
           "[6 #user.Sq{:n 1} true false]");
    EXPECT(ptc, s, "(defmulti f :j) (defmethod f 1 [_] :new) [(f {:j 1}) (count (methods f))]",
           "[:new 1]");
    ptc_session_free(s);
    end_engine(ptc);
}

int main(void)
{
    test_types();
    test_rollback();
    test_compaction();
    test_outcome();
    test_torture();
    return check_done("test_cells");
}
