/* SPDX-License-Identifier: MIT
 * file.h - sets of tools from JSON: an object from names to definitions, as docs/tools.md describes it. */
#ifndef PTC_TOOL_FILE_H
#define PTC_TOOL_FILE_H

#include "tool/toolset.h"

enum {
    PTC_TOOLS_FILE_MAX = 1000, /* tools in one file */
    PTC_TOOLS_FILE_WHY = 400,  /* enough room for every error */
    PTC_TOOLS_FILE_PATH = 300, /* of a place in the file; longer ones are cut */
    PTC_TOOLS_FILE_SHOWN = 60, /* bytes of a name in a message */
};

/* What is wrong with a set, and where. */
typedef struct PtcToolsFault {
    char path[PTC_TOOLS_FILE_PATH]; /* search.native_result.limit; "": the set as such */
    char text[PTC_TOOLS_FILE_WHY];  /* a sentence that names the key, and not the tool */
    bool in_tool;                   /* the path begins with a tool's name ... */
    size_t name_len;                /* ... of so many bytes */
    bool no_memory;                 /* out of memory: nothing is wrong with the set */
} PtcToolsFault;

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

/* Adds the tools of `definitions`, a value in any heap; what is needed is copied.  False with the reason in error,
 * which names the tool and the key; the set then has some of the tools and can only be released. */
PTC_MUST_USE bool ptc_tools_read(PtcTools *tools, PtcValue definitions,
                                 const PtcToolsFileOptions *allow, char *error, size_t size);

/* The same, with the place of what is wrong. */
PTC_MUST_USE bool ptc_tools_read_at(PtcTools *tools, PtcValue definitions,
                                    const PtcToolsFileOptions *allow, PtcToolsFault *fault);

/* The same for the text of a file. */
PTC_MUST_USE bool ptc_tools_read_json(PtcTools *tools, const char *text, size_t len,
                                      const PtcToolsFileOptions *allow, char *error, size_t size);

/* Reads "command,http", in any order; false with the reason. */
PTC_MUST_USE bool ptc_tools_read_allowed(const char *text, PtcToolsFileOptions *allow, char *error,
                                         size_t size);

#endif
