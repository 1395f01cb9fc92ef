/* SPDX-License-Identifier: MIT
 * clojure.data; lisp/prelude/data.clj has the definition. */
#include "lisp/prelude/prelude.h"

PTC_PRELUDE(
    data_diff, "clojure.data", "diff", 2, 2, PTC_GIVES(PTC_IS_LIST), "(clojure.data/diff a b)",
    "A vector of what only the first of two values holds, what only the second, and what both do; "
    "it goes into maps, sequences and sets.",
    "(clojure.data/diff {:a 1 :b 2} {:a 1 :b 3 :c 4}) => [{:b 2} {:b 3, :c 4} {:a 1}]\n"
    "(clojure.data/diff [1 2 3] [1 9]) => [[nil 2 3] [nil 9] [1]]\n"
    "(clojure.data/diff #{1 2} #{2}) => [#{1} nil #{2}]\n(clojure.data/diff 1 1) => [nil nil 1]\n"
    "(clojure.data/diff 1) !! arity_error");

PTC_BUILTIN_TABLE(ptc_lib_diff, data_diff);
