/* SPDX-License-Identifier: MIT
 * Loading libyaml. */
#include "yaml/yaml_library.h"

#include <stdio.h>

#include "base/library.h"

static const char *const files[] = {"libyaml-0.so.2", "libyaml.so", NULL};
static const char *const names[] = {
    "yaml_parser_initialize", "yaml_parser_set_input_string",
    "yaml_parser_parse",      "yaml_parser_delete",
    "yaml_event_delete",
};

void *ptc_yaml_library_load(PtcYamlLibrary *lib, char *why, size_t size)
{
    const char *missing;
    void *so = PTC_LIBRARY_LOAD(files, names, lib, &missing);
    if (!so && missing)
        snprintf(why, size, "the YAML library is too old: it has no %s", missing);
    else if (!so)
        snprintf(why, size,
                 "the YAML library (libyaml-0.so.2) is not installed; give the document as JSON");
    return so;
}
