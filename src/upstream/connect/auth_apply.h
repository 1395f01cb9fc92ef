/* SPDX-License-Identifier: MIT
 * auth_apply.h - credentials put into a request. */
#ifndef PTC_UPSTREAM_CONNECT_AUTH_APPLY_H
#define PTC_UPSTREAM_CONNECT_AUTH_APPLY_H

#include "base/buf.h"
#include "value/heap.h"

/* Adds what the bindings of an upstream ([{"scheme", "binding", ...}]) ask for to `headers`, a map with names in lower
 * case, and to `query` (&name=value).  `values` is a map from credentials to their values.  False: a credential is
 * missing, or cannot be put into a header; *binding is its name. */
PTC_MUST_USE bool ptc_auth_apply(PtcHeap *heap, PtcValue auth, PtcValue values, PtcValue *headers,
                                 PtcBuf *query, PtcText *binding);

#endif
