/* SPDX-License-Identifier: MIT
 * Seals and their key.  What always holds: the length of each part of a seal is sealed with it, so that two
 * different records never give the same bytes; the two kinds of seal begin with different words, so that one cannot
 * pass for the other. */
#include "store/store_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/private_file.h"
#include "base/text/secret.h"

enum { SEAL_NAME_BYTES = 4096 };

/* -------------------------------------------------------------------------------- the key */

static bool fail_store_key(PtcWhy *why, const char *name, const char *what)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "%s: %s", name, what);
}

/* A longer file is not a key either, hence the read past the end. */
static bool read_key_bytes(int fd, uint8_t key[PTC_STORE_KEY_BYTES])
{
    uint8_t more;
    size_t have = 0;
    ssize_t n = 1;
    while (have < PTC_STORE_KEY_BYTES && n > 0) {
        n = read(fd, key + have, PTC_STORE_KEY_BYTES - have);
        have += n > 0 ? (size_t)n : 0;
    }
    return have == PTC_STORE_KEY_BYTES && read(fd, &more, 1) == 0;
}

static bool read_store_key(const char *name, uint8_t key[PTC_STORE_KEY_BYTES], bool *absent,
                           PtcWhy *why)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    *absent = fd < 0 && errno == ENOENT;
    if (fd < 0)
        return fail_store_key(why, name, strerror(errno));
    bool whole = read_key_bytes(fd, key);
    close(fd);
    if (!whole)
        return fail_store_key(why, name, "it is not a key, which has 32 bytes");
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
    snprintf(own, sizeof own, "%s-%ld", name, (long)getpid());
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
bool ptc_store_key_read(const char *path, bool make, uint8_t key[PTC_STORE_KEY_BYTES], bool *absent,
                        PtcWhy *why)
{
    char name[SEAL_NAME_BYTES];
    *absent = false;
    if (snprintf(name, sizeof name, "%s.key", path) >= (int)sizeof name)
        return fail_store_key(why, "the store", "its name is too long");
    if (read_store_key(name, key, absent, why))
        return true;
    return *absent && make && make_store_key(name, why) && read_store_key(name, key, absent, why);
}

/* --------------------------------------------------------------------------------- seals */

/* Byte by byte, so that a store can move between machines. */
static void put_sealed_number(uint8_t out[8], uint64_t n)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(n >> (8 * i));
}

enum { SEAL_NUMBERS = 8 };

/* Tags `first`, the record's name, some numbers and a last text. */
static void seal(const uint8_t key[PTC_STORE_KEY_BYTES], const char *first,
                 const PtcStoreKey *record, const uint64_t numbers[3], PtcText last,
                 PtcStoreSeal *out)
{
    uint8_t head[SEAL_NUMBERS * 8] = {0};
    PtcText kind = ptc_text_cstr(record->kind);
    last = last.bytes ? last : PTC_TEXT("");
    const uint64_t all[SEAL_NUMBERS] = {strlen(first),   kind.len,   record->owner.len,
                                        record->key.len, numbers[0], numbers[1],
                                        numbers[2],      last.len};
    for (size_t i = 0; i < SEAL_NUMBERS; i++)
        put_sealed_number(head + 8 * i, all[i]);
    const PtcText parts[] = {{(const char *)head, sizeof head},
                             {first, strlen(first)},
                             kind,
                             record->owner,
                             record->key,
                             last};
    ptc_hmac_parts((PtcText){(const char *)key, PTC_STORE_KEY_BYTES}, parts,
                   sizeof parts / sizeof *parts, out->tag);
}

void ptc_store_seal_bytes(const uint8_t key[PTC_STORE_KEY_BYTES], const PtcStoreKey *record,
                          uint64_t version, PtcText bytes, PtcStoreSeal *out)
{
    seal(key, "bytes", record, (uint64_t[3]){version}, bytes, out);
}

void ptc_store_seal_rest(const uint8_t key[PTC_STORE_KEY_BYTES], const PtcStoreKey *record,
                         uint64_t version, const PtcStorePut *put, PtcStoreSeal *out)
{
    uint64_t numbers[3] = {version, (uint64_t)put->used_ms, (uint64_t)put->expires_ms};
    seal(key, "rest", record, numbers, put->meta, out);
}

bool ptc_store_seal_is(const PtcStoreSeal *seal, PtcText found)
{
    return found.len == sizeof seal->tag && ptc_secret_same(seal->tag, found.bytes, found.len);
}
