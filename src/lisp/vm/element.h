/* SPDX-License-Identifier: MIT
 * element.h - which element of a collection a builtin was working on when something that takes no nil was given
 * one. */
#ifndef PTC_LISP_VM_ELEMENT_H
#define PTC_LISP_VM_ELEMENT_H

#include "lisp/vm/builtin.h"

/* What is said of every nil where something else belongs. */
#define PTC_ELEMENT_MISSING "a key may be missing or misspelt"

/* An error about a nil came out of what a builtin called: if the element it was at can be found among its arguments,
 * the hint names it.  Else the builtins around it are asked. */
void ptc_element_find(PtcVM *vm, const PtcBuiltin *row, int argc, const PtcValue *argv);
/* The same for an element that is known, of a collection that `walker` ("pmap") walks. */
void ptc_element_tell(PtcVM *vm, const char *walker, size_t index, PtcValue element);

#endif
