/* SPDX-License-Identifier: MIT
 *
 * ptc.h - run PTC-Lisp programs under hard limits.  The only installed header.
 *
 * RULES THAT HOLD FOR THE WHOLE API
 *   Strings are UTF-8, given as pointer and length; they need not end in NUL, and
 *     those we return do end in NUL (not counted in the length).
 *   Ownership: what a function named *_new, *_eval or *_parse returns is freed with
 *     the *_free of its type.  Everything else that is returned is borrowed and lives
 *     as long as the object it was read from.
 *   Failure: functions that return a pointer return NULL, and those that return
 *     PtcStatus something other than PTC_OK, only for wrong arguments or for memory
 *     that could not be had.  A program that fails is not a failure of the call: the
 *     outcome says what happened.
 *   Threads: an engine (Ptc) and the sessions, data and outcomes made from it belong to one
 *     thread at a time; different engines may be used from different threads at once.
 *     Any number of threads may read the values of one PtcData or PtcOutcome at once, while
 *     nobody changes or frees it.  ptc_cancel may be called from any thread.
 *   Lifetimes: an outcome keeps alive what its value refers to, so sessions, data and outcomes
 *     may be freed in any order, all of them before their engine.
 *   Structs begin with their size, set by their *_init function, so that a program built
 *     against an older header goes on working.  PTC_UNSET in a field means "the
 *     default"; 0 means 0.
 *   The library installs no signal handler, reads no locale and keeps no state
 *     outside its handles.  A thread that evaluates needs 512 KiB of C stack. */
#ifndef PTC_PTC_H
#define PTC_PTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PTC_API __attribute__((visibility("default")))
#else
#define PTC_API
#endif

#define PTC_VERSION "0.1.0"
#define PTC_UNSET (-1)

typedef struct Ptc Ptc;               /* an engine: options, limits, caches */
typedef struct PtcSession PtcSession; /* what survives between runs */
typedef struct PtcData PtcData;       /* host-made values in a heap of their own */
typedef struct PtcOutcome PtcOutcome; /* what one run produced */

/* One value, opaque.  Borrowed from a PtcData or PtcOutcome and valid as long as it.
 * 0 is never a value: it means "none" or "failed". */
typedef uint64_t PtcValue;

typedef enum {
    PTC_OK = 0,
    PTC_NO_MEMORY = 1, /* the host's memory, or the handle's own ledger, is used up */
    PTC_BAD_ARGUMENT = 2,
    PTC_BAD_DATA = 3, /* text that is not JSON, or is over a limit */
} PtcStatus;

typedef enum {
    PTC_TYPE_NONE = 0,
    PTC_TYPE_NIL,
    PTC_TYPE_BOOL,
    PTC_TYPE_INT,    /* fits int64_t */
    PTC_TYPE_BIGINT, /* read it with ptc_value_text */
    PTC_TYPE_FLOAT,
    PTC_TYPE_STRING,
    PTC_TYPE_KEYWORD,
    PTC_TYPE_SEQUENCE, /* vectors, lists, ranges */
    PTC_TYPE_MAP,
    PTC_TYPE_SET,
    PTC_TYPE_FUNCTION,
    PTC_TYPE_OTHER, /* vars, regular expressions, dates: read with ptc_value_text */
} PtcType;

/* ------------------------------------------------------------------ limits */

/* Limits for each run.  Every field takes PTC_UNSET for the default in brackets. */
typedef struct {
    size_t size;
    int64_t timeout_ms;    /* compute time, waiting for tools not counted [1000] */
    int64_t deadline_ms;   /* everything [60000] */
    int64_t memory_bytes;  /* live heap of the run [10 MiB] */
    int64_t loop_limit;    /* loop iterations [1000000] */
    int64_t max_depth;     /* nested calls [10000] */
    int64_t max_int_bits;  /* size of an integer [262144] */
    int64_t program_bytes; /* [64 KiB] */
    int64_t context_bytes; /* decoded context [4 MiB] */
    int64_t session_bytes; /* what a session may hold [10 MiB] */
    int64_t print_bytes;   /* printed output kept, the rest is cut [64 KiB] */
    int64_t result_bytes;  /* result text kept, the rest is cut [1 MiB] */
} PtcLimits;

/* Options of an engine. */
typedef struct {
    size_t size;
    const PtcLimits *limits; /* copied by ptc_new; NULL: defaults */
    int64_t float_precision; /* digits after the point in results; PTC_UNSET: shortest */
    int64_t fail_allocation; /* testing: fail the Nth allocation of each run; PTC_UNSET: none */
    int64_t gc_stress;       /* testing: 1 collects at every safepoint */
    /* Milliseconds that only grow, for tests that must not wait; NULL: the system's. */
    int64_t (*clock_ms)(void *user);
    void *clock_user;
} PtcOptions;

/* Fill with defaults; must be called before fields are set.  `size` is sizeof of the struct as the
 * caller knows it, and no byte beyond it is touched. */
PTC_API void ptc_limits_init(PtcLimits *limits, size_t size);
PTC_API void ptc_options_init(PtcOptions *options, size_t size);

/* ------------------------------------------------------------------ engine */

/* A new engine; options may be NULL.  NULL when memory is short or a limit is out of range. */
PTC_API Ptc *ptc_new(const PtcOptions *options);

/* Frees the engine, after its sessions, data and outcomes.  NULL is fine. */
PTC_API void ptc_free(Ptc *ptc);

/* Ends the run that is under way in this engine with kind "cancelled", within 10 ms.  When none is,
 * nothing happens: a run that starts later is not affected.  From any thread. */
PTC_API void ptc_cancel(Ptc *ptc);

/* What one run is given.  All but the program may be left unset. */
typedef struct {
    size_t size;
    const char *program;
    size_t program_len;
    PtcValue context;        /* a map from a PtcData of this engine, or 0 */
    PtcSession *session;     /* NULL: nothing is remembered */
    const PtcLimits *limits; /* NULL: the engine's */
} PtcRun;

PTC_API void ptc_run_init(PtcRun *run, size_t size);

/* Checks, compiles and runs a program.  *out is set whenever PTC_OK is returned, also when the
 * program failed. */
PTC_API PtcStatus ptc_eval(Ptc *ptc, const PtcRun *run, PtcOutcome **out);

/* Takes one batch request as JSON and returns the answer line as JSON (without a line feed); see
 * docs/batch.md for both.  The answer is *out, freed with ptc_text_free. */
PTC_API PtcStatus ptc_eval_json(Ptc *ptc, const char *request, size_t request_len, char **out,
                                size_t *out_len);
PTC_API void ptc_text_free(Ptc *ptc, char *text, size_t len);

/* ----------------------------------------------------------------- outcome */

/* One thing that went wrong.  Texts are borrowed from the outcome.  The reader sets size to
 * sizeof(PtcError) before ptc_outcome_error fills the struct. */
typedef struct {
    size_t size;
    const char *reason;  /* closed set, e.g. "runtime_error" */
    const char *phase;   /* "parse", "check" or "run" */
    const char *kind;    /* closed set, e.g. "type_error" */
    const char *message; /* at most 300 bytes */
    size_t message_len;
    const char *hint; /* how to mend it, may be empty */
    size_t hint_len;
    const char *form; /* the failing form as written, cut to 80 bytes, may be empty */
    size_t form_len;
    uint32_t line;   /* from 1; 0: unknown */
    uint32_t column; /* from 1, in characters */
    uint32_t
        earlier; /* 1: line, column and form are in the text of an earlier program of the session, in which the
                         function that failed was written; 0: in this one */
} PtcError;

PTC_API void ptc_outcome_free(PtcOutcome *outcome);
PTC_API bool ptc_outcome_ok(const PtcOutcome *outcome);
/* The result; 0 when the program failed. */
PTC_API PtcValue ptc_outcome_value(const PtcOutcome *outcome);
/* "return" or "fail" when the program ended so, else NULL. */
PTC_API const char *ptc_outcome_control(const PtcOutcome *outcome);
/* The result as PTC-Lisp text; *cut (may be NULL) tells whether it was cut at result_bytes.
 * NULL when the program failed or memory is short. */
PTC_API const char *ptc_outcome_text(PtcOutcome *outcome, size_t *len, bool *cut);
/* The result as JSON; NULL when it has none (a function, say) or it is over result_bytes. */
PTC_API const char *ptc_outcome_json(PtcOutcome *outcome, size_t *len);
/* Printed lines, oldest first. */
PTC_API size_t ptc_outcome_print_count(const PtcOutcome *outcome);
PTC_API const char *ptc_outcome_print(const PtcOutcome *outcome, size_t index, size_t *len);
PTC_API bool ptc_outcome_prints_cut(const PtcOutcome *outcome);
/* What went wrong, at most ten findings, the first being the one that ended the run. */
PTC_API size_t ptc_outcome_error_count(const PtcOutcome *outcome);
PTC_API bool ptc_outcome_error(const PtcOutcome *outcome, size_t index, PtcError *error);

/* ----------------------------------------------------------------- session */

/* A session remembers `def`s between runs; a run that fails changes none of them. */
PTC_API PtcSession *ptc_session_new(Ptc *ptc);
PTC_API void ptc_session_free(PtcSession *session);
/* Bytes held, and the number of bindings. */
PTC_API size_t ptc_session_bytes(const PtcSession *session);
PTC_API size_t ptc_session_count(const PtcSession *session);

/* ------------------------------------------------------------- host values */

/* A place for values that the host makes; limit in bytes, PTC_UNSET: context_bytes. */
PTC_API PtcData *ptc_data_new(Ptc *ptc, int64_t limit);
PTC_API void ptc_data_free(PtcData *data);

/* Each returns 0 when memory is short or an argument is wrong (text that is not UTF-8, say). */
PTC_API PtcValue ptc_make_nil(void);
PTC_API PtcValue ptc_make_bool(bool b);
PTC_API PtcValue ptc_make_int(PtcData *data, int64_t n);
PTC_API PtcValue ptc_make_float(PtcData *data, double d);
PTC_API PtcValue ptc_make_string(PtcData *data, const char *text, size_t len);
PTC_API PtcValue ptc_make_keyword(PtcData *data, const char *name, size_t len);
PTC_API PtcValue ptc_make_vector(PtcData *data, const PtcValue *items, size_t count);
/* pairs: key, value, key, value ...; a later equal key wins. */
PTC_API PtcValue ptc_make_map(PtcData *data, const PtcValue *pairs, size_t pair_count);
/* Reads JSON text; 0 with a message in error (at most error_size bytes, NUL-ended) when it is
 * not JSON or too large.  error may be NULL. */
PTC_API PtcValue ptc_make_json(PtcData *data, const char *json, size_t len, char *error,
                               size_t error_size);

PTC_API PtcType ptc_value_type(PtcValue value);
/* Each returns false when the value is of another type. */
PTC_API bool ptc_value_bool(PtcValue value, bool *out);
PTC_API bool ptc_value_int(PtcValue value, int64_t *out);
PTC_API bool ptc_value_float(PtcValue value, double *out); /* integers too */
/* Strings and keywords (without the colon). */
PTC_API bool ptc_value_string(PtcValue value, const char **text, size_t *len);
/* Elements of a sequence or set, entries of a map, graphemes of a string; else 0. */
PTC_API size_t ptc_value_count(PtcValue value);
/* Element of a sequence or set, or value of a map entry, by position; 0 when there is none.
 * Constant time but for cons lists. */
PTC_API PtcValue ptc_value_at(PtcValue value, size_t index);
PTC_API PtcValue ptc_value_key_at(PtcValue map, size_t index);
/* By string or keyword, flexible as in programs; 0 when absent. */
PTC_API PtcValue ptc_value_get(PtcValue map, const char *key, size_t len);

/* Any value as text, as `str` gives it in a program: big integers in digits, dates in ISO form, strings as they are,
 * collections as programs write them.  *out is freed with ptc_text_free(ptc, *out, *len).  PTC_BAD_DATA: the text is
 * longer than result_bytes or takes longer than timeout_ms.  Uses the engine, whose thread it must be called from; the
 * value may come from any of its data and outcomes. */
PTC_API PtcStatus ptc_value_text(Ptc *ptc, PtcValue value, char **out, size_t *len);

/* The library's version, "MAJOR.MINOR.PATCH". */
PTC_API const char *ptc_version(void);

#ifdef __cplusplus
}
#endif
#endif
