/* SPDX-License-Identifier: MIT
 * Inventories: data and tools as lines in a fence.  Each part of a line has a limit, so a large context costs no more
 * than many small values. */
#include "agent/prompt/agent_words.h"
#include "agent/prompt/prompt.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "tool/convert.h"
#include "tool/wire/fence.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { PROMPT_DESCRIPTION = 500, TYPE_DEPTH = 3, TYPE_KEYS = 8, PROMPT_LIST_BYTES = PTC_MB };

/* -------------------------------------------------------------------------------- parts */

/* A text on one line, cut. */
static void add_text_on_line(PtcBuf *out, PtcText text, size_t max_chars)
{
    PtcCut cut = ptc_cut_chars(text, max_chars);
    for (size_t i = 0; i < cut.kept; i++)
        ptc_buf_add_char(out, text.bytes[i] == '\n' || text.bytes[i] == '\r' ? ' ' : text.bytes[i]);
    if (cut.left_out)
        ptc_buf_add_cstr(out, "...");
}

/* The beginning of a value's JSON. */
static void add_json_sample(PtcBuf *out, PtcBench *b, PtcValue v, size_t max_chars)
{
    PtcBuf json;
    PtcJsonError e = {0};
    ptc_buf_init(&json, &b->mem, 4 * max_chars + 16);
    bool whole = ptc_to_json_value(&b->heap, &json, v, -1, &e);
    PtcText text = ptc_buf_view(&json);
    text.len = ptc_utf8_valid_prefix(text.bytes, text.len);
    PtcCut cut = ptc_cut_chars(text, max_chars);
    ptc_buf_add(out, text.bytes, cut.kept);
    if (!whole || cut.left_out)
        ptc_buf_add_cstr(out, "...");
    out->failed = out->failed || json.failed;
    ptc_buf_deinit(&json);
}

static bool is_plain_data_name(PtcText name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.bytes[i];
        if (!ptc_ascii_is_name(c) && c != '-')
            return false;
    }
    return name.len > 0;
}

static void add_data_name(PtcBuf *out, PtcText name)
{
    if (is_plain_data_name(name))
        ptc_buf_add(out, name.bytes, name.len);
    else
        ptc_emit_text(out, name);
}

/* -------------------------------------------------------------------------------- types */

static void add_value_type(PtcBuf *out, PtcValue v, int depth);

static void add_map_type(PtcBuf *out, PtcValue v, int depth)
{
    PtcValue key, value;
    size_t n = 0;
    ptc_buf_add_cstr(out, "{");
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value) && n < TYPE_KEYS; n++) {
        PtcText name = ptc_str_text(key);
        ptc_buf_add_cstr(out, n ? ", " : "");
        add_text_on_line(out, name.bytes ? name : PTC_TEXT("?"), 40);
        ptc_buf_add_cstr(out, " ");
        add_value_type(out, value, depth + 1);
    }
    ptc_buf_add_cstr(out, n < ptc_map_count(v) ? ", ...}" : "}");
}

static void add_list_type(PtcBuf *out, PtcValue v, int depth)
{
    ptc_buf_add_cstr(out, "[");
    if (ptc_seq_count(v) > 0)
        add_value_type(out, ptc_seq_nth(v, 0), depth + 1);
    ptc_buf_add_cstr(out, "]");
    if (depth == 0)
        ptc_buf_addf(out, " of %zu", ptc_seq_count(v));
}

/* What a value is, in the words of signatures; for a list, by its first element.  Recurses at most TYPE_DEPTH deep. */
static void add_value_type(PtcBuf *out, PtcValue v, int depth)
{
    if (ptc_is_sequential(v) && depth < TYPE_DEPTH)
        add_list_type(out, v, depth);
    else if (ptc_is_map(v) && depth < TYPE_DEPTH)
        add_map_type(out, v, depth);
    else
        ptc_buf_add_cstr(out, ptc_is_string(v)       ? ":string"
                              : ptc_is_bool(v)       ? ":bool"
                              : ptc_is_integer(v)    ? ":int"
                              : ptc_is_number(v)     ? ":float"
                              : v == PTC_NIL         ? "nil"
                              : ptc_is_sequential(v) ? "[...]"
                              : ptc_is_map(v)        ? ":map"
                                                     : ":any");
}

static const PtcSigField *find_param(const PtcAgentDef *def, PtcText name)
{
    for (size_t i = 0; def->sig && i < def->sig->params.field_count; i++) {
        const PtcSigField *f = &def->sig->params.fields[i];
        if (ptc_text_same(name, (PtcText){f->name, f->name_len}))
            return f;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------- data */

static PtcText find_description(const PtcAgentDef *def, const PtcPromptInput *in, PtcText key)
{
    const PtcDescriptions *both[] = {in->descriptions, &def->context};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; both[k] && i < both[k]->count; i++)
            if (ptc_text_same(both[k]->items[i].key, key))
                return both[k]->items[i].text;
    return (PtcText){NULL, 0};
}

static void add_data_entry(PtcBuf *out, PtcBench *b, const PtcAgentDef *def,
                           const PtcPromptInput *in, PtcText key, PtcValue value, bool programs)
{
    const PtcSigField *param = programs ? find_param(def, key) : NULL;
    PtcText description = find_description(def, in, key);
    ptc_buf_add_cstr(out, programs ? "data/" : "");
    add_data_name(out, key);
    ptc_buf_add_cstr(out, programs ? "  " : ": ");
    if (param)
        ptc_sig_type_print(out, param->type);
    else if (programs)
        add_value_type(out, value, 0);
    ptc_buf_add_cstr(out, programs ? "  " : "");
    add_json_sample(out, b, value,
                    def->output == PTC_OUTPUT_TEXT ? PTC_PROMPT_TEXT_SAMPLE : PTC_PROMPT_SAMPLE);
    if (description.bytes) {
        ptc_buf_add_cstr(out, "  -- ");
        add_text_on_line(out, description, PROMPT_DESCRIPTION);
    }
    ptc_buf_add_char(out, '\n');
}

/* Appends the contents of `list` in a fence, and frees it. */
static void add_fenced_list(PtcBuf *out, const char *label, PtcBuf *list)
{
    out->failed = out->failed || list->failed;
    ptc_fence_add(out, label, ptc_buf_view(list));
    if (list->full)
        ptc_buf_add_cstr(out, "(the rest was left out)\n");
    ptc_buf_deinit(list);
}

void ptc_prompt_data(PtcBuf *out, PtcBench *b, const PtcAgentDef *def, const PtcPromptInput *in,
                     bool programs)
{
    PtcValue key, value;
    PtcBuf list;
    size_t n = 0, count = ptc_map_count(in->context);
    if (count == 0)
        return;
    ptc_words_data_heading(out, programs);
    ptc_buf_init(&list, &b->mem, PROMPT_LIST_BYTES);
    for (size_t pos = 0; ptc_map_next(in->context, &pos, &key, &value) && n < PTC_PROMPT_ENTRIES;
         n++)
        if (ptc_is_string(key))
            add_data_entry(&list, b, def, in, ptc_str_text(key), value, programs);
    if (n < count)
        ptc_buf_addf(&list, "... and %zu more\n", count - n);
    add_fenced_list(out, "data", &list);
    ptc_buf_add_char(out, '\n');
}

/* -------------------------------------------------------------------------------- tools */

static void add_tool_params(PtcBuf *out, const PtcSig *sig)
{
    if (!sig || !sig->has_params) {
        ptc_buf_add_cstr(out, " {...}");
        return;
    }
    for (size_t i = 0; i < sig->params.field_count; i++) {
        const PtcSigField *f = &sig->params.fields[i];
        ptc_buf_addf(out, "%s%.*s ", i ? ", :" : " {:", PTC_ARG_OF(f->name, f->name_len));
        ptc_sig_type_print(out, f->type);
    }
    if (sig->params.field_count)
        ptc_buf_add_cstr(out, "}");
}

/* The description of a tool that the model calls too is with that tool: here is said that both are one. */
static void add_listed_tool(PtcBuf *out, const PtcToolInfo *info, bool native)
{
    ptc_buf_addf(out, "(tool/%.*s", PTC_ARG_OF(info->name, info->name_len));
    add_tool_params(out, info->sig);
    ptc_buf_add_cstr(out, ")");
    if (info->sig) {
        ptc_buf_add_cstr(out, " -> ");
        ptc_sig_type_print(out, info->sig->result);
    }
    if (native) {
        ptc_buf_add_cstr(out, "  -- also without a program");
    } else if (info->description && info->description_len) {
        ptc_buf_add_cstr(out, "  -- ");
        add_text_on_line(out, (PtcText){info->description, info->description_len},
                         PROMPT_DESCRIPTION);
    }
    ptc_buf_add_char(out, '\n');
}

void ptc_prompt_servers(PtcBuf *out, const PtcAgentDef *def, PtcText servers)
{
    if (!servers.len || def->mode == PTC_MODE_TEXT)
        return;
    ptc_words_servers_heading(out);
    ptc_fence_add(out, "servers", servers);
    ptc_buf_add_char(out, '\n');
}

/* May programs call a tool that is called again when that fails? */
static bool has_retried_tools(const PtcAgentDef *def)
{
    for (size_t i = 0; i < def->tools->count; i++)
        if (def->agent_tools[i]->in_programs && ptc_tool_is_retried(&def->tools->items[i].info))
            return true;
    return false;
}

void ptc_prompt_tools(PtcBuf *out, const PtcAgentDef *def)
{
    PtcBuf list;
    ptc_buf_init(&list, out->mem, PROMPT_LIST_BYTES);
    for (size_t i = 0; i < def->tools->count; i++)
        if (def->agent_tools[i]->in_programs)
            add_listed_tool(&list, &def->tools->items[i].info, def->agent_tools[i]->native);
    if (list.len == 0 && ptc_buf_ok(&list)) {
        ptc_buf_deinit(&list);
        return;
    }
    ptc_words_tools_heading(out);
    add_fenced_list(out, "tools", &list);
    if (has_retried_tools(def))
        ptc_words_retried_tools(out);
    if (def->max_tool_calls > 0)
        ptc_words_tool_limit(out, def->max_tool_calls);
    ptc_buf_add_char(out, '\n');
}
