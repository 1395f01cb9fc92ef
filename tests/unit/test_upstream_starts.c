/* SPDX-License-Identifier: MIT
 * test_upstream_starts.c - a manager that starts an upstream, calls it and ends, again and again: no descriptor,
 * process or memory is left.  A thousand times with PTC_TEST_FULL (script/test --full), else fewer. */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "base/os/leash.h"
#include "mcp/client/link.h"
#include "unit/manager_help.h"

enum { MANY = 1000, FEW = 60, SLACK_KB = 4 * 1024, LEFT = 33 };

/* A server in the shell's own words, since starting Python takes longer than all the rest. */
static const char server[] =
    "while read -r line; do\n"
    "  case $line in *'\"id\":'*) ;; *) continue ;; esac\n"
    "  id=${line##*'\"id\":'}; id=${id%%[,\\}]*}\n"
    "  case $line in\n"
    "  *'\"initialize\"'*) "
    "a='\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
    "\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}' ;;\n"
    "  *'\"tools/list\"'*) "
    "a='\"result\":{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"},"
    "\"annotations\":{\"readOnlyHint\":true}}]}' ;;\n"
    "  *'\"tools/call\"'*) a='\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}' ;;\n"
    "  *) a='\"error\":{\"code\":-32601,\"message\":\"no\"}' ;;\n"
    "  esac\n"
    "  printf '{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\\n' \"$id\" \"$a\"\n"
    "done\n";

static int open_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

/* Guards of servers end a moment after the manager, so the last ones may still be there; all of them end. */
static int children_left(void)
{
    int n = 0;
    while (waitpid(-1, NULL, 0) > 0)
        n++;
    return n;
}

static long resident_kb(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static bool start_and_stop(World *w, const char *members)
{
    char answer[2048];
    world_open(w, members);
    void *run = run_begin(w, "me");
    bool ok = ask(w, run, PTC_REMOTE_CALL_NAMED, "{\"server\":\"s\",\"tool\":\"echo\",\"args\":{}}",
                  answer, sizeof answer) &&
              strstr(answer, "\"hi\"");
    if (!ok)
        printf("answer: %.300s\n", answer);
    w->remote->end(run, NULL);
    world_close(w);
    return ok;
}

int main(int argc, char **argv)
{
    if (ptc_leash_asked(argc, argv))
        return ptc_leash_main(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    World w;
    char members[4096];
    int rounds = getenv("PTC_TEST_FULL") ? MANY : FEW, descriptors = 0;
    long resident = 0;
    world_init(&w);
    snprintf(members, sizeof members, "%s/server.sh", w.dir);
    FILE *f = fopen(members, "w");
    CHECK(f && fputs(server, f) >= 0 && fclose(f) == 0);
    snprintf(members, sizeof members, "\"s\":{\"command\":\"sh\",\"args\":[\"%s/server.sh\"]}",
             w.dir);
    for (int i = 0; i < rounds; i++) {
        bool ok = start_and_stop(&w, members);
        CHECK(ok);
        if (!ok)
            break;
        if (i == rounds / 5) { /* what is kept on purpose is there by then */
            descriptors = open_descriptors();
            resident = resident_kb();
        }
    }
    CHECK(open_descriptors() == descriptors);
    CHECK(children_left() <= LEFT);
    CHECK(PTC_SANITIZED || resident_kb() < resident + SLACK_KB);
    world_remove(&w);
    return check_done("test_upstream_starts");
}
