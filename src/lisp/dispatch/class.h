/* SPDX-License-Identifier: MIT
 * class.h - names of classes.  A class is the symbol of its full name, java.lang.String: it can be compared, printed
 * and used as a key, and instance? knows what belongs to it. */
#ifndef PTC_LISP_DISPATCH_CLASS_H
#define PTC_LISP_DISPATCH_CLASS_H

#include "lisp/vm/builtin.h"

/* The full name of a class, from String or java.lang.String; NULL: there is none of this name. */
const char *ptc_class_named(PtcText name);
/* The name without its package, when that is one of Java's or Clojure's; else the name itself. */
PtcText ptc_class_simple(PtcText name);

/* Does v belong to the class of this symbol?  False for symbols that name none. */
bool ptc_class_has(PtcVM *vm, PtcValue symbol, PtcValue v);
/* How many kinds of values belong to a class, roughly: of two that a value belongs to, the smaller is meant.  -1: no
 * class. */
int ptc_class_breadth(PtcValue symbol);
/* Is every value of the class or type `child` one of `parent`?  False for what is neither. */
bool ptc_class_is_below(PtcValue child, PtcValue parent);

#endif
