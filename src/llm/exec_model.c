/* SPDX-License-Identifier: MIT
 * Programs as models.  What always holds: each request starts one process, which is always reaped, and is ended when
 * the request must end. */
#define _GNU_SOURCE /* environ */
#include "llm/exec_model.h"

#include <stdio.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/os/process.h"
#include "llm/llm_json.h"
#include "llm/waiting.h"

enum { ERR_BYTES = 64 * PTC_KB };

typedef struct ModelProgram {
    PtcModel model;
    PtcMem *mem;
    const PtcProviderKeys *keys;
    char *argv[PTC_EXEC_MODEL_WORDS + 1];
    PtcBuf texts; /* the name and the words, each with a NUL; it does not move */
} ModelProgram;

typedef struct Watch {
    const PtcLlmRequest *request;
    int64_t begun_ns;
    PtcLlmStatus status;
} Watch;

static bool may_program_go_on(void *user)
{
    Watch *w = user;
    w->status = ptc_waiting_end(w->request, w->begun_ns);
    return w->status == PTC_LLM_OK;
}

/* Says how a program ended that gave no reply. */
static void fail_model_program(PtcReply *reply, const ModelProgram *p, const PtcProcess *process,
                               PtcLlmStatus stopped)
{
    PtcText err = ptc_buf_view(process->err);
    size_t from = err.len > 1024 ? err.len - 1024 : 0;
    switch (process->end) {
    case PTC_PROCESS_ENDED:
        ptc_reply_failf(reply, stopped, "%s was ended: %s", p->argv[0],
                        stopped == PTC_LLM_TIMEOUT ? "it took too long" : "nobody waits for it");
        break;
    case PTC_PROCESS_TOO_MUCH:
        ptc_reply_failf(reply, PTC_LLM_TOO_LARGE, "%s wrote more than %d bytes", p->argv[0],
                        PTC_LLM_BODY_BYTES);
        break;
    case PTC_PROCESS_NO_MEMORY:
        ptc_reply_fail(reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
        break;
    case PTC_PROCESS_NO_START:
        ptc_reply_failf(reply, PTC_LLM_CONFIG_ERROR, "%s cannot be started: %s", p->argv[0],
                        strerror(process->code));
        break;
    default:
        ptc_reply_failf(reply, PTC_LLM_UNKNOWN, "%s ended with %s %d%s%.*s", p->argv[0],
                        process->end == PTC_PROCESS_KILLED ? "signal" : "status", process->code,
                        err.len > from ? ": " : "", PTC_ARG_OF(err.bytes + from, err.len - from));
    }
}

static void run_model_program(const ModelProgram *p, const PtcLlmRequest *request, PtcText input,
                              PtcReply *reply)
{
    PtcBuf out, err;
    Watch watch = {request, ptc_clock_ns(NULL), PTC_LLM_OK};
    ptc_buf_init(&out, reply->mem, PTC_LLM_BODY_BYTES);
    ptc_buf_init(&err, reply->mem, ERR_BYTES);
    PtcProcess process = {.argv = p->argv,
                          .envp = environ,
                          .input = input.bytes,
                          .input_len = input.len,
                          .out = &out,
                          .err = &err,
                          .go_on = may_program_go_on,
                          .user = &watch};
    ptc_process_run(&process);
    if (process.end == PTC_PROCESS_EXITED && process.code == 0)
        (void)ptc_llm_json_take_reply(reply, ptc_buf_view(&out), p->argv[0]);
    else
        fail_model_program(reply, p, &process, watch.status);
    ptc_buf_deinit(&out);
    ptc_buf_deinit(&err);
}

static void exec_ask(PtcModel *self, const PtcLlmRequest *request, PtcArena *arena,
                     PtcLlmReply *out)
{
    const ModelProgram *p = (const ModelProgram *)self;
    PtcReply reply;
    PtcBuf input;
    ptc_reply_init(&reply, arena->mem, NULL, p->keys);
    ptc_buf_init(&input, arena->mem, PTC_LLM_REQUEST_BYTES);
    if (ptc_llm_json_write_request(&input, request) && ptc_buf_add_char(&input, '\n'))
        run_model_program(p, request, ptc_buf_view(&input), &reply);
    else if (input.full)
        ptc_reply_failf(&reply, PTC_LLM_TOO_LARGE, "the request is larger than %d bytes",
                        PTC_LLM_REQUEST_BYTES);
    else
        ptc_reply_fail(&reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    ptc_reply_finish(&reply, arena, out);
    ptc_waiting_hand_on(request, arena, out);
    ptc_buf_deinit(&input);
    ptc_reply_deinit(&reply);
}

static bool exec_body(PtcModel *self, const PtcLlmRequest *request, PtcBuf *out)
{
    (void)self;
    return ptc_llm_json_write_request(out, request);
}

static void exec_free(PtcModel *self)
{
    ModelProgram *p = (ModelProgram *)self;
    ptc_buf_deinit(&p->texts);
    ptc_mem_free(p->mem, p, sizeof *p);
}

/* Splits the command into words, stored after the name. */
static bool fill_program_words(ModelProgram *p, const char *name, PtcText command, PtcWhy *why)
{
    size_t count = 0;
    bool inside = false;
    if (!ptc_buf_reserve(&p->texts, strlen(name) + command.len + 2))
        return ptc_why_no_memory(why);
    ptc_buf_add(&p->texts, name, strlen(name) + 1);
    for (size_t i = 0; i < command.len; i++) {
        bool blank = ptc_ascii_is_blank(command.bytes[i]);
        if (!blank && !inside) {
            if (count == PTC_EXEC_MODEL_WORDS)
                return ptc_why_say(why, PTC_WHY_INVALID, "a command has at most %d words",
                                   PTC_EXEC_MODEL_WORDS);
            p->argv[count++] = p->texts.data + p->texts.len;
        }
        if (!blank || inside)
            ptc_buf_add_char(&p->texts, blank ? 0 : command.bytes[i]);
        inside = !blank;
    }
    ptc_buf_add_char(&p->texts, 0);
    p->model.name = p->texts.data;
    if (count == 0 || memchr(command.bytes, 0, command.len))
        return ptc_why_say(why, PTC_WHY_INVALID, "exec: needs a program, such as exec:./my-model");
    return true;
}

PtcModel *ptc_exec_model_new(PtcMem *mem, const char *name, PtcText command,
                             const PtcProviderKeys *keys, PtcWhy *why)
{
    ModelProgram *p = ptc_mem_alloc(mem, sizeof *p);
    if (!p) {
        ptc_why_no_memory(why);
        return NULL;
    }
    *p = (ModelProgram){
        .model = {.ask = exec_ask, .body = exec_body, .free = exec_free}, .mem = mem, .keys = keys};
    ptc_buf_init(&p->texts, mem, PTC_UNBOUNDED);
    if (fill_program_words(p, name, command, why))
        return &p->model;
    exec_free(&p->model);
    return NULL;
}
