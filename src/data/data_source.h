/* SPDX-License-Identifier: MIT
 * data_source.h - the bytes of a file or of standard input, unpacked if they are gzip, zstd or xz.
 *
 * Whether they are is seen from their first bytes, not from the name.  Several packed files one behind the other
 * are one text.  What is read has no bound here: who reads sets one, since a few packed bytes can become
 * very many. */
#ifndef PTC_DATA_DATA_SOURCE_H
#define PTC_DATA_DATA_SOURCE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/why.h"
#include "data/unpack.h"

enum { PTC_DATA_SOURCE_CHUNK = 64 * PTC_KB };

typedef struct PtcDataSource {
    PtcMem *mem;
    int fd;
    bool own;          /* the descriptor is closed with it */
    bool ended;        /* the file */
    bool database;     /* of SQLite, of which the bytes in order are no use */
    PtcUnpack *packed; /* NULL: it is not packed */
    char *chunk;       /* bytes of the file that were read and not handed out */
    size_t at, len;    /* those of them that are left */
    size_t size;       /* of a regular file; 0: unknown */
    size_t taken;      /* bytes of the file that were read */
    PtcWhy why;
} PtcDataSource;

/* Opens a file; "-" is standard input.  False with the reason in why; nothing has to be closed then. */
PTC_MUST_USE bool ptc_data_source_open(PtcDataSource *source, PtcMem *mem, const char *path);
void ptc_data_source_close(PtcDataSource *source);

/* Waits for at most n bytes.  How many there were; 0: the end; -1: the reason is in why. */
PTC_MUST_USE ptrdiff_t ptc_data_source_read(PtcDataSource *source, char *to, size_t n);
/* Appends everything that is left.  False with the reason in why, also when the buffer is full. */
PTC_MUST_USE bool ptc_data_source_all(PtcDataSource *source, PtcBuf *out);

#endif
