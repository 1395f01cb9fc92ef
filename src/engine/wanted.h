/* SPDX-License-Identifier: MIT
 * wanted.h - what the result of a run must be: a signature or a JSON Schema.  Both are read before the program runs,
 * since a wrong one is the host's fault and must not cost a tool call. */
#ifndef PTC_ENGINE_WANTED_H
#define PTC_ENGINE_WANTED_H

#include "engine/engine.h"
#include "tool/schema/schema.h"
#include "tool/sig/sig.h"

typedef struct PtcWanted {
    const PtcSig *sig;       /* or NULL */
    const PtcSchema *schema; /* or NULL */
} PtcWanted;

/* False: the signature or schema is wrong, with a finding in diags. */
PTC_MUST_USE bool ptc_wanted_read(Ptc *ptc, const PtcRun *run, PtcWanted *wanted, PtcDiags *diags);
/* Is the VM's result what is wanted?  Else it has failed with a validation_error. */
PTC_MUST_USE bool ptc_wanted_check(PtcVM *vm, const PtcWanted *wanted);

#endif
