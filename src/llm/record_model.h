/* SPDX-License-Identifier: MIT
 * record_model.h - a model that asks another one and records each request and reply as a line (docs/replay.md),
 * without secrets. */
#ifndef PTC_LLM_RECORD_MODEL_H
#define PTC_LLM_RECORD_MODEL_H

#include "base/why.h"
#include "llm/llm.h"
#include "llm/provider/provider_keys.h"

enum { PTC_RECORD_VERSION = 1 };

/* A file that any number of models write to, from any thread. */
typedef struct PtcRecordFile PtcRecordFile;

/* Creates the file, readable by its owner only.  What an older one contains is replaced by the first line, not before:
 * it may be what is being replayed.  `keys` (may be NULL) must outlive it.  NULL with a reason. */
PTC_MUST_USE PtcRecordFile *ptc_record_file_open(PtcMem *mem, const char *path,
                                                 const PtcProviderKeys *keys, PtcWhy *why);
/* False with a reason when a line could not be written. */
bool ptc_record_file_close(PtcRecordFile *file, PtcWhy *why);

/* Takes over `inner`, whose name it uses; the file must outlive it.  NULL: out of memory, and `inner` still belongs
 * to the caller. */
PTC_MUST_USE PtcModel *ptc_record_model_new(PtcMem *mem, PtcRecordFile *file, PtcModel *inner);

/* The hash of a body in a record: SHA-256 in hexadecimal digits, with a NUL. */
enum { PTC_RECORD_HASH = 65 };
void ptc_record_hash(PtcText body, char hash[PTC_RECORD_HASH]);

#endif
