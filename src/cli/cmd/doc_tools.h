/* SPDX-License-Identifier: MIT
 * doc_tools.h - what `ptc doc` says when it is given tools or upstreams: the language itself is asked, as in the
 * REPL. */
#ifndef PTC_CLI_CMD_DOC_TOOLS_H
#define PTC_CLI_CMD_DOC_TOOLS_H

#include "cli/upstreams/upstreams_open.h"

typedef struct PtcDocOptions {
    const char *tools; /* --tools; NULL: none */
    PtcUpstreamsOptions upstreams;
} PtcDocOptions;

/* Were tools or upstreams named? */
bool ptc_doc_tools_given(const PtcDocOptions *options);
/* Says what each name is; without names, lists the tools.  Returns the exit status. */
int ptc_doc_tools_run(PtcMem *mem, const PtcUsage *usage, const PtcDocOptions *options, int argc,
                      char **argv);

#endif
