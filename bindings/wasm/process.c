/* SPDX-License-Identifier: MIT
 * There are no processes here: a tool that is a command cannot be started. */
#include "base/os/process.h"

#include <errno.h>

void ptc_process_run(PtcProcess *process)
{
    process->end = PTC_PROCESS_NO_START;
    process->code = ENOSYS;
}
