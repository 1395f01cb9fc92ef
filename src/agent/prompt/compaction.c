/* SPDX-License-Identifier: MIT
 * Decides which messages are sent.  What always holds: whole turns are kept, so a call is never sent without its
 * answer. */
#include "agent/prompt/compaction.h"

/* Number of the message that begins the last `keep` turns; 0 when there are no more turns than that. */
static size_t find_recent(const PtcConversation *c, size_t mission, int64_t keep)
{
    size_t at = c->count;
    for (size_t i = c->count; i-- > mission + 1;)
        if (c->items[i].role == PTC_ROLE_ASSISTANT) {
            if (keep-- == 0)
                return at;
            at = i;
        }
    return 0;
}

static uint64_t sum_tokens(const PtcConversation *c, size_t from)
{
    uint64_t n = 0;
    for (size_t i = from; i < c->count; i++)
        n += c->tokens[i];
    return n;
}

static const char *find_reason(const PtcCompactionRule *rule, int64_t turn, uint64_t tokens)
{
    if (rule->turns > 0 && turn > rule->turns)
        return "turn_pressure";
    return rule->tokens > 0 && tokens >= (uint64_t)rule->tokens ? "token_pressure" : NULL;
}

static bool is_above_token_rule(const PtcCompactionRule *rule, uint64_t tokens)
{
    return rule->tokens > 0 && tokens > (uint64_t)rule->tokens;
}

/* Tokens of the message that comes first when turns are left out. */
static uint64_t first_tokens(const PtcCompactionRule *rule, const PtcConversation *c,
                             size_t mission, const PtcMessage *note)
{
    return rule->keep_initial_user ? c->tokens[mission] : 1 + note->content.len / 4;
}

PtcSending ptc_compaction_decide(const PtcCompactionRule *rule, const PtcConversation *c,
                                 size_t mission, int64_t turn, const PtcMessage *note,
                                 PtcCompacted *out)
{
    PtcSending all = {NULL, 0};
    uint64_t tokens = sum_tokens(c, 0);
    if (!rule->enabled)
        return all;
    *out = (PtcCompacted){.enabled = true,
                          .messages_before = c->count,
                          .messages_after = c->count,
                          .tokens_before = tokens,
                          .tokens_after = tokens,
                          .kept_recent_turns = rule->keep_recent_turns};
    const char *reason = find_reason(rule, turn, tokens);
    size_t from = reason ? find_recent(c, mission, rule->keep_recent_turns) : 0;
    if (from == 0)
        return all;
    uint64_t first = first_tokens(rule, c, mission, note);
    out->triggered = true;
    out->reason = reason;
    out->messages_after = 1 + c->count - from;
    out->tokens_after = first + sum_tokens(c, from);
    out->kept_initial_user = rule->keep_initial_user;
    out->over_budget = is_above_token_rule(rule, first);
    for (size_t i = from; i < c->count; i++)
        out->over_budget = out->over_budget || is_above_token_rule(rule, c->tokens[i]);
    return (PtcSending){rule->keep_initial_user ? &c->items[mission] : note, from};
}
