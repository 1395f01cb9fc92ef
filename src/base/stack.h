/* SPDX-License-Identifier: MIT
 * stack.h - a C stack of our own, for work that nests deeper than a host's thread may have room for. */
#ifndef PTC_BASE_STACK_H
#define PTC_BASE_STACK_H

#include <stdint.h>

#include "base/mem.h"

typedef struct PtcStack {
    char *low; /* NULL: there is none */
    size_t size;
} PtcStack;

/* Whole grains.  The lowest one is a guard that must not be touched.  False: out of memory. */
PTC_MUST_USE bool ptc_stack_init(PtcStack *stack, PtcMem *mem, size_t size);
void ptc_stack_deinit(PtcStack *stack, PtcMem *mem);

/* Calls the function on the stack, which must not be in use, on this thread. */
void ptc_stack_run(const PtcStack *stack, void (*run)(void *user), void *user);

/* Bytes that are left, for code running on it. */
static inline size_t ptc_stack_left(const PtcStack *stack)
{
    return (size_t)((char *)__builtin_frame_address(0) - stack->low);
}

/* Bytes that are left on whatever stack this thread is running on; SIZE_MAX: unknown. */
size_t ptc_stack_room(void);

/* Gives its memory back to the system, while nothing runs on it. */
void ptc_stack_forget(const PtcStack *stack);

#endif
