/* SPDX-License-Identifier: MIT
 * Loading libyaml. */
#include "upstream/yaml_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    "yaml_parser_initialize", "yaml_parser_set_input_string",
    "yaml_parser_parse",      "yaml_parser_delete",
    "yaml_event_delete",
};
_Static_assert(sizeof names / sizeof *names == sizeof(PtcYamlLibrary) / sizeof(void *),
               "one name each");

static bool find_all(void *so, PtcYamlLibrary *lib, char *why, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *at = dlsym(so, names[i]);
        if (!at) {
            snprintf(why, size, "the YAML library is too old: it has no %s", names[i]);
            return false;
        }
        memcpy((char *)lib + i * sizeof at, &at, sizeof at);
    }
    return true;
}

void *ptc_yaml_library_load(PtcYamlLibrary *lib, char *why, size_t size)
{
    void *so = dlopen("libyaml-0.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!so)
        so = dlopen("libyaml.so", RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        snprintf(why, size,
                 "the YAML library (libyaml-0.so.2) is not installed; give the document as JSON");
        return NULL;
    }
    if (find_all(so, lib, why, size))
        return so;
    dlclose(so);
    return NULL;
}
