/* SPDX-License-Identifier: MIT
 * remote.h - functions that programs call in other servers, as the layers below see them: a table that the upstream
 * layer fills in.  A run asks; an ask is answered at once or later; nobody blocks.
 *
 * One PtcRemote serves any number of runs at once.  What a run sees of the catalogue stays as it was when it first
 * looked. */
#ifndef PTC_TOOL_REMOTE_REMOTE_H
#define PTC_TOOL_REMOTE_REMOTE_H

#include "base/budget.h"
#include "base/buf.h"
#include "base/text/trace_context.h"
#include "base/why.h"
#include "tool/call_reason.h"
#include "value/heap.h"

typedef enum {
    /* ("version" of an answer: that of the run when other runs with that version may use it, 0: this run only)
     * {"ns","name"} -> {"slot","tool","version"?,"effect","policy","rule"?,"takes"?,"gives"?,"seen"?} (the last three
     * as in PtcToolShapes; more members may be there); failure:
     * {"reason": "unknown_server" | "unknown_tool" | "ambiguous" | "auth_failed" | "upstream_unavailable", "message",
     * "nearest"?}; `nearest`: ns, or ns/tool */
    PTC_REMOTE_LOOKUP = 1,
    /* The arguments as a JSON object, for slot and tool -> {"value":v,"kind":"json"|"text"|"none"|"content"}; failure:
     * {"reason","message","server","tool","status"?,"retry_after_ms"?,"effect"?}.  Reason "invalid_tool_args": nothing
     * was sent, the arguments are not what the schema says.  Reason "suspended": somebody must be asked first;
     * this part of the program ends here, and no program sees that. */
    PTC_REMOTE_CALL,
    /* {"server","tool","args"?,"raw"?}: tool/call; answers as CALL, failures as CALL or LOOKUP */
    PTC_REMOTE_CALL_NAMED,
    /* {"op":"servers"} -> [{"name","description","tool_count","catalog_loaded","namespace","state","reason"?}]
     * {"op":"apropos","query","limit","load","hopeful"} -> ["github/get_pr - Get a pull request", ...], best first
     * {"op":"dir","ns","limit","offset"} -> lines alike
     * {"op":"doc","ns","name"?} -> text
     * {"op":"meta","ns","name"} -> {"ns","name","tool","doc","effect","policy","schema","output_schema"?}
     * {"op":"publics","ns"} -> [symbols]
     * null: there is no such thing, or it could not be loaded, or too many were asked in this run */
    PTC_REMOTE_LOOK,
    PTC_REMOTE_BLOB, /* {"ref"} -> base64 text; failure: {"reason","message"} */
    /* {"args":{...},"open":[keys]} for slot and tool: arguments that stand in a program, before it runs; keys in "open"
     * are given too, their values are not known yet -> {"issues":[{"path","problem","nearest"?,"message"}]}; nothing is
     * sent.  ptc_arguments_check (arguments_check.h) does all of it, given the schema. */
    PTC_REMOTE_CHECK,
    PTC_REMOTE_RESOURCE, /* {"server","uri"} -> as CALL */
    /* {"at","many","known","name"?,"args"?,"open"?} for slot and tool: a place where a tool may be called, of a program
     * that is planned and not run -> null */
    PTC_REMOTE_SITE,
    PTC_REMOTE_OPS
} PtcRemoteOp;

/* Which call of its run it is: the same when the program is run again with the same answers. */
typedef struct PtcRemoteId {
    uint64_t path; /* through pmaps and their items */
    uint32_t count;
} PtcRemoteId;

typedef struct PtcRemoteAsk {
    /* For lists of whoever has it: the remote until ready(), then the asker. */
    struct PtcRemoteAsk *next;
    PtcRemoteOp op;
    uint32_t slot, tool; /* CALL: as LOOKUP gave them */
    PtcRemoteId id;      /* CALL, CALL_NAMED, RESOURCE */
    PtcText text;        /* JSON, as above; borrowed until finish */
    /* Called once if ask() said PENDING, from any thread; must not block and must not call back. */
    void (*ready)(struct PtcRemoteAsk *ask);
    void *user; /* of the asker */
    void *own;  /* of the remote */
} PtcRemoteAsk;

typedef enum { PTC_REMOTE_NOW, PTC_REMOTE_PENDING, PTC_REMOTE_NO_MEMORY } PtcRemoteStatus;

/* An answer on its way to whoever asked, who fills in the first part. */
typedef struct PtcRemoteAnswer {
    /* For what a call gives: a heap that the thread of finish() may use, so that bytes of a server are parsed once, for
     * the budget of the run.  NULL: the answer is wanted as text. */
    PtcHeap *heap;
    /* There is no room in the heap for a value.  True: it was collected, so try again; what is not rooted in it is
     * gone.  Or NULL. */
    bool (*make_room)(struct PtcRemoteAnswer *answer);
    void *user;  /* of the asker */
    PtcBuf text; /* JSON */

    bool ok;            /* else it is a failure, as text */
    bool may_repeat;    /* nothing was changed by it */
    PtcTookEffect took; /* a call that only reads takes none */
    /* What a call gave, and the word for its kind: in place of the text, which may be there too.  PTC_NONE, NULL: the
     * text has it. */
    PtcValue value;
    const char *kind;
} PtcRemoteAnswer;

/* What a run may do beyond what policy allows. */
typedef enum {
    PTC_REMOTE_REFUSES, /* nobody can be asked: what would have to be asked about is denied */
    PTC_REMOTE_GRANTED, /* likewise, but what its owner has allowed for longer is called: for people's own commands */
    PTC_REMOTE_ASKS, /* it is put aside, and what was called is recorded, so that the program can be run again */
    PTC_REMOTE_READS, /* everything but reads is put aside, and nobody is asked about it */
    PTC_REMOTE_PLANS, /* the program is not run; places where it may call something are noted */
    PTC_REMOTE_ONLY_READS, /* everything but reads is denied, whatever policy says; nobody can be asked */
} PtcRemoteMode;

/* What a person says about the calls that a question names. */
typedef enum {
    PTC_REMOTE_ONCE,    /* these calls */
    PTC_REMOTE_RUN,     /* these tools, in this run */
    PTC_REMOTE_PROCESS, /* these tools, for this owner, until the process ends */
    PTC_REMOTE_ALWAYS,  /* these tools, for this owner, as they are defined now */
    PTC_REMOTE_NO,      /* these tools not, in this run: their calls fail with "declined" */
} PtcRemoteDecision;

/* What servers may ask whoever started the run. */
enum {
    PTC_REMOTE_ELICITS = 1, /* elicitation/create with a form */
    PTC_REMOTE_SAMPLES = 2, /* sampling/createMessage */
    PTC_REMOTE_OPENS = 4,   /* an address to sign in at, opened by a person at this machine */
    PTC_REMOTE_ROOTS = 8,   /* roots/list: answered from what is known, without asking anybody */
};

/* Who is told how far the calls of a run are: one line that is safe to show.  From any thread; whoever tells holds
 * locks, so it only takes a copy. */
typedef struct PtcRemoteListener {
    /* What a server reports of a call, with its name. */
    void (*progress)(struct PtcRemoteListener *self, PtcText line);
    /* A call begins, "calling files/read", or has ended, "files/read done" or "files/read failed". */
    void (*called)(struct PtcRemoteListener *self, PtcText line);
} PtcRemoteListener;

/* The functions of whoever knows other servers: the upstream layer, or in a worker the socket to the server.  A
 * run is begun once, asked from the threads of its program, and ended once; no function waits for a server. */
typedef struct PtcRemote {
    /* A run begins: what it may see belongs to `owner`.  *version names the state of all catalogues: what LOOKUP said
     * stays true for other runs with the same version.  NULL: out of memory. */
    void *(*begin)(struct PtcRemote *self, const char *owner, int64_t deadline_ns,
                   const PtcCancel *cancel, uint64_t *version);
    PtcRemoteStatus (*ask)(void *run, PtcRemoteAsk *ask);
    /* Once for each ask that was answered (NOW, or ready() was called), on a thread of the run.  False: out of
     * memory. */
    bool (*finish)(void *run, PtcRemoteAsk *ask, PtcRemoteAnswer *answer);
    /* Nobody wants this one any more; ready() still comes, once and soon: the asker waits for it.  It may just have
     * come: then this does nothing. */
    void (*cancel)(void *run, PtcRemoteAsk *ask);
    /* The run is over; every ask was finished, or its ready() came.  `call_log`: a JSON array of its calls, or NULL. */
    void (*end)(void *run, PtcBuf *call_log);
    /* Soon after begin(): whose trace the run is part of; what is none is ignored.  May be NULL. */
    void (*trace)(void *run, const PtcTraceContext *context);
    /* Who is told of progress from now on; NULL: nobody, and when this returns nobody is being told.  May be NULL. */
    void (*listen)(void *run, PtcRemoteListener *listener);
    /* Before end(): the pictures and files that an answer, as JSON, refers to, as blocks of MCP, one a line.  May be
     * NULL. */
    void (*pictures)(void *run, PtcText json, PtcBuf *out);
    /* Is ns the namespace of an upstream (spelt as programs may)?  Costs nothing: no start, no listing.  For the
     * analyzer, to tell an upstream from a namespace that does not exist; `nearest` (or NULL) gets the nearest one when
     * it is not. */
    bool (*knows)(struct PtcRemote *self, PtcText ns, PtcBuf *nearest);

    /* Asking a person; a remote that never asks has none of these. */

    /* Right after begin(): what the run may do; without it, it refuses. */
    void (*allow)(void *run, PtcRemoteMode mode);
    /* Right after begin(): what servers may ask (PTC_REMOTE_ELICITS ...); without it, nothing. */
    void (*offer)(void *run, unsigned what);
    /* The first question of a server that waits behind the one with the number `after` (0: of all): {"method","params"}
     * for whoever is asked, with the server's name in its words.  Its number, which is greater than those before it; 0:
     * there is none. */
    uint64_t (*inquiry)(void *run, uint64_t after, PtcBuf *out);
    /* What was said, a JSON object; absent: nobody answers.  A question that is gone is none any more. */
    void (*reply)(void *run, uint64_t inquiry, PtcText answer);
    /* The program has failed: did a server want a sign-in that nobody was asked for yet?  Then inquiry() asks for
     * it. */
    bool (*wants_sign_in)(void *run);
    /* After that was answered: waits a while for the sign-in to end.  False: it goes on. */
    bool (*signed_in)(void *run, int64_t ms);
    /* The program has ended because calls were put aside: how many?  0: there is nothing to ask about, or too much
     * would have to be remembered, and only then why is filled in. */
    size_t (*waiting)(void *run, PtcWhy *why);
    /* Composes the question about them: `text` (or NULL) gets lines for a person, each begun by a line feed, which name
     * every tool that the question is about, with its effect and the number of its calls.  decide() is about these
     * calls and tools alone; what does not fit into one question is asked about in the next.  `json` (or NULL) gets an
     * array of the first of them, {"server","tool","effect","args"}; of a program that was planned all places,
     * {"at","many","name"?,"server"?,"tool"?,"effect"?,"policy"?,"args"?,"open"?}.  How many calls it is about; without
     * a text, how many wait. */
    size_t (*question)(void *run, PtcBuf *text, PtcBuf *json);
    /* What a person says about the question that was composed last.  False: it could not be kept permanently, and why
     * says so; it holds until the process ends. */
    bool (*decide)(void *run, PtcRemoteDecision decision, PtcWhy *why);
    /* In place of begin(): the program is run again.  What was recorded is given again, what was approved is called. */
    void (*again)(void *run, int64_t deadline_ns, const PtcCancel *cancel, uint64_t *version);
    /* Did the program, when it was run again, call something else than before? */
    bool (*diverged)(void *run);
    /* Writes what is known of a run that waits for a person, so that another process, with the same servers, can go on
     * with it; the run is as it was.  False: it can only go on here, where a call of it is open or a sign-in waits, or
     * there is no memory; then nothing can be done with what was written.  Or NULL. */
    bool (*save)(void *run, PtcBuf *out);
    /* In place of begin(), allow() and offer(): the run that was written so, by whomever; again() comes next, or what
     * is about its question.  A call that a person was asked about here is asked about again if its server or its tool
     * is another one in this process.  NULL: these are no such bytes, or no memory. */
    void *(*restore)(struct PtcRemote *self, const char *owner, PtcText bytes);
    /* What took effect so far: {"ran":[{"name","times"}],"failed":..,"unknown":..,"denied":..,"run_again"}; lists
     * without entries are left out; "not_kept": why an approval could not be kept for later.  True: there is something
     * to tell of a run that succeeded. */
    bool (*effects)(void *run, PtcBuf *out);
} PtcRemote;

/* ------------------------------------------------------------------------------ for a run */

/* Told when a run waits; both from the thread that waits.  A call that may have changed something is counted when it
 * begins, and taken back (`harmless`) when it turns out that it did not. */
typedef struct PtcRemoteWatch {
    void (*begin)(void *user, bool may_repeat);
    void (*end)(void *user, bool harmless);
    void *user;
} PtcRemoteWatch;

/* What whoever starts a run gives to the engine, between begin() and end(). */
typedef struct PtcRemoteRun {
    PtcRemote *remote;
    void *run; /* of begin() */
    uint64_t version;
    const PtcRemoteWatch *watch; /* or NULL */
    /* A run of several programs: a number for this one, so that no two calls have the same identity. */
    uint64_t program;
    bool plan; /* mode PTC_REMOTE_PLANS */
    /* Waits until ready() came for a pending ask, or the budget's end; NULL: the ordinary way.  For a run whose own
     * thread must do something so that ready() can come. */
    void (*wait)(void *run, PtcRemoteAsk *ask, PtcBudget *budget);
} PtcRemoteRun;

#endif
