/* SPDX-License-Identifier: MIT
 * addon.h - what the files of the Node addon share.  Everything except the functions that threads are started with runs
 * on JavaScript's own thread. */
#ifndef PTC_NODE_ADDON_H
#define PTC_NODE_ADDON_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <node_api.h>
#include <ptc/ptc.h>

/* Servers that programs may call, held by their handle and by engines. */
typedef struct Upstreams {
    PtcUpstreamSet *set; /* NULL: they were closed */
    int holds;
} Upstreams;

/* What opens models by name, held by its handle and by missions. */
typedef struct Llm {
    PtcLlm *llm; /* NULL: it was closed */
    int holds;
} Llm;

/* An engine, held by its handle in JavaScript, by its sessions and data, and by a run that is under way. */
typedef struct Engine {
    Ptc *ptc;
    Upstreams *upstreams; /* or NULL */
    int holds;
    bool busy, closed;
} Engine;

/* A session or data.  It holds its engine, so that it is freed before the engine is. */
typedef struct Part {
    Engine *engine;
    PtcSession *session; /* or NULL */
    PtcData *data;       /* or NULL */
    PtcValue value;      /* of the data */
} Part;

typedef struct Gate Gate;

/* Tools whose functions are in JavaScript. */
typedef struct ToolSet {
    PtcTools *tools;
    Gate *gate;
    atomic_int holds; /* the handle, and each tool of the library's set */
} ToolSet;

enum { ERROR_BYTES = 700 };

/* ---- addon.c */

napi_value throw_text(napi_env env, const char *text);
/* The arguments of a call; false: there are fewer than `count`, and an exception is pending. */
bool get_args(napi_env env, napi_callback_info info, size_t count, napi_value *args);
/* The text of a string, which the caller frees; NULL: the value is not a string, or out of memory. */
char *get_text(napi_env env, napi_value value, size_t *len);
napi_value make_text(napi_env env, const char *text, size_t len);
napi_value get_member(napi_env env, napi_value object, const char *name);
void set_member(napi_env env, napi_value object, const char *name, napi_value value);
int64_t get_number(napi_env env, napi_value value, int64_t otherwise);
bool get_flag(napi_env env, napi_value object, const char *name);
/* The pointer in a handle; NULL: the value is not a handle. */
void *get_handle(napi_env env, napi_value value);

/* ---- gate.c */

/* A way back to JavaScript: `call` runs on its thread, with the function and the data of a gate_call.  `waits`: Node
 * does not end before the gate is closed.  NULL: out of memory. */
Gate *gate_new(napi_env env, napi_value function, const char *name,
               napi_threadsafe_function_call_js call, bool waits);
/* From any thread.  False: Node is ending, and the data stays the caller's. */
bool gate_call(Gate *gate, void *data);
/* Says whether Node waits for the gate from now on; only on the thread of JavaScript. */
void gate_wait(napi_env env, Gate *gate, bool waits);
/* From any thread, once; what was handed over before still arrives. */
void gate_close(Gate *gate);

/* ---- engine.c */

void hold_engine(Engine *engine);
void drop_engine(Engine *engine);
bool read_limits(napi_env env, napi_value list, PtcLimits *limits);
napi_value engine_new(napi_env env, napi_callback_info info);
napi_value engine_use(napi_env env, napi_callback_info info);
napi_value engine_close(napi_env env, napi_callback_info info);
napi_value engine_cancel(napi_env env, napi_callback_info info);
napi_value session_new(napi_env env, napi_callback_info info);
napi_value session_get(napi_env env, napi_callback_info info);
napi_value session_set(napi_env env, napi_callback_info info);
napi_value session_forget(napi_env env, napi_callback_info info);
napi_value session_names(napi_env env, napi_callback_info info);
napi_value session_snapshot(napi_env env, napi_callback_info info);
napi_value session_restore(napi_env env, napi_callback_info info);
napi_value data_new(napi_env env, napi_callback_info info);

/* ---- tools.c */

napi_value tools_new(napi_env env, napi_callback_info info);
napi_value tools_answer(napi_env env, napi_callback_info info);

/* ---- run.c */

napi_value run_program(napi_env env, napi_callback_info info);

/* ---- upstreams.c */

/* NULL is allowed. */
void drop_upstreams(Upstreams *upstreams);
napi_value upstreams_new(napi_env env, napi_callback_info info);
napi_value upstreams_states(napi_env env, napi_callback_info info);
napi_value upstreams_close(napi_env env, napi_callback_info info);

/* ---- agent.c */

/* NULL is allowed. */
void drop_llm(Llm *llm);
napi_value llm_new(napi_env env, napi_callback_info info);
napi_value llm_close(napi_env env, napi_callback_info info);
napi_value agent_new(napi_env env, napi_callback_info info);

/* ---- mission.c */

napi_value mission_new(napi_env env, napi_callback_info info);
napi_value mission_run(napi_env env, napi_callback_info info);
napi_value mission_cancel(napi_env env, napi_callback_info info);
napi_value mission_close(napi_env env, napi_callback_info info);
napi_value ask_answer(napi_env env, napi_callback_info info);

#endif
