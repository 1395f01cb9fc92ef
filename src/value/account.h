/* SPDX-License-Identifier: MIT
 * account.h - what the heaps of one run may take together while several threads work on it.
 *
 * A heap takes a grant from the account, spends it without asking, and asks again when it is used up, so that threads
 * rarely meet here.  `used` is about values and scratch, as in a heap; `held` about what the process has for them:
 * pages with their holes. */
#ifndef PTC_VALUE_ACCOUNT_H
#define PTC_VALUE_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct PtcHeap;

typedef struct PtcAccount {
    atomic_size_t used, held; /* granted, to all heaps together */
    atomic_size_t raised;     /* for results of tools that are alive, on top of the limit */
    size_t limit;
    size_t tool_bytes;    /* the most that `raised` may be */
    atomic_uint heaps;    /* of threads that are working */
    atomic_uint short_of; /* of those, the ones that wait for memory of others */
    atomic_uint asked;    /* counts how often somebody ran short: all others should then collect */
} PtcAccount;

/* n + more, saturating. */
static inline size_t ptc_size_add(size_t n, size_t more)
{
    return more > (size_t)-1 - n ? (size_t)-1 : n + more;
}

/* --- of a heap, with an account or without --- */

/* Everything that it may hand out: the limit, plus what results of tools have raised it by. */
size_t ptc_account_limit(const struct PtcHeap *heap);
/* Bytes that it may still hand out. */
size_t ptc_account_left(const struct PtcHeap *heap);
/* May it hand out n more bytes, or hold n more?  With an account, they have then been granted. */
bool ptc_account_fits(struct PtcHeap *heap, size_t n);
bool ptc_account_holds(struct PtcHeap *heap, size_t n);
/* At the end of a tool whose result has `grown` bytes: by how much it raises the limit from now on. */
size_t ptc_account_raised(struct PtcHeap *heap, size_t grown);

/* How much it may use before it should collect. */
size_t ptc_account_threshold(const struct PtcHeap *heap);

/* --- of a heap with an account --- */

/* An account that continues from what the heap has.  The heap must not change until it joins, to take over what
 * others made; after ptc_account_part it is on its own again, and the account is finished. */
void ptc_account_open(PtcAccount *account, const struct PtcHeap *heap);
void ptc_account_join(struct PtcHeap *heap, PtcAccount *account);
void ptc_account_part(struct PtcHeap *heap);
/* From here on the heap, which must be empty, takes what it needs from the account, until it is adopted or ends. */
void ptc_account_share(struct PtcHeap *heap, PtcAccount *account);
void ptc_account_leave(struct PtcHeap *heap);
/* The heap uses less than before. */
void ptc_account_settle(struct PtcHeap *heap);
/* Leaves what it has not used to others, because it will not need it for a while. */
void ptc_account_rest(struct PtcHeap *heap);
/* A request was refused.  Asks all other heaps of the account to collect; false: there are none, or even all that they
 * have would not do.  Who waits for them then looks now and then, and says so when the wait is over. */
bool ptc_account_ask(struct PtcHeap *heap);
/* Is it worth waiting on?  Not once there is room, or when everybody waits. */
bool ptc_account_is_short(const struct PtcHeap *heap);
void ptc_account_asked(struct PtcHeap *heap);

#endif
