/* SPDX-License-Identifier: MIT
 * fuzz_upstream_config.c - files that name upstreams, as every client's. */
#include "fuzz/upstream_help.h"
#include "upstream/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static PtcText find_variable(void *user, PtcText name)
{
    (void)user;
    return name.len % 2 ? PTC_TEXT("value $A ${B}") : (PtcText){NULL, 0};
}

static PtcText find_file(void *user, PtcText path)
{
    (void)user;
    return path.len % 2 ? PTC_TEXT("export A='b' # c\nD=\"e\\n\"\n") : (PtcText){NULL, 0};
}

static void check_errors(Desk *d, PtcValue errors)
{
    PtcBuf out;
    ptc_buf_init(&out, &d->mem, SIZE_MAX / 4);
    for (size_t i = 0; i < ptc_fields_count(errors); i++)
        ptc_config_message(&out, &d->heap, PTC_TEXT("file"), ptc_seq_nth(errors, i));
    assert(out.failed || ptc_utf8_valid(ptc_buf_view(&out).bytes, out.len));
    ptc_buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Desk d;
    PtcConfig config;
    if (size < 2)
        return 0;
    char *copy = desk_copy(data, size);
    desk_init(&d);
    ptc_mem_fail_at(&d.mem, data[0] & 0x80 ? data[0] & 0x7f : 0);
    PtcConfigIn in = {.text = {copy + 1, size - 2},
                      .project = PTC_TEXT("/p"),
                      .dialect =
                          (PtcConfigDialect)((unsigned char)copy[0] % (PTC_DIALECT_OTHER + 1)),
                      .variable = find_variable,
                      .read = find_file};
    if (ptc_config_read(&d.heap, &in, &config)) {
        assert(config.ok == (ptc_fields_count(config.errors) == 0));
        desk_check_json(&d, config.upstreams);
        desk_check_json(&d, config.notes);
        check_errors(&d, config.errors);
    }
    desk_deinit(&d);
    free(copy);
    return 0;
}
