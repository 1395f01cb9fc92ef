/* SPDX-License-Identifier: MIT
 * cells.h - changing a cell on behalf of a program. */
#ifndef PTC_LISP_DISPATCH_CELLS_H
#define PTC_LISP_DISPATCH_CELLS_H

#include "lisp/vm/builtin.h"

/* Stores v; `what` is what the program sees of the cell, such as "an atom".  Fails inside of a pmap for cells from
 * outside. */
PTC_MUST_USE bool ptc_cells_store(PtcVM *vm, PtcValue cell, PtcValue v, const char *what);

#endif
