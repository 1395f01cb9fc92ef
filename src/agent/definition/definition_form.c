/* SPDX-License-Identifier: MIT
 * Agent files that are not JSON.
 *
 * They become JSON of at most the bytes that an agent file may have, and that is read as if it were the file.  So what
 * aliases stand for has the same bound as what somebody wrote, and nothing behind this knows about forms. */
#include "agent/definition/definition_form.h"

#include <string.h>
#include <strings.h>

#include "agent/definition/definition_int.h"
#include "agent/step/bench.h"
#include "json/emit.h"
#include "yaml/yaml_read.h"

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

/* ---------------------------------------------------------------------------------- YAML */

/* `before` lines of the file stand before the text. */
static bool read_yaml_fields(PtcAgentForm *form, PtcText text, size_t before, PtcWhy *fault)
{
    PtcBench b;
    PtcYamlError e;
    ptc_bench_init(&b);
    PtcValue v = ptc_yaml_read(&b.heap, text, &e);
    if (v != PTC_NONE)
        ptc_emit_value(&form->made, &b.heap, v);
    bool stopped = b.budget.stop != PTC_STOP_NONE;
    ptc_bench_deinit(&b);
    form->json = ptc_buf_view(&form->made);
    if (v != PTC_NONE && ptc_buf_ok(&form->made))
        return true;
    if (v != PTC_NONE && form->made.full)
        return ptc_fault_set(fault, "", "it is larger than 1 MiB once its aliases are followed");
    if (v != PTC_NONE || stopped || !e.message[0])
        return ptc_why_no_memory(fault);
    if (e.line == 0)
        return ptc_fault_set(fault, "", "not YAML: %s", e.message);
    return ptc_fault_set(fault, "", "not YAML: line %zu: %s", e.line + before, e.message);
}

/* ------------------------------------------------------------------------------ Markdown */

/* Takes the first line from a text, without its end and the blanks before that. */
static PtcText take_form_line(PtcText *rest)
{
    const char *end = memchr(rest->bytes, '\n', rest->len);
    size_t n = end ? (size_t)(end - rest->bytes) : rest->len;
    PtcText line = {rest->bytes, n};
    *rest = (PtcText){rest->bytes + n + (end != NULL), rest->len - n - (end != NULL)};
    while (line.len && strchr(" \t\r", line.bytes[line.len - 1]))
        line.len--;
    return line;
}

static size_t count_form_lines(const char *from, const char *to)
{
    size_t n = 0;
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from)))) {
        from++;
        n++;
    }
    return n;
}

/* Nothing but comments, which is no document. */
static bool has_no_fields(PtcText text)
{
    while (text.len) {
        PtcText line = ptc_text_skip_spaces(take_form_line(&text));
        if (line.len && line.bytes[0] != '#')
            return false;
    }
    return true;
}

/* Front matter is between a first line `---` and the next one.  Without it all is the prompt. */
static bool read_markdown(PtcAgentForm *form, PtcText text, PtcWhy *fault)
{
    PtcText rest = text, fields = {NULL, 0};
    if (ptc_text_is(take_form_line(&rest), "---")) {
        const char *begin = rest.bytes, *at = begin;
        while (rest.len && !ptc_text_is(take_form_line(&rest), "---"))
            at = rest.bytes;
        if (at == rest.bytes)
            return ptc_fault_set(fault, "",
                                 "line 1: the fields begin here; a line --- must end them");
        fields = (PtcText){begin, (size_t)(at - begin)};
    } else {
        rest = text;
    }
    form->prompt = ptc_definition_form_text(rest);
    form->prompt_line = count_form_lines(text.bytes, form->prompt.bytes);
    if (form->prompt.len == 0)
        return ptc_fault_set(fault, "prompt",
                             "there is no text below the fields, and that is the prompt");
    form->json = PTC_TEXT("{}");
    return has_no_fields(fields) || read_yaml_fields(form, fields, 1, fault);
}

/* ----------------------------------------------------------------------------------- all */

PtcText ptc_definition_form_text(PtcText text)
{
    PtcText rest = text;
    while (rest.len && take_form_line(&rest).len == 0)
        text = rest;
    while (text.len && strchr(" \t\r\n", text.bytes[text.len - 1]))
        text.len--;
    return text;
}

bool ptc_definition_form_read(PtcAgentForm *form, PtcMem *mem, const char *path, PtcText text,
                              PtcWhy *fault)
{
    *form = (PtcAgentForm){.json = text};
    ptc_buf_init(&form->made, mem, PTC_AGENT_FILE_BYTES);
    if (ptc_text_starts(text, "\xef\xbb\xbf"))
        text = (PtcText){text.bytes + 3, text.len - 3};
    if (ends_in(path, ".yaml") || ends_in(path, ".yml"))
        return read_yaml_fields(form, text, 0, fault);
    return !(ends_in(path, ".md") || ends_in(path, ".markdown")) ||
           read_markdown(form, text, fault);
}

void ptc_definition_form_deinit(PtcAgentForm *form)
{
    ptc_buf_deinit(&form->made);
}
