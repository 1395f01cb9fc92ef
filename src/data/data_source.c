/* SPDX-License-Identifier: MIT
 * Bytes of files.  What always holds: not more than one chunk of the file is kept, and a packed file is unpacked no
 * further than its reader asks. */
#include "data/data_source.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/zlib_library.h"

/* zlib takes about 40 KiB of its own for a stream, whatever the file says. */
struct PtcUnpack {
    PtcZlib lib;
    void *so;
    z_stream stream;
    bool between; /* the end of a packed file was reached */
};

static const int gzip_only = 16 + MAX_WBITS;

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

/* ------------------------------------------------------------------------------------- gzip */

static bool is_packed(const PtcDataSource *s)
{
    return s->len >= 2 && memcmp(s->chunk + s->at, "\x1f\x8b", 2) == 0;
}

static bool start_unpacking(PtcDataSource *s)
{
    struct PtcUnpack *z = ptc_mem_alloc(s->mem, sizeof *z);
    if (!z)
        return ptc_why_no_memory(&s->why);
    memset(z, 0, sizeof *z);
    z->so = ptc_zlib_load(&z->lib, &s->why);
    if (z->so && z->lib.init(&z->stream, gzip_only, ZLIB_VERSION, (int)sizeof z->stream) == Z_OK) {
        s->zip = z;
        return true;
    }
    if (z->so) {
        dlclose(z->so);
        ptc_why_no_memory(&s->why);
    }
    ptc_mem_free(s->mem, z, sizeof *z);
    return false;
}

static void stop_unpacking(PtcDataSource *s)
{
    if (!s->zip)
        return;
    s->zip->lib.end(&s->zip->stream);
    dlclose(s->zip->so);
    ptc_mem_free(s->mem, s->zip, sizeof *s->zip);
    s->zip = NULL;
}

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
        {"SQLite format 3", 16, "it is an SQLite database: sqlite3 -json FILE QUERY writes JSON"},
        {"PAR1", 4, "it is a Parquet file: write it as CSV or JSON Lines"},
        {"\x28\xb5\x2f\xfd", 4, "it is packed with zstd: zstd -dc FILE | ptc PROGRAM"},
        {"\xfd\x37zXZ", 6, "it is packed with xz: xz -dc FILE | ptc PROGRAM"},
        {"BZh", 3, "it is packed with bzip2: bzip2 -dc FILE | ptc PROGRAM"},
        {"%PDF-", 5, "it is a PDF document"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (s->len >= others[i].len + 4 &&
            memcmp(s->chunk + s->at, others[i].begin, others[i].len) == 0)
            return refuse_data_source(s, others[i].what);
    return true;
}

/* What follows a packed file is another one, or the end. */
static bool next_packed(PtcDataSource *s)
{
    struct PtcUnpack *z = s->zip;
    if (s->chunk[s->at] != '\x1f')
        return refuse_data_source(s, "it has other bytes after its packed ones");
    z->between = false;
    return z->lib.reset(&z->stream) == Z_OK || refuse_data_source(s, "it cannot be unpacked");
}

/* Unpacks what the chunk has; how many bytes that made, -1: it is damaged. */
static ptrdiff_t inflate_some(PtcDataSource *s, char *to, size_t n)
{
    struct PtcUnpack *z = s->zip;
    z->stream.next_in = (Bytef *)s->chunk + s->at;
    z->stream.avail_in = (uInt)s->len;
    z->stream.next_out = (Bytef *)to;
    z->stream.avail_out = n < PTC_DATA_SOURCE_CHUNK * 16 ? (uInt)n : PTC_DATA_SOURCE_CHUNK * 16;
    uInt room = z->stream.avail_out;
    int status = z->lib.inflate(&z->stream, Z_NO_FLUSH);
    s->at += s->len - z->stream.avail_in;
    s->len = z->stream.avail_in;
    z->between = status == Z_STREAM_END;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return end_reading(s, status == Z_MEM_ERROR
                                  ? "out of memory"
                                  : "it begins as gzip, but its packed bytes are damaged");
    return (ptrdiff_t)(room - z->stream.avail_out);
}

static ptrdiff_t unpack_source(PtcDataSource *s, char *to, size_t n)
{
    for (;;) {
        if (s->len == 0 && !s->ended && !fill_source_chunk(s))
            return -1;
        if (s->len == 0 && s->zip->between)
            return 0;
        if (s->len == 0)
            return end_reading(s, "it is cut off: its packed bytes end too early");
        if (s->zip->between && !next_packed(s))
            return -1;
        ptrdiff_t got = inflate_some(s, to, n);
        if (got != 0)
            return got;
    }
}

/* ---------------------------------------------------------------------------------- reading */

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
    /* A pipe may bring the first byte alone. */
    bool ok = s->chunk && fill_source_chunk(s);
    if (ok && s->len == 1 && s->chunk[0] == '\x1f') {
        ptrdiff_t more = read_source_file(s, s->chunk + 1, PTC_DATA_SOURCE_CHUNK - 1);
        ok = more >= 0;
        s->len += ok ? (size_t)more : 0;
    }
    if (ok && (is_packed(s) ? start_unpacking(s) : is_readable(s)))
        return true;
    ptc_data_source_close(s);
    return false;
}

void ptc_data_source_close(PtcDataSource *s)
{
    stop_unpacking(s);
    if (s->own && s->fd >= 0)
        close(s->fd);
    ptc_mem_free(s->mem, s->chunk, PTC_DATA_SOURCE_CHUNK);
    s->chunk = NULL;
    s->fd = -1;
}

ptrdiff_t ptc_data_source_read(PtcDataSource *s, char *to, size_t n)
{
    if (s->zip)
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
    if (!s->zip && s->size && s->size < out->max)
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
