/* SPDX-License-Identifier: MIT
 * record.h - records as programs use them: functions, errors; value/record_kinds.h has their kinds. */
#ifndef PTC_LISP_VM_RECORD_H
#define PTC_LISP_VM_RECORD_H

#include "lisp/vm/builtin.h"
#include "value/record_kinds.h"

/* Does calling it choose a function first (dispatch.h)? */
static inline bool ptc_is_dispatch(PtcValue v)
{
    return ptc_is(v, PTC_T_RECORD) &&
           (ptc_obj(v)->aux == PTC_R_METHOD || ptc_obj(v)->aux == PTC_R_MULTI);
}

/* Everything that a program can use as a function, however it was made. */
static inline bool ptc_is_function(PtcValue v)
{
    return ptc_is_builtin(v) || ptc_is(v, PTC_T_CLOSURE) || ptc_is_record(v, PTC_R_FN) ||
           ptc_is_dispatch(v);
}

/* --- exceptions: except.c --- */

/* The class of a PTC_R_ERROR; PTC_C_NONE for everything else. */
PtcThrown ptc_except_class(PtcValue v);

/* As str shows it: the class, the message and the data. */
bool ptc_except_write(const PtcPrinter *printer, PtcBuf *buf, PtcValue error);
/* As it is printed: #error {...}, with data and cause if it is to be whole. */
bool ptc_except_print(const PtcPrinter *printer, PtcBuf *buf, PtcValue error, bool whole);

/* Ends the call with an error of this kind, message (string) and data (map), which ex-data gives.  Always false;
 * without an error when out of memory. */
bool ptc_except_throw(PtcVM *vm, PtcErrorKind kind, PtcValue message, PtcValue data);

/* --- making them --- */

/* A record of n fields; PTC_NONE: out of memory. */
PTC_MUST_USE static inline PtcValue ptc_record_new(PtcVM *vm, unsigned kind, const PtcValue *fields,
                                                   size_t n)
{
    return ptc_record_make(vm->heap, kind, fields, n);
}

/* A PTC_R_FN (invoke.c): `hidden` is the name of the hidden builtin row (without %). */
PTC_MUST_USE PtcValue ptc_fn_record(PtcVM *vm, const char *hidden, const PtcValue *fields,
                                    size_t n);

#endif
