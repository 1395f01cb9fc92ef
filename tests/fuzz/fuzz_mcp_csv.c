/* SPDX-License-Identifier: MIT
 * CSV: whatever it is, it becomes rows that can be written as JSON and that are all alike, or an error with a
 * message. */
#include <stdlib.h>

#include "data/csv.h"
#include "json/write.h"
#include "value/coll/map.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcCsvError error;
    PtcJsonError wrong;
    PtcBuf json;
    ptc_mem_init(&mem, 256u << 20);
    ptc_pool_init(&pool, &mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, 64u << 20);
    ptc_buf_init(&json, &mem, 64u << 20);
    if (len > 0 && bytes[len - 1] == '!') /* an allocation that fails */
        ptc_mem_fail_at(&mem, 1 + len % 40);
    PtcValue rows = ptc_csv_parse(&heap, (const char *)bytes, len, &(PtcCsvPart){0}, &error);
    ptc_mem_fail_at(&mem, 0);
    if (rows == PTC_NONE && !error.message[0])
        abort();
    for (size_t i = 0; rows != PTC_NONE && i < ptc_value_count(rows); i++)
        if (ptc_map_count(ptc_value_at(rows, i)) != ptc_map_count(ptc_value_at(rows, 0)))
            abort();
    if (rows != PTC_NONE &&
        !ptc_json_write(&(PtcJsonWriter){&heap, -1, NULL}, &json, rows, &wrong) && !wrong.stopped &&
        !json.full)
        abort();
    ptc_buf_deinit(&json);
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
    if (atomic_load(&mem.used) != 0)
        abort();
    return 0;
}
