/* SPDX-License-Identifier: MIT
 * Data from files.  What always holds: all of it together stays inside its limit, and a program that was given no file
 * pays for nothing here. */
#include "cli/cmd/data_in.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "cli/io.h"
#include "tool/call.h"

enum { NAMES_MB = 1 }; /* for the map of names, whose values are elsewhere */

static bool is_data_file(const char *path)
{
    return *path && access(path, F_OK) == 0;
}

bool ptc_data_in_split(const char *item, char name[PTC_DATA_IN_NAME], const char **path,
                       PtcWhy *why)
{
    const char *equals = strchr(item, '=');
    size_t len = equals ? (size_t)(equals - item) : 0;
    if (!equals && (item[0] == '@' || is_data_file(item)))
        ptc_why_say(why, PTC_WHY_INVALID, "%.200s has no name; write --data NAME=%s%.200s", item,
                    item[0] == '@' ? "" : "@", item);
    else if (!equals)
        ptc_why_say(why, PTC_WHY_INVALID,
                    "it takes NAME=@FILE, such as orders=@orders.csv, not %.200s", item);
    else if (equals[1] != '@' && is_data_file(equals + 1))
        ptc_why_say(why, PTC_WHY_INVALID,
                    "there is a file %.200s: write --data %.*s=@%.200s, with an @ before its name",
                    equals + 1, PTC_ARG(ptc_text_cut((PtcText){item, len}, 60)), equals + 1);
    else if (equals[1] != '@' || !equals[2] || len == 0 || len >= PTC_DATA_IN_NAME)
        ptc_why_say(why, PTC_WHY_INVALID,
                    "it takes NAME=@FILE, such as orders=@orders.csv, not %.200s", item);
    else {
        memcpy(name, item, len);
        name[len] = 0;
        *path = equals + 2;
        return true;
    }
    return false;
}

/* --separator.  0: it is none. */
static char separator_of(const char *text)
{
    bool tab = !strcmp(text, "tab") || !strcmp(text, "\\t");
    bool one = text[0] && !text[1] && !(text[0] & 0x80) && !ptc_ascii_is_alnum(text[0]);
    return tab ? '\t' : one && !strchr("\"\r\n", text[0]) ? text[0] : 0;
}

bool ptc_data_in_read(PtcDataIn *in, const PtcInputOptions *o, PtcWhy *why)
{
    const char *about = o->separator ? "separator" : "no-header";
    PtcDataKind kind = o->kind < 0 ? PTC_DATA_TOLD : (PtcDataKind)(PTC_DATA_JSON + o->kind);
    *in = (PtcDataIn){.form = {.kind = kind, .no_names = o->no_header}, .skip_bad = o->skip_bad};
    if ((o->separator || o->no_header) && kind != PTC_DATA_TOLD && kind != PTC_DATA_CSV &&
        (o->separator || kind != PTC_DATA_TSV))
        return ptc_why_say(why, PTC_WHY_INVALID, "--%s is about CSV: write --input csv", about);
    if (o->separator && !(in->form.separator = separator_of(o->separator)))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "--separator is one sign that is no letter, digit or quote, such as "
                           "'|', or tab, not %.40s",
                           o->separator);
    return true;
}

PtcDataForm ptc_data_in_form(PtcDataIn *in, const char *path, bool entry)
{
    PtcDataForm form = in->form;
    PtcDataKind named = ptc_data_kind(path);
    bool csv = form.separator || form.no_names;
    if (form.kind == PTC_DATA_TOLD || (entry && named != PTC_DATA_TOLD))
        form.kind = named;
    /* Who says how fields are divided means CSV, unless the name says JSON. */
    if (csv && (form.kind == PTC_DATA_TOLD || form.kind == PTC_DATA_LINES))
        form.kind = PTC_DATA_CSV;
    in->bad = (PtcBadLines){0};
    form.bad = in->skip_bad ? &in->bad : NULL;
    return form;
}

void ptc_data_in_say_bad(const char *path, const PtcDataForm *form)
{
    const PtcBadLines *bad = form->bad;
    char column[40] = "";
    if (!bad || bad->count == 0)
        return;
    if (bad->column)
        snprintf(column, sizeof column, ", column %zu", bad->column);
    ptc_io_printf(PTC_IO_STDERR, "note: %.200s: left out %zu row%s, the first at line %zu%s: %s\n",
                  strcmp(path, "-") == 0 ? "standard input" : path, bad->count,
                  bad->count == 1 ? "" : "s", bad->line, column, bad->why);
}

void ptc_data_in_say(const char *path, const PtcDataForm *form)
{
    static const struct {
        const char *option, *name;
    } kinds[] = {[PTC_DATA_JSON] = {"json", "JSON"}, [PTC_DATA_JSONL] = {"jsonl", "JSON Lines"},
                 [PTC_DATA_CSV] = {"csv", "CSV"},    [PTC_DATA_TSV] = {"tsv", "TSV"},
                 [PTC_DATA_YAML] = {"yaml", "YAML"}, [PTC_DATA_LINES] = {"lines", "lines"}};
    char columns[40] = "";
    bool is_stdin = strcmp(path, "-") == 0;
    if (form->other == PTC_DATA_TOLD || (!is_stdin && form->kind != PTC_DATA_LINES))
        return;
    if (!is_stdin)
        ptc_io_printf(PTC_IO_STDERR, "note: %.200s: ", path);
    else
        ptc_io_printf(PTC_IO_STDERR, "note: ");
    if (form->columns)
        snprintf(columns, sizeof columns, " with %zu columns", form->columns);
    ptc_io_printf(PTC_IO_STDERR, "read as %s%s; --input %s reads it as %s\n",
                  kinds[form->kind].name, columns, kinds[form->other].option,
                  kinds[form->other].name);
}

void ptc_data_in_advise(const PtcDataForm *form, PtcWhy *why)
{
    bool guessed = form->guessed && form->kind != PTC_DATA_LINES;
    const char *advice = guessed ? "; --input lines reads it as lines" : "";
    const char *skip = form->bad_row ? "; --skip-bad leaves out such rows" : "";
    ptc_why_say(why, why->class, "%s%s%s", why->text, skip, advice);
}

/* One file of --data.  False with a text in why. */
static bool load_item(PtcShared *shared, const char *name, const char *path, PtcDataIn *in,
                      PtcWhy *why)
{
    PtcDataForm form = {0};
    if (in)
        form = ptc_data_in_form(in, path, true);
    bool ok = ptc_shared_load(shared, name, path, &form, why);
    if (in && ok) {
        ptc_data_in_say(path, &form);
        ptc_data_in_say_bad(path, &form);
    } else if (in) {
        ptc_data_in_advise(&form, why);
    }
    return ok;
}

bool ptc_data_in_ready(PtcShared **shared, int64_t mb)
{
    size_t limit = (size_t)(mb == PTC_UNSET ? PTC_DATA_IN_MB : mb) << 20;
    return *shared || (*shared = ptc_shared_new_own(limit)) != NULL;
}

bool ptc_data_in_load(PtcShared **shared, const PtcUsage *usage, const PtcOptionList *items,
                      int64_t mb, PtcDataIn *in)
{
    char name[PTC_DATA_IN_NAME];
    const char *path;
    PtcWhy why;
    for (size_t i = 0; i < items->count; i++) {
        if (!ptc_data_in_split(items->items[i], name, &path, &why))
            return !ptc_options_wrong(usage, "--data: %s", why.text);
        if (!ptc_data_in_ready(shared, mb))
            return !ptc_options_refuse(usage, "--data: out of memory");
        if (!load_item(*shared, name, path, in, &why))
            return !ptc_options_refuse(usage, "--data: %s", why.text);
    }
    return true;
}

bool ptc_data_in_forgot_at(const char *option, const char *text, PtcWhy *why)
{
    if (text[0] == '@' || text[strspn(text, " \t\r\n")] == '{' || !is_data_file(text))
        return false;
    ptc_why_say(why, PTC_WHY_INVALID,
                "there is a file %.200s: write %s @%.200s, with an @ before its name", text, option,
                text);
    return true;
}

PtcValue ptc_data_in_context(const PtcShared *shared, Ptc *ptc, PtcData **data, PtcValue context)
{
    if (!*data && !(*data = ptc_data_new(ptc, (int64_t)NAMES_MB << 20)))
        return 0;
    PtcValue v = ptc_shared_context(shared, (*data)->heap, context ? context : PTC_NIL);
    return v == PTC_NONE ? 0 : v;
}
