/* SPDX-License-Identifier: MIT
 *
 * ptc.h - run PTC-Lisp programs under hard limits.  The only header to include; it brings ptc_upstreams.h along.
 *
 * RULES FOR THE WHOLE API
 *   Strings are UTF-8, passed as pointer and length.  Those that we return also end in
 *     NUL, which the length does not count; those that callers pass, and those that
 *     callbacks get, need not.  A pointer to a length that we set may be NULL.
 *   Ownership: what a function named *_new, *_eval or *_parse returns is freed with
 *     the *_free of its type.  Everything else that is returned is borrowed and lives
 *     as long as the object it was read from.
 *   Failure: functions that return a pointer return NULL, and those that return
 *     PtcStatus something other than PTC_OK, only for wrong arguments or when out of
 *     memory.  A program that fails is not a failure of the call: the
 *     outcome says what happened.
 *   Threads: an engine (Ptc) and the sessions, data and outcomes made from it belong to one
 *     thread at a time; different engines may be used from different threads at once.
 *     Any number of threads may read the values of one PtcData or PtcOutcome at once, while
 *     nobody changes or frees it.  ptc_cancel may be called from any thread.
 *   Lifetimes: an outcome keeps alive what its value refers to, so sessions, data and outcomes
 *     may be freed in any order, all of them before their engine.
 *   Structs begin with their size, set by their *_init function, so that a program built
 *     against an older header keeps working.  PTC_UNSET in a field means "the
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

typedef struct Ptc Ptc;                 /* an engine: options, limits, caches */
typedef struct PtcSession PtcSession;   /* what survives between runs */
typedef struct PtcData PtcData;         /* host-made values in a heap of their own */
typedef struct PtcOutcome PtcOutcome;   /* what one run produced */
typedef struct PtcTools PtcTools;       /* tools that programs may call; engines may share them */
typedef struct PtcToolCall PtcToolCall; /* one call of a tool */

/* One value, opaque.  Borrowed from a PtcData, PtcOutcome or PtcSession and valid as long as it.
 * 0 is never a value: it means "none" or "failed". */
typedef uint64_t PtcValue;

typedef enum {
    PTC_OK = 0,
    PTC_NO_MEMORY = 1, /* the host's memory, or the handle's own ledger, is exhausted */
    PTC_BAD_ARGUMENT = 2,
    PTC_BAD_DATA =
        3, /* text that is not JSON, bytes that are not a snapshot, or something over a limit */
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

/* Limits for each run.  Every field takes PTC_UNSET for the default, or a number from 0; the default is in
 * brackets. */
typedef struct {
    size_t size;
    int64_t timeout_ms;     /* compute time, waiting for tools not counted [1000], at most 2^40 */
    int64_t deadline_ms;    /* everything [60000], at most 2^40 */
    int64_t memory_bytes;   /* live heap of the run [10 MiB], at most 2^46 */
    int64_t loop_limit;     /* loop iterations, which time ends anyway [2^62], at most 2^62 */
    int64_t max_depth;      /* nested calls [10000], at most 1000000 */
    int64_t max_int_bits;   /* size of an integer [262144], at most 4194304 */
    int64_t program_bytes;  /* [64 KiB], at most 64 MiB */
    int64_t context_bytes;  /* decoded context [4 MiB], at most 2^46 */
    int64_t session_bytes;  /* what a session may hold after the run [10 MiB], at most 2^46 */
    int64_t print_bytes;    /* printed output kept, the rest is cut [64 KiB], at most 2^31 */
    int64_t result_bytes;   /* result text kept, the rest is cut [1 MiB], at most 2^31 */
    int64_t max_tool_calls; /* in one run, answers from a cache too [2^30], at most 2^30 */
    int64_t tool_bytes; /* tool results alive at once, beside memory_bytes [16 MiB], at most 2^46 */
    int64_t max_workers; /* threads of pmap and pcalls; they share memory_bytes [8], at most 64 */
    int64_t seed;        /* not a limit: where rand and the like start [0], at most 2^62 */
    int64_t check;       /* not a limit: PTC_CHECK_ERROR ... [0], at most 2 */
} PtcLimits;

/* Mistakes found before a program runs: certain ones end it; all are warnings; none is looked for. */
enum { PTC_CHECK_ERROR, PTC_CHECK_WARN, PTC_CHECK_OFF };

/* What a field of PtcLimits may be.  The reader sets size before ptc_limit_range fills the struct. */
typedef struct {
    size_t size;
    const char *name; /* of the field; a constant */
    int64_t normal;   /* the default */
    int64_t most;     /* the largest value; the smallest is 0 */
} PtcLimitRange;

/* The range of the field at an index from 0, in the order of PtcLimits; false beyond the last.  From any thread. */
PTC_API bool ptc_limit_range(size_t index, PtcLimitRange *range);

/* Options of an engine. */
typedef struct {
    size_t size;
    const PtcLimits *limits; /* copied by ptc_new; NULL: defaults */
    int64_t float_precision; /* digits after the point in results; PTC_UNSET: shortest */
    int64_t fail_allocation; /* testing: fail a run's Nth and next allocation; PTC_UNSET: none */
    int64_t gc_stress;       /* testing: 1 collects at every safepoint */
    /* Monotonic milliseconds, for tests that must not wait; NULL: the system's.  With pmap it is called from several
     * threads at once. */
    int64_t (*clock_ms)(void *user);
    void *clock_user;
    int64_t history_depth; /* results that a session keeps as *1 *2 ...: 0 to 9 [3] */
} PtcOptions;

/* Fill with defaults; must be called before fields are set.  `size` is the sizeof of the struct as the caller knows
 * it, and no byte beyond it is touched. */
PTC_API void ptc_limits_init(PtcLimits *limits, size_t size);
PTC_API void ptc_options_init(PtcOptions *options, size_t size);

/* ------------------------------------------------------------------ engine */

/* A new engine; options may be NULL.  NULL if out of memory or a limit is out of range. */
PTC_API Ptc *ptc_new(const PtcOptions *options);

/* The limits of this engine's runs unless they bring their own; borrowed, every field set. */
PTC_API const PtcLimits *ptc_limits_of(const Ptc *ptc);

/* Frees the engine, after its sessions, data and outcomes.  NULL is allowed. */
PTC_API void ptc_free(Ptc *ptc);

/* Ends the current run of this engine with kind "cancelled", within 10 ms.  Without one, nothing happens: a run that
 * starts later is not affected.  From any thread. */
PTC_API void ptc_cancel(Ptc *ptc);

/* What one run is given.  Everything except the program may be left unset. */
typedef struct {
    size_t size;
    const char *program;
    size_t program_len;
    PtcValue context;        /* a map from a PtcData of this engine, or 0 */
    PtcSession *session;     /* NULL: nothing is remembered */
    const PtcLimits *limits; /* NULL: the engine's */
    PtcTools *tools;         /* NULL: none; kept alive until the outcome is freed */
    /* Results of earlier tasks: a map from a PtcData of this engine, or 0.  With a session its journal is used and
     * this is added to it.  A journal is kept if this is not 0 or the session has one. */
    PtcValue journal;
    PtcValue budget; /* what (budget/remaining) returns, such a map; 0: {} */
    /* What the result must be, at most one of the two: a signature, of which the part after -> counts, or a JSON
     * Schema.  The run fails with validation_error if the result is something else, with args_error if the signature
     * or schema is invalid. */
    const char *signature;
    size_t signature_len;
    const char *output_schema;
    size_t output_schema_len;
    /* The time that (Instant/now), (System/currentTimeMillis) and so on return throughout the run, in milliseconds
     * since 1970; 0: the time at which the run begins.  PTC_BAD_ARGUMENT if its year has more than six digits. */
    int64_t now_ms;
} PtcRun;

PTC_API void ptc_run_init(PtcRun *run, size_t size);

/* Checks, compiles and runs a program.  *out is set whenever PTC_OK is returned, even if the program failed. */
PTC_API PtcStatus ptc_eval(Ptc *ptc, const PtcRun *run, PtcOutcome **out);
/* Only looks for mistakes (docs/check.md): nothing runs and no session changes.  The outcome has errors and warnings,
 * and nil as its value. */
PTC_API PtcStatus ptc_check(Ptc *ptc, const PtcRun *run, PtcOutcome **out);

/* Takes one batch request as JSON and returns the answer line as JSON (without a line feed); see
 * docs/batch.md for both.  The answer is *out, freed with ptc_text_free. */
PTC_API PtcStatus ptc_eval_json(Ptc *ptc, const char *request, size_t request_len, char **out,
                                size_t *out_len);
/* Frees a text that a function of this header returned; len is ignored.  NULL is allowed. */
PTC_API void ptc_text_free(Ptc *ptc, char *text, size_t len);

/* ----------------------------------------------------------------- outcome */

/* The closed sets of reasons and kinds; each kind belongs to one reason.
 *   parse_error       parse_error
 *   runtime_error     invalid_form, unbound_var, arity_error, type_error, arithmetic_error, not_callable, index_error,
 *                     value_error, tool_error, unknown_tool, invalid_tool_args, tool_denied, tool_call_limit_exceeded,
 *                     thrown, loop_limit_exceeded, depth_exceeded, size_exceeded, cancelled,
 *                     suspended, unknown_key
 *   validation_error  validation_error
 *   fail              fail
 *   timeout           timeout, deadline
 *   memory_limit      memory_exceeded, memory_limit
 *   args_error        args_error
 * The kind at an index from 0, and its reason (`reason` may be NULL); NULL beyond the last.  A constant. */
PTC_API const char *ptc_error_kind_at(size_t index, const char **reason);

/* One thing that went wrong.  Texts are borrowed from the outcome.  The reader sets size to
 * sizeof(PtcError) before ptc_outcome_error fills the struct. */
typedef struct {
    size_t size;
    const char *reason;  /* one of the set above, e.g. "runtime_error" */
    const char *phase;   /* "parse", "check" or "run" */
    const char *kind;    /* one of the set above, e.g. "type_error" */
    const char *message; /* at most 300 bytes */
    size_t message_len;
    const char *hint; /* how to fix it, may be empty */
    size_t hint_len;
    const char *form; /* the failing form as written, cut to 80 bytes, may be empty */
    size_t form_len;
    uint32_t line;   /* from 1; 0: unknown */
    uint32_t column; /* from 1, in characters */
    /* 1: these are in the text of an earlier program of the session, whose function failed; 0: in this one */
    uint32_t earlier;
} PtcError;

PTC_API void ptc_outcome_free(PtcOutcome *outcome);
PTC_API bool ptc_outcome_ok(const PtcOutcome *outcome);
/* The result; 0 when the program failed. */
PTC_API PtcValue ptc_outcome_value(const PtcOutcome *outcome);
/* "return" or "fail" if the program ended that way, else NULL. */
PTC_API const char *ptc_outcome_control(const PtcOutcome *outcome);
/* The result as PTC-Lisp text; *cut (may be NULL) says whether it was cut at result_bytes.  NULL if the program
 * failed or out of memory. */
PTC_API const char *ptc_outcome_text(PtcOutcome *outcome, size_t *len, bool *cut);
/* The result as JSON; NULL if it has no JSON form (a function, for example) or exceeds result_bytes. */
PTC_API const char *ptc_outcome_json(PtcOutcome *outcome, size_t *len);
/* Why there is no JSON: "a function at rows[0].f", "its JSON is longer than 1048576 bytes".  NULL if there is, if the
 * program failed or if out of memory.  *too_long (may be NULL) says which of the two it is. */
PTC_API const char *ptc_outcome_json_problem(PtcOutcome *outcome, size_t *len, bool *too_long);
/* Printed lines, oldest first. */
PTC_API size_t ptc_outcome_print_count(const PtcOutcome *outcome);
PTC_API const char *ptc_outcome_print(const PtcOutcome *outcome, size_t index, size_t *len);
PTC_API bool ptc_outcome_prints_cut(const PtcOutcome *outcome);
/* What went wrong, at most ten findings, the first being the one that ended the run. */
PTC_API size_t ptc_outcome_error_count(const PtcOutcome *outcome);
PTC_API bool ptc_outcome_error(const PtcOutcome *outcome, size_t index, PtcError *error);

/* What ran but is probably wrong; never a failure, and reported for failed runs too.  Texts are borrowed from the
 * outcome.  The reader sets size to sizeof(PtcWarning) before ptc_outcome_warning fills the struct. */
typedef struct {
    size_t size;
    const char *kind;    /* "unknown_data" and others; docs/language.md lists them */
    const char *message; /* at most 300 bytes */
    size_t message_len;
    const char *hint; /* the nearest name, or how to fix it; may be empty */
    size_t hint_len;
    uint32_t line, column; /* from 1, columns in characters */
    uint32_t earlier;      /* as in PtcError */
    const char *phase;     /* "check" or "run" */
} PtcWarning;

/* At most ten, in the order of the program, one per place. */
PTC_API size_t ptc_outcome_warning_count(const PtcOutcome *outcome);
PTC_API bool ptc_outcome_warning(const PtcOutcome *outcome, size_t index, PtcWarning *warning);

/* ----------------------------------------------------------------- session */

/* A session remembers `def`s between runs; a run that fails changes none of them.  *1 is the result of its last
 * successful run, *2 of the one before, and so on (history_depth of them); of a result larger than 64 KiB only a
 * string that says so is kept. */
PTC_API PtcSession *ptc_session_new(Ptc *ptc);
PTC_API void ptc_session_free(PtcSession *session);

/* Bytes in use, history included, and the number of bindings, without history.  0 for NULL. */
PTC_API size_t ptc_session_bytes(PtcSession *session);
PTC_API size_t ptc_session_count(const PtcSession *session);

/* Names in the order of their first definition, index from 0 to count - 1; NULL beyond.  The value of a name
 * (including *1), 0 if it has none.  Both are borrowed until the session runs a program, changes or is freed. */
PTC_API const char *ptc_session_name(PtcSession *session, size_t index, size_t *len);
PTC_API PtcValue ptc_session_value(const PtcSession *session, const char *name, size_t len);

/* Binds a name to a copy of a value from a PtcData, PtcOutcome or session of the same engine.  PTC_BAD_ARGUMENT: def
 * would not accept the name, or the value is foreign.  PTC_BAD_DATA: the session would exceed session_bytes.  Nothing
 * changes then. */
PTC_API PtcStatus ptc_session_set(PtcSession *session, const char *name, size_t len,
                                  PtcValue value);

/* Unbinds a name; false if it was not bound.  Functions that use it fail when they get there. */
PTC_API bool ptc_session_forget(PtcSession *session, const char *name, size_t len);
/* Everything: bindings, history, journal, aliases of namespaces, cached results of tools.  PTC_NO_MEMORY: nothing was
 * forgotten. */
PTC_API PtcStatus ptc_session_forget_all(PtcSession *session);

/* What is bound, as JSON, freed with ptc_text_free:
 *   {"count":2, "bytes":n, "limit":n, "bindings":[...], "history":[...]}
 * where a binding is {"name", "type", "bytes", "preview"} and a function has "arities", a list of
 * [least, most] arguments (most null: any number), and "doc" when it has one.  What several bindings share counts
 * toward the bytes of each.  Previews are cut to 160 bytes; they are program data, not to be trusted. */
PTC_API PtcStatus ptc_session_inspect(PtcSession *session, char **out, size_t *out_len);

/* The session as bytes, freed with ptc_text_free: bindings, history, journal and aliases, but not the
 * cached results of tools.  Functions are stored as their source and the values they captured, never as
 * code; tools they call are known by name.  The bytes end in a tag (HMAC-SHA-256) made with `key`, 16
 * bytes or more, which only the host should know; they are not encrypted.  As long as nothing runs in the
 * session its bytes stay the same, also after a restore.
 * PTC_BAD_DATA: something cannot be stored, or a limit was reached; error (may be NULL) then names the
 * binding.  *out is set only with PTC_OK. */
PTC_API PtcStatus ptc_session_snapshot(PtcSession *session, const void *key, size_t key_len,
                                       char **out, size_t *out_len, char *error, size_t error_size);

/* A session from such bytes, in any engine, with the history depth it had.  PTC_BAD_DATA: the tag does not match the
 * bytes and the key, the bytes are of another version, or the session is larger than session_bytes; error says
 * which.  Takes at most timeout_ms. */
PTC_API PtcStatus ptc_session_restore(Ptc *ptc, const void *key, size_t key_len, const void *bytes,
                                      size_t len, PtcSession **out, char *error, size_t error_size);

/* ------------------------------------------------------------------- tools */

typedef enum {
    PTC_TOOL_ANSWERED = 0, /* one of ptc_call_return* or ptc_call_fail was called */
    PTC_TOOL_PENDING = 1, /* one of them will be, once, from any thread; needs PtcToolDef.pending */
} PtcToolAnswer;

/* Does the work of one call.  With pmap, and with engines that share tools, it is called from several threads at once
 * unless PtcToolDef.serial is set.  It may block; ptc_call_cancelled says when nobody waits any longer. */
typedef PtcToolAnswer (*PtcToolFn)(PtcToolCall *call, void *user);

/* For PtcToolDef.preview "function": makes what a model sees of a large result.  The value is made in
 * `data`; 0 falls back to the "metadata" preview. */
typedef PtcValue (*PtcPreviewFunction)(PtcValue result, PtcData *data, void *user);

/* One tool.  Only name and function must be set; texts are copied. */
typedef struct {
    size_t size;
    const char *name; /* as in (tool/name ...) */
    size_t name_len;
    PtcToolFn function;
    void *user;
    void (*free_user)(void *user); /* NULL: nothing is done with user when the tools are freed */
    const char *type;              /* "native", "llm", "subagent"; NULL: "native" */
    const char *signature; /* "(query :string) -> [:any]"; NULL: arguments are not checked */
    size_t signature_len;
    bool skip_validation; /* the signature is only shown, not enforced */
    const char *description;
    size_t description_len;
    bool cache;          /* the same arguments give the same result: keep it */
    const char *expose;  /* "native", "ptc_lisp", "both"; NULL: by mode */
    const char *preview; /* "metadata", "rows", "function": needs expose both and cache; or NULL */
    int64_t preview_limit; /* rows shown [20] */
    PtcPreviewFunction preview_function;
    int64_t timeout_ms;  /* for one call [only the run's deadline] */
    bool serial;         /* one call at a time */
    bool on_error_value; /* a failure gives {:ok false, :message "..."} instead of a tool_error */
    bool pending;        /* the function may answer PTC_TOOL_PENDING */
    bool read_only;      /* it changes nothing; a hint for clients, like the next one */
    bool idempotent;     /* a second call with the same arguments changes nothing more */
    bool extra; /* it takes arguments that its signature does not name; else they are errors */
} PtcToolDef;

PTC_API void ptc_tool_def_init(PtcToolDef *def, size_t size);

/* An empty set of tools, belonging to no particular engine.  NULL: out of memory. */
PTC_API PtcTools *ptc_tools_new(void);
/* Adds a tool; before the first run that is given the tools.  PTC_BAD_ARGUMENT with a message in error (ends in NUL; or
 * NULL) for an invalid or duplicate name, an invalid signature, or options that do not go together. */
PTC_API PtcStatus ptc_tools_add(PtcTools *tools, const PtcToolDef *def, char *error,
                                size_t error_size);
/* Gives up the caller's hold; current runs and calls keep theirs. */
PTC_API void ptc_tools_free(PtcTools *tools);
PTC_API size_t ptc_tools_count(const PtcTools *tools);
/* Name, signature and description of a tool by index, NULL beyond the last; "" if it has none. */
PTC_API const char *ptc_tools_name(const PtcTools *tools, size_t index);
PTC_API const char *ptc_tools_signature(const PtcTools *tools, size_t index);
PTC_API const char *ptc_tools_description(const PtcTools *tools, size_t index);

/* Who may call a tool in an agent of this mode: "native" (the model itself), "ptc_lisp" (its programs) or "both".
 * output is "text" or "ptc_lisp", transport "content", "tool_call" or NULL.  NULL when there is no such
 * tool or word. */
PTC_API const char *ptc_tools_expose(const PtcTools *tools, size_t index, const char *output,
                                     const char *transport);
/* Indexes of the tools for which that is one of `layers` ("native,both"), in order: at most max of them in indexes.
 * Returns how many there are. */
PTC_API size_t ptc_tools_filter(const PtcTools *tools, const char *output, const char *transport,
                                const char *layers, size_t *indexes, size_t max);

/* Calls a tool for a model, without a program: arguments as a JSON object, checked and cached as in a program; with a
 * session (may be NULL) both share the cache.  *ok: *out is the result as JSON, or its preview if the tool has one;
 * otherwise it is an error message.  Freed with ptc_text_free.  ptc_cancel ends it.  PTC_BAD_ARGUMENT: there is no
 * such tool, or the session belongs to another engine. */
PTC_API PtcStatus ptc_tools_call(Ptc *ptc, PtcSession *session, PtcTools *tools, const char *name,
                                 size_t name_len, const char *args, size_t args_len, bool *ok,
                                 char **out, size_t *out_len);

/* -------------------------------------------------------------- signatures */

/* Each reads a signature such as "(id :int) -> {name :string}"; PTC_BAD_DATA with the place and reason in error
 * (NUL-terminated, may be NULL) if it is invalid.  Texts are freed with ptc_text_free.  From the engine's thread. */

/* Is it valid? */
PTC_API PtcStatus ptc_signature_check(Ptc *ptc, const char *signature, size_t len, char *error,
                                      size_t error_size);
/* Is the value what it says after ->?  *issues is a JSON list of {"path": ["rows", 0, "id"], "message"}, "[]" if it
 * is. */
PTC_API PtcStatus ptc_signature_validate(Ptc *ptc, const char *signature, size_t len,
                                         PtcValue value, char **issues, size_t *issues_len,
                                         char *error, size_t error_size);
/* The JSON Schema of the parameters, or of the result, in the form that providers accept. */
PTC_API PtcStatus ptc_signature_schema(Ptc *ptc, const char *signature, size_t len, bool parameters,
                                       char **json, size_t *json_len, char *error,
                                       size_t error_size);

/* ------------------------------------------------- inside a tool's function */

/* Only while the function runs, on its thread: the name, the arguments (a map with string keys), the arguments as JSON
 * text (NULL: out of memory), and a place to make the result in. */
PTC_API const char *ptc_call_name(const PtcToolCall *call, size_t *len);
PTC_API PtcValue ptc_call_args(const PtcToolCall *call);
PTC_API const char *ptc_call_args_json(PtcToolCall *call, size_t *len);
PTC_API PtcData *ptc_call_data(PtcToolCall *call);
/* Has everybody stopped waiting for the answer (cancelled, timed out)?  From any thread, until the call is answered. */
PTC_API bool ptc_call_cancelled(PtcToolCall *call);
/* Milliseconds until the call times out; from any thread. */
PTC_API int64_t ptc_call_time_left_ms(PtcToolCall *call);

/* Each ends the call; exactly one of them must be called, once.  False means that the answer came too late or was not
 * understood (the call has then failed).  ptc_call_return only inside the function, with a value made in
 * ptc_call_data or taken from the arguments.  The others from any thread; texts are copied, and JSON is turned into
 * values at once. */
PTC_API bool ptc_call_return(PtcToolCall *call, PtcValue value);
PTC_API bool ptc_call_return_json(PtcToolCall *call, const char *json, size_t len);
PTC_API bool ptc_call_fail(PtcToolCall *call, const char *message, size_t len);

/* One call that a run made.  Texts are borrowed from the outcome and cut to about 1 KiB. */
typedef struct {
    size_t size;
    const char *name;
    size_t name_len;
    const char *arguments; /* PTC-Lisp text */
    size_t arguments_len;
    const char *result; /* PTC-Lisp text, or the error's message */
    size_t result_len;
    bool ok;
    bool cached;
    const char *layer; /* "program" or "native" */
    int64_t duration_us;
} PtcToolRecord;

/* Tool calls in the order of the program; at most 10,000 are recorded, *total (may be NULL) counts all. */
PTC_API size_t ptc_outcome_tool_count(const PtcOutcome *outcome, size_t *total);
PTC_API bool ptc_outcome_tool(PtcOutcome *outcome, size_t index, PtcToolRecord *record);
/* The journal after the run, kept even if it failed: a map, or 0 if there is none. */
PTC_API PtcValue ptc_outcome_journal(const PtcOutcome *outcome);
/* What (step-done id summary) reported: a map from id to text, or 0. */
PTC_API PtcValue ptc_outcome_summaries(const PtcOutcome *outcome);

/* ------------------------------------------------------------- lisp_eval */

/* The tool `lisp_eval` as models see it; docs/protocol.md describes it.  A profile says what else the model can do. */
typedef enum {
    PTC_PROFILE_IN_PROCESS_WITH_APP_TOOLS = 0, /* programs call tools; it is the only native tool */
    PTC_PROFILE_IN_PROCESS_TEXT_MODE = 1,      /* it is offered beside native tools */
    PTC_PROFILE_MCP_NO_TOOLS = 2,              /* programs have only their context */
} PtcProfile;

/* The description of the tool, and the whole tool in OpenAI's function format (JSON).  Constants that live as long as
 * the library; NULL for an unknown profile.  From any thread. */
PTC_API const char *ptc_tool_description(PtcProfile profile);
PTC_API const char *ptc_tool_schema(PtcProfile profile);

/* The language on a card, about 1 KiB: what a model that has never seen PTC-Lisp needs to write working programs.
 * `tools`: they may call tools.  A constant, from any thread. */
PTC_API const char *ptc_language_card(bool tools);

/* How much of a run an answer shows; a field is PTC_UNSET for its [default], or 0 to 1048576. */
typedef struct {
    size_t size;
    int64_t feedback_max_chars; /* errors in the feedback [512] */
    int64_t preview_max_chars;  /* said of a stored value; the value of (fail v) [250] */
    int64_t max_print_length;   /* each printed line in `prints` [1048576] */
    int64_t memory_names;       /* stored names that are listed [200] */
    int64_t output_max_bytes;   /* bytes, not characters: prints and result together [4096] */
} PtcFormatOptions;

typedef struct {
    size_t size;
    const PtcFormatOptions *format; /* NULL: defaults */
    /* The session of the run: the answer says what is stored in it and what the run changed.  Must be used before the
     * next run in it.  NULL: the run is independent. */
    PtcSession *session;
    /* The result as a validated JSON value, without line feeds; it is written unchanged.  NULL: the result itself if
     * the run was checked against a signature or schema, else none. */
    const char *validated_json;
    size_t validated_json_len;
} PtcPayloadOptions;

/* Fill with defaults; as ptc_limits_init. */
PTC_API void ptc_format_options_init(PtcFormatOptions *options, size_t size);
PTC_API void ptc_payload_options_init(PtcPayloadOptions *options, size_t size);

/* The answer of `lisp_eval` for a run, success or error: one line of JSON, without a line feed.  Borrowed from the
 * outcome until the next call for it.  options may be NULL.  NULL if out of memory, an option is out of range, or the
 * session is not the run's. */
PTC_API const char *ptc_outcome_payload(PtcOutcome *outcome, const PtcPayloadOptions *options,
                                        size_t *len);

/* ------------------------------------------------------------------ agents */

/* An agent is a mission for a language model: a prompt, tools, limits, and what the answer must be (docs/agents.md).  A
 * PtcAgent says what it is, a PtcMission is one run of it, or a conversation, and a PtcLlm opens models by name.  None
 * of them needs an engine.
 *
 * Threads: any number of threads may use one PtcAgent or PtcLlm at once.  A mission belongs to one thread at a time,
 *   except for ptc_mission_cancel.  That thread needs 1 MiB of C stack, and 512 KiB more for each level below.
 * Lifetimes: a mission holds its agent.  Missions are freed before the PtcLlm that they were given.
 * Errors: a function that takes `error` (may be NULL) writes there what was wrong, ending in NUL, whenever it does not
 *   return PTC_OK.
 * Texts without a length end in NUL: names of files, models and tools. */
typedef struct PtcModelHost PtcLlm;
typedef struct PtcAgentDef PtcAgent;
typedef struct PtcMission PtcMission;
typedef struct PtcAsk PtcAsk; /* a request to a model that is a function of the host */

/* Where models come from.  Everything may be left unset. */
typedef struct {
    size_t size;
    const char *dotenv;  /* a .env file with keys, which need not exist; NULL: none */
    const char *aliases; /* a file with more aliases (docs/providers.md); NULL: none */
    /* A file, created or replaced, in which models record what they are asked and what they reply (docs/replay.md),
     * without keys; the model "replay:FILE" replays it.  NULL: none. */
    const char *record;
    bool replay_loose; /* replays use the recorded replies in order, whatever is asked */
    /* Reads a variable instead of the environment, from any thread; NULL: it is not set.  What it returns must live
     * as long as the PtcLlm. */
    const char *(*variable)(void *user, const char *name);
    void *variable_user;
} PtcLlmOptions;

PTC_API void ptc_llm_options_init(PtcLlmOptions *options, size_t size);
/* options may be NULL.  Nothing is loaded or connected before a model is asked.  PTC_BAD_DATA: a file is unusable. */
PTC_API PtcStatus ptc_llm_new(const PtcLlmOptions *options, PtcLlm **out, char *error,
                              size_t error_size);
/* Frees it in any case.  PTC_BAD_DATA: the record could not be written completely.  NULL is allowed. */
PTC_API PtcStatus ptc_llm_free(PtcLlm *llm, char *error, size_t error_size);

/* What an agent is made from: the text of an agent file, or its path.  The rest may be left unset. */
typedef struct {
    size_t size;
    const char *json; /* one of these: the text ... */
    size_t json_len;
    const char *path; /* ... or a file, which may name other files */
    /* Functions of the host as tools, in addition to those of the file.  The agent holds the set, to which no more
     * tools may be added.  A function is called on the threads of missions, on several at once. */
    PtcTools *tools;
    /* Agents as tools: their names, and as many agents, which this one holds. */
    const char *const *child_names;
    PtcAgent *const *children;
    size_t child_count;
    PtcLlm *llm; /* models that the file names are looked up here now; NULL: when they are needed */
    bool allow_commands; /* the file may have tools of the kinds command ... */
    bool allow_http;     /* ... and http */
    /* Tokens of a text, for compaction; from any thread.  NULL: a quarter of its characters. */
    int64_t (*count_tokens)(void *user, const char *text, size_t len);
    void *count_tokens_user;
    /* For ptc_mission_compile: the agent has one turn unless the text says otherwise, and with tools two more for an
     * answer. */
    bool compile;
    /* json is what ptc_mission_compiled gave: the agent runs its program, and no model is asked for it.  Functions and
     * agents that the program uses as tools must be given as before. */
    bool compiled;
} PtcAgentSource;

PTC_API void ptc_agent_source_init(PtcAgentSource *source, size_t size);
/* PTC_BAD_ARGUMENT: json and path are both set, or neither is; or compiled together with path or compile.
 * PTC_BAD_DATA: the agent is invalid; error has the path of the field, what was found and what is allowed. */
PTC_API PtcStatus ptc_agent_new(const PtcAgentSource *source, PtcAgent **out, char *error,
                                size_t error_size);
/* Gives up the caller's hold; missions and parents keep theirs.  NULL is allowed. */
PTC_API void ptc_agent_free(PtcAgent *agent);

/* Answers a request as a model: calls one of ptc_ask_reply, ptc_ask_text and ptc_ask_fail, and returns.  It may
 * block.  Agents that run in parallel call it from several threads at once. */
typedef void (*PtcAskFn)(PtcAsk *ask, void *user);

/* Only inside the function.  The request as JSON (docs/replay.md; NULL: out of memory), and the path of tool names to
 * the agent that asks, "" for the top one. */
PTC_API const char *ptc_ask_json(PtcAsk *ask, size_t *len);
PTC_API const char *ptc_ask_agent(const PtcAsk *ask, size_t *len);
/* Has everybody stopped waiting for the reply, and if not, how long will they wait? */
PTC_API bool ptc_ask_cancelled(const PtcAsk *ask);
PTC_API int64_t ptc_ask_time_left_ms(const PtcAsk *ask);
/* A piece of the text that the reply will have, for the observer.  False: no more of it is wanted. */
PTC_API bool ptc_ask_stream(PtcAsk *ask, const char *text, size_t len);
/* Each gives the reply, once; false: there was one already, or this is not a reply and the request has failed.  A
 * reply as JSON (docs/replay.md), a text, or a failure of one of the classes there ("rate_limit"; NULL: "unknown"),
 * after which agents may ask again.  A function that gives no reply has failed. */
PTC_API bool ptc_ask_reply(PtcAsk *ask, const char *json, size_t len);
PTC_API bool ptc_ask_text(PtcAsk *ask, const char *text, size_t len);
PTC_API bool ptc_ask_fail(PtcAsk *ask, const char *failure, const char *message, size_t len);

typedef enum {
    PTC_MISSION_BEGAN = 0, /* an agent, the top one or one that is a tool */
    PTC_MISSION_ENDED,     /* ok, reason */
    PTC_MISSION_ASKED,
    PTC_MISSION_ANSWERED,      /* ok, text (or what went wrong), reason, tokens, calls */
    PTC_MISSION_PROGRAM_BEGAN, /* text */
    PTC_MISSION_PROGRAM_ENDED, /* ok, reason */
    PTC_MISSION_CALLED,        /* calls: native ones that have ended */
    PTC_MISSION_TURN_ENDED,    /* ok, reason */
    PTC_MISSION_TEXT, /* text: a piece of the top agent's answer, of agents in text mode without tools */
} PtcMissionEventKind;

/* What happened.  Texts are valid only during the call. */
typedef struct {
    size_t size;
    PtcMissionEventKind kind;
    uint64_t run, parent; /* number of this agent's run, from 1, and of its parent's; 0: none */
    const char *agent;    /* path of tool names, "" for the top one */
    size_t agent_len;
    int64_t turn;               /* from 1 */
    int64_t at_us, duration_us; /* time since the mission began; duration of what ended */
    bool ok;
    const char *reason; /* not ok: why, a word; else NULL */
    const char *text;
    size_t text_len;
    size_t calls;
    int64_t input_tokens, output_tokens;
    size_t link; /* agent of a chain, from 0; numbers of runs and times begin anew with each */
} PtcMissionEvent;

/* Called from the threads of a mission, one at a time.  It may call ptc_mission_cancel, but no other function for the
 * mission. */
typedef void (*PtcMissionWatch)(void *user, const PtcMissionEvent *event);

/* What one run is given.  Everything may be left unset; what is pointed to is copied, except the PtcLlm. */
typedef struct {
    size_t size;
    PtcLlm *llm;       /* opens models by name; NULL: no model can be named */
    const char *model; /* the model, as `ptc run --llm` takes it; NULL: the agent's own */
    PtcAskFn ask;      /* or a function as the model; NULL: none */
    void *ask_user;
    const char *context; /* the data, a JSON object; NULL: none */
    size_t context_len;
    const char *journal; /* tasks that earlier runs have done, a JSON object; NULL: none */
    size_t journal_len;
    const char *memory; /* definitions to begin with, a JSON object; NULL: none */
    size_t memory_len;
    const char *messages; /* an earlier conversation to continue, a JSON list; NULL: none */
    size_t messages_len;
    int64_t token_limit;    /* of all agents together; PTC_UNSET: none */
    bool return_partial;    /* beyond it: the latest value that fits is the answer; else an error */
    int64_t llm_timeout_ms; /* of one request; PTC_UNSET: the model's */
    bool collect_messages;  /* the outcome has `messages` */
    bool without_times;     /* the outcome has no durations, so that two can be compared */
    PtcMissionWatch watch;  /* NULL: no observer */
    void *watch_user;
    /* Called before each request and after each reply, with the totals of all agents; true ends the run.  Threads as
     * for `watch`. */
    bool (*stop)(void *user, int64_t requests, int64_t input_tokens, int64_t output_tokens);
    void *stop_user;
    /* Agents that follow this one in a chain, at most 31; held.  The answer of each is the context of the next, and
     * the outcome is that of the last (docs/agents.md).  Context, journal, memory and messages are the first one's;
     * model, ask and the limits hold for all. */
    PtcAgent *const *then;
    size_t then_count;
    /* Takes a line of the trace (docs/trace.md), with its line feed; false: no more are wanted.  Threads as for
     * `watch`; keys are removed.  NULL: no trace. */
    bool (*trace)(void *user, const char *line, size_t len);
    void *trace_user;
} PtcMissionOptions;

PTC_API void ptc_mission_options_init(PtcMissionOptions *options, size_t size);
/* options may be NULL.  PTC_BAD_ARGUMENT: model and ask are both set, or model without llm, or the chain is too long or
 * has a NULL in it.  PTC_BAD_DATA: there is no such model, or messages is not a conversation. */
PTC_API PtcStatus ptc_mission_new(PtcAgent *agent, const PtcMissionOptions *options,
                                  PtcMission **out, char *error, size_t error_size);
/* Not while it runs.  NULL is allowed. */
PTC_API void ptc_mission_free(PtcMission *mission);

typedef enum {
    PTC_CHUNK_LINES = 0,
    PTC_CHUNK_CHARS,
    PTC_CHUNK_TOKENS /* of 4 characters */
} PtcChunkUnit;

/* Before it runs: puts a text into its context in pieces, a list of strings under a key.  Pieces have `size` units
 * and share `overlap` units with the next; there are at most 100,000.  Nothing is borrowed.  PTC_BAD_ARGUMENT: size
 * is less than 1, or overlap is not smaller than size.  PTC_BAD_DATA: the text is not UTF-8 or has too many pieces,
 * or the context is no object; error says which, and the context is as before. */
PTC_API PtcStatus ptc_mission_chunk(PtcMission *mission, const char *key, const char *text,
                                    size_t len, PtcChunkUnit unit, int64_t size, int64_t overlap,
                                    char *error, size_t error_size);
/* Runs it to its end, once.  PTC_OK means that it has ended, not that it succeeded: the outcome says which. */
PTC_API PtcStatus ptc_mission_run(PtcMission *mission);
/* In place of ptc_mission_run, a conversation: runs the agent for a message of a user, which replaces the prompt
 * unchanged.  It may be called any number of times.  Messages, definitions, *1, journal and cache are kept; turns,
 * tokens and time start afresh.  The outcome is that of the last message.  PTC_NO_MEMORY also if what was said could
 * not be kept; PTC_BAD_ARGUMENT also for a chain. */
PTC_API PtcStatus ptc_mission_say(PtcMission *mission, const char *message, size_t len);
/* In place of both, compiles the agent, which must have been made with `compile`: runs it once on the context, with
 * values made up for parameters that are missing, then runs the program that gave the answer again by itself, where
 * it must give a fitting answer too.  The outcome is that of the run.  PTC_BAD_ARGUMENT: the agent was made without
 * `compile`, or is a chain.  PTC_BAD_DATA: there is no program to keep, and error says why. */
PTC_API PtcStatus ptc_mission_compile(PtcMission *mission, char *error, size_t error_size);
/* The compiled agent, as `ptc run --compile` writes it: JSON text for PtcAgentSource.compiled, borrowed from the
 * mission; NULL: there is none. */
PTC_API const char *ptc_mission_compiled(const PtcMission *mission, size_t *len);
/* Ends the current run with reason "cancelled", within 200 ms; if there is none, the next one.  From any thread,
 * until the mission is freed. */
PTC_API void ptc_mission_cancel(PtcMission *mission);

/* The outcome, after ptc_mission_run or ptc_mission_say; texts are borrowed from the mission until the next of these
 * calls.  All of it as a JSON object, as `ptc run --json` prints it; NULL before. */
PTC_API const char *ptc_mission_json(const PtcMission *mission, size_t *len);
/* Is there an answer, and which, as JSON?  NULL: there is none. */
PTC_API bool ptc_mission_ok(const PtcMission *mission);
PTC_API const char *ptc_mission_answer(const PtcMission *mission, size_t *len);
/* Why not: a word ("failed", "invalid_input"; docs/agents.md), and a sentence.  NULL when there is an answer. */
PTC_API const char *ptc_mission_reason(const PtcMission *mission);
PTC_API const char *ptc_mission_message(const PtcMission *mission, size_t *len);
/* Was nothing sent to a model because the agent or its data are wrong? */
PTC_API bool ptc_mission_invalid(const PtcMission *mission);

/* Did the host's function take every line of the trace so far?  True if there is none. */
PTC_API bool ptc_mission_traced(const PtcMission *mission);

/* What a mission and the agents that it started used; of a chain, all of them together.  The reader sets size. */
typedef struct {
    size_t size;
    int64_t turns, requests, failed_requests;
    int64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
    int64_t duration_us;
} PtcMissionUsage;

/* False before it has run. */
PTC_API bool ptc_mission_usage(PtcMission *mission, PtcMissionUsage *usage);

/* ------------------------------------------------------------- host values */

/* A place for values that the host makes; limit in bytes, PTC_UNSET: context_bytes. */
PTC_API PtcData *ptc_data_new(Ptc *ptc, int64_t limit);
PTC_API void ptc_data_free(PtcData *data);

/* Each returns 0 if out of memory or an argument is invalid (text that is not UTF-8, for example). */
PTC_API PtcValue ptc_make_nil(void);
PTC_API PtcValue ptc_make_bool(bool b);
PTC_API PtcValue ptc_make_int(PtcData *data, int64_t n);
PTC_API PtcValue ptc_make_float(PtcData *data, double d);
PTC_API PtcValue ptc_make_string(PtcData *data, const char *text, size_t len);
PTC_API PtcValue ptc_make_keyword(PtcData *data, const char *name, size_t len);
PTC_API PtcValue ptc_make_vector(PtcData *data, const PtcValue *items, size_t count);
/* pairs: key, value, key, value ...; a later equal key wins. */
PTC_API PtcValue ptc_make_map(PtcData *data, const PtcValue *pairs, size_t pair_count);
/* Reads JSON text; 0 with a message in error (at most error_size bytes, NUL-terminated) when it is
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
 * Constant time except for cons lists. */
PTC_API PtcValue ptc_value_at(PtcValue value, size_t index);
PTC_API PtcValue ptc_value_key_at(PtcValue map, size_t index);
/* By string or keyword, flexible as in programs; 0 when absent. */
PTC_API PtcValue ptc_value_get(PtcValue map, const char *key, size_t len);

/* Any value as text, as `str` gives it in a program: big integers in digits, dates in ISO form, strings as they are,
 * collections as programs write them.  *out is freed with ptc_text_free(ptc, *out, *len).  PTC_BAD_DATA: the text is
 * longer than result_bytes or takes longer than timeout_ms.  Uses the engine, whose thread it must be called from; the
 * value may come from any of its data and outcomes. */
PTC_API PtcStatus ptc_value_text(Ptc *ptc, PtcValue value, char **out, size_t *len);

/* Any value as JSON: keywords and dates become strings, sets arrays.  PTC_BAD_DATA: part of it has none (a function,
 * NaN), and error (NUL-terminated, may be NULL) says what and where, "a function at rows[0].f"; or it is longer than
 * result_bytes.  As ptc_value_text otherwise. */
PTC_API PtcStatus ptc_value_json(Ptc *ptc, PtcValue value, char **out, size_t *len, char *error,
                                 size_t error_size);

/* The library's version, "MAJOR.MINOR.PATCH". */
PTC_API const char *ptc_version(void);

#ifdef __cplusplus
}
#endif

#include "ptc/ptc_upstreams.h"

#endif
