/* SPDX-License-Identifier: MIT
 * Sign-ins in the background.  What always holds: at most one of a flow is under way, so there is one port and one
 * secret state for it; nothing is opened here, an address is only passed on; its thread has ended before its memory is
 * freed. */
#include "upstream/connect/sign_in_flow.h"

#include <time.h>

#include "base/os/cancel.h"
#include "base/os/cond.h"
#include "base/os/thread.h"

enum { SIGN_IN_LOCK_MS = 30 * 1000, ADDRESS_BYTES = 64 * PTC_KB, SIGN_IN_STACK = PTC_MB };

/* ------------------------------------------------------------------------------------- whole */

static bool save_oauth_record(const PtcOauthWork *w, const PtcOauthPlace *place,
                              const PtcOauthRecord *record)
{
    PtcSheetLock lock;
    int64_t end_ns = ptc_clock_ns(NULL) + SIGN_IN_LOCK_MS * PTC_MS;
    if (!ptc_oauth_store_lock(place, end_ns, w->cancel, &lock))
        return false;
    bool ok = ptc_oauth_store_save(w->mem, place, record);
    ptc_oauth_store_unlock(place, &lock);
    return ok;
}

bool ptc_sign_in_login(PtcOauthWork *w, const PtcOauthSite *site, PtcOauthWay way,
                       const PtcOauthPerson *person, const PtcOauthPlace *place,
                       PtcOauthRecord *record)
{
    PtcOauthRecord before;
    PtcOauthFound found = ptc_oauth_store_load(w->mem, &w->arena, place, &before, &w->why);
    if (found == PTC_OAUTH_REFUSED)
        return false;
    if (!ptc_oauth_login(w, site, way, person, found == PTC_OAUTH_FOUND ? &before : NULL, record))
        return false;
    return save_oauth_record(w, place, record) ||
           ptc_why_say(&w->why, PTC_WHY_REFUSED,
                       place->shelf->shared
                           ? "the token could not be written to the store"
                           : "the token could not be written below the state directory");
}

/* ------------------------------------------------------------------------------- in the background */

struct PtcSignInFlow {
    PtcMem *mem;
    const PtcEntry *entry;
    const PtcOauthPlace *place;
    PtcArena arena; /* of the site */
    PtcOauthSite site;
    /* It guards what follows, up to the next lock, and is held while a sign-in is begun, its thread joined and
     * started.  `lock` is taken inside, never the other way round. */
    pthread_mutex_t begins;
    PtcOauthWork work;
    PtcClient *http;
    PtcCancel cancel;
    pthread_t thread;
    bool joinable;
    /* It guards the rest.  The thread of the sign-in tells the address and its end under it, and runs that wait
     * for them take it; no other lock is taken inside. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool under_way;
    unsigned shown;  /* addresses, since the flow was made */
    unsigned before; /* the sign-in that is under way began */
    PtcBuf url;      /* the last */
};

static void free_flow_memory(PtcSignInFlow *f)
{
    ptc_buf_deinit(&f->url);
    ptc_arena_deinit(&f->arena);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->begins);
    ptc_mem_free(f->mem, f, sizeof *f);
}

PtcSignInFlow *ptc_sign_in_flow_new(PtcMem *mem, const PtcEntry *entry, PtcHeap *heap,
                                    const PtcOauthPlace *place)
{
    PtcSignInFlow *f = ptc_mem_alloc(mem, sizeof *f);
    if (!f)
        return NULL;
    memset(f, 0, sizeof *f);
    f->mem = mem;
    f->entry = entry;
    f->place = place;
    ptc_arena_init(&f->arena, mem);
    ptc_buf_init(&f->url, mem, ADDRESS_BYTES);
    pthread_mutex_init(&f->begins, NULL);
    pthread_mutex_init(&f->lock, NULL);
    ptc_cond_init(&f->changed);
    if (ptc_sign_in_site(&f->arena, heap, entry, &f->site))
        return f;
    free_flow_memory(f);
    return NULL;
}

static bool is_under_way(PtcSignInFlow *f)
{
    pthread_mutex_lock(&f->lock);
    bool is = f->under_way;
    pthread_mutex_unlock(&f->lock);
    return is;
}

static void set_under_way(PtcSignInFlow *f, bool is)
{
    pthread_mutex_lock(&f->lock);
    f->under_way = is;
    f->before = is ? f->shown : f->before;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* Its thread has ended, or is about to. */
static void clear_ended_flow(PtcSignInFlow *f)
{
    if (!f->joinable)
        return;
    pthread_join(f->thread, NULL);
    f->joinable = false;
    ptc_oauth_work_deinit(&f->work);
    ptc_client_free(f->http);
}

void ptc_sign_in_flow_cancel(PtcSignInFlow *f)
{
    ptc_cancel_ask(&f->cancel);
}

void ptc_sign_in_flow_free(PtcSignInFlow *f)
{
    if (!f)
        return;
    ptc_sign_in_flow_cancel(f);
    clear_ended_flow(f);
    free_flow_memory(f);
}

static void show_flow_address(void *user, const char *url, const char *code)
{
    PtcSignInFlow *f = user;
    (void)code;
    pthread_mutex_lock(&f->lock);
    ptc_buf_clear(&f->url);
    ptc_buf_add_cstr(&f->url, url);
    f->shown++;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static bool refuse_pasting(void *user, PtcBuf *address)
{
    (void)user;
    (void)address;
    return false;
}

static void *run_sign_in_flow(void *user)
{
    PtcSignInFlow *f = user;
    PtcOauthRecord record;
    PtcOauthPerson person = {show_flow_address, refuse_pasting, f};
    (void)!ptc_sign_in_login(&f->work, &f->site, PTC_OAUTH_BROWSER, &person, f->place, &record);
    set_under_way(f, false);
    return NULL;
}

/* With `begins` held. */
static bool begin_sign_in_flow(PtcSignInFlow *f)
{
    if (is_under_way(f) && !ptc_cancelled(&f->cancel))
        return true;
    clear_ended_flow(f);
    if (!(f->http = ptc_client_new(f->mem, f->entry->ca_file)))
        return false;
    atomic_store(&f->cancel.asked, false);
    ptc_oauth_work_init(&f->work, f->mem, f->http, &f->cancel, PTC_OAUTH_LOGIN_MS);
    set_under_way(f, true);
    f->joinable = ptc_thread_start(&f->thread, SIGN_IN_STACK, run_sign_in_flow, f);
    if (f->joinable)
        return true;
    set_under_way(f, false);
    ptc_oauth_work_deinit(&f->work);
    ptc_client_free(f->http);
    return false;
}

bool ptc_sign_in_flow_begin(PtcSignInFlow *f)
{
    pthread_mutex_lock(&f->begins);
    bool ok = begin_sign_in_flow(f);
    pthread_mutex_unlock(&f->begins);
    return ok;
}

/* With the lock held: one of this sign-in, and after that one? */
static bool has_address(const PtcSignInFlow *f, unsigned told)
{
    return f->shown > told && f->shown > f->before;
}

/* With the lock held. */
static void wait_a_while(PtcSignInFlow *f, unsigned told, int64_t ms)
{
    int64_t end = ptc_clock_ns(NULL) + ms * PTC_MS;
    while (f->under_way && !has_address(f, told) && ptc_cond_wait_until(&f->changed, &f->lock, end))
        continue;
}

unsigned ptc_sign_in_flow_address(PtcSignInFlow *f, unsigned told, int64_t ms, PtcBuf *url)
{
    pthread_mutex_lock(&f->lock);
    wait_a_while(f, told, ms);
    unsigned number = f->under_way && has_address(f, told) && ptc_buf_ok(&f->url) ? f->shown : 0;
    if (number)
        ptc_buf_add(url, f->url.data, f->url.len);
    pthread_mutex_unlock(&f->lock);
    return number;
}

bool ptc_sign_in_flow_await(PtcSignInFlow *f, unsigned told, int64_t ms)
{
    pthread_mutex_lock(&f->lock);
    wait_a_while(f, told, ms);
    bool over = !f->under_way || has_address(f, told);
    pthread_mutex_unlock(&f->lock);
    return over;
}
