/* SPDX-License-Identifier: MIT
 * predicate.h - builtins that ask one question about one value. */
#ifndef PTC_LISP_VM_PREDICATE_H
#define PTC_LISP_VM_PREDICATE_H

#include "base/utf8.h"
#include "lisp/vm/builtin.h"
#include "value/str.h"

/* A predicate of clojure.core; `test` is about its argument x. */
#define PTC_PREDICATE(id, name, doc, examples, test) \
    PTC_PREDICATE_OF(id, name, 0, doc, examples, test)
/* One that holds for exactly these kinds of values. */
#define PTC_KIND_PREDICATE(id, name, kinds, doc, examples, test) \
    PTC_PREDICATE_OF(id, name, PTC_TAKES2(0, kinds) | PTC_RULE(KIND_TEST), doc, examples, test)

#define PTC_PREDICATE_OF(id, name, flags, doc, examples, test)                                    \
    PTC_BUILTIN(id, "clojure.core", name, 1, 1, (flags) | PTC_GIVES(PTC_IS_BOOL), "(" name " x)", \
                doc, examples)                                                                    \
    {                                                                                             \
        PTC_UNUSED PtcValue x = argv[0];                                                          \
        *out = ptc_bool(test);                                                                    \
        return true;                                                                              \
    }

/* One grapheme: characters are strings here. */
static inline bool ptc_is_char(PtcVM *vm, PtcValue v)
{
    return ptc_is_string(v) && ptc_str_len(v) > 0 &&
           ptc_utf8_grapheme(&vm->budget, ptc_str_bytes(v), ptc_str_len(v)) == ptc_str_len(v);
}

#endif
