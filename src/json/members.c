/* SPDX-License-Identifier: MIT
 * Walks over one container.  What always holds: every piece that is handed out was checked by json/check.h, so its
 * nesting has a bound and its UTF-8 is valid. */
#include "json/members.h"

#include "base/ascii.h"
#include "json/check.h"

static void skip_member_spaces(PtcMembers *m)
{
    while (m->at < m->text.len && ptc_ascii_is_space(m->text.bytes[m->at]))
        m->at++;
}

static bool take_member_char(PtcMembers *m, char c)
{
    skip_member_spaces(m);
    bool there = m->at < m->text.len && m->text.bytes[m->at] == c;
    m->at += there;
    return there;
}

static bool take_member_value(PtcMembers *m, PtcText *value)
{
    skip_member_spaces(m);
    const char *from = m->text.bytes + m->at;
    size_t n = m->at < m->text.len ? ptc_json_value_len(from, m->text.len - m->at) : 0;
    m->at += n;
    *value = (PtcText){from, n};
    m->broken |= n == 0;
    return n > 0;
}

PtcMembers ptc_members_of(PtcText text)
{
    PtcMembers m = {.text = text};
    if (!take_member_char(&m, '{')) {
        m.array = take_member_char(&m, '[');
        m.broken = !m.array;
    }
    return m;
}

/* A closing bracket must be the last thing in the text. */
static bool take_members_end(PtcMembers *m)
{
    if (!take_member_char(m, m->array ? ']' : '}'))
        return false;
    skip_member_spaces(m);
    m->ended = m->at == m->text.len;
    m->broken = !m->ended;
    return true;
}

static bool take_member_key(PtcMembers *m, PtcText *key)
{
    skip_member_spaces(m);
    bool quoted = m->at < m->text.len && m->text.bytes[m->at] == '"';
    if (!quoted || !take_member_value(m, key) || !take_member_char(m, ':')) {
        m->broken = true;
        return false;
    }
    *key = (PtcText){key->bytes + 1, key->len - 2};
    return true;
}

bool ptc_members_next(PtcMembers *m, PtcText *key, PtcText *value)
{
    *key = *value = (PtcText){NULL, 0};
    if (m->broken || m->ended)
        return false;
    if (take_members_end(m))
        return false;
    if (m->begun && !take_member_char(m, ',')) {
        m->broken = true;
        return false;
    }
    m->begun = true;
    return (m->array || take_member_key(m, key)) && take_member_value(m, value);
}

PtcText ptc_members_get(PtcText object, const char *name)
{
    PtcText key, value, found = {NULL, 0};
    PtcMembers m = ptc_members_of(object);
    while (!m.array && ptc_members_next(&m, &key, &value))
        if (ptc_text_is(key, name))
            found = value;
    return m.broken ? (PtcText){NULL, 0} : found;
}

bool ptc_members_is_object(PtcText json)
{
    return json.bytes && json.len && json.bytes[0] == '{';
}

bool ptc_members_int(PtcText json, int64_t *n)
{
    bool minus = json.len && json.bytes[0] == '-';
    *n = 0;
    for (size_t i = minus; i < json.len; i++) {
        int digit = json.bytes[i] - '0';
        if (digit < 0 || digit > 9 || *n > (INT64_MAX - digit) / 10)
            return false;
        *n = *n * 10 + digit;
    }
    *n = minus ? -*n : *n;
    return json.len > minus;
}

PtcText ptc_members_plain(PtcText json)
{
    if (json.len < 2 || json.bytes[0] != '"' || memchr(json.bytes, '\\', json.len))
        return (PtcText){NULL, 0};
    return (PtcText){json.bytes + 1, json.len - 2};
}
