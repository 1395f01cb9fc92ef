/* SPDX-License-Identifier: MIT
 * --tools: a text or the file that it names. */
#include "cli/cmd/tools_in.h"

#include <stdio.h>

#include "agent/agent_kinds.h"
#include "base/buf.h"
#include "cli/cmd/data_in.h"
#include "cli/io.h"

PtcTools *ptc_tools_in_load(PtcMem *mem, const char *text, char why[PTC_TOOLS_IN_WHY])
{
    static const PtcToolsFileOptions all = {
        .command = true, .http = true, .kinds = ptc_agent_kinds};
    char wrong[PTC_TOOLS_FILE_WHY] = "out of memory";
    const char *error = NULL;
    bool named = text[0] == '@';
    PtcBuf file;
    PtcWhy forgot;
    if (ptc_data_in_forgot_at("--tools", text, &forgot)) {
        snprintf(why, PTC_TOOLS_IN_WHY, "%.*s", PTC_ARG_OF(forgot.text, PTC_TOOLS_IN_WHY - 1));
        return NULL;
    }
    ptc_buf_init(&file, mem, PTC_IO_MAX);
    if (named)
        error = ptc_io_read(&file, text + 1);
    else
        ptc_buf_add_cstr(&file, text);
    PtcTools *tools = ptc_tools_new();
    bool ok = !error && tools &&
              ptc_tools_read_json(tools, file.data, file.len, &all, wrong, sizeof wrong);
    ptc_buf_deinit(&file);
    if (ok)
        return tools;
    if (error)
        snprintf(why, PTC_TOOLS_IN_WHY, "cannot read the tools %.200s: %s", text + 1, error);
    else
        snprintf(why, PTC_TOOLS_IN_WHY, "%.200s: %s", named ? text + 1 : "--tools", wrong);
    ptc_tools_free(tools);
    return NULL;
}
