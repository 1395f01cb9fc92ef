/* SPDX-License-Identifier: MIT
 * Reads single values of files that name upstreams: texts with their variables, numbers, lists. */
#include <stdio.h>

#include "json/emit.h"
#include "upstream/config/config_int.h"
#include "upstream/config/policy.h"

PtcValue ptc_config_text(Config *c, PtcValue v)
{
    if (ptc_is_string(v))
        return v;
    ptc_config_wrong(c, "wrong_type", "it must be a string");
    return PTC_NONE;
}

PtcValue ptc_config_bool(Config *c, PtcValue v)
{
    if (ptc_is_bool(v))
        return v;
    ptc_config_wrong(c, "wrong_type", "it must be true or false");
    return PTC_NONE;
}

PtcValue ptc_config_number(Config *c, PtcValue v)
{
    if (!ptc_is_number(v))
        ptc_config_wrong(c, "wrong_type", "it must be a number");
    else if (!ptc_is_int(v) || ptc_to_int(v) < 1)
        ptc_config_wrong(c, "bad_value", "it must be a positive whole number");
    else
        return v;
    return PTC_NONE;
}

/* A number or a boolean as JSON writes it. */
static PtcValue as_text(Config *c, PtcValue v)
{
    PtcBuf text;
    ptc_buf_init(&text, c->heap->pool->mem, PTC_UNBOUNDED);
    ptc_emit_value(&text, c->heap, v);
    PtcValue out = ptc_fields_buf(c->heap, &text);
    ptc_buf_deinit(&text);
    return out;
}

/* The name is written in the file, so telling it betrays nothing. */
static void lacks_value(Config *c, const PtcExpanded *state)
{
    char message[200];
    bool input = state->fault == PTC_VARIABLE_NO_INPUT;
    snprintf(message, sizeof message,
             input ? "the input \"%.*s\" has no value: set its variable PTC_INPUT_..., or a "
                     "credential of this name"
                   : "the variable %.*s is not set",
             PTC_ARG(ptc_text_cut(state->lacking, 80)));
    ptc_config_lacks(c, NULL, input ? "missing_input" : "unset_variable", message);
}

static PtcValue expand_config_text(Config *c, PtcText text)
{
    PtcBuf out;
    PtcValue value = PTC_NONE;
    ptc_buf_init(&out, c->heap->pool->mem, PTC_CONFIG_BYTES);
    PtcExpanded state = ptc_variables_expand(&out, &c->variables, text);
    if (state.note)
        ptc_config_note(c, state.note);
    if (state.fault == PTC_VARIABLE_WELL)
        value = ptc_fields_buf(c->heap, &out);
    else if (state.fault == PTC_VARIABLE_BAD)
        ptc_config_wrong(c, "bad_placeholder", "it has a ${...} that means nothing here");
    else
        lacks_value(c, &state);
    ptc_buf_deinit(&out);
    return value;
}

PtcValue ptc_config_expanded(Config *c, PtcValue v, bool numbers)
{
    if (numbers && (ptc_is_number(v) || ptc_is_bool(v)))
        return as_text(c, v);
    return ptc_config_text(c, v) == PTC_NONE ? PTC_NONE : expand_config_text(c, ptc_str_text(v));
}

PtcValue ptc_config_texts(Config *c, PtcValue v, bool expanded, bool numbers)
{
    char keep[PTC_PATH_BYTES];
    PtcValue out = ptc_fields_list(c->heap);
    if (!ptc_is_sequential(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an array of strings");
        return PTC_NONE;
    }
    for (size_t i = 0; i < ptc_fields_count(v); i++) {
        PtcValue item = ptc_seq_nth(v, i);
        ptc_config_enter_index(c, i, keep);
        ptc_fields_push(c->heap, &out,
                        expanded ? ptc_config_expanded(c, item, numbers)
                                 : ptc_config_text(c, item));
        ptc_config_leave(c, keep);
    }
    return out;
}

PtcValue ptc_config_guarded(Config *c, PtcValue v, bool numbers)
{
    bool before = c->guarded;
    c->guarded = true;
    PtcValue out = ptc_config_expanded(c, v, numbers);
    c->guarded = before;
    return out;
}

static void put_env_variable(Config *c, PtcValue *env, PtcText name, PtcValue v)
{
    PtcValue value = v == PTC_NIL ? v : ptc_config_guarded(c, v, true);
    if (value != PTC_NONE)
        ptc_config_named_secret(c, name, value);
    ptc_fields_put_key(c->heap, env, name, value);
}

PtcValue ptc_config_env(Config *c, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value, out = ptc_fields_map(c->heap);
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object from names to values");
        return PTC_NONE;
    }
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        ptc_config_enter(c, name, keep);
        if (name.len == 0 || memchr(name.bytes, '=', name.len) || memchr(name.bytes, 0, name.len))
            ptc_config_wrong(c, "bad_name", "this cannot be the name of a variable");
        else
            put_env_variable(c, &out, name, value);
        ptc_config_leave(c, keep);
    }
    return out;
}

bool ptc_config_is_policy(PtcText word)
{
    PtcPolicy policy;
    return ptc_policy_parse(word, &policy);
}

bool ptc_config_is_effect(PtcText word)
{
    PtcEffect effect;
    return word.bytes && ptc_effect_parse(word, &effect);
}

PtcValue ptc_config_rules(Config *c, PtcValue v, bool (*is_word)(PtcText word))
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object from patterns to words");
        return PTC_NONE;
    }
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        ptc_config_enter(c, ptc_str_text(key), keep);
        if (!ptc_is_string(value))
            ptc_config_wrong(c, "wrong_type", "it must be a string");
        else if (!is_word(ptc_str_text(value)))
            ptc_config_wrong(
                c, "bad_value",
                is_word == ptc_config_is_policy
                    ? "it must be allow, ask or deny"
                    : "it must be read, write or destructive, and may be followed by idempotent");
        ptc_config_leave(c, keep);
    }
    return v;
}
