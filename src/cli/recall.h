/* SPDX-License-Identifier: MIT
 * recall.h - *1 *2 *3 of the REPL: the last results, as definitions of its session. */
#ifndef PTC_CLI_RECALL_H
#define PTC_CLI_RECALL_H

#include "base/buf.h"
#include "ptc/ptc.h"

/* A session in which *1 *2 *3 are nil; NULL when memory is short. */
PtcSession *ptc_recall_session(Ptc *ptc);

/* *1 becomes the value (of an outcome of this session), *2 what *1 was, *3 what *2 was.  A value
 * that is too large for the session leaves them as they are. */
void ptc_recall_push(PtcSession *session, PtcValue value);

/* Calls for each name that the session defines, *1 and so on aside. */
void ptc_recall_names(const PtcSession *session,
                      void (*each)(void *user, const char *name, size_t len), void *user);

/* The limits that runs of this engine have. */
const PtcLimits *ptc_recall_limits(const Ptc *ptc);

#endif
