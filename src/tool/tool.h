/* SPDX-License-Identifier: MIT
 * tool.h - the definition of a tool in the one form that everything else works with. */
#ifndef PTC_TOOL_TOOL_H
#define PTC_TOOL_TOOL_H

#include "base/arena.h"
#include "base/why.h"
#include "tool/expose.h"
#include "tool/wire/preview.h"

enum {
    PTC_TOOL_NAME_MAX = 128, /* bytes */
    PTC_TOOL_ROWS_MAX = 10000,
};

typedef enum {
    PTC_TOOL_NATIVE,   /* a function of the host, a command, a service */
    PTC_TOOL_LLM,      /* a prompt for a model */
    PTC_TOOL_SUBAGENT, /* another agent */
} PtcToolType;

/* ptc_tool_init first.  Strings are UTF-8 with a length; an absent one is NULL. */
typedef struct PtcToolInfo {
    const char *name;
    size_t name_len;
    PtcToolType type;
    const char *signature; /* as it was written */
    size_t signature_len;
    const struct PtcSig *sig; /* the same, parsed; NULL: arguments and results are not checked */
    bool skip_validation;     /* asked for; there must be no signature then */
    const char *description;
    size_t description_len;
    bool cache; /* results are kept by name and arguments */
    PtcExpose expose;
    bool has_native_result; /* only allowed with expose both and cache */
    PtcNativeResult native_result;
    int64_t timeout_ms;  /* of one call; 0: only the run's limits */
    bool serial;         /* never two calls at a time */
    bool on_error_value; /* a failure becomes a value for the program instead of ending it */
    bool uncounted;      /* time inside it counts for no limit except the hard end of the run */
    /* For whoever must decide whether it may be called; nothing here uses them. */
    bool read_only;  /* it changes nothing */
    bool idempotent; /* a second call with the same arguments changes nothing more */
    bool inside;     /* it reaches nothing beyond its arguments and its own definition */
} PtcToolInfo;

/* A native tool with the name, and every option at its default. */
void ptc_tool_init(PtcToolInfo *tool, const char *name, size_t name_len);

/* "native", "llm", "subagent". */
const char *ptc_tool_type_name(PtcToolType type);

/* Can a tool have this name? */
PTC_MUST_USE bool ptc_tool_check_name(const char *name, size_t len, PtcWhy *why);

/* The code of a PtcWhy whose text begins with "tool NAME: "; its path is then the key that is meant, or "". */
enum { PTC_TOOL_NAMED = 1 };

/* Says what is wrong with a tool, with that code.  Always false. */
bool ptc_tool_refuse(PtcWhy *why, const PtcToolInfo *tool, const char *key, const char *format, ...)
    PTC_PRINTF(4, 5);

/* Is the definition in order, apart from its signature's text? */
PTC_MUST_USE bool ptc_tool_check(const PtcToolInfo *tool, PtcWhy *why);

/* The same definition with its strings in the arena; sig is taken over as it is.  False: out of memory. */
PTC_MUST_USE bool ptc_tool_copy(PtcArena *arena, const PtcToolInfo *from, PtcToolInfo *to);

#endif
