/* SPDX-License-Identifier: MIT
 * print.h - values as PTC-Lisp text, without C recursion. */
#ifndef PTC_VALUE_PRINT_H
#define PTC_VALUE_PRINT_H

#include "base/buf.h"
#include "value/heap.h"

typedef struct PtcPrinter {
    PtcHeap *heap; /* for its budget and ledger; nothing is allocated in it */
    /* Strings quoted and escaped (pr-str); otherwise unquoted, at the top level only (str). */
    bool readable;
    int float_precision; /* -1: shortest */
    /* Names of builtin functions and of records, which the value layer does not know. */
    const char *(*builtin_name)(uint32_t index);
    /* Appends the text of a RECORD, CLOSURE, VAR or LAZY that is not computed; NULL prints a plain #object. */
    bool (*other)(const struct PtcPrinter *printer, PtcBuf *buf, PtcValue v);
} PtcPrinter;

/* Appends the text of v.  False if the buffer is full (what fits is kept) or failed, or the budget stopped. */
bool ptc_print(const PtcPrinter *printer, PtcBuf *buf, PtcValue v);

#endif
