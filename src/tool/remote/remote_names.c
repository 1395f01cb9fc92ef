/* SPDX-License-Identifier: MIT
 * Names of tools in other servers that were found, by number.  What always holds: a number means the same name until
 * the next run begins; whoever kept one longer compares the name. */
#include <string.h>

#include "base/grow.h"

#include "tool/remote/remote_names.h"

enum { NAMES_MOST = 2048 }; /* beyond that, a new run begins with none */

void ptc_remote_names_init(PtcRemoteNames *names, PtcMem *mem)
{
    memset(names, 0, sizeof *names);
    names->mem = mem;
    pthread_mutex_init(&names->lock, NULL);
}

static void free_remote_name(PtcRemoteNames *names, const PtcRemoteName *n)
{
    ptc_mem_free(names->mem, n->text, n->len + n->takes.len + n->gives.len + n->seen.len);
}

static void clear_remote_names(PtcRemoteNames *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free_remote_name(names, &names->items[i]);
    names->count = 0;
    memset(names->checked, 0, sizeof names->checked);
}

void ptc_remote_names_deinit(PtcRemoteNames *names)
{
    clear_remote_names(names);
    ptc_mem_free(names->mem, names->items, names->cap * sizeof *names->items);
    pthread_mutex_destroy(&names->lock);
}

/* What was true for the last run only; nor are arguments that were right for such a tool. */
static void forget_once(PtcRemoteNames *names)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->items[i].once)
            free_remote_name(names, &names->items[i]);
        else
            names->items[kept++] = names->items[i];
    }
    if (kept < names->count)
        memset(names->checked, 0, sizeof names->checked);
    names->count = kept;
}

void ptc_remote_names_begin(PtcRemoteNames *names, uint64_t version)
{
    if (names->version != version || names->count > NAMES_MOST)
        clear_remote_names(names);
    else
        forget_once(names);
    names->version = version;
}

/* FNV-1a. */
uint64_t ptc_remote_names_hash(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

static uint32_t hash_remote_name(PtcText text)
{
    return (uint32_t)ptc_remote_names_hash(PTC_REMOTE_HASH, text.bytes, text.len);
}

/* With the lock held. */
static int64_t find_remote_name(const PtcRemoteNames *names, PtcText text, uint32_t hash)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const PtcRemoteName *n = &names->items[i];
        if (n->hash == hash && ptc_text_same((PtcText){n->text, n->len}, text))
            return i;
    }
    return -1;
}

int64_t ptc_remote_names_find(PtcRemoteNames *names, PtcText text)
{
    pthread_mutex_lock(&names->lock);
    int64_t number = find_remote_name(names, text, hash_remote_name(text));
    pthread_mutex_unlock(&names->lock);
    return number;
}

static PtcText put_behind(char *to, PtcText text)
{
    if (text.len)
        memcpy(to, text.bytes, text.len);
    return text.bytes ? (PtcText){to, text.len} : text;
}

/* With the lock held. */
static int64_t add_remote_name(PtcRemoteNames *names, PtcText text, const PtcRemoteName *what)
{
    size_t size = text.len + what->takes.len + what->gives.len + what->seen.len;
    bool fits = PTC_GROW(names->mem, &names->items, &names->cap, names->count + (size_t)1);
    char *copy = fits ? ptc_mem_alloc(names->mem, size) : NULL;
    if (!copy)
        return -1;
    PtcRemoteName *n = &names->items[names->count];
    *n = *what;
    n->text = memcpy(copy, text.bytes, text.len);
    n->takes = put_behind(copy += text.len, what->takes);
    n->gives = put_behind(copy += what->takes.len, what->gives);
    n->seen = put_behind(copy + what->gives.len, what->seen);
    return names->count++;
}

int64_t ptc_remote_names_add(PtcRemoteNames *names, PtcText text, PtcRemoteName what)
{
    what.len = (uint32_t)text.len;
    what.hash = hash_remote_name(text);
    pthread_mutex_lock(&names->lock);
    int64_t number = find_remote_name(names, text, what.hash);
    if (number < 0)
        number = add_remote_name(names, text, &what);
    pthread_mutex_unlock(&names->lock);
    return number;
}

bool ptc_remote_names_get(PtcRemoteNames *names, uint32_t number, PtcRemoteName *out)
{
    pthread_mutex_lock(&names->lock);
    bool there = number < names->count;
    if (there)
        *out = names->items[number];
    pthread_mutex_unlock(&names->lock);
    return there;
}

/* The table is small, so two may take each other's place; 0 is an empty one. */
bool ptc_remote_names_checked(PtcRemoteNames *names, uint64_t print)
{
    pthread_mutex_lock(&names->lock);
    bool there = print && names->checked[print % PTC_REMOTE_CHECKED] == print;
    pthread_mutex_unlock(&names->lock);
    return there;
}

void ptc_remote_names_check(PtcRemoteNames *names, uint64_t print)
{
    pthread_mutex_lock(&names->lock);
    names->checked[print % PTC_REMOTE_CHECKED] = print;
    pthread_mutex_unlock(&names->lock);
}
