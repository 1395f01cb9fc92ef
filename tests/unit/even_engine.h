/* SPDX-License-Identifier: MIT
 * even_engine.h - the end of an engine whose handles are all freed, which shows whether its ledger is even. */
#ifndef PTC_TESTS_EVEN_ENGINE_H
#define PTC_TESTS_EVEN_ENGINE_H

#include "api/api_int.h"
#include "engine/session_named.h"
#include "tool/remote/remote_names.h"

/* Frees the engine; was everything that its ledger gave back, but for the engine itself? */
static inline bool free_even_engine(Ptc *ptc)
{
    ptc_session_named_drop(ptc);
    ptc_crew_free(ptc->crew);
    ptc->crew = NULL;
    if (ptc->remote_names)
        ptc_remote_names_deinit(ptc->remote_names);
    ptc_mem_free(&ptc->mem, ptc->remote_names, sizeof *ptc->remote_names);
    ptc->remote_names = NULL;
    ptc_mem_free(&ptc->mem, ptc->spare, sizeof *ptc->spare);
    ptc->spare = NULL;
    ptc_log_deinit(&ptc->spare_log, &ptc->mem);
    ptc_check_kept_deinit(&ptc->checked, &ptc->mem);
    ptc_vm_deinit(&ptc->vm);
    ptc_names_deinit(&ptc->no_names);
    ptc_arena_deinit(&ptc->arena);
    ptc_pool_deinit(&ptc->pool);
    ptc_pool_init(&ptc->pool, &ptc->mem);
    bool even = atomic_load(&ptc->mem.used) == sizeof *ptc;
    ptc_free(ptc);
    return even;
}

#endif
