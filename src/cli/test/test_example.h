/* SPDX-License-Identifier: MIT
 * test_example.h - the examples in the rows of the builtins and in pages of docs/, as tests. */
#ifndef PTC_CLI_TEST_TEST_EXAMPLE_H
#define PTC_CLI_TEST_TEST_EXAMPLE_H

#include "cli/test/test_run.h"

/* Told about each example: the row's name ("clojure.core/quot"), the line, and the outcome. */
typedef void (*PtcDocReport)(void *user, const char *name, PtcText line, bool ok, PtcText got);

/* A set of examples that is being run. */
typedef struct PtcDocs {
    PtcTestRunner *runner;
    PtcBuf got;
    PtcText session; /* whose definitions the examples share; empty: each stands alone */
    PtcDocReport report;
    void *user;
} PtcDocs;

/* Runs one example, `program => value` or `program !! kind`; it may have several lines. */
void ptc_test_example(PtcDocs *docs, const char *name, PtcText example);

/* Runs the examples of a Markdown page: those in ```ptc fences.  An example may begin on lines before the one with
 * its => or !!, and sees what the examples above it defined.  NULL, or why the page cannot be read. */
PTC_MUST_USE const char *ptc_test_page(PtcTestRunner *runner, PtcMem *mem, const char *path,
                                       PtcDocReport report, void *user);

/* Runs the examples of every row whose name contains `filter` (NULL: all).  A row without examples
 * is reported as a failure. */
void ptc_test_docs(PtcTestRunner *runner, PtcMem *mem, const char *filter, PtcDocReport report,
                   void *user);

#endif
