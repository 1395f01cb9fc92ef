/* SPDX-License-Identifier: MIT
 * yaml_read.h - YAML text as a value: the core schema of YAML 1.2, so `yes`, `no` and `on` are text.  Tags, several
 * documents (but for data) and a key that occurs twice are refused; keys are strings, whatever they look like. */
#ifndef PTC_YAML_YAML_READ_H
#define PTC_YAML_YAML_READ_H

#include "base/text.h"
#include "base/units.h"
#include "value/heap.h"

enum {
    PTC_YAML_DEPTH = 128,
    PTC_YAML_NODES = PTC_MILLION, /* with what aliases stand for, each time they are used */
};

typedef struct PtcYamlError {
    size_t line; /* from 1; 0: nowhere in particular */
    char message[200];
} PtcYamlError;

/* The value of the document, or PTC_NONE with *error filled; its message is empty when out of memory. */
PTC_MUST_USE PtcValue ptc_yaml_read(PtcHeap *heap, PtcText text, PtcYamlError *error);
/* The same for data, which may be large: several documents are a list, and only what aliases stand for is counted. */
PTC_MUST_USE PtcValue ptc_yaml_read_data(PtcHeap *heap, PtcText text, PtcYamlError *error);

#endif
