/* SPDX-License-Identifier: MIT
 * gzip, by zlib, which takes about 40 KiB for a stream. */
#include <dlfcn.h>
#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/library.h"
#include "data/unpack_int.h"

static const char *const files[] = {"libz.so.1", "libz.so", NULL};
static const char *const names[] = {"inflateInit2_", "inflate", "inflateReset", "inflateEnd"};

typedef struct {
    struct {
        __typeof__(inflateInit2_) *init;
        __typeof__(inflate) *inflate;
        __typeof__(inflateReset) *reset;
        __typeof__(inflateEnd) *end;
    } lib;
    void *so;
    z_stream stream;
} Gzip;

static const int gzip_only = 16 + MAX_WBITS;

static bool gzip_start(void *state, PtcWhy *why)
{
    Gzip *z = state;
    const char *missing;
    z->so = PTC_LIBRARY_LOAD(files, names, &z->lib, &missing);
    if (!z->so)
        return ptc_unpack_no_library(why, "gzip", files[0]);
    if (z->lib.init(&z->stream, gzip_only, ZLIB_VERSION, (int)sizeof z->stream) == Z_OK)
        return true;
    dlclose(z->so);
    return ptc_why_no_memory(why);
}

static bool gzip_again(void *state)
{
    Gzip *z = state;
    return z->lib.reset(&z->stream) == Z_OK;
}

static PtcUnpackStatus gzip_some(void *state, PtcUnpackStep *step)
{
    Gzip *z = state;
    z->stream.next_in = (const Bytef *)step->in;
    z->stream.avail_in = step->in_len < UINT_MAX ? (uInt)step->in_len : UINT_MAX;
    z->stream.next_out = (Bytef *)step->out;
    z->stream.avail_out = step->room < UINT_MAX ? (uInt)step->room : UINT_MAX;
    int status = z->lib.inflate(&z->stream, Z_NO_FLUSH);
    step->in_len -= (size_t)((const char *)z->stream.next_in - step->in);
    step->in = (const char *)z->stream.next_in;
    step->room -= (size_t)((char *)z->stream.next_out - step->out);
    switch (status) {
    case Z_OK:
    case Z_BUF_ERROR: return PTC_UNPACK_MORE;
    case Z_STREAM_END: return PTC_UNPACK_END;
    case Z_MEM_ERROR: return PTC_UNPACK_NO_MEMORY;
    default: return PTC_UNPACK_DAMAGED;
    }
}

static void gzip_stop(void *state)
{
    Gzip *z = state;
    z->lib.end(&z->stream);
    dlclose(z->so);
}

const PtcPacking ptc_packing_gzip = {
    "gzip", "\x1f\x8b", 2, sizeof(Gzip), gzip_start, gzip_again, gzip_some, gzip_stop,
};
