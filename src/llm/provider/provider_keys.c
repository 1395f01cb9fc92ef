/* SPDX-License-Identifier: MIT
 * Keys.  What always holds: names come from the table of providers and a short list here, no name occurs twice, no
 * value is empty. */
#include "llm/provider/provider_keys.h"

#include <stdlib.h>

#include "base/os/dotenv.h"
#include "base/text/secret.h"
#include "llm/provider/provider.h"

/* Passwords in these are secrets too; libcurl reads the variables itself. */
static const char *const proxies[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                      "all_proxy",  "ALL_PROXY",   NULL};
static const char *const others[] = {PTC_DEFAULT_PROVIDER, PTC_AWS_REGION, PTC_COMPAT_BASE,
                                     "SSL_CERT_FILE", NULL};

static const char *from_environment(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

static bool is_secret_variable(const char *name)
{
    for (size_t i = 0; i < ptc_provider_count; i++)
        for (size_t k = 0; k < PTC_PROVIDER_VARS && ptc_providers[i].keys[k]; k++)
            if (strcmp(name, ptc_providers[i].keys[k]) == 0)
                return true;
    return false;
}

static bool add_secret(PtcProviderKeys *keys, const char *bytes, size_t len)
{
    return ptc_secrets_add(&keys->shown, bytes, len) && ptc_secrets_add(&keys->told, bytes, len);
}

static bool add_provider_key(PtcProviderKeys *keys, const char *name, const char *value, size_t len)
{
    if (len == 0 || len > PTC_PROVIDER_KEYS_BYTES || keys->count == PTC_PROVIDER_KEYS_MAX)
        return true;
    char *copy = ptc_mem_alloc(keys->mem, len + 1);
    if (!copy)
        return false;
    memcpy(copy, value, len);
    copy[len] = 0;
    keys->items[keys->count].name = name;
    keys->items[keys->count].value = copy;
    keys->items[keys->count++].len = len;
    return !is_secret_variable(name) || add_secret(keys, value, len);
}

static bool has_provider_key(const PtcProviderKeys *keys, const char *name)
{
    return ptc_provider_keys_get(keys, name).bytes != NULL;
}

PtcText ptc_provider_keys_get(const PtcProviderKeys *keys, const char *name)
{
    for (size_t i = 0; name && i < keys->count; i++)
        if (strcmp(keys->items[i].name, name) == 0)
            return (PtcText){keys->items[i].value, keys->items[i].len};
    return (PtcText){NULL, 0};
}

/* ---------------------------------------------------------------------------- from where */

typedef struct KeySource {
    PtcProviderKeys *keys;
    const char *(*get)(void *user, const char *name);
    void *user;
} KeySource;

static bool take_provider_key(const KeySource *s, const char *name)
{
    const char *value = s->get(s->user, name);
    return !value || has_provider_key(s->keys, name) ||
           add_provider_key(s->keys, name, value, strlen(value));
}

/* The password is everything between the last colon and the at sign: http://user:PASSWORD@host. */
static bool take_proxy(const KeySource *s, const char *name)
{
    const char *value = s->get(s->user, name), *at = value ? strrchr(value, '@') : NULL;
    const char *start = value ? strstr(value, "://") : NULL;
    if (!at)
        return true;
    start = start && start < at ? start + 3 : value;
    const char *colon = memchr(start, ':', (size_t)(at - start));
    return !colon || add_secret(s->keys, colon + 1, (size_t)(at - colon - 1));
}

static bool take_provider_keys(const KeySource *s)
{
    bool ok = true;
    for (size_t i = 0; ok && i < ptc_provider_count; i++) {
        for (size_t k = 0; ok && k < PTC_PROVIDER_VARS && ptc_providers[i].keys[k]; k++)
            ok = take_provider_key(s, ptc_providers[i].keys[k]);
        if (ok && ptc_providers[i].base_var)
            ok = take_provider_key(s, ptc_providers[i].base_var);
    }
    for (size_t i = 0; ok && others[i]; i++)
        ok = take_provider_key(s, others[i]);
    for (size_t i = 0; ok && proxies[i]; i++)
        ok = take_proxy(s, proxies[i]);
    return ok;
}

/* The name as the tables have it, which outlives the file. */
static const char *known_name(PtcText name)
{
    for (size_t i = 0; i < ptc_provider_count; i++)
        for (size_t k = 0; k < PTC_PROVIDER_VARS && ptc_providers[i].keys[k]; k++)
            if (ptc_text_is(name, ptc_providers[i].keys[k]))
                return ptc_providers[i].keys[k];
    return ptc_text_is(name, PTC_AWS_REGION) ? PTC_AWS_REGION : PTC_DEFAULT_PROVIDER;
}

/* A line of the file; the environment takes precedence. */
static bool take_pair(void *user, PtcText name, PtcText value)
{
    PtcProviderKeys *keys = user;
    if (!ptc_provider_in_dotenv(name) || has_provider_key(keys, known_name(name)))
        return true;
    return add_provider_key(keys, known_name(name), value.bytes, value.len);
}

static bool take_file(PtcProviderKeys *keys, const char *path)
{
    PtcBuf text;
    ptc_buf_init(&text, keys->mem, PTC_DOTENV_BYTES);
    bool ok = true;
    if (ptc_dotenv_read(path, &text, &keys->trouble))
        ok = ptc_dotenv_parse(ptc_buf_view(&text), keys->mem, take_pair, keys);
    if (text.data)
        ptc_secret_wipe(text.data, text.cap);
    ptc_buf_deinit(&text);
    return ok;
}

bool ptc_provider_keys_init(PtcProviderKeys *keys, PtcMem *mem,
                            const char *(*get)(void *user, const char *name), void *user,
                            const char *dotenv)
{
    KeySource source = {keys, get ? get : from_environment, user};
    *keys = (PtcProviderKeys){.mem = mem};
    ptc_secrets_init(&keys->shown, mem, PTC_SECRET_MIN);
    ptc_secrets_init(&keys->told, mem, PTC_SECRET_MIN_TOLD);
    return take_provider_keys(&source) && (!dotenv || take_file(keys, dotenv));
}

void ptc_provider_keys_deinit(PtcProviderKeys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        ptc_secret_wipe(keys->items[i].value, keys->items[i].len);
        ptc_mem_free(keys->mem, keys->items[i].value, keys->items[i].len + 1);
    }
    ptc_secrets_deinit(&keys->shown);
    ptc_secrets_deinit(&keys->told);
    keys->count = 0;
}
