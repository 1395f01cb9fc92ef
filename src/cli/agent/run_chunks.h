/* SPDX-License-Identifier: MIT
 * run_chunks.h - files in pieces as data of an agent: --chunk KEY=@FILE,lines=N. */
#ifndef PTC_CLI_AGENT_RUN_CHUNKS_H
#define PTC_CLI_AGENT_RUN_CHUNKS_H

#include "agent/run/chunks.h"

/* What --chunk says: KEY=@FILE,lines=N|chars=N|tokens=N[,overlap=N].  Four characters count as a token. */
typedef struct PtcChunkSpec {
    PtcText key;
    char path[4096];
    PtcChunks how;
} PtcChunkSpec;

/* False with a reason. */
PTC_MUST_USE bool ptc_chunk_parse(const char *text, PtcChunkSpec *spec, PtcWhy *why);

#endif
