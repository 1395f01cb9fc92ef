/* SPDX-License-Identifier: MIT
 * Entries of project files.  Such a file comes with a repository, so whoever can push to that could start programs
 * here: an entry is used only as it was when a person approved it.  What is compared is everything that the file says
 * about it, and the file of variables that it names, as a keyed digest, since both may hold secrets. */
#include <ctype.h>
#include <stdio.h>

#include "base/hex.h"
#include "base/hmac.h"
#include "cli/upstreams_files.h"
#include "upstream/fields.h"
#include "upstream/listing_cache.h"
#include "upstream/pins.h"

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
static bool digest_of(PtcUpstreams *u, PtcText written, char digest[PTC_PIN_ENTRY + 1])
{
    uint8_t key[PTC_LISTING_CACHE_KEY], tag[PTC_SHA256_BYTES];
    if (!u->state_dir[0] || !ptc_listing_cache_key(u->mem, u->state_dir, key))
        return false;
    ptc_hmac((PtcText){(const char *)key, sizeof key}, written.bytes, written.len, tag);
    ptc_hex_write(digest, tag, sizeof tag);
    return true;
}

static bool is_approved(PtcUpstreams *u, PtcText file, PtcText name, const char *digest)
{
    PtcPins *pins = ptc_pins_new(u->mem, u->state_dir);
    bool approved = pins && ptc_pins_has_entry(pins, (PtcPinned){file, name}, digest);
    ptc_pins_free(pins);
    return approved;
}

/* A name for a command line that a person may copy: whoever wrote the project's file chose it. */
static void add_word(PtcBuf *out, PtcText name)
{
    ptc_buf_add_char(out, '\'');
    for (size_t i = 0; i < name.len && i < 80; i++) {
        char c = name.bytes[i];
        if (c == '\'')
            ptc_buf_add_cstr(out, "'\\''");
        else
            ptc_buf_add_char(out, (unsigned char)c < ' ' || c == 0x7f ? '?' : c);
    }
    ptc_buf_add_char(out, '\'');
}

static bool is_plain_word(PtcText name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!isalnum((unsigned char)name.bytes[i]) && !strchr("_.-", name.bytes[i]))
            return false;
    return name.len > 0 && name.bytes[0] != '-';
}

void ptc_upstreams_project(PtcUpstreams *u, const char *how, PtcValue *entry, PtcValue *place)
{
    PtcHeap *heap = &u->desk.heap;
    PtcBuf word;
    char digest[PTC_PIN_ENTRY + 1], message[800];
    PtcText written = ptc_fields_text(heap, *place, "written");
    PtcText name = ptc_fields_text(heap, *entry, "name");
    if (ptc_map_field(heap, *entry, "unusable") != PTC_NONE)
        return;
    if (!written.bytes || !digest_of(u, written, digest)) {
        ptc_upstreams_unusable(heap, entry, place, "not_approved",
                               "what comes with a project must be approved, and there is no place "
                               "to keep that: set HOME or XDG_STATE_HOME");
        return;
    }
    ptc_fields_put_text(heap, place, "digest", ptc_text_cstr(digest));
    if (is_approved(u, ptc_fields_text(heap, *place, "file"), name, digest))
        return;
    ptc_buf_init(&word, u->mem, 1024);
    if (is_plain_word(name))
        ptc_buf_add(&word, name.bytes, name.len);
    else
        add_word(&word, name);
    snprintf(message, sizeof message,
             "it comes with the project and is not approved as it is now; read its entry, then run "
             "ptc upstreams approve %.*s %s",
             (int)word.len, word.data, how);
    ptc_buf_deinit(&word);
    ptc_upstreams_unusable(heap, entry, place, "not_approved", message);
}
