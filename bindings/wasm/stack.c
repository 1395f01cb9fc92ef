/* SPDX-License-Identifier: MIT
 * There are no stacks of our own in WebAssembly: the calls themselves lie on the machine's, which nobody can measure.
 * Without them builtins and functions call each other to a depth that every browser has room for, and beyond it a
 * program fails cleanly. */
#include "base/stack.h"

bool ptc_stack_init(PtcStack *stack, PtcMem *mem, size_t size)
{
    (void)stack, (void)mem, (void)size;
    return false;
}

void ptc_stack_deinit(PtcStack *stack, PtcMem *mem)
{
    (void)stack, (void)mem;
}

/* Not called: there is none that it could be called with. */
void ptc_stack_run(const PtcStack *stack, void (*run)(void *user), void *user)
{
    (void)stack;
    run(user);
}

size_t ptc_stack_room(void)
{
    return SIZE_MAX;
}

void ptc_stack_forget(const PtcStack *stack)
{
    (void)stack;
}
