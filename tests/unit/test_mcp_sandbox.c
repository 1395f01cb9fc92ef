/* SPDX-License-Identifier: MIT
 * test_mcp_sandbox.c - what code inside a worker can reach: system calls, memory, threads, descriptors, privileges,
 * secrets of the server.  Started by the helper's argument, this program is the helper: see main. */
#define _GNU_SOURCE
#include "worker_help.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* ------------------------------------------------------- inside a worker: the hook's tricks */

static void add_errno(PtcTaskOut *out, const char *name, long result)
{
    ptc_buf_addf(&out->text, "%s=%s ", name,
                 result >= 0      ? "ok"
                 : errno == EPERM ? "EPERM"
                                  : strerrorname_np(errno));
}

/* Native calls, as code that an attacker got to run would make them. */
static void try_calls(PtcTaskOut *out)
{
    static char *const no_args[] = {NULL};
    add_errno(out, "open", open("/etc/passwd", O_RDONLY));
    add_errno(out, "openat2", syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0));
    add_errno(out, "socket", socket(AF_INET, SOCK_STREAM, 0));
    add_errno(out, "socketpair", syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, NULL));
    add_errno(out, "execve", execve("/bin/true", no_args, no_args));
    add_errno(out, "fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#ifdef SYS_vfork
    add_errno(out, "vfork", syscall(SYS_fork));
#endif
    add_errno(out, "ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0));
    add_errno(out, "kill", kill(getppid(), 0));
    add_errno(out, "tgkill", syscall(SYS_tgkill, 1, 1, 0));
    add_errno(out, "process_vm_readv", syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0));
    add_errno(out, "memfd", syscall(SYS_memfd_create, "x", 0));
    add_errno(out, "io_uring", syscall(SYS_io_uring_setup, 1, NULL));
    add_errno(out, "bpf", syscall(SYS_bpf, 0, NULL, 0));
    add_errno(out, "dup", dup(0));
    add_errno(out, "sendmsg", sendmsg(0, NULL, 0));
    add_errno(out, "read 5", read(5, NULL, 0));
    add_errno(out, "prctl", syscall(SYS_prctl, 38, 0, 0, 0, 0));
    add_errno(out, "setrlimit", syscall(SYS_prlimit64, 1, 0, NULL, NULL));
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    add_errno(out, "code", code == MAP_FAILED ? -1 : 0);
    void *data = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    add_errno(out, "data", data == MAP_FAILED ? -1 : 0);
    add_errno(out, "mprotect", mprotect(data, 4096, PROT_READ | PROT_EXEC));
    add_errno(out, "seccomp", syscall(SYS_seccomp, 0, 0, NULL));
    add_errno(out, "capset", syscall(SYS_capset, NULL, NULL));
    add_errno(out, "setuid", syscall(SYS_setuid, 0));
    errno = 0;
    add_errno(out, "clone3", syscall(SYS_clone3, NULL, 0));
}

/* Kinds of memory that are not counted as the worker's own, or are more than memory. */
static void try_kinds(PtcTaskOut *out)
{
    static const struct {
        const char *name;
        int prot, flags;
    } kinds[] = {
        {"shared", PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS},
        {"validated", PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_ANONYMOUS},
        {"file", PROT_READ, MAP_PRIVATE},
        {"locked", PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED},
        {"huge", PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB},
        {"fixed", PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE},
        {"growing", PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN},
        {"code", PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        void *p = mmap(NULL, 4096, kinds[i].prot, kinds[i].flags, -1, 0);
        add_errno(out, kinds[i].name, p == MAP_FAILED ? -1 : 0);
    }
}

static void *wait_here(void *arg)
{
    struct timespec long_time = {1000, 0};
    nanosleep(&long_time, NULL);
    return arg;
}

/* How many threads it gets. */
static void try_threads(PtcTaskOut *out)
{
    enum { MOST = 100 };
    pthread_attr_t attr;
    pthread_t thread;
    int had = 0;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 * 1024);
    while (had < MOST && pthread_create(&thread, &attr, wait_here, NULL) == 0)
        had++;
    ptc_buf_addf(&out->text, "%d", had);
}

/* Address space without memory, in GiB. */
static void try_space(PtcTaskOut *out)
{
    enum { MOST = 1000 };
    int had = 0;
    while (had < MOST && mmap(NULL, (size_t)1 << 30, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
        had++;
    ptc_buf_addf(&out->text, "%d", had);
}

/* Until there is no more, in MiB. */
static void try_memory(PtcTaskOut *out)
{
    enum { STEP = 16, MOST = 8192 };
    int had = 0;
    while (had < MOST && mmap(NULL, STEP << 20, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
        had += STEP;
    ptc_buf_addf(&out->text, "%d", had);
}

static bool hook(const PtcTaskIn *in, PtcTaskOut *out, int fd)
{
    static const struct {
        const char *name;
        void (*run)(PtcTaskOut *out);
    } tricks[] = {{"!calls", try_calls},
                  {"!kinds", try_kinds},
                  {"!memory", try_memory},
                  {"!space", try_space},
                  {"!threads", try_threads}};
    (void)fd;
    for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++)
        if (ptc_text_is(in->program, tricks[i].name)) {
            tricks[i].run(out);
            out->ok = true;
            return true;
        }
    if (!ptc_text_is(in->program, "!pid"))
        return false;
    ptc_buf_addf(&out->text, "%d", (int)getpid());
    return out->ok = true;
}

/* ------------------------------------------------------------------------ what it can reach */

/* Words of the form name=errno: all of them refused. */
static void check_refused(PtcExecutor *ex, const char *program)
{
    Got got = run(ex, "a", program);
    CHECK(got.status == PTC_TASK_DONE);
    char *rest = NULL;
    for (char *word = strtok_r(got.text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        const char *want = strncmp(word, "data=", 5) == 0     ? "data=ok"
                           : strncmp(word, "clone3=", 7) == 0 ? "clone3=ENOSYS"
                                                              : NULL;
        if (PTC_SANITIZED && strncmp(word, "setrlimit", 9) == 0)
            continue; /* sanitizers ask for it */
        if (strchr(word, '=') &&
            check_count(want ? strcmp(word, want) == 0 : strstr(word, "=EPERM") != NULL))
            printf("in a worker: %s\n", word);
    }
    expect(ex, "(+ 1 2)", "3");
}

/* Threads, heaps and contexts have room; more than that is not to be had. */
static void check_room(PtcExecutor *ex)
{
    Got got = run(ex, "space", "!space");
    long gib = strtol(got.text, NULL, 10);
    CHECK(got.status == PTC_TASK_DONE && (PTC_SANITIZED || gib < 16));
    expect(ex, "(count (pmap (fn [x] (reduce + (range x))) (range 100)))", "100");
    CHECK_STR(run(ex, "threads", "!threads").text, "0");
    got = run(ex, "memory", "!memory");
    long mib = strtol(got.text, NULL, 10);
    CHECK(got.status == PTC_TASK_DONE && mib > 100);
    CHECK(PTC_SANITIZED || mib < 2000);
    CHECK(run(ex, "memory", "(+ 1 2)").status != PTC_TASK_CANCELLED); /* whatever it is now */
    expect(ex, "(+ 1 2)", "3");
}

static void check_descriptors(int pid)
{
    char path[64], target[200];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    int count = 0;
    CHECK(dir);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.' || (PTC_SANITIZED && strchr("12", e->d_name[0])))
            continue;
        snprintf(path, sizeof path, "/proc/%d/fd/%.20s", pid, e->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        CHECK(strncmp(target, "socket:", 7) == 0 && strcmp(e->d_name, "0") == 0);
        count++;
    }
    if (dir)
        closedir(dir);
    CHECK(count == 1);
}

static bool contains(const char *bytes, size_t len, const char *needle, size_t n)
{
    return memmem(bytes, len, needle, n) != NULL;
}

/* Looks through all that a process has mapped and can read. */
static bool is_in_memory(int pid, const char *needle)
{
    char path[64], line[512];
    static char chunk[1 << 20];
    unsigned long from, to;
    bool found = false;
    size_t n = strlen(needle), seen = 0;
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int fd = open(path, O_RDONLY);
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "r");
    CHECK(fd >= 0 && maps);
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx r", &from, &to) != 2 || !strstr(line, " r") ||
            strstr(line, "[v") || (PTC_SANITIZED && to - from > (1UL << 32)))
            continue;
        for (unsigned long at = from; at < to; at += sizeof chunk - n) {
            size_t want = to - at < sizeof chunk ? to - at : sizeof chunk;
            ssize_t got = pread(fd, chunk, want, (off_t)at);
            if (got <= 0)
                break;
            seen += (size_t)got;
            found = found || contains(chunk, (size_t)got, needle, n);
            if ((size_t)got < sizeof chunk)
                break;
        }
    }
    CHECK(seen > 1 << 20);
    fclose(maps);
    close(fd);
    return found;
}

/* A text that is in no program's file. */
static void make_marker(char out[40], const char *kind, unsigned salt)
{
    snprintf(out, 40, "%s-%08x-%08x", kind, (unsigned)getpid() * 2654435761u, salt * 40503u + 7);
}

/* The text after "name:" in the status of a process. */
static void read_status(int pid, const char *name, char out[64])
{
    char path[64], line[256];
    size_t n = strlen(name);
    out[0] = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, n) == 0 && line[n] == ':')
            sscanf(line + n + 1, " %63[^\n]", out);
    if (f)
        fclose(f);
}

static void check_privileges(int pid)
{
    static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapAmb", "CapBnd"};
    char got[64];
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (geteuid() != 0 && i == 4)
            continue; /* without privileges it cannot be given up, and is of no use */
        read_status(pid, sets[i], got);
        if (check_count(strcmp(got, "0000000000000000") == 0))
            printf("%d: %s is %s\n", pid, sets[i], got);
    }
    read_status(pid, "NoNewPrivs", got);
    CHECK_STR(got, "1");
    read_status(pid, "Seccomp", got);
    CHECK_STR(got, "2");
}

static void check_memory(PtcExecutor *ex, const char *secret)
{
    char known[40], program[100];
    int pid = pid_of(ex, "a");
    make_marker(known, "known", 5);
    snprintf(program, sizeof program, "(str \"%s\" 1)", known);
    CHECK(run(ex, "a", program).ok);
    CHECK(is_in_memory(pid, known)); /* the search finds what is there */
    CHECK(!is_in_memory(pid, secret));
    CHECK(is_in_memory(getpid(), secret));
    CHECK(!is_in_memory(parent_of(pid), secret));
    check_descriptors(pid);
    check_descriptors(parent_of(pid));
    check_privileges(pid);
    check_privileges(parent_of(pid));
}

static void show_memory(int pid, const char *what)
{
    char path[64], line[256];
    long rss = 0, pss = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "Rss: %ld", &rss);
        sscanf(line, "Pss: %ld", &pss);
    }
    if (f)
        fclose(f);
    printf("%s: %ld KiB resident, %ld KiB its share\n", what, rss, pss);
}

/* Open to the eyes of the test; with a secret in the environment and in memory of this process. */
static void check_inspected(void)
{
    char secret[40], *kept = malloc(40);
    make_marker(secret, "secret", 3);
    setenv("PTC_TEST_TOKEN", secret, 1);
    memcpy(kept, secret, 40);
    PtcExecutorConfig config = a_config(NULL);
    config.inspectable = true;
    PtcExecutor *ex = start_with(&config);
    int pid = pid_of(ex, "a");
    show_memory(pid, "idle worker");
    show_memory(parent_of(pid), "helper");
    show_memory(getpid(), "this process");
    check_memory(ex, kept);
    ex->free(ex);
    unsetenv("PTC_TEST_TOKEN");
    free(kept);
}

int main(int argc, char **argv)
{
    if (ptc_zygote_asked(argc, argv))
        return ptc_zygote_main(hook);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcExecutorConfig config = a_config(NULL);
    PtcExecutor *ex = start_with(&config);
    CHECK_RUN(check_refused(ex, "!calls"));
    if (!PTC_SANITIZED) /* whose own memory is of other kinds */
        CHECK_RUN(check_refused(ex, "!kinds"));
    CHECK_RUN(check_room(ex));
    ex->free(ex);
    CHECK_RUN(check_inspected());
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("test_mcp_sandbox");
}
