/* SPDX-License-Identifier: MIT
 * lisp_eval: runs one program, of which nothing is remembered. */
#include "mcp/app/app_int.h"

void ptc_app_eval(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_eval");
    if (ptc_job_eval_args(&job) && ptc_job_submit(&job))
        ptc_job_answer(&job);
    ptc_job_done(&job);
}
