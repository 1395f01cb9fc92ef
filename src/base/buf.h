/* SPDX-License-Identifier: MIT
 * buf.h - a growable byte buffer with a maximum, charged to a ledger as it grows, and to something else as well when
 * its owner sets `charge`.  Failure is sticky: after one failed append all fail, so a writer may check once at the
 * end. */
#ifndef PTC_BASE_BUF_H
#define PTC_BASE_BUF_H

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

typedef struct PtcBuf {
    PtcMem *mem;
    char *data; /* not NUL-terminated; see ptc_buf_text */
    size_t len, cap, max;
    bool full;   /* the maximum was reached; what came before it is kept */
    bool failed; /* out of memory */
    /* Called for every change of the block's size; false refuses it.  NULL: not called. */
    bool (*charge)(void *user, size_t old, size_t size);
    void *charge_user;
} PtcBuf;

void ptc_buf_init(PtcBuf *buf, PtcMem *mem, size_t max);
void ptc_buf_deinit(PtcBuf *buf);
static inline void ptc_buf_clear(PtcBuf *buf)
{
    buf->len = 0;
    buf->full = buf->failed = false;
}

/* Ends a buffer whose contents went into `whole`: each notes for itself that memory ran out, and `whole` is the one
 * that is looked at in the end. */
static inline void ptc_buf_end_part(PtcBuf *whole, PtcBuf *part)
{
    whole->failed = whole->failed || part->failed;
    ptc_buf_deinit(part);
}

/* Slow half: makes room for `n` more bytes. */
bool ptc_buf_reserve(PtcBuf *buf, size_t n);
/* Gives the block exactly `cap` bytes, at least its length.  False changes nothing. */
PTC_MUST_USE bool ptc_buf_resize(PtcBuf *buf, size_t cap);

static inline bool ptc_buf_ok(const PtcBuf *buf)
{
    return !buf->full && !buf->failed;
}

/* Appends all or nothing; false when full or failed. */
static inline bool ptc_buf_add(PtcBuf *buf, const void *bytes, size_t n)
{
    if (PTC_UNLIKELY(n > buf->cap - buf->len || n > buf->max - buf->len || !ptc_buf_ok(buf)) &&
        !ptc_buf_reserve(buf, n))
        return false;
    if (n)
        memcpy(buf->data + buf->len, bytes, n);
    buf->len += n;
    return true;
}

static inline bool ptc_buf_add_char(PtcBuf *buf, char c)
{
    return ptc_buf_add(buf, &c, 1);
}

static inline bool ptc_buf_add_cstr(PtcBuf *buf, const char *s)
{
    return ptc_buf_add(buf, s, strlen(s));
}

bool ptc_buf_addf(PtcBuf *buf, const char *format, ...) PTC_PRINTF(2, 3);
bool ptc_buf_vaddf(PtcBuf *buf, const char *format, va_list args);

/* The contents, good until the buffer changes; an empty buffer gives an empty text, not an absent one. */
static inline PtcText ptc_buf_view(const PtcBuf *buf)
{
    return (PtcText){buf->data ? buf->data : "", buf->len};
}

/* The contents followed by a NUL (not counted); NULL if failed. */
const char *ptc_buf_text(PtcBuf *buf);

#endif
