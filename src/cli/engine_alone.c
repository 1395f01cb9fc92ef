/* SPDX-License-Identifier: MIT
 * Only in the product that is the engine alone (PTC_ENGINE, the preset `engine`: no agents, models, upstreams, servers,
 * viewer).  Its commands are those of the whole product with fewer options; what they would call beyond it is here. */
#include "agent/agent_kinds.h"
#include "cli/agent/run_compile.h"
#include "cli/cmd/cmd.h"
#include "cli/test/test_agent.h"
#include "cli/upstreams/upstreams_open.h"
#include "exec/worker.h"
#include "sql/sql.h"
#include "tool/kind/command.h"
#include "tool/kind/constant.h"
#include "tool/kind/mock.h"

bool ptc_upstreams_open(PtcUpstreams *u, PtcMem *mem, const char *command,
                        const PtcUpstreamsOptions *options, void (*log)(void *user, PtcText line),
                        void *user, int *status)
{
    (void)mem, (void)command, (void)options, (void)log, (void)user, (void)status;
    u->manager = NULL;
    return true;
}

void ptc_upstreams_limits(const PtcUpstreams *u, PtcLimits *limits)
{
    (void)u, (void)limits;
}

PtcStatus ptc_upstreams_eval(PtcUpstreams *u, Ptc *ptc, const PtcRun *run, const PtcRunMore *more,
                             PtcOutcome **outcome)
{
    (void)u;
    return more ? ptc_engine_run_more(ptc, run, more, outcome) : ptc_eval(ptc, run, outcome);
}

void ptc_upstreams_say_effects(PtcUpstreams *u)
{
    (void)u;
}

void ptc_upstreams_close(PtcUpstreams *u)
{
    (void)u;
}

size_t ptc_manager_count(const PtcManager *manager)
{
    (void)manager;
    return 0;
}

void ptc_manager_state(PtcManager *manager, size_t i, PtcUpstreamState *out)
{
    (void)manager, (void)i, (void)out;
}

/* The options that lead to these two are not there. */
PtcStatus ptc_upstreams_dry_run(PtcUpstreams *u, Ptc *ptc, const PtcRun *run,
                                const PtcRunMore *more, PtcDryRun *dry, PtcOutcome **outcome)
{
    (void)dry;
    return ptc_upstreams_eval(u, ptc, run, more, outcome);
}

int ptc_run_compiled(PtcMem *mem, const char *file, PtcText context, const char *llm)
{
    (void)mem, (void)file, (void)context, (void)llm;
    return PTC_EXIT_USAGE;
}

bool ptc_test_agent_run(PtcTestAgent *test, PtcMem *mem, const char *path, const PtcTestCase *c)
{
    (void)path, (void)c;
    *test = (PtcTestAgent){.mem = mem,
                           .reason = "invalid_agent",
                           .message = "this build of ptc is the engine alone, without agents"};
    return false;
}

void ptc_test_agent_deinit(PtcTestAgent *test)
{
    (void)test;
}

bool ptc_zygote_asked(int argc, char **argv)
{
    (void)argc, (void)argv;
    return false;
}

int ptc_zygote_main(PtcWorkerHook hook)
{
    (void)hook;
    return PTC_EXIT_USAGE;
}

int ptc_sql_main(void)
{
    return PTC_EXIT_USAGE;
}

/* -------------------------------------------------------------------------------- tools */

static bool refuse_left_out(PtcToolReader *r, PtcValue v)
{
    (void)v;
    return ptc_kind_refuse(r, "%s is not in this build of ptc, which is the engine alone",
                           r->kind->key);
}

#define LEFT_OUT(name) \
    (&(const PtcToolKind){.key = name, .read = refuse_left_out, .in_agent = true})

const PtcToolKind *const ptc_agent_kinds[] = {
    &ptc_command_kind,
    LEFT_OUT("http"),
    LEFT_OUT("sql"),
    &ptc_source_kind,
    LEFT_OUT("agent"),
    LEFT_OUT("llm"),
    &ptc_constant_value_kind,
    &ptc_constant_error_kind,
    &ptc_constant_table_kind,
    &ptc_mock_echo,
    &ptc_mock_seq,
    NULL,
};
