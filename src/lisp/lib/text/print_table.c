/* SPDX-License-Identifier: MIT
 * clojure.pprint/print-table; lisp/prelude/pprint.clj has the definition. */
#include "lisp/prelude/prelude.h"

PTC_PRELUDE(
    pprint_print_table, "clojure.pprint", "print-table", 1, 2, PTC_B_EFFECT,
    "(print-table keys? rows)",
    "Prints maps as a table with a column for each of the keys, those of the first row when "
    "none are given; gives nil.",
    "(with-out-str (print-table [{:a 1 :b \"xy\"} {:a 22}])) => "
    "\"\\n| :a | :b |\\n|----+----|\\n|  1 | xy |\\n| 22 |    |\\n\"\n"
    "(with-out-str (print-table [:b] [{:a 1 :b 2}])) => \"\\n| :b |\\n|----|\\n|  2 |\\n\"\n"
    "(print-table []) => nil\n(print-table [1]) !! type_error");

PTC_BUILTIN_TABLE(ptc_lib_print_table, pprint_print_table);
