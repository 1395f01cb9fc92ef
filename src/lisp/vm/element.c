/* SPDX-License-Identifier: MIT
 * Nothing is recorded while a program runs.  After a failure the arguments of the last function that a builtin
 * called are still above the frame that called the builtin; the argument that is an element of a collection among
 * the builtin's own arguments is the one it was working on. */
#include "lisp/vm/element.h"

#include "base/utf8.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"

enum { ELEMENT_SHOWN_BYTES = 80, MOST_ARGS = 4, MOST_ELEMENTS = 10000 };

void ptc_element_tell(PtcVM *vm, const char *walker, size_t index, PtcValue element)
{
    char shown[ELEMENT_SHOWN_BYTES + 4];
    PtcBuf buf = {.mem = vm->mem, .data = shown, .cap = sizeof shown, .max = ELEMENT_SHOWN_BYTES};
    PtcPrinter printer = ptc_vm_printer(vm, true);
    bool whole = ptc_print(&printer, &buf, element);
    size_t n = ptc_utf8_valid_prefix(shown, buf.len);
    memcpy(shown + n, "...", 4);
    shown[whole ? n : n + 3] = 0;
    ptc_diag_format(vm->error.hint, PTC_HINT_MAX + 1,
                    PTC_ELEMENT_MISSING ": %s was at (nth coll %zu), which is %s", walker, index,
                    shown);
    vm->error.about_nil = false;
}

/* Where the very same value is among the first elements of a collection; -1 when it is not. */
static int64_t find_element_index(PtcVM *vm, PtcValue coll, PtcValue element)
{
    PtcIter it;
    PtcValue x;
    if (!ptc_is_sequential(coll) || !ptc_iter_init(&it, vm->heap, coll))
        return -1;
    for (int64_t i = 0; i < MOST_ELEMENTS && ptc_iter_next(&it, &x); i++)
        if (x == element)
            return i;
    return -1;
}

static bool find_element_argument(PtcVM *vm, const PtcBuiltin *row, int argc, const PtcValue *argv,
                                  PtcValue element)
{
    for (int i = 0; i < argc; i++) {
        int64_t at = find_element_index(vm, argv[i], element);
        if (at >= 0) {
            ptc_element_tell(vm, row->name, (size_t)at, element);
            return true;
        }
    }
    return false;
}

/* The function of the program that v calls: itself, or that of (map f), (partial f x) and kin.  NULL: none is known. */
static const PtcClosure *find_called_closure(PtcValue v)
{
    if (ptc_is(v, PTC_T_CLOSURE))
        return (const PtcClosure *)(uintptr_t)v;
    if (ptc_is_record(v, PTC_R_FN))
        for (size_t i = 0; i < ptc_obj(v)->count; i++)
            if (ptc_is(ptc_record_field(v, i), PTC_T_CLOSURE))
                return (const PtcClosure *)(uintptr_t)ptc_record_field(v, i);
    return NULL;
}

void ptc_element_find(PtcVM *vm, const PtcBuiltin *row, int argc, const PtcValue *argv)
{
    const PtcClosure *closure = NULL;
    for (int i = 0; i < argc && !closure; i++)
        closure = find_called_closure(argv[i]);
    if (!closure) { /* (reduce + coll): the nil itself is the element */
        find_element_argument(vm, row, argc, argv, PTC_NIL);
        return;
    }
    const PtcValue *args = ptc_vm_frame_end(vm) + 1;
    int n = ptc_closure_proto(closure)->params;
    for (int i = n < MOST_ARGS ? n : MOST_ARGS; i-- > 0;)
        if (args + i < vm->stack_limit && ptc_is_obj(args[i]) &&
            find_element_argument(vm, row, argc, argv, args[i]))
            return;
}
