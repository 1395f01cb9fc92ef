/* SPDX-License-Identifier: MIT
 * unpack.h - packed bytes, piece by piece: gzip, zstd, xz.
 *
 * Which of them is seen from the first bytes.  The library behind each is loaded with the first file that needs it.
 * Each has a bound on its own memory (PTC_UNPACK_WINDOW), whatever a file says; what is unpacked has none here. */
#ifndef PTC_DATA_UNPACK_H
#define PTC_DATA_UNPACK_H

#include <stddef.h>

#include "base/mem.h"
#include "base/why.h"

enum {
    PTC_UNPACK_BEGIN = 6,            /* bytes that tell all kinds apart */
    PTC_UNPACK_WINDOW = 128 * PTC_MB /* 65 MiB are enough for xz -9, 8 MiB for zstd -19 */
};

typedef struct PtcUnpack PtcUnpack;

/* Do packed bytes begin like this? */
bool ptc_unpack_is_packed(const char *bytes, size_t len);
/* Could they, with more bytes behind them? */
bool ptc_unpack_may_begin(const char *bytes, size_t len);

/* For a file that begins like this.  NULL with the reason in why. */
PTC_MUST_USE PtcUnpack *ptc_unpack_new(PtcMem *mem, const char *bytes, size_t len, PtcWhy *why);
void ptc_unpack_free(PtcUnpack *u);

/* What is to be unpacked, shortened by what was, and where to. */
typedef struct PtcUnpackStep {
    const char *in;
    size_t in_len;
    char *out;
    size_t room;
} PtcUnpackStep;

/* How many bytes that made; -1: the reason is in why.  None: it needs more. */
PTC_MUST_USE ptrdiff_t ptc_unpack_some(PtcUnpack *u, PtcUnpackStep *step, PtcWhy *why);
/* Is it at the end of a packed file, behind which may be another? */
bool ptc_unpack_at_end(const PtcUnpack *u);
/* May there be more without more input? */
bool ptc_unpack_is_full(const PtcUnpack *u);

#endif
