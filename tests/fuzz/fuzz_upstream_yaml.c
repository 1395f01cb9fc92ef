/* SPDX-License-Identifier: MIT
 * fuzz_upstream_yaml.c - YAML as values. */
#include "fuzz/upstream_help.h"
#include "yaml/yaml_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Desk d;
    PtcYamlError error;
    if (size < 1)
        return 0;
    char *copy = desk_copy(data, size);
    desk_init(&d);
    ptc_mem_fail_at(&d.mem, data[0] & 0x80 ? data[0] & 0x7f : 0);
    PtcValue v = ptc_yaml_read(&d.heap, (PtcText){copy, size - 1}, &error);
    assert(v != PTC_NONE || error.message[0] || !ptc_fields_ok(&d.heap));
    if (size < 2000) /* aliases can make much of little */
        desk_check_json(&d, v);
    desk_deinit(&d);
    free(copy);
    return 0;
}
