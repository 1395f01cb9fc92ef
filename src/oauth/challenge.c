/* SPDX-License-Identifier: MIT
 * WWW-Authenticate, read forgivingly: challenges and their parameters are all divided by commas, so what follows a
 * comma is a parameter when an equals sign comes after its first word, and the next challenge otherwise. */
#include "oauth/challenge.h"

#include <strings.h>

#include "base/ascii.h"

typedef struct {
    PtcText text;
    size_t at;
} ChallengeReader;

static bool is_token_char(char c)
{
    return c > ' ' && c <= '~' && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

static char peek_challenge(const ChallengeReader *r)
{
    return r->at < r->text.len ? r->text.bytes[r->at] : '\0';
}

static void skip_challenge_chars(ChallengeReader *r, const char *chars)
{
    while (r->at < r->text.len && r->text.bytes[r->at] && strchr(chars, r->text.bytes[r->at]))
        r->at++;
}

static PtcText take_challenge_token(ChallengeReader *r)
{
    size_t begin = r->at;
    while (r->at < r->text.len && is_token_char(r->text.bytes[r->at]))
        r->at++;
    return (PtcText){r->text.bytes + begin, r->at - begin};
}

/* A value into `out` of `size` bytes, NULL: nobody wants it.  One that does not fit or is not plain leaves "". */
static void take_challenge_value(ChallengeReader *r, char *out, size_t size)
{
    size_t n = 0;
    bool quoted = peek_challenge(r) == '"', good = true;
    r->at += quoted;
    while (r->at < r->text.len) {
        char c = r->text.bytes[r->at];
        if (quoted ? c == '"' : c == ',' || ptc_ascii_is_blank(c))
            break;
        if (quoted && c == '\\' && r->at + 1 < r->text.len)
            c = r->text.bytes[++r->at];
        r->at++;
        good = good && c >= ' ' && c <= '~' && n + 1 < size;
        if (good && out)
            out[n++] = c;
    }
    r->at += quoted && r->at < r->text.len;
    if (out)
        out[good ? n : 0] = '\0';
}

static bool is_same_scheme(PtcText a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.bytes, b, a.len) == 0;
}

/* The first parameter of a name counts: a second one is an error of the server, or was added by somebody else. */
static void take_param(ChallengeReader *r, PtcText name, PtcChallenge *out)
{
    const struct {
        const char *name;
        char *field;
        size_t size;
    } fields[] = {{"resource_metadata", out->metadata, sizeof out->metadata},
                  {"scope", out->scope, sizeof out->scope},
                  {"error", out->error, sizeof out->error}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (is_same_scheme(name, fields[i].name) && !fields[i].field[0]) {
            take_challenge_value(r, fields[i].field, fields[i].size);
            return;
        }
    take_challenge_value(r, NULL, SIZE_MAX);
}

void ptc_challenge_parse(PtcText header, PtcChallenge *out)
{
    ChallengeReader r = {header, 0};
    PtcChallenge other = {0}; /* of another scheme */
    bool ours = false;
    *out = (PtcChallenge){0};
    while (r.at < r.text.len) {
        skip_challenge_chars(&r, " \t,");
        PtcText word = take_challenge_token(&r);
        skip_challenge_chars(&r, " \t");
        if (word.len && peek_challenge(&r) == '=') {
            r.at++;
            skip_challenge_chars(&r, " \t");
            take_param(&r, word, ours ? out : &other);
        } else if (word.len) {
            ours = !out->bearer && is_same_scheme(word, "Bearer");
            out->bearer |= ours;
        } else {
            while (r.at < r.text.len && peek_challenge(&r) != ',') /* neither: left out */
                r.at++;
        }
    }
}
