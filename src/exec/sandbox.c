/* SPDX-License-Identifier: MIT
 * Limits, privileges and seccomp filters of the helper process and of workers.  What always holds: filters only list
 * what is allowed.  A rule that compares arguments sees the low 32 bits, which is enough for descriptors and flags;
 * it can never follow a pointer. */
#define _GNU_SOURCE
#include "exec/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "base/units.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "the system calls of this processor are not known here"
#endif

static bool refuse_sandbox(PtcWhy *why, const char *what)
{
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s: %s", what, strerror(errno));
}

/* ------------------------------------------------------------------------------ rules */

typedef enum {
    ALLOW,
    DENY,
    MISSING, /* fails as if the kernel did not have it, so that libc falls back to another call */
    ON_ZERO, /* only on descriptor 0 */
    NO_CODE, /* only memory that is not executable */
    /* as NO_CODE, and only new private memory: RLIMIT_DATA does not count what is shared */
    OWN_MEMORY,
    NEW_THREAD,
    NEW_CHILD, /* fork() as libc does it, or a thread */
    TO_SELF,   /* a signal to a thread of this process only */
} Rule;

typedef struct {
    long number;
    Rule rule;
} CallRule;

static const CallRule for_workers[] = {
    {SYS_read, ON_ZERO},
    {SYS_recvfrom, ON_ZERO},
    {SYS_write, PTC_SANITIZED ? ALLOW : ON_ZERO}, /* reports of sanitizers go to 2 */
    {SYS_writev, ON_ZERO},
    {SYS_ppoll, ALLOW}, /* a worker has no descriptor to wait for but its socket */
    {SYS_futex, ALLOW},
    {SYS_mmap, PTC_SANITIZED ? NO_CODE : OWN_MEMORY},
    {SYS_mprotect, NO_CODE},
    {SYS_munmap, ALLOW},
    {SYS_mremap, ALLOW},
    {SYS_madvise, ALLOW},
    {SYS_brk, ALLOW},
    {SYS_clone, NEW_THREAD},
    {SYS_clone3, MISSING},
    /* needed once more, to give up threads and seccomp itself: see ptc_sandbox_threads */
    {SYS_seccomp, ALLOW},
    {SYS_set_robust_list, ALLOW},
    {SYS_rseq, ALLOW},
    {SYS_sched_yield, ALLOW},
    {SYS_clock_gettime, ALLOW}, /* for machines whose vDSO has none */
    {SYS_clock_nanosleep, ALLOW},
    {SYS_nanosleep, ALLOW},
    {SYS_getrandom, ALLOW},
    {SYS_getpid, ALLOW},
    {SYS_gettid, ALLOW},
    {SYS_tgkill, TO_SELF},
    {SYS_rt_sigprocmask, ALLOW},
    {SYS_rt_sigtimedwait, ALLOW},
    {SYS_rt_sigreturn, ALLOW},
    {SYS_restart_syscall, ALLOW},
    {SYS_exit, ALLOW},
    {SYS_exit_group, ALLOW},
#if PTC_SANITIZED /* the sanitizers' run time needs these when a thread begins and ends */
    {SYS_sigaltstack, ALLOW},
    {SYS_prlimit64, ALLOW},
    {SYS_sched_getaffinity, ALLOW},
#endif
};

/* What the helper may do beyond that: become a worker, which then gives these up. */
static const CallRule for_helper[] = {
    {SYS_clone, NEW_CHILD},  {SYS_recvmsg, ON_ZERO},   {SYS_sendmsg, ON_ZERO},
    {SYS_pidfd_open, ALLOW}, {SYS_getppid, ALLOW},     {SYS_dup3, ALLOW},
    {SYS_close, ALLOW},      {SYS_close_range, ALLOW}, {SYS_prctl, ALLOW},
    {SYS_prlimit64, ALLOW},  {SYS_tgkill, ALLOW}, /* narrowed by the worker's own filter */
};

/* ----------------------------------------------------------------------------- filter */

enum {
    FILTER_MAX = 256,
    /* the low halves of arguments: both processors are little-endian */
    ARG0 = offsetof(struct seccomp_data, args[0]),
    ARG2 = offsetof(struct seccomp_data, args[2]),
    ARG3 = offsetof(struct seccomp_data, args[3]),
    FORK_FLAGS = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD,
    THREAD_FLAGS = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND,
    MEMORY_FLAGS = MAP_PRIVATE | MAP_ANONYMOUS,
    MEMORY_EXTRA = MAP_STACK | MAP_NORESERVE, /* flags that libc adds for stacks and arenas */
};

typedef struct Filter {
    struct sock_filter code[FILTER_MAX];
    unsigned short len;
} Filter;

static void emit(Filter *f, uint16_t op, uint32_t k, uint8_t yes, uint8_t no)
{
    if (f->len < FILTER_MAX)
        f->code[f->len++] = (struct sock_filter){op, yes, no, k};
}

static void emit_load(Filter *f, uint32_t offset)
{
    emit(f, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void emit_action(Filter *f, uint32_t action)
{
    emit(f, BPF_RET | BPF_K, action, 0, 0);
}

static const uint32_t denied = SECCOMP_RET_ERRNO | EPERM;

/* Allows the call when the loaded number, masked, equals `k`. */
static void allow_if(Filter *f, uint32_t mask, uint32_t k)
{
    if (mask != UINT32_MAX)
        emit(f, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1);
    emit_action(f, SECCOMP_RET_ALLOW);
}

/* Denies the call when the argument, masked, does not equal `k`. */
static void demand(Filter *f, uint32_t argument, uint32_t mask, uint32_t k)
{
    emit_load(f, argument);
    emit(f, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, k, 1, 0);
    emit_action(f, denied);
}

static void emit_rule(Filter *f, Rule rule)
{
    switch (rule) {
    case ALLOW: emit_action(f, SECCOMP_RET_ALLOW); return;
    case DENY: break;
    case MISSING: emit_action(f, SECCOMP_RET_ERRNO | ENOSYS); return;
    case ON_ZERO:
        emit_load(f, ARG0);
        allow_if(f, UINT32_MAX, 0);
        break;
    case NO_CODE:
        emit_load(f, ARG2);
        allow_if(f, PROT_EXEC, 0);
        break;
    case OWN_MEMORY:
        demand(f, ARG2, PROT_EXEC, 0);
        emit_load(f, ARG3);
        allow_if(f, ~(uint32_t)MEMORY_EXTRA, MEMORY_FLAGS);
        break;
    case NEW_CHILD:
        emit_load(f, ARG0);
        allow_if(f, UINT32_MAX, FORK_FLAGS);
        /* fall through */
    case NEW_THREAD:
        emit_load(f, ARG0);
        allow_if(f, THREAD_FLAGS, THREAD_FLAGS);
        break;
    case TO_SELF:
        emit_load(f, ARG0);
        allow_if(f, UINT32_MAX, (uint32_t)getpid());
        break;
    }
    emit_action(f, denied);
}

/* If the loaded number is that of this call, its rule decides; else the next one is tried. */
static void emit_call_rule(Filter *f, const CallRule *call)
{
    unsigned short at = f->len;
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->number, 0, 0);
    emit_rule(f, call->rule);
    f->code[at].jf = (uint8_t)(f->len - at - 1);
}

static void emit_call_rules(Filter *f, const CallRule *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        emit_call_rule(f, &calls[i]);
}

/* Another ABI numbers its calls differently, so a call made through one ends the process. */
static void begin_filter(Filter *f)
{
    f->len = 0;
    emit_load(f, offsetof(struct seccomp_data, arch));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
    emit_action(f, SECCOMP_RET_KILL_PROCESS);
    emit_load(
        f, offsetof(struct seccomp_data, nr)); /* x32 calls have a bit set that matches no rule */
}

static bool install_filter(Filter *f, unsigned flags, PtcWhy *why)
{
    struct sock_fprog program = {f->len, f->code};
    if (f->len == FILTER_MAX) {
        errno = E2BIG;
        return refuse_sandbox(why, "the seccomp filter");
    }
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0)
        return refuse_sandbox(why, "the kernel refused the seccomp filter");
    return true;
}

bool ptc_sandbox_helper(PtcWhy *why)
{
    Filter f;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return refuse_sandbox(why, "the kernel refused PR_SET_NO_NEW_PRIVS");
    begin_filter(&f);
    emit_call_rules(&f, for_helper, sizeof for_helper / sizeof *for_helper);
    emit_call_rules(&f, for_workers, sizeof for_workers / sizeof *for_workers);
    emit_action(&f, denied);
    return install_filter(&f, 0, why);
}

/* ------------------------------------------------------------------------- privileges */

/* Failing is fine (in a container, say, or where that user is not mapped): what counts is that no capability is
 * left. */
static void become_nobody(void)
{
    enum { NOBODY = 65534 };
    if (geteuid() != 0)
        return;
    (void)!syscall(SYS_setgroups, 0, NULL);
    (void)!syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY);
    (void)!syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
}

bool ptc_sandbox_privileges(PtcWhy *why)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
    memset(none, 0, sizeof none);
    for (unsigned long i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
        prctl(PR_CAPBSET_DROP, i, 0, 0, 0); /* unprivileged, this fails and does not matter */
    become_nobody();
    if (syscall(SYS_capset, &head, none) != 0)
        return refuse_sandbox(why, "capabilities could not be dropped");
    return true;
}

/* -------------------------------------------------------------------------- resources */

static bool set_resource_limit(int which, rlim_t n)
{
    struct rlimit limit = {n, n};
    return setrlimit(which, &limit) == 0;
}

bool ptc_sandbox_worker(PtcWhy *why)
{
    Filter f;
    if (!set_resource_limit(RLIMIT_NOFILE, PTC_SANITIZED ? 3 : 1))
        return refuse_sandbox(why, "RLIMIT_NOFILE");
    begin_filter(&f);
    emit_call_rules(&f, for_workers, sizeof for_workers / sizeof *for_workers);
    emit_action(&f, denied);
    return install_filter(&f, 0, why);
}

bool ptc_sandbox_threads(PtcWhy *why)
{
    static const CallRule given_up[] = {{SYS_clone, DENY}, {SYS_seccomp, DENY}};
    Filter f;
    begin_filter(&f);
    emit_call_rules(&f, given_up, sizeof given_up / sizeof *given_up);
    emit_action(&f, SECCOMP_RET_ALLOW); /* the filters before this one still hold */
    return install_filter(&f, SECCOMP_FILTER_FLAG_TSYNC, why);
}

/* The address space and the private writable memory of this process, in bytes; 0 when they cannot be read. */
static void measure_process(uint64_t *space, uint64_t *data)
{
    unsigned long all = 0, own = 0;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lu %*u %*u %*u %*u %lu", &all, &own) != 2)
        all = own = 0;
    if (f)
        fclose(f);
    *space = all * page;
    *data = own * page;
}

/* Heaps and stacks of all threads; a context, a session and results, each of them several times over, because they
 * are copied on the way in and out; and something for libc and for scratch. */
static uint64_t wanted_bytes(const PtcLimits *l)
{
    const uint64_t mib = PTC_MB, most = (uint64_t)1 << 48;
    uint64_t each = (uint64_t)l->memory_bytes + (uint64_t)l->tool_bytes + 16 * mib;
    uint64_t beside = 4 * ((uint64_t)l->context_bytes + (uint64_t)l->session_bytes) +
                      8 * ((uint64_t)l->result_bytes + (uint64_t)l->print_bytes) +
                      8 * (uint64_t)l->program_bytes;
    uint64_t n = ((uint64_t)l->max_workers + 1) * each + beside + 64 * mib;
    return n < most ? n : most;
}

/* Address space beyond that: libc reserves 128 MiB for the arena of each thread and uses little of it. */
static uint64_t reserved_bytes(const PtcLimits *l)
{
    return ((uint64_t)l->max_workers + 2) * (128 + 8) * PTC_MB;
}

bool ptc_sandbox_resources(const PtcLimits *limits, PtcWhy *why)
{
    if (!set_resource_limit(RLIMIT_CORE, 0) || !set_resource_limit(RLIMIT_FSIZE, 0))
        return refuse_sandbox(why, "RLIMIT_CORE, RLIMIT_FSIZE");
    uint64_t space, data, wanted = wanted_bytes(limits);
    measure_process(&space, &data);
    if (PTC_SANITIZED)
        return true;
    if (!set_resource_limit(RLIMIT_DATA, data + wanted))
        return refuse_sandbox(why, "RLIMIT_DATA");
    if (!set_resource_limit(RLIMIT_AS, space + wanted + reserved_bytes(limits)))
        return refuse_sandbox(why, "RLIMIT_AS");
    return true;
}

_Noreturn void ptc_sandbox_end(void)
{
    for (;;)
        syscall(SYS_exit_group, 0);
}
