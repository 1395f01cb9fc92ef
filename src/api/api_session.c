/* SPDX-License-Identifier: MIT
 * Sessions, as ptc.h declares them.  What always holds: while a run is under way nothing here changes a session. */
#include "api/api_int.h"
#include "engine/snapshot/snapshot.h"

PtcSession *ptc_session_new(Ptc *ptc)
{
    return ptc ? ptc_session_open(ptc) : NULL;
}

void ptc_session_free(PtcSession *s)
{
    ptc_session_drop(s);
}

/* While a run uses the session its values are not counted; the size of its heap is returned instead. */
size_t ptc_session_bytes(PtcSession *s)
{
    if (!s)
        return 0;
    return api_idle(s->ptc) ? ptc_session_size(s) : s->box->heap.used;
}

size_t ptc_session_count(const PtcSession *s)
{
    return s ? ptc_session_binding_count(s) : 0;
}

const char *ptc_session_name(PtcSession *s, size_t index, size_t *len)
{
    PtcText name = s ? ptc_session_binding(s, index) : (PtcText){NULL, 0};
    if (name.bytes)
        api_set_len(len, name.len);
    return name.bytes;
}

PtcValue ptc_session_value(const PtcSession *s, const char *name, size_t len)
{
    return s && name ? ptc_session_lookup(s, (PtcText){name, len}) : PTC_NONE;
}

PtcStatus ptc_session_set(PtcSession *s, const char *name, size_t len, PtcValue value)
{
    if (!s || !name || !api_idle(s->ptc))
        return PTC_BAD_ARGUMENT;
    return ptc_session_define(s, (PtcText){name, len}, value);
}

bool ptc_session_forget(PtcSession *s, const char *name, size_t len)
{
    return s && name && api_idle(s->ptc) && ptc_session_undefine(s, (PtcText){name, len});
}

PtcStatus ptc_session_forget_all(PtcSession *s)
{
    return s && api_idle(s->ptc) ? ptc_session_clear(s) : PTC_BAD_ARGUMENT;
}

PtcStatus ptc_session_inspect(PtcSession *s, char **out, size_t *out_len)
{
    PtcBuf buf;
    if (!s || !out || !api_idle(s->ptc))
        return PTC_BAD_ARGUMENT;
    ptc_buf_init(&buf, &s->ptc->mem, PTC_UNBOUNDED);
    bool ok = ptc_session_describe(s, &buf);
    return ptc_engine_give_text(&buf, ok, out, out_len);
}

enum { KEY_BYTES_MIN = 16 };
#define SHORT_KEY "the key must have 16 bytes or more"

PtcStatus ptc_session_snapshot(PtcSession *s, const void *key, size_t key_len, char **out,
                               size_t *out_len, char *error, size_t error_size)
{
    PtcBuf buf;
    PtcWhy why;
    (void)api_refuse(PTC_OK, error, error_size, "");
    if (!s || !out || !api_idle(s->ptc))
        return api_refuse(PTC_BAD_ARGUMENT, error, error_size, PTC_API_BUSY);
    if (!key || key_len < KEY_BYTES_MIN)
        return api_refuse(PTC_BAD_ARGUMENT, error, error_size, SHORT_KEY);
    ptc_buf_init(&buf, &s->ptc->mem, PTC_UNBOUNDED);
    if (ptc_snapshot_save(s, (PtcText){key, key_len}, &buf, &why))
        return ptc_engine_give_text(&buf, true, out, out_len);
    ptc_buf_deinit(&buf);
    return api_refuse_data(&why, error, error_size);
}

PtcStatus ptc_session_restore(Ptc *ptc, const void *key, size_t key_len, const void *bytes,
                              size_t len, PtcSession **out, char *error, size_t error_size)
{
    PtcWhy why;
    if (!bytes || !out || !api_idle(ptc))
        return api_refuse(PTC_BAD_ARGUMENT, error, error_size, PTC_API_BUSY);
    *out = NULL;
    if (!key || key_len < KEY_BYTES_MIN)
        return api_refuse(PTC_BAD_ARGUMENT, error, error_size, SHORT_KEY);
    return ptc_snapshot_load(ptc, (PtcText){key, key_len}, (PtcText){bytes, len}, out, &why)
               ? api_refuse(PTC_OK, error, error_size, "")
               : api_refuse_data(&why, error, error_size);
}
