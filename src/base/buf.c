/* SPDX-License-Identifier: MIT
 * Growable buffers.  What always holds: `cap` never exceeds the maximum plus the NUL after it, and every byte of it
 * is charged to the ledger. */
#include "base/buf.h"

#include <stdio.h>

/* With less than that, a buffer near a limit would grow byte by byte. */
enum { LEAST_GROWTH = 4096 };

void ptc_buf_init(PtcBuf *buf, PtcMem *mem, size_t max)
{
    memset(buf, 0, sizeof *buf);
    buf->mem = mem;
    buf->max = max;
}

void ptc_buf_deinit(PtcBuf *buf)
{
    ptc_mem_free(buf->mem, buf->data, buf->cap);
    if (buf->charge)
        (void)buf->charge(buf->charge_user, buf->cap, 0);
    buf->data = NULL;
    buf->len = buf->cap = 0;
}

bool ptc_buf_resize(PtcBuf *buf, size_t cap)
{
    if (buf->charge && !buf->charge(buf->charge_user, buf->cap, cap))
        return false;
    char *p = ptc_mem_resize(buf->mem, buf->data, buf->cap, cap);
    if (!p) {
        if (buf->charge)
            (void)buf->charge(buf->charge_user, cap, buf->cap);
        return false;
    }
    buf->data = p;
    buf->cap = cap;
    return true;
}

/* Grows the block to hold `need` bytes: by doubling, so that appends stay linear, but never past the maximum and the
 * NUL after it.  If that much is refused, it asks for less. */
static bool grow_buffer(PtcBuf *buf, size_t need)
{
    size_t cap = buf->cap < 64 ? 64 : buf->cap;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    if (buf->max < SIZE_MAX && cap > buf->max + 1)
        cap = buf->max + 1;
    while (!ptc_buf_resize(buf, cap)) {
        if (cap == need) {
            buf->failed = true;
            return false;
        }
        cap = cap - need < LEAST_GROWTH ? need : need + (cap - need) / 2;
    }
    return true;
}

bool ptc_buf_reserve(PtcBuf *buf, size_t n)
{
    if (!ptc_buf_ok(buf))
        return false;
    if (n > buf->max || buf->len > buf->max - n) {
        buf->full = true;
        return false;
    }
    return buf->len + n <= buf->cap || grow_buffer(buf, buf->len + n);
}

bool ptc_buf_vaddf(PtcBuf *buf, const char *format, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    bool ok = n >= 0;
    if (ok && (size_t)n < sizeof small)
        ok = ptc_buf_add(buf, small, (size_t)n);
    else if (ok)
        ok = ptc_buf_reserve(buf, (size_t)n) &&
             (buf->cap > buf->len + (size_t)n || grow_buffer(buf, buf->len + (size_t)n + 1));
    if (ok && (size_t)n >= sizeof small) {
        vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
        buf->len += (size_t)n;
    }
    va_end(again);
    return ok;
}

bool ptc_buf_addf(PtcBuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool ok = ptc_buf_vaddf(buf, format, args);
    va_end(args);
    return ok;
}

const char *ptc_buf_text(PtcBuf *buf)
{
    if (buf->failed || (buf->len == buf->cap && !grow_buffer(buf, buf->len + 1)))
        return NULL;
    buf->data[buf->len] = 0;
    return buf->data;
}
