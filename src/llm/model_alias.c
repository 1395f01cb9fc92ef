/* SPDX-License-Identifier: MIT
 * Short names of models.  What always holds: a later file replaces an alias with all its providers, so two files are
 * never mixed under one name. */
#include "llm/model_alias.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/text/nearest.h"
#include "base/utf8.h"
#include "llm/json_box.h"
#include "value/coll/map.h"
#include "value/str.h"

void ptc_model_alias_init(PtcModelAliases *a, PtcMem *mem)
{
    *a = (PtcModelAliases){0};
    ptc_arena_init(&a->arena, mem);
}

void ptc_model_alias_deinit(PtcModelAliases *a)
{
    ptc_arena_deinit(&a->arena);
}

const PtcModelAlias *ptc_model_alias_find(const PtcModelAliases *a, PtcText name,
                                          const PtcProvider *provider)
{
    for (size_t i = 0; i < a->count; i++)
        if (ptc_text_same(a->rows[i].name, name) && (!provider || a->rows[i].provider == provider))
            return &a->rows[i];
    return NULL;
}

size_t ptc_model_alias_providers(const PtcModelAliases *a, PtcText name)
{
    size_t n = 0;
    for (size_t i = 0; i < a->count; i++)
        n += ptc_text_same(a->rows[i].name, name);
    return n;
}

/* Always false. */
static bool refuse_alias(PtcWhy *why, PtcText name, const char *what)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "aliases.%.*s: %s", PTC_ARG(ptc_text_cut(name, 64)),
                       what);
}

static bool is_alias_name(PtcText name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.bytes[i];
        if (!(ptc_ascii_is_alnum(c) || strchr("-._", c)))
            return false;
    }
    return name.len > 0 && name.len <= PTC_MODEL_ALIAS_BYTES;
}

static bool unknown_provider(PtcText alias, PtcText name, PtcWhy *why)
{
    PtcNearest nearest;
    ptc_nearest_init(&nearest, name.bytes, name.len);
    for (size_t i = 0; i < ptc_provider_count; i++)
        ptc_nearest_offer(&nearest, ptc_providers[i].name, strlen(ptc_providers[i].name));
    return ptc_why_say(why, PTC_WHY_INVALID, "aliases.%.*s: there is no provider \"%.*s\"%s%.*s%s",
                       PTC_ARG(ptc_text_cut(alias, 64)), PTC_ARG(ptc_text_cut(name, 40)),
                       nearest.best ? "; did you mean \"" : "",
                       PTC_ARG_OF(nearest.best, nearest.best_len), nearest.best ? "\"?" : "");
}

static bool add_alias_row(PtcModelAliases *a, PtcText name, const PtcProvider *provider, PtcText id,
                          PtcWhy *why)
{
    bool failed = false;
    PtcModelAlias *rows = a->count < PTC_MODEL_ALIAS_ROWS
                              ? ptc_arena_push(&a->arena, a->rows, a->count, sizeof *rows)
                              : NULL;
    if (!rows)
        return refuse_alias(why, name,
                            a->count < PTC_MODEL_ALIAS_ROWS ? "out of memory" : "too many aliases");
    a->rows = rows;
    a->rows[a->count] = (PtcModelAlias){.name = ptc_reply_keep(&a->arena, name, &failed),
                                        .provider = provider,
                                        .id = ptc_reply_keep(&a->arena, id, &failed)};
    if (failed)
        return refuse_alias(why, name, "out of memory");
    a->count++;
    return true;
}

/* Removes a name with all its providers. */
static void drop_alias(PtcModelAliases *a, PtcText name)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->count; i++)
        if (!ptc_text_same(a->rows[i].name, name))
            a->rows[kept++] = a->rows[i];
    a->count = kept;
}

static bool add_alias(PtcModelAliases *a, PtcText name, PtcValue ids, PtcWhy *why)
{
    size_t pos = 0;
    PtcValue key, value;
    if (!is_alias_name(name))
        return refuse_alias(why, name, "a name is 1 to 64 letters, digits and -._");
    if (!ptc_is_map(ids) || ptc_map_count(ids) == 0)
        return refuse_alias(why, name, "must be an object: the id of the model by provider");
    drop_alias(a, name);
    while (ptc_map_next(ids, &pos, &key, &value)) {
        const PtcProvider *provider = ptc_provider_find(ptc_str_text(key));
        PtcText id = ptc_str_text(value);
        if (!provider)
            return unknown_provider(name, ptc_str_text(key), why);
        if (!id.len)
            return refuse_alias(why, name, "the id of a model is a text that is not empty");
        if (!add_alias_row(a, name, provider, id, why))
            return false;
    }
    return true;
}

static bool mark_embeddings(PtcModelAliases *a, PtcValue names, PtcWhy *why)
{
    if (names != PTC_NONE && !ptc_is_sequential(names))
        return ptc_why_say(why, PTC_WHY_INVALID, "\"embeddings\" must be an array of aliases");
    for (size_t i = 0; i < ptc_json_box_length(names); i++)
        for (size_t k = 0; k < a->count; k++)
            if (ptc_text_same(a->rows[k].name, ptc_str_text(ptc_json_box_item(names, i))))
                a->rows[k].embeds = true;
    return true;
}

static bool add_aliases(PtcModelAliases *a, PtcJsonBox *box, PtcValue v, PtcWhy *why)
{
    size_t pos = 0;
    PtcValue key, value;
    PtcValue list = ptc_json_box_get(box, v, "aliases");
    bool priced = list == PTC_NONE && ptc_json_box_get(box, v, "prices") != PTC_NONE;
    if (!priced && (list == PTC_NONE || !ptc_is_map(list)))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "a list of models is {\"aliases\": {NAME: {PROVIDER: ID}}}");
    while (ptc_map_next(v, &pos, &key, NULL)) {
        PtcText name = ptc_str_text(key);
        if (ptc_text_choice(name, "aliases|embeddings|prices") < 0)
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "no field \"%.*s\": allowed are aliases, embeddings and prices",
                               PTC_ARG(ptc_text_cut(name, 40)));
    }
    pos = 0;
    while (!priced && ptc_map_next(list, &pos, &key, &value))
        if (!add_alias(a, ptc_str_text(key), value, why))
            return false;
    return mark_embeddings(a, ptc_json_box_get(box, v, "embeddings"), why);
}

bool ptc_model_alias_add(PtcModelAliases *a, PtcText json, PtcWhy *why)
{
    PtcJsonBox box;
    if (json.len > PTC_MODEL_ALIAS_FILE)
        return ptc_why_say(why, PTC_WHY_INVALID, "a list of models is at most 1 MiB");
    ptc_json_box_init(&box, a->arena.mem);
    PtcValue v = ptc_json_box_read(&box, json, why);
    bool ok = v != PTC_NONE && add_aliases(a, &box, v, why);
    ptc_json_box_deinit(&box);
    return ok;
}
