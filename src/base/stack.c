/* SPDX-License-Identifier: MIT
 * The C library's contexts do the switching.  What always holds: a stack is only left by returning from the function
 * it was entered for. */
#define _GNU_SOURCE
#include "base/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/poison.h"

#ifdef PTC_HAS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

typedef struct StackCall {
    const PtcStack *stack;
    void (*run)(void *user);
    void *user;
    ucontext_t back, there;
#ifdef PTC_HAS_ASAN
    const void *old_low; /* of the stack that was left for this one */
    size_t old_size;
#endif
} StackCall;

/* Our stack that this thread is running on; NULL: the thread's own. */
static _Thread_local const PtcStack *current;

/* The sanitizer that looks for leaks reads every block, and must be able to. */
static bool guard(char *low, size_t bytes, int access)
{
#ifdef PTC_HAS_ASAN
    (void)low, (void)bytes, (void)access;
    return true;
#else
    return mprotect(low, bytes, access) == 0;
#endif
}

bool ptc_stack_init(PtcStack *stack, PtcMem *mem, size_t size)
{
    size_t grain = ptc_mem_grain();
    char *low = ptc_mem_alloc_aligned(mem, grain, size);
    if (!low)
        return false;
    if (!guard(low, grain, PROT_NONE)) {
        ptc_mem_free_aligned(mem, low, size);
        return false;
    }
    *stack = (PtcStack){low, size};
    return true;
}

void ptc_stack_deinit(PtcStack *stack, PtcMem *mem)
{
    if (!stack->low)
        return;
    (void)!guard(stack->low, ptc_mem_grain(), PROT_READ | PROT_WRITE);
    PTC_UNPOISON(stack->low, stack->size);
    ptc_mem_free_aligned(mem, stack->low, stack->size);
    *stack = (PtcStack){0};
}

/* Arguments of a context are of type int. */
static void enter_stack(unsigned high, unsigned low)
{
    StackCall *call = (StackCall *)(uintptr_t)((uint64_t)high << 32 | low);
#ifdef PTC_HAS_ASAN
    __sanitizer_finish_switch_fiber(NULL, &call->old_low, &call->old_size);
#endif
    call->run(call->user);
#ifdef PTC_HAS_ASAN
    __sanitizer_start_switch_fiber(NULL, call->old_low, call->old_size);
#endif
}

static void go(StackCall *call)
{
#ifdef PTC_HAS_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, call->stack->low, call->stack->size);
#endif
    /* Can only fail before it starts, for lack of memory that it does not need. */
    (void)!swapcontext(&call->back, &call->there);
#ifdef PTC_HAS_ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

void ptc_stack_run(const PtcStack *stack, void (*run)(void *user), void *user)
{
    StackCall call = {.stack = stack, .run = run, .user = user};
    uint64_t at = (uintptr_t)&call;
    getcontext(&call.there);
    call.there.uc_stack.ss_sp = stack->low;
    call.there.uc_stack.ss_size = stack->size;
    call.there.uc_link = &call.back;
    makecontext(&call.there, (void (*)(void))enter_stack, 2, (unsigned)(at >> 32), (unsigned)at);
    const PtcStack *outer = current;
    current = stack;
    go(&call);
    current = outer;
}

size_t ptc_stack_room(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    if (current)
        return ptc_stack_left(current);
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return SIZE_MAX;
    bool ok = pthread_attr_getstack(&attr, &low, &size) == 0;
    pthread_attr_destroy(&attr);
    return ok ? (size_t)((char *)__builtin_frame_address(0) - (char *)low) : SIZE_MAX;
}

void ptc_stack_forget(const PtcStack *stack)
{
    size_t grain = ptc_mem_grain();
    ptc_mem_forget(stack->low + grain, stack->size - grain);
}
