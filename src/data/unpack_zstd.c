/* SPDX-License-Identifier: MIT
 * zstd.  What is used of its interface is small and has not changed since 1.4, so it is declared here, and no header is
 * needed to build. */
#include <dlfcn.h>
#include <string.h>

#include "base/library.h"
#include "data/unpack_int.h"

static const char *const files[] = {"libzstd.so.1", "libzstd.so", NULL};
static const char *const names[] = {"ZSTD_createDCtx",        "ZSTD_freeDCtx",
                                    "ZSTD_DCtx_setParameter", "ZSTD_decompressStream",
                                    "ZSTD_isError",           "ZSTD_getErrorName"};

typedef struct {
    const void *src;
    size_t size, pos;
} ZstdIn;

typedef struct {
    void *dst;
    size_t size, pos;
} ZstdOut;

typedef struct {
    struct {
        void *(*create)(void);
        size_t (*free)(void *decoder);
        size_t (*set)(void *decoder, int parameter, int value);
        size_t (*decompress)(void *decoder, ZstdOut *out, ZstdIn *in);
        unsigned (*is_error)(size_t code);
        const char *(*error_name)(size_t code);
    } lib;
    void *so, *decoder;
} Zstd;

enum { WINDOW_LOG_MAX = 100 /* ZSTD_d_windowLogMax */, WINDOW_LOG = 27 };
_Static_assert(1 << WINDOW_LOG == PTC_UNPACK_WINDOW, "the window is the bound");

static void zstd_stop(void *state)
{
    Zstd *z = state;
    z->lib.free(z->decoder); /* takes NULL */
    dlclose(z->so);
}

static bool zstd_start(void *state, PtcWhy *why)
{
    Zstd *z = state;
    const char *missing;
    z->so = PTC_LIBRARY_LOAD(files, names, &z->lib, &missing);
    if (!z->so)
        return ptc_unpack_no_library(why, "zstd", files[0]);
    z->decoder = z->lib.create();
    if (z->decoder && !z->lib.is_error(z->lib.set(z->decoder, WINDOW_LOG_MAX, WINDOW_LOG)))
        return true;
    zstd_stop(z);
    return ptc_why_no_memory(why);
}

/* The decoder begins with the next frame by itself. */
static bool zstd_again(void *state)
{
    (void)state;
    return true;
}

static PtcUnpackStatus zstd_some(void *state, PtcUnpackStep *step)
{
    Zstd *z = state;
    ZstdIn in = {step->in, step->in_len, 0};
    ZstdOut out = {step->out, step->room, 0};
    size_t left = z->lib.decompress(z->decoder, &out, &in);
    step->in += in.pos;
    step->in_len -= in.pos;
    step->room -= out.pos;
    if (!z->lib.is_error(left))
        return left == 0 ? PTC_UNPACK_END : PTC_UNPACK_MORE;
    return strstr(z->lib.error_name(left), "memory") ? PTC_UNPACK_NO_MEMORY : PTC_UNPACK_DAMAGED;
}

const PtcPacking ptc_packing_zstd = {
    "zstd", "\x28\xb5\x2f\xfd", 4, sizeof(Zstd), zstd_start, zstd_again, zstd_some, zstd_stop,
};
