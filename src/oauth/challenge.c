/* SPDX-License-Identifier: MIT
 * WWW-Authenticate, read forgivingly: challenges and their parameters are all divided by commas, so what follows a
 * comma is a parameter when an equals sign comes after its first word, and the next challenge otherwise. */
#include "oauth/challenge.h"

#include <strings.h>

typedef struct {
    PtcText text;
    size_t at;
} Reader;

static bool is_token(char c)
{
    return c > ' ' && c <= '~' && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

static char here(const Reader *r)
{
    return r->at < r->text.len ? r->text.bytes[r->at] : '\0';
}

static void skip(Reader *r, const char *chars)
{
    while (r->at < r->text.len && r->text.bytes[r->at] && strchr(chars, r->text.bytes[r->at]))
        r->at++;
}

static PtcText take_token(Reader *r)
{
    size_t begin = r->at;
    while (r->at < r->text.len && is_token(r->text.bytes[r->at]))
        r->at++;
    return (PtcText){r->text.bytes + begin, r->at - begin};
}

/* A value into `out` of `size` bytes, NULL: nobody wants it.  One that does not fit or is not plain leaves "". */
static void take_value(Reader *r, char *out, size_t size)
{
    size_t n = 0;
    bool quoted = here(r) == '"', good = true;
    r->at += quoted;
    while (r->at < r->text.len) {
        char c = r->text.bytes[r->at];
        if (quoted ? c == '"' : c == ',' || c == ' ' || c == '\t')
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

static bool same_word(PtcText a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.bytes, b, a.len) == 0;
}

/* The first parameter of a name counts: a second one is an error of the server, or was added by somebody else. */
static void take_param(Reader *r, PtcText name, PtcChallenge *out)
{
    const struct {
        const char *name;
        char *field;
        size_t size;
    } fields[] = {{"resource_metadata", out->metadata, sizeof out->metadata},
                  {"scope", out->scope, sizeof out->scope},
                  {"error", out->error, sizeof out->error}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (same_word(name, fields[i].name) && !fields[i].field[0]) {
            take_value(r, fields[i].field, fields[i].size);
            return;
        }
    take_value(r, NULL, SIZE_MAX);
}

void ptc_challenge_parse(PtcText header, PtcChallenge *out)
{
    Reader r = {header, 0};
    PtcChallenge other = {0}; /* of another scheme */
    bool ours = false;
    *out = (PtcChallenge){0};
    while (r.at < r.text.len) {
        skip(&r, " \t,");
        PtcText word = take_token(&r);
        skip(&r, " \t");
        if (word.len && here(&r) == '=') {
            r.at++;
            skip(&r, " \t");
            take_param(&r, word, ours ? out : &other);
        } else if (word.len) {
            ours = !out->bearer && same_word(word, "Bearer");
            out->bearer |= ours;
        } else {
            while (r.at < r.text.len && here(&r) != ',') /* neither: left out */
                r.at++;
        }
    }
}
