/* SPDX-License-Identifier: MIT
 * seen_book.h - what results of tools were like that do not say (tool/seen), for whoever calls them again.
 *
 * A shape belongs to one owner and one tool of one server, of the server as its entry starts or reaches it, and of the
 * tool as it was defined then: one that is defined anew is another tool.  It is kept in a file of the state directory,
 * which other processes write too: what was seen since is put on top of what the file says then, under a lock.  Nothing
 * depends on it; what cannot be read or written is only not known.  Any thread may call. */
#ifndef PTC_UPSTREAM_RUN_SEEN_BOOK_H
#define PTC_UPSTREAM_RUN_SEEN_BOOK_H

#include "base/buf.h"
#include "base/os/shelf.h"
#include "base/text/hmac.h"
#include "base/why.h"
#include "trace/redact.h"

enum {
    PTC_SEEN_BOOK_MOST = 2000
}; /* shapes; the one that has not changed for longest goes first */

typedef struct PtcSeenBook PtcSeenBook;

/* Whose results of what. */
typedef struct PtcSeenOf {
    const char *realm, *owner; /* as in PtcGrantOf */
    PtcText server, tool;
    const uint8_t *entry; /* digest of what the server is */
    PtcText definition;   /* digest of the tool, in digits */
} PtcSeenOf;

/* On a shelf, which is borrowed: the file seen.json, or a record for each owner; NULL: nothing is kept.  Reads nothing
 * yet.  NULL: out of memory. */
PTC_MUST_USE PtcSeenBook *ptc_seen_book_new(PtcMem *mem, PtcShelf *shelf);
void ptc_seen_book_free(PtcSeenBook *book); /* NULL is fine */

/* Has somebody written the file since it was read?  It is read again then, and so it is at first.  In a store that is
 * what this owner has, looked at once a second at most and with no lock held. */
bool ptc_seen_book_refresh(PtcSeenBook *book, const char *realm, const char *owner);
/* Why the file is not used, if that is so; told once. */
bool ptc_seen_book_complains(PtcSeenBook *book, const char *realm, const char *owner, PtcWhy *why);

/* A result was like this (ptc_seen_shape).  True: that was not known. */
bool ptc_seen_book_add(PtcSeenBook *book, PtcSeenOf of, const PtcSecrets *secrets, PtcText shape);
/* Appends what results were like, if that is known. */
bool ptc_seen_book_get(PtcSeenBook *book, PtcSeenOf of, const PtcSecrets *secrets, PtcBuf *out);
/* Writes what was added since the last time, if anything was.  False: it could not be written, and why says so. */
PTC_MUST_USE bool ptc_seen_book_keep(PtcSeenBook *book, const char *realm, const char *owner,
                                     PtcWhy *why);

/* How many tools of a server are known, of all owners together; in a store, of the one without a name. */
size_t ptc_seen_book_count(PtcSeenBook *book, PtcText server);
/* Drops those of a server (absent: of all, also if the file cannot be read).  False: the file could not be written, and
 * why says so. */
PTC_MUST_USE bool ptc_seen_book_forget(PtcSeenBook *book, PtcText server, size_t *count,
                                       PtcWhy *why);

#endif
