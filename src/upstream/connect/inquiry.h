/* SPDX-License-Identifier: MIT
 * inquiry.h - what upstreams ask whoever started a run: elicitation with a form, sampling.
 *
 * A question waits in its run, and the calls that it belongs to are held: put aside for the program, open for the
 * upstream.  src/upstream/run/README.md has the rules. */
#ifndef PTC_UPSTREAM_CONNECT_INQUIRY_H
#define PTC_UPSTREAM_CONNECT_INQUIRY_H

#include "upstream/run/serve_int.h"

enum {
    PTC_INQUIRY_BYTES = 64 * PTC_KB, /* of one question, and of an answer */
    PTC_INQUIRY_ID = 128,            /* of its JSON-RPC id, or its key */
    PTC_INQUIRIES = 8, /* of a run; official clients of the modern era give up after ten rounds */
    PTC_INQUIRY_HELD = 64, /* calls of an owner, so that nobody keeps others from being asked */
    PTC_INQUIRY_HELD_ALL = 256, /* calls in all */
};

typedef struct PtcInquiry {
    struct PtcInquiry *next;
    uint64_t number;
    PtcText server; /* its name in the file */
    bool samples;
    char *params;
    size_t params_len;
    char id[PTC_INQUIRY_ID]; /* of the request, as JSON; modern: the key, as JSON */
    size_t id_len;
    PtcInstance *instance; /* that asks; NULL: modern, the call was answered with it */
    unsigned start;        /* of the instance */
    size_t part;           /* modern: number + 1 in the run's replay */
    bool answered;         /* modern: `answer` has it; NULL: nobody has answered */
    char *answer;
    size_t answer_len;
} PtcInquiry;

/* ---- inquiry.c */
/* What a server asks with this method (PTC_REMOTE_ELICITS ...); 0: no question of a program. */
unsigned ptc_inquiry_kind(PtcText method);
/* PtcLinkConfig.question of an instance; loop. */
bool ptc_inquiry_take(void *instance, PtcText id, PtcText method, PtcText params, const char **why);
/* The server takes a question back (notifications/cancelled); loop. */
void ptc_inquiry_withdraw(PtcInstance *i, PtcText id);
/* With manager->lock held: a call was queued or sent while its run has a question of the same upstream: it is held
 * too. */
void ptc_inquiry_hold(PtcUpCall *call);
/* The program was run again: does the call take over one that is held?  True: *status is what ask() says, and `call`
 * was freed, its ask being the other's; or it is refused, since the other was called with something else. */
PTC_MUST_USE bool ptc_inquiry_rejoin(PtcUpCall *call, PtcRemoteStatus *status);
/* The run ends: gives up what it holds, and refuses what is open. */
void ptc_inquiry_end(PtcUpRun *run);
/* With manager->lock held: is there a question that can only be answered here, on the connection that it came on, or a
 * sign-in? */
bool ptc_inquiry_is_bound(const PtcUpRun *run);
/* Fills offer, inquiry, reply. */
void ptc_inquiry_fill(PtcRemote *remote);
/* What is offered to the servers behind an instance. */
PtcText ptc_inquiry_capabilities(const PtcInstance *i);
/* What of all that is offered the entry lets its server ask. */
unsigned ptc_inquiry_allowed(unsigned offers, const PtcEntry *entry);
/* With manager->lock held. */
void ptc_inquiry_free(PtcMem *mem, PtcInquiry *q);
/* With manager->lock held: a new one at the end of the run's; NULL: there are too many, it is too large, or no
 * memory. */
PtcInquiry *ptc_inquiry_add(PtcUpRun *run, PtcText server, PtcText id, bool samples,
                            PtcText params);

/* ---- inquiry_input.c: the modern era */
/* The result of a call is "input_required".  True: its questions wait in the run, and the call is put aside; or it is
 * refused, since they cannot be kept. */
PTC_MUST_USE bool ptc_inquiry_take_input(PtcUpCall *call, PtcScratch *scratch, PtcValue result);
/* Adds to the params of a call that is made again what was answered.  False: refused. */
PTC_MUST_USE bool ptc_inquiry_put_input(PtcUpCall *call);
/* With manager->lock held: is it the call that was answered so, if one was? */
bool ptc_inquiry_fits_input(const PtcUpCall *call);
void ptc_inquiry_free_inputs(PtcUpRun *run);
/* For another process: questions and answers that are not bound.  With manager->lock held. */
void ptc_inquiry_save(const PtcUpRun *run, PtcBuf *out);
/* After the parts of the replay; without the lock. */
void ptc_inquiry_restore(PtcUpRun *run, PtcPackedReader *in);

/* ---- inquiry_sign_in.c */
/* A call or a look-up was refused because a sign-in is needed.  True: whoever runs the program may be asked for it, and
 * the program is then run again: what it got this time is not kept. */
bool ptc_inquiry_note_refusal(PtcUpCall *call);
/* PtcRemote.inquiry and reply for it; 0 and false: it is about something else. */
uint64_t ptc_inquiry_sign_in(PtcUpRun *run, PtcBuf *out);
bool ptc_inquiry_reply_sign_in(PtcUpRun *run, uint64_t number, PtcText answer);
void ptc_inquiry_fill_sign_in(PtcRemote *remote);

/* ---- inquiry_words.c */
/* What our client is asked: the question with the server's name, without what is not ours to pass on.  False: it is no
 * question that can be asked. */
PTC_MUST_USE bool ptc_inquiry_words(PtcManager *m, const PtcInquiry *q, PtcText params,
                                    PtcBuf *out);

#endif
