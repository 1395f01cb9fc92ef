/* SPDX-License-Identifier: MIT
 * unpack_int.h - between unpack.c and the kinds of packing. */
#ifndef PTC_DATA_UNPACK_INT_H
#define PTC_DATA_UNPACK_INT_H

#include "data/unpack.h"

typedef enum {
    PTC_UNPACK_MORE,
    PTC_UNPACK_END,
    PTC_UNPACK_DAMAGED,
    PTC_UNPACK_NO_MEMORY
} PtcUnpackStatus;

/* A kind of packing.  Its state is behind the PtcUnpack, zero at first. */
typedef struct PtcPacking {
    char name[8];
    char begin[PTC_UNPACK_BEGIN + 1];
    size_t begin_len, state_size;
    /* Loads the library and makes a decoder; false with the reason in why, and nothing has to be stopped. */
    bool (*start)(void *state, PtcWhy *why);
    /* Ready for another packed file behind the first. */
    bool (*again)(void *state);
    PtcUnpackStatus (*some)(void *state, PtcUnpackStep *step);
    void (*stop)(void *state);
} PtcPacking;

extern const PtcPacking ptc_packing_gzip, ptc_packing_zstd, ptc_packing_xz;

/* The library of a kind is not installed.  Always false. */
bool ptc_unpack_no_library(PtcWhy *why, const char *packing, const char *library);

#endif
