/* SPDX-License-Identifier: MIT
 * leash.h - how a program is started under a leash: a small process between us and it, which makes sure that no process
 * of the program is left when either of us ends, however that happens. */
#ifndef PTC_BASE_OS_LEASH_H
#define PTC_BASE_OS_LEASH_H

#include <sys/types.h>

#include "base/mem.h"

#define PTC_LEASH_ARGUMENT "--ptc-leash"

enum { PTC_LEASH_CONTROL = 3 }; /* the leash's descriptor for the control socket */

typedef struct PtcLeashStart {
    /* The program, which is searched for in the PATH of its variables unless it has a slash. */
    const char *const *argv, *const *envp;
    const char *cwd; /* NULL: ours */
    /* The program to start as leash.  NULL: the running one; if its main() has not asked ptc_leash_asked(), it is
     * forked. */
    const char *leash;
    int grace_ms; /* from SIGTERM to SIGKILL; and before SIGTERM, when standard input is a pipe that we have closed */
    const int *fds; /* its first three descriptors, each lifted and closed by exec */
} PtcLeashStart;

/* What the control socket says when nothing is left of the program.  A leash that was killed says nothing. */
typedef struct PtcLeashEnd {
    int error;  /* errno: the program was not started; else 0 */
    int status; /* of the program, as waitpid() tells it */
} PtcLeashEnd;

/* Starts the leash: 0 or an errno.  The control socket is readable when the program has ended; to close it, or its
 * sending half, ends the program.  Whoever started a leash reaps it. */
PTC_MUST_USE int ptc_leash_start(PtcMem *mem, const PtcLeashStart *start, pid_t *pid, int *control);
/* Moves a descriptor above the standard ones, which a host may have closed: putting those of the program in place must
 * not overwrite it.  False: it could not be moved and is closed, or there was none. */
PTC_MUST_USE bool ptc_leash_lift(int *fd);

/* A main() asks this first, so that the program can be started as a leash. */
bool ptc_leash_asked(int argc, char **argv);
int ptc_leash_main(int argc, char **argv);

#endif
