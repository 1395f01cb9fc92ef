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
    PTC_TOOL_ATTEMPTS = 3,
    PTC_TOOL_ATTEMPTS_MAX = 10,
    PTC_TOOL_BASE_MS = 200,
    PTC_TOOL_BASE_MAX_MS = 60 * 1000,
};

/* How often a call is made at most, and how long the first wait is; each further one is twice as long. */
typedef struct PtcToolRetry {
    int64_t attempts, base_ms;
} PtcToolRetry;

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
    bool extra;               /* arguments may have fields that the signature does not name */
    const char *description;
    size_t description_len;
    bool told_whole; /* the description is for a model as a whole, not its first sentence */
    bool cache;      /* results are kept by name and arguments */
    PtcExpose expose;
    bool has_native_result; /* only allowed with expose both and cache */
    PtcNativeResult native_result;
    int64_t timeout_ms;  /* of one call; 0: only the run's limits */
    bool serial;         /* never two calls at a time */
    bool on_error_value; /* a failure becomes a value for the program instead of ending it */
    bool uncounted;      /* time inside it counts for no limit except the hard end of the run */
    PtcToolRetry retry;  /* of a call that may be repeated */
    /* For whoever must decide whether it may be called, or called again. */
    bool read_only;  /* it changes nothing */
    bool idempotent; /* a second call with the same arguments changes nothing more */
    bool inside;     /* it reaches nothing beyond its arguments and its own definition */
} PtcToolInfo;

/* A native tool with the name, and every option at its default. */
void ptc_tool_init(PtcToolInfo *tool, const char *name, size_t name_len);

/* Is a call of it that failed made again when another try may go well?  What reaches nothing outside would only fail
 * again, and models have retries of their own. */
static inline bool ptc_tool_is_retried(const PtcToolInfo *tool)
{
    return tool->retry.attempts > 1 && (tool->read_only || tool->idempotent) && !tool->inside &&
           !tool->uncounted;
}

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
