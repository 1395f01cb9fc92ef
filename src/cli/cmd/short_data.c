/* SPDX-License-Identifier: MIT
 * The files of the short form.  What always holds: all of them share one account of memory. */
#include "cli/cmd/short_data.h"

#include <string.h>

#include "value/coll/map.h"
#include "value/str.h"

static char dash[] = "-";
static char *const only_stdin[] = {dash};

char *const *ptc_short_data_inputs(const PtcShortForm *form, int *count)
{
    *count = form->input_count ? form->input_count : 1;
    return form->input_count ? form->inputs : only_stdin;
}

/* The tables of a database with several of them, also under their own names where those can be written. */
static bool name_tables(PtcShared *shared, PtcWhy *why)
{
    PtcValue name, rows, tables = ptc_shared_value(shared, "data");
    for (size_t pos = 0; ptc_is_map(tables) && ptc_map_next(tables, &pos, &name, &rows);) {
        const char *text = ptc_str_bytes(name);
        bool free = ptc_shared_is_name(text) && ptc_shared_value(shared, text) == PTC_NONE;
        if (free && !ptc_shared_add_rows(shared, text, rows))
            return ptc_why_say(why, PTC_WHY_REFUSED,
                               "there are too many tables, or too little memory");
    }
    return true;
}

/* The only file as it is; of several the rows of all. */
static bool load_inputs(const PtcShortData *d, PtcShared *shared, PtcWhy *why)
{
    int count;
    char *const *paths = ptc_short_data_inputs(d->form, &count);
    PtcValue all = PTC_NONE;
    for (int i = 0; i < count; i++) {
        PtcDataForm form = ptc_data_in_form(d->in, paths[i], false);
        form.file = count > 1 ? paths[i] : NULL;
        if (count > 1 ? !ptc_shared_load_rows(shared, &all, paths[i], &form, why)
                      : !ptc_shared_load(shared, "data", paths[i], &form, why)) {
            ptc_data_in_advise(&form, why);
            return false;
        }
        d->in->was = form;
        ptc_data_in_say(paths[i], &form);
        ptc_data_in_say_bad(paths[i], &form);
    }
    if (count > 1 && !ptc_shared_name_rows(shared, "data", all, why))
        return false;
    if (!ptc_shared_add_rows(shared, "rows", ptc_shared_value(shared, "data")))
        return ptc_why_no_memory(why);
    return count > 1 || d->in->was.kind != PTC_DATA_SQLITE || name_tables(shared, why);
}

static bool load_named(const PtcShortData *d, PtcShared *shared, PtcWhy *why)
{
    char name[PTC_DATA_IN_NAME];
    for (int i = 0; i < d->form->named_count; i++) {
        const char *path = ptc_short_form_named(d->form->named[i], name);
        PtcDataForm form = ptc_data_in_form(d->in, path, false);
        if (!ptc_shared_load(shared, name, path, &form, why)) {
            ptc_data_in_advise(&form, why);
            return false;
        }
        ptc_data_in_say(path, &form);
        ptc_data_in_say_bad(path, &form);
    }
    return true;
}

/* The first of what has a name that is called as files without one are; NULL: none. */
static const char *input_name_taken(const PtcShared *shared)
{
    return ptc_shared_value(shared, "data") != PTC_NONE   ? "data"
           : ptc_shared_value(shared, "rows") != PTC_NONE ? "rows"
                                                          : NULL;
}

/* Standard input is not read where the program means what has the name. */
static bool load_unnamed(const PtcShortData *d, PtcShared *shared, PtcWhy *why)
{
    const char *taken = input_name_taken(shared);
    bool wanted = d->form->input_count ||
                  (!taken && ptc_short_form_wants_stdin(d->form, d->program.bytes, d->program.len));
    if (d->each || !wanted)
        return true;
    if (taken)
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "the name %s stands for what is in %.200s; choose another name", taken,
                           d->form->inputs[0]);
    return load_inputs(d, shared, why);
}

bool ptc_short_data_load(const PtcShortData *d, PtcShared **shared, PtcWhy *why)
{
    if (!ptc_data_in_ready(shared, d->mb))
        return ptc_why_no_memory(why);
    if (!load_named(d, *shared, why) || !load_unnamed(d, *shared, why))
        return false;
    return ptc_shared_add_texts(*shared, "*command-line-args*", d->form->args,
                                (size_t)d->form->arg_count) ||
           ptc_why_no_memory(why);
}
