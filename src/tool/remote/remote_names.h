/* SPDX-License-Identifier: MIT
 * remote_names.h - which tools of other servers were found, remembered from run to run for as long as the catalogues
 * stay as they are: a program that was checked before is checked again without asking anybody.  Only what is true is
 * remembered: a tool that was not there may be there now.
 *
 * Threads of a pmap share it; each function may be called by any of them. */
#ifndef PTC_TOOL_REMOTE_REMOTE_NAMES_H
#define PTC_TOOL_REMOTE_REMOTE_NAMES_H

#include <pthread.h>

#include "base/mem.h"
#include "base/text.h"

enum { PTC_REMOTE_CHECKED = 256 };
#define PTC_REMOTE_HASH 0xcbf29ce484222325 /* where a hash begins */

/* A tool, "ns/name", or a namespace, "ns/". */
typedef struct PtcRemoteName {
    char *text; /* stays where it is until the next run begins */
    uint32_t len, hash;
    uint32_t slot, tool;
    PtcText takes, gives, seen; /* as in PtcToolShapes; behind the text */
    bool once;                  /* true for this run only */
    bool reads;                 /* its calls change nothing */
    char only[64]; /* the one argument that is required; empty: none, several, or a longer name */
} PtcRemoteName;

/* What one engine remembers. */
typedef struct PtcRemoteNames {
    PtcMem *mem;
    /* It guards the rest.  The threads of one run take it; no other lock is taken inside. */
    pthread_mutex_t lock;
    uint64_t version;
    PtcRemoteName *items;
    uint32_t count;
    size_t cap;
    /* Fingerprints of arguments that were found to be right.  One that is there by accident costs nothing: the server
     * looks again at the call. */
    uint64_t checked[PTC_REMOTE_CHECKED];
} PtcRemoteNames;

void ptc_remote_names_init(PtcRemoteNames *names, PtcMem *mem);
void ptc_remote_names_deinit(PtcRemoteNames *names);
/* A run begins, which sees this version of the catalogues; no other run may use it meanwhile. */
void ptc_remote_names_begin(PtcRemoteNames *names, uint64_t version);

/* The number of a name; -1: it is not known, or (add) out of memory.  `what` has everything but the text; what is
 * behind that is copied. */
int64_t ptc_remote_names_find(PtcRemoteNames *names, PtcText text);
int64_t ptc_remote_names_add(PtcRemoteNames *names, PtcText text, PtcRemoteName what);
bool ptc_remote_names_get(PtcRemoteNames *names, uint32_t number, PtcRemoteName *out);

/* Fingerprints of arguments. */
uint64_t ptc_remote_names_hash(uint64_t hash, const void *bytes, size_t len);
bool ptc_remote_names_checked(PtcRemoteNames *names, uint64_t print);
void ptc_remote_names_check(PtcRemoteNames *names, uint64_t print);

#endif
