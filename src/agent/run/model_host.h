/* SPDX-License-Identifier: MIT
 * model_host.h - what agents get from whoever runs them: models by name, a record of what was asked, keys, and an
 * HTTP client.  Nothing is loaded or connected before it is needed.
 *
 * Aliases and the record are set before the first model is opened.  From then on any number of threads may use it. */
#ifndef PTC_AGENT_RUN_MODEL_HOST_H
#define PTC_AGENT_RUN_MODEL_HOST_H

#include "agent/run/agent_tree.h"
#include "base/why.h"
#include "llm/model_spec.h"

typedef struct PtcModelHost PtcModelHost;

/* `options->mem` is ignored: the host has its own ledger.  NULL with a reason. */
PTC_MUST_USE PtcModelHost *ptc_model_host_new(const PtcModelsOptions *options, PtcWhy *why);
/* After all models that it opened have been freed.  False with a reason: the record could not be written. */
bool ptc_model_host_close(PtcModelHost *host, PtcWhy *why);

/* Adds the aliases of a file.  False with a reason. */
PTC_MUST_USE bool ptc_model_host_add_aliases(PtcModelHost *host, const char *path, PtcWhy *why);
/* Models opened from now on record their requests and replies in this file.  False with a reason. */
PTC_MUST_USE bool ptc_model_host_record(PtcModelHost *host, const char *path, PtcWhy *why);

/* Opens a model by name; it belongs to the caller.  NULL with a reason. */
PTC_MUST_USE PtcModel *ptc_model_host_open(PtcModelHost *host, PtcText spec, PtcTrust trust,
                                           PtcWhy *why);
/* Treats a model of another kind like those that are opened: recorded, if there is a record.  NULL: out of memory,
 * and the model is freed. */
PTC_MUST_USE PtcModel *ptc_model_host_take(PtcModelHost *host, PtcModel *model);
/* Is this a model that an agent file may name?  For PtcAgentReading.check_model; user is the host. */
bool ptc_model_host_check(void *user, PtcText spec, PtcWhy *why);

/* Values to remove from everything that is shown or written. */
const PtcSecrets *ptc_model_host_secrets(const PtcModelHost *host);
/* The same, for whoever learns of more of them. */
PtcSecrets *ptc_model_host_more_secrets(PtcModelHost *host);
/* Fills in how models are opened and requests are sent. */
void ptc_model_host_fill(PtcModelHost *host, PtcTreeHost *tree);

#endif
