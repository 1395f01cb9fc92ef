/* SPDX-License-Identifier: MIT
 * What always holds: a rule fits here exactly where it fits when a call is decided. */
#include "upstream/config/rule_check.h"

#include <stdio.h>

#include "base/text/nearest.h"
#include "value/coll/fields.h"

enum { RULE_SHOWN = 100 };

/* A pattern that may be meant for tools, though it is for servers: delete_*. */
static void put_pattern(char *out, size_t room, PtcText rule)
{
    if (rule.len > 2 && memcmp(rule.bytes + rule.len - 2, "/*", 2) == 0)
        rule.len -= 2;
    out[0] = '\0';
    if (!memchr(rule.bytes, '/', rule.len))
        snprintf(out, room, "; tools of every server are \"*/%.*s\"",
                 PTC_ARG(ptc_text_cut(rule, RULE_SHOWN)));
}

static void put_nearest(char *out, size_t room, const PtcNearest *near)
{
    out[0] = '\0';
    if (near->best)
        snprintf(out, room, "; did you mean \"%.*s\"?",
                 PTC_ARG(ptc_text_cut((PtcText){near->best, near->best_len}, RULE_SHOWN)));
}

/* Is the rule for this server?  *tool: what it says of tools; empty: all of them.  A server's own name may have a
 * slash, and a star stands for one too: *delete* is about tools of all servers. */
static bool is_for(PtcText rule, PtcSpelt server, PtcText *of, PtcText *tool)
{
    for (size_t i = 0; i <= rule.len; i++) {
        bool star =
            i < rule.len && rule.bytes[i] == '*' && !memchr(rule.bytes + i, '/', rule.len - i);
        *of = (PtcText){rule.bytes, i + star};
        if ((i < rule.len && rule.bytes[i] != '/' && !star) || !ptc_policy_fits(*of, server, true))
            continue;
        size_t rest = i < rule.len ? i + 1 : i;
        *tool = (PtcText){rule.bytes + rest, rule.len - rest};
        return true;
    }
    return false;
}

/* ----------------------------------------------------------------------------------- servers */

static bool has_server(PtcHeap *heap, PtcValue entries, PtcText rule, PtcNearest *near)
{
    PtcText of, tool;
    for (size_t i = 0; i < ptc_fields_count(entries); i++) {
        PtcValue entry = ptc_seq_nth(entries, i);
        PtcSpelt server = {.raw = ptc_fields_text(heap, entry, "name"),
                           .shown = ptc_fields_text(heap, entry, "namespace")};
        if (is_for(rule, server, &of, &tool))
            return true;
        ptc_nearest_offer(near, server.raw.bytes, server.raw.len);
        if (server.shown.bytes)
            ptc_nearest_offer(near, server.shown.bytes, server.shown.len);
    }
    return false;
}

bool ptc_rule_check_servers(PtcHeap *heap, PtcValue entries, PtcValue policy, PtcRuleTell *tell,
                            void *user, PtcWhy *why)
{
    PtcValue key, value;
    for (size_t pos = 0; policy != PTC_NONE && ptc_map_next(policy, &pos, &key, &value);) {
        PtcNearest near;
        char meant[RULE_SHOWN + 40];
        PtcText rule = ptc_str_text(key), word = ptc_str_text(value);
        const char *slash = memchr(rule.bytes, '/', rule.len);
        PtcText server = {rule.bytes, slash ? (size_t)(slash - rule.bytes) : rule.len};
        ptc_nearest_init(&near, server.bytes, server.len);
        bool name = ptc_policy_is_name(server);
        if (has_server(heap, entries, rule, &near))
            continue;
        if (name)
            put_nearest(meant, sizeof meant, &near);
        else
            put_pattern(meant, sizeof meant, rule);
        ptc_why_say(why, PTC_WHY_INVALID,
                    "the rule \"%.*s\": \"%.*s\" is for a server that no file has%s",
                    PTC_ARG(ptc_text_cut(rule, RULE_SHOWN)),
                    PTC_ARG(ptc_text_cut(word, RULE_SHOWN)), meant);
        if (name)
            return false;
        tell(user, ptc_text_cstr(why->text));
    }
    return true;
}

/* ------------------------------------------------------------------------------------- tools */

typedef struct {
    PtcListing *listing;
    const PtcEntry *entry;
    PtcRuleTell *tell;
    void *user;
    bool operations; /* what is checked is about them, not about tools */
} RuleCheck;

/* Tools that programs do not see count too: the rule is not to blame. */
static bool fits_any(const RuleCheck *c, PtcText glob, bool loosely, PtcNearest *near)
{
    char symbol[PTC_CATALOG_NAME_BYTES + 1];
    PtcListing *l = c->listing;
    PtcHeap *heap = &l->scratch.heap;
    for (size_t i = 0; i < ptc_fields_count(l->all); i++) {
        PtcSpelt tool = ptc_listing_spelt(heap, c->entry, ptc_seq_nth(l->all, i), symbol);
        if (ptc_policy_fits(glob, tool, loosely))
            return true;
        if (tool.raw.bytes)
            ptc_nearest_offer(near, tool.raw.bytes, tool.raw.len);
    }
    return ptc_policy_fits(glob, (PtcSpelt){.raw = PTC_TEXT("resources/read")}, loosely) ||
           (l->document != PTC_NONE && ptc_openapi_tools_why(heap, l->document, c->entry, glob));
}

static bool fits_operation(const RuleCheck *c, PtcText glob, bool loosely, PtcNearest *near)
{
    PtcListing *l = c->listing;
    return ptc_openapi_tools_has(&l->scratch.heap, l->document, c->entry, glob, loosely, near);
}

static void keep_misspelt_rule(PtcListing *l, const char *line)
{
    size_t n = strlen(line) + 1;
    char *copy = l->misspelt ? NULL : ptc_arena_alloc(&l->scratch.arena, n);
    if (copy)
        l->misspelt = memcpy(copy, line, n);
}

/* `rule` as it is written, `glob` the part of it that is about tools, `word` what it says.  A rule that allows is taken
 * by its letters: a similar spelling may mean another tool. */
static void check_rule(const RuleCheck *c, PtcText rule, PtcText glob, PtcText word, bool loosely)
{
    PtcNearest near;
    char line[400], meant[RULE_SHOWN + 40];
    ptc_nearest_init(&near, glob.bytes, glob.len);
    if (glob.bytes && (glob.len == 0 || (c->operations ? fits_operation(c, glob, loosely, &near)
                                                       : fits_any(c, glob, loosely, &near))))
        return;
    put_nearest(meant, sizeof meant, &near);
    snprintf(line, sizeof line, "the rule \"%.*s\": \"%.*s\" fits none of its %s%s",
             PTC_ARG(ptc_text_cut(rule, RULE_SHOWN)), PTC_ARG(ptc_text_cut(word, RULE_SHOWN)),
             c->operations ? "operations" : "tools", meant);
    if (ptc_text_is(word, "deny") && ptc_policy_is_name(glob))
        keep_misspelt_rule(c->listing, line);
    if (c->tell)
        c->tell(c->user, ptc_text_cstr(line));
}

static void check_map(const RuleCheck *c, PtcValue rules, bool effects)
{
    PtcValue key, value;
    for (size_t pos = 0; rules != PTC_NONE && ptc_map_next(rules, &pos, &key, &value);) {
        PtcText glob = ptc_str_text(key), word = ptc_str_text(value);
        check_rule(c, glob, glob, word, effects || !ptc_text_is(word, "allow"));
    }
}

static void check_rule_list(const RuleCheck *c, PtcValue list, const char *key, bool loosely)
{
    for (size_t i = 0; i < ptc_fields_count(list); i++) {
        PtcText glob = ptc_str_text(ptc_seq_nth(list, i));
        check_rule(c, glob, glob, ptc_text_cstr(key), loosely);
    }
}

/* What an entry says about the operations of a document. */
static void check_operations(RuleCheck c)
{
    const PtcEntry *e = c.entry;
    PtcValue key, value;
    c.operations = true;
    check_rule_list(&c, e->include_operations, "include_operations", false);
    check_rule_list(&c, e->exclude_operations, "exclude_operations", true);
    for (size_t pos = 0;
         e->overrides != PTC_NONE && ptc_map_next(e->overrides, &pos, &key, &value);)
        check_rule(&c, ptc_str_text(key), ptc_str_text(key), PTC_TEXT("operation_overrides"),
                   false);
}

void ptc_rule_check_tools(PtcListing *l, const PtcEntry *e, PtcValue policy, PtcRuleTell *tell,
                          void *user)
{
    RuleCheck c = {l, e, tell, user, false};
    PtcSpelt server = {.raw = e->name, .shown = e->ns};
    PtcText of, tool;
    PtcValue key, value;
    check_map(&c, e->policy, false);
    check_map(&c, e->effects, true);
    check_rule_list(&c, e->include, "include_tools", false);
    check_rule_list(&c, e->exclude, "exclude_tools", true);
    if (l->document != PTC_NONE)
        check_operations(c);
    for (size_t pos = 0; policy != PTC_NONE && ptc_map_next(policy, &pos, &key, &value);) {
        PtcText rule = ptc_str_text(key), word = ptc_str_text(value);
        bool allows = ptc_text_is(word, "allow");
        if (!is_for(rule, server, &of, &tool) || !ptc_policy_is_name(of))
            continue; /* patterns are for many servers */
        if (allows && !ptc_policy_fits(of, server, false))
            tool = (PtcText){NULL, 0}; /* the server is spelt in another way */
        check_rule(&c, rule, tool, word, !allows);
    }
}
