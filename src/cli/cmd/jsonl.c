/* SPDX-License-Identifier: MIT
 * Batches on standard input.  What always holds: each line that is not blank is answered with one line, in order,
 * before the next is read. */
#include "cli/cmd/jsonl.h"

#include <string.h>

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "net/lines.h"

/* Answers to lines that never reach the engine. */
#define ANSWER(reason, kind, message)                                                          \
    "{\"id\":null,\"ok\":false,\"reason\":\"" reason "\",\"phase\":\"parse\",\"kind\":\"" kind \
    "\",\"message\":\"" message "\",\"line\":0,\"column\":0,\"errors\":[{\"kind\":\"" kind     \
    "\",\"message\":\"" message "\",\"line\":0,\"column\":0,\"hint\":\"\"}],\"prints\":[]}"

static const char too_long_line[] =
    ANSWER("args_error", "args_error", "the line is longer than 64 MiB");
static const char no_memory[] =
    ANSWER("memory_limit", "memory_exceeded", "out of memory while answering this line");

int ptc_jsonl_each(PtcMem *mem, const char *command, const char *too_long, PtcJsonlAnswer answer,
                   void *user)
{
    PtcLines lines;
    PtcLineStatus status;
    PtcText line;
    bool written = true;
    ptc_lines_init(&lines, mem, PTC_IO_STDIN, PTC_IO_MAX);
    do {
        status = ptc_lines_next(&lines, &line);
        if (status == PTC_LINE_OK && !ptc_line_is_blank(line))
            written = answer(user, line.bytes, line.len);
        else if (status == PTC_LINE_TOO_LONG)
            written = ptc_shown_result(command, too_long, strlen(too_long));
    } while (written && (status == PTC_LINE_OK || status == PTC_LINE_TOO_LONG));
    ptc_lines_deinit(&lines);
    if (status == PTC_LINE_FAILED)
        ptc_io_printf(PTC_IO_STDERR, "ptc %s: standard input cannot be read\n", command);
    return written && status == PTC_LINE_END ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

typedef struct {
    Ptc *ptc;
    const PtcBatchOptions *options;
} JsonlBatch;

static bool answer_eval_line(void *user, const char *line, size_t len)
{
    const JsonlBatch *b = user;
    char *text;
    size_t text_len;
    if (ptc_batch_line(b->ptc, line, len, b->options, &text, &text_len) != PTC_OK)
        return ptc_shown_result("eval", no_memory, sizeof no_memory - 1);
    bool written = ptc_shown_result("eval", text, text_len);
    ptc_text_free(b->ptc, text, text_len);
    return written;
}

int ptc_jsonl_run(PtcMem *mem, Ptc *ptc, const PtcBatchOptions *options)
{
    JsonlBatch batch = {ptc, options};
    return ptc_jsonl_each(mem, "eval", too_long_line, answer_eval_line, &batch);
}
