/* SPDX-License-Identifier: MIT
 * agent_host.h - what the commands that run agents give them: models by name, a record of what was asked, keys, and
 * an HTTP client.  Nothing is loaded or connected before it is needed. */
#ifndef PTC_CLI_AGENT_AGENT_HOST_H
#define PTC_CLI_AGENT_AGENT_HOST_H

#include "agent/run/model_host.h"

/* From the command line; each may be NULL. */
typedef struct PtcAgentHostOptions {
    const char *command; /* for messages: "run" */
    const char *llm;     /* the model of the top agent */
    const char *models;  /* a file with more aliases */
    const char *record;  /* a file to write requests and replies to */
    bool replay_loose;
} PtcAgentHostOptions;

typedef struct PtcAgentHost PtcAgentHost;

/* False: the message is on standard error.  ptc_agent_host_close in any case. */
PTC_MUST_USE PtcAgentHost *ptc_agent_host_open(PtcMem *mem, const PtcAgentHostOptions *options);
/* After all runs.  False: the record could not be written, which has been reported. */
bool ptc_agent_host_close(PtcAgentHost *host);

/* The model that --llm names; NULL: none is named. */
PtcModel *ptc_agent_host_model(PtcAgentHost *host);
/* Values to remove from what is shown and written. */
const PtcSecrets *ptc_agent_host_secrets(const PtcAgentHost *host);
/* The same, for whoever learns of more of them. */
PtcSecrets *ptc_agent_host_more_secrets(PtcAgentHost *host);
/* Fills in how models are opened and requests are sent. */
void ptc_agent_host_fill(PtcAgentHost *host, PtcTreeHost *tree);
/* Does this model exist?  For PtcAgentReading.check_model; user is the host. */
bool ptc_agent_host_check_model(void *user, PtcText model, PtcWhy *why);

#endif
