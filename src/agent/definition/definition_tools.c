/* SPDX-License-Identifier: MIT
 * The tools of an agent: read as a tools file is (tool/file.c), with additional kinds, built-in tools, and the
 * decision who may call which tool.
 *
 * Tools that can only be called within a run have a note (PtcAgentTool) as their `user`. */
#include <stdio.h>

#include "agent/agent_kinds.h"
#include "base/ascii.h"
#include "tool/sig/sig_schema.h"
#include "tool/wire/protocol.h"
#include "value/str.h"

enum { NAME_BYTES = 64, SCHEMA_BYTES = PTC_MB };

PtcAgentTool *ptc_definition_note(PtcAgentDef *def, PtcTool *tool)
{
    PtcAgentNote *note = ptc_arena_zalloc(&def->arena, sizeof *note);
    if (!note)
        return NULL;
    note->tool.owner = def;
    note->next = def->notes;
    def->notes = note;
    if (tool)
        tool->user = &note->tool;
    return &note->tool;
}

/* --------------------------------------------------------------------------------- names */

static bool is_tool_name(PtcText name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.bytes[i];
        if (!ptc_ascii_is_letter(c) && (i == 0 || !(ptc_ascii_is_name(c) || c == '-')))
            return false;
    }
    return name.len > 0 && name.len <= NAME_BYTES;
}

static PtcText tool_name(const PtcTool *tool)
{
    return (PtcText){tool->info.name, tool->info.name_len};
}

/* Tools that no provider sees may be in groups: shop.query. */
static bool has_tool_name(const PtcTool *tool)
{
    PtcText name = tool_name(tool);
    const char *dot =
        tool->info.expose == PTC_EXPOSE_PTC_LISP ? memchr(name.bytes, '.', name.len) : NULL;
    if (!dot)
        return is_tool_name(name);
    size_t group = (size_t)(dot - name.bytes);
    return is_tool_name((PtcText){name.bytes, group}) &&
           is_tool_name((PtcText){dot + 1, name.len - group - 1});
}

/* The tool of the set that has this name at a provider, or NULL. */
static const PtcTool *find_same_tool(const PtcTools *tools, PtcText name)
{
    for (size_t i = 0; i < tools->count; i++)
        if (ptc_text_same_name(tool_name(&tools->items[i]), name))
            return &tools->items[i];
    return NULL;
}

/* Names that providers accept, and no two that they would take for the same. */
static bool check_tool_name(const PtcTools *tools, PtcText name, bool fits, PtcWhy *why)
{
    const PtcTool *same = find_same_tool(tools, name);
    if (ptc_text_same_name(name, PTC_TEXT(PTC_TOOL_NAME)))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "%s is the tool that runs programs: choose another name", PTC_TOOL_NAME);
    if (!fits)
        return ptc_why_say(
            why, PTC_WHY_INVALID,
            "a tool's name is a letter, then letters, digits, - and _, at most %d in all",
            NAME_BYTES);
    return !same ||
           ptc_why_say(why, PTC_WHY_INVALID,
                       "at a provider it would have the same name as %.*s: choose another name",
                       PTC_ARG_OF(same->info.name, NAME_BYTES));
}

static bool check_tool(void *agent, const PtcTool *tool, PtcWhy *why)
{
    const PtcFieldReader *r = agent;
    return check_tool_name(r->def->tools, tool_name(tool), has_tool_name(tool), why);
}

/* ------------------------------------------------------------------------------ children */

void ptc_definition_borrow(const PtcAgentDef *child, PtcTool *tool)
{
    if (!tool->info.signature && child->signature.bytes) {
        tool->info.signature = child->signature.bytes;
        tool->info.signature_len = child->signature.len;
    }
    if (!tool->info.description && child->description.bytes) {
        tool->info.description = child->description.bytes;
        tool->info.description_len = child->description.len;
    }
}

/* Is there an agent around the tool, and do its options suit? */
static bool check_agent(PtcToolReader *r)
{
    const char *name = r->kind->key, *quote = r->kind->is_word ? "\"" : "";
    if (!r->allow->agent)
        return ptc_kind_refuse(r,
                               "%s%s%s is not available here: it belongs in the tools of an agent",
                               quote, name, quote);
    return !(r->kind->uncounted && r->tool.info.serial) ||
           ptc_kind_refuse(r,
                           "serial does not go with %s%s%s: its calls wait for each other inside",
                           quote, name, quote);
}

bool ptc_definition_read_kind(PtcToolReader *r, PtcValue v,
                              bool (*read)(PtcFieldReader *r, PtcValue v, PtcTool *tool))
{
    PtcWhy fault;
    if (!check_agent(r))
        return false;
    PtcFieldReader inner = *(const PtcFieldReader *)r->allow->agent;
    inner.fault = &fault;
    inner.path[0] = 0;
    bool ok = read(&inner, v, &r->tool);
    if (ok && r->model != PTC_NONE) {
        PtcAgentTool *note = r->tool.user;
        ok = ptc_definition_read_model(&inner, r->model, &note->model, &note->script);
    }
    if (!ok) {
        ptc_kind_refuse_inside(r, fault.path, fault.text);
        r->why->class = fault.class;
    }
    return ok;
}

bool ptc_definition_read_tools(PtcFieldReader *r, PtcValue v)
{
    PtcWhy fault;
    PtcToolsFileOptions options = {.command = r->how->allow_commands,
                                   .http = r->how->allow_http,
                                   .command_advice = r->how->command_advice,
                                   .http_advice = r->how->http_advice,
                                   .kinds = ptc_agent_kinds,
                                   .check = check_tool,
                                   .agent = r};
    if (ptc_tools_read_at(r->def->tools, v, &options, &fault))
        return true;
    if (fault.class == PTC_WHY_NO_MEMORY)
        return ptc_why_no_memory(r->fault);
    ptc_fault_set(r->fault, fault.path, "%s", fault.text);
    return ptc_fault_inside(r->fault, "tools");
}

/* ---------------------------------------------------------------------- tools of a host */

static bool refuse_host_tool(PtcWhy *fault, PtcText name, const char *why)
{
    char path[NAME_BYTES + 16];
    snprintf(path, sizeof path, "tools.%.*s", PTC_ARG(ptc_text_cut(name, NAME_BYTES)));
    return ptc_fault_set(fault, path, "%s", why);
}

static bool take_tool(PtcAgentDef *def, const PtcTool *tool, PtcWhy *fault)
{
    PtcWhy why;
    PtcText name = tool_name(tool);
    return (check_tool_name(def->tools, name, has_tool_name(tool), &why) &&
            ptc_toolset_borrow(def->tools, tool, &why)) ||
           refuse_host_tool(fault, name, why.text);
}

static bool take_child(PtcAgentDef *def, const PtcAgentChild *child, PtcWhy *fault)
{
    PtcWhy why;
    PtcTool tool = {.lisp = PTC_NONE, .preview_lisp = PTC_NONE};
    if (!check_tool_name(def->tools, child->name, is_tool_name(child->name), &why))
        return refuse_host_tool(fault, child->name, why.text);
    if (child->def->levels >= PTC_AGENT_FILE_DEPTH)
        return refuse_host_tool(fault, child->name, "agents are nested deeper than 16");
    PtcAgentTool *note = ptc_definition_note(def, &tool);
    if (!note)
        return ptc_why_no_memory(fault);
    note->child = ptc_definition_retain(child->def);
    ptc_tool_init(&tool.info, child->name.bytes, child->name.len);
    ptc_kind_apply(&ptc_agent_kind, &tool);
    ptc_definition_borrow(note->child, &tool);
    return ptc_toolset_put(def->tools, &tool, &why) ||
           refuse_host_tool(fault, child->name, why.text);
}

bool ptc_definition_take_tools(PtcAgentDef *def, const PtcAgentReading *how, PtcWhy *fault)
{
    def->host_tools = ptc_toolset_retain(how->tools);
    for (size_t i = 0; how->tools && i < how->tools->count; i++)
        if (!take_tool(def, &how->tools->items[i], fault))
            return false;
    for (size_t i = 0; i < how->child_count; i++)
        if (!take_child(def, &how->children[i], fault))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------ built-in */

static bool put_builtin(PtcAgentDef *def, const PtcToolKind *kind, PtcWhy *fault)
{
    PtcTool tool = {.lisp = PTC_NONE, .preview_lisp = PTC_NONE};
    if (find_same_tool(def->tools, ptc_text_cstr(kind->key)))
        return true; /* the file's own tool wins */
    ptc_tool_init(&tool.info, kind->key, strlen(kind->key));
    ptc_kind_apply(kind, &tool);
    tool.info.signature = kind->signature;
    tool.info.signature_len = strlen(kind->signature);
    tool.info.description = kind->doc;
    tool.info.description_len = strlen(kind->doc);
    tool.info.read_only = tool.info.idempotent = true;
    return (ptc_definition_note(def, &tool) && ptc_toolset_put(def->tools, &tool, NULL)) ||
           ptc_why_no_memory(fault);
}

static bool put_builtins(PtcAgentDef *def, PtcWhy *fault)
{
    return (!def->grep || (put_builtin(def, &ptc_grep_kind, fault) &&
                           put_builtin(def, &ptc_grep_n_kind, fault))) &&
           (!def->llm_query || put_builtin(def, &ptc_llm_query_kind, fault));
}

/* ----------------------------------------------------------------------- who calls what */

/* "self" has the signature and description of the agent. */
static bool finish_self(PtcAgentDef *def, PtcTool *tool, PtcWhy *fault)
{
    char path[PTC_TOOL_NAME_MAX + 16];
    snprintf(path, sizeof path, "tools.%s", tool->info.name);
    if (!def->sig)
        return ptc_fault_set(fault, path, "\"self\" needs an agent with a signature");
    tool->info.sig = def->sig;
    tool->info.signature = def->signature.bytes;
    tool->info.signature_len = def->signature.len;
    tool->info.description = def->description.bytes;
    tool->info.description_len = def->description.len;
    return true;
}

static bool set_native_name(PtcAgentDef *def, const PtcTool *tool, PtcAgentTool *note)
{
    char *name = ptc_arena_alloc(&def->arena, tool->info.name_len + 1);
    if (!name)
        return false;
    for (size_t i = 0; i <= tool->info.name_len; i++)
        name[i] = tool->info.name[i] == '-' ? '_' : tool->info.name[i];
    note->native_name = (PtcText){name, tool->info.name_len};
    return true;
}

static void set_callers(PtcAgentDef *def, PtcTool *tool, PtcAgentTool *note)
{
    PtcExpose expose = ptc_effective_expose(tool->info.expose, def->output, def->transport);
    bool text = def->output == PTC_OUTPUT_TEXT;
    note->native = text && expose != PTC_EXPOSE_PTC_LISP;
    note->in_programs = def->mode != PTC_MODE_TEXT && expose != PTC_EXPOSE_NATIVE;
    tool->native_only = !note->in_programs;
}

static bool is_note(const PtcAgentDef *def, const void *user)
{
    for (const PtcAgentNote *n = def->notes; n; n = n->next)
        if (&n->tool == user)
            return true;
    return false;
}

/* A set that came from C may have names that a file could not. */
static bool check_host_name(const PtcAgentDef *def, const PtcTool *tool, PtcWhy *fault)
{
    char path[PTC_TOOL_NAME_MAX + 16];
    snprintf(path, sizeof path, "tools.%s", tool->info.name);
    if (!has_tool_name(tool))
        return ptc_fault_set(fault, path,
                             "a tool's name is a letter, then letters, digits, - and _");
    const PtcTool *first = find_same_tool(def->tools, tool_name(tool));
    return first == tool ||
           ptc_fault_set(fault, path, "at a provider it would have the same name as %s",
                         first->info.name);
}

static bool finish_tool(PtcAgentDef *def, size_t i, PtcWhy *fault)
{
    PtcTool *tool = &def->tools->items[i];
    bool noted = is_note(def, tool->user);
    PtcAgentTool *note = noted ? tool->user : ptc_definition_note(def, NULL);
    if (!note || !set_native_name(def, tool, note))
        return ptc_why_no_memory(fault);
    if (!check_host_name(def, tool, fault) ||
        (note->child == def && !finish_self(def, tool, fault)))
        return false;
    set_callers(def, tool, note);
    def->agent_tools[i] = note;
    return true;
}

/* -------------------------------------------------------------------------------- offers */

static bool add_offer(PtcAgentDef *def, PtcLlmTool *offers, size_t *numbers, size_t tool)
{
    const PtcToolInfo *info = &def->tools->items[tool].info;
    PtcBuf buf;
    ptc_buf_init(&buf, &def->mem, SCHEMA_BYTES);
    ptc_sig_schema_params(&buf, info->sig, info->extra);
    char *copy = ptc_buf_ok(&buf) ? ptc_arena_alloc(&def->arena, buf.len + 1) : NULL;
    if (copy) {
        memcpy(copy, buf.data, buf.len);
        offers[def->offer_count] =
            (PtcLlmTool){.name = def->agent_tools[tool]->native_name,
                         .description = {info->description ? info->description : "",
                                         info->description ? info->description_len : 0},
                         .parameters = {copy, buf.len}};
        numbers[def->offer_count++] = tool;
    }
    ptc_buf_deinit(&buf);
    return copy != NULL;
}

/* Our system prompt says what lisp_eval is, so the tool need not say it in every request again. */
static const PtcLlmTool eval_of_ours = {
    .name = PTC_TEXT(PTC_TOOL_NAME),
    .description = PTC_TEXT("Runs one program, as the system prompt says."),
    .parameters =
        PTC_TEXT("{\"type\":\"object\",\"properties\":{\"program\":{\"type\":\"string\"}},"
                 "\"required\":[\"program\"],\"additionalProperties\":false}"),
};

static void add_eval(PtcAgentDef *def, PtcLlmTool *offers, size_t *numbers)
{
    PtcProfile profile = def->mode == PTC_MODE_COMBINED ? PTC_PROFILE_IN_PROCESS_TEXT_MODE
                                                        : PTC_PROFILE_IN_PROCESS_WITH_APP_TOOLS;
    offers[def->offer_count] =
        !def->system.text.bytes
            ? eval_of_ours
            : (PtcLlmTool){.name = PTC_TEXT(PTC_TOOL_NAME),
                           .description = ptc_text_cstr(ptc_protocol_description(profile)),
                           .parameters = ptc_text_cstr(ptc_protocol_parameters(profile))};
    numbers[def->offer_count++] = SIZE_MAX;
}

static bool make_offers(PtcAgentDef *def)
{
    size_t n = def->tools->count + 1;
    PtcLlmTool *offers = ptc_arena_alloc(&def->arena, n * sizeof *offers);
    size_t *numbers = ptc_arena_alloc(&def->arena, n * sizeof *numbers);
    if (!offers || !numbers)
        return false;
    for (size_t i = 0; i < def->tools->count; i++)
        if (def->agent_tools[i]->native && !add_offer(def, offers, numbers, i))
            return false;
    if (def->mode == PTC_MODE_TOOL_CALL || def->mode == PTC_MODE_COMBINED)
        add_eval(def, offers, numbers);
    def->offer = offers;
    def->offer_tools = numbers;
    return true;
}

/* A schema is only sent when there are no tools: few providers handle both together as one would expect. */
bool ptc_definition_finish_tools(PtcAgentDef *def, PtcWhy *fault)
{
    if (!put_builtins(def, fault))
        return false;
    def->agent_tools =
        ptc_arena_zalloc(&def->arena, (def->tools->count + 1) * sizeof *def->agent_tools);
    if (!def->agent_tools)
        return ptc_why_no_memory(fault);
    for (size_t i = 0; i < def->tools->count; i++)
        if (!finish_tool(def, i, fault))
            return false;
    if (!make_offers(def))
        return ptc_why_no_memory(fault);
    if (def->mode != PTC_MODE_TEXT || def->offer_count > 0)
        def->send_schema = (PtcText){NULL, 0};
    return true;
}
