/* SPDX-License-Identifier: MIT
 * A way from any thread to the thread of JavaScript.  What always holds: Node destroys its function whenever it ends,
 * which is told under the lock, so that nobody calls or releases one that is gone. */
#include <pthread.h>

#include "addon.h"

struct Gate {
    pthread_mutex_t lock;
    napi_threadsafe_function function; /* NULL: it is gone */
    atomic_int holds;                  /* Node's, and the maker's */
};

static void drop(Gate *gate)
{
    if (atomic_fetch_sub(&gate->holds, 1) > 1)
        return;
    pthread_mutex_destroy(&gate->lock);
    free(gate);
}

static void finalize(napi_env env, void *data, void *hint)
{
    Gate *gate = data;
    (void)env;
    (void)hint;
    pthread_mutex_lock(&gate->lock);
    gate->function = NULL;
    pthread_mutex_unlock(&gate->lock);
    drop(gate);
}

Gate *gate_new(napi_env env, napi_value function, const char *name,
               napi_threadsafe_function_call_js call, bool waits)
{
    Gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        return NULL;
    pthread_mutex_init(&gate->lock, NULL);
    atomic_init(&gate->holds, 2);
    if (napi_create_threadsafe_function(env, function, NULL, make_text(env, name, NAPI_AUTO_LENGTH),
                                        0, 1, gate, finalize, NULL, call,
                                        &gate->function) == napi_ok) {
        if (!waits)
            napi_unref_threadsafe_function(env, gate->function);
        return gate;
    }
    atomic_store(&gate->holds, 1);
    drop(gate);
    return NULL;
}

bool gate_call(Gate *gate, void *data)
{
    pthread_mutex_lock(&gate->lock);
    bool ok = gate->function &&
              napi_call_threadsafe_function(gate->function, data, napi_tsfn_nonblocking) == napi_ok;
    pthread_mutex_unlock(&gate->lock);
    return ok;
}

void gate_wait(napi_env env, Gate *gate, bool waits)
{
    pthread_mutex_lock(&gate->lock);
    if (gate->function && waits)
        napi_ref_threadsafe_function(env, gate->function);
    else if (gate->function)
        napi_unref_threadsafe_function(env, gate->function);
    pthread_mutex_unlock(&gate->lock);
}

void gate_close(Gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    if (gate->function)
        napi_release_threadsafe_function(gate->function, napi_tsfn_release);
    gate->function = NULL;
    pthread_mutex_unlock(&gate->lock);
    drop(gate);
}
