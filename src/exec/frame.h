/* SPDX-License-Identifier: MIT
 * frame.h - what travels over the socket between the server and one worker: frames of a 16-byte head and a payload.
 *
 *   to the worker     RUN task    CANCEL task    RESULT call
 *   from the worker   READY       CALL call      ASK call       DONE task
 *
 * CALL is for a tool of the server, ASK for what programs want of other servers (remote.h); a RESULT answers both.
 *
 * Every frame carries the number of the task or tool call it is about.  Both ends are the same program on the same
 * machine, so numbers are sent as they lie in memory.  The worker trusts what it reads.  The server trusts nothing:
 * whatever it reads with a PtcFrameReader, ptc_frame_get_call or ptc_frame_get_done may come from an attacker. */
#ifndef PTC_EXEC_FRAME_H
#define PTC_EXEC_FRAME_H

#include "base/packed.h"
#include "base/why.h"
#include "exec/task.h"
#include "tool/remote/remote.h"

typedef enum {
    PTC_FRAME_RUN = 1,
    PTC_FRAME_CANCEL = 2,
    PTC_FRAME_RESULT = 3,
    PTC_FRAME_READY = 16,
    PTC_FRAME_CALL = 17,
    PTC_FRAME_DONE = 18,
    PTC_FRAME_ASK = 19,
} PtcFrameType;

typedef struct PtcFrameHead {
    uint32_t len; /* of the payload */
    uint32_t type;
    uint64_t id; /* of the task; in CALL, ASK and RESULT, of the call */
} PtcFrameHead;
_Static_assert(sizeof(PtcFrameHead) == 16, "a head has no holes");

enum { PTC_FRAME_MAX = PTC_PACKED_TEXT }; /* bytes of a payload */

/* ------------------------------------------------------------------------- frames */

/* Whole frames, written to an empty buffer.  RUN includes the maxima of out's buffers. */
PTC_MUST_USE bool ptc_frame_put_run(PtcBuf *buf, uint64_t id, const PtcTaskIn *in,
                                    const PtcTaskOut *out);
PTC_MUST_USE bool ptc_frame_put_done(PtcBuf *buf, uint64_t id, PtcTaskStatus status,
                                     const PtcTaskOut *out);
PTC_MUST_USE bool ptc_frame_put_result(PtcBuf *buf, uint64_t id, bool ok, const char *text,
                                       size_t len);

/* What a worker asks of other servers: these numbers, then the text to the end of the payload. */
typedef struct PtcFrameAsk {
    uint32_t op; /* PtcRemoteOp, or PTC_FRAME_KNOWS */
    uint32_t slot, tool;
    PtcRemoteId id;
    PtcText text; /* one line of JSON; for PTC_FRAME_KNOWS a namespace */
} PtcFrameAsk;
enum {
    PTC_FRAME_ASK_NUMBERS = 6, /* op, slot, tool, then the id: path in two halves, count */
    PTC_FRAME_ASK_HEAD = PTC_FRAME_ASK_NUMBERS * sizeof(uint32_t),
    PTC_FRAME_KNOWS = 0,                /* is it the namespace of a server? */
    PTC_FRAME_ASK_MAX = PTC_MB + 65536, /* bytes of its text */
};

/* Payloads; the texts point into them. */
PTC_MUST_USE bool ptc_frame_get_run(const char *bytes, size_t len, PtcTaskIn *in,
                                    size_t maxima[PTC_TASK_PARTS]);
PTC_MUST_USE bool ptc_frame_get_result(const char *bytes, size_t len, bool *ok, PtcText *text);
/* On failure `why` says what is wrong; out of memory is not the worker's fault.  Arguments are checked to be JSON; the
 * parts of an answer to be UTF-8 or one line of JSON, as each requires, and no longer than its maximum. */
PTC_MUST_USE bool ptc_frame_get_call(const char *bytes, size_t len, uint32_t *tool,
                                     PtcText *arguments, PtcWhy *why);
PTC_MUST_USE bool ptc_frame_get_ask(const char *bytes, size_t len, PtcFrameAsk *ask, PtcWhy *why);
PTC_MUST_USE bool ptc_frame_get_done(const char *bytes, size_t len, PtcTaskOut *out,
                                     PtcTaskStatus *status, PtcWhy *why);

/* ------------------------------------------------------------- what a worker sends */

typedef struct PtcFrameReader {
    PtcBuf payload;
    PtcFrameHead head;
    size_t head_got;                    /* bytes of the head read so far */
    bool whole;                         /* a frame was returned; the next call begins a new one */
    size_t max_call, max_ask, max_done; /* for the payload of each */
} PtcFrameReader;

typedef enum {
    PTC_FRAME_MORE,  /* all bytes were consumed */
    PTC_FRAME_WHOLE, /* head and payload form a frame */
    PTC_FRAME_BAD,   /* a malformed head, or a payload over its maximum */
    PTC_FRAME_NO_MEMORY,
} PtcFrameState;

void ptc_frame_reader_init(PtcFrameReader *reader, PtcMem *mem);
void ptc_frame_reader_deinit(PtcFrameReader *reader);
/* Frees a large payload that is no longer needed. */
void ptc_frame_reader_trim(PtcFrameReader *reader);
/* Consumes bytes until a frame is complete; *bytes and *len become the rest.  Memory grows with what has arrived,
 * not with what a head promises. */
PTC_MUST_USE PtcFrameState ptc_frame_feed(PtcFrameReader *reader, const char **bytes, size_t *len);

#endif
