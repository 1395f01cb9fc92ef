/* SPDX-License-Identifier: MIT
 * A cache file is one JSON object: {"format", "era", "at", "about", "tools"}.  It is written beside its place and
 * renamed, so a reader sees the old one or the new one, whole.  Beside it may be a line: when it could not be listed,
 * a blank, and why. */
#include "upstream/catalog/listing_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/whole_file.h"
#include "base/text/hex.h"
#include "base/text/hmac.h"
#include "base/text/secret.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/fields.h"

enum { LISTING_FORMAT = 1, LISTING_FILE_BYTES = 20 * PTC_MB };

/* ------------------------------------------------------------------------------ key and name */

static bool read_cache_key(PtcMem *mem, const char *path, uint8_t key[PTC_LISTING_CACHE_KEY])
{
    PtcBuf buf;
    ptc_buf_init(&buf, mem, PTC_LISTING_CACHE_KEY);
    bool ok = ptc_whole_file_read(path, &buf) && buf.len == PTC_LISTING_CACHE_KEY;
    if (ok)
        memcpy(key, buf.data, PTC_LISTING_CACHE_KEY);
    ptc_buf_deinit(&buf);
    return ok;
}

bool ptc_listing_cache_key(PtcMem *mem, const char *state_dir, uint8_t key[PTC_LISTING_CACHE_KEY])
{
    char path[PTC_LISTING_CACHE_PATH];
    int n = snprintf(path, sizeof path, "%s/cache.key", state_dir);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    if (read_cache_key(mem, path, key))
        return true;
    /* Two processes may do this at once: the first file stays, and both read it. */
    return ptc_random_bytes(key, PTC_LISTING_CACHE_KEY) &&
           ptc_whole_file_put(path, (PtcText){(const char *)key, PTC_LISTING_CACHE_KEY},
                              (PtcWholeFile){.dirs = true, .only_new = true}) &&
           read_cache_key(mem, path, key);
}

bool ptc_listing_cache_path(char path[PTC_LISTING_CACHE_PATH], const char *cache_dir,
                            const uint8_t key[PTC_LISTING_CACHE_KEY], PtcText entry_json,
                            PtcText credentials)
{
    uint8_t tag[PTC_SHA256_BYTES];
    char hex[2 * 16 + 1];
    PtcText parts[] = {entry_json, PTC_TEXT("\0"), credentials};
    ptc_hmac_parts((PtcText){(const char *)key, PTC_LISTING_CACHE_KEY}, parts, 3, tag);
    ptc_hex_write(hex, tag, 16);
    int n = snprintf(path, PTC_LISTING_CACHE_PATH, "%s/upstreams/%s.json", cache_dir, hex);
    return n > 0 && n < PTC_LISTING_CACHE_PATH;
}

/* ------------------------------------------------------------------------------ load and save */

/* The members as text again: the maker of a listing takes what an upstream would send. */
static PtcListing *listing_from_cache(PtcMem *mem, PtcScratch *scratch, PtcText text,
                                      const PtcEntry *entry)
{
    PtcJsonError error;
    PtcBuf tools, about;
    PtcListing *listing = NULL;
    PtcValue file = ptc_json_parse(&scratch->heap, text.bytes, text.len, &error);
    PtcText era = ptc_fields_text(&scratch->heap, file, "era");
    if (file == PTC_NONE || !era.bytes ||
        !ptc_fields_is(&scratch->heap, file, "format", ptc_int(LISTING_FORMAT)))
        return NULL;
    ptc_buf_init(&tools, mem, LISTING_FILE_BYTES);
    ptc_buf_init(&about, mem, LISTING_FILE_BYTES);
    PtcValue list = ptc_map_field(&scratch->heap, file, "tools");
    PtcValue what = ptc_map_field(&scratch->heap, file, "about");
    if (list != PTC_NONE && ptc_emit_value(&tools, &scratch->heap, list) &&
        (what == PTC_NONE || ptc_emit_value(&about, &scratch->heap, what)))
        listing = ptc_listing_new(mem, entry, ptc_buf_view(&tools), ptc_buf_view(&about),
                                  ptc_text_is(era, "modern"));
    PtcValue at = ptc_map_field(&scratch->heap, file, "at");
    if (listing) {
        listing->cached = true;
        listing->wall_ms = at != PTC_NONE && ptc_is_int(at) ? ptc_to_int(at) : 0;
    }
    ptc_buf_deinit(&tools);
    ptc_buf_deinit(&about);
    return listing;
}

PtcListing *ptc_listing_cache_load(PtcMem *mem, const char *path, const PtcEntry *entry)
{
    PtcBuf text;
    PtcScratch scratch;
    PtcListing *listing = NULL;
    ptc_buf_init(&text, mem, LISTING_FILE_BYTES);
    ptc_scratch_init(&scratch, mem, PTC_LISTING_BYTES);
    if (ptc_whole_file_read(path, &text))
        listing = listing_from_cache(mem, &scratch, ptc_buf_view(&text), entry);
    ptc_scratch_deinit(&scratch);
    ptc_buf_deinit(&text);
    return listing;
}

bool ptc_listing_cache_save(PtcMem *mem, const char *path, PtcText tools, PtcText about,
                            bool modern)
{
    PtcBuf out;
    ptc_buf_init(&out, mem, LISTING_FILE_BYTES);
    ptc_emit_object(&out);
    ptc_emit_field_int(&out, "format", LISTING_FORMAT);
    ptc_emit_field_cstr(&out, "era", modern ? "modern" : "legacy");
    ptc_emit_field_int(&out, "at", ptc_clock_wall_ms());
    if (about.len)
        ptc_emit_field_raw(&out, "about", about);
    ptc_emit_field_raw(&out, "tools", tools);
    ptc_emit_object_end(&out);
    bool ok = ptc_buf_ok(&out) &&
              ptc_whole_file_put(path, ptc_buf_view(&out), (PtcWholeFile){.dirs = true});
    ptc_buf_deinit(&out);
    return ok;
}

/* ------------------------------------------------------------------------------------ failures */

void ptc_listing_cache_fail(const char *path, const char *why)
{
    char name[PTC_LISTING_CACHE_PATH + 8], text[PTC_LISTING_CACHE_WHY + 32];
    size_t len = ptc_utf8_valid_prefix(why, strnlen(why, PTC_LISTING_CACHE_WHY - 1));
    snprintf(name, sizeof name, "%s.failed", path);
    snprintf(text, sizeof text, "%lld %.*s", (long long)ptc_clock_wall_ms(), PTC_ARG_OF(why, len));
    (void)!ptc_whole_file_put(name, ptc_text_cstr(text), (PtcWholeFile){.dirs = true});
}

void ptc_listing_cache_failed(PtcMem *mem, const char *path, int64_t since_ms,
                              char why[PTC_LISTING_CACHE_WHY])
{
    char name[PTC_LISTING_CACHE_PATH + 8], *end;
    PtcBuf text;
    snprintf(name, sizeof name, "%s.failed", path);
    ptc_buf_init(&text, mem, PTC_LISTING_CACHE_WHY + 32);
    bool read = ptc_whole_file_read(name, &text) && ptc_buf_text(&text);
    bool newer = read && strtoll(text.data, &end, 10) > since_ms && *end == ' ';
    snprintf(why, PTC_LISTING_CACHE_WHY, "%s", newer ? end + 1 : "");
    ptc_buf_deinit(&text);
}
