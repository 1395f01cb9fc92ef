/* SPDX-License-Identifier: MIT
 * api_int.h - declarations shared by the files of the public API.  They check what a host may get wrong and pass it
 * to the engine; whatever computes something lives below. */
#ifndef PTC_API_API_INT_H
#define PTC_API_API_INT_H

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/session.h"
#include "tool/call.h"

/* A host built against an older header knows fewer fields: only the bytes that both sides know are copied, in either
 * direction.  `full` holds defaults before copy_in. */
static inline bool api_copy_in(void *full, size_t full_size, const void *given)
{
    size_t size;
    if (!given)
        return true;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return false;
    memcpy(full, given, size < full_size ? size : full_size);
    return true;
}

static inline void api_copy_out(void *given, size_t given_size, const void *full, size_t full_size)
{
    memcpy(given, full, given_size < full_size ? given_size : full_size);
    if (given_size >= sizeof(size_t))
        memcpy(given, &given_size, sizeof given_size); /* every struct begins with its size */
}

/* Is nothing running in the engine, so that it may be used? */
static inline bool api_idle(Ptc *ptc)
{
    return ptc && !atomic_load(&ptc->running);
}

/* Length pointers may be NULL everywhere. */
static inline void api_set_len(size_t *len, size_t n)
{
    if (len)
        *len = n;
}

/* The contents of a buffer, followed by a NUL that does not count; NULL: out of memory. */
static inline const char *api_cstr(PtcBuf *buf)
{
    if (!ptc_buf_ok(buf) || !ptc_buf_reserve(buf, 1))
        return NULL;
    buf->data[buf->len] = 0;
    return buf->data;
}

/* What a call was refused for that has a NULL, or a struct without its size, where it may not. */
#define PTC_API_NOT_MADE "an argument is NULL, or a struct was not set up with its *_init function"

/* The same for functions that also need an engine that is not running. */
#define PTC_API_BUSY "an argument is NULL, or the engine is running a program"

/* Writes what was wrong, if the host wants to know. */
static inline PtcStatus api_refuse(PtcStatus status, char *error, size_t size, const char *why)
{
    if (error && size)
        snprintf(error, size, "%s", why);
    return status;
}

/* The same for what was wrong with data. */
static inline PtcStatus api_refuse_data(const PtcWhy *why, char *error, size_t size)
{
    char text[sizeof why->path + sizeof why->text + 2];
    snprintf(text, sizeof text, "%s%s%s", why->path, why->path[0] ? ": " : "", why->text);
    return api_refuse(why->class == PTC_WHY_NO_MEMORY ? PTC_NO_MEMORY : PTC_BAD_DATA, error, size,
                      text);
}

#endif
