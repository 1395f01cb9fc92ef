/* SPDX-License-Identifier: MIT
 * Secrets, and texts without them.  What always holds: no item is shorter than `min`, and `begins` has the first byte of
 * each, so that a text without any costs one look a byte. */
#include "trace/redact.h"

#include <string.h>

#include "base/secret.h"
#include "base/utf8.h"
#include "json/write.h"

void ptc_secrets_init(PtcSecrets *s, PtcMem *mem, size_t min)
{
    *s = (PtcSecrets){.mem = mem, .min = min};
    pthread_rwlock_init(&s->lock, NULL);
}

void ptc_secrets_deinit(PtcSecrets *s)
{
    for (size_t i = 0; i < s->count; i++) {
        ptc_secret_wipe(s->items[i].bytes, s->items[i].len);
        ptc_mem_free(s->mem, s->items[i].bytes, s->items[i].len);
    }
    ptc_mem_free(s->mem, s->items, s->cap * sizeof *s->items);
    pthread_rwlock_destroy(&s->lock);
    *s = (PtcSecrets){.mem = s->mem, .min = s->min};
}

static bool has(const PtcSecrets *s, const char *bytes, size_t len)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].len == len && memcmp(s->items[i].bytes, bytes, len) == 0)
            return true;
    return false;
}

static bool grow(PtcSecrets *s)
{
    size_t cap = s->cap ? 2 * s->cap : 16;
    PtcSecret *items =
        ptc_mem_resize(s->mem, s->items, s->cap * sizeof *items, cap * sizeof *items);
    if (!items)
        return false;
    s->items = items;
    s->cap = cap;
    return true;
}

static bool add_locked(PtcSecrets *s, const char *bytes, size_t len)
{
    if (len < s->min || has(s, bytes, len))
        return true;
    if (s->count == s->cap && !grow(s))
        return false;
    char *copy = ptc_mem_alloc(s->mem, len);
    if (!copy)
        return false;
    memcpy(copy, bytes, len);
    s->items[s->count++] = (PtcSecret){copy, len};
    s->begins[(unsigned char)copy[0]] = true;
    return true;
}

static bool add(PtcSecrets *s, const char *bytes, size_t len)
{
    pthread_rwlock_wrlock(&s->lock);
    bool ok = add_locked(s, bytes, len);
    pthread_rwlock_unlock(&s->lock);
    return ok;
}

bool ptc_secrets_add(PtcSecrets *s, const char *bytes, size_t len)
{
    PtcBuf quoted;
    if (!ptc_utf8_valid(bytes, len)) /* nothing but itself can have it inside */
        return add(s, bytes, len);
    ptc_buf_init(&quoted, s->mem, SIZE_MAX / 2);
    bool ok = ptc_json_write_string(&quoted, bytes, len) && add(s, bytes, len) &&
              add(s, quoted.data + 1, quoted.len - 2);
    if (quoted.data)
        ptc_secret_wipe(quoted.data, quoted.len);
    ptc_buf_deinit(&quoted);
    return ok;
}

/* Was the text cut here?  So it was at its end, and before the dots that stand for what was left out; of dots that were cut
 * themselves one is enough. */
static bool is_cut(const char *rest, size_t len)
{
    static const char sign[] = "\xe2\x80\xa6"; /* three dots in one character */
    size_t dots = 0, blank = len > 0 && *rest == ' ';
    while (blank + dots < len && dots < 3 && rest[blank + dots] == '.')
        dots++;
    return len == 0 || dots == 3 || (dots > 0 && blank + dots == len) ||
           (len - blank >= 3 && memcmp(rest + blank, sign, 3) == 0);
}

/* Does the text begin right behind such dots? */
static bool follows_cut(const char *text, size_t at)
{
    size_t blank = at > 0 && text[at - 1] == ' ';
    return at >= 3 + blank && (memcmp(text + at - blank - 3, "...", 3) == 0 ||
                               memcmp(text + at - blank - 3, "\xe2\x80\xa6", 3) == 0);
}

static size_t common(const PtcSecret *secret, const char *text, size_t len)
{
    size_t n = 0;
    while (n < secret->len && n < len && secret->bytes[n] == text[n])
        n++;
    return n;
}

/* Length of the longest secret at the start of the text, or of the beginning of one that was cut. */
static size_t secret_at(const PtcSecrets *s, const char *text, size_t len)
{
    size_t longest = 0;
    if (!s->begins[(unsigned char)*text])
        return 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t n = common(&s->items[i], text, len);
        if (n > longest && n >= s->min && (n == s->items[i].len || is_cut(text + n, len - n)))
            longest = n;
    }
    return longest;
}

/* Length of the longest end of a secret that the text begins with. */
static size_t rest_of_secret(const PtcSecrets *s, PtcText text)
{
    size_t longest = 0;
    for (size_t i = 0; i < s->count; i++) {
        const PtcSecret *secret = &s->items[i];
        size_t n = secret->len - 1 < text.len ? secret->len - 1 : text.len;
        while (n >= s->min && n > longest &&
               memcmp(text.bytes, secret->bytes + secret->len - n, n) != 0)
            n--;
        longest = n >= s->min && n > longest ? n : longest;
    }
    return longest;
}

static void blot(const PtcSecrets *s, PtcBuf *out, PtcText text, bool headless)
{
    size_t plain = 0; /* where the bytes begin that are not yet in out */
    for (size_t i = 0; i < text.len;) {
        size_t n = secret_at(s, text.bytes + i, text.len - i);
        if (!n && (i == 0 ? headless : follows_cut(text.bytes, i)))
            n = rest_of_secret(s, (PtcText){text.bytes + i, text.len - i});
        if (!n) {
            i++;
            continue;
        }
        ptc_buf_add(out, text.bytes + plain, i - plain);
        ptc_buf_add_cstr(out, "[secret]");
        plain = i += n;
    }
    ptc_buf_add(out, text.bytes + plain, text.len - plain);
}

void ptc_secrets_blot(PtcSecrets *s, PtcBuf *out, PtcText text, bool headless)
{
    pthread_rwlock_rdlock(&s->lock);
    blot(s, out, text, headless);
    pthread_rwlock_unlock(&s->lock);
}
