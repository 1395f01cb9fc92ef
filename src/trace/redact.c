/* SPDX-License-Identifier: MIT
 * Secrets, and removing them from texts.  What always holds: no item is shorter than `min`, no two are equal, and
 * they are sorted, so that each byte of a text is compared only with the items that begin with it. */
#include "trace/redact.h"

#include <string.h>

#include "base/ascii.h"
#include "base/grow.h"
#include "base/text/base64.h"
#include "base/text/secret.h"
#include "base/utf8.h"
#include "json/write.h"

enum {
    TAIL = 3, /* a letter and two signs of padding */
    MOST_CUTS =
        256, /* places of a text that are looked at for the rest of a secret, which is slow */
};

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

/* ------------------------------------------------------------------------------- adding */

static int compare_secret(const PtcSecret *a, const char *bytes, size_t len)
{
    int order = memcmp(a->bytes, bytes, a->len < len ? a->len : len);
    return order ? order : a->len < len ? -1 : a->len > len;
}

/* Where an item belongs in the order; *same: it is there already. */
static size_t secret_place_of(const PtcSecrets *s, const char *bytes, size_t len, bool *same)
{
    size_t i = 0;
    while (i < s->count && compare_secret(&s->items[i], bytes, len) < 0)
        i++;
    *same = i < s->count && compare_secret(&s->items[i], bytes, len) == 0;
    return i;
}

/* Kept sorted on insertion: secrets are few and added rarely, while every text is searched. */
static bool add_locked(PtcSecrets *s, PtcSecret item)
{
    bool same;
    const char *bytes = item.bytes;
    size_t len = item.len, at = secret_place_of(s, bytes, len, &same);
    if (same) {
        s->items[at].times++;
        s->items[at].head |= item.head;
        s->items[at].tail |= item.tail;
    }
    if (len < s->min || same)
        return true;
    if (!PTC_GROW(s->mem, &s->items, &s->cap, s->count + 1))
        return false;
    char *copy = ptc_mem_alloc(s->mem, len);
    if (!copy)
        return false;
    memcpy(copy, bytes, len);
    memmove(s->items + at + 1, s->items + at, (s->count - at) * sizeof *s->items);
    s->items[at] =
        (PtcSecret){.bytes = copy, .len = len, .times = 1, .head = item.head, .tail = item.tail};
    s->count++;
    for (size_t b = (unsigned char)copy[0] + 1; b < sizeof s->starts / sizeof *s->starts; b++)
        s->starts[b]++;
    return true;
}

static void drop_locked(PtcSecrets *s, const char *bytes, size_t len)
{
    bool same;
    size_t at = secret_place_of(s, bytes, len, &same);
    if (!same || --s->items[at].times > 0)
        return;
    PtcSecret old = s->items[at];
    for (size_t b = (unsigned char)old.bytes[0] + 1; b < sizeof s->starts / sizeof *s->starts; b++)
        s->starts[b]--;
    s->count--;
    memmove(s->items + at, s->items + at + 1, (s->count - at) * sizeof *s->items);
    ptc_secret_wipe(old.bytes, old.len);
    ptc_mem_free(s->mem, old.bytes, old.len);
}

/* What becomes of every form of a secret. */
typedef enum { REDACT_ADD, REDACT_DROP } SecretChange;

static bool apply_secret_change(PtcSecrets *s, SecretChange fate, PtcSecret item)
{
    bool ok = true;
    pthread_rwlock_wrlock(&s->lock);
    if (fate == REDACT_ADD)
        ok = add_locked(s, item);
    else
        drop_locked(s, item.bytes, item.len);
    pthread_rwlock_unlock(&s->lock);
    return ok;
}

static void wipe(PtcBuf *form)
{
    if (form->data)
        ptc_secret_wipe(form->data, form->len);
    ptc_buf_clear(form);
}

/* Does it with what is in the buffer, then wipes and empties that. */
static bool apply_form(PtcSecrets *s, SecretChange fate, PtcBuf *form)
{
    bool ok = ptc_buf_ok(form) &&
              apply_secret_change(s, fate, (PtcSecret){.bytes = form->data, .len = form->len});
    wipe(form);
    return ok;
}

static bool apply_quoted(PtcSecrets *s, SecretChange fate, PtcBuf *form, const char *bytes,
                         size_t len)
{
    if (!ptc_utf8_valid(bytes, len)) /* such bytes cannot be inside a string */
        return true;
    ptc_json_write_escaped(form, bytes, len);
    return apply_form(s, fate, form);
}

static bool is_unreserved(unsigned char c)
{
    return ptc_ascii_is_alnum(c) || (c && strchr("-._~", c));
}

/* Both cases of the digits, because encoders differ, and some encode every byte. */
static bool apply_percent(PtcSecrets *s, SecretChange fate, PtcBuf *form, const char *bytes,
                          size_t len, bool upper, bool every)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        char code[3] = {'%', digits[c >> 4], digits[c & 15]};
        if (!every && is_unreserved(c))
            ptc_buf_add_char(form, bytes[i]);
        else
            ptc_buf_add(form, code, sizeof code);
    }
    return apply_form(s, fate, form);
}

static bool apply_hex(PtcSecrets *s, SecretChange fate, PtcBuf *form, const char *bytes, size_t len,
                      bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        ptc_buf_add_char(form, digits[c >> 4]);
        ptc_buf_add_char(form, digits[c & 15]);
    }
    return apply_form(s, fate, form);
}

/* Base64 of the secret after `before` other bytes of its group of three: only the letters that depend on no other
 * byte are looked for, those beside them go with them. */
static bool apply_base64(PtcSecrets *s, SecretChange fate, PtcBuf *form, const char *bytes,
                         size_t len, size_t before, bool url)
{
    PtcBuf plain;
    ptc_buf_init(&plain, s->mem, PTC_UNBOUNDED);
    bool ok = ptc_buf_reserve(&plain, before + len) && ptc_buf_add(&plain, "\0\0", before) &&
              ptc_buf_add(&plain, bytes, len) && ptc_base64_add(form, plain.data, plain.len, url);
    if (plain.data)
        ptc_secret_wipe(plain.data, plain.len);
    ptc_buf_deinit(&plain);
    size_t from = (before * 8 + 5) / 6, to = (before + len) * 8 / 6;
    ok = ok && ptc_buf_ok(form) &&
         (to <= from || apply_secret_change(s, fate,
                                            (PtcSecret){.bytes = form->data + from,
                                                        .len = to - from,
                                                        .head = before > 0,
                                                        .tail = (before + len) % 3 != 0}));
    wipe(form);
    return ok;
}

static bool apply_all(PtcSecrets *s, SecretChange fate, const char *bytes, size_t len)
{
    PtcBuf form;
    if (len == 0 || len < s->min)
        return true;
    /* Room for every form at once, because a buffer that grows would leave copies behind. */
    ptc_buf_init(&form, s->mem, PTC_UNBOUNDED);
    bool ok = len < SIZE_MAX / 16 && ptc_buf_reserve(&form, 6 * len + 8) &&
              apply_secret_change(s, fate, (PtcSecret){.bytes = (char *)bytes, .len = len}) &&
              apply_hex(s, fate, &form, bytes, len, false) &&
              apply_hex(s, fate, &form, bytes, len, true) &&
              apply_quoted(s, fate, &form, bytes, len);
    for (int how = 0; ok && how < 4; how++)
        ok = apply_percent(s, fate, &form, bytes, len, how & 1, how & 2);
    for (size_t before = 0; ok && before < 3; before++)
        ok = apply_base64(s, fate, &form, bytes, len, before, false) &&
             apply_base64(s, fate, &form, bytes, len, before, true);
    ptc_buf_deinit(&form);
    return ok;
}

bool ptc_secrets_add(PtcSecrets *s, const char *bytes, size_t len)
{
    return apply_all(s, REDACT_ADD, bytes, len);
}

void ptc_secrets_drop(PtcSecrets *s, const char *bytes, size_t len)
{
    (void)!apply_all(s, REDACT_DROP, bytes, len); /* out of memory: what is left stays hidden */
}

bool ptc_secrets_any(const PtcSecrets *s)
{
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&s->lock; /* as in blot_locked */
    pthread_rwlock_rdlock(lock);
    bool any = s->count > 0;
    pthread_rwlock_unlock(lock);
    return any;
}

/* ----------------------------------------------------------------------------- blotting */

/* What is known about a text's surroundings. */
typedef enum {
    REDACT_CUT,  /* it may have been cut, by somebody who does not know the secrets */
    REDACT_PART, /* more of it will follow */
    REDACT_LAST, /* nothing follows */
} RedactKind;

/* Was the text cut here?  That shows in the dots that stand for what was left out; of dots that were themselves cut,
 * one is enough. */
static bool is_cut(const char *rest, size_t len)
{
    static const char sign[] = "\xe2\x80\xa6"; /* an ellipsis in one character */
    size_t dots = 0, blank = len > 0 && *rest == ' ';
    while (blank + dots < len && dots < 3 && rest[blank + dots] == '.')
        dots++;
    return dots == 3 || (dots > 0 && blank + dots == len) ||
           (len - blank >= 3 && memcmp(rest + blank, sign, 3) == 0);
}

/* Does the text at `at` come right after such dots? */
static bool follows_cut(const char *text, size_t at)
{
    size_t blank = at > 0 && text[at - 1] == ' ';
    return at >= 3 + blank && (memcmp(text + at - blank - 3, "...", 3) == 0 ||
                               memcmp(text + at - blank - 3, "\xe2\x80\xa6", 3) == 0);
}

/* How many bytes of the secret the text begins with. */
static size_t common_secret_bytes(const PtcSecret *secret, const char *text, size_t len)
{
    size_t n = 0;
    while (n < secret->len && n < len && secret->bytes[n] == text[n])
        n++;
    return n;
}

static bool is_base64(char c)
{
    return ptc_ascii_is_alnum(c) || (c && strchr("+/-_", c));
}

/* The letter behind a secret in base64 that is made of its last bits too, and the padding. */
static size_t base64_tail_len(const char *rest, size_t len)
{
    size_t n = len > 0 && is_base64(*rest);
    while (n > 0 && n < len && n < TAIL && rest[n] == '=')
        n++;
    return n;
}

/* Length of the longest secret that the text begins with, or of the first part of one that was cut off or ends with the
 * text.  *open: the text ended inside a secret, and more bytes could settle it.  *head: the letter before it goes
 * too. */
static size_t secret_at(const PtcSecrets *s, const char *text, size_t len, RedactKind kind,
                        bool *open, bool *head)
{
    size_t longest = 0;
    unsigned char first = (unsigned char)*text;
    for (size_t i = s->starts[first]; i < s->starts[first + 1]; i++) {
        const PtcSecret *item = &s->items[i];
        size_t n = common_secret_bytes(item, text, len);
        bool whole = n == item->len, ends = !whole && n == len;
        *open = *open || ends || (whole && item->tail && len - n < TAIL);
        if (n <= longest ||
            !(whole ||
              (n >= s->min && (ends || (kind == REDACT_CUT && is_cut(text + n, len - n))))))
            continue;
        longest = n + (whole && item->tail ? base64_tail_len(text + n, len - n) : 0);
        *head = item->head;
    }
    return longest;
}

/* Length of the longest tail of a secret that the text begins with. */
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

/* Returns how far it got: a PART is done up to where later bytes could still matter. */
static size_t redact_text(const PtcSecrets *s, PtcBuf *out, PtcText text, RedactKind kind,
                          bool headless)
{
    size_t i = 0, plain = 0, cuts = 0; /* plain: start of the bytes not yet copied to out */
    while (i < text.len) {
        bool open = false, head = false;
        size_t n = secret_at(s, text.bytes + i, text.len - i, kind, &open, &head);
        if (open && kind == REDACT_PART)
            break;
        if (!n && kind == REDACT_CUT && (i == 0 ? headless : follows_cut(text.bytes, i)) &&
            cuts++ < MOST_CUTS)
            n = rest_of_secret(s, (PtcText){text.bytes + i, text.len - i});
        if (!n) {
            i++;
            continue;
        }
        head = head && i > plain && is_base64(text.bytes[i - 1]);
        ptc_buf_add(out, text.bytes + plain, i - plain - head);
        ptc_buf_add_cstr(out, "[secret]");
        plain = i += n;
    }
    if (i > plain)
        ptc_buf_add(out, text.bytes + plain, i - plain);
    return i;
}

/* Readers share a const object, but taking its lock writes to it: hence the cast. */
static size_t blot_locked(const PtcSecrets *s, PtcBuf *out, PtcText text, RedactKind kind,
                          bool headless)
{
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&s->lock;
    pthread_rwlock_rdlock(lock);
    size_t done = redact_text(s, out, text, kind, headless);
    pthread_rwlock_unlock(lock);
    return done;
}

size_t ptc_secrets_find(const PtcSecrets *s, PtcText text, size_t from, size_t *len)
{
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&s->lock; /* as in blot_locked */
    bool open = false, head = false;
    *len = 0;
    pthread_rwlock_rdlock(lock);
    while (from < text.len &&
           !(*len = secret_at(s, text.bytes + from, text.len - from, REDACT_LAST, &open, &head)))
        from++;
    pthread_rwlock_unlock(lock);
    return from;
}

void ptc_secrets_blot(const PtcSecrets *s, PtcBuf *out, PtcText text, bool headless)
{
    blot_locked(s, out, text, REDACT_CUT, headless);
}

size_t ptc_secrets_blot_part(const PtcSecrets *s, PtcBuf *out, PtcText text, bool last)
{
    return blot_locked(s, out, text, last ? REDACT_LAST : REDACT_PART, false);
}
