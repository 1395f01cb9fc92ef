/* SPDX-License-Identifier: MIT
 * Entries of project files.  Such a file comes with a repository, so whoever can push to that could start programs
 * here: an entry is used only as it was when a person approved it.  What is compared is everything that the file says
 * about it, and the file of variables that it names, as a keyed digest, since both may hold secrets. */
#include <stdio.h>

#include "base/text/hex.h"
#include "base/text/hmac.h"
#include "base/text/one_line.h"
#include "cli/upstreams/upstreams_files.h"
#include "upstream/catalog/listing_cache.h"
#include "upstream/catalog/pins.h"
#include "value/coll/fields.h"

void ptc_upstreams_unusable(PtcHeap *heap, PtcValue *entry, PtcValue *place, const char *code,
                            const char *message)
{
    PtcText name = ptc_fields_text(heap, *entry, "name");
    PtcText ns = ptc_fields_text(heap, *entry, "namespace");
    PtcValue out = ptc_fields_map(heap), why = ptc_fields_map(heap);
    ptc_fields_put_text(heap, &why, "code", ptc_text_cstr(code));
    ptc_fields_put_text(heap, &why, "path", ptc_fields_text(heap, *place, "path"));
    ptc_fields_put_text(heap, &out, "name", name);
    ptc_fields_put_text(heap, &out, "namespace", ns);
    ptc_fields_put(heap, &out, "unusable", why);
    ptc_fields_put_text(heap, place, "message", ptc_text_cstr(message));
    *entry = out;
}

/* False: there is no key, so nothing can have been approved. */
static bool digest_of_entry(PtcUpstreams *u, PtcText written, char digest[PTC_PIN_ENTRY + 1])
{
    uint8_t key[PTC_LISTING_CACHE_KEY], tag[PTC_SHA256_BYTES];
    if (!u->state_dir[0] || !ptc_listing_cache_key(u->mem, u->state_dir, key))
        return false;
    ptc_hmac((PtcText){(const char *)key, sizeof key}, written.bytes, written.len, tag);
    ptc_hex_write(digest, tag, sizeof tag);
    return true;
}

PtcPins *ptc_upstreams_project_pins(PtcUpstreams *u, PtcFileShelf *files)
{
    return u->state_dir[0] && ptc_file_shelf_init(files, u->state_dir)
               ? ptc_pins_new(u->mem, &files->shelf)
               : NULL;
}

static bool is_approved_entry(PtcUpstreams *u, PtcText file, PtcText name, const char *digest)
{
    PtcFileShelf files;
    PtcPins *pins = ptc_upstreams_project_pins(u, &files);
    bool approved = pins && ptc_pins_has_entry(pins, (PtcPinned){file, name}, digest);
    ptc_pins_free(pins);
    return approved;
}

void ptc_upstreams_project(PtcUpstreams *u, const char *how, PtcValue *entry, PtcValue *place)
{
    PtcHeap *heap = &u->scratch.heap;
    char digest[PTC_PIN_ENTRY + 1], message[800], word[PTC_ONE_LINE_WORD];
    PtcText written = ptc_fields_text(heap, *place, "written");
    PtcText name = ptc_fields_text(heap, *entry, "name");
    if (ptc_map_field(heap, *entry, "unusable") != PTC_NONE)
        return;
    if (!written.bytes || !digest_of_entry(u, written, digest)) {
        ptc_upstreams_unusable(heap, entry, place, "not_approved",
                               "what comes with a project must be approved, and there is no place "
                               "to keep that: set HOME or XDG_STATE_HOME");
        return;
    }
    ptc_fields_put_text(heap, place, "digest", ptc_text_cstr(digest));
    if (is_approved_entry(u, ptc_fields_text(heap, *place, "file"), name, digest))
        return;
    snprintf(message, sizeof message,
             "it comes with the project and is not approved as it is now; read its entry, then run "
             "ptc upstreams approve %s %s",
             ptc_one_line_word(word, name, (PtcText){NULL, 0}), how);
    ptc_upstreams_unusable(heap, entry, place, "not_approved", message);
}
