/* SPDX-License-Identifier: MIT
 * --tools: a text or the file that it names. */
#include "cli/cmd/tools_in.h"

#include "agent/agent_kinds.h"
#include "base/buf.h"
#include "cli/cmd/data_in.h"
#include "cli/io.h"
#include "tool/learn.h"

PtcTools *ptc_tools_in_load(PtcMem *mem, const char *text, bool learns, PtcWhy *why)
{
    static const PtcToolsFileOptions all = {
        .command = true, .http = true, .kinds = ptc_agent_kinds};
    const char *error = NULL;
    bool named = text[0] == '@';
    PtcBuf file;
    if (ptc_data_in_forgot_at("--tools", text, why))
        return NULL;
    ptc_why_no_memory(why);
    ptc_buf_init(&file, mem, PTC_IO_MAX);
    if (named)
        error = ptc_io_read(&file, text + 1);
    else
        ptc_buf_add_cstr(&file, text);
    PtcTools *tools = ptc_tools_new();
    bool ok = !error && tools && ptc_tools_read_json(tools, file.data, file.len, &all, why);
    ptc_buf_deinit(&file);
    if (ok) {
        ptc_toolset_learn(tools, learns);
        return tools;
    }
    if (error)
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "cannot read the tools %.200s: %s", text + 1, error);
    else
        ptc_why_prefix(why, "%.200s: ", named ? text + 1 : "--tools");
    ptc_tools_free(tools);
    return NULL;
}
