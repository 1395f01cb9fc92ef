/* SPDX-License-Identifier: MIT
 * Names of models.  What always holds: nothing is opened, started or read unless the trust given to the text allows
 * it. */
#include "llm/model_spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text/nearest.h"
#include "base/utf8.h"
#include "llm/exec_model.h"
#include "llm/llm_json.h"
#include "llm/model_alias.h"
#include "llm/model_price.h"
#include "llm/models_json.h"
#include "llm/provider/provider_model.h"
#include "llm/replay.h"
#include "llm/script.h"

#define DEFAULT_PROVIDER "openrouter"
#define DEFAULT_MODEL "haiku"

struct PtcModels {
    PtcModelsOptions options;
    PtcModelAliases aliases;
    PtcModelPrices prices;
    PtcProviderKeys keys;
    PtcProviderPlace place;
};

/* A text that is being turned into a model. */
typedef struct ModelOpening {
    PtcModels *models;
    PtcText spec;
    PtcTrust trust;
    PtcWhy *why;
} ModelOpening;

/* ------------------------------------------------------------------------------ refusals */

/* Names the model in the reason; always NULL. */
static PtcModel *name_model(const ModelOpening *o)
{
    ptc_why_prefix(o->why, "the model \"%.*s\": ", PTC_ARG(ptc_text_cut(o->spec, 80)));
    return NULL;
}

/* Always NULL. */
static PtcModel *refuse_model_spec(const ModelOpening *o, const char *what)
{
    ptc_why_say(o->why, PTC_WHY_INVALID, "%s", what);
    return name_model(o);
}

static PtcModel *refuse_unknown_model(const ModelOpening *o, PtcText name)
{
    PtcNearest nearest;
    char what[300];
    const PtcModelAliases *a = &o->models->aliases;
    if (ptc_provider_find(name)) {
        snprintf(what, sizeof what,
                 "this is a provider; name one of its models: %.*s:ID (ptc docs providers)",
                 PTC_ARG(name));
        return refuse_model_spec(o, what);
    }
    ptc_nearest_init(&nearest, name.bytes, name.len);
    for (size_t i = 0; i < a->count; i++)
        ptc_nearest_offer(&nearest, a->rows[i].name.bytes, a->rows[i].name.len);
    for (size_t i = 0; i < ptc_provider_count; i++)
        ptc_nearest_offer(&nearest, ptc_providers[i].name, strlen(ptc_providers[i].name));
    snprintf(what, sizeof what,
             "there is no such alias or provider%s%.*s%s; a model is an alias (haiku), "
             "PROVIDER:ID or openai-compat:URL|ID (ptc docs providers)",
             nearest.best ? "; did you mean \"" : "", PTC_ARG_OF(nearest.best, nearest.best_len),
             nearest.best ? "\"?" : "");
    return refuse_model_spec(o, what);
}

/* Says which providers offer an alias. */
static PtcModel *not_there(const ModelOpening *o, PtcText alias, PtcText provider)
{
    char what[300];
    int n = snprintf(what, sizeof what, "the provider %.*s does not have \"%.*s\"; it is at",
                     PTC_ARG(provider), PTC_ARG(alias));
    const PtcModelAliases *a = &o->models->aliases;
    for (size_t i = 0; i < a->count && n > 0 && (size_t)n < sizeof what; i++)
        if (ptc_text_same(a->rows[i].name, alias))
            n += snprintf(what + n, sizeof what - (size_t)n, " %s", a->rows[i].provider->name);
    return refuse_model_spec(o, what);
}

/* ------------------------------------------------------------------------------ providers */

/* openai-compat:URL|ID.  The host may send the key to any address; others only to the address that the key was set
 * for. */
static PtcModel *open_compat(const ModelOpening *o, const PtcProvider *provider, PtcText rest)
{
    const PtcModels *m = o->models;
    const char *bar = rest.len ? memchr(rest.bytes, '|', rest.len) : NULL;
    if (!bar)
        return refuse_model_spec(o, "an endpoint is written openai-compat:URL|ID");
    PtcText base = {rest.bytes, (size_t)(bar - rest.bytes)};
    PtcText id = {bar + 1, rest.len - base.len - 1};
    PtcText own = ptc_provider_keys_get(&m->keys, PTC_COMPAT_BASE);
    bool with_key = o->trust == PTC_TRUST_HOST || (own.bytes && ptc_text_same(own, base));
    PtcModel *model = ptc_provider_model_new(&m->place, provider, id, base, with_key, o->why);
    return model ? model : name_model(o);
}

static PtcModel *open_id(const ModelOpening *o, const PtcProvider *provider, PtcText id)
{
    if (strcmp(provider->name, "openai-compat") == 0)
        return open_compat(o, provider, id);
    PtcModel *model =
        ptc_provider_model_new(&o->models->place, provider, id, (PtcText){NULL, 0}, true, o->why);
    return model ? model : name_model(o);
}

static PtcModel *open_row(const ModelOpening *o, const PtcModelAlias *row)
{
    if (row->embeds)
        return refuse_model_spec(o, "it makes embeddings and cannot answer");
    /* an address in a list of models comes from the host */
    ModelOpening as_host = {o->models, o->spec, PTC_TRUST_HOST, o->why};
    return open_id(&as_host, row->provider, row->id);
}

static PtcModel *open_alias(const ModelOpening *o, PtcText alias)
{
    const PtcModels *m = o->models;
    PtcText chosen = ptc_provider_keys_get(&m->keys, PTC_DEFAULT_PROVIDER);
    chosen = chosen.bytes ? chosen : PTC_TEXT(DEFAULT_PROVIDER);
    if (!ptc_model_alias_find(&m->aliases, alias, NULL))
        return refuse_unknown_model(o, alias);
    if (ptc_model_alias_providers(&m->aliases, alias) == 1)
        return open_row(o, ptc_model_alias_find(&m->aliases, alias, NULL));
    const PtcProvider *provider = ptc_provider_find(chosen);
    const PtcModelAlias *row = provider ? ptc_model_alias_find(&m->aliases, alias, provider) : NULL;
    return row ? open_row(o, row) : not_there(o, alias, chosen);
}

/* PROVIDER:ALIAS or PROVIDER:ID. */
static PtcModel *open_at(const ModelOpening *o, const PtcProvider *provider, PtcText rest)
{
    const PtcModelAliases *a = &o->models->aliases;
    const PtcModelAlias *row = ptc_model_alias_find(a, rest, provider);
    if (row)
        return open_row(o, row);
    if (ptc_model_alias_find(a, rest, NULL))
        return not_there(o, rest, ptc_text_cstr(provider->name));
    if (o->trust == PTC_TRUST_PROGRAM)
        return refuse_model_spec(o, "a program may name aliases and models that the agents name");
    return open_id(o, provider, rest);
}

/* --------------------------------------------------------------------------- other kinds */

/* The body that a model of a record would be sent; one that can no longer be opened gets our own JSON form. */
static bool write_recorded_body(void *user, PtcText name, const PtcLlmRequest *request, PtcBuf *out)
{
    PtcModels *m = user;
    const char *colon = name.len ? memchr(name.bytes, ':', name.len) : NULL;
    PtcText head = {name.bytes, colon ? (size_t)(colon - name.bytes) : 0};
    const PtcProvider *provider = colon ? ptc_provider_find(head) : NULL;
    if (!provider)
        return ptc_llm_json_write_request(out, request);
    ModelOpening o = {m, name, PTC_TRUST_HOST, NULL};
    PtcModel *model = open_id(&o, provider, (PtcText){colon + 1, name.len - head.len - 1});
    bool ok = model && model->body(model, request, out);
    if (model)
        model->free(model);
    return ok;
}

static PtcModel *open_replay(const ModelOpening *o, const char *name, const char *path)
{
    PtcModels *m = o->models;
    PtcReplayOptions options = {
        .mem = m->options.mem,
        .name = name,
        .keys = &m->keys,
        .loose = m->options.replay_loose,
        .body = write_recorded_body,
        .user = m,
    };
    return ptc_replay_open(&options, path, o->why);
}

/* script:, replay:, exec:; *done if it is one of them. */
static PtcModel *open_special(const ModelOpening *o, bool *done)
{
    char name[PTC_MODEL_SPEC_BYTES + 1];
    PtcMem *mem = o->models->options.mem;
    PtcModel *model = NULL;
    bool script = ptc_text_starts(o->spec, "script:"), replay = ptc_text_starts(o->spec, "replay:");
    bool exec = ptc_text_starts(o->spec, "exec:");
    *done = script || replay || exec;
    if (!*done)
        return NULL;
    if (o->trust == PTC_TRUST_PROGRAM ||
        (o->trust == PTC_TRUST_FILE && !o->models->options.files_may_run))
        return refuse_model_spec(
            o, "scripts, records and programs can only be named on the command line");
    if (memchr(o->spec.bytes, 0, o->spec.len))
        return refuse_model_spec(o, "it must not contain a NUL");
    memcpy(name, o->spec.bytes, o->spec.len);
    name[o->spec.len] = 0;
    size_t head = exec ? 5 : 7;
    PtcText rest = {o->spec.bytes + head, o->spec.len - head};
    if (script)
        model = ptc_script_open(mem, name, name + head, &o->models->keys, o->why);
    else if (replay)
        model = open_replay(o, name, name + head);
    else
        model = ptc_exec_model_new(mem, name, rest, &o->models->keys, o->why);
    return model ? model : name_model(o);
}

static PtcModel *open_model(PtcModels *models, PtcText spec, PtcTrust trust, PtcWhy *why)
{
    ModelOpening o = {models, spec.len ? spec : PTC_TEXT(DEFAULT_MODEL), trust, why};
    bool done;
    if (o.spec.len > PTC_MODEL_SPEC_BYTES)
        return refuse_model_spec(&o, "its name is too long");
    PtcModel *model = open_special(&o, &done);
    if (done)
        return model;
    const char *colon = memchr(o.spec.bytes, ':', o.spec.len);
    if (!colon)
        return open_alias(&o, o.spec);
    PtcText head = {o.spec.bytes, (size_t)(colon - o.spec.bytes)};
    const PtcProvider *provider = ptc_provider_find(head);
    return provider ? open_at(&o, provider, (PtcText){colon + 1, o.spec.len - head.len - 1})
                    : refuse_unknown_model(&o, head);
}

PtcModel *ptc_model_open(PtcModels *models, PtcText spec, PtcTrust trust, PtcWhy *why)
{
    PtcModel *model = open_model(models, spec, trust, why);
    if (model)
        model->price = ptc_model_price_of(&models->prices, model->name);
    return model;
}

/* --------------------------------------------------------------------------------- shared */

/* What a list of models has: short names and prices. */
static bool add_list(PtcModels *m, PtcText json, PtcWhy *why)
{
    return ptc_model_alias_add(&m->aliases, json, why) &&
           ptc_model_price_add(&m->prices, json, why);
}

PtcModels *ptc_models_new(const PtcModelsOptions *options, PtcWhy *why)
{
    PtcMem *mem = options->mem;
    PtcModels *m = ptc_mem_alloc(mem, sizeof *m);
    ptc_why_no_memory(why);
    if (!m)
        return NULL;
    *m = (PtcModels){.options = *options};
    ptc_model_alias_init(&m->aliases, mem);
    ptc_model_price_init(&m->prices, mem);
    bool ok = ptc_provider_keys_init(&m->keys, mem, options->get, options->user, options->dotenv) &&
              add_list(m, (PtcText){(const char *)ptc_models_json, ptc_models_json_len}, why);
    PtcText ca_file = ok ? ptc_provider_keys_get(&m->keys, "SSL_CERT_FILE") : (PtcText){NULL, 0};
    PtcClient *client = ok ? ptc_client_new(mem, ca_file.bytes) : NULL;
    m->place = (PtcProviderPlace){mem, client, &m->keys, options->connect_ms, options->silence_ms};
    if (client)
        return m;
    ptc_models_free(m);
    return NULL;
}

void ptc_models_free(PtcModels *m)
{
    if (!m)
        return;
    ptc_client_free(m->place.client);
    ptc_provider_keys_deinit(&m->keys);
    ptc_model_alias_deinit(&m->aliases);
    ptc_model_price_deinit(&m->prices);
    ptc_mem_free(m->options.mem, m, sizeof *m);
}

bool ptc_models_add_file(PtcModels *m, const char *path, PtcWhy *why)
{
    PtcBuf text;
    ssize_t n = -1;
    ptc_buf_init(&text, m->options.mem, PTC_MODEL_ALIAS_FILE + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && ptc_buf_reserve(&text, PTC_MODEL_ALIAS_FILE + 1))
        while ((n = read(fd, text.data + text.len, text.cap - text.len)) > 0)
            text.len += (size_t)n;
    if (n < 0)
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", strerror(errno));
    if (fd >= 0)
        close(fd);
    bool ok = n == 0 && add_list(m, ptc_buf_view(&text), why);
    if (!ok)
        ptc_why_prefix(why, "%s: ", path);
    ptc_buf_deinit(&text);
    return ok;
}

const PtcSecrets *ptc_models_secrets(const PtcModels *m)
{
    return &m->keys.shown;
}

PtcSecrets *ptc_models_more_secrets(PtcModels *m)
{
    return &m->keys.shown;
}

const PtcProviderKeys *ptc_models_keys(const PtcModels *m)
{
    return &m->keys;
}

bool ptc_models_add_secret(PtcModels *m, PtcText value)
{
    return ptc_secrets_add(&m->keys.shown, value.bytes, value.len) &&
           ptc_secrets_add(&m->keys.told, value.bytes, value.len);
}

PtcClient *ptc_models_client(PtcModels *m)
{
    return m->place.client;
}
