/* SPDX-License-Identifier: MIT
 * file.h - sets of tools from JSON: an object from names to definitions, as docs/tools.md describes it. */
#ifndef PTC_TOOL_FILE_H
#define PTC_TOOL_FILE_H

#include "tool/toolset.h"

enum {
    PTC_TOOLS_FILE_MAX = 1000, /* tools in one file */
    PTC_TOOLS_FILE_WHY = 400,  /* enough room for every error */
};

/* What may reach beyond the process.  All false for input that comes from elsewhere. */
typedef struct PtcToolsFileOptions {
    bool command, http;
} PtcToolsFileOptions;

/* Adds the tools of `definitions`, a value of any heap; what is needed of it is copied.  False with the reason in error,
 * which names the tool and the key; the set has then some of the tools and is only good for ptc_toolset_release. */
PTC_MUST_USE bool ptc_tools_read(PtcTools *tools, PtcValue definitions,
                                 const PtcToolsFileOptions *allow, char *error, size_t size);

/* The same for the text of a file. */
PTC_MUST_USE bool ptc_tools_read_json(PtcTools *tools, const char *text, size_t len,
                                      const PtcToolsFileOptions *allow, char *error, size_t size);

/* Reads "command,http", in any order; false with the reason. */
PTC_MUST_USE bool ptc_tools_read_allowed(const char *text, PtcToolsFileOptions *allow, char *error,
                                         size_t size);

#endif
