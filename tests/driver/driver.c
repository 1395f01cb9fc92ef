/* SPDX-License-Identifier: MIT
 * `ptc-test-driver upstreams|signature` answers every line of standard input that is not blank with one line, in order,
 * before it reads the next.  Exit status: 0 all lines were answered, 1 they could not be read or written, 2 usage. */
#include "driver/driver.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/lines.h"

static bool write_answer(const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, stdout) == len && putchar('\n') == '\n' && fflush(stdout) == 0;
}

static bool answer_line(const PtcDriver *driver, PtcMem *mem, PtcText line)
{
    PtcBuf out;
    ptc_buf_init(&out, mem, SIZE_MAX / 4);
    driver->answer(mem, line, &out);
    bool written = ptc_buf_ok(&out) ? write_answer(out.data, out.len)
                                    : write_answer(driver->no_memory, strlen(driver->no_memory));
    ptc_buf_deinit(&out);
    return written;
}

static int answer_lines(const PtcDriver *driver, PtcMem *mem)
{
    PtcLines lines;
    PtcLineStatus status;
    PtcText line;
    bool written = true;
    ptc_lines_init(&lines, mem, STDIN_FILENO, PTC_DRIVER_LINE_MAX);
    do {
        status = ptc_lines_next(&lines, &line);
        if (status == PTC_LINE_OK && !ptc_line_is_blank(line))
            written = answer_line(driver, mem, line);
        else if (status == PTC_LINE_TOO_LONG)
            written = write_answer(driver->too_long, strlen(driver->too_long));
    } while (written && (status == PTC_LINE_OK || status == PTC_LINE_TOO_LONG));
    ptc_lines_deinit(&lines);
    return written && status == PTC_LINE_END ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const PtcDriver *const drivers[] = {&ptc_driver_signature, &ptc_driver_upstreams};
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    for (size_t i = 0; argc == 2 && i < sizeof drivers / sizeof *drivers; i++)
        if (strcmp(argv[1], drivers[i]->name) == 0)
            return answer_lines(drivers[i], &mem);
    fprintf(stderr, "usage: ptc-test-driver signature|upstreams <REQUESTS.jsonl\n");
    return 2;
}
