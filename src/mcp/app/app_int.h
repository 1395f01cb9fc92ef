/* SPDX-License-Identifier: MIT
 * app_int.h - what the files of the app share. */
#ifndef PTC_MCP_APP_APP_INT_H
#define PTC_MCP_APP_APP_INT_H

#include "json/emit.h"
#include "mcp/app/app.h"
#include "mcp/app/progress_sender.h"
#include "mcp/app/results.h"
#include "mcp/app/suspended.h"
#include "mcp/app/task_book.h"

enum { PTC_APP_TOOLS = 12 };

/* How much an answer may contain, by profile. */
typedef struct PtcAppSizes {
    size_t result_bytes; /* for the printed result; the rest is paged */
    size_t print_entries, print_bytes;
    size_t feedback_bytes;
    size_t validated_bytes; /* for the full value beside the result; slim has none */
    size_t preview_bytes;   /* for a validated value that is not shown in full */
    size_t envelope_bytes;  /* for everything together */
} PtcAppSizes;

/* What is known of the roots of the client. */
typedef struct PtcAppRoots {
    /* It guards the rest, for a moment; the client is asked without it. */
    pthread_mutex_t lock;
    bool asked;
    unsigned changes; /* how often it had said that they changed */
    int64_t at_ns;
} PtcAppRoots;

struct PtcApp {
    PtcMem mem;
    PtcAppConfig config;
    const PtcAppSizes *sizes;
    PtcSessions *sessions; /* or NULL */
    PtcRecorder *recorder; /* or NULL */
    PtcResults results;
    PtcProgressSender *sender;
    PtcSuspended *suspended;        /* or NULL: there is nothing to ask about */
    PtcBackgroundTasks backgrounds; /* tasks that can wait for a person */
    PtcAppRoots roots;
    PtcTaskBook book;
    PtcMcp *mcp;
    PtcMcpTool tools[PTC_APP_TOOLS];
    size_t tool_count;
    PtcBuf description; /* of lisp_eval */
    PtcBuf task_description;
    /* for a call, waiting included; 0: the executor's, counted from when it runs */
    int64_t deadline_ms;
};

/* How long this call may take, its waiting included: as a task, longer than its client waits.  0: the executor says. */
int64_t ptc_app_time_for(const PtcApp *app, const PtcMcpCall *call);

/* One call of a tool that runs a program or looks into a session. */
typedef struct PtcJob {
    PtcApp *app;
    PtcMcpCall *call;
    const char *tool, *owner;
    int64_t begun_ns;
    PtcTraceContext trace;                                 /* for what it calls */
    char parent[PTC_TRACE_PARENT], span[PTC_TRACE_PARENT]; /* its own; "": none */
    PtcTaskIn in;
    PtcTaskOut out;
    PtcSessionEntry *held; /* or NULL */
    PtcSessionInfo info;   /* of the session, after the run */
    /* calls of other servers that a person has to be asked about */
    bool can_ask;
    PtcTaskAsking asking;
    PtcBackgroundTask *background; /* of lisp_task, which has the run of `asking`; or NULL */
    uint32_t round;                /* of the next question */
    uint64_t mark;                 /* of the last one */
    uint64_t inquiry;     /* that question is one of a server: its number; 0: it is about calls */
    PtcAlong along;       /* further ones that were asked with it */
    unsigned offers;      /* what servers may ask the client */
    bool decided;         /* this call brought an answer, so what is asked next is new */
    bool ask_first;       /* before anything is run */
    PtcSuspendedRow *row; /* that this call continues; or NULL */
    bool answered;        /* for a program that ran */
    bool failed, unrecorded;
    char reason[24];
    PtcBuf message;                       /* of a failure, for the record */
    PtcBuf question;                      /* about calls, that was put last; for a person */
    size_t answered_bytes, printed_bytes; /* of the result and of what was printed, as sent */
} PtcJob;

/* ---- app_job.c */
void ptc_job_init(PtcJob *job, PtcMcpCall *call, const char *tool);
/* Records the call and frees what it held. */
void ptc_job_done(PtcJob *job);
/* Answers with an error: isError, "reason: text".  Always false. */
bool ptc_job_fail(PtcJob *job, const char *reason, const char *format, ...) PTC_PRINTF(3, 4);
/* Answers a call whose arguments do not fit the schema of its row; text says why. */
void ptc_app_refuse(PtcMcpCall *call, const char *text, size_t len);
/* Arguments of one type; absent (or null): *out is {NULL, 0}, or unchanged.  False: answered. */
PTC_MUST_USE bool ptc_job_text(PtcJob *job, const char *name, bool required, PtcText *out);
PTC_MUST_USE bool ptc_job_int(PtcJob *job, const char *name, int64_t min, int64_t max,
                              int64_t *out);
PTC_MUST_USE bool ptc_job_flag(PtcJob *job, const char *name, bool *out);
/* An object, as the JSON text that was received. */
PTC_MUST_USE bool ptc_job_object(PtcJob *job, const char *name, PtcText *out);
/* program, context, signature and output_schema, into job->in. */
PTC_MUST_USE bool ptc_job_eval_args(PtcJob *job);
/* Does the task; false: it was not done, and the call was answered. */
PTC_MUST_USE bool ptc_job_submit(PtcJob *job);
/* Answers with a JSON object as the whole answer. */
void ptc_job_json(PtcJob *job, const PtcBuf *json);

/* ---- app_answer.c */
extern const PtcAppSizes ptc_app_sizes[];
/* Answers for a program that ran, whether it succeeded or failed. */
void ptc_job_answer(PtcJob *job);

/* ---- app_effects.c */
/* The member `effects`, if there is something to tell. */
void ptc_job_effects(PtcJob *job, PtcBuf *json);
/* The same as a line of text, which begins with a line feed. */
void ptc_job_effects_line(PtcJob *job, PtcBuf *text);

/* Answers with an error that also says what took effect, and ends the run.  Always false. */
bool ptc_job_fail_effects(PtcJob *job, const char *reason, const char *text);

/* ---- app_approve.c */
/* Asks about the calls that wait.  True: the program is to be run again.  False: the call was answered. */
PTC_MUST_USE bool ptc_job_ask(PtcJob *job);
/* A dry run has stopped: the calls it would make become its result.  False: the call was answered, memory is short. */
PTC_MUST_USE bool ptc_job_list_waiting(PtcJob *job);
/* Ends a run that is not continued. */
void ptc_job_end_run(PtcJob *job);
/* Is it the tool whose runs are tasks? */
bool ptc_job_is_task(const char *tool);
/* What is wrong with the client's answer; NULL: nothing. */
const char *ptc_job_wrong_answer(PtcJob *job, PtcValue answer);
/* Does what the answer says.  False: the run is over, and the call was answered. */
PTC_MUST_USE bool ptc_job_take_answer(PtcJob *job, PtcValue answer);
/* Legacy: nobody has answered, as `why` says (NULL: not yet); the answer has a token to go on with.  Always false. */
bool ptc_job_suspend(PtcJob *job, const char *why);

/* ---- app_resume.c */
/* What the run has done so far, into job->out. */
void ptc_job_take_effects(PtcJob *job);
enum { PTC_QUESTION_KEY = 48 };
/* By what an answer to the question is known; `nth`: 0 is the first of those that are asked together. */
void ptc_job_name_question(char key[PTC_QUESTION_KEY], uint32_t round, uint64_t mark, unsigned nth);
/* Does the call bring the answer to a question of an earlier one?  Then it continues that run; *go_on false: it was
 * answered. */
PTC_MUST_USE bool ptc_job_resumes(PtcJob *job, bool *go_on);
/* The row of the call waits again, with its run and without its session.  From now on others may take it.  False: it
 * could not be kept; the call was answered, and the run is over. */
PTC_MUST_USE bool ptc_job_put_back(PtcJob *job);
/* The call is over: what it went on with is kept, or not. */
void ptc_job_leave(PtcJob *job);

/* ---- app_inquire.c */
/* What servers may ask this client (PTC_REMOTE_ELICITS ...). */
unsigned ptc_app_offers(const PtcApp *app, PtcMcpCall *call);
/* Asks the client what a server wants to know; job->inquiry says which question that is, 0: there is none.  A modern
 * client is asked all that wait at once. */
PtcMcpAsk ptc_job_inquire(PtcJob *job, PtcValue *answer);
/* Gives the answer to job->inquiry (PTC_NONE: there is none), and those that came for others beside it. */
void ptc_job_reply(PtcJob *job, PtcValue answer);

/* ---- app_roots.c */
/* Asks the client for its roots, unless they are known.  False: it answers with its next call. */
PTC_MUST_USE bool ptc_job_roots(PtcJob *job);

/* ---- app_eval.c, app_page.c, app_debug.c: handlers */
PtcMcpHandler ptc_app_eval, ptc_app_page, ptc_app_debug;

/* ---- app_task.c */
/* Answers a call of lisp_task with a JSON object. */
void ptc_job_tell(PtcJob *job, const PtcBuf *json, bool ok);
PtcMcpHandler ptc_app_task;
/* Fills the row of lisp_task; false: out of memory. */
PTC_MUST_USE bool ptc_app_task_row(PtcApp *app, PtcMcpTool *row);
/* What models read about it, from what is known now. */
void ptc_app_describe_task(const PtcApp *app, PtcBuf *out);

/* ---- app_session.c: handlers of sessions */
PtcMcpHandler ptc_app_session_start, ptc_app_session_eval, ptc_app_session_inspect,
    ptc_app_session_list, ptc_app_session_forget, ptc_app_session_close;

/* Runs a program in the session that is held, and answers. */
void ptc_session_run(PtcJob *job);
/* Holds the session of a program that has waited.  False: *gone, there is none any more; or the call was answered, and
 * may be tried again. */
PTC_MUST_USE bool ptc_session_hold_again(PtcJob *job, PtcText handle, bool *gone);

/* ---- app_text.c, which has ptc_app_retell too */
/* Fills the rows. */
PTC_MUST_USE bool ptc_app_rows(PtcApp *app);

#endif
