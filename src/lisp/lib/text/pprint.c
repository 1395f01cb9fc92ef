/* SPDX-License-Identifier: MIT
 * clojure.pprint: cl-format and print-table; lisp/prelude/cl_format.clj and pprint.clj have the definitions. */
#include "lisp/prelude/prelude.h"

PTC_PRELUDE(
    pprint_cl_format, "clojure.pprint", "cl-format", 2, -1, PTC_B_EFFECT,
    "(cl-format nil template & args)",
    "Text from a template of Common Lisp: ~a and ~s values, ~d ~b ~o ~x integers (~:d with "
    "commas), "
    "~r words, ~:r ordinals, ~@r Roman, ~f ~$ decimals, ~% line feed, ~{ ~} repetition, ~[ ~; ~] "
    "choice, ~p plural. With true instead of nil it is printed.",
    "(cl-format nil \"~a is ~,2f~%\" \"x\" 3.14159) => \"x is 3.14\\n\"\n"
    "(cl-format nil \"~:d ~r ~:r ~@r\" 1234567 42 21 1999) => "
    "\"1,234,567 forty-two twenty-first MCMXCIX\"\n"
    "(cl-format nil \"~{~a~^, ~}\" [1 2 3]) => \"1, 2, 3\"\n"
    "(cl-format nil \"~d item~:p~[ none~; one~:; many~]\" 3 2) => \"3 items many\"\n"
    "(cl-format nil \"~5,'0d|~8a|~x\" 42 \"ab\" 255) => \"00042|ab      |ff\"\n"
    "(cl-format nil \"~a\") !! value_error\n(cl-format nil 5) !! type_error");

PTC_PRELUDE(
    pprint_print_table, "clojure.pprint", "print-table", 1, 2, PTC_B_EFFECT,
    "(print-table keys? rows)",
    "Prints maps as a table with a column for each of the keys, those of the first row when "
    "none are given; gives nil.",
    "(with-out-str (print-table [{:a 1 :b \"xy\"} {:a 22}])) => "
    "\"\\n| :a | :b |\\n|----+----|\\n|  1 | xy |\\n| 22 |    |\\n\"\n"
    "(with-out-str (print-table [:b] [{:a 1 :b 2}])) => \"\\n| :b |\\n|----|\\n|  2 |\\n\"\n"
    "(print-table []) => nil\n(print-table [1]) !! type_error");

PTC_BUILTIN_TABLE(ptc_lib_pprint, pprint_cl_format, pprint_print_table);
