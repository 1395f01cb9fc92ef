/* SPDX-License-Identifier: MIT
 * Prices.  What always holds: a price is at most PRICE_MOST dollars for a million tokens, so no sum of a request
 * overflows. */
#include "llm/model_price.h"

#include "base/units.h"
#include "llm/json_box.h"
#include "llm/reply_maker.h"
#include "value/coll/map.h"
#include "value/number/number.h"
#include "value/str.h"

/* A dollar for a million tokens is a million of our units, millionths of a millionth of a dollar, for one. */
enum { PRICE_UNIT = PTC_MILLION, PRICE_MOST = 1000, PRICE_UNITS_OF_COST = 1000 };

void ptc_model_price_init(PtcModelPrices *p, PtcMem *mem)
{
    *p = (PtcModelPrices){.count = 0};
    ptc_arena_init(&p->arena, mem);
}

void ptc_model_price_deinit(PtcModelPrices *p)
{
    ptc_arena_deinit(&p->arena);
}

/* ------------------------------------------------------------------------------- reading */

/* Always false. */
static bool refuse_price(PtcWhy *why, PtcText name, const char *what)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "prices.%.*s: %s", PTC_ARG(ptc_text_cut(name, 100)),
                       what);
}

static bool read_price(PtcValue v, int64_t *out)
{
    double dollars = ptc_is_int(v) ? (double)ptc_to_int(v) : ptc_is_float(v) ? ptc_to_float(v) : -1;
    if (!(dollars >= 0 && dollars <= PRICE_MOST))
        return false;
    *out = (int64_t)(dollars * PRICE_UNIT + 0.5);
    return true;
}

static bool read_price_field(PtcPrice *price, PtcText key, PtcValue v)
{
    if (ptc_text_is(key, "most_input")) {
        price->most_input = ptc_is_int(v) ? ptc_to_int(v) : 0;
        return price->most_input > 0;
    }
    int64_t *field = ptc_text_is(key, "input")         ? &price->input
                     : ptc_text_is(key, "output")      ? &price->output
                     : ptc_text_is(key, "cache_read")  ? &price->cache_read
                     : ptc_text_is(key, "cache_write") ? &price->cache_creation
                                                       : NULL;
    return field && read_price(v, field);
}

static bool read_price_row(PtcText name, PtcValue row, PtcPrice *price, PtcWhy *why)
{
    size_t pos = 0;
    PtcValue key, value;
    *price = (PtcPrice){
        .known = true, .input = -1, .output = -1, .cache_read = -1, .cache_creation = -1};
    while (ptc_is_map(row) && ptc_map_next(row, &pos, &key, &value))
        if (!read_price_field(price, ptc_str_text(key), value))
            return refuse_price(why, name,
                                "allowed are input, output, cache_read and cache_write, each 0 to "
                                "1000 dollars for a million tokens, and most_input, a number of "
                                "tokens");
    return (price->input >= 0 && price->output >= 0) ||
           refuse_price(why, name, "must be an object with input and output");
}

/* The row of that name, which may be new; NULL: out of memory, or too many. */
static PtcModelPrice *price_row(PtcModelPrices *p, PtcText name)
{
    bool failed = false;
    for (size_t i = 0; i < p->count; i++)
        if (ptc_text_same(p->rows[i].name, name))
            return &p->rows[i];
    PtcModelPrice *rows = p->count < PTC_MODEL_PRICE_ROWS
                              ? ptc_arena_push(&p->arena, p->rows, p->count, sizeof *rows)
                              : NULL;
    PtcText kept = ptc_reply_keep(&p->arena, name, &failed);
    if (!rows || failed)
        return NULL;
    p->rows = rows;
    rows[p->count] = (PtcModelPrice){.name = kept};
    return &rows[p->count++];
}

static bool add_prices(PtcModelPrices *p, PtcValue list, PtcWhy *why)
{
    size_t pos = 0;
    PtcValue key, value;
    if (list != PTC_NONE && !ptc_is_map(list))
        return ptc_why_say(why, PTC_WHY_INVALID, "\"prices\" must be an object");
    while (list != PTC_NONE && ptc_map_next(list, &pos, &key, &value)) {
        PtcPrice price;
        PtcText name = ptc_str_text(key);
        if (!read_price_row(name, value, &price, why))
            return false;
        PtcModelPrice *row = price_row(p, name);
        if (!row)
            return refuse_price(why, name, "too many prices, or out of memory");
        row->price = price;
    }
    return true;
}

bool ptc_model_price_add(PtcModelPrices *p, PtcText json, PtcWhy *why)
{
    PtcJsonBox box;
    ptc_json_box_init(&box, p->arena.mem);
    PtcValue v = ptc_json_box_read(&box, json, why);
    bool ok = v != PTC_NONE && add_prices(p, ptc_json_box_get(&box, v, "prices"), why);
    ptc_json_box_deinit(&box);
    return ok;
}

/* ---------------------------------------------------------------------------------- using */

PtcPrice ptc_model_price_of(const PtcModelPrices *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (ptc_text_is(p->rows[i].name, name))
            return p->rows[i].price;
    return (PtcPrice){.known = false};
}

int64_t ptc_model_price_cost(const PtcPrice *p, const PtcTokens *t)
{
    int64_t fresh = t->input - t->cache_read - t->cache_creation;
    bool priced = p->known && t->reported && fresh >= 0 &&
                  (t->cache_read == 0 || p->cache_read >= 0) &&
                  (t->cache_creation == 0 || p->cache_creation >= 0) &&
                  (p->most_input == 0 || t->input <= p->most_input);
    if (!priced)
        return 0;
    int64_t units = fresh * p->input + t->output * p->output;
    units += t->cache_read ? t->cache_read * p->cache_read : 0;
    units += t->cache_creation ? t->cache_creation * p->cache_creation : 0;
    return (units + PRICE_UNITS_OF_COST / 2) / PRICE_UNITS_OF_COST;
}
