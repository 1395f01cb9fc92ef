/* SPDX-License-Identifier: MIT */
#include "trace/redact.h"

#include <string.h>

#include "base/utf8.h"
#include "json/write.h"

void ptc_secrets_init(PtcSecrets *s, PtcMem *mem)
{
    *s = (PtcSecrets){.mem = mem};
}

static void wipe(char *bytes, size_t len)
{
    volatile char *p = bytes;
    while (len--)
        *p++ = 0;
}

void ptc_secrets_deinit(PtcSecrets *s)
{
    for (size_t i = 0; i < s->count; i++) {
        wipe(s->items[i].bytes, s->items[i].len);
        ptc_mem_free(s->mem, s->items[i].bytes, s->items[i].len);
    }
    ptc_mem_free(s->mem, s->items, s->cap * sizeof *s->items);
    *s = (PtcSecrets){.mem = s->mem};
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

static bool add(PtcSecrets *s, const char *bytes, size_t len)
{
    if (len < PTC_SECRET_MIN || has(s, bytes, len))
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

bool ptc_secrets_add(PtcSecrets *s, const char *bytes, size_t len)
{
    PtcBuf quoted;
    if (!ptc_utf8_valid(bytes, len)) /* nothing but itself can have it inside */
        return add(s, bytes, len);
    ptc_buf_init(&quoted, s->mem, SIZE_MAX / 2);
    bool ok = ptc_json_write_string(&quoted, bytes, len) && add(s, bytes, len) &&
              add(s, quoted.data + 1, quoted.len - 2);
    if (quoted.data)
        wipe(quoted.data, quoted.len);
    ptc_buf_deinit(&quoted);
    return ok;
}

/* Length of the longest secret at the start of the text; of the whole text, when it is the start of a secret. */
static size_t secret_at(const PtcSecrets *s, const char *text, size_t len)
{
    size_t longest = 0;
    if (!s->begins[(unsigned char)*text])
        return 0;
    for (size_t i = 0; i < s->count; i++) {
        const PtcSecret *secret = &s->items[i];
        size_t n = secret->len < len ? secret->len : len;
        if (n > longest && n >= PTC_SECRET_MIN && memcmp(text, secret->bytes, n) == 0)
            longest = n;
    }
    return longest;
}

void ptc_secrets_blot(const PtcSecrets *s, PtcBuf *out, const char *text, size_t len)
{
    size_t plain = 0; /* where the bytes begin that are not yet in out */
    for (size_t i = 0; i < len;) {
        size_t n = secret_at(s, text + i, len - i);
        if (!n) {
            i++;
            continue;
        }
        ptc_buf_add(out, text + plain, i - plain);
        ptc_buf_add_cstr(out, "[secret]");
        plain = i += n;
    }
    ptc_buf_add(out, text + plain, len - plain);
}
