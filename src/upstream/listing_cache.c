/* SPDX-License-Identifier: MIT
 * A cache file is one JSON object: {"format", "era", "about", "tools"}.  It is written beside its place and renamed, so a
 * reader sees the old one or the new one, whole. */
#define _GNU_SOURCE
#include "upstream/listing_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hmac.h"
#include "base/secret.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/fields.h"

enum { FORMAT = 1, FILE_BYTES = 20 * 1024 * 1024 };

/* ------------------------------------------------------------------------------------ files */

/* Makes a directory and those above it. */
static bool make_dirs(const char *path)
{
    char part[PTC_LISTING_CACHE_PATH];
    size_t n = strlen(path);
    if (n >= sizeof part)
        return false;
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char kept = part[i];
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return false;
        part[i] = kept;
    }
    return true;
}

static bool make_dirs_of(const char *path)
{
    char dir[PTC_LISTING_CACHE_PATH];
    const char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) >= sizeof dir)
        return slash == NULL;
    memcpy(dir, path, (size_t)(slash - path));
    dir[slash - path] = '\0';
    return make_dirs(dir);
}

static bool write_all(int fd, PtcText text)
{
    while (text.len) {
        ssize_t n = write(fd, text.bytes, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text.bytes += n;
        text.len -= (size_t)n;
    }
    return true;
}

/* A file that is there whole or not at all; `only_new`: an existing one stays as it is, and that is no failure. */
static bool put_file(const char *path, PtcText text, bool only_new)
{
    char beside[PTC_LISTING_CACHE_PATH + 32];
    uint64_t nonce;
    if (!make_dirs_of(path) || !ptc_random_bytes(&nonce, sizeof nonce))
        return false;
    snprintf(beside, sizeof beside, "%s.%016llx", path, (unsigned long long)nonce);
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, text);
    ok = close(fd) == 0 && ok;
    if (ok && only_new)
        ok = link(beside, path) == 0 || errno == EEXIST;
    else if (ok && rename(beside, path) == 0)
        return true;
    unlink(beside);
    return ok && only_new;
}

/* Only a regular file that nobody else may write is read. */
static int open_own(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        (st.st_mode & 022) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool read_file(const char *path, PtcBuf *out)
{
    char chunk[16 * 1024];
    ssize_t n = 0;
    int fd = open_own(path);
    if (fd < 0)
        return false;
    while ((n = read(fd, chunk, sizeof chunk)) > 0 && ptc_buf_add(out, chunk, (size_t)n))
        ;
    close(fd);
    return n == 0 && ptc_buf_ok(out);
}

/* ------------------------------------------------------------------------------ key and name */

static bool read_key(const char *path, uint8_t key[PTC_LISTING_CACHE_KEY])
{
    int fd = open_own(path);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, key, PTC_LISTING_CACHE_KEY);
    close(fd);
    return n == PTC_LISTING_CACHE_KEY;
}

bool ptc_listing_cache_key(const char *state_dir, uint8_t key[PTC_LISTING_CACHE_KEY])
{
    char path[PTC_LISTING_CACHE_PATH];
    int n = snprintf(path, sizeof path, "%s/cache.key", state_dir);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    if (read_key(path, key))
        return true;
    /* Two processes may do this at once: the first file stays, and both read it. */
    return ptc_random_bytes(key, PTC_LISTING_CACHE_KEY) &&
           put_file(path, (PtcText){(const char *)key, PTC_LISTING_CACHE_KEY}, true) &&
           read_key(path, key);
}

bool ptc_listing_cache_path(char path[PTC_LISTING_CACHE_PATH], const char *cache_dir,
                            const uint8_t key[PTC_LISTING_CACHE_KEY], PtcText entry_json,
                            PtcText credentials)
{
    uint8_t tag[PTC_SHA256_BYTES];
    char hex[2 * 16 + 1];
    PtcText parts[] = {entry_json, PTC_TEXT("\0"), credentials};
    ptc_hmac_parts((PtcText){(const char *)key, PTC_LISTING_CACHE_KEY}, parts, 3, tag);
    for (size_t i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", tag[i]);
    int n = snprintf(path, PTC_LISTING_CACHE_PATH, "%s/upstreams/%s.json", cache_dir, hex);
    return n > 0 && n < PTC_LISTING_CACHE_PATH;
}

/* ------------------------------------------------------------------------------ load and save */

/* The members as text again: the maker of a listing takes what an upstream would send. */
static PtcListing *from_file(PtcMem *mem, PtcDesk *desk, PtcText text, const PtcEntry *entry)
{
    PtcJsonError error;
    PtcBuf tools, about;
    PtcListing *listing = NULL;
    PtcValue file = ptc_json_parse(&desk->heap, text.bytes, text.len, &error);
    PtcText era = ptc_fields_text(&desk->heap, file, "era");
    if (file == PTC_NONE || !era.bytes ||
        !ptc_fields_is(&desk->heap, file, "format", ptc_int(FORMAT)))
        return NULL;
    ptc_buf_init(&tools, mem, FILE_BYTES);
    ptc_buf_init(&about, mem, FILE_BYTES);
    PtcValue list = ptc_map_field(&desk->heap, file, "tools");
    PtcValue what = ptc_map_field(&desk->heap, file, "about");
    if (list != PTC_NONE && ptc_emit_value(&tools, &desk->heap, list) &&
        (what == PTC_NONE || ptc_emit_value(&about, &desk->heap, what)))
        listing = ptc_listing_new(mem, entry, ptc_buf_view(&tools), ptc_buf_view(&about),
                                  ptc_text_is(era, "modern"));
    if (listing)
        listing->cached = true;
    ptc_buf_deinit(&tools);
    ptc_buf_deinit(&about);
    return listing;
}

PtcListing *ptc_listing_cache_load(PtcMem *mem, const char *path, const PtcEntry *entry)
{
    PtcBuf text;
    PtcDesk desk;
    PtcListing *listing = NULL;
    ptc_buf_init(&text, mem, FILE_BYTES);
    ptc_desk_init(&desk, mem, PTC_LISTING_BYTES);
    if (read_file(path, &text))
        listing = from_file(mem, &desk, ptc_buf_view(&text), entry);
    ptc_desk_deinit(&desk);
    ptc_buf_deinit(&text);
    return listing;
}

bool ptc_listing_cache_save(PtcMem *mem, const char *path, PtcText tools, PtcText about,
                            bool modern)
{
    PtcBuf out;
    ptc_buf_init(&out, mem, FILE_BYTES);
    ptc_emit_object(&out);
    ptc_emit_field_int(&out, "format", FORMAT);
    ptc_emit_field_cstr(&out, "era", modern ? "modern" : "legacy");
    if (about.len)
        ptc_emit_field_raw(&out, "about", about);
    ptc_emit_field_raw(&out, "tools", tools);
    ptc_emit_object_end(&out);
    bool ok = ptc_buf_ok(&out) && put_file(path, ptc_buf_view(&out), false);
    ptc_buf_deinit(&out);
    return ok;
}
