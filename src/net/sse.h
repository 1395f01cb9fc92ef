/* SPDX-License-Identifier: MIT
 * sse.h - server-sent events from bytes that arrive in pieces of any length.
 *
 * An event is its type and its data; the last `id` and `retry`, which are for reconnecting, are kept.  Comments are
 * ignored. */
#ifndef PTC_NET_SSE_H
#define PTC_NET_SSE_H

#include "base/buf.h"
#include "base/why.h"

enum {
    PTC_SSE_NAME_BYTES = 64, /* for an event's type; a longer one is cut */
    PTC_SSE_ID_BYTES = 512,  /* a longer id is not kept */
};

typedef struct PtcSse {
    /* Called with each event; the texts are valid during the call, and name is "" for an event without a type.
     * False stops. */
    bool (*event)(void *user, PtcText name, PtcText data);
    void *user;
    PtcBuf line, data;
    char name[PTC_SSE_NAME_BYTES];
    size_t name_len;
    char id[PTC_SSE_ID_BYTES]; /* the last one: what to send as Last-Event-ID */
    size_t id_len;
    int64_t retry_ms; /* how long to wait before reconnecting; -1: not said */
    bool has_data;
    bool after_cr; /* a line feed that comes now belongs to the line that ended */
    bool begun;    /* a byte order mark can no longer come */
} PtcSse;

/* `max` is the most bytes of a line and of an event's data. */
void ptc_sse_init(PtcSse *sse, PtcMem *mem, size_t max);
void ptc_sse_deinit(PtcSse *sse);

/* Takes a piece.  False: the callback stopped it (cancelled), a line or the data of an event is too large (refused), or
 * memory ran out; then the stream must not be fed again. */
PTC_MUST_USE bool ptc_sse_feed(PtcSse *sse, PtcText bytes, PtcWhy *why);
/* The stream ended: an event whose closing empty line is missing is delivered too. */
PTC_MUST_USE bool ptc_sse_end(PtcSse *sse, PtcWhy *why);

#endif
