/* SPDX-License-Identifier: MIT
 * Effects and policy.  What always holds: a `deny` that fits is never overruled, and what is not known to be a read is
 * not treated as one. */
#include "upstream/config/policy.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "value/coll/fields.h"

static const char *const effect_names[] = {"read", "write", "destructive", "unknown"};
static const char *const policy_names[] = {"allow", "ask", "deny"};

static int find_policy_word(PtcText text, const char *const *words, int n)
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
    int found = find_policy_word(text, effect_names, PTC_EFFECT_UNKNOWN);
    out->kind = found < 0 ? PTC_EFFECT_UNKNOWN : (PtcEffectKind)found;
    return found >= 0;
}

const char *ptc_policy_name(PtcPolicy policy)
{
    return policy_names[policy];
}

bool ptc_policy_parse(PtcText text, PtcPolicy *out)
{
    int found = find_policy_word(text, policy_names, 3);
    *out = found < 0 ? PTC_POLICY_DENY : (PtcPolicy)found;
    return found >= 0;
}

/* --------------------------------------------------------------------------------- globs */

static bool is_wild(char c)
{
    return c == '*' || c == '?';
}

/* Characters that spellings of one name differ in.  What is not ASCII stays: a symbol has another spelling for it. */
static bool is_spelling_mark(char c)
{
    return !ptc_ascii_is_alnum(c) && (unsigned char)c < 0x80 && c != '/' && !is_wild(c);
}

static bool is_same_letter(char a, char b, bool loosely)
{
    return a == b || (loosely && ptc_ascii_is_letter(a) && (a | 0x20) == (b | 0x20));
}

/* Does a word of a name begin or end here: deleteAll, delete_all? */
static bool is_boundary(PtcText text, size_t at)
{
    const char *p = text.bytes + at;
    bool upper = at < text.len && ptc_ascii_is_upper(*p);
    return at == 0 || at == text.len || is_spelling_mark(*p) || is_spelling_mark(p[-1]) ||
           (upper && !ptc_ascii_is_upper(p[-1]));
}

/* A mark beside a wildcard stands for the end of a word, so that delete_* is not about deleted; between letters it may
 * as well not be there. */
static bool is_needed(PtcText glob, size_t g)
{
    size_t from = g, to = g;
    while (from > 0 && is_spelling_mark(glob.bytes[from - 1]))
        from--;
    while (to < glob.len && is_spelling_mark(glob.bytes[to]))
        to++;
    return (from > 0 && is_wild(glob.bytes[from - 1])) ||
           (to < glob.len && is_wild(glob.bytes[to]));
}

static bool fits_name_glob(PtcText glob, PtcText text, bool loosely)
{
    size_t g = 0, t = 0, star = SIZE_MAX, resume = 0;
    uint32_t code;
    while (t < text.len) {
        char c = g < glob.len ? glob.bytes[g] : '\0';
        bool mark = loosely && g < glob.len && is_spelling_mark(c);
        if (g < glob.len && c == '*') {
            star = g++;
            resume = t;
        } else if (mark && (!is_needed(glob, g) || is_boundary(text, t))) {
            g++;
        } else if (!mark && loosely && is_spelling_mark(text.bytes[t])) {
            t++;
        } else if (g < glob.len && c == '?') {
            g++;
            t += ptc_utf8_decode(text.bytes + t, text.len - t, &code);
        } else if (g < glob.len && !mark && is_same_letter(c, text.bytes[t], loosely)) {
            g++;
            t++;
        } else if (star != SIZE_MAX) {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.len && (glob.bytes[g] == '*' || (loosely && is_spelling_mark(glob.bytes[g]))))
        g++;
    return g == glob.len;
}

bool ptc_policy_glob(PtcText glob, PtcText text)
{
    return fits_name_glob(glob, text, false);
}

bool ptc_policy_fits(PtcText glob, PtcSpelt name, bool loosely)
{
    const PtcText all[] = {name.raw, name.shown, name.other};
    bool word = false; /* _* without its mark would be about everything */
    for (size_t i = 0; i < glob.len; i++)
        word = word ||
               !(is_spelling_mark(glob.bytes[i]) || is_wild(glob.bytes[i]) || glob.bytes[i] == '/');
    for (size_t i = 0; i < 3; i++)
        if (all[i].bytes && (fits_name_glob(glob, all[i], false) ||
                             (loosely && word && fits_name_glob(glob, all[i], true))))
            return true;
    return false;
}

bool ptc_policy_is_name(PtcText glob)
{
    return !memchr(glob.bytes, '*', glob.len) && !memchr(glob.bytes, '?', glob.len);
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

/* *loose: the strictest of those in a similar spelling only. */
static bool effect_said(PtcSpelt tool, PtcValue effects, PtcEffect *out, PtcEffect *loose)
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
            !ptc_policy_fits(glob, tool, true))
            continue;
        if (!ptc_policy_fits(glob, tool, false)) {
            *loose = strictness(effect) > strictness(*loose) ? effect : *loose;
            continue;
        }
        size_t n = literals(glob);
        if (!found || n > best || (n == best && strictness(effect) > strictness(*out)))
            *out = effect;
        best = n > best ? n : best;
        found = true;
    }
    return found;
}

static PtcEffect effect_noted(PtcHeap *heap, PtcValue annotations)
{
    PtcEffect effect = {.kind = PTC_EFFECT_UNKNOWN};
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

PtcEffect ptc_effect_of(PtcHeap *heap, PtcSpelt tool, PtcValue annotations, PtcValue effects,
                        bool trust)
{
    PtcEffect effect = {.kind = PTC_EFFECT_UNKNOWN}, loose = {PTC_EFFECT_READ, true};
    if (!effect_said(tool, effects, &effect, &loose) && trust && annotations != PTC_NONE)
        effect = effect_noted(heap, annotations);
    return strictness(loose) > strictness(effect) ? loose : effect;
}

/* ---------------------------------------------------------------------------------- rules */

/* The rule that fits a name best, among those looked at so far. */
typedef struct {
    bool found, denied; /* denied: one that fits says deny */
    size_t literals;
    PtcPolicy policy;
} BestRule;

/* `whole`: the name is that of a server alone, which a pattern does not mean. */
static void look_at_rules(PtcValue rules, PtcText name, bool whole, BestRule *best)
{
    PtcValue key, value;
    PtcPolicy policy;
    if (!name.bytes || rules == PTC_NONE || !ptc_is_map(rules))
        return;
    for (size_t pos = 0; ptc_map_next(rules, &pos, &key, &value);) {
        PtcText glob = ptc_str_text(key);
        (void)!ptc_policy_parse(ptc_str_text(value), &policy); /* what is no decision denies */
        if (!glob.bytes || (whole && !ptc_policy_is_name(glob)) ||
            !ptc_policy_fits(glob, (PtcSpelt){.raw = name}, policy != PTC_POLICY_ALLOW))
            continue;
        best->denied = best->denied || policy == PTC_POLICY_DENY;
        size_t n = literals(glob);
        if (!best->found || n > best->literals || (n == best->literals && policy > best->policy))
            best->policy = policy;
        best->literals = n > best->literals ? n : best->literals;
        best->found = true;
    }
}

/* The rules for one tool, looked up once for its present and its former annotations. */
typedef struct {
    bool ruled, denied;
    PtcPolicy policy;
} Rules;

/* Rules of a file are for server/tool; a server alone means all of its tools. */
static bool find_rules(PtcHeap *heap, const PtcPolicyIn *in, Rules *rules)
{
    const PtcText servers[] = {in->server.raw, in->server.shown};
    const PtcText tools[] = {in->tool.raw, in->tool.shown, in->tool.other};
    BestRule file = {.policy = PTC_POLICY_ASK}, own = file;
    PtcBuf name;
    ptc_buf_init(&name, heap->pool->mem, PTC_UNBOUNDED);
    for (size_t t = 0; t < 3; t++) {
        look_at_rules(in->upstream_policy, tools[t], false, &own);
        for (size_t s = 0; s < 2 && tools[t].bytes; s++) {
            name.len = 0;
            ptc_buf_add(&name, servers[s].bytes, servers[s].len);
            look_at_rules(in->file_policy, ptc_buf_view(&name), true, &file);
            ptc_buf_add_char(&name, '/');
            ptc_buf_add(&name, tools[t].bytes, tools[t].len);
            look_at_rules(in->file_policy, ptc_buf_view(&name), false, &file);
        }
    }
    bool ok = ptc_buf_ok(&name);
    *rules = (Rules){own.found || file.found, own.denied || file.denied,
                     own.found ? own.policy : file.policy};
    ptc_buf_deinit(&name);
    return ok;
}

static PtcPolicyOut decide_by(const PtcPolicyIn *in, const Rules *rules, PtcEffect effect)
{
    PtcPolicyOut out = {effect, PTC_POLICY_ALLOW, PTC_CALL_BY_POSTURE, NULL};
    bool reads = effect.kind == PTC_EFFECT_READ;
    if (rules->denied || rules->ruled)
        out.why = PTC_CALL_BY_RULE;
    if (rules->denied) {
        out.decision = PTC_POLICY_DENY;
    } else if (in->posture == PTC_POSTURE_READ_ONLY && !reads) {
        out.decision = PTC_POLICY_DENY;
        out.why = PTC_CALL_BY_POSTURE;
    } else if (rules->ruled) {
        out.decision = rules->policy;
    } else if (in->posture == PTC_POSTURE_TRUSTING) {
        out.decision = effect.kind == PTC_EFFECT_DESTRUCTIVE ? PTC_POLICY_ASK : PTC_POLICY_ALLOW;
    } else if (in->posture != PTC_POSTURE_ALLOW_ALL) {
        out.decision = reads ? PTC_POLICY_ALLOW : PTC_POLICY_ASK;
        out.why = PTC_CALL_BY_EFFECT;
    }
    return out;
}

PtcPolicyOut ptc_policy_decide(PtcHeap *heap, const PtcPolicyIn *in)
{
    Rules rules;
    bool trust = !in->distrust, changed = in->was != PTC_NONE;
    PtcEffect effect = ptc_effect_of(heap, in->tool, in->annotations, in->effects, trust);
    if (!find_rules(heap, in, &rules))
        return (PtcPolicyOut){effect, PTC_POLICY_DENY, PTC_CALL_NO_MEMORY, NULL};
    PtcPolicyOut out = decide_by(in, &rules, effect);
    if (changed) {
        PtcEffect before = ptc_effect_of(heap, in->tool, in->was, in->effects, trust);
        PtcPolicyOut old = decide_by(in, &rules, before);
        if (old.decision > out.decision) {
            out.decision = old.decision;
            out.why = PTC_CALL_BY_CHANGE;
        }
    }
    if (out.decision == PTC_POLICY_ASK && in->approved && !changed) {
        out.decision = PTC_POLICY_ALLOW;
        out.why = PTC_CALL_BY_APPROVAL;
    }
    if (out.decision == PTC_POLICY_ASK && in->cannot_ask) {
        out.decision = PTC_POLICY_DENY;
        out.why = PTC_CALL_CANNOT_ASK;
    }
    return out;
}
