/* SPDX-License-Identifier: MIT
 * Rows of runs that wait, between memory and the store. */
#include "base/text/hex.h"
#include "mcp/app/suspended.h"

/* KEPT_BYTES: of the answer of a task.  OWNER_ROWS: with those that were answered. */
enum {
    ROW_KEPT_BYTES = 1 << 20,
    ROW_ASKED_BYTES = 32 * PTC_KB,
    ROWS_MOST = 4096,
    ROWS_OF_OWNER = 2 * PTC_SUSPENDED_OWNER_ROWS,
};

const char ptc_suspended_kind[] = "suspended";

PtcSuspendedRow *ptc_suspended_row_new(PtcMem *mem, PtcText owner)
{
    PtcSuspendedRow *row = ptc_mem_alloc(mem, sizeof *row);
    char *name = ptc_mem_alloc(mem, owner.len + 1);
    if (!row || !name) {
        ptc_mem_free(mem, row, sizeof *row);
        ptc_mem_free(mem, name, owner.len + 1);
        return NULL;
    }
    memset(row, 0, sizeof *row);
    memcpy(name, owner.bytes, owner.len);
    name[owner.len] = '\0';
    row->owner = name;
    ptc_buf_init(&row->message, mem, 4 * PTC_KB);
    ptc_buf_init(&row->asked, mem, ROW_ASKED_BYTES);
    ptc_buf_init(&row->said, mem, 4 * PTC_KB);
    ptc_buf_init(&row->told, mem, ROW_KEPT_BYTES);
    ptc_buf_init(&row->bytes, mem, PTC_SUSPENDED_BYTES);
    ptc_buf_init(&row->saved, mem, PTC_SUSPENDED_BYTES);
    return row;
}

void ptc_suspended_row_free(PtcMem *mem, PtcSuspendedRow *row)
{
    PtcBuf *bufs[] = {&row->message, &row->asked, &row->said, &row->told, &row->bytes, &row->saved};
    if (row->has_out)
        ptc_task_out_deinit(&row->out);
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        ptc_buf_deinit(bufs[i]);
    ptc_mem_free(mem, row->owner, strlen(row->owner) + 1);
    ptc_mem_free(mem, row, sizeof *row);
}

PtcStoreKey ptc_suspended_key(PtcText owner, const uint8_t *id, char text[PTC_SUSPENDED_KEY])
{
    ptc_hex_write(text, id, PTC_SUSPENDED_ID);
    return (PtcStoreKey){ptc_suspended_kind, owner, {text, PTC_SUSPENDED_KEY - 1}};
}

PtcSuspendedRow *ptc_suspended_row_read(PtcStore *store, PtcMem *mem, PtcText owner, PtcText id,
                                        PtcStoreStatus *status)
{
    PtcStored stored;
    const PtcStoreKey key = {ptc_suspended_kind, owner, id};
    PtcSuspendedRow *row = ptc_suspended_row_new(mem, owner);
    *status = PTC_STORE_NO_MEMORY;
    if (!row)
        return NULL;
    *status = ptc_store_get(store, &key, NULL, &stored, &row->bytes);
    if (*status == PTC_STORE_OK && ptc_suspended_unpack(row, ptc_buf_view(&row->bytes))) {
        row->version = stored.version;
        row->expires_ms = stored.expires_ms;
        return row;
    }
    ptc_suspended_row_free(mem, row);
    return NULL;
}

PtcStoreStatus ptc_suspended_row_write(PtcStore *store, PtcMem *mem, PtcSuspendedRow *row)
{
    static const char marks[] = {
        [PTC_ROW_WAITING] = 'w', [PTC_ROW_TAKEN] = 't', [PTC_ROW_ANSWERED] = PTC_SUSPENDED_OVER};
    char text[PTC_SUSPENDED_KEY];
    PtcBuf bytes;
    uint64_t version;
    PtcStoreKey key = ptc_suspended_key(ptc_text_cstr(row->owner), row->id, text);
    bool here = row->state == PTC_ROW_WAITING && !row->run.bytes;
    ptc_buf_init(&bytes, mem, PTC_SUSPENDED_BYTES);
    ptc_suspended_pack(row, &bytes);
    PtcStorePut put = {.expected = row->version,
                       .used_ms = ptc_store_now(store),
                       .expires_ms = row->expires_ms,
                       .meta = {&marks[row->state], 1},
                       .wakes = true,
                       .release = row->state != PTC_ROW_TAKEN && !here,
                       .bytes = ptc_buf_view(&bytes),
                       .bounds = {.count = ROWS_MOST,
                                  .owner_count = ROWS_OF_OWNER,
                                  .bytes = (size_t)PTC_SUSPENDED_ALL_MB * PTC_MB}};
    PtcStoreStatus status = bytes.full            ? PTC_STORE_FULL
                            : !ptc_buf_ok(&bytes) ? PTC_STORE_NO_MEMORY
                                                  : ptc_store_put(store, &key, &put, &version);
    ptc_buf_deinit(&bytes);
    if (status == PTC_STORE_OK)
        row->version = version;
    return status;
}
