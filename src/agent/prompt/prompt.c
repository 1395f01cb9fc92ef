/* SPDX-License-Identifier: MIT
 * Puts the system prompt and the first message together.  What always holds: the system prompt is the same for a
 * whole run, so that providers can cache it. */
#include "agent/prompt/prompt.h"

#include "agent/definition/definition_int.h"
#include "agent/prompt/agent_words.h"
#include "base/utf8.h"
#include "tool/wire/card.h"

enum { PROMPT_BYTES = 16 * PTC_MB };

static void add_prompt_text(PtcBuf *out, PtcText text)
{
    ptc_buf_add(out, text.bytes, text.len);
}

static bool has_programs(const PtcAgentDef *def)
{
    return def->mode != PTC_MODE_TEXT;
}

/* A model that neither writes programs nor calls tools needs no data beyond what its mission contains. */
static bool has_use_for_data(const PtcAgentDef *def)
{
    return has_programs(def) || def->offer_count > 0;
}

/* ------------------------------------------------------------------------- system prompt */

static void add_our_system(PtcBuf *out, const PtcAgentDef *def)
{
    const PtcSystemPrompt *own = &def->system;
    if (own->prefix.bytes) {
        add_prompt_text(out, own->prefix);
        ptc_buf_add_cstr(out, "\n\n");
    }
    ptc_words_role(out, def);
    if (has_programs(def))
        ptc_words_language(out, def,
                           own->language_spec.bytes ? own->language_spec
                                                    : ptc_text_cstr(ptc_card_language()));
    if (own->output_format.bytes) {
        ptc_buf_add_cstr(out, "\n");
        add_prompt_text(out, own->output_format);
        ptc_buf_add_cstr(out, "\n");
    } else {
        ptc_words_form(out, def);
    }
    ptc_words_ending(out, def);
    if (def->journaling)
        ptc_words_journal(out);
}

static void add_system_prompt(PtcBuf *out, PtcBench *b, const PtcAgentDef *def,
                              const PtcPromptInput *in)
{
    bool inside = def->format.context_in_system && has_use_for_data(def);
    if (def->system.text.bytes)
        add_prompt_text(out, def->system.text);
    else
        add_our_system(out, def);
    if (inside || def->mode == PTC_MODE_COMBINED)
        ptc_buf_add_cstr(out, "\n");
    if (inside)
        ptc_prompt_data(out, b, def, in, has_programs(def));
    if (inside || def->mode == PTC_MODE_COMBINED) {
        ptc_prompt_tools(out, def);
        ptc_prompt_servers(out, def, in->servers);
    }
    if (!def->system.text.bytes && def->system.suffix.bytes) {
        ptc_buf_add_cstr(out, "\n");
        add_prompt_text(out, def->system.suffix);
        ptc_buf_add_cstr(out, "\n");
    }
}

static bool check_system_length(const PtcAgentDef *def, PtcText system, PtcWhy *fault)
{
    size_t chars = ptc_utf8_count(system.bytes, system.len);
    if (def->prompt_limit == 0 || chars <= (size_t)def->prompt_limit)
        return true;
    return ptc_fault_set(fault, "prompt_limit.max_chars",
                         "the system prompt has %zu characters; allowed are %lld", chars,
                         (long long)def->prompt_limit);
}

/* ------------------------------------------------------------------------------- mission */

static bool fill_mission(PtcBuf *out, PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in,
                         size_t *missing, PtcWhy *fault)
{
    PtcTemplateOptions options = {.references = def->output == PTC_OUTPUT_PTC_LISP,
                                  .keep_missing = !def->sig || def->loose_prompt,
                                  .fences = true};
    PtcBuf mission;
    ptc_buf_init(&mission, &b->mem, PTC_TEMPLATE_BYTES);
    PtcTemplateStatus status =
        ptc_template_fill(&def->template, &b->heap, in->context, &options, &mission, missing);
    add_prompt_text(out, ptc_buf_view(&mission));
    ptc_buf_deinit(&mission);
    switch (status) {
    case PTC_TEMPLATE_OK: return true;
    case PTC_TEMPLATE_TOO_LARGE:
        ptc_fault_input(fault, "prompt", "filled in, it has more than 4 MiB or a million entries");
        break;
    case PTC_TEMPLATE_NO_JSON:
        ptc_fault_input(fault, "context", "a value that the prompt shows has no JSON");
        break;
    case PTC_TEMPLATE_STOPPED: return ptc_why_no_memory(fault);
    }
    return false;
}

static bool add_mission(PtcBuf *out, PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in,
                        size_t *missing, PtcWhy *fault)
{
    if (out->len > 0)
        ptc_words_mission_heading(out);
    if (!in->message.bytes)
        return fill_mission(out, b, def, in, missing, fault);
    add_prompt_text(out, in->message);
    return true;
}

/* ------------------------------------------------------------------- first user message */

static void add_before(PtcBuf *out, PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in)
{
    if (!def->format.context_in_system && has_use_for_data(def)) {
        ptc_prompt_data(out, b, def, in, has_programs(def));
        if (def->mode != PTC_MODE_COMBINED) {
            ptc_prompt_tools(out, def);
            ptc_prompt_servers(out, def, in->servers);
        }
    }
    size_t before = out->len;
    ptc_words_answer(out, def);
    if (out->len > before)
        ptc_buf_add_char(out, '\n');
}

static void add_behind(PtcBuf *out, const PtcAgentDef *def, const PtcPromptInput *in)
{
    if (def->plan_count > 0) {
        ptc_buf_add_cstr(out, "\n\n");
        ptc_words_plan(out, def, NULL, 0);
    }
    if (def->journaling && def->format.log_in_user_message && in->journal_log.len)
        ptc_words_journal_log(out, in->journal_log);
}

static PtcText take_trimmed_prompt(PtcBench *b, PtcBuf *buf)
{
    while (buf->len && buf->data[buf->len - 1] == '\n')
        buf->len--;
    return ptc_bench_take(b, buf);
}

bool ptc_prompt_make(PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in, PtcPrompt *out,
                     PtcWhy *fault)
{
    PtcBuf system, user;
    *out = (PtcPrompt){.missing = 0};
    ptc_buf_init(&system, &b->mem, PROMPT_BYTES);
    add_system_prompt(&system, b, def, in);
    out->system = take_trimmed_prompt(b, &system);
    ptc_buf_init(&user, &b->mem, PROMPT_BYTES);
    add_before(&user, b, def, in);
    bool filled = add_mission(&user, b, def, in, &out->missing, fault);
    add_behind(&user, def, in);
    out->user = take_trimmed_prompt(b, &user);
    if (!filled)
        return false;
    if (!out->system.bytes || !out->user.bytes || b->budget.stop != PTC_STOP_NONE)
        return ptc_why_no_memory(fault);
    return check_system_length(def, out->system, fault);
}
