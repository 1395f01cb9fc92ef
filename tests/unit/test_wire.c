/* SPDX-License-Identifier: MIT
 * Answers of providers (tests/wire) given to the parsers in pieces: cut in two at every byte, a byte at a time, in
 * threes.  What comes out is the same, and what the file says.  And with every allocation failing in turn nothing is
 * lost, in requests as little as in answers. */
#define _GNU_SOURCE /* memmem */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "json/emit.h"
#include "llm/json_difference.h"
#include "llm/llm_json.h"
#include "llm/provider/provider.h"
#include "llm/request_help.h"

static PtcMem mem;

/* One exchange of a file. */
typedef struct Exchange {
    const PtcDialect *dialect;
    PtcText request, answer, reply; /* sections */
    int status;
    bool json; /* the answer says that it is no stream */
    PtcBuf bytes;
} Exchange;

/* ------------------------------------------------------------------------------------ files */

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc((1 << 20) + 1);
    *len = file ? fread(text, 1, 1 << 20, file) : 0;
    text[*len] = 0;
    if (file)
        fclose(file);
    return text;
}

/* Text up to the next section, without the line feeds around it. */
static PtcText section(const char *from, const char *end)
{
    const char *stop = from;
    while (stop < end && !(strncmp(stop, "--- ", 4) == 0 && (stop == from || stop[-1] == '\n')))
        stop++;
    while (stop > from && stop[-1] == '\n')
        stop--;
    return (PtcText){from, (size_t)(stop - from)};
}

static uint32_t big_endian(uint32_t n)
{
    return __builtin_bswap32(n);
}

static void add_header(PtcBuf *out, const char *name, PtcText value)
{
    ptc_buf_add_char(out, (char)strlen(name));
    ptc_buf_add_cstr(out, name);
    ptc_buf_add(out, "\7", 1);
    ptc_buf_add_char(out, (char)(value.len >> 8));
    ptc_buf_add_char(out, (char)value.len);
    ptc_buf_add(out, value.bytes, value.len);
}

/* `event NAME JSON` as a message of AWS. */
static void add_event(PtcBuf *out, PtcText line)
{
    PtcBuf headers;
    const char *name = memchr(line.bytes, ' ', line.len);
    const char *json = memchr(name + 1, ' ', line.len - (size_t)(name + 1 - line.bytes));
    PtcText kind = {line.bytes, (size_t)(name - line.bytes)};
    PtcText payload = {json + 1, line.len - (size_t)(json + 1 - line.bytes)};
    size_t from = out->len;
    char head[32];
    snprintf(head, sizeof head, ":%.*s-type", (int)kind.len, kind.bytes);
    ptc_buf_init(&headers, &mem, 1 << 16);
    add_header(&headers, head, (PtcText){name + 1, (size_t)(json - name - 1)});
    add_header(&headers, ":message-type", kind);
    uint32_t lengths[2] = {big_endian((uint32_t)(16 + headers.len + payload.len)),
                           big_endian((uint32_t)headers.len)};
    ptc_buf_add(out, lengths, 8);
    uint32_t sum = big_endian(ptc_eventstream_crc32(0, lengths, 8));
    ptc_buf_add(out, &sum, 4);
    ptc_buf_add(out, headers.data, headers.len);
    ptc_buf_add(out, payload.bytes, payload.len);
    sum = big_endian(ptc_eventstream_crc32(0, out->data + from, out->len - from));
    ptc_buf_add(out, &sum, 4);
    ptc_buf_deinit(&headers);
}

static void add_events(PtcBuf *out, PtcText lines)
{
    while (lines.len) {
        const char *end = memchr(lines.bytes, '\n', lines.len);
        size_t n = end ? (size_t)(end - lines.bytes) : lines.len;
        add_event(out, (PtcText){lines.bytes, n});
        n += end != NULL;
        lines = (PtcText){lines.bytes + n, lines.len - n};
    }
}

/* Status, headers, an empty line, the bytes. */
static void open_answer(Exchange *e)
{
    const char *body = strstr(e->answer.bytes, "\n\n") + 2;
    PtcText bytes = {body, e->answer.len - (size_t)(body - e->answer.bytes)};
    PtcText head = {e->answer.bytes, (size_t)(body - e->answer.bytes)};
    e->status = (int)strtol(head.bytes, NULL, 10);
    e->json = memmem(head.bytes, head.len, "application/json", 16) != NULL;
    ptc_buf_init(&e->bytes, &mem, 1 << 20);
    if (memmem(head.bytes, head.len, "eventstream", 11)) {
        add_events(&e->bytes, bytes);
    } else {
        ptc_buf_add(&e->bytes, bytes.bytes, bytes.len);
        if (memmem(head.bytes, head.len, "event-stream", 12))
            ptc_buf_add_cstr(&e->bytes, "\n\n");
    }
}

/* ---------------------------------------------------------------------------------- feeding */

static bool take_piece(void *user, PtcText piece)
{
    return ptc_buf_add(user, piece.bytes, piece.len);
}

/* The reply to the answer in pieces of a size, the first of another; JSON, then the pieces of text. */
static bool play(const Exchange *e, size_t first, size_t step, PtcMem *call_log, PtcBuf *out)
{
    PtcJsonBox box;
    PtcArena arena;
    PtcLlmRequest request;
    PtcLlmReply reply;
    PtcWire wire;
    PtcBuf pieces;
    ptc_json_box_init(&box, &mem);
    ptc_arena_init(&arena, call_log);
    ptc_buf_init(&pieces, &mem, 1 << 20);
    PtcValue v = ptc_json_box_read(&box, e->request, NULL);
    PtcArena texts;
    ptc_arena_init(&texts, &mem);
    help_request(&box, &texts, v, &request);
    if (ptc_json_box_bool(&box, v, "stream")) {
        request.stream = take_piece;
        request.stream_user = &pieces;
    }
    ptc_wire_init(&wire, call_log, e->dialect, &request, NULL);
    wire.streaming = wire.streaming && !e->json;
    if (e->status == 200) {
        bool more = true;
        for (size_t at = 0, n = first; more && at < e->bytes.len; at += n, n = step) {
            n = n < e->bytes.len - at ? n : e->bytes.len - at;
            more = ptc_wire_feed(&wire, (PtcText){e->bytes.data + at, n});
        }
        ptc_wire_end(&wire);
        ptc_reply_finish(&wire.reply, &arena, &reply);
        ptc_llm_json_write_reply(out, &reply);
        ptc_buf_add(out, pieces.data, pieces.len);
    }
    bool whole = e->status != 200 || reply.status != PTC_LLM_NO_MEMORY;
    ptc_wire_deinit(&wire);
    ptc_arena_deinit(&arena);
    ptc_arena_deinit(&texts);
    ptc_buf_deinit(&pieces);
    ptc_json_box_deinit(&box);
    return whole;
}

static void compare(const Exchange *e, const PtcBuf *whole, size_t first, size_t step)
{
    PtcBuf got;
    ptc_buf_init(&got, &mem, 1 << 20);
    play(e, first, step, &mem, &got);
    CHECK(ptc_text_same(ptc_buf_view(whole), ptc_buf_view(&got)));
    ptc_buf_deinit(&got);
}

/* What came out is what the file says. */
static void check_reply(const Exchange *e, const PtcBuf *whole)
{
    PtcJsonBox box;
    PtcBuf words;
    PtcJsonError error;
    size_t used;
    ptc_json_box_init(&box, &mem);
    ptc_buf_init(&words, &mem, 4096);
    PtcValue want = ptc_json_box_read(&box, e->reply, NULL);
    PtcValue got = ptc_json_parse_prefix(&box.heap, whole->data, whole->len, &used, &error);
    bool same =
        want != PTC_NONE && got != PTC_NONE && !ptc_json_difference(&box, want, got, &words);
    CHECK(same);
    if (!same)
        printf("  %.*s\n", (int)words.len, words.data ? words.data : "");
    ptc_buf_deinit(&words);
    ptc_json_box_deinit(&box);
}

static void fail_allocations(const Exchange *e)
{
    bool whole = false;
    for (uint64_t n = 1; !whole && n < 2000; n++) {
        PtcMem call_log;
        PtcBuf out;
        ptc_mem_init(&call_log, SIZE_MAX / 2);
        ptc_mem_fail_at(&call_log, n);
        ptc_buf_init(&out, &mem, 1 << 20);
        play(e, 7, 7, &call_log, &out);
        whole = atomic_load(&call_log.count) < n; /* it needed fewer than that */
        CHECK(atomic_load(&call_log.used) == 0);
        ptc_buf_deinit(&out);
    }
    CHECK(whole);
}

static void check_exchange(Exchange *e)
{
    PtcBuf whole;
    ptc_buf_init(&whole, &mem, 1 << 20);
    open_answer(e);
    play(e, SIZE_MAX, SIZE_MAX, &mem, &whole);
    if (e->status == 200) {
        check_reply(e, &whole);
        for (size_t at = 1; at < e->bytes.len; at++)
            compare(e, &whole, at, SIZE_MAX);
        compare(e, &whole, 1, 1);
        compare(e, &whole, 2, 3);
        fail_allocations(e);
    }
    ptc_buf_deinit(&whole);
    ptc_buf_deinit(&e->bytes);
}

/* ---------------------------------------------------------------------------------- writing */

typedef struct Asked {
    const char *provider, *model, *opaque;
} Asked;

static void write_request(const Asked *asked, const PtcLlmRequest *r, PtcMem *call_log, PtcBuf *out)
{
    PtcJsonBox box;
    const PtcProvider *provider = ptc_provider_find(ptc_text_cstr(asked->provider));
    PtcTarget target = {provider, ptc_text_cstr(asked->model), PTC_TEXT("https://example.org")};
    PtcWireOut w = {out, provider->dialect, &target, r, false, false, &box};
    ptc_json_box_init(&box, call_log);
    provider->dialect->write(&w);
    ptc_json_box_deinit(&box);
}

/* With every allocation failing in turn: the whole body or none. */
static void fail_request(const Asked *asked, const PtcLlmRequest *r)
{
    PtcBuf whole;
    bool enough = false;
    ptc_buf_init(&whole, &mem, 1 << 20);
    write_request(asked, r, &mem, &whole);
    CHECK(ptc_buf_ok(&whole) && memmem(whole.data, whole.len, "{\\\"q\\\":1}", 9) !=
                                    memmem(whole.data, whole.len, "{\"q\":1}", 7));
    for (uint64_t n = 1; !enough && n < 500; n++) {
        PtcMem call_log;
        PtcBuf out;
        ptc_mem_init(&call_log, SIZE_MAX / 2);
        ptc_mem_fail_at(&call_log, n);
        ptc_buf_init(&out, &call_log, 1 << 20);
        write_request(asked, r, &call_log, &out);
        enough = atomic_load(&call_log.count) < n;
        bool same = out.len == whole.len && memcmp(out.data, whole.data, out.len) == 0;
        CHECK(same || !ptc_buf_ok(&out));
        if (!same && ptc_buf_ok(&out))
            printf("  %s, allocation %d: %.*s\n", asked->provider, (int)n, (int)out.len, out.data);
        ptc_buf_deinit(&out);
        CHECK(atomic_load(&call_log.used) == 0);
    }
    CHECK(enough);
    ptc_buf_deinit(&whole);
}

/* Counts that make no sense stay counts. */
static void test_odd_counts(void)
{
    static const char stream[] =
        "event: message_start\ndata: "
        "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,"
        "\"cache_read_input_tokens\":1e300,\"cache_creation_input_tokens\":2000000000}}}\n\n"
        "event: message_delta\ndata: "
        "{\"type\":\"message_delta\",\"usage\":{\"cache_read_input_tokens\":0,"
        "\"cache_creation_input_tokens\":0,\"output_tokens\":-7}}\n\n"
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    PtcBuf pieces;
    ptc_buf_init(&pieces, &mem, 100);
    PtcLlmRequest request = {.stream = take_piece, .stream_user = &pieces};
    PtcWire wire;
    ptc_wire_init(&wire, &mem, ptc_provider_find(PTC_TEXT("anthropic"))->dialect, &request, NULL);
    ptc_wire_feed(&wire, ptc_text_cstr(stream));
    ptc_wire_end(&wire);
    const PtcTokens *t = &wire.reply.tokens;
    CHECK(t->input >= 0 && t->input <= PTC_WIRE_TOKENS && t->output == 0);
    CHECK(t->cache_read == 0 && t->cache_creation == 0);
    ptc_wire_deinit(&wire);
    ptc_buf_deinit(&pieces);
}

static void *add_secrets(void *user)
{
    PtcProviderKeys *keys = user;
    bool ok = true;
    for (int i = 0; i < 200; i++) {
        char text[40];
        snprintf(text, sizeof text, "secret-number-%d-of-many", i);
        ok = ptc_secrets_add(&keys->told, text, strlen(text)) && ok;
    }
    return ok ? user : NULL;
}

/* Replies are finished while another thread gets to know secrets. */
static void test_secrets_meanwhile(void)
{
    PtcProviderKeys keys = {0};
    PtcLlmRequest request = {0};
    pthread_t thread;
    ptc_secrets_init(&keys.told, &mem, PTC_SECRET_MIN_TOLD);
    CHECK(pthread_create(&thread, NULL, add_secrets, &keys) == 0);
    for (int i = 0; i < 200; i++) {
        PtcArena arena;
        PtcReply reply;
        PtcLlmReply out;
        ptc_arena_init(&arena, &mem);
        ptc_reply_init(&reply, &mem, &request, &keys);
        ptc_reply_add_text(&reply, PTC_TEXT("nothing to hide"));
        ptc_reply_finish(&reply, &arena, &out);
        CHECK(ptc_text_is(out.text, "nothing to hide"));
        ptc_reply_deinit(&reply);
        ptc_arena_deinit(&arena);
    }
    void *done;
    CHECK(pthread_join(thread, &done) == 0 && done == &keys);
    ptc_secrets_deinit(&keys.told);
}

static const Asked places[] = {
    {"anthropic", "claude-opus-4-6",
     "{\"anthropic\":[{\"type\":\"thinking\",\"thinking\":\"t\"}]}"},
    {"bedrock", "anthropic.claude-opus-4-6", "{\"bedrock\":[{\"reasoningContent\":{}}]}"},
    {"google", "gemini-3-pro", NULL},
    {"google", "gemini-3-pro",
     "{\"gemini\":[{\"functionCall\":{\"id\":\"1\",\"args\":{\"q\":1}}}]}"},
    {"ollama", "llama", NULL},
    {"openai", "gpt-5", NULL},
    {"openrouter", "x/y", "{\"openai\":[{\"type\":\"reasoning.text\",\"text\":\"t\"}]}"},
};

static void test_request_memory(void)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        PtcMessageCall call = {PTC_TEXT("1"), PTC_TEXT("f"), PTC_TEXT("{\"q\":1}")};
        PtcMessage messages[] = {{.role = PTC_ROLE_USER, .content = PTC_TEXT("question")},
                                 {.role = PTC_ROLE_ASSISTANT,
                                  .calls = &call,
                                  .call_count = 1,
                                  .opaque = ptc_text_cstr(places[i].opaque)},
                                 {.role = PTC_ROLE_TOOL,
                                  .content = PTC_TEXT("{\"r\":[1]}"),
                                  .call_id = PTC_TEXT("1"),
                                  .call_name = PTC_TEXT("f")}};
        PtcLlmRequest r = {.parts = {{messages, 3}}};
        r.schema = PTC_TEXT("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
                            "\"required\":[\"n\"],\"additionalProperties\":false}");
        fail_request(&places[i], &r);
    }
}

/* What earlier calls were given takes more room as values than may be there at one time. */
static void test_many_arguments(void)
{
    enum { CALLS = 56, ITEMS = 70 * 1024 };
    PtcBuf args, out;
    PtcMessageCall calls[CALLS];
    ptc_buf_init(&args, &mem, SIZE_MAX / 2);
    ptc_buf_add_cstr(&args, "{\"q\":[0");
    for (size_t i = 0; i < ITEMS; i++)
        ptc_buf_add_cstr(&args, ",[[[1]]]");
    ptc_buf_add_cstr(&args, "]}");
    for (size_t i = 0; i < CALLS; i++)
        calls[i] = (PtcMessageCall){PTC_TEXT("1"), PTC_TEXT("f"), ptc_buf_view(&args)};
    PtcMessage message = {.role = PTC_ROLE_ASSISTANT, .calls = calls, .call_count = CALLS};
    PtcLlmRequest r = {.parts = {{&message, 1}}};
    ptc_buf_init(&out, &mem, PTC_LLM_REQUEST_BYTES);
    write_request(&places[0], &r, &mem, &out);
    CHECK(ptc_buf_ok(&out) && out.len > CALLS * args.len);
    ptc_buf_deinit(&out);
    ptc_buf_deinit(&args);
}

/* Google's parts are looked at once for every result that follows them. */
static void test_many_results(void)
{
    enum { RESULTS = 60, ITEMS = 70 * 1024 };
    PtcBuf parts, out;
    PtcMessage messages[1 + RESULTS] = {{.role = PTC_ROLE_ASSISTANT}};
    ptc_buf_init(&parts, &mem, SIZE_MAX / 2);
    ptc_buf_add_cstr(&parts, "{\"gemini\":[{\"functionCall\":{\"id\":\"1\",\"args\":{\"q\":[0");
    for (size_t i = 0; i < ITEMS; i++)
        ptc_buf_add_cstr(&parts, ",[[[1]]]");
    ptc_buf_add_cstr(&parts, "]}}}]}");
    messages[0].opaque = ptc_buf_view(&parts);
    for (size_t i = 1; i <= RESULTS; i++)
        messages[i] = (PtcMessage){.role = PTC_ROLE_TOOL,
                                   .content = PTC_TEXT("{\"r\":1}"),
                                   .call_id = PTC_TEXT("1"),
                                   .call_name = PTC_TEXT("f")};
    PtcLlmRequest r = {.parts = {{messages, 1 + RESULTS}}};
    PtcText want =
        PTC_TEXT("{\"functionResponse\":{\"id\":\"1\",\"name\":\"f\",\"response\":{\"r\":1}}}]}");
    ptc_buf_init(&out, &mem, PTC_LLM_REQUEST_BYTES);
    write_request(&places[2], &r, &mem, &out);
    CHECK(ptc_buf_ok(&out) && memmem(out.data, out.len, want.bytes, want.len));
    ptc_buf_deinit(&out);
    ptc_buf_deinit(&parts);
}

/* ------------------------------------------------------------------------------------ files */

static int check_file(const char *path)
{
    size_t len;
    int count = 0;
    char *text = read_file(path, &len), *end = text + len;
    const char *model = strstr(text, "\nmodel: ") + 8;
    Exchange e = {0};
    const PtcProvider *provider =
        ptc_provider_find((PtcText){model, (size_t)(strchr(model, ':') - model)});
    CHECK(provider != NULL);
    e.dialect = provider ? provider->dialect : NULL;
    for (const char *at = text; provider && at && (at = strstr(at, "\n--- ")) != NULL;) {
        at += 5;
        const char *line = strchr(at, '\n') + 1;
        PtcText body = section(line, end);
        if (strncmp(at, "request\n", 8) == 0)
            e.request = body;
        if (strncmp(at, "answer\n", 7) == 0)
            e.answer = body;
        if (strncmp(at, "reply\n", 6) == 0) {
            e.reply = body;
            check_exchange(&e);
            count++;
        }
    }
    free(text);
    return count;
}

/* Requests that are not the same are never taken for the same, even if they cannot be written down. */
static void test_difference_without_memory(void)
{
    PtcMem call_log;
    PtcJsonBox box;
    PtcBuf words;
    ptc_mem_init(&call_log, SIZE_MAX / 2);
    ptc_json_box_init(&box, &call_log);
    ptc_buf_init(&words, &mem, 1024);
    PtcValue then = ptc_json_box_read(&box, PTC_TEXT("{\"a\":1}"), NULL);
    PtcValue now = ptc_json_box_read(&box, PTC_TEXT("{\"a\":2}"), NULL);
    CHECK(then != PTC_NONE && now != PTC_NONE);
    call_log.limit = atomic_load(&call_log.used);
    CHECK(ptc_json_difference(&box, then, now, &words));
    ptc_buf_deinit(&words);
    ptc_json_box_deinit(&box);
}

int main(void)
{
    int count = 0;
    DIR *dir = opendir("tests/wire");
    ptc_mem_init(&mem, SIZE_MAX / 2);
    CHECK_RUN(test_odd_counts());
    CHECK_RUN(test_difference_without_memory());
    CHECK_RUN(test_secrets_meanwhile());
    CHECK_RUN(test_request_memory());
    CHECK_RUN(test_many_arguments());
    CHECK_RUN(test_many_results());
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char path[300];
        snprintf(path, sizeof path, "tests/wire/%.200s", entry->d_name);
        if (strstr(entry->d_name, ".wire"))
            count += check_file(path);
    }
    if (dir)
        closedir(dir);
    CHECK(count >= 40);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("wire");
}
