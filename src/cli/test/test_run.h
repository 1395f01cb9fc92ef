/* SPDX-License-Identifier: MIT
 * test_run.h - runs one case and says what happened in the words of expectation lines. */
#ifndef PTC_CLI_TEST_TEST_RUN_H
#define PTC_CLI_TEST_TEST_RUN_H

#include "cli/test/test_file.h"

enum { PTC_TEST_SESSIONS = 32 }; /* in one file */

typedef struct PtcTestRunner {
    bool gc_stress;   /* collect at every safepoint */
    bool torture;     /* fail allocation 1, 2, 3, ... of every case */
    PtcMem *mem;      /* for agents of cases */
    const char *path; /* of the file; NULL: there is none */
    Ptc *ptc;         /* for all cases of a file: it must survive each of them */
    struct {
        PtcText name; /* borrowed from the file */
        PtcSession *session;
    } sessions[PTC_TEST_SESSIONS];
    size_t session_count;
} PtcTestRunner;

/* A new engine without sessions.  False: out of memory. */
PTC_MUST_USE bool ptc_test_runner_start(PtcTestRunner *runner);
void ptc_test_runner_stop(PtcTestRunner *runner);

/* Runs a case.  *got becomes the expectation lines that would be true, in the detail that the case has; *full (may be
 * NULL) has every detail.  Returns whether they are the expected ones. */
PTC_MUST_USE bool ptc_test_run(PtcTestRunner *runner, const PtcTestCase *c, PtcBuf *got,
                               PtcBuf *full);

#endif
