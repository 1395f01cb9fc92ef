/* SPDX-License-Identifier: MIT
 *
 * spawn.c - cold start: runs whole processes in turn, many times, and reports wall time and peak
 * memory.  Link it statically: Linux counts what the spawning process held at exec as the
 * child's own peak, so this one must be smaller than anything it measures.
 *
 * Usage: spawn ROUNDS NAME EVERY EXPECTED COMMAND ARG... [-- NAME EVERY EXPECTED COMMAND ...]
 * EVERY: run in each EVERYth round only, for the slow ones.  EXPECTED: what must be printed,
 * without the line feed.  Prints "cold TAB NAME TAB min-ns TAB median-ns TAB peak-KiB". */
#include "common.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_COMMANDS = 16, WARM_ROUNDS = 3 };

typedef struct {
    const char *name;
    long every;
    const char *expected;
    char **argv;
    uint64_t *times;
    size_t count;
    long peak_kib; /* the most of all runs */
} Command;

/* What the child printed must be the expected text and a line feed, or nothing at all. */
static void check_output(const Command *command, int from)
{
    char text[64];
    ssize_t len = read(from, text, sizeof text - 1);
    text[len < 0 ? 0 : len] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    if (strcmp(text, command->expected))
        bench_die("%s printed \"%s\", not \"%s\"", command->name, text, command->expected);
}

/* One process from spawn to exit.  Its output fits the pipe, so it is read afterwards. */
static uint64_t run_once(const Command *command, long *peak_kib)
{
    int ends[2], status;
    pid_t pid;
    struct rusage usage;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) || posix_spawn_file_actions_init(&actions) ||
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO))
        bench_die("no pipe");

    uint64_t start = bench_now_ns();
    if (posix_spawnp(&pid, command->argv[0], &actions, NULL, command->argv, environ))
        bench_die("cannot run %s", command->argv[0]);
    if (wait4(pid, &status, 0, &usage) != pid)
        bench_die("%s was lost", command->name);
    uint64_t elapsed = bench_now_ns() - start;

    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        bench_die("%s failed with status %d", command->name, status);
    check_output(command, ends[0]);
    close(ends[0]);
    *peak_kib = usage.ru_maxrss;
    return elapsed;
}

static size_t parse_commands(char **args, Command *commands, size_t rounds)
{
    size_t count = 0;
    while (*args) {
        if (count == MAX_COMMANDS || !args[1] || !args[2] || !args[3])
            bench_die("spawn: bad arguments");
        Command *command = &commands[count++];
        *command = (Command){.name = args[0],
                             .every = atol(args[1]),
                             .expected = args[2],
                             .argv = args + 3,
                             .times = calloc(rounds, sizeof(uint64_t))};
        if (command->every < 1 || !command->times)
            bench_die("spawn: bad arguments");
        for (args += 3; *args && strcmp(*args, "--"); args++) {
        }
        if (*args)
            *args++ = NULL; /* ends this argv */
    }
    return count;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure(Command *commands, size_t count, size_t rounds)
{
    long peak;
    for (size_t i = 0; i < count * WARM_ROUNDS; i++)
        run_once(&commands[i % count], &peak);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            Command *command = &commands[i];
            if (round % (size_t)command->every)
                continue;
            command->times[command->count++] = run_once(command, &peak);
            if (peak > command->peak_kib)
                command->peak_kib = peak;
        }
    }
}

int main(int argc, char **argv)
{
    Command commands[MAX_COMMANDS];
    size_t rounds = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (!rounds)
        bench_die("usage: spawn ROUNDS NAME EVERY EXPECTED COMMAND ARG... [-- ...]");
    size_t count = parse_commands(argv + 2, commands, rounds);
    measure(commands, count, rounds);
    for (size_t i = 0; i < count; i++) {
        Command *command = &commands[i];
        qsort(command->times, command->count, sizeof(uint64_t), compare_times);
        printf("cold\t%s\t%llu\t%llu\t%ld\n", command->name, (unsigned long long)command->times[0],
               (unsigned long long)command->times[command->count / 2], command->peak_kib);
        free(command->times);
    }
    return 0;
}
