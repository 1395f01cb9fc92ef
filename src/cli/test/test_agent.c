/* SPDX-License-Identifier: MIT
 * Runs agents for tests.  What always holds: a model is a script or a record, whatever the agent file names; another
 * one fails the run with a message that says so. */
#include "cli/test/test_agent.h"

#include <stdio.h>

#include "agent/run/agent_chain.h"
#include "agent/run/model_host.h"
#include "engine/outcome.h"
#include "json/emit.h"

enum { TEST_PATH = 4096, TEST_CONTEXT_BYTES = 64 * PTC_MB };

typedef struct AgentTest {
    PtcTestAgent *out;
    const PtcTestCase *c;
    const char *path;
    PtcModelHost *models;
    PtcModel *model; /* that the case names; or NULL */
    PtcAgentDef *def;
    PtcBuf calls; /* items of a JSON list */
} AgentTest;

/* ------------------------------------------------------------------------------ refusing */

static bool refuse_agent(PtcTestAgent *out, const char *reason, const char *format, ...)
    PTC_PRINTF(3, 4);

static bool refuse_agent(PtcTestAgent *out, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    snprintf(out->reason, sizeof out->reason, "%s", reason);
    vsnprintf(out->message, sizeof out->message, format, args);
    va_end(args);
    return false;
}

static bool refuse_agent_fault(PtcTestAgent *out, const PtcWhy *why)
{
    return refuse_agent(out, ptc_agent_fault_word(ptc_fault_reason(why)), "%.100s%s%.280s",
                        why->path, why->path[0] ? ": " : "", why->text);
}

/* -------------------------------------------------------------------------------- opening */

/* `name` as it is found from the directory of the test file, behind a prefix such as replay:. */
static bool place_file(const AgentTest *t, const char *prefix, PtcText name, char out[TEST_PATH])
{
    const char *slash = name.bytes[0] == '/' ? NULL : strrchr(t->path, '/');
    size_t directory = slash ? (size_t)(slash - t->path) + 1 : 0;
    int n = snprintf(out, TEST_PATH, "%s%.*s%.*s", prefix, PTC_ARG_OF(t->path, directory),
                     PTC_ARG(name));
    return n < TEST_PATH;
}

/* script:FILE or replay:FILE */
static bool open_case_model(AgentTest *t)
{
    PtcWhy why;
    char spec[TEST_PATH];
    PtcText llm = t->c->llm;
    const char *prefix = ptc_text_starts(llm, "script:")   ? "script:"
                         : ptc_text_starts(llm, "replay:") ? "replay:"
                                                           : NULL;
    if (!llm.len)
        return true;
    if (!prefix || llm.len == strlen(prefix))
        return refuse_agent(t->out, "llm_required",
                            "llm is script:FILE or replay:FILE in tests, which ask no model");
    PtcText name = {llm.bytes + strlen(prefix), llm.len - strlen(prefix)};
    if (!place_file(t, prefix, name, spec))
        return refuse_agent(t->out, "invalid_input", "the name of the file is too long");
    t->model = ptc_model_host_open(t->models, ptc_text_cstr(spec), PTC_TRUST_HOST, &why);
    return t->model || refuse_agent(t->out, "invalid_input", "%.390s", why.text);
}

static bool open_case_agent(AgentTest *t)
{
    PtcWhy why;
    char path[TEST_PATH];
    PtcAgentReading how = {.allow_commands = true, .allow_http = true, .allow_scripts = true};
    if (!place_file(t, "", t->c->agent, path))
        return refuse_agent(t->out, "invalid_input", "the name of the file is too long");
    t->def = ptc_definition_open(path, &how, &why);
    return t->def || refuse_agent_fault(t->out, &why);
}

static PtcModel *refuse_model(void *user, PtcText spec, bool program, PtcWhy *why)
{
    (void)user, (void)program;
    ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                "tests ask no model (%.*s): write llm=script:FILE or llm=replay:FILE in the case",
                PTC_ARG(ptc_text_cut(spec, 60)));
    return NULL;
}

/* ---------------------------------------------------------------------------------- calls */

/* Calls come under the lock of the tree. */
static void add_case_call(AgentTest *t, PtcText name, PtcText args, bool ok, bool cached)
{
    PtcBuf *lines = &t->out->lines;
    if (lines->len)
        ptc_buf_add_char(lines, '\n');
    ptc_buf_addf(lines, "call> %.*s %.*s", PTC_ARG(name), PTC_ARG(args));
    ptc_emit_object(&t->calls);
    ptc_emit_field_text(&t->calls, "name", name);
    ptc_emit_field_text(&t->calls, "args", args);
    ptc_emit_field_bool(&t->calls, "ok", ok);
    ptc_emit_field_bool(&t->calls, "cached", cached);
    ptc_emit_object_end(&t->calls);
}

static void add_native_call(AgentTest *t, const PtcProgress *p, size_t i)
{
    const PtcToolInfo *info = &p->what->def->tools->items[p->orders[i].tool].info;
    add_case_call(t, (PtcText){info->name, info->name_len}, p->orders[i].args, p->results[i].ok,
                  p->results[i].cached);
}

/* Those of the agent itself; what its tools do that are agents is theirs. */
static void watch_case(void *user, const PtcProgress *p)
{
    AgentTest *t = user;
    if (p->agent.len)
        return;
    size_t logged = p->kind == PTC_PROGRESS_PROGRAM_ENDED && p->outcome ? p->outcome->log.count : 0;
    for (size_t i = 0; i < logged; i++) {
        PtcToolRecord r = ptc_outcome_call(p->outcome, i);
        add_case_call(t, (PtcText){r.name, r.name_len}, (PtcText){r.arguments, r.arguments_len},
                      r.ok, r.cached);
    }
    for (size_t i = 0; p->kind == PTC_PROGRESS_CALLED && i < p->call_count; i++)
        add_native_call(t, p, i);
}

/* -------------------------------------------------------------------------------- running */

static void note_end(PtcTestAgent *out, const PtcAgentRun *run)
{
    const PtcVerdict *v = &run->step.now.verdict;
    out->answered = !run->invalid && v->ok;
    if (run->invalid)
        refuse_agent_fault(out, &run->fault);
    else if (!v->ok)
        refuse_agent(out, ptc_agent_fault_word(v->reason), "%.*s",
                     PTC_ARG(ptc_text_cut(v->message, sizeof out->message - 1)));
}

static void write_case_context(AgentTest *t, PtcChain *chain)
{
    PtcBuf *out = &t->out->context;
    PtcAgentRun *run = ptc_chain_last(chain);
    PtcOutcomeOptions options = {.messages = true};
    ptc_emit_object(out);
    if (t->out->answered)
        ptc_emit_field_raw(out, "answer", run->step.now.verdict.value);
    ptc_emit_key(out, "calls");
    ptc_buf_addf(out, "[%.*s]", PTC_ARG(ptc_buf_view(&t->calls)));
    ptc_emit_key(out, "outcome");
    ptc_emit_object(out);
    ptc_chain_write(chain, &options, out);
    ptc_emit_object_end(out);
    ptc_emit_object_end(out);
}

static bool run_case_agent(AgentTest *t)
{
    PtcChain chain = {.defs = &t->def, .count = 1, .options = ptc_agent_options()};
    chain.options.model = t->model;
    if (t->c->context.len)
        chain.options.input.context = t->c->context;
    ptc_model_host_fill(t->models, &chain.host);
    chain.host.open_model = refuse_model;
    chain.host.progress = watch_case;
    chain.host.progress_user = t;
    bool ran = ptc_chain_run(&chain) && ptc_chain_last(&chain);
    if (ran) {
        note_end(t->out, ptc_chain_last(&chain));
        write_case_context(t, &chain);
        ran = ptc_buf_ok(&t->out->context) && ptc_buf_ok(&t->out->lines);
    }
    ptc_chain_end(&chain);
    return ran || refuse_agent(t->out, "no_memory", "out of memory");
}

bool ptc_test_agent_run(PtcTestAgent *out, PtcMem *mem, const char *path, const PtcTestCase *c)
{
    PtcWhy why;
    PtcModelsOptions options = {.dotenv = NULL};
    AgentTest t = {.out = out, .c = c, .path = path};
    *out = (PtcTestAgent){.mem = mem};
    ptc_buf_init(&out->context, mem, TEST_CONTEXT_BYTES);
    ptc_buf_init(&out->lines, mem, TEST_CONTEXT_BYTES);
    ptc_buf_init(&t.calls, mem, TEST_CONTEXT_BYTES);
    t.models = ptc_model_host_new(&options, &why);
    bool ok = t.models ? open_case_model(&t) && open_case_agent(&t) && run_case_agent(&t)
                       : refuse_agent(out, "no_memory", "%.390s", why.text);
    ptc_definition_release(t.def);
    if (t.model)
        t.model->free(t.model);
    if (t.models)
        (void)ptc_model_host_close(t.models, &why);
    ptc_buf_deinit(&t.calls);
    return ok;
}

void ptc_test_agent_deinit(PtcTestAgent *test)
{
    ptc_buf_deinit(&test->context);
    ptc_buf_deinit(&test->lines);
}
