/* SPDX-License-Identifier: MIT
 * crew_int.h - what the two halves of the crew share: threads and seats (crew.c), jobs and their merging
 * (crew_job.c). */
#ifndef PTC_LISP_PARALLEL_CREW_INT_H
#define PTC_LISP_PARALLEL_CREW_INT_H

#include <pthread.h>

#include "lisp/compile/program.h"
#include "lisp/parallel/crew.h"
#include "lisp/vm/memo.h"
#include "lisp/vm/vm_int.h"

typedef struct PtcSeat PtcSeat;
typedef struct PtcCrewJob PtcCrewJob;

/* One item: what it gave beside its value. */
typedef struct PtcItem {
    PtcSeat *seat;   /* that ran it, or NULL */
    uint32_t before; /* the item that seat finished before, plus 1; 0: none */
    uint32_t first_print, print_count, first_call, call_count, call_total;
    uint32_t first_warning, warning_count;
    uint32_t first_write, write_count, write_total;
    bool prints_cut, prints_open;
    int64_t loops;
} PtcItem;

/* One thread's place in a job. */
struct PtcSeat {
    PtcSeat *next;
    PtcCrewJob *job;
    PtcVM *vm;
    PtcHeap heap;
    PtcCancel cancel;
    PtcValue *globals;
    size_t index;  /* of the item being run; SIZE_MAX: none */
    uint32_t last; /* the item finished last, plus 1 */
    /* what is left of the VM when the seat is left */
    int64_t compute_ns, wait_ns; /* until the end of its compute time and its deadline */
    PtcPrints prints;
    PtcLog log;
    PtcWarnings warnings;
    /* the item that failed */
    bool failed;
    size_t failed_at;
    PtcStop stop; /* as in the budget, with what and limit */
    const char *what;
    int64_t limit;
    PtcDiag error;
    PtcValue error_source, error_value;
};

/* What is kept during the merge beside the items' values: the journal and summaries of before. */
enum { PTC_JOB_MORE = 2 };

/* One pmap or pcalls.  It belongs to the thread that met it, which works on it too.  Helpers find it in the list of
 * the crew, and it ends when none of them has a seat in it any more. */
struct PtcCrewJob {
    PtcCrewJob *next;
    PtcCrew *crew;
    PtcVM model; /* the caller's VM as it was */
    PtcValue f, rows;
    int width;
    size_t n;
    PtcItem *items;
    /* Of all items, then what each changed of the journal, of the summaries, and PTC_JOB_MORE others. */
    PtcValue *values;
    int64_t compute_ns; /* left when the job began */
    /* Left until the deadline, as the caller knew it last: a thread that comes late has as long from then on.  The hard
     * end of the run keeps that from adding up. */
    atomic_int_fast64_t wait_ns;
    int64_t cut_ns; /* of the deadline, for the job's own limit; INT64_MAX: there was no deadline */
    int64_t pmap_ms;     /* see PtcBudget */
    PtcAccount *account; /* of the heaps of all seats: the outermost job's */
    PtcAccount own;
    atomic_bool offered;
    atomic_bool aside; /* an item waits for a person: so does the whole */
    /* What follows is guarded by the crew's lock. */
    size_t next_item, lowest; /* the lowest item that failed, or n */
    unsigned seat_count, busy;
    PtcSeat *seats;
    PtcMemo *memo; /* made when it is first asked for; or NULL */
    PtcSeat first; /* the caller's */
};

struct PtcCrew {
    PtcMem *mem;
    PtcPool *pool;
    /* It guards everything below, and what jobs say is under it.  The caller of a pmap and the helpers take it
     * between two items.  The lock of base/os/cancel.c is taken inside, when a failure cancels later items. */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    PtcCrewJob *jobs;
    pthread_t threads[PTC_WORKERS_MAX];
    unsigned thread_count, idle;
    bool quit;
};

/* Takes a seat with this VM; false: out of memory.  Left again with ptc_seat_leave. */
PTC_MUST_USE bool ptc_seat_take(PtcSeat *seat, PtcCrewJob *job, PtcVM *vm);
void ptc_seat_leave(PtcSeat *seat);
void ptc_seat_free(PtcSeat *seat);
/* Works on items until there are none left for it. */
void ptc_seat_work(PtcSeat *seat);

#endif
