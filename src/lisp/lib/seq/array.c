/* SPDX-License-Identifier: MIT
 * Java's arrays, which are plain vectors here: reading them is the same, and nothing changes in place, so that aset is
 * left out.  A list is no array: a position in it would have to be walked to. */
#include "lisp/lazy/seq_int.h"
#include "lisp/lib/java/interop.h"

static bool copy_to_vector(PtcVM *vm, const PtcValue *argv, int i, PtcValue *out)
{
    return ptc_as(vm, "clojure.core/vec", 1, &argv[i], out);
}

/* (int-array 3), (int-array 3 init) or (int-array coll). */
static bool new_filled_array(PtcVM *vm, int argc, const PtcValue *argv, PtcValue zero,
                             PtcValue *out)
{
    int64_t n;
    if (!ptc_is_integer(argv[0]))
        return copy_to_vector(vm, argv, argc - 1, out);
    if (!ptc_arg_int(vm, argv, 0, &n))
        return false;
    if (n < 0)
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(NEGATIVE_SIZE), "%lld is not a valid size",
                             (long long)n);
    if (argc == 2 && ptc_is_seqable(argv[1]) && argv[1] != PTC_NIL && !ptc_is_string(argv[1])) {
        PtcValue taken, args[2] = {argv[0], argv[1]};
        return ptc_as(vm, "clojure.core/take", 2, args, &taken) &&
               copy_to_vector(vm, &taken, 0, out);
    }
    PtcValue b = ptc_build_new(vm->heap), x = argc == 2 ? argv[1] : zero;
    for (; b != PTC_NONE && n > 0; n--)
        if (!ptc_tick(&vm->budget, 1) || !ptc_build_add(vm->heap, b, x))
            return false;
    return b != PTC_NONE && ptc_give(out, ptc_build_done(vm->heap, b, 0));
}

#define DEFINE_ARRAY(id, name_, zero_, examples_)                                               \
    PTC_BUILTIN(                                                                                \
        id, "clojure.core", name_, 1, 2, 0, "(" name_ " size init?), (" name_ " coll)",         \
        "A vector in place of an array: of this many elements, or with those of a collection.", \
        examples_)                                                                              \
    {                                                                                           \
        return new_filled_array(vm, argc, argv, zero_, out);                                    \
    }

DEFINE_ARRAY(core_int_array, "int-array", ptc_int(0),
             "(int-array 2) => [0 0]\n(int-array [1 2]) => [1 2]\n(int-array -1) !! value_error")
DEFINE_ARRAY(core_long_array, "long-array", ptc_int(0),
             "(long-array 2 7) => [7 7]\n(long-array :a) !! type_error")
DEFINE_ARRAY(core_short_array, "short-array", ptc_int(0),
             "(short-array 1) => [0]\n(short-array :a) !! type_error")
DEFINE_ARRAY(core_byte_array, "byte-array", ptc_int(0),
             "(byte-array [1 2]) => [1 2]\n(byte-array :a) !! type_error")
DEFINE_ARRAY(core_double_array, "double-array", ptc_flonum(0.0),
             "(double-array 2) => [0.0 0.0]\n(double-array :a) !! type_error")
DEFINE_ARRAY(core_float_array, "float-array", ptc_flonum(0.0),
             "(float-array 1) => [0.0]\n(float-array :a) !! type_error")
DEFINE_ARRAY(core_boolean_array, "boolean-array", PTC_FALSE,
             "(boolean-array 2) => [false false]\n(boolean-array :a) !! type_error")
DEFINE_ARRAY(core_object_array, "object-array", PTC_NIL,
             "(object-array 2) => [nil nil]\n(object-array :a) !! type_error")
DEFINE_ARRAY(core_char_array, "char-array", PTC_NIL,
             "(char-array \"ab\") => [\"a\" \"b\"]\n(char-array :a) !! type_error")

PTC_BUILTIN_EXPR(core_to_array, "clojure.core", "to-array", 1, 1,
                 PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_LIST), "(to-array coll)",
                 "The elements of a collection as a vector, in the place of an array.",
                 "(to-array (list 1 2)) => [1 2]\n(to-array 5) !! type_error",
                 copy_to_vector(vm, argv, 0, out))

PTC_BUILTIN_EXPR(core_into_array, "clojure.core", "into-array", 1, 2, 0, "(into-array class? coll)",
                 "The elements of a collection as a vector, in the place of an array.",
                 "(into-array [1 2]) => [1 2]\n(into-array String [\"a\"]) => [\"a\"]\n"
                 "(into-array 5) !! type_error",
                 copy_to_vector(vm, argv, argc - 1, out))

PTC_BUILTIN_EXPR(core_aclone, "clojure.core", "aclone", 1, 1, 0, "(aclone array)",
                 "The vector itself, which does not change.",
                 "(aclone (int-array [1 2])) => [1 2]\n(aclone 5) !! type_error",
                 copy_to_vector(vm, argv, 0, out))

PTC_BUILTIN(core_alength, "clojure.core", "alength", 1, 1, 0, "(alength array)",
            "The number of elements of a vector.",
            "(alength (int-array 3)) => 3\n(alength 5) !! type_error")
{
    if (!ptc_is_vector(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a vector");
    return ptc_give(out, ptc_int((int64_t)ptc_seq_count(argv[0])));
}

PTC_BUILTIN(core_aget, "clojure.core", "aget", 2, -1, 0, "(aget array i & more)",
            "The element at a position, and so on inside of it; the position must be there.",
            "(aget (int-array [5 6]) 1) => 6\n(aget [[1 2] [3 4]] 1 0) => 3\n"
            "(aget [1] 1) !! index_error\n(aget nil 0) !! type_error")
{
    PtcValue v = argv[0];
    int64_t at;
    for (int i = 1; i < argc; i++) {
        if (!ptc_is_vector(v))
            return ptc_fail_value_type(vm, v, "the array", "a vector");
        if (!ptc_tick(&vm->budget, 1) || !ptc_arg_int(vm, argv, i, &at))
            return false;
        if (at < 0 || (uint64_t)at >= ptc_seq_count(v))
            return ptc_fail(vm, PTC_E_INDEX | PTC_AS(ARRAY_INDEX),
                            "aget: %lld is outside of %zu element%s", (long long)at,
                            ptc_seq_count(v), ptc_seq_count(v) == 1 ? "" : "s");
        v = ptc_seq_nth(v, (size_t)at);
    }
    return ptc_give(out, v);
}

PTC_BUILTIN_TABLE(ptc_lib_array, core_int_array, core_long_array, core_short_array, core_byte_array,
                  core_double_array, core_float_array, core_boolean_array, core_object_array,
                  core_char_array, core_to_array, core_into_array, core_aclone, core_alength,
                  core_aget);
