/* SPDX-License-Identifier: MIT
 * Seals and their keys.  What always holds: the length of each part of a seal is sealed with it, so that two
 * different records never give the same bytes; the two kinds of seal begin with different words, so that one cannot
 * pass for the other. */
#include "store/store_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/private_file.h"
#include "base/text/hex.h"
#include "base/text/secret.h"

enum {
    SEAL_NAME_BYTES = 4096,
    STORE_KEY_DIGITS = 2 * PTC_STORE_KEY_BYTES,
    KEY_FILE_BYTES = PTC_STORE_KEYS * (STORE_KEY_DIGITS + 2) + 1
};

/* -------------------------------------------------------------------------------- the keys */

static bool fail_store_key(PtcWhy *why, const char *name, const char *what)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "%s: %s", name, what);
}

/* One line of digits, from *text on. */
static bool take_key_line(PtcText *text, uint8_t key[PTC_STORE_KEY_BYTES])
{
    if (text->len < STORE_KEY_DIGITS ||
        !ptc_hex_read((PtcText){text->bytes, STORE_KEY_DIGITS}, key, PTC_STORE_KEY_BYTES))
        return false;
    size_t at = STORE_KEY_DIGITS;
    if (at < text->len && text->bytes[at] == '\r')
        at++;
    if (at < text->len && text->bytes[at++] != '\n')
        return false;
    *text = (PtcText){text->bytes + at, text->len - at};
    return true;
}

static bool take_keys(PtcText text, PtcStoreKeys *keys)
{
    keys->count = 0;
    if (text.len == PTC_STORE_KEY_BYTES) {
        memcpy(keys->key[keys->count++], text.bytes, text.len);
        return true;
    }
    while (text.len && keys->count < PTC_STORE_KEYS)
        if (!take_key_line(&text, keys->key[keys->count++]))
            return false;
    return keys->count && text.len == 0;
}

/* A longer file is no key either, hence the room for one byte more. */
static size_t read_key_bytes(int fd, char bytes[KEY_FILE_BYTES])
{
    size_t have = 0;
    ssize_t n = 1;
    while (have < KEY_FILE_BYTES && n > 0) {
        n = read(fd, bytes + have, KEY_FILE_BYTES - have);
        have += n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? 0 : have;
}

static bool read_store_keys(const char *name, PtcStoreKeys *keys, bool *absent, PtcWhy *why)
{
    char bytes[KEY_FILE_BYTES];
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    *absent = fd < 0 && errno == ENOENT;
    if (fd < 0)
        return fail_store_key(why, name, strerror(errno));
    bool good = take_keys((PtcText){bytes, read_key_bytes(fd, bytes)}, keys);
    ptc_secret_wipe(bytes, sizeof bytes);
    close(fd);
    if (!good)
        return fail_store_key(
            why, name, "it holds no key, which has 32 bytes or, on a line each, 64 hex digits");
    return ptc_private_file_check(name, why);
}

/* Written to a file of its own first, which then gets the name unless another process was faster: whoever reads the
 * key finds all of it. */
static bool make_store_key(const char *name, PtcWhy *why)
{
    uint8_t key[PTC_STORE_KEY_BYTES];
    char own[SEAL_NAME_BYTES + 40];
    if (!ptc_random_bytes(key, sizeof key))
        return fail_store_key(why, name, "the system gives no random bytes");
    if (snprintf(own, sizeof own, "%s-%ld", name, (long)getpid()) >= (int)sizeof own)
        return fail_store_key(why, "the key of the store", "its name is too long");
    int fd = open(own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_store_key(why, own, strerror(errno));
    bool ok = write(fd, key, sizeof key) == (ssize_t)sizeof key && fsync(fd) == 0 &&
              (link(own, name) == 0 || errno == EEXIST);
    int error = errno;
    ptc_secret_wipe(key, sizeof key);
    close(fd);
    unlink(own);
    return ok || fail_store_key(why, name, strerror(error));
}

/* Reads again after making it, because another process may have been faster. */
bool ptc_store_keys_read(const char *file, bool make, PtcStoreKeys *keys, bool *absent, PtcWhy *why)
{
    if (read_store_keys(file, keys, absent, why))
        return true;
    return *absent && make && make_store_key(file, why) && read_store_keys(file, keys, absent, why);
}

/* A digest, so that the id says nothing about the key. */
void ptc_store_key_id(const PtcStoreKeys *keys, size_t nth, char id[PTC_STORE_KEY_ID])
{
    uint8_t tag[PTC_SHA256_BYTES];
    ptc_hmac((PtcText){(const char *)keys->key[nth], PTC_STORE_KEY_BYTES}, "id", 2, tag);
    snprintf(id, PTC_STORE_KEY_ID, "%02x%02x", tag[0], tag[1]);
}

/* --------------------------------------------------------------------------------- seals */

/* Byte by byte, so that a store can move between machines. */
static void put_sealed_number(uint8_t out[8], uint64_t n)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(n >> (8 * i));
}

enum { SEALED_TIMES = 4, SEAL_NUMBERS = 6 + SEALED_TIMES };

/* What one seal is made over. */
typedef struct {
    const char *first;
    uint64_t numbers[SEALED_TIMES];
    PtcText fixed, last; /* the first always has the same length */
} Sealed;

/* Format 0, in SQLite files that were upgraded, had neither tags nor times of idleness; its last number and the format
 * itself were not sealed. */
static void seal_under(const uint8_t key[PTC_STORE_KEY_BYTES], const PtcStoreKey *record,
                       const Sealed *s, uint64_t format, uint8_t tag[PTC_SHA256_BYTES])
{
    uint8_t head[SEAL_NUMBERS * 8] = {0};
    PtcText kind = ptc_text_cstr(record->kind), last = s->last.bytes ? s->last : PTC_TEXT("");
    const uint64_t all[SEAL_NUMBERS] = {
        format,        strlen(s->first), kind.len,      record->owner.len, record->key.len,
        s->numbers[0], s->numbers[1],    s->numbers[2], s->numbers[3],     last.len};
    size_t n = 0;
    for (size_t i = format ? 0 : 1; i < SEAL_NUMBERS; i++)
        if (format || i != 8)
            put_sealed_number(head + 8 * n++, all[i]);
    const char *first = s->first;
    PtcText fixed = format ? s->fixed : PTC_TEXT("");
    const PtcText parts[] = {{(const char *)head, 8 * n},
                             {first, strlen(first)},
                             kind,
                             record->owner,
                             record->key,
                             fixed,
                             last};
    ptc_hmac_parts((PtcText){(const char *)key, PTC_STORE_KEY_BYTES}, parts,
                   sizeof parts / sizeof *parts, tag);
}

static Sealed sealed_bytes(const PtcStoreRow *row)
{
    return (Sealed){"bytes", {row->version}, {(const char *)row->tag, PTC_STORE_TAG}, row->bytes};
}

static Sealed sealed_rest(const PtcStoreRow *row)
{
    return (Sealed){
        "rest",
        {row->version, (uint64_t)row->used_ms, (uint64_t)row->expires_ms, (uint64_t)row->idle_ms},
        PTC_TEXT(""),
        row->meta};
}

static void begin_seal(const PtcStoreKeys *keys, PtcStoreSeal *seal)
{
    seal->bytes[0] = PTC_STORE_FORMAT;
    seal->len = keys->count ? PTC_STORE_SEALED : 1;
}

void ptc_store_seal_bytes(const PtcStoreKeys *keys, const PtcStoreKey *record,
                          const PtcStoreRow *row, PtcStoreSeal *seal)
{
    begin_seal(keys, seal);
    Sealed s = sealed_bytes(row);
    if (keys->count)
        seal_under(keys->key[0], record, &s, PTC_STORE_FORMAT, seal->bytes + 1);
}

void ptc_store_seal_rest(const PtcStoreKeys *keys, const PtcStoreKey *record,
                         const PtcStoreRow *row, PtcStoreSeal *seal)
{
    begin_seal(keys, seal);
    Sealed s = sealed_rest(row);
    if (keys->count)
        seal_under(keys->key[0], record, &s, PTC_STORE_FORMAT, seal->bytes + 1);
}

typedef Sealed WhatIsSealed(const PtcStoreRow *row);

/* Without keys nothing can be said about a row, and those that others have sealed are not ours to read. */
static PtcStoreStatus check_seal(const PtcStoreKeys *keys, WhatIsSealed *what,
                                 const PtcStoreKey *record, const PtcStoreRow *row, PtcText seal)
{
    uint8_t tag[PTC_SHA256_BYTES];
    uint8_t format = seal.len ? (uint8_t)seal.bytes[0] : 0;
    if (format > PTC_STORE_FORMAT)
        return PTC_STORE_NEWER;
    if (seal.len != (keys->count ? PTC_STORE_SEALED : 1))
        return PTC_STORE_DAMAGED;
    Sealed s = what(row);
    for (size_t i = 0; i < keys->count; i++) {
        seal_under(keys->key[i], record, &s, format, tag);
        if (ptc_secret_same(tag, seal.bytes + 1, sizeof tag))
            return PTC_STORE_OK;
    }
    return keys->count ? PTC_STORE_DAMAGED : PTC_STORE_OK;
}

PtcStoreStatus ptc_store_seal_check(const PtcStoreKeys *keys, const PtcStoreKey *record,
                                    const PtcStoreRow *row, bool with_bytes)
{
    PtcStoreStatus status = check_seal(keys, sealed_rest, record, row, row->rest_seal);
    if (status == PTC_STORE_OK && with_bytes)
        status = check_seal(keys, sealed_bytes, record, row, row->seal);
    return status;
}
