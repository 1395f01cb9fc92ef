/* SPDX-License-Identifier: MIT
 * yaml_library.h - the functions of libyaml that are used here, loaded with the first document that is YAML and not
 * before. */
#ifndef PTC_YAML_YAML_LIBRARY_H
#define PTC_YAML_YAML_LIBRARY_H

#include <yaml.h>

#include "base/compiler.h"

/* Nothing but pointers to functions, in the order of the names in yaml_library.c. */
typedef struct PtcYamlLibrary {
    __typeof__(yaml_parser_initialize) *parser_initialize;
    __typeof__(yaml_parser_set_input_string) *parser_set_input_string;
    __typeof__(yaml_parser_parse) *parser_parse;
    __typeof__(yaml_parser_delete) *parser_delete;
    __typeof__(yaml_event_delete) *event_delete;
} PtcYamlLibrary;

/* The handle for dlclose, or NULL with a text in why. */
PTC_MUST_USE void *ptc_yaml_library_load(PtcYamlLibrary *lib, char *why, size_t size);

#endif
