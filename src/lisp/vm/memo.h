/* SPDX-License-Identifier: MIT
 * memo.h - what memoized functions gave, for the rest of the run.
 *
 * Every VM has a map of its own (vm->memo).  The threads of a pmap share a table beside that, for functions that are
 * older than the pmap: of several threads that ask for the same at once, one calls the function and the others wait for
 * what it gives.  When that call fails, the next of them tries.  Values are copied in and out, so that no thread reads
 * what another may still change.  Afterwards the caller's map takes over what the table holds. */
#ifndef PTC_LISP_VM_MEMO_H
#define PTC_LISP_VM_MEMO_H

#include "lisp/vm/vm.h"

typedef struct PtcMemo PtcMemo;

/* What f gave for these arguments, as this VM remembers it; PTC_NONE: nothing is known (or the budget stopped). */
PtcValue ptc_memo_recall(PtcVM *vm, PtcValue f, PtcValue args);
/* Remembers a result; false: out of memory, or the budget stopped. */
PTC_MUST_USE bool ptc_memo_remember(PtcVM *vm, PtcValue f, PtcValue args, PtcValue result);

typedef enum {
    PTC_MEMO_HIT,  /* another item of the pmap has called it: *result is what it gave */
    PTC_MEMO_CALL, /* call it, then ptc_memo_end */
    PTC_MEMO_STOPPED,
} PtcMemoAnswer;

/* A call that others may wait for. */
typedef struct PtcMemoCall {
    PtcMemo *memo; /* NULL: nobody does */
    size_t entry;
} PtcMemoCall;

/* For what the VM does not remember itself.  f, args and *result must be rooted; may collect, and may wait. */
PTC_MUST_USE PtcMemoAnswer ptc_memo_begin(PtcVM *vm, PtcValue f, PtcValue args,
                                          PtcMemoCall *pending, PtcValue *result);
/* Ends the call; result PTC_NONE: it failed. */
void ptc_memo_end(PtcVM *vm, const PtcMemoCall *pending, PtcValue result);

/* At the end of a pmap, when no other thread works on it: what the table holds becomes part of vm->memo, as far as
 * there is room, and the table is freed.  NULL is fine. */
void ptc_memo_absorb(PtcMemo *memo, PtcVM *vm);

#endif
