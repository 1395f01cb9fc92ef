/* SPDX-License-Identifier: MIT
 * wanted.h - what the result of a run must be: a signature or a JSON Schema.  Both are read before the program runs,
 * since a wrong one is the host's fault and must not cost a tool call. */
#ifndef PTC_ENGINE_WANTED_H
#define PTC_ENGINE_WANTED_H

#include "engine/engine.h"
#include "engine/outcome.h"
#include "tool/contract.h"

/* False: the signature or schema is invalid, with a finding in diags. */
PTC_MUST_USE bool ptc_wanted_read(Ptc *ptc, const PtcRun *run, PtcContract *wanted,
                                  PtcDiags *diags);
/* Is the VM's result what is wanted?  If not, it has failed with a validation_error. */
PTC_MUST_USE bool ptc_wanted_check(PtcVM *vm, const PtcContract *wanted);
/* Judges the VM's result and fills in the outcome's verdict; the run continues either way.  This may take as long as
 * a run.  False: the VM has failed, at a limit. */
PTC_MUST_USE bool ptc_wanted_judge(PtcOutcome *o, const PtcContract *wanted);

#endif
