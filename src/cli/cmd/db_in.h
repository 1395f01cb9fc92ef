/* SPDX-License-Identifier: MIT
 * db_in.h - the databases of --db NAME=URL, in every command that has it: each becomes the tools NAME/query,
 * NAME/tables and NAME/columns. */
#ifndef PTC_CLI_CMD_DB_IN_H
#define PTC_CLI_CMD_DB_IN_H

#include "base/mem.h"
#include "base/why.h"
#include "cli/options.h"
#include "ptc/ptc.h"

#define PTC_DB_IN_HELP                                                                  \
    "a database that programs may ask: (NAME/query \"select ...\" {}), (NAME/tables), " \
    "(NAME/columns \"t\"); sqlite:FILE or postgres://... (ptc docs databases); may be repeated"

/* Adds them to a set that no run has yet; *tools NULL: a new one is made, unless there are none.  What a model is told
 * of tables and columns is asked for now; one that cannot be asked is told of without.  False with a text in why. */
PTC_MUST_USE bool ptc_db_in_add(PtcTools **tools, PtcMem *mem, const PtcOptionList *dbs,
                                PtcWhy *why);

#endif
