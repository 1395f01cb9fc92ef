/* SPDX-License-Identifier: MIT
 * What agents need around them on the command line; problems are reported on standard error. */
#include "cli/agent/agent_host.h"

#include "cli/io.h"

struct PtcAgentHost {
    PtcMem *mem;
    const char *command;
    PtcModelHost *models;
    PtcModel *llm;
};

static bool complain_of_host(const PtcAgentHost *h, const char *what, const char *why)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: %s: %s\n", h->command, what, why);
    return false;
}

/* ----------------------------------------------------------------------------- opening */

static bool open_host_parts(PtcAgentHost *h, const PtcAgentHostOptions *o)
{
    PtcWhy why;
    PtcModelsOptions options = {.dotenv = ".env", .replay_loose = o->replay_loose};
    if (!(h->models = ptc_model_host_new(&options, &why)))
        return complain_of_host(h, "models", why.text);
    if (o->models && !ptc_model_host_add_aliases(h->models, o->models, &why))
        return complain_of_host(h, "--models", why.text);
    if (o->record && !ptc_model_host_record(h->models, o->record, &why))
        return complain_of_host(h, "--record", why.text);
    if (o->llm &&
        !(h->llm = ptc_model_host_open(h->models, ptc_text_cstr(o->llm), PTC_TRUST_HOST, &why)))
        return complain_of_host(h, "--llm", why.text);
    return true;
}

PtcAgentHost *ptc_agent_host_open(PtcMem *mem, const PtcAgentHostOptions *o)
{
    PtcAgentHost *h = ptc_mem_alloc(mem, sizeof *h);
    if (!h) {
        ptc_io_printf(PTC_IO_STDERR, "ptc %s: out of memory\n", o->command);
        return NULL;
    }
    *h = (PtcAgentHost){.mem = mem, .command = o->command};
    if (open_host_parts(h, o))
        return h;
    (void)ptc_agent_host_close(h);
    return NULL;
}

bool ptc_agent_host_close(PtcAgentHost *h)
{
    PtcWhy why;
    bool ok = true;
    if (h->llm)
        h->llm->free(h->llm);
    if (h->models && !ptc_model_host_close(h->models, &why))
        ok = complain_of_host(h, "--record", why.text);
    ptc_mem_free(h->mem, h, sizeof *h);
    return ok;
}

/* --------------------------------------------------------------------------------- using */

PtcModel *ptc_agent_host_model(PtcAgentHost *h)
{
    return h->llm;
}

const PtcSecrets *ptc_agent_host_secrets(const PtcAgentHost *h)
{
    return ptc_model_host_secrets(h->models);
}

PtcSecrets *ptc_agent_host_more_secrets(PtcAgentHost *h)
{
    return ptc_model_host_more_secrets(h->models);
}

void ptc_agent_host_fill(PtcAgentHost *h, PtcTreeHost *tree)
{
    ptc_model_host_fill(h->models, tree);
}

bool ptc_agent_host_check_model(void *user, PtcText spec, PtcWhy *why)
{
    PtcAgentHost *h = user;
    return ptc_model_host_check(h->models, spec, why);
}
