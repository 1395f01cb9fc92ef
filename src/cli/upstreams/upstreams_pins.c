/* SPDX-License-Identifier: MIT
 * `ptc upstreams pins` and `approve`: what tools were when they were first seen, and a person's word that what they are
 * now will do.  Neither starts anything: what is approved is what was seen last. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <string.h>

#include "base/text/clean.h"
#include "base/text/nearest.h"
#include "base/text/one_line.h"
#include "base/utf8.h"
#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/upstreams/upstreams_ask.h"
#include "cli/upstreams/upstreams_files.h"
#include "json/emit.h"
#include "trace/redact.h"
#include "upstream/catalog/pins.h"
#include "value/coll/fields.h"

enum { PINS_OUT_BYTES = 64 * PTC_MB, ENTRY_BYTES = PTC_MB };

static int complain_of_pins(const char *what, const char *why)
{
    char line[512];
    int n = snprintf(line, sizeof line, "ptc upstreams: %s: %s", what, why);
    (void)!ptc_shown_write_line(PTC_IO_STDERR, line,
                                n > 0 && (size_t)n < sizeof line ? (size_t)n : strlen(line));
    return PTC_EXIT_FAILED;
}

/* NULL: there are no upstreams or no pins, and that has been told. */
static PtcPins *find_pins(PtcUpstreamsCommand *c, const char *what)
{
    PtcWhy why;
    PtcPins *pins = c->upstreams->manager ? ptc_manager_pins(c->upstreams->manager) : NULL;
    if (!c->upstreams->manager) {
        complain_of_pins(what,
                         "there are no upstreams: name a file with --upstreams FILE, or a client "
                         "with --import CLIENT");
        return NULL;
    }
    if (!pins) {
        complain_of_pins("pins", "there is no place for them: set HOME or XDG_STATE_HOME");
        return NULL;
    }
    if (ptc_pins_usable(pins, &why))
        return pins;
    complain_of_pins("pins", why.text);
    return NULL;
}

static bool is_state_named(const PtcUpstreamState *s, PtcText name)
{
    return ptc_text_same(s->name, name) || ptc_text_same(s->ns, name);
}

/* ------------------------------------------------------------------------------------- pins */

typedef struct {
    PtcBuf *out;
    PtcText name;
    bool json;
    size_t count, changed;
} PinListing;

static void put_json(PinListing *l, const PtcPin *pin)
{
    char parts[64];
    ptc_pins_parts(pin->parts, parts);
    ptc_emit_object(l->out);
    ptc_emit_field_text(l->out, "server", l->name);
    ptc_emit_field_text(l->out, "tool", pin->tool);
    ptc_emit_field_text(l->out, "pinned", pin->pinned);
    ptc_emit_field_bool(l->out, "changed", pin->parts != 0);
    if (pin->parts) {
        ptc_emit_field_cstr(l->out, "parts", parts);
        ptc_emit_field_text(l->out, "was", pin->was);
        ptc_emit_field_text(l->out, "is", pin->is);
    }
    ptc_emit_object_end(l->out);
}

static void put_about(PtcBuf *out, const char *label, PtcText text)
{
    ptc_buf_addf(out, "    %s ", label);
    ptc_shown_add(out, text.bytes ? text.bytes : "", text.len);
    ptc_buf_add_char(out, '\n');
}

static void put_pin(void *user, const PtcPin *pin)
{
    PinListing *l = user;
    char parts[64];
    l->count++;
    l->changed += pin->parts != 0;
    if (l->json) {
        put_json(l, pin);
        return;
    }
    if (!pin->parts)
        return;
    ptc_pins_parts(pin->parts, parts);
    ptc_buf_add_cstr(l->out, "  ");
    ptc_shown_add(l->out, pin->tool.bytes, pin->tool.len);
    ptc_buf_addf(l->out, "  changed: %s\n", parts);
    put_about(l->out, "was:", pin->was);
    put_about(l->out, "is: ", pin->is);
}

/* A name of a file, which may have any characters, as it can be shown in a line. */
static void clean_name(PtcMem *mem, PtcText name, char out[PTC_CLEAN_LINE + 1])
{
    PtcBuf clean;
    ptc_buf_init(&clean, mem, PTC_CLEAN_LINE);
    ptc_clean_add(&clean, name, PTC_CLEAN_LINE, false);
    snprintf(out, PTC_CLEAN_LINE + 1, "%.*s", PTC_ARG_OF(clean.data, clean.len));
    ptc_buf_deinit(&clean);
}

static void put_pinned_server(PtcUpstreamsCommand *c, PtcPins *pins, const PtcUpstreamState *s,
                              PtcBuf *out)
{
    PtcBuf tools;
    ptc_buf_init(&tools, c->mem, PINS_OUT_BYTES);
    PinListing l = {.out = c->json ? out : &tools, .name = s->name, .json = c->json};
    ptc_pins_each(pins, (PtcPinned){s->file, s->name}, put_pin, &l);
    if (!c->json) {
        char name[PTC_CLEAN_LINE + 1], word[PTC_ONE_LINE_WORD];
        clean_name(c->mem, s->name, name);
        ptc_buf_addf(out, "%-24s %zu tool%s pinned", name, l.count, l.count == 1 ? "" : "s");
        if (l.changed)
            ptc_buf_addf(out, ", %zu changed; ptc upstreams approve %s takes one as it is",
                         l.changed, ptc_one_line_word(word, s->name, PTC_TEXT("TOOL")));
        ptc_buf_add_char(out, '\n');
        ptc_buf_add(out, tools.data, tools.len);
    }
    ptc_buf_deinit(&tools);
}

int ptc_upstreams_pins(PtcUpstreamsCommand *c)
{
    PtcPins *pins = find_pins(c, "pins");
    PtcBuf out;
    bool known = true;
    if (!pins)
        return PTC_EXIT_FAILED;
    for (int i = 0; i < c->argc; i++)
        known = ptc_upstreams_knows(c->upstreams, ptc_text_cstr(c->argv[i])) && known;
    ptc_buf_init(&out, c->mem, PINS_OUT_BYTES);
    if (c->json)
        ptc_emit_array(&out);
    for (size_t i = 0; i < ptc_manager_count(c->upstreams->manager); i++) {
        PtcUpstreamState s;
        bool wanted = c->argc == 0;
        ptc_manager_state(c->upstreams->manager, i, &s);
        for (int a = 0; a < c->argc; a++)
            wanted = wanted || is_state_named(&s, ptc_text_cstr(c->argv[a]));
        if (wanted)
            put_pinned_server(c, pins, &s, &out);
    }
    if (c->json)
        ptc_buf_add_cstr(&out, "]\n");
    bool ok = ptc_buf_ok(&out) && ptc_io_write(PTC_IO_STDOUT, out.data, out.len);
    ptc_buf_deinit(&out);
    return ok && known ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* ---------------------------------------------------------------------------------- approve */

/* The entry, with the inputs of the file in a second line if it takes any of them: their defaults may be all of a
 * command.  The file of variables, which comes after these, is not shown. */
static PtcText shown_of(PtcText written)
{
    const char *end = memchr(written.bytes, '\n', written.len);
    size_t n = end ? (size_t)(end - written.bytes) : written.len;
    bool inputs = end && end[1] == '[' && memmem(written.bytes, n, "${input:", 8);
    const char *next = inputs ? memchr(end + 1, '\n', written.len - n - 1) : NULL;
    size_t both = next ? (size_t)(next - written.bytes) : written.len;
    return (PtcText){written.bytes, inputs ? both : n};
}

/* What will be used from now on, as it is written: a person who did not look at the file sees it here.  Values that
 * must be kept secret are not shown, wherever the file has them. */
static void show_approved_entry(PtcUpstreamsCommand *c, PtcText written, const PtcUpstreamState *s)
{
    PtcBuf safe, line;
    PtcText entry = shown_of(written);
    bool cut = entry.len > ENTRY_BYTES;
    entry = ptc_text_cut(entry, ENTRY_BYTES);
    ptc_buf_init(&safe, c->upstreams->mem, 2 * ENTRY_BYTES); /* blotting at most doubles it */
    ptc_buf_init(&line, c->upstreams->mem, 4 * ENTRY_BYTES);
    ptc_secrets_blot(ptc_manager_secrets(c->upstreams->manager), &safe, entry, false);
    ptc_buf_addf(&line, "%.*s may be used as %.*s has it now:\n  ", PTC_ARG(s->name),
                 PTC_ARG(s->file));
    ptc_buf_add(&line, safe.data, ptc_utf8_valid_prefix(safe.data, safe.len));
    ptc_buf_add_cstr(&line, cut ? "..." : "");
    (void)!ptc_shown_write_line(PTC_IO_STDOUT, line.data, line.len);
    ptc_buf_deinit(&safe);
    ptc_buf_deinit(&line);
}

/* An entry of a project's file, as it is written now.  False: it is not one, or it is approved already. */
static bool approve_entry(PtcUpstreamsCommand *c, size_t i, const PtcUpstreamState *s, int *status)
{
    PtcHeap *heap = &c->upstreams->scratch.heap;
    PtcValue place = ptc_seq_nth(c->upstreams->places, i);
    PtcText text = ptc_fields_text(heap, place, "digest");
    PtcPinned who = {s->file, s->name};
    PtcWhy why;
    PtcFileShelf files;
    char digest[PTC_PIN_ENTRY + 1];
    if (!text.bytes || text.len != PTC_PIN_ENTRY)
        return false;
    memcpy(digest, text.bytes, PTC_PIN_ENTRY);
    digest[PTC_PIN_ENTRY] = '\0';
    *status = PTC_EXIT_OK;
    PtcPins *pins = ptc_upstreams_project_pins(c->upstreams, &files);
    bool new = pins && !ptc_pins_has_entry(pins, who, digest);
    if (new && !ptc_pins_approve_entry(pins, who, digest, &why))
        *status = complain_of_pins(c->argv[0], why.text);
    else if (new)
        show_approved_entry(c, ptc_fields_text(heap, place, "written"), s);
    ptc_pins_free(pins);
    return new;
}

/* A tool among those that are pinned, or the nearest. */
typedef struct {
    PtcText name;
    bool found;
    PtcNearest near;
} Sought;

static void compare_pin(void *user, const PtcPin *pin)
{
    Sought *s = user;
    s->found = s->found || ptc_text_same(pin->tool, s->name);
    ptc_nearest_offer(&s->near, pin->tool.bytes, pin->tool.len);
}

/* Nothing was approved: there is nothing to approve, or not under this name. */
static int tell_unchanged(PtcPins *pins, PtcPinned who, PtcText tool, const char *arg)
{
    char why[300];
    Sought s = {.name = tool};
    ptc_nearest_init(&s.near, tool.bytes ? tool.bytes : "", tool.len);
    ptc_pins_each(pins, who, compare_pin, &s);
    if (!tool.bytes || s.found)
        return complain_of_pins(arg,
                                "as far as is known, nothing has changed since it was pinned; ptc "
                                "upstreams check looks again");
    snprintf(why, sizeof why, "no such tool is pinned%s%.*s%s",
             s.near.best ? "; did you mean \"" : "", PTC_ARG_OF(s.near.best, s.near.best_len),
             s.near.best ? "\"?" : "");
    return complain_of_pins(arg, why);
}

static int approve_server_tools(PtcPins *pins, const PtcUpstreamState *s, PtcText tool,
                                const char *arg)
{
    PtcWhy why;
    size_t count = 0;
    if (!ptc_pins_approve(pins, (PtcPinned){s->file, s->name}, tool, &count, &why))
        return complain_of_pins(arg, why.text);
    if (count == 0 && s->state == PTC_UPSTREAM_UNUSABLE) {
        ptc_why_say(&why, PTC_WHY_REFUSED, "it cannot be used, approved or not: %s", s->reason);
        return complain_of_pins(arg, why.text);
    }
    if (count == 0)
        return tell_unchanged(pins, (PtcPinned){s->file, s->name}, tool, arg);
    ptc_io_printf(PTC_IO_STDOUT, "%s: %zu %s\n", arg, count,
                  count == 1 ? "tool is accepted as it is now"
                             : "tools are accepted as they are now");
    return PTC_EXIT_OK;
}

static int approve_one(PtcUpstreamsCommand *c, PtcPins *pins, const char *arg)
{
    PtcManager *m = c->upstreams->manager;
    const char *slash = strchr(arg, '/');
    PtcText name = slash ? (PtcText){arg, (size_t)(slash - arg)} : ptc_text_cstr(arg);
    PtcText tool = slash ? ptc_text_cstr(slash + 1) : (PtcText){NULL, 0};
    if (!ptc_upstreams_knows(c->upstreams, name))
        return PTC_EXIT_FAILED;
    for (size_t i = 0; i < ptc_manager_count(m); i++) {
        PtcUpstreamState s;
        ptc_manager_state(m, i, &s);
        int status;
        if (!is_state_named(&s, name))
            continue;
        if (!tool.bytes && approve_entry(c, i, &s, &status))
            return status;
        return approve_server_tools(pins, &s, tool, arg);
    }
    return PTC_EXIT_FAILED;
}

int ptc_upstreams_approve(PtcUpstreamsCommand *c)
{
    PtcPins *pins = find_pins(c, "approve");
    int status = PTC_EXIT_OK;
    if (!pins)
        return PTC_EXIT_FAILED;
    for (int i = 0; i < c->argc; i++)
        if (approve_one(c, pins, c->argv[i]) != PTC_EXIT_OK)
            status = PTC_EXIT_FAILED;
    return status;
}

/* ------------------------------------------------------------------------------------ check */

static void put_changed(void *user, PtcText tool, unsigned parts)
{
    PtcBuf *out = user;
    char text[64];
    ptc_pins_parts(parts, text);
    ptc_buf_add_cstr(out, "\n  ");
    ptc_shown_add(out, tool.bytes, tool.len);
    ptc_buf_addf(out, " has changed since it was pinned: %s", text);
}

void ptc_upstreams_put_changed(PtcUpstreamsCommand *c, size_t i, PtcBuf *out)
{
    char word[PTC_ONE_LINE_WORD];
    size_t before = out->len;
    PtcUpstreamState s;
    ptc_manager_state(c->upstreams->manager, i, &s);
    ptc_manager_changed(c->upstreams->manager, i, put_changed, out);
    const char *name = ptc_one_line_word(word, s.name, (PtcText){NULL, 0});
    if (out->len > before)
        ptc_buf_addf(out, "\n  ptc upstreams pins %s shows how, approve %s accepts it as it is",
                     name, name);
}
