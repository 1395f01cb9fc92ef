/* SPDX-License-Identifier: MIT
 * xz, by liblzma. */
#include <dlfcn.h>
#include <lzma.h>

#include "base/library.h"
#include "data/unpack_int.h"

static const char *const files[] = {"liblzma.so.5", "liblzma.so", NULL};
static const char *const names[] = {"lzma_stream_decoder", "lzma_code", "lzma_end"};

typedef struct {
    struct {
        __typeof__(lzma_stream_decoder) *decoder;
        __typeof__(lzma_code) *code;
        __typeof__(lzma_end) *end;
    } lib;
    void *so;
    lzma_stream stream;
} Xz;

static bool xz_again(void *state)
{
    Xz *z = state;
    return z->lib.decoder(&z->stream, PTC_UNPACK_WINDOW, 0) == LZMA_OK;
}

static bool xz_start(void *state, PtcWhy *why)
{
    Xz *z = state;
    const char *missing;
    z->so = PTC_LIBRARY_LOAD(files, names, &z->lib, &missing);
    if (!z->so)
        return ptc_unpack_no_library(why, "xz", files[0]);
    if (xz_again(z))
        return true;
    dlclose(z->so);
    return ptc_why_no_memory(why);
}

static PtcUnpackStatus xz_some(void *state, PtcUnpackStep *step)
{
    Xz *z = state;
    z->stream.next_in = (const uint8_t *)step->in;
    z->stream.avail_in = step->in_len;
    z->stream.next_out = (uint8_t *)step->out;
    z->stream.avail_out = step->room;
    lzma_ret status = z->lib.code(&z->stream, LZMA_RUN);
    step->in = (const char *)z->stream.next_in;
    step->in_len = z->stream.avail_in;
    step->room = z->stream.avail_out;
    switch (status) {
    case LZMA_OK:
    case LZMA_BUF_ERROR: return PTC_UNPACK_MORE;
    case LZMA_STREAM_END: return PTC_UNPACK_END;
    case LZMA_MEM_ERROR:
    case LZMA_MEMLIMIT_ERROR: return PTC_UNPACK_NO_MEMORY;
    default: return PTC_UNPACK_DAMAGED;
    }
}

static void xz_stop(void *state)
{
    Xz *z = state;
    z->lib.end(&z->stream);
    dlclose(z->so);
}

const PtcPacking ptc_packing_xz = {
    "xz", "\xfd\x37zXZ", 6, sizeof(Xz), xz_start, xz_again, xz_some, xz_stop,
};
