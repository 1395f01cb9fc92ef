/* SPDX-License-Identifier: MIT
 * The probe.  Servers of the legacy era answer it with any error, with silence or by ending; only a result or one of
 * the codes that the modern era has added is taken for the modern one. */
#include "mcp/client/era_probe.h"

#include "json/parse.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { HEADER_MISMATCH = -32020, MISSING_CAPABILITY = -32021, UNSUPPORTED_VERSION = -32022 };

static const char modern[] = "2026-07-28";
/* Newest first. */
static const char *const legacy[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

static const PtcEra broken = {PTC_ERA_FAIL, NULL, "upstream_error"};
static const PtcEra initialize = {PTC_ERA_INITIALIZE, NULL, NULL};

static bool has_version(PtcValue versions, const char *version)
{
    size_t count =
        versions != PTC_NONE && ptc_is_sequential(versions) ? ptc_seq_count(versions) : 0;
    for (size_t i = 0; i < count; i++) {
        PtcText text = ptc_str_text(ptc_seq_nth(versions, i));
        if (text.bytes && ptc_text_is(text, version))
            return true;
    }
    return false;
}

/* By the versions that a server says it has. */
static PtcEra choose_version(PtcValue versions)
{
    if (has_version(versions, modern))
        return (PtcEra){PTC_ERA_MODERN, modern, NULL};
    for (size_t i = 0; i < sizeof legacy / sizeof *legacy; i++)
        if (has_version(versions, legacy[i]))
            return (PtcEra){PTC_ERA_INITIALIZE, legacy[i], NULL};
    return broken;
}

/* Some servers of the legacy era answer whatever they do not know with an empty result. */
static PtcEra era_of_result(PtcHeap *heap, PtcValue result)
{
    PtcValue versions = ptc_map_field(heap, result, "supportedVersions");
    if (versions != PTC_NONE || !ptc_is_map(result))
        return choose_version(versions);
    bool says_more = ptc_map_field(heap, result, "resultType") != PTC_NONE ||
                     ptc_map_field(heap, result, "capabilities") != PTC_NONE;
    return says_more ? (PtcEra){PTC_ERA_MODERN, modern, NULL} : initialize;
}

PtcEra ptc_era_of_answer(PtcHeap *heap, PtcValue result, PtcValue error)
{
    if (result != PTC_NONE)
        return era_of_result(heap, result);
    PtcValue code = ptc_map_field(heap, error, "code");
    if (code == ptc_int(HEADER_MISMATCH) || code == ptc_int(MISSING_CAPABILITY))
        return (PtcEra){PTC_ERA_MODERN, modern, NULL};
    if (code != ptc_int(UNSUPPORTED_VERSION))
        return initialize;
    PtcValue data = ptc_map_field(heap, error, "data");
    PtcValue supported = data == PTC_NONE ? PTC_NONE : ptc_map_field(heap, data, "supported");
    return supported == PTC_NONE ? (PtcEra){PTC_ERA_MODERN, modern, NULL}
                                 : choose_version(supported);
}
