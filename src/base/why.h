/* SPDX-License-Identifier: MIT
 * why.h - why something was not done: the one shape in which a function that returns false says so.
 *
 * The caller owns the PtcWhy, mostly on its stack, and nothing in it is allocated: it may be copied and forgotten.  A
 * function that fails fills in all of it, so it need not be initialised before the call and means nothing after
 * success, unless a declaration says otherwise.  NULL may be passed by whoever only asks whether.  What is decided is
 * decided by `class` and `code`, never by comparing `text`. */
#ifndef PTC_BASE_WHY_H
#define PTC_BASE_WHY_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/compiler.h"

typedef enum PtcWhyClass {
    PTC_WHY_NONE,        /* nothing failed */
    PTC_WHY_NO_MEMORY,   /* memory ran out; it may work later */
    PTC_WHY_INVALID,     /* what was given is wrong, and stays wrong */
    PTC_WHY_REFUSED,     /* it is well formed, but a rule, a limit or the other side forbids it */
    PTC_WHY_UNAVAILABLE, /* something that it needs is missing, broken or not reached */
    PTC_WHY_LATE,        /* time ran out */
    PTC_WHY_CANCELLED
} PtcWhyClass;

enum { PTC_WHY_TEXT = 776, PTC_WHY_PATH = 320 };

typedef struct PtcWhy {
    PtcWhyClass class;
    int code; /* from the table of the layer that failed; 0: it has none */
    /* For people; what is too long ends in "..." and never inside a character. */
    char text[PTC_WHY_TEXT];
    /* The place in what was given that is meant, such as tools[2].name; "": unknown. */
    char path[PTC_WHY_PATH];
} PtcWhy;

/* No failure so far.  Touches a few bytes, whatever the size. */
static inline void ptc_why_init(PtcWhy *why)
{
    why->class = PTC_WHY_NONE;
    why->code = 0;
    why->text[0] = why->path[0] = '\0';
}

/* Fills in all of it, with no code and no path.  Arguments may point into `why`.  These return false always, so that
 * `return ptc_why_say(...)` ends whatever failed. */
bool ptc_why_say(PtcWhy *why, PtcWhyClass class, const char *format, ...) PTC_PRINTF(3, 4);
bool ptc_why_say_code(PtcWhy *why, PtcWhyClass class, int code, const char *format, ...)
    PTC_PRINTF(4, 5);
bool ptc_why_vsay(PtcWhy *why, PtcWhyClass class, int code, const char *format, va_list args);
/* Memory ran out.  Nothing is formatted. */
bool ptc_why_no_memory(PtcWhy *why);
/* Copies all of it; `from` must have been filled in. */
bool ptc_why_copy(PtcWhy *to, const PtcWhy *from);

/* Puts something in front of the text ("FILE: "), in which arguments may point into `why`; the rest stays as it is. */
bool ptc_why_prefix(PtcWhy *why, const char *format, ...) PTC_PRINTF(2, 3);
/* Says it in other words, into which arguments may point; the rest stays as it is. */
bool ptc_why_reword(PtcWhy *why, const char *format, ...) PTC_PRINTF(2, 3);
/* Says where; the rest stays as it is. */
bool ptc_why_at(PtcWhy *why, const char *format, ...) PTC_PRINTF(2, 3);

#endif
