/* SPDX-License-Identifier: MIT
 * file.h - sets of tools from JSON: an object from names to definitions, as docs/tools.md describes it. */
#ifndef PTC_TOOL_FILE_H
#define PTC_TOOL_FILE_H

#include "tool/toolset.h"

enum {
    PTC_TOOLS_FILE_MAX = 1000, /* tools in one file */
    PTC_TOOLS_FILE_SHOWN = 60, /* bytes of a name in a message */
};

typedef struct PtcToolsFileOptions {
    /* What may reach outside the process.  Both false for input that comes from elsewhere. */
    bool command, http;
    /* Who may change that and how, for whoever is refused: "--allow-tools command allows them"; NULL: nobody. */
    const char *command_advice, *http_advice;
    const struct PtcToolKind *const *kinds; /* that there are; NULL: those that need no agent */
    /* Whose tools they are, for the functions of kinds that need an agent; NULL: nobody's, and such kinds are refused.
     * `check` is called with it for each tool before it is put into the set. */
    void *agent;
    bool (*check)(void *agent, const PtcTool *tool, PtcWhy *why);
} PtcToolsFileOptions;

/* Adds the tools of `definitions`, a value in any heap; what is needed is copied.  What is wrong is said with its path,
 * such as search.native_result.limit ("": the set as such), in a text that names the tool and the key; the set then has
 * some of the tools and can only be released. */
PTC_MUST_USE bool ptc_tools_read(PtcTools *tools, PtcValue definitions,
                                 const PtcToolsFileOptions *allow, PtcWhy *why);

/* The same, with a text that does not name the tool. */
PTC_MUST_USE bool ptc_tools_read_at(PtcTools *tools, PtcValue definitions,
                                    const PtcToolsFileOptions *allow, PtcWhy *why);

/* The same for the text of a file. */
PTC_MUST_USE bool ptc_tools_read_json(PtcTools *tools, const char *text, size_t len,
                                      const PtcToolsFileOptions *allow, PtcWhy *why);

/* Reads "command,http", in any order. */
PTC_MUST_USE bool ptc_tools_read_allowed(const char *text, PtcToolsFileOptions *allow, PtcWhy *why);

#endif
