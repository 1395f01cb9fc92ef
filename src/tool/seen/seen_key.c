/* SPDX-License-Identifier: MIT
 * Which keys are names that somebody gave to members, and which are data.  Nobody can tell for sure, so this errs
 * towards data: a name that is lost costs a hint, one that is kept may be a secret. */
#include "base/ascii.h"
#include "tool/seen/seen.h"

enum {
    KEY_DIGITS = 5,    /* as many are a number, not a version of something */
    KEY_SWITCHES = 4,  /* from letters to digits and back */
    KEY_HEX = 8,       /* a run of them is a hash */
    KEY_MIXED = 12,    /* letters whose case keeps changing */
    KEY_NUMBERED = 16, /* letters with a digit between them */
    KEY_CAPITALS = 20,
    KEY_UNBROKEN = 24, /* without a change of case */
    KEY_SPOKEN = 10,   /* letters among which there are vowels, in any language */
};

/* Letters and digits with nothing between them. */
typedef struct {
    size_t len, letters, digits, hex, vowels, upper, flips;
    bool inner; /* a digit with a letter behind it */
} KeyRun;

static bool is_key_vowel(char c)
{
    return memchr("aeiouy", ptc_ascii_lower(c), 6) != NULL;
}

static KeyRun measure_key_run(PtcText text, size_t from)
{
    KeyRun run = {0};
    for (size_t i = from; i < text.len && ptc_ascii_is_alnum(text.bytes[i]); i++, run.len++) {
        char c = text.bytes[i], before = run.len ? text.bytes[i - 1] : c;
        bool letter = ptc_ascii_is_letter(c);
        run.letters += letter;
        run.digits += !letter;
        run.hex += ptc_ascii_is_hex(c);
        run.vowels += is_key_vowel(c);
        run.upper += ptc_ascii_is_upper(c);
        run.inner = run.inner || (letter && ptc_ascii_is_digit(before));
        run.flips += letter && ptc_ascii_is_letter(before) &&
                     ptc_ascii_is_upper(c) != ptc_ascii_is_upper(before);
    }
    return run;
}

static bool is_run_data(const KeyRun *run)
{
    bool changes = run->upper && run->upper < run->letters;
    return (run->len >= KEY_HEX && run->hex == run->len) ||
           (run->len >= KEY_MIXED && 3 * run->flips > run->len) ||
           (run->len >= KEY_NUMBERED && run->inner) ||
           (run->len >= KEY_CAPITALS && run->upper == run->letters) ||
           (run->len >= KEY_UNBROKEN && !changes) ||
           (run->letters >= KEY_SPOKEN && 6 * run->vowels < run->letters);
}

/* a-b_c, with _, $ or @ at the beginning too. */
static bool is_key_identifier(PtcText key)
{
    if (key.len == 0 || key.len > PTC_SEEN_KEY_BYTES ||
        !(ptc_ascii_is_letter(*key.bytes) || memchr("_$@", *key.bytes, 3)))
        return false;
    for (size_t i = 1; i < key.len; i++)
        if (!ptc_ascii_is_alnum(key.bytes[i]) && key.bytes[i] != '_' && key.bytes[i] != '-')
            return false;
    return true;
}

bool ptc_seen_is_data(PtcText key)
{
    size_t digits = 0, switches = 0;
    if (!is_key_identifier(key))
        return true;
    for (size_t i = 0; i < key.len; i++) {
        bool digit = ptc_ascii_is_digit(key.bytes[i]);
        digits += digit;
        switches += i > 0 && digit != ptc_ascii_is_digit(key.bytes[i - 1]);
    }
    if (digits >= KEY_DIGITS || switches >= KEY_SWITCHES || (digits > 2 && 2 * digits > key.len))
        return true;
    for (size_t i = 0; i < key.len; i++) {
        KeyRun run = measure_key_run(key, i);
        if (is_run_data(&run))
            return true;
        i += run.len;
    }
    return false;
}
