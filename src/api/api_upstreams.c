/* SPDX-License-Identifier: MIT
 * Upstreams for hosts, as ptc.h declares them: one file, or its text, and the manager over it.  What always holds:
 * everything lives in one ledger that is freed with the PtcUpstreamSet, and what the host passes in is copied. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api_int.h"
#include "base/os/whole_file.h"
#include "upstream/config/config.h"
#include "upstream/config/rule_check.h"
#include "upstream/config/variables.h"
#include "upstream/connect/manager.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

extern char **environ;

enum { API_HEAP_BYTES = 256 * PTC_MB, API_PATH_BYTES = 4096 };

struct PtcUpstreamSet {
    PtcMem mem;
    PtcScratch scratch;
    PtcManager *manager; /* NULL: the file names none */
    char cwd[API_PATH_BYTES], command[API_PATH_BYTES], cache_dir[API_PATH_BYTES],
        state_dir[API_PATH_BYTES];
    void (*log)(void *user, const char *line, size_t len);
    void *log_user;
};

void ptc_upstream_options_init(PtcUpstreamOptions *options, size_t size)
{
    PtcUpstreamOptions all = {.size = sizeof all, .call_timeout_ms = PTC_UNSET};
    api_copy_out(options, size, &all, sizeof all);
}

/* ---------------------------------------------------------------------------------- files */

/* A regular file, whose text lives in the arena; a pipe would make us wait. */
static PtcText read_config_file(PtcUpstreamSet *s, const char *path, const char **why)
{
    struct stat st;
    PtcBuf buf;
    char *kept = NULL;
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *why = fd < 0 || fstat(fd, &st) != 0 ? strerror(errno) : NULL;
    if (!*why && !S_ISREG(st.st_mode))
        *why = "it is not a regular file";
    ptc_buf_init(&buf, &s->mem, PTC_CONFIG_BYTES);
    if (!*why && !ptc_whole_file_read_from(fd, &buf))
        *why = buf.full ? "it is larger than 32 MiB" : "it cannot be read";
    if (!*why && !(kept = ptc_arena_alloc(&s->scratch.arena, buf.len + 1)))
        *why = "out of memory";
    if (kept && (len = buf.len))
        memcpy(kept, buf.data, len);
    ptc_buf_deinit(&buf);
    if (fd >= 0)
        close(fd);
    return kept ? (PtcText){kept, len} : (PtcText){NULL, 0};
}

static PtcText read_file_beside(void *user, PtcText path)
{
    const char *why;
    char name[API_PATH_BYTES];
    if (path.len >= sizeof name)
        return (PtcText){NULL, 0};
    memcpy(name, path.bytes, path.len);
    name[path.len] = '\0';
    return read_config_file(user, name, &why);
}

/* -------------------------------------------------------------------------------- options */

static bool read_posture(const char *word, PtcPosture *out)
{
    static const struct {
        const char *word;
        PtcPosture posture;
    } all[] = {{"default", PTC_POSTURE_DEFAULT},
               {"read-only", PTC_POSTURE_READ_ONLY},
               {"trusting", PTC_POSTURE_TRUSTING},
               {"allow-all", PTC_POSTURE_ALLOW_ALL}};
    *out = PTC_POSTURE_DEFAULT;
    for (size_t i = 0; word && i < sizeof all / sizeof *all; i++)
        if (strcmp(word, all[i].word) == 0) {
            *out = all[i].posture;
            return true;
        }
    return !word;
}

static bool copy_option_path(char out[API_PATH_BYTES], const char *path)
{
    return !path || (size_t)snprintf(out, API_PATH_BYTES, "%s", path) < API_PATH_BYTES;
}

/* The first `ptc` on the PATH that can be run; "" if there is none, and then only servers on the network can be
 * called. */
static void find_command(char out[API_PATH_BYTES])
{
    const char *at = getenv("PATH");
    out[0] = '\0';
    while (at && *at) {
        size_t n = strcspn(at, ":");
        int len =
            snprintf(out, API_PATH_BYTES, "%.*s/ptc", PTC_ARG_OF(at, n < API_PATH_BYTES ? n : 0));
        if (n && len > 0 && len < API_PATH_BYTES && access(out, X_OK) == 0)
            return;
        at += n + (at[n] == ':');
    }
    out[0] = '\0';
}

static void log_upstream_line(void *user, PtcText line)
{
    PtcUpstreamSet *s = user;
    s->log(s->log_user, line.bytes, line.len);
}

static void log_unused_rule(void *user, PtcText line)
{
    const PtcUpstreamSet *s = user;
    if (s->log)
        s->log(s->log_user, line.bytes, line.len);
}

/* ---------------------------------------------------------------------------------- opening */

static bool open_set_manager(PtcUpstreamSet *s, const PtcUpstreamOptions *o,
                             const PtcConfig *config, PtcPosture posture)
{
    PtcManagerConfig managed = {.heap = &s->scratch.heap,
                                .entries = config->upstreams,
                                .policy = config->policy,
                                .credentials = config->credentials,
                                .secrets = config->secrets,
                                .posture = posture,
                                .realm = "api:",
                                .approved = o->approved,
                                .cache_dir = s->cache_dir[0] ? s->cache_dir : NULL,
                                .state_dir = s->state_dir[0] ? s->state_dir : NULL,
                                .environment = (const char *const *)environ,
                                .leash = s->command,
                                .call_ms = o->call_timeout_ms > 0 ? o->call_timeout_ms : 0,
                                .log = s->log ? log_upstream_line : NULL,
                                .user = s};
    if (ptc_fields_count(config->upstreams) == 0)
        return true;
    s->manager = ptc_manager_new(&s->mem, &managed);
    return s->manager != NULL;
}

/* The first mistake, as people read it. */
static PtcStatus refuse_config(PtcUpstreamSet *s, const PtcConfig *config, const char *file,
                               char *error, size_t size)
{
    PtcBuf line;
    ptc_buf_init(&line, &s->mem, 4096);
    ptc_config_message(&line, &s->scratch.heap, ptc_text_cstr(file),
                       ptc_seq_nth(config->errors, 0));
    const char *text = ptc_buf_text(&line);
    PtcStatus status = api_refuse(PTC_BAD_DATA, error, size, text ? text : "out of memory");
    ptc_buf_deinit(&line);
    return status;
}

static PtcStatus open_set(PtcUpstreamSet *s, const PtcUpstreamOptions *o, PtcPosture posture,
                          char *error, size_t size)
{
    PtcConfig config;
    const char *why = NULL;
    char sentence[API_PATH_BYTES + 500];
    PtcWhy rule;
    const char *file = o->path ? o->path : "upstreams";
    PtcConfigIn in = {.text = o->json ? (PtcText){o->json, o->json_len}
                                      : read_config_file(s, o->path, &why),
                      .file = o->path ? ptc_text_cstr(o->path) : (PtcText){NULL, 0},
                      .project = ptc_text_cstr(s->cwd),
                      .dialect = o->json ? PTC_DIALECT_OURS : PTC_DIALECT_UNSET,
                      .variable = ptc_variables_environ,
                      .read = read_file_beside,
                      .user = s};
    if (!why && !ptc_config_read(&s->scratch.heap, &in, &config))
        return api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
    if (!why && !config.ok)
        return refuse_config(s, &config, file, error, size);
    if (!why && !ptc_rule_check_servers(&s->scratch.heap, config.upstreams, config.policy,
                                        log_unused_rule, s, &rule)) {
        snprintf(sentence, sizeof sentence, "%s: policy: %s", file, rule.text);
        return api_refuse(PTC_BAD_DATA, error, size, sentence);
    }
    if (!why)
        return open_set_manager(s, o, &config, posture)
                   ? PTC_OK
                   : api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
    snprintf(sentence, sizeof sentence, "%s: %s", file, why);
    return api_refuse(PTC_BAD_DATA, error, size, sentence);
}

/* As an engine, it lives in the ledger that it contains. */
static PtcUpstreamSet *alloc_set(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcUpstreamSet *s = ptc_mem_alloc(&mem, sizeof *s);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    ptc_mem_init(&s->mem, PTC_UNBOUNDED);
    ptc_scratch_init(&s->scratch, &s->mem, API_HEAP_BYTES);
    return s;
}

static bool copy_options(PtcUpstreamSet *s, const PtcUpstreamOptions *o)
{
    s->log = o->log;
    s->log_user = o->log_user;
    if (!getcwd(s->cwd, sizeof s->cwd))
        s->cwd[0] = '\0';
    if (!o->command)
        find_command(s->command);
    return copy_option_path(s->command, o->command) &&
           copy_option_path(s->cache_dir, o->cache_dir) &&
           copy_option_path(s->state_dir, o->state_dir);
}

PtcStatus ptc_upstream_set_new(const PtcUpstreamOptions *given, PtcUpstreamSet **out, char *error,
                               size_t size)
{
    PtcUpstreamOptions o = {.size = sizeof o, .call_timeout_ms = PTC_UNSET};
    PtcPosture posture;
    if (out)
        *out = NULL;
    if (!out || !given || !api_copy_in(&o, sizeof o, given))
        return api_refuse(PTC_BAD_ARGUMENT, error, size, PTC_API_NOT_MADE);
    if (!o.json == !o.path)
        return api_refuse(PTC_BAD_ARGUMENT, error, size, "give either json or path");
    if (!read_posture(o.policy, &posture))
        return api_refuse(PTC_BAD_ARGUMENT, error, size,
                          "policy must be default, read-only, trusting or allow-all");
    PtcUpstreamSet *s = alloc_set();
    if (!s)
        return api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
    PtcStatus status = copy_options(s, &o) ? open_set(s, &o, posture, error, size)
                                           : api_refuse(PTC_BAD_ARGUMENT, error, size,
                                                        "a path is longer than 4095 bytes");
    if (status == PTC_OK)
        *out = s;
    else
        ptc_upstream_set_free(s);
    return status;
}

void ptc_upstream_set_free(PtcUpstreamSet *s)
{
    PtcMem mem;
    if (!s)
        return;
    if (s->manager)
        ptc_manager_free(s->manager);
    ptc_scratch_deinit(&s->scratch);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *s);
    ptc_mem_free(&mem, s, sizeof *s);
}

/* -------------------------------------------------------------------------------------- use */

PtcStatus ptc_upstream_set_use(PtcUpstreamSet *s, Ptc *ptc)
{
    if (!api_idle(ptc))
        return PTC_BAD_ARGUMENT;
    ptc_engine_set_remote(ptc, s && s->manager ? ptc_manager_remote(s->manager) : NULL, NULL);
    return PTC_OK;
}

size_t ptc_upstream_set_count(const PtcUpstreamSet *s)
{
    return s && s->manager ? ptc_manager_count(s->manager) : 0;
}

bool ptc_upstream_set_state(PtcUpstreamSet *s, size_t index, PtcUpstreamStatus *state)
{
    PtcUpstreamState found;
    PtcUpstreamStatus all = {.size = sizeof all};
    if (index >= ptc_upstream_set_count(s) || !state || state->size < sizeof(size_t))
        return false;
    ptc_manager_state(s->manager, index, &found);
    all.name = found.name.bytes;
    all.state = ptc_manager_state_word(found.state);
    all.tools = found.tools;
    snprintf(all.reason, sizeof all.reason, "%s", found.reason);
    api_copy_out(state, state->size, &all, sizeof all);
    return true;
}
