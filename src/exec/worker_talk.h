/* SPDX-License-Identifier: MIT
 * worker_talk.h - the socket of a worker, as its threads share it.
 *
 * Whoever waits for an answer reads the socket; of several, one does (it leads) and hands the others what is theirs.
 * So a call costs no thread switch in the worker.  While a program only computes, nobody reads: SIGUSR1, which the
 * server sends after a CANCEL, makes the second thread look. */
#ifndef PTC_EXEC_WORKER_TALK_H
#define PTC_EXEC_WORKER_TALK_H

#include <pthread.h>
#include <signal.h>

#include "base/budget.h"
#include "exec/frame.h"
#include "exec/spin_wait.h"

/* A question to the server that has not been answered yet. */
typedef struct PtcTalkWait {
    struct PtcTalkWait *next;
    uint64_t id;
    pthread_t thread;
    pthread_cond_t change;
    bool leads;
    bool answered, ok;
    PtcBuf answer;
} PtcTalkWait;

typedef struct PtcTalk {
    PtcMem *mem;
    /* It guards writing frames, so that they stay whole, and the order of ids.  Any thread of the worker takes it;
     * `lock` may be taken inside, never the other way round. */
    pthread_mutex_t writing;
    /* It guards everything below but the input, which belongs to the thread that has `reading`.  Nobody writes or
     * reads while holding it. */
    pthread_mutex_t lock;
    pthread_cond_t quiet; /* nobody reads any more, or the task is over */
    bool reading;         /* some thread has the input */
    bool running;         /* a task is */
    uint64_t task, last_call;
    PtcTalkWait *waits;
    void (*cancel)(void *user); /* ends the program that is running, if one is */
    void *user;
    sigset_t kicked; /* the mask while waiting: SIGUSR2 wakes */
    pthread_t second;
    PtcSpinWait spin;
    /* the input; of the thread that reads */
    PtcBuf payload;
    size_t at, got; /* bytes of `input` not yet used: [at, got) */
    char input[16 * PTC_KB];
} PtcTalk;

/* Signals that a worker uses; in the helper, before it forks. */
void ptc_talk_signals(void);
void ptc_talk_init(PtcTalk *talk, PtcMem *mem, void (*cancel)(void *user), void *user);
/* Starts the second thread; in the worker. */
PTC_MUST_USE bool ptc_talk_start(PtcTalk *talk);

/* Waits for the next task; its payload. */
void ptc_talk_next(PtcTalk *talk, PtcBuf *payload);
/* The task is over: before DONE is sent. */
void ptc_talk_over(PtcTalk *talk);
/* A frame whose bytes are there. */
void ptc_talk_send(PtcTalk *talk, const PtcBuf *frame);
void ptc_talk_ready(PtcTalk *talk);

/* Sends a CALL or an ASK: numbers, then the text.  The wait ends with ptc_talk_done, whatever happens. */
void ptc_talk_ask(PtcTalk *talk, PtcTalkWait *wait, PtcFrameType type, const uint32_t *numbers,
                  size_t count, PtcText text);
/* Waits for the answer, until the budget's end (NULL: none) or `end_ns` in the system's clock.  False: there is
 * none. */
bool ptc_talk_wait(PtcTalk *talk, PtcTalkWait *wait, const PtcBudget *budget, int64_t end_ns);
void ptc_talk_done(PtcTalk *talk, PtcTalkWait *wait);

#endif
