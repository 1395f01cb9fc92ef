/* SPDX-License-Identifier: MIT
 * Bytes of files.  What always holds: not more than one chunk of the file is kept, and a packed file is unpacked no
 * further than its reader asks. */
#include "data/data_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/sqlite_tables.h"

/* Always false. */
static bool refuse_data_source(PtcDataSource *s, const char *text)
{
    return ptc_why_say(&s->why, PTC_WHY_INVALID, "%s", text);
}

/* The same for who counts bytes. */
static ptrdiff_t end_reading(PtcDataSource *s, const char *text)
{
    (void)refuse_data_source(s, text);
    return -1;
}

/* --------------------------------------------------------------------------------- the file */

static bool try_again(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (errno == EINTR)
        return true;
    return errno == EAGAIN && (poll(&p, 1, -1) >= 0 || errno == EINTR);
}

static ptrdiff_t read_source_file(PtcDataSource *s, char *to, size_t n)
{
    ssize_t got;
    while ((got = read(s->fd, to, n)) < 0)
        if (!try_again(s->fd))
            return end_reading(s, strerror(errno));
    s->ended = got == 0;
    s->taken += (size_t)got;
    return got;
}

/* Fills the chunk, which must be empty. */
static bool fill_source_chunk(PtcDataSource *s)
{
    ptrdiff_t n = read_source_file(s, s->chunk, PTC_DATA_SOURCE_CHUNK);
    s->at = 0;
    s->len = n < 0 ? 0 : (size_t)n;
    return n >= 0;
}

/* --------------------------------------------------------------------------------- unpacking */

/* Files of other kinds are no text, and would be taken for some. */
static bool is_readable(PtcDataSource *s)
{
    static const struct {
        const char *begin;
        size_t len;
        const char *what;
    } others[] = {
        {"PK\3\4", 4, "it is a spreadsheet or another ZIP archive: save it as CSV, or unzip it"},
        {"\xd0\xcf\x11\xe0", 4, "it is a spreadsheet or another Office file: save it as CSV"},
        {"PAR1", 4, "it is a Parquet file: write it as CSV or JSON Lines"},
        {"BZh", 3, "it is packed with bzip2: bzip2 -dc FILE | ptc PROGRAM"},
        {"%PDF-", 5, "it is a PDF document"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (s->len >= others[i].len + 4 &&
            memcmp(s->chunk + s->at, others[i].begin, others[i].len) == 0)
            return refuse_data_source(s, others[i].what);
    return true;
}

/* Unpacks what the chunk has. */
static ptrdiff_t unpack_chunk(PtcDataSource *s, char *to, size_t n)
{
    size_t most = PTC_DATA_SOURCE_CHUNK * 16;
    PtcUnpackStep step = {s->chunk + s->at, s->len, to, n < most ? n : most};
    ptrdiff_t got = ptc_unpack_some(s->packed, &step, &s->why);
    s->at += s->len - step.in_len;
    s->len = step.in_len;
    return got;
}

static ptrdiff_t unpack_source(PtcDataSource *s, char *to, size_t n)
{
    for (;;) {
        bool full = ptc_unpack_is_full(s->packed);
        if (s->len == 0 && !full && !s->ended && !fill_source_chunk(s))
            return -1;
        if (s->len == 0 && !full && ptc_unpack_at_end(s->packed))
            return 0;
        if (s->len == 0 && !full)
            return end_reading(s, "it is cut off: its packed bytes end too early");
        ptrdiff_t got = unpack_chunk(s, to, n);
        if (got != 0)
            return got;
    }
}

/* ---------------------------------------------------------------------------------- reading */

/* A pipe may bring the first bytes one by one, and they tell what it is. */
static bool fill_source_beginning(PtcDataSource *s)
{
    while (!s->ended && ptc_unpack_may_begin(s->chunk, s->len)) {
        ptrdiff_t more = read_source_file(s, s->chunk + s->len, PTC_DATA_SOURCE_CHUNK - s->len);
        if (more < 0)
            return false;
        s->len += (size_t)more;
    }
    return true;
}

static bool begin_source(PtcDataSource *s)
{
    s->database = ptc_sqlite_tables_begin(s->chunk, s->len);
    if (!ptc_unpack_is_packed(s->chunk, s->len))
        return is_readable(s);
    s->packed = ptc_unpack_new(s->mem, s->chunk, s->len, &s->why);
    return s->packed != NULL;
}

bool ptc_data_source_open(PtcDataSource *s, PtcMem *mem, const char *path)
{
    struct stat st;
    bool own = strcmp(path, "-") != 0;
    *s = (PtcDataSource){.mem = mem, .own = own, .fd = own ? open(path, O_RDONLY | O_CLOEXEC) : 0};
    if (s->fd < 0)
        return refuse_data_source(s, strerror(errno));
    if (fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode))
        s->size = (size_t)st.st_size;
    if (!(s->chunk = ptc_mem_alloc(mem, PTC_DATA_SOURCE_CHUNK)))
        ptc_why_no_memory(&s->why);
    if (s->chunk && fill_source_chunk(s) && fill_source_beginning(s) && begin_source(s))
        return true;
    ptc_data_source_close(s);
    return false;
}

void ptc_data_source_close(PtcDataSource *s)
{
    ptc_unpack_free(s->packed);
    s->packed = NULL;
    if (s->own && s->fd >= 0)
        close(s->fd);
    ptc_mem_free(s->mem, s->chunk, PTC_DATA_SOURCE_CHUNK);
    s->chunk = NULL;
    s->fd = -1;
}

ptrdiff_t ptc_data_source_read(PtcDataSource *s, char *to, size_t n)
{
    if (s->packed)
        return unpack_source(s, to, n);
    if (s->len == 0)
        return s->ended ? 0 : read_source_file(s, to, n);
    n = n < s->len ? n : s->len;
    memcpy(to, s->chunk + s->at, n);
    s->at += n;
    s->len -= n;
    return (ptrdiff_t)n;
}

bool ptc_data_source_all(PtcDataSource *s, PtcBuf *out)
{
    /* A regular file fits in one step, with room to see its end. */
    if (!s->packed && s->size && s->size < out->max)
        (void)!ptc_buf_reserve(out, s->size + 1);
    for (;;) {
        if (out->len == out->max)
            return refuse_data_source(s, "it is too large");
        size_t room = out->max - out->len;
        if (out->len == out->cap &&
            !ptc_buf_reserve(out, room < PTC_DATA_SOURCE_CHUNK ? room : PTC_DATA_SOURCE_CHUNK))
            return ptc_why_no_memory(&s->why);
        room = out->cap - out->len < room ? out->cap - out->len : room;
        ptrdiff_t n = ptc_data_source_read(s, out->data + out->len, room);
        if (n <= 0)
            return n == 0;
        out->len += (size_t)n;
    }
}
