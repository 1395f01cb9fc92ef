/* SPDX-License-Identifier: MIT
 * Only in the product that is the engine alone (PTC_ENGINE): it reads no YAML. */
#include <stdio.h>

#include "yaml/yaml_read.h"

PtcValue ptc_yaml_read_data(PtcHeap *heap, PtcText text, PtcYamlError *error)
{
    (void)heap, (void)text;
    *error = (PtcYamlError){0};
    snprintf(error->message, sizeof error->message, "YAML is not read by this build");
    return PTC_NONE;
}
