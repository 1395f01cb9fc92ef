/* SPDX-License-Identifier: MIT
 * eventstream.h - messages of an AWS event stream (application/vnd.amazon.eventstream) from bytes that arrive in
 * pieces.
 *
 *     total length 4 | headers' length 4 | CRC-32 of these 4 | headers | payload | CRC-32 of all before it 4
 *
 * Numbers are big-endian.  A header is a name (length 1, bytes), a type (1) and a value; only strings matter here. */
#ifndef PTC_NET_EVENTSTREAM_H
#define PTC_NET_EVENTSTREAM_H

#include <stdint.h>

#include "base/buf.h"
#include "base/why.h"

enum {
    PTC_EVENTSTREAM_OVERHEAD = 16, /* of a message without headers and payload */
    PTC_EVENTSTREAM_HEADERS = 128 * PTC_KB,
};

/* A message; its texts are valid during the callback, and absent where there was no such header. */
typedef struct PtcEventMessage {
    PtcText message_type;  /* event, exception or error */
    PtcText event_type;    /* of an event or an exception, such as contentBlockDelta */
    PtcText error_code;    /* of an error ... */
    PtcText error_message; /* ... and its text */
    PtcText payload;
} PtcEventMessage;

typedef struct PtcEventStream {
    /* Called with each message; false stops. */
    bool (*message)(void *user, const PtcEventMessage *message);
    void *user;
    PtcBuf buf; /* the beginning of a message that is not complete yet */
} PtcEventStream;

/* `max` is the most bytes of a message. */
void ptc_eventstream_init(PtcEventStream *stream, PtcMem *mem, size_t max);
void ptc_eventstream_deinit(PtcEventStream *stream);

/* Takes a piece.  False: the callback stopped it (cancelled), it is damaged (invalid), a message is too large
 * (refused), or memory ran out; then the stream must not be fed again. */
PTC_MUST_USE bool ptc_eventstream_feed(PtcEventStream *stream, PtcText bytes, PtcWhy *why);
/* Has a message begun that is not complete? */
static inline bool ptc_eventstream_pending(const PtcEventStream *stream)
{
    return stream->buf.len > 0;
}

/* CRC-32 as in IEEE 802.3, of `sum` (0 at first) and more bytes. */
uint32_t ptc_eventstream_crc32(uint32_t sum, const void *bytes, size_t len);

#endif
