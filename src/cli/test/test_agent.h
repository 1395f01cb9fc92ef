/* SPDX-License-Identifier: MIT
 * test_agent.h - the agent of a case: it is run with a script or a record as its model, and what came of it is the data
 * of the case's program.  No request leaves for a provider. */
#ifndef PTC_CLI_TEST_TEST_AGENT_H
#define PTC_CLI_TEST_TEST_AGENT_H

#include "cli/test/test_file.h"

typedef struct PtcTestAgent {
    PtcMem *mem;
    PtcBuf context; /* {"answer", "calls", "outcome"} as JSON */
    PtcBuf lines;   /* what call> lines would be true */
    bool answered;
    char reason[64], message[400]; /* if not, or if it could not be run */
} PtcTestAgent;

/* Runs the agent of a case; names of files are relative to `path`, the file of the case.  False: it could not be run,
 * and the reason says why.  Deinit in either case. */
PTC_MUST_USE bool ptc_test_agent_run(PtcTestAgent *test, PtcMem *mem, const char *path,
                                     const PtcTestCase *c);
void ptc_test_agent_deinit(PtcTestAgent *test);

#endif
