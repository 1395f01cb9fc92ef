/* SPDX-License-Identifier: MIT
 * Reads .env files.  What always holds: the file is only data.  Nothing in it is expanded or executed, and a line
 * that is not understood is skipped. */
#include "base/os/dotenv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/text/secret.h"

static const char blanks[] = " \t\r";

static bool is_variable_name(PtcText name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!ptc_ascii_is_name(name.bytes[i]))
            return false;
    return name.len > 0 && ptc_ascii_begins_name(name.bytes[0]);
}

/* Inside double quotes a backslash makes the next character literal, except that \n is a line feed. */
static bool take_quoted(PtcText t, PtcBuf *out)
{
    char quote = t.bytes[0];
    for (size_t i = 1; i < t.len; i++) {
        char c = t.bytes[i];
        if (c == quote)
            return true;
        if (c == '\\' && quote == '"' && i + 1 < t.len) {
            c = t.bytes[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        ptc_buf_add_char(out, c);
    }
    return false; /* it is never closed */
}

/* Without quotes a value ends at a # that follows a blank. */
static void take_plain(PtcText t, PtcBuf *out)
{
    for (size_t i = 0; i < t.len; i++)
        if (t.bytes[i] == '#' && (i == 0 || memchr(blanks, t.bytes[i - 1], sizeof blanks - 1)))
            t.len = i;
    t = ptc_text_trim(t, blanks);
    ptc_buf_add(out, t.bytes, t.len);
}

/* One line; false stops. */
static bool take_dotenv_line(PtcText line, PtcBuf *value, bool (*pair)(void *, PtcText, PtcText),
                             void *user)
{
    line = ptc_text_trim(line, blanks);
    if (ptc_text_starts(line, "export "))
        line = ptc_text_trim((PtcText){line.bytes + 7, line.len - 7}, blanks);
    const char *sign = line.len ? memchr(line.bytes, '=', line.len) : NULL;
    if (!sign || line.bytes[0] == '#')
        return true;
    PtcText name = ptc_text_trim((PtcText){line.bytes, (size_t)(sign - line.bytes)}, blanks);
    PtcText rest =
        ptc_text_trim((PtcText){sign + 1, line.len - (size_t)(sign - line.bytes) - 1}, blanks);
    if (!is_variable_name(name))
        return true;
    ptc_buf_clear(value);
    if (rest.len && (rest.bytes[0] == '"' || rest.bytes[0] == '\'')) {
        if (!take_quoted(rest, value))
            return true;
    } else {
        take_plain(rest, value);
    }
    return ptc_buf_ok(value) && pair(user, name, ptc_buf_view(value));
}

bool ptc_dotenv_parse(PtcText text, PtcMem *mem, bool (*pair)(void *, PtcText, PtcText), void *user)
{
    PtcBuf value;
    bool ok = true;
    if (text.len >= 3 && memcmp(text.bytes, "\xef\xbb\xbf", 3) == 0)
        text = (PtcText){text.bytes + 3, text.len - 3};
    ptc_buf_init(&value, mem, PTC_DOTENV_BYTES);
    ok = ptc_buf_reserve(&value, text.len < PTC_DOTENV_BYTES ? text.len : PTC_DOTENV_BYTES);
    while (ok && text.len) {
        const char *end = memchr(text.bytes, '\n', text.len);
        size_t n = end ? (size_t)(end - text.bytes) : text.len;
        ok = take_dotenv_line((PtcText){text.bytes, n}, &value, pair, user);
        n += end != NULL;
        text = (PtcText){text.bytes + n, text.len - n};
    }
    if (value.data)
        ptc_secret_wipe(value.data, value.cap);
    ptc_buf_deinit(&value);
    return ok;
}

/* Reads the whole of an open file, whose size must not change meanwhile. */
static bool read_whole_dotenv(int fd, size_t size, PtcBuf *out)
{
    if (!ptc_buf_reserve(out, size))
        return false;
    while (out->len < size) {
        ssize_t n = read(fd, out->data + out->len, size - out->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0)
            break;
        out->len += (size_t)n;
    }
    return true;
}

bool ptc_dotenv_read(const char *path, PtcBuf *out, const char **why)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    *why = fd < 0 || fstat(fd, &info) != 0   ? "it cannot be opened"
           : !S_ISREG(info.st_mode)          ? "it is not a regular file"
           : info.st_size > PTC_DOTENV_BYTES ? "it is larger than 64 KiB"
                                             : NULL;
    if (!*why && !read_whole_dotenv(fd, (size_t)info.st_size, out))
        *why = "it cannot be read";
    if (fd >= 0)
        close(fd);
    return !*why;
}
