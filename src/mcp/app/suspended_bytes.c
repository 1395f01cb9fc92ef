/* SPDX-License-Identifier: MIT
 * A run that waits, or was answered, as the bytes of a record.  What always holds: what is read may be anything; what
 * an answer is made of is checked as if a worker had sent it. */
#include <stdio.h>

#include "base/packed.h"
#include "base/utf8.h"
#include "exec/frame.h"
#include "json/check.h"
#include "mcp/app/suspended.h"

/* ROW_FORMAT: bytes of another one are not read. */
enum {
    ROW_FORMAT = 1,
    ROW_TASK = 1,
    ROW_HAS_OUT = 2,
    ROW_FAILED = 4,
    ROW_TOLD_OK = 8,
    ROW_FLAGS = 15
};

/* ------------------------------------------------------------------------------------ answers */

static void pack_session_info(const PtcSessionInfo *info, PtcBuf *out)
{
    const int64_t numbers[] = {info->created_ms,    info->used_ms,        info->ends_ms,
                               info->expires_ms,    (int64_t)info->evals, (int64_t)info->bindings,
                               (int64_t)info->bytes};
    ptc_pack_text(out, ptc_text_cstr(info->handle));
    ptc_pack_text(out, ptc_text_cstr(info->title));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ptc_pack_i64(out, numbers[i]);
}

/* One of our own, with a NUL behind it. */
static void unpack_name(PtcPackedReader *in, char *to, size_t size)
{
    PtcText text = ptc_unpack_text(in);
    in->bad = in->bad || text.len >= size || (text.len && !ptc_utf8_valid(text.bytes, text.len));
    if (!in->bad)
        snprintf(to, size, "%.*s", PTC_ARG(text));
}

static void unpack_session_info(PtcPackedReader *in, PtcSessionInfo *info)
{
    static const int64_t most = INT64_MAX / 2;
    unpack_name(in, info->handle, sizeof info->handle);
    unpack_name(in, info->title, sizeof info->title);
    info->created_ms = ptc_unpack_upto(in, most);
    info->used_ms = ptc_unpack_upto(in, most);
    info->ends_ms = ptc_unpack_upto(in, most);
    info->expires_ms = ptc_unpack_upto(in, most);
    info->evals = (uint64_t)ptc_unpack_upto(in, most);
    info->bindings = (size_t)ptc_unpack_upto(in, most);
    info->bytes = (size_t)ptc_unpack_upto(in, most);
}

static void pack_out(const PtcTaskOut *task, PtcBuf *out)
{
    PtcBuf frame;
    ptc_buf_init(&frame, out->mem, PTC_SUSPENDED_BYTES);
    bool ok = ptc_frame_put_done(&frame, 0, PTC_TASK_DONE, task);
    ptc_pack_text(
        out, ok ? (PtcText){frame.data + sizeof(PtcFrameHead), frame.len - sizeof(PtcFrameHead)}
                : (PtcText){NULL, 0});
    ptc_buf_end_part(out, &frame);
    ptc_pack_u32(out, task->took_any);
    ptc_pack_i64(out, (int64_t)task->effects);
    ptc_pack_text(out, ptc_buf_view(&task->took));
    ptc_pack_text(out, ptc_buf_view(&task->pictures));
    ptc_pack_text(out, ptc_buf_view(&task->call_log));
}

static void unpack_buf(PtcPackedReader *in, PtcBuf *to)
{
    PtcText text = ptc_unpack_text(in);
    in->bad = in->bad || (text.len && !ptc_utf8_valid(text.bytes, text.len)) ||
              !ptc_buf_add(to, text.bytes, text.len);
}

static void unpack_out(PtcPackedReader *in, PtcTaskOut *task)
{
    PtcWhy why;
    PtcTaskStatus status;
    PtcText frame = ptc_unpack_text(in);
    in->bad = in->bad || !ptc_frame_get_done(frame.bytes, frame.len, task, &status, &why);
    task->took_any = ptc_unpack_below(in, 1);
    task->effects = (uint64_t)ptc_unpack_i64(in);
    unpack_buf(in, &task->took);
    unpack_buf(in, &task->pictures);
    unpack_buf(in, &task->call_log);
}

static void pack_answer(const PtcSuspendedRow *row, PtcBuf *out)
{
    if (row->has_out)
        pack_out(&row->out, out);
    pack_session_info(&row->info, out);
    ptc_pack_text(out, ptc_text_cstr(row->reason));
    ptc_pack_text(out, ptc_buf_view(&row->told));
}

static void unpack_answer(PtcPackedReader *in, PtcSuspendedRow *row)
{
    if (row->has_out) {
        ptc_task_out_init(&row->out, row->bytes.mem, PTC_SUSPENDED_BYTES);
        unpack_out(in, &row->out);
    }
    unpack_session_info(in, &row->info);
    unpack_name(in, row->reason, sizeof row->reason);
    unpack_buf(in, &row->told);
    in->bad = in->bad || (row->told.len && !ptc_json_is_line(row->told.data, row->told.len));
}

/* --------------------------------------------------------------------------------------- rows */

static void pack_question(const PtcSuspendedRow *row, PtcBuf *out)
{
    ptc_pack_u32(out, row->round);
    ptc_pack_i64(out, (int64_t)row->mark);
    ptc_pack_i64(out, (int64_t)row->inquiry);
    ptc_pack_u32(out, row->along.count);
    for (unsigned i = 0; i < row->along.count; i++)
        ptc_pack_i64(out, (int64_t)row->along.numbers[i]);
    ptc_pack_i64(out, row->first_ms);
    ptc_pack_i64(out, row->ends_ms);
    ptc_pack_u32(out, row->replied);
    ptc_buf_add(out, row->reply, sizeof row->reply);
    ptc_pack_text(out, ptc_buf_view(&row->message));
    ptc_pack_text(out, ptc_buf_view(&row->asked));
    ptc_pack_text(out, ptc_buf_view(&row->said));
}

static void unpack_question(PtcPackedReader *in, PtcSuspendedRow *row)
{
    row->round = ptc_unpack_u32(in);
    row->mark = (uint64_t)ptc_unpack_i64(in);
    row->inquiry = (uint64_t)ptc_unpack_i64(in);
    row->along.count = ptc_unpack_below(in, PTC_ALONG);
    for (unsigned i = 0; i < row->along.count; i++)
        row->along.numbers[i] = (uint64_t)ptc_unpack_i64(in);
    row->first_ms = ptc_unpack_upto(in, INT64_MAX / 2);
    row->ends_ms = ptc_unpack_upto(in, INT64_MAX / 2);
    row->replied = ptc_unpack_u32(in);
    ptc_unpack_copy(in, row->reply, sizeof row->reply);
    unpack_buf(in, &row->message);
    unpack_buf(in, &row->asked);
    unpack_buf(in, &row->said);
    in->bad = in->bad || (row->said.len && !ptc_json_is_line(row->said.data, row->said.len));
}

/* Of a run that was taken only its taker knows more. */
static void pack_program(const PtcSuspendedRow *row, PtcBuf *out)
{
    const PtcText none = {NULL, 0};
    ptc_pack_text(out, row->program);
    ptc_pack_text(out, row->context);
    ptc_pack_text(out, row->signature);
    ptc_pack_text(out, row->output_schema);
    ptc_pack_text(out, row->session);
    ptc_pack_i64(out, row->now_ms);
    ptc_pack_u32(out, row->mode);
    ptc_pack_u32(out, row->offers);
    ptc_pack_text(out, row->state == PTC_ROW_WAITING ? row->run : none);
    ptc_buf_add(out, row->node, sizeof row->node);
}

static PtcText unpack_utf8(PtcPackedReader *in)
{
    PtcText text = ptc_unpack_text(in);
    in->bad = in->bad || (text.len && !ptc_utf8_valid(text.bytes, text.len));
    return text;
}

static void unpack_program(PtcPackedReader *in, PtcSuspendedRow *row)
{
    row->program = unpack_utf8(in);
    row->context = unpack_utf8(in);
    row->signature = unpack_utf8(in);
    row->output_schema = unpack_utf8(in);
    row->session = unpack_utf8(in);
    row->now_ms = ptc_unpack_i64(in);
    row->mode = ptc_unpack_below(in, PTC_REMOTE_ONLY_READS);
    row->offers = ptc_unpack_u32(in);
    row->run = ptc_unpack_text(in);
    ptc_unpack_copy(in, row->node, sizeof row->node);
}

void ptc_suspended_pack(const PtcSuspendedRow *row, PtcBuf *out)
{
    ptc_pack_u32(out, ROW_FORMAT);
    ptc_pack_u32(out, row->state);
    ptc_pack_u32(out, (row->is_task ? ROW_TASK : 0) | (row->has_out ? ROW_HAS_OUT : 0) |
                          (row->failed ? ROW_FAILED : 0) | (row->told_ok ? ROW_TOLD_OK : 0));
    ptc_buf_add(out, row->id, sizeof row->id);
    pack_question(row, out);
    pack_program(row, out);
    if (row->state == PTC_ROW_ANSWERED)
        pack_answer(row, out);
}

bool ptc_suspended_unpack(PtcSuspendedRow *row, PtcText bytes)
{
    PtcPackedReader in = ptc_unpack_begin(bytes.bytes, bytes.len);
    in.bad = ptc_unpack_u32(&in) != ROW_FORMAT;
    row->state = (PtcRowState)ptc_unpack_below(&in, PTC_ROW_ANSWERED);
    uint32_t flags = ptc_unpack_below(&in, ROW_FLAGS);
    row->is_task = flags & ROW_TASK;
    row->has_out = (flags & ROW_HAS_OUT) && row->state == PTC_ROW_ANSWERED;
    row->failed = flags & ROW_FAILED;
    row->told_ok = flags & ROW_TOLD_OK;
    ptc_unpack_copy(&in, row->id, sizeof row->id);
    unpack_question(&in, row);
    unpack_program(&in, row);
    row->has_out = row->has_out && !in.bad;
    if (row->state == PTC_ROW_ANSWERED && !in.bad)
        unpack_answer(&in, row);
    return ptc_unpack_is_done(&in);
}
