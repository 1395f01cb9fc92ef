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
    ptc_emit_field_bool(out, "truncated", success->truncated);
    if (memory && ptc_emit_key(out, "memory"))
        ptc_protocol_add_memory(out, memory);
    if (success->validated.bytes)
        ptc_emit_field_raw(out, "validated", success->validated);
    if (success->warnings.bytes)
        ptc_emit_field_raw(out, "warnings", success->warnings);
    ptc_emit_object_end(out);
}

/* ------------------------------------------------------------------- from a step */

/* What is shown of a step: cut to its share of the budget, and with invisible characters made visible.  All of it is
 * charged to the output's ledger. */
typedef struct {
    PtcBuf result, lines;
    PtcText *prints;
    size_t print_count, print_cap;
    PtcCutNote cut;
} Making;

static void make_empty(Making *m, PtcBuf *out)
{
    *m = (Making){.prints = NULL};
    ptc_buf_init(&m->result, out->mem, PTC_UNBOUNDED);
    ptc_buf_init(&m->lines, out->mem, PTC_UNBOUNDED);
}

static void drop_made(Making *m)
{
    ptc_mem_free(m->result.mem, m->prints, m->print_cap * sizeof *m->prints);
    ptc_buf_deinit(&m->result);
    ptc_buf_deinit(&m->lines);
}

/* Bytes of the result that may be shown, and through *prints those of the printed text.  Each has half of the budget,
 * and what the other leaves. */
static size_t share_budget(const PtcShown *step, size_t budget, size_t *prints)
{
    size_t result = step->text.len, printed = 0, half = budget / 2;
    for (size_t i = 0; i < step->print_count; i++)
        printed += step->prints[i].len + 1;
    *prints = printed;
    if (result <= budget + budget / 10 && printed <= budget + budget / 10 - result)
        return result;
    if (result <= half) {
        *prints = budget - result;
        return result;
    }
    *prints = printed <= half ? printed : half;
    return budget - *prints;
}

static void make_result(Making *m, const PtcShown *step, size_t room)
{
    if (!step->text.bytes)
        return;
    PtcCut cut = ptc_cut_rows(step->text, room, &m->cut.result_rows);
    ptc_buf_add_cstr(&m->result, "user=> ");
    ptc_fence_add_visible(&m->result, (PtcText){step->text.bytes, cut.kept});
    m->cut.result_chars = cut.left_out;
    m->cut.result_more = step->text_cut;
    if (cut.left_out > 0 || step->text_cut)
        ptc_buf_add_cstr(&m->result, " ...");
}

enum { WHOLE_LINE = 200 }; /* bytes of a line that is shown whole or not at all */

/* The part of a line that fits. */
static PtcCut cut_line(PtcText line, size_t *room, int64_t max_chars)
{
    size_t rows;
    PtcCut cut = ptc_cut_chars(line, (size_t)max_chars);
    bool full = cut.kept > *room;
    if (full)
        cut.kept = line.len <= WHOLE_LINE ? 0 : ptc_cut_rows(line, *room, &rows).kept;
    cut.left_out = ptc_utf8_count(line.bytes + cut.kept, line.len - cut.kept);
    *room = full || cut.kept >= *room ? 0 : *room - cut.kept - 1;
    return cut;
}

/* The buffer may move while it grows, so the pointers are set at the end. */
static bool make_prints(Making *m, const PtcShown *step, size_t room, int64_t max_chars)
{
    size_t n = step->print_count, at = 0;
    m->cut.prints_more = step->prints_cut;
    if (n == 0)
        return true;
    if (!(m->prints = ptc_mem_alloc(m->lines.mem, n * sizeof *m->prints)))
        return false;
    m->print_cap = n;
    for (size_t i = 0; i < n; i++) {
        PtcText line = step->prints[i];
        size_t before = m->lines.len, had = room;
        PtcCut cut = cut_line(line, &room, max_chars);
        bool shown = had > 0 && (cut.kept > 0 || line.len == 0);
        m->cut.print_chars += cut.left_out + !shown;
        if (!shown)
            continue;
        ptc_fence_add_visible(&m->lines, (PtcText){line.bytes, cut.kept});
        m->prints[m->print_count++].len = m->lines.len - before;
    }
    for (size_t i = 0; i < m->print_count; i++) {
        m->prints[i].bytes = ptc_buf_view(&m->lines).bytes + at;
        at += m->prints[i].len;
    }
    m->cut.print_lines = m->print_count;
    return ptc_buf_ok(&m->lines);
}

static bool make_shown(Making *m, const PtcShown *step, const PtcMemory *memory,
                       const PtcFormatOptions *options)
{
    size_t prints, result = share_budget(step, (size_t)options->output_max_bytes, &prints);
    m->cut.again = memory != NULL;
    make_result(m, step, result);
    return make_prints(m, step, prints, options->max_print_length) && ptc_buf_ok(&m->result);
}

static bool was_cut(const PtcCutNote *cut)
{
    return cut->result_chars || cut->print_chars || cut->result_more || cut->prints_more;
}

static PtcText result_of(const Making *m, const PtcShown *step)
{
    return step->text.bytes ? ptc_buf_view(&m->result) : (PtcText){NULL, 0};
}

/* Everything in one text. */
static void add_whole_feedback(PtcBuf *out, const Making *m, const PtcShown *step,
                               const PtcMemory *memory)
{
    PtcExecution run = {.result = result_of(m, step),
                        .prints = m->prints,
                        .print_count = m->print_count,
                        .more_turns = memory != NULL};
    if (memory) {
        run.changed = memory->changed;
        run.changed_count = memory->changed_count;
        run.stored = memory->stored;
        run.stored_count = memory->stored_count;
    }
    ptc_feedback_run(out, &run);
}

void ptc_protocol_feedback(PtcBuf *out, const PtcShown *step, const PtcMemory *memory,
                           const PtcFormatOptions *options, bool whole)
{
    Making m;
    make_empty(&m, out);
    out->failed |= !make_shown(&m, step, memory, options);
    if (whole && !out->failed)
        add_whole_feedback(out, &m, step, memory);
    ptc_feedback_cuts(out, &m.cut);
    drop_made(&m);
}

static void render_made(PtcBuf *out, const Making *m, const PtcShown *step, const PtcMemory *memory)
{
    PtcBuf feedback;
    ptc_buf_init(&feedback, out->mem, out->max);
    ptc_feedback_cuts(&feedback, &m->cut);
    PtcSuccess success = {.result = result_of(m, step),
                          .value_nil = step->value_nil,
                          .prints = m->prints,
                          .print_count = m->print_count,
                          .feedback = ptc_buf_view(&feedback),
                          .truncated = was_cut(&m->cut),
                          .memory = memory,
                          .validated = step->validated,
                          .warnings = step->warnings,
                          .no_feedback = step->no_feedback};
    if (ptc_buf_ok(&feedback))
        ptc_protocol_render_success(out, &success);
    out->failed |= !ptc_buf_ok(&feedback);
    ptc_buf_deinit(&feedback);
}

void ptc_protocol_render_step(PtcBuf *out, const PtcShown *step, const PtcMemory *memory,
                              const PtcFormatOptions *options)
{
    Making m;
    make_empty(&m, out);
    if (make_shown(&m, step, memory, options))
        render_made(out, &m, step, memory);
    else
        out->failed = true;
    drop_made(&m);
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
