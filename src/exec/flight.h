/* SPDX-License-Identifier: MIT
 * flight.h - one task on its way through one worker, from the server's side; and the threads that run the tools which
 * programs in workers call. */
#ifndef PTC_EXEC_FLIGHT_H
#define PTC_EXEC_FLIGHT_H

#include <pthread.h>

#include "base/budget.h"
#include "exec/frame.h"
#include "exec/waits.h"
#include "exec/worker.h"

enum { PTC_FLIGHT_CALLS = 256 }; /* tool calls of a task under way at once */

/* A worker process as the server knows it. */
typedef struct PtcWorkerProcess {
    struct PtcWorkerProcess *next; /* idle ones, last used first */
    int fd, pidfd;
    pid_t pid;
    bool ready;         /* it has said so */
    uint64_t tasks;     /* begun in it */
    uint64_t last_call; /* its highest call id */
    PtcFrameReader reader;
    char *owner; /* whom it serves; NULL: it has not served anybody */
} PtcWorkerProcess;

/* What tool calls of a task need when it may be over before they are: counted. */
typedef struct PtcFlight {
    PtcMem *mem;
    atomic_uint refs;
    atomic_uint under_way;      /* calls */
    _Atomic int64_t resumed_ns; /* when the last result was sent */
    atomic_bool closing;        /* nothing more is to be sent */
    PtcWaits waits;
    PtcCancel cancel; /* of the calls */
    int64_t deadline_ns;
    pthread_mutex_t lock; /* of the socket's writing side */
    int fd;               /* -1: the task is over */
    bool broken;          /* a frame was sent in part: the worker is of no more use */
} PtcFlight;

/* -------------------------------------------------------------------------------- crew */

/* Threads that run tools, made when they are needed. */
typedef struct PtcToolCrew PtcToolCrew;
/* NULL: no memory.  Tools may be NULL. */
PtcToolCrew *ptc_tool_crew_new(PtcMem *mem, PtcTools *tools, int64_t result_bytes);
/* Waits for tools that are running; none may be begun. */
void ptc_tool_crew_free(PtcToolCrew *crew);
/* Is there a tool of that number, and is it for us to run?  Those in PTC-Lisp run in the worker. */
bool ptc_tool_crew_has(const PtcToolCrew *crew, uint32_t tool);
/* Runs a tool and sends what it gave over the flight.  False: no memory, or no thread. */
PTC_MUST_USE bool ptc_tool_crew_call(PtcToolCrew *crew, PtcFlight *flight, uint64_t id,
                                     uint32_t tool, PtcText arguments);

/* ------------------------------------------------------------------------------ flight */

/* What all flights of an executor share. */
typedef struct PtcFlightPlan {
    PtcMem *mem;
    PtcToolCrew *crew;
    PtcLimits limits; /* every field set */
} PtcFlightPlan;

/* Runs a task in a worker.  *keep: the worker may be used again; else it must be ended, if it has not. */
PtcTaskStatus ptc_flight(const PtcFlightPlan *plan, PtcWorkerProcess *worker, const PtcTaskIn *in,
                         const PtcCancel *cancel, PtcTaskOut *out, bool *keep);

/* Waits until a new worker is ready; false when it is not within `ms`. */
PTC_MUST_USE bool ptc_flight_await(PtcWorkerProcess *worker, int ms);

void ptc_flight_release(PtcFlight *flight);
/* Sends a whole frame, or as much as goes until the flight closes or time is up.  With the lock held. */
PTC_MUST_USE bool ptc_flight_send(PtcFlight *flight, const PtcBuf *frame);

#endif
