/* SPDX-License-Identifier: MIT
 * Data from files.  What always holds: all of it together stays inside its limit, and a program that was given no file
 * pays for nothing here. */
#include "cli/cmd/data_in.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/io.h"
#include "data/data_file.h"
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

void ptc_data_in_say(const char *path, const PtcDataForm *form)
{
    static const struct {
        const char *option, *name;
    } kinds[] = {[PTC_DATA_JSON] = {"json", "JSON"},
                 [PTC_DATA_JSONL] = {"jsonl", "JSON Lines"},
                 [PTC_DATA_CSV] = {"csv", "CSV"},
                 [PTC_DATA_TSV] = {"tsv", "TSV"},
                 [PTC_DATA_LINES] = {"lines", "lines"}};
    char columns[40] = "";
    if (form->other == PTC_DATA_TOLD || strcmp(path, "-") != 0)
        return;
    if (form->columns)
        snprintf(columns, sizeof columns, " with %zu columns", form->columns);
    ptc_io_printf(PTC_IO_STDERR, "note: read as %s%s; --input %s reads it as %s\n",
                  kinds[form->kind].name, columns, kinds[form->other].option,
                  kinds[form->other].name);
}

void ptc_data_in_advise(const PtcDataForm *form, PtcWhy *why)
{
    const char *advice = form->kind == PTC_DATA_UNKNOWN ? "; or --input says it: --input lines"
                         : form->guessed && form->kind != PTC_DATA_LINES
                             ? "; --input lines reads it as lines"
                             : "";
    ptc_why_say(why, why->class, "%s%s", why->text, advice);
}

/* One file of --data.  False with a text in why. */
static bool load_item(PtcShared *shared, const char *name, const char *path,
                      const PtcDataKind *given, PtcWhy *why)
{
    PtcDataForm form = {.kind = ptc_data_kind(path)};
    if (given && (form.kind == PTC_DATA_TOLD || form.kind == PTC_DATA_UNKNOWN))
        form.kind = *given;
    bool ok = ptc_shared_load(shared, name, path, &form, why);
    if (ok && given)
        ptc_data_in_say(path, &form);
    else if (given)
        ptc_data_in_advise(&form, why);
    return ok;
}

bool ptc_data_in_load(PtcShared **shared, const PtcUsage *usage, const PtcOptionList *items,
                      int64_t mb, const PtcDataKind *given)
{
    char name[PTC_DATA_IN_NAME];
    const char *path;
    PtcWhy why;
    size_t limit = (size_t)(mb == PTC_UNSET ? PTC_DATA_IN_MB : mb) << 20;
    for (size_t i = 0; i < items->count; i++) {
        if (!ptc_data_in_split(items->items[i], name, &path, &why))
            return !ptc_options_wrong(usage, "--data: %s", why.text);
        if (!*shared && !(*shared = ptc_shared_new_own(limit)))
            return !ptc_options_refuse(usage, "--data: out of memory");
        if (!load_item(*shared, name, path, given, &why))
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
