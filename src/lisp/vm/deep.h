/* SPDX-License-Identifier: MIT
 * deep.h - functions called by builtins, nested deeper than a host's stack may have room for.
 *
 * map calls a function that calls map ...: each level costs C stack.  The first PTC_SHALLOW levels are on the stack of
 * the thread, the others on one of the VM's own, up to PTC_NATIVE_DEPTH of them, or until that stack is used up. */
#ifndef PTC_LISP_VM_DEEP_H
#define PTC_LISP_VM_DEEP_H

#include "lisp/vm/vm.h"

enum { PTC_SHALLOW = 100 };

/* ptc_vm_run of the frame on top, and ptc_vm_builtin, a level deeper; from PTC_SHALLOW levels on. */
PTC_MUST_USE bool ptc_deep_run(PtcVM *vm, PtcValue *out);
PTC_MUST_USE bool ptc_deep_builtin(PtcVM *vm, uint32_t index, int argc, const PtcValue *argv,
                                   PtcValue *out);
/* Is there room for one more level where we are?  Else stops the budget. */
PTC_MUST_USE bool ptc_deep_room(PtcVM *vm);
/* Gives back what the stack took, unless something runs on it. */
void ptc_deep_tidy(PtcVM *vm);

#endif
