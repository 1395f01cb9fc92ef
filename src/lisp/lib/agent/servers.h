/* SPDX-License-Identifier: MIT
 * servers.h - what builtins ask about other servers and their tools. */
#ifndef PTC_LISP_LIB_AGENT_SERVERS_H
#define PTC_LISP_LIB_AGENT_SERVERS_H

#include "lisp/vm/builtin.h"

/* A question about servers: "dir", "doc", "meta", "publics", "apropos", "servers".  Absent texts and PTC_NONE are left
 * out. */
typedef struct PtcServerQuestion {
    const char *op;
    PtcText ns, name, query;
    int64_t limit, offset; /* -1: left out */
    bool load;             /* servers that were never listed are started */
} PtcServerQuestion;

/* Is there a server with this namespace? */
bool ptc_servers_know(PtcVM *vm, PtcText ns);
/* Nil when there is no such thing, or nobody can say.  False: it failed. */
PTC_MUST_USE bool ptc_servers_look(PtcVM *vm, const PtcServerQuestion *question, PtcValue *out);
/* The namespace and name of "ns/name" where ns is a server's, or of "ns" alone (then the name is absent). */
PTC_MUST_USE bool ptc_servers_split(PtcVM *vm, PtcText text, PtcText *ns, PtcText *name);
/* The same map with keywords for keys, not deeper. */
PTC_MUST_USE PtcValue ptc_servers_keywords(PtcVM *vm, PtcValue map);

#endif
