/* SPDX-License-Identifier: MIT
 * What the store tells Prometheus. */
#include "store/store_int.h"

static const char *const ops[PTC_STORE_OPS] = {
    [PTC_STORE_OP_GET] = "get",       [PTC_STORE_OP_PUT] = "put",
    [PTC_STORE_OP_REMOVE] = "remove", [PTC_STORE_OP_LIST] = "list",
    [PTC_STORE_OP_EXPIRE] = "expire", [PTC_STORE_OP_SUM] = "sum",
    [PTC_STORE_OP_HOLD] = "hold",     [PTC_STORE_OP_RELEASE] = "release",
};

static const char *const words[PTC_STORE_STATUSES] = {
    [PTC_STORE_OK] = "ok",
    [PTC_STORE_ABSENT] = "absent",
    [PTC_STORE_CONFLICT] = "conflict",
    [PTC_STORE_FULL] = "full",
    [PTC_STORE_HELD] = "held",
    [PTC_STORE_FENCED] = "fenced",
    [PTC_STORE_BUSY] = "busy",
    [PTC_STORE_NO_MEMORY] = "no_memory",
    [PTC_STORE_DAMAGED] = "damaged",
    [PTC_STORE_NEWER] = "newer",
    [PTC_STORE_UNKNOWN] = "unknown",
    [PTC_STORE_FAILED] = "failed",
};

static void add_row(PtcBuf *out, const PtcStoreCount *count, const char *op, const char *status)
{
    uint64_t times = atomic_load(&count->times);
    if (!times)
        return;
    ptc_buf_addf(out,
                 "ptc_store_seconds_count{op=\"%s\",status=\"%s\"} %llu\n"
                 "ptc_store_seconds_sum{op=\"%s\",status=\"%s\"} %.6f\n",
                 op, status, (unsigned long long)times, op, status,
                 (double)atomic_load(&count->ns) / (double)PTC_S);
}

void ptc_store_metrics(PtcStore *s, PtcBuf *out)
{
    ptc_buf_add_cstr(out, "# HELP ptc_store_seconds Operations on the store, by what was asked and "
                          "how it ended.\n# TYPE ptc_store_seconds summary\n");
    for (size_t op = 0; op < PTC_STORE_OPS; op++)
        for (size_t status = 0; status < PTC_STORE_STATUSES; status++)
            add_row(out, &s->counts[op][status], ops[op], words[status]);
    ptc_buf_addf(out,
                 "# HELP ptc_store_failing Is the store out of order?\n"
                 "# TYPE ptc_store_failing gauge\nptc_store_failing %d\n",
                 atomic_load(&s->failing));
}
