/* SPDX-License-Identifier: MIT
 * Trace files, one per call.  What always holds: names begin with the time, so that their order is their age; a file
 * is created anew and readable only by its owner; a trace that cannot be written never fails the call. */
#include "trace/trace_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "value/calendar.h"

enum { TRACE_NAME = 64 };
#define TRACE_PREFIX "ptc-"
#define SUFFIX ".jsonl"

struct PtcTrace {
    PtcMem *mem;
    int dir;
    /* It guards everything below.  A file is written before it is taken; the oldest is removed under it.  No other lock
     * is taken inside. */
    pthread_mutex_t lock;
    char (*names)[TRACE_NAME]; /* a ring of the files' names */
    size_t max, count, oldest;
    bool complained;
};

/* Other files in the directory are never counted or removed. */
static bool is_own_trace_name(const char *name)
{
    size_t len = strlen(name), end = sizeof SUFFIX - 1;
    return len < TRACE_NAME && len > end &&
           strncmp(name, TRACE_PREFIX, sizeof TRACE_PREFIX - 1) == 0 &&
           strcmp(name + len - end, SUFFIX) == 0;
}

/* Remembers a file, and removes the oldest when there are too many. */
static void remember_trace_file(PtcTrace *t, const char *name)
{
    size_t at = (t->oldest + t->count) % t->max;
    if (t->count == t->max) {
        (void)unlinkat(t->dir, t->names[t->oldest], 0);
        t->oldest = (t->oldest + 1) % t->max;
    } else {
        t->count++;
    }
    snprintf(t->names[at], TRACE_NAME, "%s", name);
}

/* Names begin with the time, so sorting them sorts by age. */
static void sort_trace_names(char (*names)[TRACE_NAME], size_t n)
{
    char moved[TRACE_NAME];
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            size_t j = i;
            memcpy(moved, names[i], TRACE_NAME);
            for (; j >= gap && strcmp(names[j - gap], moved) > 0; j -= gap)
                memcpy(names[j], names[j - gap], TRACE_NAME);
            memcpy(names[j], moved, TRACE_NAME);
        }
}

/* If there are more files than allowed, the rest stay uncounted: this server did not write them all. */
static bool count_files(PtcTrace *t)
{
    int fd = dup(t->dir);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (struct dirent *e; t->count < t->max && (e = readdir(dir));)
        if (is_own_trace_name(e->d_name))
            memcpy(t->names[t->count++], e->d_name, strlen(e->d_name) + 1);
    closedir(dir);
    sort_trace_names(t->names, t->count);
    return true;
}

PtcTrace *ptc_trace_new(PtcMem *mem, const char *dir, size_t max_files, PtcWhy *why)
{
    PtcTrace *t = ptc_mem_alloc(mem, sizeof *t);
    ptc_why_no_memory(why);
    if (!t)
        return NULL;
    *t = (PtcTrace){.mem = mem, .dir = -1, .max = max_files ? max_files : 1};
    pthread_mutex_init(&t->lock, NULL);
    t->names = ptc_mem_alloc(mem, t->max * sizeof *t->names);
    if (t->names) {
        ptc_why_say(why, PTC_WHY_INVALID, "%s: ", dir);
        if (mkdir(dir, 0700) == 0 || errno == EEXIST)
            t->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (t->dir >= 0 && faccessat(t->dir, ".", W_OK, 0) == 0 && count_files(t))
            return t;
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s: %s", dir, strerror(errno));
    }
    ptc_trace_free(t);
    return NULL;
}

void ptc_trace_free(PtcTrace *t)
{
    if (!t)
        return;
    if (t->dir >= 0)
        close(t->dir);
    ptc_mem_free(t->mem, t->names, t->max * sizeof *t->names);
    pthread_mutex_destroy(&t->lock);
    ptc_mem_free(t->mem, t, sizeof *t);
}

/* The process id keeps servers that share a directory apart. */
static void write_trace_name(char name[TRACE_NAME], int64_t at_ms, uint64_t number)
{
    PtcMoment m = ptc_moment_of((PtcTime){ptc_floor_div(at_ms, 1000), 0});
    snprintf(name, TRACE_NAME, TRACE_PREFIX "%04d%02d%02dT%02d%02d%02d.%03dZ-%d-%llu" SUFFIX,
             (int)m.year, (int)m.month, (int)m.day, (int)m.hour, (int)m.minute, (int)m.second,
             (int)(at_ms % 1000), (int)getpid(), (unsigned long long)number);
}

static bool write_trace_bytes(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* O_EXCL and O_NOFOLLOW: nobody can make us write somewhere else through a link. */
void ptc_trace_write(PtcTrace *t, int64_t at_ms, uint64_t number, const PtcBuf *lines)
{
    char name[TRACE_NAME];
    write_trace_name(name, at_ms, number);
    int fd = openat(t->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write_trace_bytes(fd, lines->data, lines->len);
    int error = errno;
    if (fd >= 0)
        close(fd);
    pthread_mutex_lock(&t->lock);
    if (fd >= 0)
        remember_trace_file(t, name);
    if (!ok && !t->complained) {
        t->complained = true;
        fprintf(stderr, "ptc mcp: a trace cannot be written: %s\n", strerror(error));
    }
    pthread_mutex_unlock(&t->lock);
}
