/* SPDX-License-Identifier: MIT
 * Text for a terminal.  What always holds: nothing that is written to a terminal through here can control it,
 * whatever bytes the text has. */
#include "cli/out/shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "cli/io.h"
#include "json/parse.h"
#include "value/str.h"

enum { USUAL_COLUMNS = 80, LEAST_COLUMNS = 20 };

bool ptc_shown_on(int fd)
{
    return isatty(fd) == 1;
}

bool ptc_shown_colour(int fd)
{
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    return !(plain && *plain) && term && strcmp(term, "dumb") != 0 && ptc_shown_on(fd);
}

size_t ptc_shown_columns(void)
{
    struct winsize size;
    if (ioctl(PTC_IO_STDOUT, TIOCGWINSZ, &size) != 0 || size.ws_col < LEAST_COLUMNS)
        return USUAL_COLUMNS;
    return size.ws_col;
}

size_t ptc_shown_lines(void)
{
    struct winsize size;
    return ioctl(PTC_IO_STDOUT, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

size_t ptc_shown_width(const char *text, size_t len)
{
    size_t width = 0;
    for (size_t i = 0; i < len;) {
        uint32_t code = (unsigned char)text[i];
        size_t n = code < 0x80 ? 1 : ptc_utf8_decode(text + i, len - i, &code);
        int columns = code < 0x80 ? 1 : utf8proc_charwidth((utf8proc_int32_t)code);
        width += columns < 0 ? 1 : (size_t)columns;
        i += n ? n : 1;
    }
    return width;
}

/* Control characters of both kinds, and those that change the direction of writing. */
static bool is_terminal_action(uint32_t c)
{
    bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
    bool turns = c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
                 (c >= 0x2066 && c <= 0x2069);
    return control || turns;
}

/* For valid UTF-8. */
static void add_valid_shown(PtcBuf *out, const char *text, size_t len)
{
    size_t plain = 0; /* where the bytes that are not in out yet begin */
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t c;
        n = ptc_utf8_decode(text + i, len - i, &c);
        if (!is_terminal_action(c))
            continue;
        ptc_buf_add(out, text + plain, i - plain);
        ptc_buf_addf(out, "\\u%04x", (unsigned)c);
        plain = i + n;
    }
    ptc_buf_add(out, text + plain, len - plain);
}

void ptc_shown_add(PtcBuf *out, const char *text, size_t len)
{
    while (len > 0) {
        size_t good = ptc_utf8_valid_prefix(text, len);
        add_valid_shown(out, text, good);
        if (good < len)
            ptc_buf_addf(out, "\\x%02x", (unsigned char)text[good++]);
        text += good;
        len -= good;
    }
}

static bool write_shown(int fd, const char *text, size_t len, const char *end)
{
    PtcMem mem;
    PtcBuf out;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    ptc_buf_init(&out, &mem, PTC_UNBOUNDED);
    ptc_shown_add(&out, text, len);
    ptc_buf_add_cstr(&out, end);
    bool made = ptc_buf_ok(&out);
    if (!made)
        errno = ENOMEM; /* as if the system had said so */
    bool ok = made && ptc_io_write(fd, out.data, out.len);
    ptc_buf_deinit(&out);
    return ok;
}

bool ptc_shown_write(int fd, const char *text, size_t len)
{
    return ptc_shown_on(fd) ? write_shown(fd, text, len, "") : ptc_io_write(fd, text, len);
}

bool ptc_shown_write_line(int fd, const char *text, size_t len)
{
    return ptc_shown_on(fd) ? write_shown(fd, text, len, "\n") : ptc_io_write_line(fd, text, len);
}

bool ptc_shown_result(const char *command, const char *text, size_t len)
{
    if (ptc_shown_write_line(PTC_IO_STDOUT, text, len))
        return true;
    if (errno != EPIPE)
        ptc_io_printf(PTC_IO_STDERR, "ptc %s: standard output cannot be written: %s\n", command,
                      strerror(errno));
    return false;
}

bool ptc_shown_answer(const char *command, PtcHeap *heap, PtcText json)
{
    PtcJsonError e;
    bool string = json.len > 1 && json.bytes[0] == '"';
    PtcValue v = string ? ptc_json_parse(heap, json.bytes, json.len, &e) : PTC_NONE;
    PtcText text = v == PTC_NONE ? json : ptc_str_text(v);
    if (!text.bytes)
        text = PTC_TEXT("null");
    return ptc_shown_result(command, text.bytes, text.len);
}
