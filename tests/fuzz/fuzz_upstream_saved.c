/* SPDX-License-Identifier: MIT
 * fuzz_upstream_saved.c - any bytes as a run that another process has written.  The first byte says which allocation
 * fails.  What can be read can be asked about, decided and written, and what was written reads back. */
#define _GNU_SOURCE
#include "unit/manager_help.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static World world;

/* Nothing is ever started. */
static void open_once(void)
{
    static const char *const path[] = {NULL};
    PtcConfigIn in = {.text = PTC_TEXT("{\"upstreams\":{\"s\":{\"command\":\"true\"}}}"),
                      .file = PTC_TEXT("u.json"),
                      .project = PTC_TEXT("/"),
                      .dialect = PTC_DIALECT_OURS,
                      .variable = world_variable,
                      .read = world_file,
                      .user = &world};
    ptc_mem_init(&world.mem, (size_t)256 << 20);
    ptc_scratch_init(&world.scratch, &world.mem, 64 << 20);
    bool ok = ptc_config_read(&world.scratch.heap, &in, &world.config);
    PtcManagerConfig config = {.heap = &world.scratch.heap,
                               .entries = world.config.upstreams,
                               .policy = PTC_NONE,
                               .credentials = PTC_NONE,
                               .secrets = PTC_NONE,
                               .places = PTC_NONE,
                               .environment = path};
    world.manager = ok ? ptc_manager_new(&world.mem, &config) : NULL;
    assert(world.manager);
    world.remote = ptc_manager_remote(world.manager);
}

static void use_run(PtcRemote *remote, void *run, uint8_t how)
{
    static const PtcRemoteDecision decisions[] = {PTC_REMOTE_ONCE, PTC_REMOTE_RUN, PTC_REMOTE_NO};
    PtcMem own;
    PtcBuf text, json, saved;
    uint64_t version;
    ptc_mem_init(&own, (size_t)256 << 20);
    ptc_buf_init(&text, &own, 1 << 20);
    ptc_buf_init(&json, &own, 1 << 20);
    ptc_buf_init(&saved, &own, 64 << 20);
    size_t n = remote->question(run, &text, &json);
    assert(n <= remote->question(run, NULL, NULL));
    uint64_t number = remote->inquiry(run, 0, &text);
    if (number && how & 1)
        remote->reply(run, number, PTC_TEXT("{\"action\":\"decline\"}"));
    (void)remote->decide(run, decisions[how % 3], NULL);
    (void)remote->effects(run, &json);
    if (remote->save(run, &saved)) {
        void *back = remote->restore(remote, "me", ptc_buf_view(&saved));
        assert(back);
        remote->again(back, INT64_MAX, NULL, &version);
        remote->end(back, &json);
    }
    remote->again(run, INT64_MAX, NULL, &version);
    remote->end(run, &json);
    ptc_buf_deinit(&text);
    ptc_buf_deinit(&json);
    ptc_buf_deinit(&saved);
}

/* Did it leave something behind? */
static bool try_bytes(const uint8_t *data, size_t size)
{
    size_t before = atomic_load(&world.mem.used);
    char *copy = malloc(size - 1);
    memcpy(copy, data + 1, size - 1);
    ptc_mem_fail_at(&world.mem, data[0]);
    void *run = world.remote->restore(world.remote, "me", (PtcText){copy, size - 1});
    ptc_mem_fail_at(&world.mem, 0);
    free(copy);
    if (run)
        use_run(world.remote, run, data[1]);
    return atomic_load(&world.mem.used) != before;
}

/* What is left the first time is kept for the next. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!world.manager)
        open_once();
    if (size >= 2 && try_bytes(data, size)) {
        bool left = try_bytes(data, size);
        assert(!left);
        (void)left;
    }
    return 0;
}
