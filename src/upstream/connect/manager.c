/* SPDX-License-Identifier: MIT
 * The upstreams of a process: entries, connections, timers.  What always holds: creating a manager reads caches and
 * starts neither a process nor a thread; what changes is guarded by its lock (manager_int.h says in which order locks
 * are taken). */
#include "upstream/connect/manager_int.h"
#include "upstream/connect/sign_in_flow.h"

#include <stdio.h>

#include "base/os/cancel.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "upstream/catalog/catalog_text.h"
#include "upstream/config/entry_identity.h"
#include "upstream/config/entry_secrets.h"
#include "upstream/config/rule_check.h"
#include "upstream/connect/roots.h"
#include "value/coll/fields.h"

enum {
    SECRET_MIN_RESULT = 8, /* shorter ones are everyday words in results */
    SLOW_S = 4             /* after which a start that has not come to its end is told of */
};

static const char *const no_environment[] = {NULL};

/* ------------------------------------------------------------------------------------- time */

/* With the lock held: is the background listing over, with or without success? */
static bool is_warm(const PtcManager *m)
{
    for (size_t n = 0; n < m->count; n++) {
        const PtcUpstream *up = &m->upstreams[n];
        if (up->listing || up->entry.unusable.bytes || up->entry.disabled)
            continue;
        if (!up->warmed)
            return false;
        for (const PtcInstance *i = m->instances; i; i = i->next)
            if (i->upstream == up && i->state == PTC_INSTANCE_STARTING)
                return false;
    }
    return true;
}

static void tell_known(PtcManager *m)
{
    pthread_mutex_lock(&m->known_lock);
    if (m->known)
        m->known(m->known_user);
    m->known = NULL;
    pthread_mutex_unlock(&m->known_lock);
}

static void sweep_manager(PtcManager *m)
{
    int64_t now = ptc_clock_ns(NULL), next = INT64_MAX;
    pthread_mutex_lock(&m->lock);
    m->sweeping = false;
    for (PtcInstance *i = m->instances; i && !m->ending; i = i->next) {
        int64_t at = ptc_queue_sweep(i, now), rest = ptc_instance_rest_idle(i, now);
        next = at < next ? at : next;
        next = rest < next ? rest : next;
    }
    ptc_instance_warm_next(m);
    if (m->warm_owner && now < m->warm_at_ns && m->warm_at_ns < next)
        next = m->warm_at_ns;
    bool tell = m->warm_owner && now >= m->warm_at_ns && !m->warm && !m->ending && is_warm(m);
    m->warm = m->warm || tell;
    pthread_mutex_unlock(&m->lock);
    if (tell)
        tell_known(m);
    if (next != INT64_MAX)
        ptc_loop_set(m->loop, &m->sweep, next);
}

static void sweep_on_timer(PtcLoopTimer *timer)
{
    sweep_manager((PtcManager *)((char *)timer - offsetof(PtcManager, sweep)));
}

static void on_wake(PtcLoopTask *task)
{
    sweep_manager((PtcManager *)((char *)task - offsetof(PtcManager, wake)));
}

bool ptc_manager_wake(PtcManager *m)
{
    if (!m->sweeping && !m->ending)
        m->sweeping = ptc_loop_post(m->loop, &m->wake);
    return m->sweeping || m->ending;
}

/* ------------------------------------------------------------------------------------- made */

static void read_cached_listing(PtcManager *m, PtcUpstream *up,
                                const uint8_t key[PTC_LISTING_CACHE_KEY])
{
    char path[PTC_LISTING_CACHE_PATH];
    PtcBuf form, identity;
    ptc_buf_init(&form, m->mem, PTC_MB);
    ptc_buf_init(&identity, m->mem, PTC_MB);
    bool ok = ptc_emit_value(&form, m->config.heap, up->entry.form);
    ok = ok && ptc_credentials_identity(&m->credentials, &up->entry, &identity);
    ptc_sign_in_account(&up->sign_in, &identity);
    ok = ok && ptc_buf_ok(&identity) &&
         ptc_listing_cache_path(path, m->config.cache_dir, key, ptc_buf_view(&form),
                                ptc_buf_view(&identity));
    if (ok && (up->cache_path = ptc_mem_alloc(m->mem, strlen(path) + 1))) {
        memcpy(up->cache_path, path, strlen(path) + 1);
        up->listing = ptc_listing_cache_load(m->mem, path, &up->entry);
        ptc_listing_cache_failed(m->mem, path, up->listing ? up->listing->wall_ms : 0, up->failed);
        if (up->listing)
            ptc_rule_check_tools(up->listing, &up->entry, m->config.policy, NULL, NULL);
    }
    ptc_buf_deinit(&form);
    ptc_buf_deinit(&identity);
}

static void read_caches(PtcManager *m)
{
    uint8_t key[PTC_LISTING_CACHE_KEY];
    if (!m->config.cache_dir || !m->config.state_dir || m->count == 0 ||
        !ptc_listing_cache_key(m->mem, m->config.state_dir, key))
        return;
    for (size_t i = 0; i < m->count; i++)
        if (!m->upstreams[i].entry.unusable.bytes)
            read_cached_listing(m, &m->upstreams[i], key);
}

static PtcValue place_of_entry(const PtcManager *m, size_t i)
{
    return i < ptc_fields_count(m->config.places) ? ptc_seq_nth(m->config.places, i) : PTC_NONE;
}

/* Why an entry cannot be used, in words where somebody has them. */
static bool say_unusable(PtcManager *m, PtcEntry *entry, PtcValue place)
{
    PtcText words = ptc_fields_text(m->config.heap, place, "message"), code = entry->unusable;
    if (!code.bytes || !words.bytes || ptc_text_same(words, code))
        return true;
    char *text = ptc_arena_alloc(&m->arena, code.len + words.len + 2);
    if (!text)
        return false;
    memcpy(text, code.bytes, code.len);
    memcpy(text + code.len, ": ", 2);
    memcpy(text + code.len + 2, words.bytes, words.len);
    entry->unusable = (PtcText){text, code.len + words.len + 2};
    return true;
}

static bool read_manager_entries(PtcManager *m)
{
    m->upstreams = ptc_arena_zalloc(&m->arena, (m->count + 1) * sizeof *m->upstreams);
    for (size_t i = 0; m->upstreams && i < m->count; i++) {
        m->upstreams[i].manager = m;
        m->upstreams[i].file = ptc_fields_text(m->config.heap, place_of_entry(m, i), "file");
        if (!ptc_entry_read(&m->arena, m->config.heap, ptc_seq_nth(m->config.entries, i),
                            m->config.environment, m->config.call_ms, &m->upstreams[i].entry) ||
            !say_unusable(m, &m->upstreams[i].entry, place_of_entry(m, i)))
            return false;
        ptc_sign_in_init(&m->upstreams[i].sign_in, &m->upstreams[i].entry, m->token_shelf,
                         &m->credentials);
    }
    return !m->arena.failed;
}

/* Under a key, since command lines may hold secrets and grants are kept on disk. */
static bool identify_entries(PtcManager *m)
{
    uint8_t key[PTC_SHA256_BYTES] = {0};
    bool ok = true;
    (void)!ptc_manager_key(m, "entries", key); /* without one nothing is kept */
    for (size_t i = 0; ok && i < m->count; i++) {
        PtcBuf text;
        ptc_buf_init(&text, m->mem, PTC_UNBOUNDED);
        ok = ptc_entry_identity(&m->upstreams[i].entry, m->config.heap, &text);
        ptc_hmac((PtcText){(const char *)key, sizeof key}, text.data, text.len,
                 m->upstreams[i].identity);
        ptc_buf_deinit(&text);
    }
    return ok;
}

static bool hide(void *user, PtcText text)
{
    PtcManager *m = user;
    return ptc_credentials_hide(&m->credentials, text);
}

static bool add_secrets(PtcManager *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (!ptc_entry_secrets(&m->upstreams[i].entry, hide, m))
            return false;
    for (size_t i = 0; i < ptc_fields_count(m->config.secrets); i++) {
        PtcText text = ptc_str_text(ptc_seq_nth(m->config.secrets, i));
        if (text.bytes && !ptc_credentials_hide(&m->credentials, text))
            return false;
    }
    return true;
}

static void take_config(PtcManager *m, const PtcManagerConfig *config)
{
    m->config = *config;
    m->config.call_ms = config->call_ms ? config->call_ms : PTC_ENTRY_CALL_MS;
    m->config.load_ms = config->load_ms ? config->load_ms : PTC_MANAGER_LOAD_MS;
    m->config.calls = config->calls ? config->calls : PTC_MANAGER_CALLS;
    m->config.bytes = config->bytes ? config->bytes : PTC_MANAGER_BYTES;
    m->config.environment = config->environment ? config->environment : no_environment;
    m->count = ptc_fields_count(config->entries);
    m->credentials = (PtcCredentials){.mem = m->mem,
                                      .definitions = config->credentials,
                                      .environment = m->config.environment,
                                      .told = &m->told,
                                      .hidden = &m->hidden,
                                      .records = config->records};
    ptc_credentials_init(&m->credentials);
}

/* Tokens stay with this machine if those who share the shelf could read them. */
static void choose_shelves(PtcManager *m, const PtcManagerConfig *config)
{
    bool files = config->state_dir && ptc_file_shelf_init(&m->files, config->state_dir);
    PtcShelf *own = files ? &m->files.shelf : NULL;
    m->shelf = config->shelf ? config->shelf : own;
    m->token_shelf = m->shelf && m->shelf->secrets ? m->shelf : own;
}

PtcManager *ptc_manager_new(PtcMem *mem, const PtcManagerConfig *config)
{
    PtcManager *m = ptc_mem_alloc(mem, sizeof *m);
    if (!m)
        return NULL;
    memset(m, 0, sizeof *m);
    m->mem = mem;
    ptc_arena_init(&m->arena, mem);
    ptc_scratch_init(&m->scratch, mem, PTC_LISTING_BYTES);
    ptc_scratches_init(&m->scratches, mem);
    ptc_grants_init(&m->grants, mem);
    ptc_grants_init(&m->process_grants, mem);
    ptc_buf_init(&m->roots, mem, PTC_ROOTS_BYTES);
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->known_lock, NULL);
    ptc_secrets_init(&m->told, mem, PTC_SECRET_MIN);
    ptc_secrets_init(&m->hidden, mem, SECRET_MIN_RESULT);
    m->sweep.fire = sweep_on_timer;
    m->wake.run = on_wake;
    atomic_init(&m->version, config->version ? config->version : 1);
    take_config(m, config);
    choose_shelves(m, config);
    if (m->shelf)
        m->pins = ptc_pins_new(mem, m->shelf);
    if (!config->no_learn)
        m->seen = ptc_seen_book_new(mem, m->shelf);
    m->loop = ptc_loop_new(mem);
    m->work_loop = ptc_loop_new(mem);
    if (!m->loop || !m->work_loop || (m->shelf && !m->pins) || (!config->no_learn && !m->seen) ||
        !read_manager_entries(m) || !identify_entries(m) || !add_secrets(m)) {
        ptc_manager_free(m);
        return NULL;
    }
    read_caches(m);
    ptc_run_fill(m);
    return m;
}

/* Was it listed since this process began? */
static bool is_listed_now(const PtcUpstream *up)
{
    return up->listing && !up->listing->cached;
}

/* Whoever comes next need not wait for what could not be listed now. */
static void keep_failure(PtcManager *m, const PtcInstance *i)
{
    char why[sizeof i->why] = "";
    pthread_mutex_lock(&m->lock);
    int64_t s = (ptc_clock_ns(NULL) - i->started_ns) / PTC_S;
    if (i->state == PTC_INSTANCE_DOWN)
        memcpy(why, i->why, sizeof why);
    else if (i->state == PTC_INSTANCE_STARTING && s >= SLOW_S)
        snprintf(why, sizeof why, "it had not listed its tools after %lld s", (long long)s);
    bool listed = is_listed_now(i->upstream);
    pthread_mutex_unlock(&m->lock);
    if (why[0] && !listed && i->upstream->cache_path)
        ptc_listing_cache_fail(i->upstream->cache_path, why);
}

/* Connections end first, because their callbacks need everything else. */
void ptc_manager_free(PtcManager *m)
{
    if (!m)
        return;
    for (const PtcInstance *i = m->instances; i; i = i->next)
        keep_failure(m, i);
    pthread_mutex_lock(&m->lock);
    m->ending = true;
    pthread_mutex_unlock(&m->lock);
    for (size_t i = 0; m->upstreams && i < m->count; i++)
        ptc_cancel_ask(&m->upstreams[i].sign_in.cancel);
    for (PtcInstance *i = m->instances, *next; i; i = next) {
        next = i->next;
        ptc_instance_end(i);
    }
    if (m->work_loop)
        ptc_loop_free(m->work_loop);
    if (m->loop)
        ptc_loop_free(m->loop);
    for (PtcInstance *i = m->instances, *next; i; i = next) {
        next = i->next;
        ptc_instance_free(i);
    }
    for (size_t i = 0; m->upstreams && i < m->count; i++) {
        PtcUpstream *up = &m->upstreams[i];
        ptc_listing_drop(up->listing);
        ptc_sign_in_flow_free(up->flow);
        ptc_sign_in_deinit(&up->sign_in);
        if (up->cache_path)
            ptc_mem_free(m->mem, up->cache_path, strlen(up->cache_path) + 1);
    }
    ptc_pins_free(m->pins);
    ptc_seen_book_free(m->seen);
    ptc_credentials_deinit(&m->credentials);
    ptc_secrets_deinit(&m->told);
    ptc_secrets_deinit(&m->hidden);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->known_lock);
    ptc_scratch_deinit(&m->scratch);
    ptc_scratches_deinit(&m->scratches);
    ptc_grants_deinit(&m->grants);
    ptc_grants_deinit(&m->process_grants);
    ptc_buf_deinit(&m->roots);
    ptc_arena_deinit(&m->arena);
    ptc_mem_free(m->mem, m, sizeof *m);
}

PtcShelf *ptc_manager_tokens(PtcManager *m)
{
    return m->token_shelf;
}

void ptc_manager_on_known(PtcManager *m, void (*known)(void *user), void *user)
{
    pthread_mutex_lock(&m->known_lock);
    m->known = known;
    m->known_user = user;
    pthread_mutex_unlock(&m->known_lock);
}

bool ptc_manager_is_known(PtcManager *m)
{
    bool all = true;
    pthread_mutex_lock(&m->lock);
    for (size_t n = 0; n < m->count; n++) {
        const PtcUpstream *up = &m->upstreams[n];
        all = all && (up->listing || up->entry.unusable.bytes || up->entry.disabled);
    }
    pthread_mutex_unlock(&m->lock);
    return all;
}

void ptc_manager_warm(PtcManager *m, const char *owner, unsigned offers, int64_t delay_ms)
{
    size_t len = strlen(owner) + 1;
    pthread_mutex_lock(&m->lock);
    if (!m->warm_owner && (m->warm_owner = ptc_arena_alloc(&m->arena, len))) {
        memcpy(m->warm_owner, owner, len);
        m->warm_at_ns = ptc_clock_ns(NULL) + delay_ms * PTC_MS;
        m->warm_offers = offers;
        m->client_roots = m->client_roots || (offers & PTC_REMOTE_ROOTS);
        (void)!ptc_manager_wake(m); /* without a thread nothing is listed before it is called */
    }
    pthread_mutex_unlock(&m->lock);
}

size_t ptc_manager_runs(const PtcManager *m)
{
    return atomic_load(&m->runs);
}

PtcRemote *ptc_manager_remote(PtcManager *m)
{
    return &m->remote;
}

/* ------------------------------------------------------------------------------------- told */

PtcSeenBook *ptc_manager_seen(PtcManager *m)
{
    return m->seen;
}

PtcPins *ptc_manager_pins(PtcManager *m)
{
    return m->pins;
}

void ptc_manager_changed(PtcManager *m, size_t n, PtcPinsTell *tell, void *user)
{
    PtcUpstream *up = &m->upstreams[n];
    pthread_mutex_lock(&m->lock);
    PtcListing *l = ptc_listing_hold(up->listing);
    pthread_mutex_unlock(&m->lock);
    for (size_t i = 0; l && m->pins && !up->entry.no_pins && i < l->server.count; i++) {
        unsigned parts = ptc_pins_changed(m->pins, ptc_upstream_pinned(up), l, i);
        if (parts)
            tell(user, l->server.tools[i].name, parts);
    }
    ptc_listing_drop(l);
}

static size_t bytes_of(PtcManager *m, PtcHeap *heap, PtcValue definition)
{
    PtcBuf text;
    ptc_buf_init(&text, m->mem, PTC_LISTING_BYTES);
    ptc_emit_value(&text, heap, definition);
    size_t n = text.len;
    ptc_buf_deinit(&text);
    return n;
}

void ptc_manager_tools(PtcManager *m, size_t n, PtcManagerTool *tell, void *user)
{
    PtcScratch scratch;
    pthread_mutex_lock(&m->lock);
    PtcListing *l = ptc_listing_hold(m->upstreams[n].listing);
    pthread_mutex_unlock(&m->lock);
    ptc_scratch_init(&scratch, m->mem, PTC_LISTING_BYTES);
    for (size_t i = 0; l && i < l->server.count; i++) {
        const PtcCatalogTool *tool = &l->server.tools[i];
        PtcValue hints = ptc_map_field(&scratch.heap, tool->definition, "annotations");
        tell(user, tool->name, hints != PTC_NONE && ptc_is_map(hints) && ptc_map_count(hints),
             bytes_of(m, &scratch.heap, tool->definition));
    }
    ptc_scratch_deinit(&scratch);
    ptc_listing_drop(l);
}

void ptc_manager_check_rules(PtcManager *m, size_t n, PtcRuleTell *tell, void *user)
{
    const PtcUpstream *up = &m->upstreams[n];
    pthread_mutex_lock(&m->lock);
    PtcListing *l = ptc_listing_hold(up->listing);
    pthread_mutex_unlock(&m->lock);
    if (l) /* it was checked before, so that nothing in it changes now */
        ptc_rule_check_tools(l, &up->entry, m->config.policy, tell, user);
    ptc_listing_drop(l);
}

size_t ptc_manager_count(const PtcManager *m)
{
    return m->count;
}

static PtcInstanceState state_of_upstream(const PtcManager *m, const PtcUpstream *up,
                                          char reason[256])
{
    PtcInstanceState state = PTC_INSTANCE_COLD;
    if (up->entry.unusable.bytes) {
        snprintf(reason, 256, "%.*s", PTC_ARG(up->entry.unusable));
        return PTC_UPSTREAM_UNUSABLE;
    }
    if (up->entry.disabled)
        return PTC_UPSTREAM_DISABLED;
    for (const PtcInstance *i = m->instances; i; i = i->next) {
        if (i->upstream != up)
            continue;
        if (i->state == PTC_INSTANCE_READY)
            return i->state;
        if (i->state == PTC_INSTANCE_STARTING)
            state = i->state;
        if (i->state == PTC_INSTANCE_DOWN && state == PTC_INSTANCE_COLD) {
            snprintf(reason, 256, "%s", i->why);
            state = i->state;
        }
    }
    return state;
}

static void put_left(const PtcOpenapiHidden *hidden, PtcUpstreamState *out)
{
    enum { MANAGER_MOST = sizeof out->left[0].first - 1 };
    for (size_t i = 0; i < PTC_LEFT_REASONS; i++) {
        PtcText first = hidden->first[i];
        size_t len =
            first.len > MANAGER_MOST ? ptc_utf8_valid_prefix(first.bytes, MANAGER_MOST) : first.len;
        memcpy(out->left[i].first, first.bytes ? first.bytes : "", len);
        out->left[i].first[len] = '\0';
        out->left[i].count = hidden->counts[i];
    }
}

void ptc_manager_state(PtcManager *m, size_t n, PtcUpstreamState *out)
{
    PtcUpstream *up = &m->upstreams[n];
    *out = (PtcUpstreamState){.name = up->entry.name,
                              .ns = up->entry.ns,
                              .description = up->entry.description,
                              .file = up->file,
                              .pinned = m->pins && !up->entry.no_pins,
                              .self = up->entry.self,
                              .transport = up->entry.unusable.bytes ? NULL : up->entry.kind};
    PtcValue line = ptc_map_field(m->config.heap, place_of_entry(m, n), "line");
    out->line = line != PTC_NONE && ptc_is_int(line) ? (size_t)ptc_to_int(line) : 0;
    pthread_mutex_lock(&m->lock);
    out->state = state_of_upstream(m, up, out->reason);
    if (!out->reason[0] && up->failed[0] && !is_listed_now(up))
        snprintf(out->reason, sizeof out->reason, "the last time: %s", up->failed);
    out->listed = up->listing != NULL;
    out->cached = up->listing && up->listing->cached;
    out->tools = up->listing ? up->listing->server.count : 0;
    out->listed_ms = up->listing ? up->listing->wall_ms : 0;
    if (up->listing)
        put_left(&up->listing->hidden, out);
    pthread_mutex_unlock(&m->lock);
    out->seen = m->seen ? ptc_seen_book_count(m->seen, up->entry.name) : 0;
}

/* The newest listings, held, as one catalogue in the arena.  Servers without a listing have no tools in it. */
static bool gather_catalog(PtcManager *m, PtcScratch *scratch, PtcCatalog *catalog,
                           PtcListing **held)
{
    catalog->servers = ptc_arena_zalloc(&scratch->arena, (m->count + 1) * sizeof *catalog->servers);
    if (!catalog->servers)
        return false;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->count; i++) {
        const PtcUpstream *up = &m->upstreams[i];
        if (up->entry.unusable.bytes || up->entry.disabled)
            continue;
        held[i] = ptc_listing_hold(up->listing);
        catalog->servers[catalog->count++] =
            held[i] ? held[i]->server
                    : (PtcCatalogServer){.name = up->entry.name,
                                         .ns = up->entry.ns,
                                         .description = up->entry.description};
    }
    pthread_mutex_unlock(&m->lock);
    return true;
}

/* What is seen there is told to whoever reads the description. */
static void add_seen_tools(PtcManager *m, PtcArena *arena, PtcCatalog *catalog, PtcListing **held)
{
    for (size_t i = 0, at = 0; i < m->count; i++) {
        const PtcEntry *e = &m->upstreams[i].entry;
        if (e->unusable.bytes || e->disabled)
            continue;
        PtcCatalogTool *tools =
            held[i] ? ptc_serve_seen_tools(m, arena, &m->upstreams[i], held[i]) : NULL;
        if (tools)
            catalog->servers[at].tools = tools;
        at++;
    }
}

void ptc_manager_describe(PtcManager *m, PtcBuf *out, size_t budget)
{
    PtcScratch scratch;
    PtcCatalog catalog = {0};
    ptc_scratch_init(&scratch, m->mem, PTC_LISTING_BYTES);
    PtcListing **held = ptc_arena_zalloc(&scratch.arena, (m->count + 1) * sizeof *held);
    bool gathered = held && gather_catalog(m, &scratch, &catalog, held);
    if (gathered)
        add_seen_tools(m, &scratch.arena, &catalog, held);
    if (gathered)
        (void)ptc_catalog_text_add(out, &scratch.heap, &catalog, budget);
    for (size_t i = 0; held && i < m->count; i++)
        ptc_listing_drop(held[i]);
    ptc_scratch_deinit(&scratch);
}

const PtcSecrets *ptc_manager_secrets(const PtcManager *m)
{
    return &m->told;
}

bool ptc_manager_key(PtcManager *m, const char *purpose, uint8_t key[32])
{
    uint8_t root[PTC_LISTING_CACHE_KEY];
    _Static_assert(sizeof root == PTC_SHA256_BYTES, "as long as PtcManagerConfig.root_key");
    if (m->config.root_key)
        memcpy(root, m->config.root_key, sizeof root);
    else if (!m->config.state_dir || !ptc_listing_cache_key(m->mem, m->config.state_dir, root))
        return false;
    ptc_hmac((PtcText){(const char *)root, sizeof root}, purpose, strlen(purpose), key);
    return true;
}

bool ptc_manager_is_read_only(PtcManager *m)
{
    bool all = true;
    if (m->config.posture == PTC_POSTURE_READ_ONLY)
        return true;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->count && all; i++) {
        const PtcListing *l = m->upstreams[i].listing;
        if (m->upstreams[i].entry.unusable.bytes || m->upstreams[i].entry.disabled)
            continue;
        all = l != NULL;
        for (size_t t = 0; all && t < l->server.count; t++)
            all = l->effects[t].kind == PTC_EFFECT_READ;
    }
    pthread_mutex_unlock(&m->lock);
    return all;
}
