/* SPDX-License-Identifier: MIT
 * Notes of a run.  What always holds: inside of a pmap a change is among the item's changes before it can be seen, so
 * that no task is done without being merged. */
#include "lisp/vm/notes.h"

#include "lisp/vm/builtin.h"
#include "value/coll/map.h"

static PtcValue new_changed_map(PtcHeap *heap, PtcValue map, PtcValue key, PtcValue value)
{
    PtcValue all = map == PTC_NIL ? ptc_map_empty(heap) : map;
    if (all == PTC_NONE)
        return PTC_NONE;
    return value == PTC_NONE ? ptc_map_dissoc(heap, all, key)
                             : ptc_map_assoc(heap, all, key, value);
}

/* After a collection if need be; PTC_NONE as value takes the entry away. */
static bool change_notes_map(PtcVM *vm, PtcValue *map, PtcValue key, PtcValue value)
{
    PtcValue all = PTC_RETRY(vm, new_changed_map(vm->heap, *map, key, value));
    if (all != PTC_NONE)
        *map = all;
    return all != PTC_NONE;
}

bool ptc_notes_put(PtcVM *vm, PtcNotes *notes, PtcValue key, PtcValue value)
{
    return (!vm->seat || change_notes_map(vm, &notes->changes, key, value)) &&
           change_notes_map(vm, &notes->all, key, value);
}

/* PTC_UNBOUND stands for what was taken away; programs never see it. */
bool ptc_notes_remove(PtcVM *vm, PtcNotes *notes, PtcValue key)
{
    return (!vm->seat || change_notes_map(vm, &notes->changes, key, PTC_UNBOUND)) &&
           change_notes_map(vm, &notes->all, key, PTC_NONE);
}

static bool merge_note_entry(PtcVM *vm, PtcNotes *notes, PtcValue base, PtcValue key,
                             PtcValue value)
{
    if (value != PTC_UNBOUND)
        return ptc_notes_put(vm, notes, key, value);
    if (base == PTC_NIL || ptc_map_get(vm->heap, base, key) == PTC_NONE)
        return true;
    return ptc_notes_remove(vm, notes, key);
}

bool ptc_notes_merge(PtcVM *vm, PtcNotes *notes, PtcValue base, PtcValue changes)
{
    PtcValue key, value;
    for (size_t pos = 0; changes != PTC_NIL && ptc_map_next(changes, &pos, &key, &value);)
        if (!ptc_tick(&vm->budget, 1) || !merge_note_entry(vm, notes, base, key, value))
            return false;
    return true;
}
