/* SPDX-License-Identifier: MIT
 * A function of the host as a model.  What always holds: the function gets the request as it is and fills in the
 * reply; nothing is kept between requests. */
#include "llm/callback_model.h"

#include <string.h>

#include "llm/llm_json.h"

typedef struct Callback {
    PtcModel model;
    PtcMem *mem;
    PtcModelFunction function;
    void *user;
    char name[];
} Callback;

static void callback_ask(PtcModel *self, const PtcLlmRequest *request, PtcArena *arena,
                         PtcLlmReply *reply)
{
    const Callback *c = (const Callback *)self;
    *reply = (PtcLlmReply){.retry_after_ms = -1};
    c->function(c->user, request, arena, reply);
}

static bool callback_body(PtcModel *self, const PtcLlmRequest *request, PtcBuf *out)
{
    (void)self;
    return ptc_llm_json_write_request(out, request);
}

static void callback_free(PtcModel *self)
{
    Callback *c = (Callback *)self;
    ptc_mem_free(c->mem, c, sizeof *c + strlen(c->name) + 1);
}

PtcModel *ptc_callback_model_new(PtcMem *mem, const char *name, PtcModelFunction function,
                                 void *user)
{
    size_t len = strlen(name) + 1;
    Callback *c = ptc_mem_alloc(mem, sizeof *c + len);
    if (!c)
        return NULL;
    *c = (Callback){
        .model = {.ask = callback_ask,
                  .body = callback_body,
                  .free = callback_free,
                  .name = c->name},
        .mem = mem,
        .function = function,
        .user = user,
    };
    memcpy(c->name, name, len);
    return &c->model;
}
