/* SPDX-License-Identifier: MIT
 * class.h - names of classes.  A class is the symbol of its full name, java.lang.String: it can be compared, printed and used as a
 * key, and instance? knows what belongs to it. */
#ifndef PTC_LISP_LIB_CLASS_H
#define PTC_LISP_LIB_CLASS_H

#include "base/text.h"

/* The full name of a class, from String or java.lang.String; NULL: there is none of this name. */
const char *ptc_class_named(PtcText name);
/* The name without its package, when that is one of Java's or Clojure's; else the name itself. */
PtcText ptc_class_simple(PtcText name);

#endif
