/* SPDX-License-Identifier: MIT
 * manager_int.h - what the files of the manager share.
 *
 * Threads: callbacks of clients come on the loop's thread; long work (listings, files) is done on the work loop's; asks
 * come from threads of runs.  One lock guards everything that changes; no callback of others is called while it is
 * held, except ready(), listeners of progress, and functions of mcp/client, which call back on the loop's thread
 * only. */
#ifndef PTC_UPSTREAM_CONNECT_MANAGER_INT_H
#define PTC_UPSTREAM_CONNECT_MANAGER_INT_H

#include <pthread.h>

#include "base/os/shelf.h"
#include "trace/redact.h"
#include "upstream/catalog/listing_cache.h"
#include "upstream/catalog/pins.h"
#include "upstream/config/credentials.h"
#include "upstream/connect/call_counts.h"
#include "upstream/connect/endpoint.h"
#include "upstream/connect/manager.h"
#include "upstream/connect/sign_in.h"
#include "upstream/connect/trace_carry.h"
#include "upstream/run/call_replay.h"
#include "upstream/run/grants.h"
#include "upstream/run/retry.h"
#include "upstream/run/seen_book.h"
#include "value/scratch.h"

typedef struct PtcInstance PtcInstance;
typedef struct PtcUpRun PtcUpRun;

enum { PTC_UPSTREAM_SLOW = 64 };

/* One upstream of the configuration. */
typedef struct PtcUpstream {
    PtcManager *manager;
    PtcEntry entry;
    PtcText file;                       /* that names it; absent: not known */
    uint8_t identity[PTC_SHA256_BYTES]; /* of what is started or called: entry_identity.h */
    PtcSignIn sign_in;
    struct PtcSignInFlow *flow; /* in the background; NULL: there was none */
    PtcListing *listing;        /* the newest; NULL: it was never listed */
    char *cache_path;           /* NULL: nothing is kept */
    /* Why it could not be listed by an earlier process; "": it could. */
    char failed[PTC_LISTING_CACHE_WHY];
    bool warmed;     /* its background listing was begun */
    bool rules_told; /* work loop: what is wrong with the rules for it was told */
    uint64_t stamp;  /* ptc_entry_stamp when its list was last asked for */
    PtcCallCounts counts;
    struct { /* schemas that nothing is checked with any more, by digest; in a ring */
        struct {
            char digest[PTC_LISTING_DIGEST / 4];
            bool told;
        } items[PTC_UPSTREAM_SLOW];
        _Atomic size_t count;
    } slow;
} PtcUpstream;

/* What a run asked, from ask() to finish(). */
typedef struct PtcUpCall {
    PtcLinkAsk mcp;                          /* first: done() casts back */
    struct PtcUpCall *next;                  /* in a queue of its instance */
    struct PtcUpCall *sibling, **sibling_at; /* of the run */
    PtcRemoteAsk *ask;                       /* NULL: it is held */
    PtcRemoteAnswer *answer;                 /* while the ask is finished */
    PtcRemoteOp op;
    PtcUpRun *run;         /* NULL: it has ended, and left the call behind */
    PtcInstance *instance; /* that it waits for; NULL: none */
    enum { PTC_UP_NEW, PTC_UP_QUEUED, PTC_UP_SENT, PTC_UP_WAITING, PTC_UP_ANSWERED } state;
    bool cancelled;
    bool held;           /* it stays open while its run waits for a person: inquiry.h */
    bool counted;        /* as under way */
    char span[17];       /* of a trace that is told to a collector; "": none */
    bool told;           /* whoever listens was told that it begins */
    uint32_t slot, tool; /* in the run's view */
    PtcListing *seen;    /* that it is from; NULL: not known yet */
    char nearest[80];    /* when it was not found; "": nothing is near */
    bool raw;            /* :raw true */
    const char *method;
    PtcBuf params, headers; /* what is sent */
    struct {                /* to an OpenAPI service; params are then the body, headers an object */
        PtcBuf url, auth,
            head; /* auth: bindings of credentials; head: header lines of the answer */
        bool has_body, outside;
    } web;
    size_t args_at, args_len; /* where the arguments are in params; 0: they are not there */
    PtcEffect effect;
    PtcPolicy policy;
    bool changed;   /* the tool is not what was pinned */
    unsigned notes; /* about the call, as of a tool result */
    bool approved;
    bool denied; /* it counts as one that policy refused, once however often it is looked at */
    /* how it went */
    PtcLinkReply reply;
    PtcCallReason said;   /* by the reply */
    PtcCallReason reason; /* refused, or given up, before there was a reply */
    char message[400];
    unsigned attempts; /* to send it, failed starts included */
    unsigned sends;
    int64_t begun_ns, sent_ns, ended_ns, not_before_ns, end_ns;
    size_t record;                   /* number + 1 in the run's log of calls; 0: none */
    size_t part;                     /* number + 1 in the run's replay; 0: none */
    bool replayed;                   /* it was made before, and is answered from there */
    uint8_t print[PTC_SHA256_BYTES]; /* of what is called with what, when there is a part */
} PtcUpCall;

enum { PTC_INSTANCE_EXITS = 5 }; /* of a process in two minutes open the breaker */

/* One connection: to one upstream, for one owner. */
struct PtcInstance {
    struct PtcInstance *next;
    PtcUpstream *upstream;
    char *owner;
    PtcEndpoint *endpoint; /* NULL: not started */
    PtcClient *http;
    PtcInstanceState state;
    bool used;                /* somebody called it: it stays up */
    bool listing;             /* a listing is under way, or being made */
    bool connected;           /* the link says so */
    bool warming;             /* started only to be listed, and nobody has asked for it since */
    bool refused;             /* it is down because somebody has to sign in */
    bool resting;             /* its connection is being ended; nothing is started meanwhile */
    PtcUpCall *first, **last; /* calls to be sent, in order */
    PtcUpCall *waiting;       /* asks that want its listing */
    PtcUpCall *sent;          /* calls under way, held ones included */
    unsigned offers;          /* what its server may ask (PTC_REMOTE_ELICITS ...) */
    bool client_roots;        /* it was told that it may ask for the roots of our client */
    bool stale_roots;         /* these have changed since, and it has not asked again */
    int64_t settled_ns;       /* it was told roots, and is not called before it had time to look */
    unsigned under_way;
    unsigned held;                     /* calls */
    unsigned failures;                 /* transport, in a row */
    unsigned openings;                 /* how often the breaker has opened because of exits */
    int64_t exits[PTC_INSTANCE_EXITS]; /* of its process, the last ones in order; 0: none */
    unsigned restarts;                 /* after it was down */
    unsigned start;                    /* number of the last one */
    unsigned jobs;                     /* listings that the work loop has */
    int64_t retry_ns;                  /* not tried before */
    int64_t started_ns, listed_ns;
    int64_t last_ns; /* when it was last called or answered */
    char why[256];   /* it is down */
    PtcLinkList list;
    PtcLoopTask drop; /* ends the connection */
    PtcLoopTask rest; /* frees `ended` */
    PtcEndpoint *ended;
    PtcLoopTimer list_timer;
    /* Numbers of PtcManager.changes: its server's last one, the last when its list was asked for, and when the list was
     * asked for that is known. */
    uint64_t changed, asked, listed;
};

/* What a call has done, as far as it is known here. */
typedef enum { PTC_DID_NOTHING, PTC_DID_RUN, PTC_DID_FAIL, PTC_DID_UNKNOWN } PtcUpDid;

/* The beginning of a text, for traces. */
typedef struct PtcUpText {
    char *data; /* NULL: none */
    size_t len;
} PtcUpText;

/* A line of the log of calls. */
typedef struct PtcUpRecord {
    PtcText server, tool; /* of the view's listing */
    PtcCallReason reason;
    char error[200];
    char span[17];
    bool answered; /* else what became of it is unknown */
    bool approved; /* it would have had to be asked about, and a person has said yes */
    PtcUpDid did;
    PtcEffect effect;
    PtcPolicy policy;
    unsigned attempts, notes;
    int64_t at_ms; /* when it was made, by the calendar */
    int64_t duration_ns, wait_ns;
    size_t request_bytes, result_bytes;
    PtcUpText arguments, result; /* without secrets */
} PtcUpRecord;

/* What one run sees and did. */
struct PtcUpRun {
    PtcManager *manager;
    PtcMem *mem;
    char *owner;
    int64_t deadline_ns;
    const PtcCancel *cancel;
    /* It guards all below, except where the manager's lock is named.  The threads of the run's program take it;
     * the manager's lock is taken inside, never the other way round. */
    pthread_mutex_t lock;
    PtcListing **view; /* by slot: as it was at the beginning, then what came later */
    /* By upstream: PtcInstance.listed must be as large, since it had changed; 0: any. */
    uint64_t *needs;
    uint64_t version;            /* of all listings at the beginning */
    PtcTraceCarry trace;         /* of who asked */
    PtcUpCall *calls;            /* manager->lock */
    PtcRemoteListener *listener; /* manager->lock; NULL: none */
    int64_t told_ns;             /* manager->lock; when it last was; 0: never */
    PtcUpRecord *records;
    size_t record_count, record_cap;
    size_t refused; /* lines for calls that were not made */
    size_t made, looks, lookups, bytes, blob_count, blob_bytes;
    int64_t load_ns;            /* left for waiting for listings */
    _Atomic int64_t checked_ns; /* that checks against schemas took */
    struct PtcUpBlob *blobs;
    /* It guards the next, and is taken last: under `lock`, and under the manager's lock, which would have to come
     * after `lock`. */
    pthread_mutex_t denied_lock;
    struct PtcUpDenied *denied; /* calls that policy refused, by tool */
    PtcRemoteMode mode;
    PtcBuf plan; /* places where a program that is planned may call something: JSON objects */
    size_t site_count;
    PtcArena names;              /* of servers and tools, of a run that began in another process */
    PtcReplay replay;            /* unless mode is PTC_REMOTE_REFUSES */
    PtcGrants granted, declined; /* for this run, whatever the owner */
    PtcWhy unkept;               /* why an `always` will not be known later */
    /* questions of upstreams (inquiry.h), guarded by the manager's lock */
    unsigned offers;
    struct PtcInquiry *inquiries; /* in the order in which they came */
    struct PtcUpInput *inputs;    /* calls that are made again with answers */
    size_t inquired, asides;
    struct PtcUpstream *sign_in; /* that wants one; NULL: none */
    bool sign_in_asked;          /* about it, or nobody is asked */
    /* of whoever asks; no program runs meanwhile */
    bool sign_in_over;
    unsigned sign_in_told;   /* number of the last address */
    uint64_t sign_in_number; /* of the question; 0: none is open */
};

/* All upstreams of a process, their connections and their calls.  Threads of runs ask, the loop's thread hears
 * answers, and the thread of work_loop makes listings of them; one lock guards what they share. */
struct PtcManager {
    PtcMem *mem;
    PtcRemote remote; /* ask() casts back */
    PtcManagerConfig config;
    PtcLoop *loop, *work_loop;
    /* It guards everything below but what never changes after the start, upstreams and instances with all their
     * calls included.  It is held briefly, and by everybody: threads of runs, the loop, work_loop.  Taken before
     * it: PtcUpRun.lock.  Taken inside: the locks of links, services and loops, those of pins and listings,
     * PtcUpRun.denied_lock, those of secrets.  ready() and progress are called under it, and wait for nobody. */
    pthread_mutex_t lock;
    PtcUpstream *upstreams;
    size_t count;
    PtcInstance *instances;
    size_t instance_count;
    unsigned under_way;
    _Atomic uint64_t version; /* of all listings */
    _Atomic size_t runs;
    uint64_t changes;        /* how often servers have said that their tools have changed */
    PtcArena arena;          /* of entries */
    PtcSecrets told, hidden; /* for texts about calls; for results */
    PtcCredentials credentials;
    PtcShelf *shelf;        /* where grants, pins, shapes and tokens are; NULL: nowhere */
    PtcShelf *token_shelf;  /* the same, unless it keeps no secrets */
    PtcFileShelf files;     /* of the state directory */
    PtcPins *pins;          /* NULL: none are kept */
    PtcSeenBook *seen;      /* NULL: nothing is learnt */
    PtcScratch scratch;     /* for looking into values with the lock held */
    PtcScratches scratches; /* for asks and their answers */
    PtcLoopTimer sweep;
    PtcLoopTask wake; /* sets the timer */
    bool sweeping;
    bool ending;
    PtcGrants grants; /* for good; read from the state directory when they are first needed */
    bool grants_read;
    PtcGrants process_grants; /* until the process ends, and those that could not be kept */
    unsigned held;            /* calls */
    uint64_t last_inquiry;    /* number of it */
    unsigned warm_offers;     /* see PtcInstance.offers */
    bool client_roots;        /* our client has roots */
    PtcBuf roots;       /* what it said of them, as a result of roots/list; empty: nothing yet */
    char *warm_owner;   /* whose connections are used to list in the background; NULL: none are */
    int64_t warm_at_ns; /* not before */
    bool warm;          /* the background listing has ended */
    /* It guards the two below, and is held while the function runs, so that whoever sets another knows that the
     * old one is over.  It is never taken with `lock` held. */
    pthread_mutex_t known_lock;
    void (*known)(void *user);
    void *known_user;
};

/* Whose tools they are, for pins. */
static inline PtcPinned ptc_upstream_pinned(const PtcUpstream *up)
{
    return (PtcPinned){up->file, up->entry.name};
}

/* ---- manager.c: with manager->lock held */
/* Sees to it that the sweep runs soon.  False: it never will, since no thread can be started. */
PTC_MUST_USE bool ptc_manager_wake(PtcManager *m);

/* ---- instance.c: with manager->lock held */
/* The one that serves this owner; NULL: out of memory, or too many. */
PtcInstance *ptc_instance_get(PtcManager *m, PtcUpstream *up, const char *owner, PtcWhy *why);
/* The same, if there is one. */
PtcInstance *ptc_instance_find(PtcManager *m, const PtcUpstream *up, const char *owner);
/* Lists its tools again, on the loop's thread, unless that is under way. */
void ptc_instance_list(PtcInstance *i);
/* Begins to connect, unless it is under way, there, or must not be tried yet. */
void ptc_instance_start(PtcInstance *i);
/* Starts the next ones that are to be listed in the background. */
void ptc_instance_warm_next(PtcManager *m);
/* Without the lock: closes its connection; every call is answered first. */
void ptc_instance_end(PtcInstance *i);
/* Frees it, when the threads have ended. */
void ptc_instance_free(PtcInstance *i);

/* ---- instance_down.c: with manager->lock held */
void ptc_instance_down(PtcInstance *i, PtcText why);
/* A call has ended: several without an answer in a row bring a service down. */
void ptc_instance_heard(PtcInstance *i, const PtcLinkReply *reply);
/* Is its breaker open: did it fail or end so often that it is left alone for longer? */
bool ptc_instance_rests(const PtcInstance *i);
/* PtcInstance.drop, on the loop's thread, without the lock. */
void ptc_instance_drop(PtcLoopTask *task);

/* ---- instance_rest.c */
/* With manager->lock held: one that was started only to be listed, and that nobody wants, is to end: give what is
 * returned to ptc_instance_rest_end.  NULL: it stays. */
PtcEndpoint *ptc_instance_rest_unused(PtcInstance *i);
/* Without the lock, not on the loop's thread. */
void ptc_instance_rest_end(PtcInstance *i, PtcEndpoint *endpoint);
/* With manager->lock held: ends it when its owner has not called it for long.  When to look again; INT64_MAX: never. */
int64_t ptc_instance_rest_idle(PtcInstance *i, int64_t now);
/* PtcInstance.rest, on the work loop's thread. */
void ptc_instance_rest_run(PtcLoopTask *task);

/* ---- call_queue.c: with manager->lock held */
/* Sends it now, or when its turn comes; it is answered through ready(). */
void ptc_queue_call(PtcUpCall *call);
void ptc_queue_pump(PtcInstance *i);
/* Until when progress may keep a call open that is sent now. */
int64_t ptc_queue_most(const PtcUpCall *call);
/* Sees to it that the calls of the instance end in time, whatever happens: now, if no thread can look after them. */
void ptc_queue_watch(PtcInstance *i);
/* Everything that waited for a connection: tried again where that is allowed, else answered.  `starting`: it could not
 * be made; else it was there, and what had not been sent has lost no try. */
void ptc_queue_fail(PtcInstance *i, const char *why, bool starting);
/* Answers everybody who waited for its listing; returns those that can go on now, for ptc_serve_go_on. */
PtcUpCall *ptc_queue_listed(PtcInstance *i);
/* Its tools have changed, and its new list cannot be had: refuses everybody who waits for that. */
void ptc_queue_unlisted(PtcInstance *i, PtcText why);
/* Ends what has waited too long; returns when to look again, INT64_MAX: never. */
int64_t ptc_queue_sweep(PtcInstance *i, int64_t now);
void ptc_queue_cancel(PtcUpCall *call);
/* It has its answer: ready() is called, once. */
void ptc_queue_answer(PtcUpCall *call);

/* ---- serve_seen.c: without manager->lock */
/* Appends what results of a tool were like for this owner, if that is known and the tool does not say itself. */
bool ptc_serve_seen(PtcManager *m, const char *owner, const PtcUpstream *up, PtcListing *l,
                    size_t tool, PtcBuf *out);
/* The tools of a server with what was seen of them where all owners are one person, in the arena; NULL: out of memory,
 * or there is nothing to tell. */
PtcCatalogTool *ptc_serve_seen_tools(PtcManager *m, PtcArena *arena, const PtcUpstream *up,
                                     PtcListing *l);
/* Writes what was learnt, and says what is wrong with the file. */
void ptc_serve_keep_seen(PtcManager *m, const char *owner);
/* Has somebody else learnt something of this owner's results?  There are shapes. */
bool ptc_serve_refresh_seen(PtcManager *m, const char *owner);

/* ---- serve_run.c: fills the table of functions */
void ptc_run_fill(PtcManager *m);

#endif
