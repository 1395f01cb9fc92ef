/* SPDX-License-Identifier: MIT
 * fuzz_llm_files.c - files that users give.  The first byte chooses: a list of models, a .env file, a script that is
 * asked until it ends, a record that is replayed; the second lets an allocation fail.  Nothing leaks, every answer is
 * whole. */
#define _GNU_SOURCE /* memfd_create */
#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/dotenv.h"
#include "base/utf8.h"
#include "json/check.h"
#include "llm/json_difference.h"
#include "llm/llm_json.h"
#include "llm/model_alias.h"
#include "llm/replay.h"
#include "llm/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool take_pair(void *user, PtcText name, PtcText value)
{
    size_t *count = user;
    assert(name.len > 0 && value.bytes && value.len <= PTC_DOTENV_BYTES);
    return ++*count < 1000;
}

static void read_dotenv(PtcText text, PtcMem *mem)
{
    size_t count = 0;
    (void)ptc_dotenv_parse(text, mem, take_pair, &count);
}

static void read_models(PtcText text, PtcMem *mem)
{
    PtcModelAliases aliases;
    PtcWhy why;
    ptc_model_alias_init(&aliases, mem);
    if (!ptc_model_alias_add(&aliases, text, &why))
        assert(why.text[0]);
    for (size_t i = 0; i < aliases.count; i++)
        assert(aliases.rows[i].provider && aliases.rows[i].id.len);
    ptc_model_alias_deinit(&aliases);
}

/* Asks a model a few times. */
static void ask(PtcModel *model, PtcMem *mem, PtcMem *calm)
{
    static const PtcMessage messages[] = {{.role = PTC_ROLE_USER, .content = {"hi", 2}}};
    for (int i = 0; i < 4; i++) {
        PtcArena arena;
        PtcLlmReply reply;
        PtcBuf json;
        PtcLlmRequest request = {.parts = {{messages, 1}, {NULL, 0}},
                                 .deadline_ns = ptc_clock_ns(NULL) + 1000000,
                                 .agent = {"", 0}};
        ptc_arena_init(&arena, mem);
        model->ask(model, &request, &arena, &reply);
        ptc_buf_init(&json, calm, SIZE_MAX / 2);
        ptc_llm_json_write_reply(&json, &reply);
        assert(ptc_json_is_line(json.data, json.len));
        ptc_buf_deinit(&json);
        ptc_arena_deinit(&arena);
    }
}

/* A record is read from a file, so it becomes one that is only in memory. */
static PtcModel *open_replay(const PtcReplayOptions *options, PtcText text, PtcWhy *why)
{
    char path[32];
    int fd = memfd_create("replay", MFD_CLOEXEC);
    ssize_t written = write(fd, text.bytes, text.len);
    assert(written == (ssize_t)text.len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    PtcModel *model = ptc_replay_open(options, path, why);
    close(fd);
    return model;
}

static void read_replies(PtcText text, bool replay, bool loose, PtcMem *mem, PtcMem *calm)
{
    PtcWhy why;
    PtcReplayOptions options = {.mem = mem, .name = "replay:x", .loose = loose};
    PtcModel *model = replay ? open_replay(&options, text, &why)
                             : ptc_script_new(mem, "script:x", text, NULL, &why);
    if (!model) {
        assert(why.text[0]);
        return;
    }
    ask(model, mem, calm);
    model->free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem, calm;
    if (size < 2)
        return 0;
    PtcText text = {(const char *)data + 2, size - 2};
    ptc_mem_init(&mem, 1 << 30);
    ptc_mem_init(&calm, SIZE_MAX / 2);
    if (data[1] >= 160)
        ptc_mem_fail_at(&mem, data[1] - 159);
    if (data[0] % 4 == 0)
        read_models(text, &mem);
    else if (data[0] % 4 == 1)
        read_dotenv(text, &mem);
    else
        read_replies(text, data[0] % 4 == 3, data[0] & 4, &mem, &calm);
    assert(atomic_load(&mem.used) == 0 && atomic_load(&calm.used) == 0);
    return 0;
}
