/* SPDX-License-Identifier: MIT
 * entry.h - one upstream as its file has it, ready to be started: texts that the system wants, limits with their
 * defaults. */
#ifndef PTC_UPSTREAM_CONFIG_ENTRY_H
#define PTC_UPSTREAM_CONFIG_ENTRY_H

#include "base/arena.h"
#include "mcp/client/link.h"
#include "upstream/config/policy.h"

enum {
    PTC_ENTRY_CALL_MS = 30 * 1000,
    PTC_ENTRY_HANDSHAKE_MS = 60 * 1000,
    PTC_ENTRY_RESPONSE_BYTES = 16 * PTC_MB,
    PTC_ENTRY_SCHEMA_BYTES = 16 * PTC_MB,
    PTC_ENTRY_AT_ONCE = 8,
    PTC_ENTRY_DEPTH = 2, /* of ptc starting ptc */
};

/* One upstream, read from its value once and constant from then on, so every thread may read it.  Texts lie in the
 * arena or the heap that it was read from. */
typedef struct PtcEntry {
    PtcText name, ns, description;
    PtcText unusable; /* why it cannot be used; absent: it can */
    bool self;        /* because it is ptc */
    bool disabled;
    bool web;     /* MCP over HTTP in one of its forms */
    bool openapi; /* an OpenAPI service; neither this nor web: a process */
    PtcLinkTransport transport;
    const char *const *argv, *const *env; /* of a process; NULL at the end */
    const char *cwd, *url, *ca_file;
    const char *base_url, *schema_file, *schema_url; /* of an OpenAPI service; NULL: not said */
    PtcValue include_operations, exclude_operations, overrides, security; /* likewise */
    bool allow_writes;
    size_t schema_max;               /* bytes of its document */
    bool client_grant;               /* oauth has credentials of a client: nobody signs in */
    PtcValue headers, auth, oauth;   /* maps and lists of the normal form; PTC_NONE: none */
    PtcValue policy, effects;        /* likewise */
    PtcValue roots;                  /* likewise */
    PtcValue include, exclude, form; /* the whole normal form */
    const char *kind;                /* stdio, http, sse, auto, openapi */
    bool distrust, leave_text, strict_output, no_retry, insecure_http, insecure_auth;
    bool no_pins, pin_strict;
    bool shared; /* by all owners */
    bool no_elicitation, no_sampling;
    int64_t call_ms, handshake_ms, connect_ms, silence_ms;
    size_t max_response;
    unsigned at_once;
} PtcEntry;

/* Makes an entry of its normal form (docs/upstreams.md); `environment` is that of this process.  Values stay where they
 * are.  False: out of memory. */
PTC_MUST_USE bool ptc_entry_read(PtcArena *arena, PtcHeap *heap, PtcValue form,
                                 const char *const *environment, int64_t call_ms, PtcEntry *out);

/* The normal form with the document's file named as seen from here: in its file, `path`, it is relative to that. */
PTC_MUST_USE PtcValue ptc_entry_locate(PtcHeap *heap, PtcValue form, const char *path);

/* A number that is another one when the document of a service, in a file, was written again; 0: there is none. */
uint64_t ptc_entry_stamp(const PtcEntry *entry);

/* Does the entry let programs see the tool at all? */
bool ptc_entry_shows(const PtcEntry *entry, PtcSpelt tool);

#endif
