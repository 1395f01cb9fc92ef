/* SPDX-License-Identifier: MIT
 * prelude.h - builtins that are written in the language itself, in prelude/<file>.clj.
 *
 * Their rows have ptc_prelude_run for a C function; everything else about them (number, name, arity, doc) is as for any
 * builtin.  A definition is compiled when it is first called, once in a process, into a heap that belongs to no run and
 * that runs only read.  What always holds:
 *  - a definition sees builtins, hidden ones too (%name), and definitions above it in its file; nothing of a program
 *  - its frames have no place in a program: errors and warnings are those of the form that called it
 *  - it gives no function of its own to a program: (%function "row" x), which can be stored, and no (fn ...) */
#ifndef PTC_LISP_PRELUDE_H
#define PTC_LISP_PRELUDE_H

#include "lisp/read/diag.h"
#include "lisp/vm/builtin.h"

/* A row whose definition is in the file of its namespace.  The flags are those that a C function would have:
 * PTC_B_CALLS when it calls functions of the program. */
#define PTC_PRELUDE(id, ns_, name_, min_, max_, flags_, usage_, doc_, examples_) \
    PTC_BUILTIN_ROW(id, ptc_prelude_run, ns_, name_, min_, max_, flags_, usage_, doc_, examples_)

/* Calls the definition of the builtin that is running. */
bool ptc_prelude_run(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out);

/* The function that defines a row.  PTC_NONE: out of memory, or (a mistake that no build has) `why` says what is wrong
 * with its text. */
PTC_MUST_USE PtcValue ptc_prelude_function(uint32_t row, PtcDiag *why);

/* The row in whose name the prelude fails now: the innermost one that is running. */
uint32_t ptc_prelude_running(const PtcVM *vm);

/* Where a definition is being compiled. */
typedef struct PtcPreludeScope PtcPreludeScope;
/* What a name in it means in its file: a function, PTC_NIL when nothing above has that name, PTC_NONE when out of
 * memory. */
PTC_MUST_USE PtcValue ptc_prelude_named(PtcPreludeScope *scope, const char *name, size_t len);

/* For tests: the ledger behind the heap; how many definitions no call has compiled yet. */
PtcMem *ptc_prelude_mem(void);
size_t ptc_prelude_pending(void);

#endif
