/* SPDX-License-Identifier: MIT
 * model_host.h - what those who run agents give them: models by name, a record of what was asked, keys, and somebody to send
 * HTTP requests.  Nothing is loaded or connected before it is needed.
 *
 * Aliases and the record are set before the first model is opened.  From then on any number of threads may use it. */
#ifndef PTC_AGENT_MODEL_HOST_H
#define PTC_AGENT_MODEL_HOST_H

#include "agent/agent_tree.h"
#include "llm/model_spec.h"

typedef struct PtcModelHost PtcModelHost;

/* `options->mem` is not looked at: it has a ledger of its own.  NULL with a reason. */
PTC_MUST_USE PtcModelHost *ptc_model_host_new(const PtcModelsOptions *options, char *why,
                                              size_t size);
/* After all models that it opened.  False with a reason: the record could not be written. */
bool ptc_model_host_close(PtcModelHost *host, char *why, size_t size);

/* Adds the aliases of a file.  False with a reason. */
PTC_MUST_USE bool ptc_model_host_add_aliases(PtcModelHost *host, const char *path, char *why,
                                             size_t size);
/* Models that are opened from now on write what they are asked and answer to this file.  False with a reason. */
PTC_MUST_USE bool ptc_model_host_record(PtcModelHost *host, const char *path, char *why,
                                        size_t size);

/* Opens a model by name; it belongs to the caller.  NULL with a reason. */
PTC_MUST_USE PtcModel *ptc_model_host_open(PtcModelHost *host, PtcText spec, PtcTrust trust,
                                           char *why, size_t size);
/* A model of another kind, as those that are opened: recorded, if there is a record.  NULL: no memory, and the model is
 * freed. */
PTC_MUST_USE PtcModel *ptc_model_host_take(PtcModelHost *host, PtcModel *model);
/* Is this a model that an agent file may name?  For PtcAgentReading.check_model; user is the host. */
bool ptc_model_host_check(void *user, PtcText spec, char *why, size_t size);

/* Values to be blotted out of what is shown and written. */
const PtcSecrets *ptc_model_host_secrets(const PtcModelHost *host);
/* Fills in how models are opened and requests sent. */
void ptc_model_host_fill(PtcModelHost *host, PtcTreeHost *tree);

#endif
