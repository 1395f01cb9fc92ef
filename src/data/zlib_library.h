/* SPDX-License-Identifier: MIT
 * zlib_library.h - the functions of zlib that are used, loaded with the first file that is packed: most runs read none,
 * and should not pay for it when they start. */
#ifndef PTC_DATA_ZLIB_LIBRARY_H
#define PTC_DATA_ZLIB_LIBRARY_H

#include <stddef.h>
#include <zlib.h>

#include "base/why.h"

typedef struct PtcZlib {
    int (*init)(z_stream *stream, int bits, const char *version, int size);
    int (*inflate)(z_stream *stream, int flush);
    int (*reset)(z_stream *stream);
    int (*end)(z_stream *stream);
} PtcZlib;

/* Loads it; the handle is for dlclose.  NULL with the reason in why. */
void *ptc_zlib_load(PtcZlib *lib, PtcWhy *why);

#endif
