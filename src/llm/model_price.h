/* SPDX-License-Identifier: MIT
 * model_price.h - what models cost, by their full names.  Prices come from models.json and from users' files, which
 * take precedence.
 *
 *     {"prices": {"anthropic:claude-haiku-4-5": {"input": 1, "output": 5, "cache_read": 0.1, "cache_write": 1.25}}}
 *
 * Dollars for a million tokens.  Nothing is guessed: a model without a row, and a request with tokens of a kind that
 * its row has no price for, cost nothing here. */
#ifndef PTC_LLM_MODEL_PRICE_H
#define PTC_LLM_MODEL_PRICE_H

#include "base/arena.h"
#include "base/why.h"
#include "llm/llm.h"

enum { PTC_MODEL_PRICE_ROWS = 1000 };

typedef struct PtcModelPrice {
    PtcText name;
    PtcPrice price;
} PtcModelPrice;

typedef struct PtcModelPrices {
    PtcArena arena;
    PtcModelPrice *rows;
    size_t count;
} PtcModelPrices;

void ptc_model_price_init(PtcModelPrices *prices, PtcMem *mem);
void ptc_model_price_deinit(PtcModelPrices *prices);

/* Adds those of a text, which may have none; a row takes the place of one with its name.  False with a reason; some may
 * have been added by then. */
PTC_MUST_USE bool ptc_model_price_add(PtcModelPrices *prices, PtcText json, PtcWhy *why);
/* The price of a model; one that is not known is all zeros. */
PtcPrice ptc_model_price_of(const PtcModelPrices *prices, const char *name);

/* What a request cost, in billionths of a dollar; 0: nobody knows. */
int64_t ptc_model_price_cost(const PtcPrice *price, const PtcTokens *tokens);

#endif
