/* SPDX-License-Identifier: MIT
 * serve_int.h - the asks of a run, for the files that answer them.
 *
 * Functions that begin an ask return true when it is answered later, through ready(), and false when it is answered
 * now: either there is a reason (ptc_call_refuse), or the function that finishes it finds all it needs. */
#ifndef PTC_UPSTREAM_RUN_SERVE_INT_H
#define PTC_UPSTREAM_RUN_SERVE_INT_H

#include "base/packed.h"
#include "upstream/connect/manager_int.h"
#include "upstream/run/arguments.h"
#include "upstream/run/tool_result.h"

/* ---- serve_run.c */
/* The listing behind a slot; NULL: there is none. */
PtcListing *ptc_run_view(PtcUpRun *run, uint32_t slot);
/* What the upstream has listed since the run began, if it has. */
PtcListing *ptc_run_view_later(PtcUpRun *run, uint32_t slot);
/* With manager->lock held: does what this instance has listed hold for the run, or has its server changed since? */
bool ptc_run_is_listed(const PtcUpRun *run, uint32_t slot, const PtcInstance *i);
/* The upstream of a slot, which must be one of the run's. */
PtcUpstream *ptc_run_upstream(const PtcUpRun *run, uint32_t slot);
/* Work in the scratch ends no later than the run. */
void ptc_run_hurry(const PtcUpRun *run, PtcScratch *scratch);
/* The upstream with this namespace, spelt as programs may; -1: none. */
int ptc_run_slot(PtcManager *m, PtcText ns);
/* Why it cannot be done.  Always false. */
bool ptc_call_refuse(PtcUpCall *call, PtcCallReason reason, const char *format, ...)
    PTC_PRINTF(3, 4);
/* Frees a call that is answered, or that its run has left; the latter with manager->lock held. */
void ptc_call_free(PtcUpCall *call);
/* With manager->lock held: the connection that the call needs; false: refused. */
PTC_MUST_USE bool ptc_call_attach(PtcUpCall *call);
/* True: it waits for the upstream's listing.  False: refused, or it is there. */
PTC_MUST_USE bool ptc_call_await_listing(PtcUpCall *call);

/* ---- serve_call.c */
/* What is wrong with its arguments, in a sentence; without issues, that they could not be checked.  Always false. */
bool ptc_serve_refuse_arguments(PtcUpCall *call, const PtcArgumentIssues *issues);
PTC_MUST_USE bool ptc_serve_call(PtcUpCall *call, PtcScratch *scratch, PtcValue args);
PTC_MUST_USE bool ptc_serve_call_named(PtcUpCall *call, PtcScratch *scratch, PtcValue in);
PTC_MUST_USE bool ptc_serve_resource(PtcUpCall *call, PtcScratch *scratch, PtcValue in);
/* Asks whose upstream has been listed now: calls, and searches that want more of them. */
void ptc_serve_go_on(PtcUpCall *list);
/* With manager->lock held: is the tool still there, and still allowed, as the upstream lists it now? */
PTC_MUST_USE bool ptc_serve_may_send(PtcUpCall *call);
/* May a program call this tool? */
PtcPolicyOut ptc_serve_policy(const PtcUpRun *run, PtcHeap *heap, const PtcUpstream *up,
                              const PtcListing *l, size_t tool);

/* Do pins let it be called?  Else why says what helps. */
bool ptc_serve_pins_allow(PtcManager *m, const PtcEntry *entry, const PtcCatalogTool *tool,
                          PtcPolicyOut policy, PtcWhy *why);

/* What denies it where neither pins nor the lack of a person do. */
const char *ptc_serve_denied_by(PtcPolicyOut policy);

/* The upstream of this name or namespace; -1: none. */
int ptc_serve_slot(PtcManager *m, PtcText server);

/* ---- serve_schema.c */
/* One check against the schema of a tool, for its arguments or its results. */
typedef struct PtcRunCheck {
    PtcUpRun *run;
    PtcUpstream *upstream;
    PtcListing *listing;
    size_t tool;
    bool results, given_up;
    const struct PtcSchema *schema; /* NULL: there is none to check with */
    PtcBudget budget;
    int64_t begun_ns, seen_ns;
    bool late; /* the run has no time left for checks */
} PtcRunCheck;
/* A check must not move. */
void ptc_run_check_begin(PtcRunCheck *check, PtcUpCall *call, PtcListing *listing, size_t tool,
                         bool results);
/* The notes that a call gets, if there is one to get them.  A check that ran out of memory stops the budget. */
unsigned ptc_run_check_end(PtcRunCheck *check, PtcBudget *budget, bool has_call);

/* ---- serve_names.c */
typedef enum {
    PTC_FIND_OK,     /* slot and tool of the call are set */
    PTC_FIND_UNSURE, /* only the upstream can tell: it must be listed first */
    PTC_FIND_NOT,    /* refused, with the nearest name */
} PtcServeFind;
/* Which tool of the upstream at call->slot has this name?  `sure`: what is known now decides. */
PTC_MUST_USE PtcServeFind ptc_serve_find(PtcUpCall *call, PtcScratch *scratch, PtcText name,
                                         bool sure);
PTC_MUST_USE bool ptc_serve_lookup_begin(PtcUpCall *call, PtcScratch *scratch, PtcValue in);
PTC_MUST_USE bool ptc_serve_lookup(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out);
PTC_MUST_USE bool ptc_serve_check_begin(PtcUpCall *call, PtcScratch *scratch);
PTC_MUST_USE bool ptc_serve_check(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out);
void ptc_serve_nearest_server(PtcManager *m, PtcText ns, PtcBuf *nearest);

/* ---- serve_result.c: each writes JSON; false: `out` has a failure */
PTC_MUST_USE bool ptc_serve_result(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out,
                                   bool *may_repeat);
/* {"reason", "message", ...} of a call that has a reason.  Always false. */
bool ptc_serve_fail(PtcUpCall *call, PtcBuf *out);
/* A value with its kind, and the line of the log of calls.  Always true. */
bool ptc_serve_put_read(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out,
                        const PtcToolResult *result);
/* What the program sees and what the log of calls has is the same text.  Always false, both. */
bool ptc_serve_put_failure(PtcUpCall *call, PtcBuf *out, PtcCallReason reason, PtcText message,
                           unsigned notes);
bool ptc_serve_put_too_large(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out);

/* ---- serve_save.c */
/* A text of what is read, as a copy that lives as long as the run; "": it is none. */
PtcText ptc_run_own_text(PtcUpRun *run, PtcPackedReader *in);
/* A copy of a text of what is read, with so much room behind it; NULL: it has no bytes, or `in` is bad. */
char *ptc_run_copy_text(PtcMem *mem, PtcPackedReader *in, PtcText text, size_t room);
/* Parts of a run are written and read by the files that have them: ptc_run_save_records and so on.  What is read and is
 * no such part makes the reader bad. */
void ptc_save_fill(PtcRemote *remote);

/* ---- serve_blob.c */
/* Numbers for the refs of one result: those behind `before`. */
typedef struct PtcBlobNumbers {
    size_t before, most;
} PtcBlobNumbers;
PtcBlobNumbers ptc_run_take_numbers(PtcUpRun *run, size_t most);
/* Keeps what the refs of a result stand for. */
PTC_MUST_USE bool ptc_run_keep_blobs(PtcUpRun *run, PtcHeap *heap, PtcValue blobs,
                                     PtcBlobNumbers numbers);
/* With run->lock held: the base64 text behind a ref, which stays as long as the run; absent: there is none. */
PtcText ptc_run_find_blob(PtcUpRun *run, PtcText ref);
void ptc_run_free_blobs(PtcUpRun *run);
void ptc_run_save_blobs(PtcUpRun *run, PtcBuf *out);
void ptc_run_restore_blobs(PtcUpRun *run, PtcPackedReader *in);
PTC_MUST_USE bool ptc_serve_blob(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out);
/* What the refs in a JSON text stand for, as blocks of an MCP answer, one a line. */
void ptc_run_pictures(PtcUpRun *run, PtcText json, PtcBuf *out);

/* ---- serve_request.c: an operation of an OpenAPI service; args are as its schema wants them.  False: refused */
PTC_MUST_USE bool ptc_serve_request(PtcUpCall *call, PtcScratch *scratch, PtcValue definition,
                                    PtcValue args);

/* ---- serve_response.c: what the service answered; false: `out` has a failure */
PTC_MUST_USE bool ptc_serve_response(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out);

/* ---- serve_calls.c */
/* A line for the call; false: out of memory. */
PTC_MUST_USE bool ptc_run_record(PtcUpCall *call);
/* How it ended.  Nothing for a call without a line. */
void ptc_run_record_end(PtcUpCall *call, PtcCallReason reason, PtcText error, unsigned notes);
/* What came back, as JSON without secrets; before the end. */
void ptc_run_record_result(PtcUpCall *call, PtcText json);
void ptc_run_free_records(PtcUpRun *run);
void ptc_run_save_records(PtcUpRun *run, PtcBuf *out);
void ptc_run_restore_records(PtcUpRun *run, PtcPackedReader *in);
/* A call that was refused before it was sent: a line for it too, for the first few of a run. */
void ptc_run_record_refused(PtcUpCall *call);
/* The run is over: calls whose answer nobody took are unknown. */
void ptc_run_record_open(PtcUpRun *run);
/* The lines as a JSON array, as many as fit. */
void ptc_run_call_log(PtcUpRun *run, PtcBuf *out);

/* ---- serve_approve.c */
/* The same with what a person has allowed for longer, for runs in which nobody can be asked.  Not with manager->lock
 * held. */
PtcPolicyOut ptc_serve_decide(PtcUpRun *run, PtcHeap *heap, const PtcUpstream *up,
                              const PtcListing *l, size_t tool);
/* An ask of the run, before anything is done for it.  True: it is answered already, from what was recorded. */
PTC_MUST_USE bool ptc_serve_meet(PtcUpCall *call);
/* The program, run again, calls something else than before: the call is put aside for good. */
void ptc_serve_diverge(PtcUpCall *call);
/* Its answer, from there. */
PTC_MUST_USE bool ptc_serve_replay(PtcUpCall *call, PtcBuf *out, bool *may_repeat);
/* Its answer, which is recorded. */
void ptc_serve_keep(PtcUpCall *call, bool ok, bool may_repeat, PtcText answer);
/* May the call be made, as far as a person has to say so?  False: refused, or put aside. */
PTC_MUST_USE bool ptc_serve_approved(PtcUpCall *call, PtcScratch *scratch, PtcPolicyOut policy);
/* Not put aside after all: the upstream is asked first. */
void ptc_serve_not_aside(PtcUpCall *call);
/* Has the tool another definition in `now` than where the call has it from? */
bool ptc_serve_redefined(PtcUpCall *call, PtcHeap *heap, const PtcListing *now, size_t tool);
void ptc_approve_fill(PtcRemote *remote);

/* ---- serve_seen.c */
/* The program gets this value for its call. */
void ptc_serve_learn(PtcUpCall *call, PtcValue value);

/* ---- serve_plan.c */
/* Notes a place of a program.  Always false: it is answered now. */
bool ptc_serve_site(PtcUpCall *call, PtcScratch *scratch, PtcValue in);

/* ---- serve_effects.c */
/* For a call that has ended so. */
PtcUpDid ptc_run_did(const PtcUpCall *call, PtcCallReason reason);
/* Policy refused the call; it is told at the end of the run. */
void ptc_run_denied(PtcUpCall *call, const PtcCatalogTool *tool);
void ptc_run_free_denied(PtcUpRun *run);
void ptc_run_save_denied(PtcUpRun *run, PtcBuf *out);
void ptc_run_restore_denied(PtcUpRun *run, PtcPackedReader *in);
bool ptc_run_effects(void *run, PtcBuf *out);

/* ---- serve_look.c */
PTC_MUST_USE bool ptc_serve_look_begin(PtcUpCall *call, PtcScratch *scratch, PtcValue in);
/* An upstream that it waited for has been listed.  True: it waits for another. */
PTC_MUST_USE bool ptc_serve_look_on(PtcUpCall *call, PtcScratch *scratch, PtcValue in);
PTC_MUST_USE bool ptc_serve_look(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out);

#endif
