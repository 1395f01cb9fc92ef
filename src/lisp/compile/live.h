/* SPDX-License-Identifier: MIT
 * live.h - which registers of a function will be read again.
 *
 * A register that will not must not keep a lazy sequence alive that somebody walks along: the first of 300,000 elements
 * would keep all the others.  Who has made nothing lazy pays nothing for this. */
#ifndef PTC_LISP_COMPILE_LIVE_H
#define PTC_LISP_COMPILE_LIVE_H

#include "lisp/vm/vm.h"

/* Registers are bits; those from this one on count as live always. */
enum { PTC_LIVE_REGISTERS = 64 };

static inline uint64_t ptc_live_bit(size_t reg)
{
    return reg < PTC_LIVE_REGISTERS ? (uint64_t)1 << reg : 0;
}

/* What a frame still needs that is at call->pc: what the instruction before that reads, since it is being done, and
 * what is read later. */
uint64_t ptc_live_in_frame(const PtcCall *call);

/* What the instructions from `first` up to `end` read before they have written it. */
uint64_t ptc_live_between(const PtcProto *proto, size_t first, size_t end);

/* For a builtin that walks along argument i and looks at it no more: if that is lazy and nobody reads it after the
 * call, it is let go of, and the place where it was has PTC_UNBOUND. */
void ptc_live_release(PtcVM *vm, const PtcValue *argv, int i);

#endif
