/* SPDX-License-Identifier: MIT
 * What ptc.h has for the data of a mission in pieces, and for agents as programs.  Both change the context of a mission
 * before it runs, which is text in its bench. */
#include "agent/run/agent_compile.h"
#include "agent/run/chunks.h"
#include "api/api_mission.h"
#include "json/emit.h"
#include "json/parse.h"

enum { COMPILE_CONTEXT_BYTES = 256 * PTC_MB };

/* -------------------------------------------------------------------------------- chunks */

/* The context as a map; PTC_NONE: it is no object. */
static PtcValue context_map(PtcMission *m)
{
    PtcJsonError e;
    PtcText given = m->options.agent.input.context;
    if (!given.bytes)
        given = PTC_TEXT("{}");
    PtcValue map = ptc_json_parse(&m->bench.heap, given.bytes, given.len, &e);
    return map != PTC_NONE && ptc_is_map(map) ? map : PTC_NONE;
}

static bool set_context(PtcMission *m, PtcValue map)
{
    PtcBuf out;
    ptc_buf_init(&out, &m->bench.mem, COMPILE_CONTEXT_BYTES);
    ptc_emit_value(&out, &m->bench.heap, map);
    PtcText text = ptc_bench_take(&m->bench, &out);
    if (text.bytes)
        m->options.agent.input.context = text;
    return text.bytes != NULL;
}

static bool read_sizes(PtcChunkUnit unit, int64_t size, int64_t overlap, PtcChunks *how)
{
    PtcWhy why;
    int64_t times = unit == PTC_CHUNK_TOKENS ? PTC_CHUNKS_TOKEN : 1;
    if (unit < PTC_CHUNK_LINES || unit > PTC_CHUNK_TOKENS || size > PTC_CHUNKS_SIZE / times)
        return false;
    if (overlap >= size) /* also keeps the product small */
        return false;
    *how = (PtcChunks){unit == PTC_CHUNK_LINES, size * times, overlap * times};
    return ptc_chunks_check(how, &why);
}

PtcStatus ptc_mission_chunk(PtcMission *m, const char *key, const char *text, size_t len,
                            PtcChunkUnit unit, int64_t size, int64_t overlap, char *error,
                            size_t error_size)
{
    PtcChunks how;
    PtcWhy why;
    if (!m || m->use != PTC_USE_NEW || !key || !key[0] || (len && !text))
        return api_refuse(PTC_BAD_ARGUMENT, error, error_size,
                          "it needs a mission that has not run yet, a key and a text");
    if (!read_sizes(unit, size, overlap, &how))
        return api_refuse(PTC_BAD_ARGUMENT, error, error_size,
                          "size must be 1 or more, and overlap smaller");
    PtcValue map = context_map(m);
    if (map == PTC_NONE)
        return api_refuse(PTC_BAD_DATA, error, error_size, "the context is not a JSON object");
    if (!ptc_chunks_add(&m->bench.heap, &map, ptc_text_cstr(key), &how,
                        (PtcText){len ? text : "", len}, &why))
        return api_refuse(PTC_BAD_DATA, error, error_size, why.text);
    return set_context(m, map) ? PTC_OK
                               : api_refuse(PTC_NO_MEMORY, error, error_size, "out of memory");
}

/* ----------------------------------------------------------------------------- compiling */

PtcStatus ptc_mission_compile(PtcMission *m, char *error, size_t size)
{
    PtcWhy fault;
    PtcWhy why;
    PtcText answer;
    if (!m || m->use != PTC_USE_NEW || m->agent_count != 1 || !m->agents[0]->source.bytes)
        return api_refuse(PTC_BAD_ARGUMENT, error, size,
                          "it needs a mission that has not run yet, of one agent that was made "
                          "with compile");
    PtcText *context = &m->options.agent.input.context;
    if (!ptc_compile_check(m->agents[0], &fault) ||
        !ptc_compile_sample(&m->bench, m->agents[0], *context, context, &fault))
        return api_refuse_data(&fault, error, size);
    PtcStatus status = ptc_mission_run(m);
    if (status != PTC_OK)
        return api_refuse(status, error, size, "out of memory");
    if (ptc_compile_keep(m->last, *context, &m->bench, &m->compiled, &answer, &why) &&
        (api_cstr(&m->compiled) || ptc_why_no_memory(&why)))
        return PTC_OK;
    ptc_buf_clear(&m->compiled);
    return api_refuse(PTC_BAD_DATA, error, size, why.text);
}

const char *ptc_mission_compiled(const PtcMission *m, size_t *len)
{
    bool there = m && m->compiled.len;
    api_set_len(len, there ? m->compiled.len : 0);
    return there ? m->compiled.data : NULL;
}
