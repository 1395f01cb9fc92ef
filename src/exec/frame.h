/* SPDX-License-Identifier: MIT
 * frame.h - what goes over the pipe between the server and one worker: frames of a head (16 bytes) and a payload.
 *
 *   to the worker     RUN task    CANCEL task    RESULT call
 *   from the worker   READY       CALL call      DONE task
 *
 * Every frame carries the number of the task or of the tool call that it is about.  Both ends are the same program on
 * the same machine, so numbers go as they are in memory.  The worker trusts what it reads; the server trusts nothing:
 * all that is read with a PtcFrameReader, ptc_frame_get_call and ptc_frame_get_done may be made up by an attacker. */
#ifndef PTC_EXEC_FRAME_H
#define PTC_EXEC_FRAME_H

#include "exec/task.h"

typedef enum {
    PTC_FRAME_RUN = 1,
    PTC_FRAME_CANCEL = 2,
    PTC_FRAME_RESULT = 3,
    PTC_FRAME_READY = 16,
    PTC_FRAME_CALL = 17,
    PTC_FRAME_DONE = 18,
} PtcFrameType;

typedef struct PtcFrameHead {
    uint32_t len; /* of the payload */
    uint32_t type;
    uint64_t id; /* of the task; CALL, RESULT: of the call */
} PtcFrameHead;
_Static_assert(sizeof(PtcFrameHead) == 16, "a head has no holes");

enum { PTC_FRAME_MAX = 1 << 30 }; /* bytes of a payload */

/* ---------------------------------------------------------------- numbers and texts */

/* What is left of a payload; `bad` once something was not there. */
typedef struct PtcFrameCursor {
    const char *at, *end;
    bool bad;
} PtcFrameCursor;

/* At the start; bytes may be NULL when there are none. */
PtcFrameCursor ptc_frame_cursor(const char *bytes, size_t len);
bool ptc_frame_put_u32(PtcBuf *buf, uint32_t n);
bool ptc_frame_put_i64(PtcBuf *buf, int64_t n);
/* Length and bytes; absent stays absent. */
bool ptc_frame_put_view(PtcBuf *buf, PtcText view);
uint32_t ptc_frame_take_u32(PtcFrameCursor *c);
int64_t ptc_frame_take_i64(PtcFrameCursor *c);
/* Points into the payload. */
PtcText ptc_frame_take_view(PtcFrameCursor *c);

/* ------------------------------------------------------------------------- frames */

/* Room for a head at the start of a frame ... */
bool ptc_frame_open(PtcBuf *buf);
/* ... which is filled in when the payload is there.  False: no memory, or the payload is too long. */
PTC_MUST_USE bool ptc_frame_close(PtcBuf *buf, PtcFrameType type, uint64_t id);

/* Whole frames, appended to an empty buffer.  RUN tells the maxima of out's buffers. */
PTC_MUST_USE bool ptc_frame_put_run(PtcBuf *buf, uint64_t id, const PtcTaskIn *in,
                                    const PtcTaskOut *out);
PTC_MUST_USE bool ptc_frame_put_done(PtcBuf *buf, uint64_t id, PtcTaskStatus status,
                                     const PtcTaskOut *out);
PTC_MUST_USE bool ptc_frame_put_result(PtcBuf *buf, uint64_t id, bool ok, const char *text,
                                       size_t len);

/* Payloads.  Views point into them. */
PTC_MUST_USE bool ptc_frame_get_run(const char *bytes, size_t len, PtcTaskIn *in,
                                    size_t maxima[PTC_TASK_PARTS]);
PTC_MUST_USE bool ptc_frame_get_result(const char *bytes, size_t len, bool *ok, PtcText *text);
/* False with a text that says what is wrong.  Arguments are JSON; what an out is filled with is UTF-8, or JSON on one
 * line where it should be (an object or array where it should be that), and no part is over its maximum. */
PTC_MUST_USE bool ptc_frame_get_call(const char *bytes, size_t len, uint32_t *tool,
                                     PtcText *arguments, const char **why);
PTC_MUST_USE bool ptc_frame_get_done(const char *bytes, size_t len, PtcTaskOut *out,
                                     PtcTaskStatus *status, const char **why);

/* ------------------------------------------------------------- what a worker sends */

typedef struct PtcFrameReader {
    PtcBuf payload;
    PtcFrameHead head;
    size_t head_got;           /* bytes of it; sizeof(PtcFrameHead) while a payload is read */
    bool whole;                /* a frame was given; the next call begins a new one */
    size_t max_call, max_done; /* bytes of their payloads */
} PtcFrameReader;

typedef enum {
    PTC_FRAME_MORE,  /* all bytes are used up */
    PTC_FRAME_WHOLE, /* head and payload are a frame */
    PTC_FRAME_BAD,   /* a head that is none, or a payload over its maximum */
    PTC_FRAME_NO_MEMORY,
} PtcFrameState;

void ptc_frame_reader_init(PtcFrameReader *reader, PtcMem *mem);
void ptc_frame_reader_deinit(PtcFrameReader *reader);
/* Gives a large payload back that is not needed any more. */
void ptc_frame_reader_trim(PtcFrameReader *reader);
/* Is nothing of a next frame there? */
bool ptc_frame_reader_idle(const PtcFrameReader *reader);
/* Takes bytes until a frame is whole; *bytes and *len become what is left.  Memory grows with what has come, not with
 * what a head promises. */
PTC_MUST_USE PtcFrameState ptc_frame_feed(PtcFrameReader *reader, const char **bytes, size_t *len);

#endif
