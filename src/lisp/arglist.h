/* SPDX-License-Identifier: MIT
 * arglist.h - how a function of a program is called, as its author wrote it. */
#ifndef PTC_LISP_ARGLIST_H
#define PTC_LISP_ARGLIST_H

#include "base/buf.h"
#include "value/object.h"

/* Appends "(area w h)", for several arities one after the other: "(area w) (area w h)".  Without a text to take the names
 * from they are arg1, arg2 ...  On one line. */
void ptc_arglist_add(PtcBuf *out, PtcText name, const PtcClosure *f);

#endif
