/* SPDX-License-Identifier: MIT
 * The surroundings of agents on the command line. */
#include "cli/agent_host.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/io.h"
#include "llm/record_model.h"
#include "llm/script.h"

/* A model behind the one that writes down what it is asked. */
typedef struct Inner {
    PtcModel *model;
    struct Inner *next;
} Inner;

struct PtcAgentHost {
    PtcMem *mem;
    const char *command;
    PtcModels *models;
    PtcRecordFile *record;
    PtcModel *llm;
    Inner *inners;
};

static bool complain(const PtcAgentHost *h, const char *what, const char *why)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: %s: %s\n", h->command, what, why);
    return false;
}

/* ------------------------------------------------------------------------------- recording */

/* The model as it is, or with a record of it.  NULL: no memory. */
static PtcModel *recorded(PtcAgentHost *h, PtcModel *model)
{
    if (!h->record)
        return model;
    Inner *inner = ptc_mem_alloc(h->mem, sizeof *inner);
    PtcModel *outer = inner ? ptc_record_model_new(h->mem, h->record, model) : NULL;
    if (!outer) {
        ptc_mem_free(h->mem, inner, sizeof *inner);
        model->free(model);
        return NULL;
    }
    *inner = (Inner){model, h->inners};
    h->inners = inner;
    return outer;
}

static PtcModel *open_as(PtcAgentHost *h, PtcText spec, PtcTrust trust, char *why, size_t size)
{
    PtcModel *model = ptc_model_open(h->models, spec, trust, why, size);
    if (model && !(model = recorded(h, model)))
        snprintf(why, size, "out of memory");
    return model;
}

static PtcModel *open_model(void *user, PtcText spec, bool program, char *why, size_t size)
{
    return open_as(user, spec, program ? PTC_TRUST_PROGRAM : PTC_TRUST_FILE, why, size);
}

static PtcModel *open_script(void *user, PtcText script, char *why, size_t size)
{
    PtcAgentHost *h = user;
    PtcModel *model =
        ptc_script_new(h->mem, "script", script, ptc_models_keys(h->models), why, size);
    if (model && !(model = recorded(h, model)))
        snprintf(why, size, "out of memory");
    return model;
}

/* ----------------------------------------------------------------------------- opening */

static bool open_all(PtcAgentHost *h, const PtcAgentHostOptions *o)
{
    char why[PTC_MODEL_WHY] = "";
    PtcModelsOptions options = {.mem = h->mem, .dotenv = ".env", .replay_loose = o->replay_loose};
    if (!(h->models = ptc_models_new(&options, why, sizeof why)))
        return complain(h, "models", why);
    if (o->models && !ptc_models_add_file(h->models, o->models, why, sizeof why))
        return complain(h, "--models", why);
    if (o->record && !(h->record = ptc_record_file_open(
                           h->mem, o->record, ptc_models_keys(h->models), why, sizeof why)))
        return complain(h, "--record", why);
    if (o->llm && !(h->llm = open_as(h, ptc_text_cstr(o->llm), PTC_TRUST_HOST, why, sizeof why)))
        return complain(h, "--llm", why);
    return true;
}

PtcAgentHost *ptc_agent_host_open(PtcMem *mem, const PtcAgentHostOptions *o)
{
    PtcAgentHost *h = ptc_mem_alloc(mem, sizeof *h);
    if (!h) {
        ptc_io_printf(PTC_IO_STDERR, "ptc %s: out of memory\n", o->command);
        return NULL;
    }
    memset(h, 0, sizeof *h);
    h->mem = mem;
    h->command = o->command;
    if (open_all(h, o))
        return h;
    (void)ptc_agent_host_close(h);
    return NULL;
}

bool ptc_agent_host_close(PtcAgentHost *h)
{
    char why[300] = "";
    bool ok = true;
    if (h->llm)
        h->llm->free(h->llm);
    for (Inner *i = h->inners, *next; i; i = next) {
        next = i->next;
        i->model->free(i->model);
        ptc_mem_free(h->mem, i, sizeof *i);
    }
    if (h->record && !ptc_record_file_close(h->record, why, sizeof why))
        ok = complain(h, "--record", why);
    if (h->models)
        ptc_models_free(h->models);
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
    return ptc_models_secrets(h->models);
}

/* A value that was used in a header is a secret from then on. */
static const char *variable(void *user, const char *name)
{
    PtcAgentHost *h = user;
    const char *value = getenv(name);
    if (value && !ptc_models_add_secret(h->models, ptc_text_cstr(value)))
        return NULL;
    return value;
}

void ptc_agent_host_fill(PtcAgentHost *h, PtcTreeHost *tree)
{
    tree->open_model = open_model;
    tree->open_script = open_script;
    tree->client = ptc_models_client(h->models);
    tree->variable = variable;
    tree->user = h;
}

bool ptc_agent_host_check_model(void *user, PtcText spec, char *why, size_t size)
{
    PtcAgentHost *h = user;
    PtcModel *model = ptc_model_open(h->models, spec, PTC_TRUST_FILE, why, size);
    if (!model)
        return false;
    model->free(model);
    return true;
}
