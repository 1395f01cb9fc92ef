/* SPDX-License-Identifier: MIT
 * notes.h - what a run notes beside its result: the journal of tasks and the summaries of steps.
 *
 * An item of a pmap sees the notes as they were before the pmap.  It keeps its own changes apart, so that merging costs
 * what the items changed, however long the notes are. */
#ifndef PTC_LISP_VM_NOTES_H
#define PTC_LISP_VM_NOTES_H

#include "lisp/vm/vm.h"

/* Changes an entry; nil counts as an empty map.  Key and value are rooted.  False: the VM has no memory. */
PTC_MUST_USE bool ptc_notes_put(PtcVM *vm, PtcNotes *notes, PtcValue key, PtcValue value);
PTC_MUST_USE bool ptc_notes_remove(PtcVM *vm, PtcNotes *notes, PtcValue key);

/* Makes the changes of an item that began with `base`.  A task that the item forgot is forgotten if it was known before
 * the pmap: what another item did meanwhile stays.  All of them are kept alive by the caller. */
PTC_MUST_USE bool ptc_notes_merge(PtcVM *vm, PtcNotes *notes, PtcValue base, PtcValue changes);

#endif
