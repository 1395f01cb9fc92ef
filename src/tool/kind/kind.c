/* SPDX-License-Identifier: MIT
 * The list of kinds that need no agent, and what reading any kind takes. */
#include "tool/kind/kind.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "tool/kind/command.h"
#include "tool/kind/constant.h"
#include "tool/kind/mock.h"
#include "tool/kind/sql_tool.h"

const PtcToolKind *const ptc_tool_kinds[] = {
    &ptc_command_kind,
    &ptc_sql_kind,
    &ptc_source_kind,
    &ptc_constant_value_kind,
    &ptc_constant_error_kind,
    &ptc_constant_table_kind,
    &ptc_mock_echo,
    &ptc_mock_seq,
    NULL,
};

void ptc_kind_apply(const PtcToolKind *kind, PtcTool *tool)
{
    tool->function = kind->call;
    tool->pure = kind->pure;
    tool->info.type = kind->type;
    tool->info.inside = kind->inside;
    tool->info.uncounted = kind->uncounted;
    tool->info.extra = tool->info.extra || kind->extra;
}

PtcText ptc_kind_shown_name(const PtcToolReader *r)
{
    const PtcToolInfo *info = &r->tool.info;
    return ptc_text_cut((PtcText){info->name, info->name_len}, PTC_TOOLS_FILE_SHOWN);
}

/* The path of the key being read, followed by what is inside it. */
static void set_kind_fault_path(PtcToolReader *r, const char *inner)
{
    ptc_why_at(r->why, "%.*s%s%s%s%s", PTC_ARG(ptc_kind_shown_name(r)), r->key ? "." : "",
               r->key ? r->key : "", *inner ? "." : "", inner);
}

bool ptc_kind_refuse(PtcToolReader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_why_vsay(r->why, PTC_WHY_INVALID, 0, format, args);
    va_end(args);
    set_kind_fault_path(r, "");
    return false;
}

bool ptc_kind_refuse_memory(PtcToolReader *r)
{
    ptc_why_no_memory(r->why);
    set_kind_fault_path(r, "");
    return false;
}

bool ptc_kind_refuse_inside(PtcToolReader *r, const char *path, const char *text)
{
    ptc_kind_refuse(r, "%s", text);
    set_kind_fault_path(r, path);
    return false;
}

bool ptc_kind_refuse_reach(PtcToolReader *r, const char *kind, const char *advice)
{
    return ptc_kind_refuse(r, "%s tools are not allowed here%s%s", kind, advice ? "; " : "",
                           advice ? advice : "");
}

PtcValue ptc_kind_keep(PtcToolReader *r, PtcValue v)
{
    PtcValue kept = ptc_is_obj(v) ? ptc_copy_value(&r->copy, v) : v;
    if (kept == PTC_NONE)
        ptc_kind_refuse_memory(r);
    return kept;
}
