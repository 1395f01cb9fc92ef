/* SPDX-License-Identifier: MIT
 * Forms at the terminal.  What always holds: only what was typed, or was shown as what Enter stands for, gets into the
 * answer; each value fits its schema, as far as that can be used; what a server wrote is shown without what would
 * control a terminal. */
#include "cli/term/terminal_form.h"

#include "base/ascii.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/schema/schema.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum {
    FORM_HEAP_BYTES = 8 << 20,
    FORM_SHOWN_BYTES = 256 * PTC_KB,
    FORM_FIELDS = 50,
    CHOICES = 100,
    FORM_TRIES = 3
};
static const int64_t CHECK_NS = PTC_S;

typedef struct {
    PtcMem *mem;
    PtcTerminalLine *line;
    PtcScratch scratch;
    PtcBuf shown;
} Form;

/* One field. */
typedef struct {
    PtcText key, type;
    PtcValue schema, standard; /* what Enter stands for; PTC_NONE: nothing */
    PtcValue choices, titles;  /* lists; choices of an array are those of its items */
    bool required, many;
} FormField;

typedef enum { FORM_TAKEN, FORM_LEFT_OUT, FORM_WRONG, FORM_PUT_AWAY, FORM_OVER } Typed;

/* ----------------------------------------------------------------------------------- showing */

/* On one line: what a server wrote shall not pass for a line of ours. */
static void add_shown_on_one_line(Form *f, PtcText text)
{
    const char *at = text.bytes ? text.bytes : "", *end = at + text.len;
    for (const char *feed; (feed = memchr(at, '\n', (size_t)(end - at))); at = feed + 1) {
        ptc_shown_add(&f->shown, at, (size_t)(feed - at));
        ptc_buf_add_cstr(&f->shown, "\\n");
    }
    ptc_shown_add(&f->shown, at, (size_t)(end - at));
}

/* False: memory is short. */
static bool show_form_text(Form *f)
{
    bool ok = ptc_buf_ok(&f->shown) && ptc_io_write(PTC_IO_STDERR, f->shown.data, f->shown.len);
    ptc_buf_clear(&f->shown);
    return ok;
}

static void add_form_value(Form *f, PtcValue v)
{
    PtcBuf json;
    ptc_buf_init(&json, f->mem, FORM_SHOWN_BYTES);
    if (ptc_is_string(v))
        add_shown_on_one_line(f, ptc_str_text(v));
    else if (ptc_emit_value(&json, &f->scratch.heap, v))
        add_shown_on_one_line(f, ptc_buf_view(&json));
    ptc_buf_deinit(&json);
}

static bool is(const FormField *field, const char *type)
{
    return field->type.bytes && ptc_text_is(field->type, type);
}

static const char *kind_of_field(const FormField *field)
{
    if (ptc_fields_count(field->choices))
        return field->many ? "numbers or values from the list, with commas between them"
                           : "a number or a value from the list";
    return is(field, "boolean")                        ? "yes or no"
           : is(field, "integer")                      ? "a whole number"
           : is(field, "number")                       ? "a number"
           : !field->type.bytes || is(field, "string") ? "text"
                                                       : "JSON";
}

static void add_bound(Form *f, const FormField *field, const char *key, const char *words)
{
    PtcValue v = ptc_map_field(&f->scratch.heap, field->schema, key);
    if (v == PTC_NONE || (!ptc_is_number(v) && !ptc_is_string(v)))
        return;
    ptc_buf_addf(&f->shown, ", %s ", words);
    add_form_value(f, v);
}

static void add_field_choices(Form *f, const FormField *field)
{
    size_t n = ptc_fields_count(field->choices);
    for (size_t i = 0; i < n && i < CHOICES; i++) {
        PtcValue title =
            i < ptc_fields_count(field->titles) ? ptc_seq_nth(field->titles, i) : PTC_NONE;
        ptc_buf_addf(&f->shown, "  %zu. ", i + 1);
        add_form_value(f, ptc_seq_nth(field->choices, i));
        if (title != PTC_NONE && ptc_is_string(title) && ptc_str_len(title)) {
            ptc_buf_add_cstr(&f->shown, " - ");
            add_shown_on_one_line(f, ptc_str_text(title));
        }
        ptc_buf_add_char(&f->shown, '\n');
    }
    if (n > CHOICES)
        ptc_buf_addf(&f->shown, "  and %zu more\n", n - CHOICES);
}

/* What the field is for, once. */
static bool introduce(Form *f, const FormField *field)
{
    PtcText about = ptc_fields_text(&f->scratch.heap, field->schema, "description");
    if (about.len) {
        add_shown_on_one_line(f, about);
        ptc_buf_add_char(&f->shown, '\n');
    }
    add_field_choices(f, field);
    return show_form_text(f);
}

/* Name (text, at least 3, required): */
static bool prompt(Form *f, const FormField *field)
{
    PtcText title = ptc_fields_text(&f->scratch.heap, field->schema, "title");
    add_shown_on_one_line(f, title.len ? title : field->key);
    ptc_buf_addf(&f->shown, " (%s", kind_of_field(field));
    add_bound(f, field, "format", "format");
    add_bound(f, field, "minLength", "characters at least");
    add_bound(f, field, "maxLength", "characters at most");
    add_bound(f, field, "minimum", "at least");
    add_bound(f, field, "maximum", "at most");
    if (field->standard != PTC_NONE) {
        ptc_buf_add_cstr(&f->shown, ", Enter for ");
        add_form_value(f, field->standard);
    } else {
        ptc_buf_add_cstr(&f->shown, field->required ? ", required" : ", Enter leaves it out");
    }
    ptc_buf_add_cstr(&f->shown, "): ");
    return show_form_text(f);
}

static Typed complain_of_typed(Form *f, const char *what, PtcText more)
{
    ptc_buf_add_cstr(&f->shown, what);
    add_shown_on_one_line(f, more);
    ptc_buf_add_char(&f->shown, '\n');
    return show_form_text(f) ? FORM_WRONG : FORM_OVER;
}

/* ----------------------------------------------------------------------------------- reading */

/* [{"const", "title"}] as two lists. */
static void split_choices(PtcHeap *heap, PtcValue list, FormField *field)
{
    field->choices = ptc_fields_list(heap);
    field->titles = ptc_fields_list(heap);
    for (size_t i = 0; i < ptc_fields_count(list); i++) {
        PtcValue item = ptc_seq_nth(list, i);
        PtcValue value = ptc_is_map(item) ? ptc_map_field(heap, item, "const") : PTC_NONE;
        if (value == PTC_NONE)
            continue;
        ptc_fields_push(heap, &field->choices, value);
        ptc_fields_push(heap, &field->titles,
                        ptc_fields_string(heap, ptc_fields_text(heap, item, "title")));
    }
}

static void read_field_choices(PtcHeap *heap, PtcValue schema, FormField *field)
{
    PtcValue one = ptc_map_field(heap, schema, "oneOf"), any = ptc_map_field(heap, schema, "anyOf");
    field->choices = ptc_map_field(heap, schema, "enum");
    field->titles = ptc_map_field(heap, schema, "enumNames");
    if (!ptc_fields_count(field->choices) && (one != PTC_NONE || any != PTC_NONE))
        split_choices(heap, one != PTC_NONE ? one : any, field);
}

static FormField read_form_field(Form *f, PtcText key, PtcValue schema, PtcValue required)
{
    PtcHeap *heap = &f->scratch.heap;
    FormField field = {.key = key,
                       .type = ptc_fields_text(heap, schema, "type"),
                       .schema = schema,
                       .standard = ptc_map_field(heap, schema, "default")};
    PtcValue items = ptc_map_field(heap, schema, "items");
    field.many = is(&field, "array") && items != PTC_NONE && ptc_is_map(items);
    read_field_choices(heap, field.many ? items : schema, &field);
    for (size_t i = 0; i < ptc_fields_count(required); i++) {
        PtcValue name = ptc_seq_nth(required, i);
        field.required =
            field.required || (ptc_is_string(name) && ptc_text_same(ptc_str_text(name), key));
    }
    return field;
}

/* The value itself, or else its number in the list; PTC_NONE: it is neither. */
static PtcValue choose_typed_value(const FormField *field, PtcText typed)
{
    size_t n = ptc_fields_count(field->choices), number = 0;
    for (size_t i = 0; i < n; i++) {
        PtcValue v = ptc_seq_nth(field->choices, i);
        if (ptc_is_string(v) && ptc_text_same(ptc_str_text(v), typed))
            return v;
    }
    for (size_t i = 0; i < typed.len; i++) {
        if (!ptc_ascii_is_digit(typed.bytes[i]) || number > n)
            return PTC_NONE;
        number = 10 * number + (size_t)(typed.bytes[i] - '0');
    }
    return number > 0 && number <= n ? ptc_seq_nth(field->choices, number - 1) : PTC_NONE;
}

static PtcText next_typed_part(PtcText *rest)
{
    const char *comma = memchr(rest->bytes, ',', rest->len);
    PtcText part = {rest->bytes, comma ? (size_t)(comma - rest->bytes) : rest->len};
    size_t taken = part.len + (comma != NULL);
    *rest = (PtcText){rest->bytes + taken, rest->len - taken};
    while (part.len && part.bytes[0] == ' ')
        part.bytes++, part.len--;
    while (part.len && part.bytes[part.len - 1] == ' ')
        part.len--;
    return part;
}

static PtcValue choose_many(PtcHeap *heap, const FormField *field, PtcText typed)
{
    PtcValue out = ptc_fields_list(heap);
    while (typed.len && out != PTC_NONE) {
        PtcValue v = choose_typed_value(field, next_typed_part(&typed));
        if (v == PTC_NONE)
            return PTC_NONE;
        ptc_fields_push(heap, &out, v);
    }
    return out;
}

static PtcValue read_typed_bool(PtcText typed)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"y", true},  {"yes", true}, {"true", true},
                 {"n", false}, {"no", false}, {"false", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptc_text_is(typed, words[i].word))
            return ptc_bool(words[i].value);
    return PTC_NONE;
}

/* PTC_NONE: that is nothing of the kind. */
static PtcValue read_typed_value(PtcHeap *heap, const FormField *field, PtcText typed)
{
    PtcJsonError error;
    if (ptc_fields_count(field->choices))
        return field->many ? choose_many(heap, field, typed) : choose_typed_value(field, typed);
    if (is(field, "boolean"))
        return read_typed_bool(typed);
    if (!field->type.bytes || is(field, "string"))
        return ptc_fields_string(heap, typed);
    return ptc_json_parse(heap, typed.bytes, typed.len, &error);
}

/* A schema that cannot be used is the server's own affair.  Only the check is in a hurry: people may take their
 * time. */
static Typed check_typed_value(Form *f, const FormField *field, PtcValue v)
{
    const PtcSchema *schema;
    PtcSchemaError error;
    PtcSchemaIssues issues;
    PtcBudget budget;
    ptc_budget_init(&budget);
    budget.deadline_ns = budget.hard_ns = ptc_clock_ns(NULL) + CHECK_NS;
    if (!ptc_schema_compile(&f->scratch.arena, f->mem, &budget, field->schema, &schema, &error) ||
        ptc_schema_validate(schema, v, f->mem, &budget, &issues) != PTC_SCHEMA_INVALID)
        return FORM_TAKEN;
    return complain_of_typed(f, "", ptc_text_cstr(issues.items[0].message));
}

/* ------------------------------------------------------------------------------------ asking */

static Typed take_empty(Form *f, const FormField *field, PtcValue *v)
{
    *v = field->standard;
    if (field->standard != PTC_NONE)
        return FORM_TAKEN;
    return field->required ? complain_of_typed(f, "an answer is required", PTC_TEXT(""))
                           : FORM_LEFT_OUT;
}

static Typed ask_once(Form *f, const FormField *field, PtcValue *v)
{
    PtcTerminalLine *line = f->line;
    if (!prompt(f, field))
        return FORM_OVER;
    switch (ptc_terminal_line_read(line)) {
    case PTC_TERMINAL_END: return FORM_PUT_AWAY;
    case PTC_TERMINAL_GONE: return FORM_OVER;
    case PTC_TERMINAL_LINE: break;
    }
    if (line->cut || !ptc_utf8_valid(line->text, line->len))
        return complain_of_typed(f, line->cut ? "that is too long" : "that is not UTF-8",
                                 PTC_TEXT(""));
    if (line->len == 0)
        return take_empty(f, field, v);
    *v = read_typed_value(&f->scratch.heap, field, (PtcText){line->text, line->len});
    if (*v == PTC_NONE)
        return complain_of_typed(f, "expected ", ptc_text_cstr(kind_of_field(field)));
    return check_typed_value(f, field, *v);
}

static Typed ask_field(Form *f, const FormField *field, PtcValue *v)
{
    Typed typed = introduce(f, field) ? FORM_WRONG : FORM_OVER;
    for (int i = 0; i < FORM_TRIES && typed == FORM_WRONG; i++)
        typed = ask_once(f, field, v);
    return typed == FORM_WRONG ? FORM_PUT_AWAY : typed;
}

static Typed ask_fields(Form *f, PtcValue schema, PtcValue properties, PtcValue *content)
{
    PtcHeap *heap = &f->scratch.heap;
    PtcValue key, value, v, required = ptc_map_field(heap, schema, "required");
    for (size_t pos = 0; ptc_map_next(properties, &pos, &key, &value);) {
        FormField field = read_form_field(f, ptc_str_text(key), value, required);
        Typed typed = ask_field(f, &field, &v);
        if (typed == FORM_PUT_AWAY || typed == FORM_OVER)
            return typed;
        if (typed == FORM_TAKEN)
            ptc_fields_put_key(heap, content, field.key, v);
    }
    return ptc_fields_ok(heap) ? FORM_TAKEN : FORM_OVER;
}

/* A form without fields is a question of yes or no. */
static Typed ask_consent(Form *f)
{
    static const FormField consent = {.key = {"Agree", 5},
                                      .type = {"boolean", 7},
                                      .schema = PTC_NIL,
                                      .standard = PTC_NONE,
                                      .choices = PTC_NONE,
                                      .titles = PTC_NONE,
                                      .required = true};
    PtcValue v = PTC_NONE;
    Typed typed = ask_field(f, &consent, &v);
    return typed == FORM_TAKEN && v == PTC_FALSE ? FORM_LEFT_OUT : typed;
}

static bool put_form_answer(Form *f, Typed typed, PtcValue content, PtcBuf *answer)
{
    ptc_emit_object(answer);
    ptc_emit_field_cstr(answer, "action",
                        typed == FORM_TAKEN      ? "accept"
                        : typed == FORM_LEFT_OUT ? "decline"
                                                 : "cancel");
    if (typed == FORM_TAKEN) {
        ptc_emit_key(answer, "content");
        ptc_emit_value(answer, &f->scratch.heap, content);
    }
    return ptc_emit_object_end(answer);
}

static bool fill_in(Form *f, PtcValue params, PtcBuf *answer)
{
    PtcHeap *heap = &f->scratch.heap;
    PtcValue schema = ptc_map_field(heap, params, "requestedSchema");
    PtcValue fields = schema == PTC_NONE ? PTC_NONE : ptc_map_field(heap, schema, "properties");
    PtcValue content = ptc_fields_map(heap);
    size_t n = fields != PTC_NONE && ptc_is_map(fields) ? ptc_map_count(fields) : 0;
    Typed typed = FORM_PUT_AWAY;
    add_shown_on_one_line(f, ptc_fields_text(heap, params, "message"));
    ptc_buf_add_cstr(&f->shown, n > FORM_FIELDS
                                    ? "\nThis form has too many fields to be asked here.\n"
                                    : "\nCtrl-D puts the form away.\n");
    if (!show_form_text(f))
        return false;
    if (n <= FORM_FIELDS)
        typed = n ? ask_fields(f, schema, fields, &content) : ask_consent(f);
    if (typed == FORM_PUT_AWAY)
        ptc_io_printf(PTC_IO_STDERR, "the form was put away\n");
    return typed != FORM_OVER && put_form_answer(f, typed, content, answer);
}

bool ptc_terminal_form(PtcMem *mem, PtcTerminalLine *line, PtcText question, PtcBuf *answer)
{
    Form f = {.mem = mem, .line = line};
    PtcJsonError error;
    ptc_scratch_init(&f.scratch, mem, FORM_HEAP_BYTES);
    ptc_buf_init(&f.shown, mem, FORM_SHOWN_BYTES);
    PtcValue v = ptc_json_parse(&f.scratch.heap, question.bytes, question.len, &error);
    PtcValue params =
        v == PTC_NONE || !ptc_is_map(v) ? PTC_NONE : ptc_map_field(&f.scratch.heap, v, "params");
    bool ok = params != PTC_NONE && ptc_is_map(params) && fill_in(&f, params, answer);
    ptc_buf_deinit(&f.shown);
    ptc_scratch_deinit(&f.scratch);
    return ok;
}
