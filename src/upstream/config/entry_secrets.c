/* SPDX-License-Identifier: MIT
 * What always holds: only values are hidden whose own name says that they are secret.  What is hidden is blotted out of
 * results too, so options, whose values are often plain words, must say so more clearly than variables, and have more
 * than a word. */
#define _GNU_SOURCE /* strcasestr */
#include "upstream/config/entry_secrets.h"

#include <string.h>

#include "upstream/config/config.h"

enum { OPTION_BYTES = 8 }; /* of the value of an option, at least */

static bool hide_variables(const PtcEntry *e, bool (*hide)(void *user, PtcText text), void *user)
{
    for (size_t i = 0; e->env && e->env[i]; i++) {
        const char *equals = strchr(e->env[i], '=');
        PtcText name = {e->env[i], equals ? (size_t)(equals - e->env[i]) : 0};
        if (name.len && equals[1] && ptc_config_is_secret_name(name) &&
            !hide(user, ptc_text_cstr(equals + 1)))
            return false;
    }
    return true;
}

/* --token, --api-key=..., -password */
static bool names_secret(const char *option, size_t len)
{
    static const char *const words[] = {"token",   "secret",  "password",
                                        "api-key", "api_key", "apikey"};
    for (size_t i = 0; option[0] == '-' && i < sizeof words / sizeof *words; i++) {
        const char *found = strcasestr(option, words[i]);
        if (found && found < option + len)
            return true;
    }
    return false;
}

/* The value of an option that names a secret: behind its `=`, or the next word.  NULL: there is none. */
static const char *secret_option_value(const char *const *argv)
{
    const char *equals = strchr(argv[0], '=');
    if (!names_secret(argv[0], equals ? (size_t)(equals - argv[0]) : strlen(argv[0])))
        return NULL;
    const char *value = equals ? equals + 1 : argv[1];
    return value && *value != '-' && strlen(value) >= OPTION_BYTES ? value : NULL;
}

bool ptc_entry_secrets(const PtcEntry *e, bool (*hide)(void *user, PtcText text), void *user)
{
    for (size_t i = 0; e->argv && e->argv[i]; i++) {
        const char *value = secret_option_value(&e->argv[i]);
        if (value && !hide(user, ptc_text_cstr(value)))
            return false;
    }
    return hide_variables(e, hide, user);
}
