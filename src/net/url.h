/* SPDX-License-Identifier: MIT
 * url.h - addresses of HTTP servers, read so narrowly that no two readers can disagree about where one leads: a
 * scheme, a host of plain letters or a literal address, a port, a path.  No user, no password, nothing that has to
 * be decoded. */
#ifndef PTC_NET_URL_H
#define PTC_NET_URL_H

#include "base/buf.h"
#include "base/why.h"

enum { PTC_URL_BYTES = 2048 };

/* Parts of the text that was read. */
typedef struct PtcUrl {
    bool https;
    PtcText host; /* without the brackets of an IPv6 address */
    PtcText port; /* absent: the scheme's */
    PtcText path; /* with the query; "" or beginning with `/` or `?` */
    bool literal; /* the host is an address and needs no look-up */
    bool loopback;
} PtcUrl;

/* False with a reason that follows "the address". */
PTC_MUST_USE bool ptc_url_parse(PtcText text, PtcUrl *url, PtcWhy *why);

/* Do two addresses lead to the same server: scheme, host and port? */
bool ptc_url_same_server(const PtcUrl *a, const PtcUrl *b);

/* Where the Location of an answer leads that came from `base`; its fragment is dropped.  False: that is no address, is
 * too long, or is on another host without saying by which scheme. */
PTC_MUST_USE bool ptc_url_resolve(const char *base, const char *location,
                                  char out[PTC_URL_BYTES + 1]);

/* Does a path stay below where it begins?  False: a segment of it is `.` or `..`, however it is written. */
bool ptc_url_path_stays(PtcText path);
/* Appends text as part of a path or query: everything but letters, digits and -._~ as %XX. */
bool ptc_url_encode(PtcBuf *out, PtcText text);

#endif
