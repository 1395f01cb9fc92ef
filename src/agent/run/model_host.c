/* SPDX-License-Identifier: MIT
 * Models by name, and what they need around them.  Everything lives in the host's own ledger, which threads share. */
#include "agent/run/model_host.h"

#include <stdio.h>
#include <stdlib.h>

#include "llm/record_model.h"
#include "llm/script.h"

enum { HOST_LEDGER_BYTES = PTC_GB };

struct PtcModelHost {
    PtcMem mem;
    PtcModels *models;
    PtcRecordFile *record; /* or NULL */
    const char *(*get)(void *user, const char *name);
    void *get_user;
};

/* ------------------------------------------------------------------------------- opening */

PtcModelHost *ptc_model_host_new(const PtcModelsOptions *given, PtcWhy *why)
{
    PtcMem mem;
    PtcModelsOptions options = *given;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcModelHost *h = ptc_mem_alloc(&mem, sizeof *h);
    if (!h) {
        ptc_why_no_memory(why);
        return NULL;
    }
    memset(h, 0, sizeof *h);
    ptc_mem_init(&h->mem, HOST_LEDGER_BYTES);
    atomic_store(&h->mem.used, sizeof *h);
    h->get = options.get;
    h->get_user = options.user;
    options.mem = &h->mem;
    if ((h->models = ptc_models_new(&options, why)))
        return h;
    (void)ptc_model_host_close(h, NULL);
    return NULL;
}

bool ptc_model_host_close(PtcModelHost *h, PtcWhy *why)
{
    PtcMem mem;
    bool ok = !h->record || ptc_record_file_close(h->record, why);
    if (h->models)
        ptc_models_free(h->models);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *h);
    ptc_mem_free(&mem, h, sizeof *h);
    return ok;
}

bool ptc_model_host_add_aliases(PtcModelHost *h, const char *path, PtcWhy *why)
{
    return ptc_models_add_file(h->models, path, why);
}

bool ptc_model_host_record(PtcModelHost *h, const char *path, PtcWhy *why)
{
    h->record = ptc_record_file_open(&h->mem, path, ptc_models_keys(h->models), why);
    return h->record != NULL;
}

/* -------------------------------------------------------------------------------- models */

PtcModel *ptc_model_host_take(PtcModelHost *h, PtcModel *model)
{
    PtcModel *outer = h->record ? ptc_record_model_new(&h->mem, h->record, model) : model;
    if (!outer)
        model->free(model);
    return outer;
}

static PtcModel *take_into_host(PtcModelHost *h, PtcModel *model, PtcWhy *why)
{
    if (model && !(model = ptc_model_host_take(h, model)))
        ptc_why_no_memory(why);
    return model;
}

PtcModel *ptc_model_host_open(PtcModelHost *h, PtcText spec, PtcTrust trust, PtcWhy *why)
{
    return take_into_host(h, ptc_model_open(h->models, spec, trust, why), why);
}

static PtcModel *open_host_model(void *user, PtcText spec, bool program, PtcWhy *why)
{
    return ptc_model_host_open(user, spec, program ? PTC_TRUST_PROGRAM : PTC_TRUST_FILE, why);
}

static PtcModel *open_host_script(void *user, PtcText script, PtcWhy *why)
{
    PtcModelHost *h = user;
    PtcModel *model = ptc_script_new(&h->mem, "script", script, ptc_models_keys(h->models), why);
    return take_into_host(h, model, why);
}

bool ptc_model_host_check(void *user, PtcText spec, PtcWhy *why)
{
    PtcModelHost *h = user;
    PtcModel *model = ptc_model_open(h->models, spec, PTC_TRUST_FILE, why);
    if (model)
        model->free(model);
    return model != NULL;
}

/* --------------------------------------------------------------------------------- using */

PtcSecrets *ptc_model_host_more_secrets(PtcModelHost *h)
{
    return ptc_models_more_secrets(h->models);
}

const PtcSecrets *ptc_model_host_secrets(const PtcModelHost *h)
{
    return ptc_models_secrets(h->models);
}

/* A value that was used in a header is a secret from then on. */
static const char *variable(void *user, const char *name)
{
    PtcModelHost *h = user;
    const char *value = h->get ? h->get(h->get_user, name) : getenv(name);
    if (value && !ptc_models_add_secret(h->models, ptc_text_cstr(value)))
        return NULL;
    return value;
}

void ptc_model_host_fill(PtcModelHost *h, PtcTreeHost *tree)
{
    tree->open_model = open_host_model;
    tree->open_script = open_host_script;
    tree->client = ptc_models_client(h->models);
    tree->variable = variable;
    tree->secrets = &ptc_models_keys(h->models)->told;
    tree->user = h;
}
