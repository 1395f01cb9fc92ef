/* SPDX-License-Identifier: MIT
 * fuzz_oauth.c - what servers say about OAuth: challenges, metadata, answers, redirects.  The first byte says which
 * reader, the second which allocation fails. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "oauth/challenge.h"
#include "oauth/oauth_answer.h"
#include "oauth/oauth_metadata.h"
#include "oauth/oauth_redirect.h"
#include "oauth/oauth_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Texts go into headers, forms and terminals. */
static void check_plain(const char *text)
{
    for (; text && *text; text++)
        assert(*text >= ' ' && *text <= '~');
}

static void challenge(PtcText text)
{
    PtcChallenge c;
    ptc_challenge_parse(text, &c);
    check_plain(c.metadata);
    check_plain(c.scope);
    check_plain(c.error);
    assert(c.bearer || (!c.metadata[0] && !c.scope[0] && !c.error[0]));
}

static void metadata(PtcMem *mem, PtcArena *arena, PtcText text)
{
    PtcOauthResource r;
    PtcOauthServer s;
    if (ptc_oauth_metadata_resource(mem, arena, text, "https://h.example/a/mcp", &r, NULL)) {
        assert(r.issuer_count && ptc_oauth_url_covers(r.resource, "https://h.example/a/mcp"));
        check_plain(r.scopes);
    }
    if (ptc_oauth_metadata_server(mem, arena, text, "https://as.example", &s, NULL)) {
        assert(s.token && strcmp(s.issuer, "https://as.example") == 0);
        check_plain(s.authorize);
    }
}

static void answers(PtcMem *mem, PtcArena *arena, PtcText text)
{
    PtcOauthTokens t;
    PtcOauthDevice d;
    PtcOauthClient c;
    PtcOauthError e;
    if (ptc_oauth_answer_tokens(mem, arena, text, &t, NULL)) {
        assert(t.access && t.expires_in >= -1 && !strchr(t.access, ' '));
        check_plain(t.access);
        check_plain(t.refresh);
    }
    if (ptc_oauth_answer_device(mem, arena, text, &d, NULL))
        check_plain(d.user_code);
    if (ptc_oauth_answer_client(mem, arena, text, PTC_OAUTH_AUTH_BASIC, &c, NULL))
        assert(c.id && (c.secret || c.auth == PTC_OAUTH_AUTH_NONE));
    ptc_oauth_answer_error(mem, arena, text, &e);
    check_plain(e.description);
}

static void redirect(PtcText text)
{
    PtcOauthRedirect r;
    PtcOauthServer s = {.issuer = "https://as.example", .iss = true};
    if (ptc_oauth_redirect_read(text, "S", &s, &r, NULL))
        assert(r.code[0] && !r.error[0]);
    check_plain(r.code);
    check_plain(r.description);
}

static void places(PtcMem *mem, PtcText text)
{
    PtcOauthPlaces p;
    PtcBuf copy;
    ptc_buf_init(&copy, mem, SIZE_MAX / 4);
    ptc_buf_add(&copy, text.bytes, text.len);
    const char *url = ptc_buf_text(&copy);
    if (url) {
        ptc_oauth_url_of_resource(url, &p);
        ptc_oauth_url_of_issuer(url, &p);
        (void)ptc_oauth_url_covers(url, "https://h.example/a/mcp");
    }
    ptc_buf_deinit(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    PtcArena arena;
    if (size < 3)
        return 0;
    char *copy = malloc(size - 2); /* ends where its block ends, so that reading on is found */
    memcpy(copy, data + 2, size - 2);
    PtcText text = {copy, size - 2};
    ptc_mem_init(&mem, (size_t)256 << 20);
    ptc_mem_fail_at(&mem, data[1]);
    ptc_arena_init(&arena, &mem);
    switch (data[0] % 5) {
    case 0: challenge(text); break;
    case 1: metadata(&mem, &arena, text); break;
    case 2: answers(&mem, &arena, text); break;
    case 3: redirect(text); break;
    default: places(&mem, text); break;
    }
    ptc_arena_deinit(&arena);
    assert(atomic_load(&mem.used) == 0);
    free(copy);
    return 0;
}
