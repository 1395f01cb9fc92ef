/* SPDX-License-Identifier: MIT
 * remote_servers.h - a PtcRemote as the language wants it: PtcServers of host.h. */
#ifndef PTC_TOOL_REMOTE_REMOTE_SERVERS_H
#define PTC_TOOL_REMOTE_REMOTE_SERVERS_H

#include "lisp/vm/vm.h"
#include "tool/remote/remote.h"
#include "tool/remote/remote_names.h"

/* For one run. */
typedef struct PtcRemoteServers {
    PtcServers base; /* first: a PtcServers pointer is one of these */
    const PtcRemoteRun *run;
    PtcRemoteNames *names;
    PtcMem *mem;
    atomic_int looks; /* discovery forms so far */
} PtcRemoteServers;

void ptc_remote_servers_init(PtcRemoteServers *servers, const PtcRemoteRun *run,
                             PtcRemoteNames *names, PtcMem *mem);

/* Calls that programs make (remote_call.c); for the table. */
bool ptc_remote_call(PtcVM *vm, uint32_t number, int argc, const PtcValue *argv, PtcValue *out);
bool ptc_remote_refuse(PtcVM *vm, PtcText name, PtcServerAnswer answer, const PtcServerWord *word);
bool ptc_remote_question(PtcVM *vm, PtcServerAsk what, PtcValue question, PtcValue *out);

#endif
