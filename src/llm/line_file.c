/* SPDX-License-Identifier: MIT
 * Files of JSON lines.  What always holds: the file is read whole and within its limits before any line is used. */
#include "llm/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "net/lines.h"

static bool cut_file_lines(PtcLineFile *f, PtcWhy *why)
{
    PtcText rest = ptc_buf_view(&f->text);
    for (uint32_t number = 1; rest.len; number++) {
        const char *end = memchr(rest.bytes, '\n', rest.len);
        PtcText line = {rest.bytes, end ? (size_t)(end - rest.bytes) : rest.len};
        size_t used = line.len + (end != NULL);
        rest = (PtcText){rest.bytes + used, rest.len - used};
        if (ptc_line_is_blank(line))
            continue;
        if (line.len > PTC_LINE_FILE_LINE)
            return ptc_why_say(why, PTC_WHY_INVALID, "line %u is longer than 64 MiB", number);
        if (!PTC_GROW(f->mem, &f->lines, &f->line_cap, f->count + 1) ||
            !PTC_GROW(f->mem, &f->numbers, &f->number_cap, f->count + 1))
            return ptc_why_no_memory(why);
        f->numbers[f->count] = number;
        f->lines[f->count++] = line;
    }
    return true;
}

static void init_line_file(PtcLineFile *f, PtcMem *mem)
{
    *f = (PtcLineFile){.mem = mem};
    ptc_buf_init(&f->text, mem, PTC_LINE_FILE_BYTES);
}

bool ptc_line_file_take(PtcLineFile *f, PtcMem *mem, PtcText text, PtcWhy *why)
{
    init_line_file(f, mem);
    if (ptc_buf_add(&f->text, text.bytes, text.len))
        return cut_file_lines(f, why);
    return ptc_why_no_memory(why);
}

/* All of an open file. */
static bool read_line_file(PtcLineFile *f, int fd, PtcWhy *why)
{
    enum { LINE_FILE_STEP = 64 * PTC_KB };
    for (;;) {
        if (!ptc_buf_reserve(&f->text, LINE_FILE_STEP))
            return ptc_why_say(why, PTC_WHY_NO_MEMORY,
                               f->text.full ? "it is larger than 1 GiB" : "out of memory");
        ssize_t n = read(fd, f->text.data + f->text.len, LINE_FILE_STEP);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", strerror(errno));
        if (n <= 0)
            return n == 0;
        f->text.len += (size_t)n;
    }
}

bool ptc_line_file_read(PtcLineFile *f, PtcMem *mem, const char *path, PtcWhy *why)
{
    init_line_file(f, mem);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", strerror(errno));
    bool ok = read_line_file(f, fd, why);
    close(fd);
    return ok && cut_file_lines(f, why);
}

void ptc_line_file_deinit(PtcLineFile *f)
{
    ptc_mem_free(f->mem, f->lines, f->line_cap * sizeof *f->lines);
    ptc_mem_free(f->mem, f->numbers, f->number_cap * sizeof *f->numbers);
    ptc_buf_deinit(&f->text);
}
