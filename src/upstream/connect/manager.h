/* SPDX-License-Identifier: MIT
 * manager.h - all upstreams of a process: which there are, which run, what they have, who may call what.
 *
 * Nothing is started before it is needed.  Any thread may call.  Programs reach upstreams through the PtcRemote alone;
 * everything it is asked may come from a worker that lies, so names, arguments, policy and caps are checked here, for
 * every call. */
#ifndef PTC_UPSTREAM_CONNECT_MANAGER_H
#define PTC_UPSTREAM_CONNECT_MANAGER_H

#include "base/os/shelf.h"
#include "tool/remote/remote.h"
#include "trace/redact.h"
#include "upstream/openapi/openapi.h"

enum {
    PTC_MANAGER_CALLS = 200,         /* of one run */
    PTC_MANAGER_BYTES = 64 * PTC_MB, /* received by one run */
    PTC_MANAGER_AT_ONCE = 64,        /* calls under way, of all runs */
    PTC_MANAGER_INSTANCES = 64,      /* processes and connections */
    PTC_MANAGER_LOOKS = 100,         /* discovery forms of one run */
    PTC_MANAGER_LOOKUPS = 256,       /* names of one run */
    PTC_MANAGER_LOAD_MS = 10 * 1000, /* that one run waits for listings, in all */
};

/* What is 0 or NULL takes its default; values live in `heap`, which must outlive the manager. */
typedef struct PtcManagerConfig {
    PtcHeap *heap;
    PtcValue entries; /* list of upstreams in normal form, of all files */
    PtcValue places;  /* for each entry {"file", "line"?, "message"?}; PTC_NONE: not known */
    PtcValue policy;  /* rules of the files: globs of server/tool -> decisions; PTC_NONE: none */
    PtcValue credentials; /* name -> definition; PTC_NONE: none */
    PtcValue secrets;     /* list of texts that nobody may read; PTC_NONE: none */
    PtcPosture posture;
    /* Whose owners these are, for what a person allows them for longer: owners of another transport are others, also if
     * they have the same name, or none.  NULL is "". */
    const char *realm;
    bool approved; /* a person has said yes to whatever would have to be asked about */
    const char *cache_dir, *state_dir; /* NULL: nothing is kept */
    /* Where the keys of this manager come from: 32 bytes that other processes have as well, so that what one has
     * written means the same to another; NULL: a file of state_dir. */
    const uint8_t *root_key;
    /* Where grants, pins, shapes and tokens are, if other machines have them too; NULL: in the state directory. */
    PtcShelf *shelf;
    const char *const *environment; /* of this process */
    /* Where the versions of listings begin, so that those of one manager are not those of another; 0: at 1. */
    uint64_t version;
    const char *leash; /* the program that servers on stdio run under; NULL: the running one */
    int64_t call_ms;
    int64_t idle_ms; /* connections of an owner who calls nothing for so long end; 0: they stay */
    int64_t load_ms; /* that one run waits for listings, in all */
    size_t calls, bytes;
    bool payloads; /* the log of calls also has the beginning of arguments and results */
    bool no_learn; /* what results are like is neither learnt nor told */
    /* Gets every secret that is learnt, for whoever keeps records; NULL: nobody. */
    struct PtcSecrets *records;
    void (*log)(void *user, PtcText line); /* any thread; or NULL */
    /* What is wrong with rules, for whoever wrote them; any thread.  NULL: it goes to the log. */
    void (*notice)(void *user, PtcText line);
    void *user;
} PtcManagerConfig;

typedef struct PtcManager PtcManager;

/* NULL: out of memory. */
PTC_MUST_USE PtcManager *ptc_manager_new(PtcMem *mem, const PtcManagerConfig *config);
/* No run may be under way.  Ends every upstream. */
void ptc_manager_free(PtcManager *manager);

/* Starts upstreams that were never listed, in the background and two at a time, to list them; those that nobody calls
 * end again.  The connections belong to the first owner for whom this is called; it is copied. */
void ptc_manager_warm(PtcManager *manager, const char *owner, unsigned offers, int64_t delay_ms);
/* Is something known of every upstream that can be used? */
bool ptc_manager_is_known(PtcManager *manager);
/* `known` is called once, when the background listing has ended, whatever came of it; any thread.  NULL: not any more,
 * and none is under way when this returns. */
void ptc_manager_on_known(PtcManager *manager, void (*known)(void *user), void *user);
PtcRemote *ptc_manager_remote(PtcManager *manager);
/* Everything that must be hidden from those it was not given to, including all credentials that were used so far. */
const PtcSecrets *ptc_manager_secrets(const PtcManager *manager);
/* Appends what lisp_eval's description says of upstreams, from what is known now.  What results were like is told where
 * all owners are the person of this process. */
void ptc_manager_describe(PtcManager *manager, PtcBuf *out, size_t budget);
/* Is every tool that programs may call known to change nothing? */
bool ptc_manager_is_read_only(PtcManager *manager);

/* How many runs have begun and not ended. */
size_t ptc_manager_runs(const PtcManager *manager);

/* A key that stays the same from process to process, for this purpose alone.  False: there is none. */
PTC_MUST_USE bool ptc_manager_key(PtcManager *manager, const char *purpose, uint8_t key[32]);

/* The states of a connection, then what an upstream can be that has none. */
typedef enum {
    PTC_INSTANCE_COLD,
    PTC_INSTANCE_STARTING, /* until its listing is there */
    PTC_INSTANCE_READY,
    PTC_INSTANCE_DOWN,
    PTC_INSTANCE_STATES,
    PTC_UPSTREAM_UNUSABLE = PTC_INSTANCE_STATES,
    PTC_UPSTREAM_DISABLED,
} PtcInstanceState;
const char *ptc_manager_state_word(PtcInstanceState state);

/* How one upstream is, for people. */
typedef struct PtcUpstreamState {
    PtcText name, ns, description;
    PtcInstanceState state;
    char reason[256]; /* "": none */
    bool self;        /* it is ptc, which would call itself */
    size_t tools;
    bool listed, cached;
    PtcText file;          /* that names it; absent: not known */
    size_t line;           /* 0: not known */
    const char *transport; /* stdio http sse auto openapi; NULL: not known */
    int64_t listed_ms;     /* wall clock; 0: not known */
    bool pinned;           /* its tools are */
    size_t seen;           /* tools of which it is known what results were like */
    struct {
        size_t count;
        char first[80];       /* such as this one, perhaps cut */
    } left[PTC_LEFT_REASONS]; /* tools and operations that are left out */
} PtcUpstreamState;
/* Pins of tools; NULL: none are kept. */
struct PtcPins *ptc_manager_pins(PtcManager *manager);
/* Where tokens of upstreams are; NULL: nowhere. */
PtcShelf *ptc_manager_tokens(PtcManager *manager);
/* What results of tools were like; NULL: that is not learnt. */
struct PtcSeenBook *ptc_manager_seen(PtcManager *manager);
/* Calls back for each tool of an upstream that has changed since it was pinned, as far as it is listed. */
void ptc_manager_changed(PtcManager *manager, size_t i,
                         void (*tell)(void *user, PtcText tool, unsigned parts), void *user);

/* Calls back for each tool of an upstream, as far as it is listed: its name, whether it says what it does, and how many
 * bytes its description and schemas have. */
typedef void PtcManagerTool(void *user, PtcText tool, bool annotated, size_t bytes);
void ptc_manager_tools(PtcManager *manager, size_t i, PtcManagerTool *tell, void *user);

/* Calls back for each rule that fits none of the tools of an upstream, as far as it is listed, with a sentence. */
void ptc_manager_check_rules(PtcManager *manager, size_t i, void (*tell)(void *user, PtcText line),
                             void *user);

size_t ptc_manager_count(const PtcManager *manager);
void ptc_manager_state(PtcManager *manager, size_t i, PtcUpstreamState *out);

/* ---- roots.c */
/* Is there an upstream that would be told the roots of our client? */
bool ptc_manager_takes_roots(const PtcManager *manager);
/* What the one client of all owners answered to roots/list, or nothing (absent: it has given no answer).  Servers that
 * were told of other roots are notified, and have a moment to ask again. */
void ptc_manager_set_roots(PtcManager *manager, PtcText result);

/* ---- serve_approve.c */
/* What people have allowed until the process ends is allowed here too, where nobody calls anything yet.  False: out of
 * memory. */
PTC_MUST_USE bool ptc_manager_take_grants(PtcManager *manager, PtcManager *from);
/* What they have allowed for good is read from its file again. */
void ptc_manager_reread_grants(PtcManager *manager);

/* ---- manager_stats.c */
/* A JSON array: each upstream with what is known of its connections of this owner. */
void ptc_manager_stats(PtcManager *manager, const char *owner, PtcBuf *out);
/* Appends lines for Prometheus: calls, times, bytes, connections and catalogues of each upstream. */
void ptc_manager_metrics(PtcManager *manager, PtcBuf *out);

#endif
