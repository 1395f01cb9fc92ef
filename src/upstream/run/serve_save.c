/* SPDX-License-Identifier: MIT
 * A run that waits for a person, as bytes, so that another process with the same upstreams can go on with it.  What
 * always holds: what is read may be anything, every length and number is checked; an approval that was given for a
 * server or a tool counts where these are the same, and anywhere else the call is asked about again. */
#include "base/utf8.h"
#include "upstream/connect/inquiry.h"
#include "upstream/run/serve_int.h"

/* SAVED_FORMAT: bytes of another one are not read. */
enum { SAVED_FORMAT = 1, SAVED_COUNTS = 5 };

enum {
    PART_MET = 1,
    PART_OK = 2,
    PART_MAY_REPEAT = 4,
    PART_ASKED = 8,
    PART_NAMED = 16, /* it has what a question shows */
    PART_FLAGS = 31
};

PtcText ptc_run_own_text(PtcUpRun *run, PtcPackedReader *in)
{
    PtcText text = ptc_unpack_text(in);
    char *copy = text.bytes ? ptc_arena_alloc(&run->names, text.len + 1) : NULL;
    in->bad = in->bad || !copy || !ptc_utf8_valid(text.bytes, text.len);
    if (in->bad)
        return (PtcText){"", 0};
    memcpy(copy, text.bytes, text.len);
    return (PtcText){copy, text.len};
}

char *ptc_run_copy_text(PtcMem *mem, PtcPackedReader *in, PtcText text, size_t room)
{
    size_t size = text.len + room;
    char *copy = !in->bad && size ? ptc_mem_alloc(mem, size) : NULL;
    in->bad = in->bad || (size && !copy);
    if (copy && text.len)
        memcpy(copy, text.bytes, text.len);
    return copy;
}

/* ------------------------------------------------------------------------------------- calls */

static void save_part(const PtcUpRun *run, const PtcReplayCall *part, PtcBuf *out)
{
    bool named = part->server.bytes != NULL;
    ptc_pack_i64(out, (int64_t)part->id.path);
    ptc_pack_u32(out, part->id.count);
    ptc_pack_u32(out, part->state);
    ptc_pack_u32(out, (part->met ? PART_MET : 0) | (part->ok ? PART_OK : 0) |
                          (part->may_repeat ? PART_MAY_REPEAT : 0) |
                          (part->asked ? PART_ASKED : 0) | (named ? PART_NAMED : 0));
    ptc_buf_add(out, part->print, sizeof part->print);
    ptc_pack_text(out, (PtcText){part->answer, part->len});
    if (!named)
        return;
    ptc_pack_text(out, part->server);
    ptc_pack_text(out, part->tool);
    ptc_buf_add(out, ptc_run_upstream(run, part->slot)->identity, PTC_SHA256_BYTES);
    ptc_pack_u32(out, part->was);
    ptc_pack_u32(out, part->effect);
    ptc_buf_add(out, part->pin, sizeof part->pin);
    ptc_pack_text(out, (PtcText){part->args, part->args_len});
}

/* The server may be another one here, or none: then nothing was said about the call. */
static void find_part_server(const PtcUpRun *run, PtcReplayCall *part, const uint8_t *identity)
{
    const PtcManager *m = run->manager;
    bool known = false;
    for (size_t i = 0; i < m->count && !known; i++) {
        known = ptc_text_same(m->upstreams[i].entry.name, part->server) &&
                memcmp(m->upstreams[i].identity, identity, PTC_SHA256_BYTES) == 0;
        part->slot = (uint32_t)i;
    }
    if (known || (part->state != PTC_REPLAY_ASIDE && part->state != PTC_REPLAY_APPROVED))
        return;
    part->state = PTC_REPLAY_CALLED;
    part->asked = false;
    part->slot = 0;
}

static void restore_part_names(PtcUpRun *run, PtcReplayCall *part, PtcPackedReader *in)
{
    uint8_t identity[PTC_SHA256_BYTES] = {0};
    part->server = ptc_run_own_text(run, in);
    part->tool = ptc_run_own_text(run, in);
    ptc_unpack_copy(in, identity, sizeof identity);
    part->was = (PtcGrantState)ptc_unpack_below(in, PTC_GRANT_HOLDS);
    part->effect = (PtcEffectKind)ptc_unpack_below(in, PTC_EFFECT_UNKNOWN);
    ptc_unpack_copy(in, part->pin, sizeof part->pin);
    PtcText args = ptc_unpack_text(in);
    in->bad = in->bad || (args.len && !ptc_utf8_valid(args.bytes, args.len));
    part->args = ptc_run_copy_text(run->mem, in, args, 0);
    part->args_len = part->args ? args.len : 0;
    if (!in->bad)
        find_part_server(run, part, identity);
}

static void restore_part(PtcUpRun *run, PtcPackedReader *in)
{
    PtcReplay *r = &run->replay;
    PtcReplayCall *part = &r->items[r->count++];
    *part = (PtcReplayCall){.id.path = (uint64_t)ptc_unpack_i64(in)};
    part->id.count = ptc_unpack_u32(in);
    part->state = (PtcReplayState)ptc_unpack_below(in, PTC_REPLAY_APPROVED);
    uint32_t flags = ptc_unpack_below(in, PART_FLAGS);
    part->met = flags & PART_MET;
    part->ok = flags & PART_OK;
    part->may_repeat = flags & PART_MAY_REPEAT;
    part->asked = flags & PART_ASKED;
    ptc_unpack_copy(in, part->print, sizeof part->print);
    PtcText answer = ptc_unpack_text(in);
    in->bad = in->bad || answer.len > PTC_REPLAY_BYTES - r->bytes ||
              (part->state == PTC_REPLAY_ANSWERED && !answer.len);
    part->answer = ptc_run_copy_text(run->mem, in, answer, 0);
    part->len = part->answer ? answer.len : 0;
    r->bytes += part->len;
    /* what waits is shown to people, and what was approved was */
    in->bad = in->bad || (!(flags & PART_NAMED) &&
                          (part->state == PTC_REPLAY_ASIDE || part->state == PTC_REPLAY_APPROVED));
    if (flags & PART_NAMED)
        restore_part_names(run, part, in);
}

static void restore_parts(PtcUpRun *run, PtcPackedReader *in)
{
    PtcReplay *r = &run->replay;
    uint32_t n = ptc_unpack_below(in, PTC_REPLAY_CALLS);
    in->bad = in->bad || !PTC_GROW(r->mem, &r->items, &r->cap, n);
    for (uint32_t i = 0; i < n && !in->bad; i++)
        restore_part(run, in);
}

/* ------------------------------------------------------------------------------------ the run */

/* Is something of it open here, which nobody can go on with elsewhere?  With the manager's lock held. */
static bool is_bound(const PtcUpRun *run)
{
    for (const PtcUpCall *call = run->calls; call; call = call->sibling)
        if (call->held)
            return true;
    return ptc_inquiry_is_bound(run);
}

static bool save_run(void *user, PtcBuf *out)
{
    PtcUpRun *run = user;
    PtcManager *m = run->manager;
    const size_t counts[SAVED_COUNTS] = {run->made, run->refused, run->looks, run->bytes,
                                         run->asides};
    if (run->replay.full || run->replay.diverged || run->mode == PTC_REMOTE_PLANS)
        return false;
    ptc_pack_u32(out, SAVED_FORMAT);
    ptc_pack_u32(out, run->mode);
    ptc_pack_u32(out, run->offers);
    for (size_t i = 0; i < SAVED_COUNTS; i++)
        ptc_pack_i64(out, (int64_t)counts[i]);
    ptc_pack_u32(out, run->unkept.class);
    ptc_pack_text(out, ptc_text_cstr(run->unkept.class ? run->unkept.text : ""));
    ptc_pack_u32(out, (uint32_t)run->replay.count);
    for (size_t i = 0; i < run->replay.count; i++)
        save_part(run, &run->replay.items[i], out);
    ptc_grants_pack(&run->granted, out);
    ptc_grants_pack(&run->declined, out);
    ptc_run_save_records(run, out);
    ptc_run_save_denied(run, out);
    ptc_run_save_blobs(run, out);
    pthread_mutex_lock(&m->lock);
    bool bound = is_bound(run);
    if (!bound)
        ptc_inquiry_save(run, out);
    pthread_mutex_unlock(&m->lock);
    return !bound && ptc_buf_ok(out);
}

static void restore_head(PtcUpRun *run, PtcPackedReader *in)
{
    size_t *counts[SAVED_COUNTS] = {&run->made, &run->refused, &run->looks, &run->bytes,
                                    &run->asides};
    in->bad = in->bad || ptc_unpack_u32(in) != SAVED_FORMAT;
    run->mode = (PtcRemoteMode)ptc_unpack_below(in, PTC_REMOTE_ONLY_READS);
    run->offers = ptc_unpack_below(in, PTC_REMOTE_ELICITS | PTC_REMOTE_SAMPLES | PTC_REMOTE_OPENS |
                                           PTC_REMOTE_ROOTS);
    in->bad = in->bad || run->mode == PTC_REMOTE_PLANS;
    for (size_t i = 0; i < SAVED_COUNTS; i++)
        *counts[i] = (size_t)ptc_unpack_upto(in, INT64_MAX / 2);
    PtcWhyClass class = (PtcWhyClass)ptc_unpack_below(in, PTC_WHY_CANCELLED);
    PtcText why = ptc_unpack_text(in);
    in->bad = in->bad || (why.len && !ptc_utf8_valid(why.bytes, why.len));
    if (class && !in->bad)
        ptc_why_say(&run->unkept, class, "%.*s", PTC_ARG(why));
}

static void *restore_run(PtcRemote *self, const char *owner, PtcText bytes)
{
    uint64_t version;
    PtcUpRun *run = self->begin(self, owner, INT64_MAX, NULL, &version);
    PtcPackedReader in = ptc_unpack_begin(bytes.bytes, bytes.len);
    if (!run)
        return NULL;
    restore_head(run, &in);
    restore_parts(run, &in);
    in.bad =
        in.bad || !ptc_grants_unpack(&run->granted, &in) || !ptc_grants_unpack(&run->declined, &in);
    ptc_run_restore_records(run, &in);
    ptc_run_restore_denied(run, &in);
    ptc_run_restore_blobs(run, &in);
    ptc_inquiry_restore(run, &in);
    if (ptc_unpack_is_done(&in))
        return run;
    self->end(run, NULL);
    return NULL;
}

void ptc_save_fill(PtcRemote *remote)
{
    remote->save = save_run;
    remote->restore = restore_run;
}
