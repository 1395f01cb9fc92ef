/* SPDX-License-Identifier: MIT
 * A host of libptc that does not ignore SIGPIPE and calls a server on stdio: upstream_host JSON PTC PROGRAM...
 * prints what each program gives, one a line, and at the end the state of the first server. */
#include <ptc/ptc.h>
#include <stdio.h>
#include <string.h>

static void eval(Ptc *ptc, const char *program)
{
    PtcRun run;
    PtcOutcome *outcome = NULL;
    PtcError error = {.size = sizeof error};
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = strlen(program);
    if (ptc_eval(ptc, &run, &outcome) != PTC_OK)
        return;
    if (ptc_outcome_ok(outcome))
        puts(ptc_outcome_text(outcome, NULL, NULL));
    else if (ptc_outcome_error(outcome, 0, &error))
        printf("%s: %s\n", error.kind, error.message);
    ptc_outcome_free(outcome);
}

int main(int argc, char **argv)
{
    PtcUpstreamOptions options;
    PtcUpstreamSet *set = NULL;
    PtcUpstreamStatus state = {.size = sizeof state};
    char why[700] = "";
    ptc_upstream_options_init(&options, sizeof options);
    options.json = argv[1];
    options.json_len = strlen(argv[1]);
    options.command = argv[2];
    options.call_timeout_ms = INT64_MAX; /* as long as it takes */
    Ptc *ptc = ptc_new(NULL);
    if (ptc_upstream_set_new(&options, &set, why, sizeof why) != PTC_OK)
        return puts(why), 1;
    if (!ptc || ptc_upstream_set_use(set, ptc) != PTC_OK)
        return 2;
    for (int i = 3; i < argc; i++)
        eval(ptc, argv[i]);
    if (ptc_upstream_set_state(set, 0, &state))
        printf("%s %s %zu\n", state.name, state.state, state.tools);
    ptc_free(ptc);
    ptc_upstream_set_free(set);
    return 0;
}
