/* SPDX-License-Identifier: MIT
 * test_doc.h - the examples in the rows of the builtins, as tests. */
#ifndef PTC_CLI_TEST_DOC_H
#define PTC_CLI_TEST_DOC_H

#include "cli/test_run.h"

/* Told about each example: the row's name ("clojure.core/quot"), the line, and what came of it. */
typedef void (*PtcDocReport)(void *user, const char *name, PtcText line, bool ok, PtcText got);

/* Runs the examples of every row whose name contains `filter` (NULL: all).  A row without examples
 * is reported as a failure. */
void ptc_test_docs(PtcTestRunner *runner, PtcMem *mem, const char *filter, PtcDocReport report,
                   void *user);

#endif
