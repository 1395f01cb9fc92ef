/* SPDX-License-Identifier: MIT
 * line_file.h - a file of JSON lines, such as a script or a record: read whole, split into lines, blank lines
 * dropped. */
#ifndef PTC_LLM_LINE_FILE_H
#define PTC_LLM_LINE_FILE_H

#include "base/buf.h"
#include "base/why.h"

enum { PTC_LINE_FILE_LINE = 64 * PTC_MB };   /* bytes of a line */
#define PTC_LINE_FILE_BYTES ((size_t)PTC_GB) /* of all */

typedef struct PtcLineFile {
    PtcMem *mem;
    PtcBuf text;
    PtcText *lines;
    uint32_t *numbers; /* of each line in the file, from 1 */
    size_t count, line_cap, number_cap;
} PtcLineFile;

/* False with a reason. */
PTC_MUST_USE bool ptc_line_file_read(PtcLineFile *file, PtcMem *mem, const char *path, PtcWhy *why);
/* The same for a text, which is copied. */
PTC_MUST_USE bool ptc_line_file_take(PtcLineFile *file, PtcMem *mem, PtcText text, PtcWhy *why);
void ptc_line_file_deinit(PtcLineFile *file);

#endif
