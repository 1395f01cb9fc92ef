/* SPDX-License-Identifier: MIT
 * driver.c - asks models from outside, for the tests in this directory.
 *
 *     driver [--dotenv FILE] [--models FILE] [--record FILE] [--loose] [--connect-ms N] [--silence-ms N]
 *            [--trust host|file|program] [--memory-mb N] [SPEC]
 *
 * A request a line on standard input (request_help.h), an answer a line on standard output:
 *     {"reply": {...}, "pieces": [...], "ms": N, "late_ms": N (after it was cancelled)}
 * Beside the request a line may have "body": true (the body is printed, nothing is sent), "cancel_ms": N (cancelled
 * after that), "stop_after": N (the reader of pieces stops), "threads": N (asked by so many at once, an answer each),
 * "fail_at": N (the N-th allocation from then on and the next fail; the answer has "count", how many there were). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json/emit.h"
#include "llm/llm_json.h"
#include "llm/model_spec.h"
#include "llm/provider/provider_keys.h"
#include "llm/record_model.h"
#include "net/client.h"
#include "request_help.h"

typedef struct Settings {
    const char *dotenv, *models, *record, *trust, *spec;
    bool loose;
    long connect_ms, silence_ms, memory_mb;
} Settings;

static PtcMem mem;
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------------------------- asking */

typedef struct Asking {
    PtcModels *models;
    PtcModel *model;
    PtcText line;
    pthread_t thread;
} Asking;

typedef struct Reader {
    PtcBuf pieces; /* a JSON array in the making */
    int64_t count, stop_after;
} Reader;

static bool on_piece(void *user, PtcText piece)
{
    Reader *r = user;
    ptc_emit_text(&r->pieces, piece);
    return ++r->count != r->stop_after;
}

/* Cancels after a while. */
typedef struct Timer {
    PtcCancel cancel;
    int64_t ms;
    _Atomic int64_t asked_ns; /* when it did; 0: not yet */
    atomic_bool over;
    pthread_t thread;
} Timer;

static void *run_timer(void *user)
{
    Timer *t = user;
    int64_t end = ptc_clock_ns(NULL) + t->ms * 1000000;
    while (ptc_clock_ns(NULL) < end && !atomic_load(&t->over))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_store(&t->asked_ns, ptc_clock_ns(NULL));
    atomic_store(&t->cancel.asked, true);
    return NULL;
}

static void print_answer(const PtcLlmReply *reply, Reader *reader, int64_t ns, int64_t late_ns,
                         uint64_t count)
{
    PtcBuf out;
    ptc_emit_array_end(&reader->pieces);
    ptc_buf_init(&out, &mem, SIZE_MAX / 2);
    ptc_emit_object(&out);
    ptc_emit_key(&out, "reply");
    ptc_llm_json_write_reply(&out, reply);
    ptc_emit_field_raw(&out, "pieces", ptc_buf_view(&reader->pieces));
    ptc_emit_field_int(&out, "ms", ns / 1000000);
    if (late_ns)
        ptc_emit_field_int(&out, "late_ms", late_ns / 1000000);
    if (count)
        ptc_emit_field_uint(&out, "count", count);
    ptc_emit_object_end(&out);
    pthread_mutex_lock(&print_lock);
    printf("%.*s\n", (int)out.len, out.data);
    fflush(stdout);
    pthread_mutex_unlock(&print_lock);
    ptc_buf_deinit(&out);
}

static void ask(const Asking *a, PtcJsonBox *box, PtcArena *arena, PtcValue v)
{
    PtcLlmRequest request;
    PtcLlmReply reply;
    Reader reader = {.stop_after = ptc_json_box_count(box, v, "stop_after", 1 << 30, -1)};
    Timer timer = {.ms = ptc_json_box_count(box, v, "cancel_ms", 1 << 30, -1)};
    help_request(box, arena, v, &request);
    ptc_buf_init(&reader.pieces, &mem, SIZE_MAX / 2);
    ptc_emit_array(&reader.pieces);
    if (ptc_json_box_bool(box, v, "stream")) {
        request.stream = on_piece;
        request.stream_user = &reader;
    }
    request.cancel = &timer.cancel;
    if (timer.ms >= 0)
        pthread_create(&timer.thread, NULL, run_timer, &timer);
    int64_t fail_at = ptc_json_box_count(box, v, "fail_at", 1 << 30, 0);
    ptc_mem_fail_at(&mem, (uint64_t)fail_at);
    int64_t begun = ptc_clock_ns(NULL);
    a->model->ask(a->model, &request, arena, &reply);
    uint64_t count = atomic_load(&mem.count);
    ptc_mem_fail_at(&mem, 0);
    int64_t end = ptc_clock_ns(NULL), asked = atomic_load(&timer.asked_ns);
    atomic_store(&timer.over, true);
    if (timer.ms >= 0)
        pthread_join(timer.thread, NULL);
    print_answer(&reply, &reader, end - begun, asked ? end - asked : 0, fail_at ? count : 0);
    ptc_buf_deinit(&reader.pieces);
}

static void print_body(const Asking *a, PtcJsonBox *box, PtcArena *arena, PtcValue v)
{
    PtcBuf body;
    PtcLlmRequest request;
    help_request(box, arena, v, &request);
    ptc_buf_init(&body, &mem, SIZE_MAX / 2);
    bool ok = a->model->body(a->model, &request, &body);
    printf("%.*s\n", ok ? (int)body.len : 6, ok ? body.data : "failed");
    fflush(stdout);
    ptc_buf_deinit(&body);
}

static void *run_line(void *user)
{
    const Asking *a = user;
    PtcJsonBox box;
    PtcArena arena;
    PtcWhy why;
    ptc_json_box_init(&box, &mem);
    ptc_arena_init(&arena, &mem);
    PtcValue v = ptc_json_box_read(&box, a->line, &why);
    if (v == PTC_NONE)
        printf("{\"bad\":\"%s\"}\n", why.text);
    else if (ptc_json_box_bool(&box, v, "body"))
        print_body(a, &box, &arena, v);
    else
        ask(a, &box, &arena, v);
    ptc_arena_deinit(&arena);
    ptc_json_box_deinit(&box);
    return NULL;
}

/* ------------------------------------------------------------------------------------ main */

enum { THREADS_MAX = 512 };

static long thread_count(PtcText line)
{
    const char *at = strstr(line.bytes, "\"threads\":");
    long n = at ? strtol(at + 10, NULL, 10) : 1;
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : n;
}

static void run_threads(PtcModels *models, PtcModel *model, PtcText line)
{
    static Asking asking[THREADS_MAX];
    long n = thread_count(line);
    for (long i = 0; i < n; i++)
        asking[i] = (Asking){.models = models, .model = model, .line = line};
    if (n == 1) {
        run_line(&asking[0]);
        return;
    }
    for (long i = 0; i < n; i++)
        pthread_create(&asking[i].thread, NULL, run_line, &asking[i]);
    for (long i = 0; i < n; i++)
        pthread_join(asking[i].thread, NULL);
}

static PtcTrust trust_of(const char *word)
{
    return !word || strcmp(word, "host") == 0 ? PTC_TRUST_HOST
           : strcmp(word, "file") == 0        ? PTC_TRUST_FILE
                                              : PTC_TRUST_PROGRAM;
}

static int complain(const char *why)
{
    printf("{\"refused\":\"");
    for (; *why; why++)
        printf(*why == '"' || *why == '\\' ? "\\%c" : "%c", *why);
    printf("\"}\n");
    return 2;
}

static int run(const Settings *s, PtcModels *models)
{
    PtcWhy why;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    PtcRecordFile *file = NULL;
    PtcModel *recorder = NULL;
    if (s->models && !ptc_models_add_file(models, s->models, &why))
        return complain(why.text);
    PtcModel *model = ptc_model_open(models, ptc_text_cstr(s->spec), trust_of(s->trust), &why);
    if (!model)
        return complain(why.text);
    if (s->record) {
        file = ptc_record_file_open(&mem, s->record, ptc_models_keys(models), &why);
        recorder = file ? ptc_record_model_new(&mem, file, model) : NULL;
        if (!recorder) {
            model->free(model);
            return complain(why.text);
        }
    }
    while ((n = getline(&line, &cap, stdin)) > 0)
        run_threads(models, recorder ? recorder : model, (PtcText){line, (size_t)n});
    free(line);
    if (recorder)
        recorder->free(recorder);
    else
        model->free(model);
    bool ok = !file || ptc_record_file_close(file, &why);
    return ok ? 0 : complain(why.text);
}

static void read_options(int argc, char **argv, Settings *s)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        const struct {
            const char *name;
            const char **text;
            long *number;
        } rows[] = {
            {"--dotenv", &s->dotenv, NULL},         {"--models", &s->models, NULL},
            {"--record", &s->record, NULL},         {"--trust", &s->trust, NULL},
            {"--connect-ms", NULL, &s->connect_ms}, {"--silence-ms", NULL, &s->silence_ms},
            {"--memory-mb", NULL, &s->memory_mb},
        };
        size_t k = 0;
        while (k < sizeof rows / sizeof *rows && strcmp(argv[i], rows[k].name) != 0)
            k++;
        if (strcmp(argv[i], "--loose") == 0) {
            s->loose = true;
        } else if (k == sizeof rows / sizeof *rows) {
            s->spec = argv[i];
        } else {
            if (rows[k].text)
                *rows[k].text = value;
            else
                *rows[k].number = strtol(value, NULL, 10);
            i++;
        }
    }
}

int main(int argc, char **argv)
{
    PtcWhy why;
    Settings s = {.spec = ""};
    read_options(argc, argv, &s);
    ptc_mem_init(&mem, s.memory_mb ? (size_t)s.memory_mb << 20 : SIZE_MAX / 2);
    PtcModels *models = ptc_models_new(&(PtcModelsOptions){.mem = &mem,
                                                           .dotenv = s.dotenv,
                                                           .connect_ms = s.connect_ms,
                                                           .silence_ms = s.silence_ms,
                                                           .replay_loose = s.loose},
                                       &why);
    if (!models)
        return complain(why.text);
    int status = run(&s, models);
    ptc_models_free(models);
    if (status == 0 && atomic_load(&mem.used) != 0)
        return complain("memory was not given back");
    return status;
}
