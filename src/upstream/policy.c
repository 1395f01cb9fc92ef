/* SPDX-License-Identifier: MIT
 * Effects and policy.  What always holds: a `deny` that fits is never overruled, and what is not known to be a read is
 * not treated as one. */
#include "upstream/policy.h"

#include "base/utf8.h"
#include "upstream/fields.h"

static const char *const effect_names[] = {"read", "write", "destructive", "unknown"};
static const char *const policy_names[] = {"allow", "ask", "deny"};
static const char *const posture_names[] = {"default", "read-only", "trusting", "allow-all"};

static int find_word(PtcText text, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (text.bytes && ptc_text_is(text, words[i]))
            return i;
    return -1;
}

const char *ptc_effect_name(PtcEffectKind kind)
{
    return effect_names[kind];
}

bool ptc_effect_parse(PtcText text, PtcEffect *out)
{
    static const char behind[] = " idempotent";
    size_t n = sizeof behind - 1;
    out->idempotent = text.len > n && memcmp(text.bytes + text.len - n, behind, n) == 0;
    if (out->idempotent)
        text.len -= n;
    int found = find_word(text, effect_names, PTC_EFFECT_UNKNOWN);
    out->kind = found < 0 ? PTC_EFFECT_UNKNOWN : (PtcEffectKind)found;
    return found >= 0;
}

const char *ptc_policy_name(PtcPolicy policy)
{
    return policy_names[policy];
}

bool ptc_policy_parse(PtcText text, PtcPolicy *out)
{
    int found = find_word(text, policy_names, 3);
    *out = found < 0 ? PTC_POLICY_DENY : (PtcPolicy)found;
    return found >= 0;
}

bool ptc_posture_parse(PtcText text, PtcPosture *out)
{
    int found = find_word(text, posture_names, 4);
    *out = found < 0 ? PTC_POSTURE_READ_ONLY : (PtcPosture)found;
    return found >= 0;
}

/* --------------------------------------------------------------------------------- globs */

bool ptc_policy_glob(PtcText glob, PtcText text)
{
    size_t g = 0, t = 0, star = SIZE_MAX, resume = 0;
    uint32_t code;
    while (t < text.len) {
        if (g < glob.len && glob.bytes[g] == '*') {
            star = g++;
            resume = t;
        } else if (g < glob.len && glob.bytes[g] == '?') {
            g++;
            t += ptc_utf8_decode(text.bytes + t, text.len - t, &code);
        } else if (g < glob.len && glob.bytes[g] == text.bytes[t]) {
            g++;
            t++;
        } else if (star != SIZE_MAX) {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.len && glob.bytes[g] == '*')
        g++;
    return g == glob.len;
}

static size_t literals(PtcText glob)
{
    size_t n = 0;
    for (size_t i = 0; i < glob.len; i++)
        n += glob.bytes[i] != '*' && glob.bytes[i] != '?';
    return n;
}

/* ------------------------------------------------------------------------------- effects */

/* What is asked about more is stricter; of equal ones, what may not be repeated. */
static int strictness(PtcEffect effect)
{
    static const int ranks[] = {[PTC_EFFECT_READ] = 0,
                                [PTC_EFFECT_WRITE] = 1,
                                [PTC_EFFECT_UNKNOWN] = 2,
                                [PTC_EFFECT_DESTRUCTIVE] = 3};
    return 2 * ranks[effect.kind] + !effect.idempotent;
}

PtcEffect ptc_effect_stricter(PtcEffect a, PtcEffect b)
{
    PtcEffect out = strictness(a) > strictness(b) ? a : b;
    out.idempotent = a.idempotent && b.idempotent;
    return out;
}

static bool effect_said(PtcText tool, PtcValue effects, PtcEffect *out)
{
    PtcValue key, value;
    PtcEffect effect;
    bool found = false;
    size_t best = 0;
    if (effects == PTC_NONE || !ptc_is_map(effects))
        return false;
    for (size_t pos = 0; ptc_map_next(effects, &pos, &key, &value);) {
        PtcText glob = ptc_str_text(key);
        if (!glob.bytes || !ptc_effect_parse(ptc_str_text(value), &effect) ||
            !ptc_policy_glob(glob, tool))
            continue;
        size_t n = literals(glob);
        if (!found || n > best || (n == best && strictness(effect) > strictness(*out)))
            *out = effect;
        best = n > best ? n : best;
        found = true;
    }
    return found;
}

PtcEffect ptc_effect_of(PtcHeap *heap, PtcText tool, PtcValue annotations, PtcValue effects,
                        bool trust)
{
    PtcEffect effect = {.kind = PTC_EFFECT_UNKNOWN};
    if (effect_said(tool, effects, &effect) || !trust || annotations == PTC_NONE)
        return effect;
    PtcValue reads = ptc_map_field(heap, annotations, "readOnlyHint");
    PtcValue destroys = ptc_map_field(heap, annotations, "destructiveHint");
    effect.idempotent = ptc_fields_is(heap, annotations, "idempotentHint", PTC_TRUE);
    if (reads == PTC_TRUE)
        effect.kind = destroys == PTC_TRUE ? PTC_EFFECT_DESTRUCTIVE : PTC_EFFECT_READ;
    else if (destroys == PTC_FALSE)
        effect.kind = PTC_EFFECT_WRITE;
    else if (reads == PTC_FALSE || destroys == PTC_TRUE)
        effect.kind = PTC_EFFECT_DESTRUCTIVE;
    return effect;
}

/* ---------------------------------------------------------------------------------- rules */

/* The rule that fits a name best.  False: none does.  *denied: one that fits says deny. */
static bool find_rule(PtcValue rules, PtcText name, PtcPolicy *out, bool *denied)
{
    PtcValue key, value;
    PtcPolicy policy;
    bool found = false;
    size_t best = 0;
    if (rules == PTC_NONE || !ptc_is_map(rules))
        return false;
    for (size_t pos = 0; ptc_map_next(rules, &pos, &key, &value);) {
        PtcText glob = ptc_str_text(key);
        if (!glob.bytes || !ptc_policy_glob(glob, name))
            continue;
        (void)!ptc_policy_parse(ptc_str_text(value), &policy); /* what is no decision denies */
        *denied = *denied || policy == PTC_POLICY_DENY;
        size_t n = literals(glob);
        if (!found || n > best || (n == best && policy > *out))
            *out = policy;
        best = n > best ? n : best;
        found = true;
    }
    return found;
}

/* The rules for one tool, looked up once for its present and its former annotations. */
typedef struct {
    bool ruled, denied;
    PtcPolicy policy;
} Rules;

static bool find_rules(PtcHeap *heap, const PtcPolicyIn *in, Rules *rules)
{
    PtcBuf name;
    PtcPolicy file = PTC_POLICY_ASK;
    *rules = (Rules){.policy = PTC_POLICY_ASK};
    ptc_buf_init(&name, heap->pool->mem, SIZE_MAX / 4);
    ptc_buf_add(&name, in->server.bytes, in->server.len);
    ptc_buf_add_char(&name, '/');
    bool ok = ptc_buf_add(&name, in->tool.bytes, in->tool.len);
    bool of_file = ok && find_rule(in->file_policy, ptc_buf_view(&name), &file, &rules->denied);
    rules->ruled = find_rule(in->upstream_policy, in->tool, &rules->policy, &rules->denied);
    if (!rules->ruled && of_file) {
        rules->ruled = true;
        rules->policy = file;
    }
    ptc_buf_deinit(&name);
    return ok;
}

static PtcPolicyOut decide_by(const PtcPolicyIn *in, const Rules *rules, PtcEffect effect)
{
    PtcPolicyOut out = {effect, PTC_POLICY_ALLOW, "posture"};
    bool reads = effect.kind == PTC_EFFECT_READ;
    if (rules->denied || rules->ruled)
        out.why = "rule";
    if (rules->denied) {
        out.decision = PTC_POLICY_DENY;
    } else if (in->posture == PTC_POSTURE_READ_ONLY && !reads) {
        out.decision = PTC_POLICY_DENY;
        out.why = "posture";
    } else if (rules->ruled) {
        out.decision = rules->policy;
    } else if (in->posture == PTC_POSTURE_TRUSTING) {
        out.decision = effect.kind == PTC_EFFECT_DESTRUCTIVE ? PTC_POLICY_ASK : PTC_POLICY_ALLOW;
    } else if (in->posture != PTC_POSTURE_ALLOW_ALL) {
        out.decision = reads ? PTC_POLICY_ALLOW : PTC_POLICY_ASK;
        out.why = "effect";
    }
    return out;
}

PtcPolicyOut ptc_policy_decide(PtcHeap *heap, const PtcPolicyIn *in)
{
    Rules rules;
    bool trust = !in->distrust, changed = in->was != PTC_NONE;
    PtcEffect effect = ptc_effect_of(heap, in->tool, in->annotations, in->effects, trust);
    if (!find_rules(heap, in, &rules))
        return (PtcPolicyOut){effect, PTC_POLICY_DENY, "memory"};
    PtcPolicyOut out = decide_by(in, &rules, effect);
    if (changed) {
        PtcEffect before = ptc_effect_of(heap, in->tool, in->was, in->effects, trust);
        PtcPolicyOut old = decide_by(in, &rules, before);
        if (old.decision > out.decision) {
            out.decision = old.decision;
            out.why = "changed";
        }
    }
    if (out.decision == PTC_POLICY_ASK && in->approved && !changed) {
        out.decision = PTC_POLICY_ALLOW;
        out.why = "approved";
    }
    if (out.decision == PTC_POLICY_ASK && in->cannot_ask) {
        out.decision = PTC_POLICY_DENY;
        out.why = "cannot_ask";
    }
    return out;
}
