/* SPDX-License-Identifier: MIT
 * A browser outlives the command that opened it, so it is a grandchild in a session of its own, with no terminal to
 * write to. */
#include "cli/term/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
/* In the child.  Never returns. */
static void become(const char *program, const char *url)
{
    const char *argv[] = {program, url, NULL};
    setsid();
    if (fork() != 0)
        _exit(0);
    int fd = open("/dev/null", O_RDWR);
    for (int i = 0; fd >= 0 && i < 3; i++)
        dup2(fd, i);
    execvp(program, (char *const *)argv);
    _exit(127);
}

void ptc_browser_open(const char *url)
{
    char program[4096] = "xdg-open";
    const char *wanted = getenv("BROWSER");
    if (wanted && snprintf(program, sizeof program, "%.*s",
                           PTC_ARG_OF(wanted, strcspn(wanted, ":"))) >= (int)sizeof program)
        return;
    if (!program[0])
        return;
    pid_t pid = fork();
    if (pid == 0)
        become(program, url);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
