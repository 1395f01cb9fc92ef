/* SPDX-License-Identifier: MIT
 * definition_form.h - how an agent file is written.  Its name says which: .yaml and .yml are YAML, .md and .markdown
 * are Markdown, whose text is the prompt below fields in YAML between two lines `---`; everything else is JSON. */
#ifndef PTC_AGENT_DEFINITION_DEFINITION_FORM_H
#define PTC_AGENT_DEFINITION_DEFINITION_FORM_H

#include "base/buf.h"
#include "base/text.h"
#include "base/why.h"

typedef struct PtcAgentForm {
    PtcText json; /* its fields */
    PtcText
        prompt; /* the text of Markdown, in the text that was read; absent: it is one of the fields */
    size_t prompt_line; /* lines of the file before it */
    PtcBuf made;        /* what `json` lies in, if it was not there */
} PtcAgentForm;

/* False with the fault.  Deinit in either case. */
PTC_MUST_USE bool ptc_definition_form_read(PtcAgentForm *form, PtcMem *mem, const char *path,
                                           PtcText text, PtcWhy *fault);
void ptc_definition_form_deinit(PtcAgentForm *form);

/* A text that was written with an editor: without the blank lines before and the blanks behind it. */
PtcText ptc_definition_form_text(PtcText text);

#endif
