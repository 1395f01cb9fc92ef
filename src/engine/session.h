/* SPDX-License-Identifier: MIT
 * session.h - what survives between runs: definitions, the last results, the journal of tasks, results of cached
 * tools.
 *
 * Values live in a heap that only grows.  When it has doubled, what is still bound is copied to a new one, and the
 * old one is freed with the last outcome that points into it. */
#ifndef PTC_ENGINE_SESSION_H
#define PTC_ENGINE_SESSION_H

#include "engine/outcome.h"
#include "tool/cache.h"

/* The first `history` names are *1, *2 ...: the last results, newest first. */
struct PtcSession {
    Ptc *ptc;
    PtcNames names;
    PtcValue *globals; /* at least names.count of them */
    size_t global_cap;
    PtcValue journal; /* a map, kept even if a run fails; nil: none */
    PtcHeapBox *box;
    size_t compact_at; /* bytes */
    uint32_t history;
    size_t history_bytes;           /* a larger result is not remembered [PTC_HISTORY_BYTES] */
    bool stale;                     /* something was forgotten, and its bytes are still in use */
    size_t cursor_index, cursor_at; /* ptc_session_binding: where the binding with that index is */
    PtcCache *cache;                /* results of tools, or NULL before the first */
};
enum { PTC_HISTORY_BYTES = 64 * PTC_KB };

/* A session with this many results of history, and room for `bytes` of values.  NULL: out of memory. */
PTC_MUST_USE PtcSession *ptc_session_make(Ptc *ptc, uint32_t history, int64_t bytes);
/* The same, as the engine's options say. */
PTC_MUST_USE PtcSession *ptc_session_open(Ptc *ptc);
/* NULL is allowed. */
void ptc_session_drop(PtcSession *session);

/* Is global i something that a program or the host defined? */
static inline bool ptc_session_defines(const PtcSession *s, size_t i)
{
    return i >= s->history && i < s->names.count && i < s->global_cap &&
           s->globals[i] != PTC_UNBOUND;
}

/* ------------------------------------------------------------------------ after a run (session.c) */

/* Makes the run's definitions the session's, if they are to be kept, and its result *1; either all definitions or
 * none.  The outcome remembers what they were.  False: the VM has failed. */
PTC_MUST_USE bool ptc_session_commit(PtcSession *session, PtcVM *vm, PtcOutcome *o, bool keep);
/* Do the definitions after the run, not counting history, take more than `most` bytes?  False: the VM has failed. */
PTC_MUST_USE bool ptc_session_over(PtcSession *session, PtcVM *vm, size_t most, bool *over);
/* Room for one value for each of n names. */
PTC_MUST_USE bool ptc_session_room(PtcSession *session, size_t n);
/* Gives the session copies of `values` (one for each name) and of `journal` in `box`, a new heap that it takes, in
 * place of what it has; NULL: there is no memory for one.  If that fails, nothing changes; *stop says why. */
PTC_MUST_USE bool ptc_session_replace(PtcSession *session, PtcHeapBox *box, const PtcValue *values,
                                      PtcValue journal, PtcStop *stop);
/* Frees what nothing is bound to; false if there is no memory for that. */
bool ptc_session_compact(PtcSession *session);
/* Results of its cached tools, made when first needed; NULL: out of memory. */
PtcCache *ptc_session_cache(PtcSession *session);
/* Forgets the results of tools. */
void ptc_session_drop_cache(PtcSession *session);

/* -------------------------------------------------------------------- for the host (session_host.c) */

/* Bytes held, and the number of bindings without history. */
size_t ptc_session_size(PtcSession *session);
size_t ptc_session_binding_count(const PtcSession *session);
/* Names in the order of their first definition; {NULL, 0} beyond the last. */
PtcText ptc_session_binding(PtcSession *session, size_t index);
/* PTC_NONE: unbound. */
PtcValue ptc_session_lookup(const PtcSession *session, PtcText name);
/* Binds a name that def would accept to a copy of a value of the same engine; see ptc_session_set. */
PTC_MUST_USE PtcStatus ptc_session_define(PtcSession *session, PtcText name, PtcValue value);
/* Replaces the journal by a copy. */
PTC_MUST_USE PtcStatus ptc_session_set_journal(PtcSession *session, PtcValue journal);
/* False: it was not bound. */
bool ptc_session_undefine(PtcSession *session, PtcText name);
/* Removes everything.  PTC_NO_MEMORY: nothing was removed. */
PTC_MUST_USE PtcStatus ptc_session_clear(PtcSession *session);

/* ------------------------------------------------------------------------- (session_describe.c) */

/* Appends what is bound as JSON; see ptc_session_inspect.  False: out of memory. */
PTC_MUST_USE bool ptc_session_describe(PtcSession *session, PtcBuf *out);

#endif
