/* SPDX-License-Identifier: MIT
 * host.h - what a run may call outside of the language, and the record of those calls.  The tool layer fills in a
 * PtcHost for tools of the host and PtcServers for those of other servers; the analyzer resolves tool/name and ns/name
 * with them, and the VM calls through them. */
#ifndef PTC_LISP_VM_HOST_H
#define PTC_LISP_VM_HOST_H

#include "base/budget.h"
#include "base/buf.h"
#include "base/text.h"
#include "lisp/vm/writes.h"
#include "value/print.h"

struct PtcVM;

/* What there is to know of a tool; texts are the host's, the last two may be empty. */
typedef struct PtcHostTool {
    PtcText name, signature, description;
} PtcHostTool;

typedef struct PtcHostRefusal {
    char message[320], hint[240]; /* cut to what errors have room for */
} PtcHostRefusal;

/* What it takes and gives, as far as that is declared; NULL: nothing is. */
typedef struct PtcHostShapes {
    const struct PtcSketch *takes, *gives;
    bool reads; /* a call changes nothing */
} PtcHostShapes;

typedef struct PtcHost {
    uint64_t number; /* no other host has it, ever */
    /* Number of a tool by the name after tool/, or -1. */
    int (*find)(const struct PtcHost *host, const char *name, size_t len);
    /* The name of the nth tool, for messages; NULL when there are no more. */
    const char *(*name)(const struct PtcHost *host, size_t n, size_t *len);
    /* Calls it with the arguments as written.  May run on any thread that runs part of the program; argv is rooted. */
    bool (*call)(struct PtcVM *vm, uint32_t tool, int argc, const PtcValue *argv, PtcValue *out);
    /* More about a tool; false from the number of tools on.  NULL: nothing is known of any. */
    bool (*about)(const struct PtcHost *host, size_t tool, PtcHostTool *out);
    /* The names of its parameters as a vector, nil when nobody knows; PTC_NONE: out of memory. */
    PtcValue (*params)(const struct PtcHost *host, size_t tool, PtcHeap *heap);
    /* Appends what its results were like so far, as json/sketch.h writes it; nothing when nobody knows. */
    void (*seen)(const struct PtcHost *host, size_t tool, PtcBuf *out);
    /* Would it refuse this map of arguments, and with which words?  NULL: that shows when it is called. */
    bool (*refuses)(const struct PtcHost *host, size_t tool, PtcHeap *heap, PtcMem *mem,
                    PtcValue args, PtcHostRefusal *out);
    /* False: there is no such tool.  NULL: nothing is known of any. */
    bool (*shapes)(const struct PtcHost *host, size_t tool, PtcHostShapes *out);
    bool any; /* it finds whatever is asked for: which tools there are is seen later */
} PtcHost;

enum { PTC_HOST_NAME = 160 };

/* The name of the tool that ns/name (with the slash at `slash`) means, ns.name, if there is one: its length; 0: there
 * is none. */
static inline size_t ptc_host_grouped(const PtcHost *host, PtcText written, size_t slash,
                                      char name[PTC_HOST_NAME])
{
    if (!host || host->any || written.len >= PTC_HOST_NAME || slash == 0 || slash >= written.len)
        return 0;
    memcpy(name, written.bytes, written.len);
    name[slash] = '.';
    name[written.len] = 0;
    return host->find(host, name, written.len) >= 0 ? written.len : 0;
}

/* ------------------------------------------------------------------------- other servers */

/* What ns/name is. */
typedef enum {
    PTC_SERVER_FOUND,
    PTC_SERVER_UNKNOWN, /* no server has this namespace */
    PTC_SERVER_NO_TOOL, /* one has, but no such tool, or several */
    PTC_SERVER_DENIED,  /* the tool is there and may not be called */
    PTC_SERVER_UNSURE, /* nobody can say now, because the server does not answer; a call will say why */
    PTC_SERVER_STOPPED, /* the budget says why */
} PtcServerAnswer;

/* What is wrong, in one sentence, and what may have been meant; both may be empty. */
typedef struct PtcServerWord {
    char message[240], nearest[160];
    bool refused; /* UNSURE because somebody has to sign in first */
} PtcServerWord;

/* One thing that is wrong with arguments. */
typedef struct PtcServerIssue {
    PtcText path, problem, message, nearest; /* the last may be absent */
} PtcServerIssue;

/* What a tool takes and gives, as json/sketch.h writes it; absent: nothing is known.  Texts come from others, and may
 * be anything. */
typedef struct PtcToolShapes {
    PtcText takes, gives;
    PtcText seen; /* what its results were like so far; nobody has promised that they will be */
    bool reads;   /* a call changes nothing */
} PtcToolShapes;

typedef enum {
    PTC_SERVER_CALL, /* what tool/call gets */
    PTC_SERVER_LOOK, /* discovery */
    PTC_SERVER_BLOB,
    PTC_SERVER_RESOURCE,
} PtcServerAsk;

/* A place in a program where a tool of another server is called, or is a value that may be. */
typedef struct PtcServerSite {
    uint32_t at; /* in the program, in bytes */
    bool many;   /* in a function or a loop, or as a value: perhaps more than once, or never */
    bool known;  /* `number` says which tool; otherwise that is computed */
    uint32_t number;
    PtcText name;        /* ns/name; absent: computed */
    PtcValue args, open; /* as in check; PTC_NONE: nothing of the arguments is known */
} PtcServerSite;

/* Functions in other servers, written ns/name.  The tool layer fills this in.  Everything may wait; texts are the
 * caller's. */
typedef struct PtcServers {
    /* *number: how this run calls it from now on. */
    PtcServerAnswer (*find)(struct PtcServers *servers, PtcHeap *heap, PtcText ns, PtcText name,
                            uint32_t *number, PtcServerWord *word);
    /* Is it the namespace of a server?  If not, word->nearest may have one. */
    bool (*knows)(struct PtcServers *servers, PtcText ns, PtcServerWord *word);
    /* What is wrong with arguments that stand in the program; keys in the list `open` are given with values that are
     * not known yet.  False: the budget has stopped. */
    bool (*check)(struct PtcServers *servers, PtcHeap *heap, uint32_t number, PtcValue args,
                  PtcValue open, void (*issue)(void *user, const PtcServerIssue *issue),
                  void *user);
    /* "ns/name" of a number; absent: there is no such number. */
    PtcText (*name)(struct PtcServers *servers, uint32_t number);
    /* What is known of a number; texts stay as long as the run.  False: there is no such number. */
    bool (*shapes)(struct PtcServers *servers, uint32_t number, PtcToolShapes *out);
    /* Calls a tool with the arguments as written; argv is rooted. */
    bool (*call)(struct PtcVM *vm, uint32_t number, int argc, const PtcValue *argv, PtcValue *out);
    /* Fails as a call of ns/name that was not found would. */
    bool (*refuse)(struct PtcVM *vm, PtcText name, PtcServerAnswer answer,
                   const PtcServerWord *word);
    /* Asks with a map, which is rooted.  A failure throws, except for PTC_SERVER_CALL. */
    bool (*ask)(struct PtcVM *vm, PtcServerAsk what, PtcValue question, PtcValue *out);
    /* Not NULL: the program is not to be run; instead this is told of every such place. */
    void (*site)(struct PtcServers *servers, PtcHeap *heap, const PtcServerSite *site);
} PtcServers;

/* ------------------------------------------------------------------------- the record */

/* One call of a tool.  Values are kept only until the next collection, then as text cut to PTC_LOG_TEXT bytes: what a
 * program has let go of must not fill its heap. */
typedef struct PtcLogEntry {
    uint32_t tool;
    bool ok, cached;
    bool unknown;          /* nobody knows what it did: it was not awaited to its end */
    uint32_t tries;        /* how often it was called: more than once after failures; 0: never */
    bool journaled;        /* made in a task that is done: it is not made again */
    PtcValue args, result; /* result: the error's text when !ok; PTC_NONE once they are texts */
    /* The arguments (args_len bytes), then the result (result_len bytes), a NUL behind each, in the VM's ledger; or
     * NULL. */
    char *text;
    uint32_t args_len, result_len;
    int64_t took_ns;
    int64_t ended_ns; /* on the clock of the run */
} PtcLogEntry;

enum { PTC_LOG_TEXT = 1024, PTC_LOG_MAX = 10000, PTC_LOG_BYTES = PTC_MB };

typedef struct PtcLog {
    PtcLogEntry *items;
    size_t count, cap;
    size_t settled; /* entries before this one have no values any more */
    size_t total;   /* calls made; beyond PTC_LOG_MAX they are only counted */
    size_t bytes;   /* of texts; beyond PTC_LOG_BYTES they are left out */
    /* A task was reset: no earlier call counts as journaled, here or in earlier runs. */
    bool forgot;
    PtcWrites writes; /* those that changed something, of tools and of other servers */
} PtcLog;

/* Adds an entry (zeroed) and returns it; NULL: the log is full, or out of memory. */
PtcLogEntry *ptc_log_add(PtcLog *log, PtcMem *mem);
/* Turns the values of all entries into texts. */
void ptc_log_settle(struct PtcVM *vm);
/* Moves entries [from, from + n) of one log to the end of another, which counts `total` calls for them. */
void ptc_log_move(PtcLog *to, PtcMem *mem, PtcLog *log, size_t from, size_t n, size_t total);
/* Entries from this one on were made in a task that is done. */
void ptc_log_journaled(PtcLog *log, size_t from);
/* A task was reset.  Which calls were made in it is not known, so none of them counts as journaled any more. */
void ptc_log_forget(PtcLog *log);
/* Forgets all entries, but not the room for them. */
void ptc_log_clear(PtcLog *log, PtcMem *mem);
void ptc_log_deinit(PtcLog *log, PtcMem *mem);
/* Turns the values of one entry, if it still has them, into texts. */
void ptc_log_render(PtcLog *log, PtcLogEntry *entry, PtcMem *mem, const PtcPrinter *printer);

#endif
