/* SPDX-License-Identifier: MIT
 * The JSON of `lisp_eval`.  What always holds: an answer is one line of JSON, whatever bytes a program printed; a
 * field that is absent is left out. */
#include "tool/wire/protocol.h"

#include "base/utf8.h"
#include "json/emit.h"
#include "tool/wire/protocol_text.h"
#include "value/str.h"

/* -------------------------------------------------------------------- profiles */

#define PROGRAM_WITH_TOOLS                                                              \
    "\"program\":{\"type\":\"string\",\"description\":\"PTC-Lisp source, one or more "  \
    "expressions; not empty. Tools that programs can use are called `(tool/name {:arg " \
    "value})`.\"}"

#define PROGRAM_ALONE                                                                  \
    "\"program\":{\"type\":\"string\",\"description\":\"PTC-Lisp source, one or more " \
    "expressions; not empty. The key k of `context` is `data/k`.\"}"

#define CONTEXT                                                                      \
    ",\"context\":{\"type\":\"object\",\"description\":\"Data for the program; its " \
    "keys are `data/key` there.\"}"

#define PARAMETERS(properties)                         \
    "{\"type\":\"object\",\"properties\":{" properties \
    "},\"required\":[\"program\"],\"additionalProperties\":false}"

#define PROTOCOL_SCHEMA(description, properties)                     \
    "{\"type\":\"function\",\"function\":{\"name\":\"" PTC_TOOL_NAME \
    "\",\"description\":\"" description "\",\"parameters\":" PARAMETERS(properties) "}}"

typedef struct {
    const char *description, *parameters, *schema;
} Profile;

static const Profile profiles[] = {
    [PTC_PROFILE_IN_PROCESS_WITH_APP_TOOLS] = {PTC_TEXT_WITH_APP_TOOLS,
                                               PARAMETERS(PROGRAM_WITH_TOOLS),
                                               PROTOCOL_SCHEMA(PTC_TEXT_WITH_APP_TOOLS,
                                                               PROGRAM_WITH_TOOLS)},
    [PTC_PROFILE_IN_PROCESS_TEXT_MODE] = {PTC_TEXT_TEXT_MODE, PARAMETERS(PROGRAM_WITH_TOOLS),
                                          PROTOCOL_SCHEMA(PTC_TEXT_TEXT_MODE, PROGRAM_WITH_TOOLS)},
    [PTC_PROFILE_MCP_NO_TOOLS] = {PTC_TEXT_MCP_NO_TOOLS, PARAMETERS(PROGRAM_ALONE CONTEXT),
                                  PROTOCOL_SCHEMA(PTC_TEXT_MCP_NO_TOOLS, PROGRAM_ALONE CONTEXT)},
};

static const Profile *find_profile(PtcProfile profile)
{
    static const Profile none;
    return (size_t)profile < sizeof profiles / sizeof *profiles ? &profiles[profile] : &none;
}

const char *ptc_protocol_description(PtcProfile profile)
{
    return find_profile(profile)->description;
}

const char *ptc_protocol_parameters(PtcProfile profile)
{
    return find_profile(profile)->parameters;
}

const char *ptc_protocol_schema(PtcProfile profile)
{
    return find_profile(profile)->schema;
}

/* -------------------------------------------------------------------- arguments */

enum { PROTOCOL_SHOWN_BYTES = 80 };

/* Stops at the first character that is not white space. */
static bool is_blank_string(PtcValue text)
{
    const char *bytes = ptc_str_bytes(text);
    size_t len = ptc_str_len(text);
    uint32_t code;
    for (size_t i = 0; i < len;) {
        i += ptc_utf8_decode(bytes + i, len - i, &code);
        if (!ptc_utf8_is_space(code))
            return false;
    }
    return true;
}

static void add_shown_value(PtcBuf *out, const PtcPrinter *printer, PtcValue v)
{
    PtcBuf shown;
    ptc_buf_init(&shown, out->mem, PROTOCOL_SHOWN_BYTES);
    bool whole = ptc_print(printer, &shown, v);
    if (shown.failed)
        out->failed = true;
    if (shown.len > 0)
        ptc_buf_add(out, shown.data, ptc_utf8_valid_prefix(shown.data, shown.len));
    if (!whole)
        ptc_buf_add_cstr(out, "...");
    ptc_buf_deinit(&shown);
}

bool ptc_protocol_validate_program(PtcValue program, const PtcPrinter *printer, PtcBuf *message)
{
    if (program == PTC_NONE || program == PTC_NIL) {
        ptc_buf_add_cstr(message, PTC_TOOL_NAME " requires a non-empty `program` string argument.");
        return false;
    }
    if (!ptc_is(program, PTC_T_STRING)) {
        ptc_buf_add_cstr(message, PTC_TOOL_NAME " `program` must be a string, got ");
        add_shown_value(message, printer, program);
        ptc_buf_add_char(message, '.');
        return false;
    }
    if (!is_blank_string(program))
        return true;
    ptc_buf_add_cstr(message, PTC_TOOL_NAME " `program` must be a non-empty string.");
    return false;
}

/* ------------------------------------------------------------------------- JSON */

static void add_texts(PtcBuf *out, const char *name, const PtcText *items, size_t count)
{
    ptc_emit_key(out, name);
    ptc_emit_array(out);
    for (size_t i = 0; i < count; i++)
        ptc_emit_text(out, items[i]);
    ptc_emit_array_end(out);
}

/* ---------------------------------------------------------------------- success */

void ptc_protocol_add_memory(PtcBuf *out, const PtcMemory *memory)
{
    ptc_emit_object(out);
    ptc_emit_key(out, "changed");
    ptc_emit_object(out);
    for (size_t i = 0; i < memory->changed_count; i++) {
        ptc_emit_key_text(out, memory->changed[i].name);
        ptc_emit_text(out, memory->changed[i].preview);
    }
    ptc_emit_object_end(out);
    add_texts(out, "stored_keys", memory->stored, memory->stored_count);
    ptc_emit_field_bool(out, "truncated", memory->truncated);
    ptc_emit_object_end(out);
}

void ptc_protocol_render_success(PtcBuf *out, const PtcSuccess *success)
{
    const PtcMemory *memory = success->memory;
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "status", "ok");
    if (success->result.bytes || !success->value_nil)
        ptc_emit_field_text(out, "result", success->result);
    add_texts(out, "prints", success->prints, success->print_count);
    if (!success->no_feedback)
        ptc_emit_field_text(out, "feedback",
                            success->feedback.bytes ? success->feedback : PTC_TEXT(""));
    ptc_emit_field_bool(out, "truncated", success->truncated || (memory && memory->truncated));
    if (memory && ptc_emit_key(out, "memory"))
        ptc_protocol_add_memory(out, memory);
    if (success->validated.bytes)
        ptc_emit_field_raw(out, "validated", success->validated);
    if (success->warnings.bytes)
        ptc_emit_field_raw(out, "warnings", success->warnings);
    ptc_emit_object_end(out);
}

/* ------------------------------------------------------------------- from a step */

/* Intermediate texts; all of them are charged to the output's ledger. */
typedef struct {
    PtcBuf result, feedback, cut_prints;
    PtcText *prints; /* NULL: the step's own, none had to be cut */
} Making;

static bool any_long(const PtcShown *step, size_t max_chars)
{
    for (size_t i = 0; i < step->print_count; i++)
        if (ptc_cut_chars(step->prints[i], max_chars).left_out > 0)
            return true;
    return false;
}

/* Printed lines, with those that are too long cut.  The buffer may move while it grows, so the pointers are set at
 * the end. */
static bool cut_prints(Making *m, const PtcShown *step, int64_t max_chars)
{
    size_t n = step->print_count, at = 0;
    if (!any_long(step, (size_t)max_chars))
        return true;
    m->prints = ptc_mem_alloc(m->result.mem, n * sizeof *m->prints);
    if (!m->prints)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t before = m->cut_prints.len;
        ptc_preview_add(&m->cut_prints, step->prints[i], false, max_chars);
        m->prints[i].len = m->cut_prints.len - before;
    }
    for (size_t i = 0; i < n; i++) {
        m->prints[i].bytes = ptc_buf_view(&m->cut_prints).bytes + at;
        at += m->prints[i].len;
    }
    return ptc_buf_ok(&m->cut_prints);
}

static bool make_result(PtcBuf *out, const PtcShown *step, const PtcFormatOptions *options)
{
    if (!step->text.bytes)
        return false;
    ptc_buf_add_cstr(out, "user=> ");
    return ptc_preview_add(out, step->text, step->text_cut, options->preview_max_chars);
}

/* `result` is what make_result wrote. */
static PtcExecution execution(const PtcBuf *result, const PtcShown *step, const PtcMemory *memory)
{
    PtcExecution run = {.prints = step->prints,
                        .print_count = step->print_count,
                        .prints_cut = step->prints_cut,
                        .more_turns = memory != NULL};
    if (step->text.bytes)
        run.result = ptc_buf_view(result);
    if (memory) {
        run.changed = memory->changed;
        run.changed_count = memory->changed_count;
        run.stored = memory->stored;
        run.stored_count = memory->stored_count;
    }
    return run;
}

static void render_made(PtcBuf *out, Making *m, const PtcShown *step, const PtcMemory *memory,
                        const PtcFormatOptions *options)
{
    bool cut = make_result(&m->result, step, options);
    PtcExecution run = execution(&m->result, step, memory);
    cut |= ptc_feedback_run(&m->feedback, &run, options);
    if (!cut_prints(m, step, options->max_print_length) || !ptc_buf_ok(&m->result) ||
        !ptc_buf_ok(&m->feedback)) {
        out->failed = true;
        return;
    }
    PtcSuccess success = {.result = run.result,
                          .value_nil = step->value_nil,
                          .prints = m->prints ? m->prints : step->prints,
                          .print_count = step->print_count,
                          .feedback = ptc_buf_view(&m->feedback),
                          .truncated = cut || m->prints,
                          .memory = memory,
                          .validated = step->validated,
                          .warnings = step->warnings,
                          .no_feedback = step->no_feedback};
    ptc_protocol_render_success(out, &success);
}

bool ptc_protocol_feedback(PtcBuf *out, const PtcShown *step, const PtcMemory *memory,
                           const PtcFormatOptions *options)
{
    PtcBuf result;
    ptc_buf_init(&result, out->mem, PTC_UNBOUNDED);
    bool cut = make_result(&result, step, options);
    PtcExecution run = execution(&result, step, memory);
    cut |= ptc_feedback_run(out, &run, options);
    out->failed = out->failed || result.failed;
    ptc_buf_deinit(&result);
    return cut;
}

void ptc_protocol_render_step(PtcBuf *out, const PtcShown *step, const PtcMemory *memory,
                              const PtcFormatOptions *options)
{
    Making m = {.prints = NULL};
    ptc_buf_init(&m.result, out->mem, out->max);
    ptc_buf_init(&m.feedback, out->mem, out->max);
    ptc_buf_init(&m.cut_prints, out->mem, out->max);
    render_made(out, &m, step, memory, options);
    ptc_mem_free(out->mem, m.prints, step->print_count * sizeof *m.prints);
    ptc_buf_deinit(&m.cut_prints);
    ptc_buf_deinit(&m.feedback);
    ptc_buf_deinit(&m.result);
}

/* ------------------------------------------------------------------------ errors */

static const char *const reasons[PTC_REASON_COUNT] = {
    [PTC_REASON_PARSE] = "parse_error",
    [PTC_REASON_RUNTIME] = "runtime_error",
    [PTC_REASON_TIMEOUT] = "timeout",
    [PTC_REASON_MEMORY] = "memory_limit",
    [PTC_REASON_ARGS] = "args_error",
    [PTC_REASON_FAIL] = "fail",
    [PTC_REASON_VALIDATION] = "validation_error",
};

const char *ptc_reason_name(PtcReason reason)
{
    return reasons[reason];
}

PtcReason ptc_reason_find(const char *name)
{
    for (int i = 0; i < PTC_REASON_COUNT; i++)
        if (strcmp(reasons[i], name) == 0)
            return (PtcReason)i;
    return PTC_REASON_RUNTIME;
}

void ptc_protocol_render_error(PtcBuf *out, const PtcErrorAnswer *error)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "status", "error");
    ptc_emit_field_cstr(out, "reason", ptc_reason_name(error->reason));
    ptc_emit_field_text(out, "message", error->message);
    if (!error->no_feedback)
        ptc_emit_field_text(out, "feedback",
                            error->feedback.bytes ? error->feedback : error->message);
    if (error->reason == PTC_REASON_FAIL)
        ptc_emit_field_text(out, "result", error->result);
    if (error->warnings.bytes)
        ptc_emit_field_raw(out, "warnings", error->warnings);
    ptc_emit_object_end(out);
}
