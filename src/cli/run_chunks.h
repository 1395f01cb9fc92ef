/* SPDX-License-Identifier: MIT
 * run_chunks.h - files in pieces as data of an agent: --chunk KEY=@FILE,lines=N. */
#ifndef PTC_CLI_RUN_CHUNKS_H
#define PTC_CLI_RUN_CHUNKS_H

#include "base/buf.h"

enum { PTC_CHUNKS_MAX = 100000, PTC_CHUNK_WHY = 300 };

/* What --chunk says: KEY=@FILE,lines=N|chars=N|tokens=N[,overlap=N].  Four characters count as a token. */
typedef struct PtcChunkSpec {
    PtcText key;
    char path[4096];
    bool lines;            /* pieces are counted in lines, else in characters */
    int64_t size, overlap; /* of a piece; of two that follow each other */
} PtcChunkSpec;

/* False with a reason. */
PTC_MUST_USE bool ptc_chunk_parse(const char *text, PtcChunkSpec *spec, char why[PTC_CHUNK_WHY]);
/* Appends the pieces of a text as a JSON array of strings.  False with a reason. */
PTC_MUST_USE bool ptc_chunk_write(const PtcChunkSpec *spec, PtcText text, PtcBuf *out,
                                  char why[PTC_CHUNK_WHY]);

#endif
