/* SPDX-License-Identifier: MIT
 * lisp_eval: runs one program, of which nothing is remembered. */
#include "mcp/app/app_int.h"

static void eval_job(PtcJob *job)
{
    bool go_on;
    if (!(ptc_job_resumes(job, &go_on) ? go_on : ptc_job_eval_args(job)))
        return;
    if (job->held)
        ptc_session_run(job);
    else if (ptc_job_submit(job))
        ptc_job_answer(job);
}

void ptc_app_eval(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_eval");
    eval_job(&job);
    ptc_job_done(&job);
}
