/* SPDX-License-Identifier: MIT
 * Files of data, packed or not: whatever they hold, they become a value or an error with a message, whole and row by
 * row, and everything that was taken is given back. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/row_stream.h"

static void read_whole(PtcHeap *heap, const char *path)
{
    PtcWhy why;
    PtcDataFile file = {.heap = heap, .why = &why};
    if (ptc_data_file_read(&file, path) == PTC_NONE && !why.text[0])
        abort();
}

static void read_rows(PtcHeap *heap, PtcMem *mem, const char *path)
{
    PtcWhy why;
    PtcRowStream stream;
    PtcValue rows;
    size_t line = 0, before = 0;
    if (!ptc_row_stream_open(&stream, mem, path, &(PtcDataForm){0}, &why)) {
        if (!why.text[0])
            abort();
        return;
    }
    do {
        rows = ptc_row_stream_next(&stream, heap, &line);
        if (line < before || (rows == PTC_NONE && !why.text[0]))
            abort();
        before = line;
    } while (rows != PTC_NONE && rows != PTC_NIL);
    ptc_row_stream_close(&stream);
}

/* What is JSON as a whole is JSON wherever it is cut, but not in a byte order mark. */
static void guess_part(PtcMem *mem, const char *bytes, size_t len)
{
    PtcDataForm all = {0}, part = {0};
    size_t cut = len ? (unsigned char)bytes[len - 1] * len / 256 : 0;
    PtcText text = ptc_text_trim((PtcText){bytes, len}, " \t\r\n");
    text.len = cut < text.len ? cut : text.len;
    if (ptc_data_guess(mem, (PtcText){bytes, len}, true, &all) &&
        ptc_data_guess(mem, text, false, &part) && text.len > 0 && *text.bytes != '\xef' &&
        all.kind == PTC_DATA_JSON && part.kind != PTC_DATA_JSON)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    char path[40];
    int fd = memfd_create("data", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ptc_mem_init(&mem, 64u << 20);
    ptc_pool_init(&pool, &mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, 64u << 20);
    if (len > 0 && bytes[len - 1] == '!') /* an allocation that fails */
        ptc_mem_fail_at(&mem, 1 + len % 40);
    guess_part(&mem, (const char *)bytes, len);
    read_whole(&heap, path);
    read_rows(&heap, &mem, path);
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
    close(fd);
    if (atomic_load(&mem.used) != 0)
        abort();
    return 0;
}
