/* SPDX-License-Identifier: MIT
 * test_file.h - .ptct files: cases as data.
 *
 *   ;;@ num/quot-001 match loop_limit=10
 *   (quot -7 2)
 *   => -3
 *
 * A header names the case, its policy, limits, `session=NAME` to chain cases, and last `context=JSON`
 * up to the end of the line.  The program follows, from the next line up to the first expectation
 * line.  Expectation lines, in this order:
 *
 *   out> a printed line
 *   => the result as text                json> the result as JSON
 *   !! kind 1:5 "message"                one for each finding; place and message may be left out
 *   hint> what the finding above says    may be left out
 *
 * A case with `agent=FILE` runs that agent with the context, and with `llm=script:FILE` or `llm=replay:FILE` as its
 * model.  Its program sees data/answer, data/calls and data/outcome; without a program the answer is its result, or
 * the reason why there is none its finding.  Lines `call> tool {arguments}`, or `call> none`, stand before the result.
 *
 * A comment (";; ") may stand before a header and between expectation lines. */
#ifndef PTC_CLI_TEST_TEST_FILE_H
#define PTC_CLI_TEST_TEST_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "ptc/ptc.h"

typedef enum {
    PTC_TEST_MATCH,     /* as Clojure or the reference answers */
    PTC_TEST_EXTENSION, /* Clojure has no such thing */
    PTC_TEST_DIVERGES,  /* different on purpose: DIV-... */
    PTC_TEST_BUG,       /* known to be wrong: BUG-...; passing is a failure */
} PtcTestPolicy;

/* What an expectation line of a finding contains besides the kind. */
enum { PTC_SHOW_PLACE = 1, PTC_SHOW_MESSAGE = 2, PTC_SHOW_HINT = 4, PTC_SHOW_ALL = 7 };
enum { PTC_TEST_ERRORS = 10 };

typedef struct PtcTestCase {
    PtcText id, program, session, context; /* the last two may be empty */
    PtcText agent, llm;                    /* files, or empty */
    PtcTestPolicy policy;
    PtcLimits limits;
    int64_t float_precision;
    PtcText expect; /* the expectation lines, joined by line feeds */
    bool wants_json, wants_text, wants_warnings, wants_calls;
    bool ignore_prints; /* doctests only */
    uint8_t error_count, show[PTC_TEST_ERRORS];
    size_t line;                   /* of the header in the file */
    size_t expect_from, expect_to; /* bytes of the file that hold the expectation */
    const char *replaced;          /* by --update: lines to write there instead, or NULL */
    struct PtcTestCase *next;
} PtcTestCase;

typedef struct PtcTestFile {
    const char *path;
    PtcBuf text;
    PtcArena arena;
    PtcTestCase *first, *last;
    size_t error_line; /* 0: about the file as a whole */
    char error[160];
} PtcTestFile;

/* Reads a file.  False: error and error_line say what is wrong with it.  Deinit in either case.  `unfinished`: a case
 * may lack its expectation. */
PTC_MUST_USE bool ptc_test_file_init(PtcTestFile *file, PtcMem *mem, const char *path,
                                     bool unfinished);
void ptc_test_file_deinit(PtcTestFile *file);
/* Writes the file again with every `replaced` expectation.  False: it cannot be written. */
PTC_MUST_USE bool ptc_test_file_update(PtcTestFile *file);

#endif
