/* SPDX-License-Identifier: MIT
 * ptc_exchanges.c - could one libcurl multi, on one thread, serve all HTTP exchanges?  Then nothing that this thread
 * does may take longer than a millisecond, because all others wait for it.  This drives N exchanges with one multi and
 * does with what comes what a link to an MCP server does (mcp/client/http_job.c): events are cut out of pieces, the
 * members of a message are found, the message is copied.  It counts CPU time of the thread, so a busy machine does not
 * matter.
 *
 *     ptc_exchanges URL N        prints one line of figures, in microseconds */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json/members.h"
#include "net/sse.h"

enum { SAMPLES = 4 * 1000 * 1000, LARGEST = 64 << 20 };

typedef struct Series {
    double *us;
    size_t count;
} Series;

static Series callbacks, turns;

typedef struct Exchange {
    PtcSse sse;
    PtcBuf kept;
    size_t messages;
} Exchange;

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void note(Series *s, double us)
{
    if (s->count < SAMPLES)
        s->us[s->count++] = us;
}

static bool on_event(void *user, PtcText name, PtcText data)
{
    Exchange *x = user;
    PtcText key, value;
    PtcMembers members = ptc_members_of(data);
    (void)name;
    while (!members.array && ptc_members_next(&members, &key, &value))
        x->messages += ptc_text_is(key, "result");
    x->kept.len = 0;
    return ptc_buf_add(&x->kept, data.bytes, data.len);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    Exchange *x = user;
    PtcWhy why;
    double begun = cpu_us();
    bool ok = ptc_sse_feed(&x->sse, (PtcText){bytes, size * count}, &why);
    note(&callbacks, cpu_us() - begun);
    return ok ? size * count : 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print(const char *what, Series *s)
{
    size_t late = 0;
    if (s->count == 0)
        return;
    for (size_t i = 0; i < s->count; i++)
        late += s->us[i] > 1000;
    qsort(s->us, s->count, sizeof *s->us, compare);
    printf("  %s: %zu, median %.0f, 99%% %.0f, largest %.0f us, %zu above 1 ms\n", what, s->count,
           s->us[s->count / 2], s->us[s->count * 99 / 100], s->us[s->count - 1], late);
}

static void add(CURLM *multi, PtcMem *mem, Exchange *x, const char *url)
{
    CURL *easy = curl_easy_init();
    ptc_sse_init(&x->sse, mem, LARGEST);
    ptc_buf_init(&x->kept, mem, LARGEST);
    x->sse.event = on_event;
    x->sse.user = x;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("BENCH_CA"));
    curl_multi_add_handle(multi, easy);
}

int main(int argc, char **argv)
{
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, messages = 0;
    PtcMem mem;
    Exchange *all = calloc(n, sizeof *all);
    callbacks.us = malloc(SAMPLES * sizeof(double));
    turns.us = malloc(SAMPLES * sizeof(double));
    if (!n || !all || !callbacks.us || !turns.us)
        return 2;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    for (size_t i = 0; i < n; i++)
        add(multi, &mem, &all[i], argv[1]);
    for (int running = 1; running;) {
        double begun = cpu_us();
        curl_multi_perform(multi, &running);
        note(&turns, cpu_us() - begun);
        curl_multi_poll(multi, NULL, 0, 50, NULL);
    }
    for (size_t i = 0; i < n; i++)
        messages += all[i].messages;
    printf("%s, %zu exchanges: %zu answers\n", argv[1], n, messages);
    print("callbacks", &callbacks);
    print("turns of the thread", &turns);
    return messages == n ? 0 : 1;
}
