/* SPDX-License-Identifier: MIT
 * tool_file_help.h - sets of tools from JSON text, and programs that call them. */
#ifndef PTC_TESTS_TOOL_FILE_HELP_H
#define PTC_TESTS_TOOL_FILE_HELP_H

#include "api_help.h"

#include "tool/file.h"

static const PtcToolsFileOptions allow_all = {.command = true, .http = true};

/* The set, or NULL with the reason in why. */
static inline PtcTools *read_tools(const char *json, const PtcToolsFileOptions *allow, PtcWhy *why)
{
    PtcTools *tools = ptc_tools_new();
    ptc_why_init(why);
    if (tools && ptc_tools_read_json(tools, json, strlen(json), allow, why))
        return tools;
    ptc_tools_free(tools);
    return NULL;
}

/* Runs a program with a set that is then let go: its result's text, or "!kind: message".
 * Counts no checks, so that threads may call it. */
static inline const char *run_with(Ptc *ptc, PtcTools *tools, const char *program, char out[TEXT])
{
    PtcRun run = a_run(program, NULL, 0);
    PtcOutcome *o = NULL;
    run.tools = tools;
    PtcStatus status = ptc_eval(ptc, &run, &o);
    ptc_tools_free(tools);
    size_t len;
    const char *text = o && ptc_outcome_ok(o) ? ptc_outcome_text(o, &len, NULL) : NULL;
    const char *none = status == PTC_NO_MEMORY ? "no_memory" : "none";
    PtcError e = status == PTC_OK ? first_error(o) : (PtcError){.kind = none, .message = ""};
    if (text)
        snprintf(out, TEXT, "%s", text);
    else
        snprintf(out, TEXT, "!%s: %s", e.kind, e.message);
    ptc_outcome_free(o);
    return out;
}

/* The same for JSON text, which must be in order. */
static inline const char *run_json(Ptc *ptc, const char *json, const char *program, char out[TEXT])
{
    PtcWhy why;
    PtcTools *tools = read_tools(json, &allow_all, &why);
    CHECK_STR(why.text, "");
    return tools ? run_with(ptc, tools, program, out) : "";
}

#endif
