/* SPDX-License-Identifier: MIT
 * pg_library.h - the functions of libpq in use, loaded when they are needed and never unloaded: libraries that
 * it loads itself do not bear that. */
#ifndef PTC_POSTGRES_PG_LIBRARY_H
#define PTC_POSTGRES_PG_LIBRARY_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/why.h"

/* Each without its PQ. */
/* clang-format off */
#define PTC_PG_FUNCTIONS(X) \
    X(connectStartParams) X(connectPoll) X(conninfoParse) X(conninfoFree) X(freemem) X(finish) \
    X(status) X(socket) X(errorMessage) X(host) X(port) X(user) X(serverVersion) \
    X(setnonblocking) X(setNoticeProcessor) X(sendQuery) X(sendQueryPrepared) X(flush) \
    X(consumeInput) X(isBusy) X(notifies) X(getResult) X(resultStatus) X(resultErrorField) \
    X(ntuples) X(nfields) X(getvalue) X(getlength) X(clear) X(connectdbParams) \
    X(exec) X(prepare) X(describePrepared) X(setSingleRowMode) X(nparams) X(paramtype) X(ftype) \
    X(fname) X(getisnull) X(cmdTuples) X(getCancel) X(cancel)
/* clang-format on */

#define PTC_PG_POINTER(name) __typeof__(PQ##name) *name;
typedef struct PtcPg {
    PTC_PG_FUNCTIONS(PTC_PG_POINTER)
} PtcPg;
#undef PTC_PG_POINTER

/* False with a text in why. */
PTC_MUST_USE bool ptc_pg_load(PtcPg *lib, PtcWhy *why);

#endif
