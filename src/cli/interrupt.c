/* SPDX-License-Identifier: MIT
 * Signals that cancel. */
#include "cli/interrupt.h"

#include <signal.h>

PtcCancel ptc_interrupt;

static void set_interrupted(int signal_number)
{
    (void)signal_number;
    atomic_store(&ptc_interrupt.asked, true);
}

static void set_all(struct sigaction action)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

void ptc_interrupt_catch(void)
{
    set_all((struct sigaction){.sa_handler = set_interrupted, .sa_flags = SA_RESETHAND});
}

void ptc_interrupt_let(void)
{
    set_all((struct sigaction){.sa_handler = SIG_DFL});
}
