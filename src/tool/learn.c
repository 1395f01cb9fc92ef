/* SPDX-License-Identifier: MIT
 * Shapes of the results of a set's tools.  What always holds: they are kept apart from the tools, which do not change
 * once a run has the set, and are read and written under a lock of their own. */
#include "tool/learn.h"

#include "tool/seen/seen.h"

void ptc_toolset_learn(PtcTools *tools, bool learns)
{
    tools->learns = learns;
}

/* Recursion is as deep as the signature, which is bounded. */
static bool is_type_open(const PtcSigType *type)
{
    bool open = type->kind == PTC_SIG_ANY || type->kind == PTC_SIG_MAP ||
                (type->item && is_type_open(type->item));
    for (size_t i = 0; !open && i < type->field_count; i++)
        open = is_type_open(type->fields[i].type);
    return open;
}

bool ptc_tool_is_open(const PtcTool *tool)
{
    const PtcToolInfo *info = &tool->info;
    return info->type == PTC_TOOL_NATIVE && tool->lisp == PTC_NONE && !info->inside &&
           (!info->sig || !info->sig->result || is_type_open(info->sig->result));
}

/* With the lock held. */
static PtcToolShape *shape_of_tool(PtcTools *tools, size_t number)
{
    if (!tools->shapes)
        tools->shapes = ptc_arena_zalloc(&tools->shape_arena, tools->count * sizeof *tools->shapes);
    return tools->shapes && number < tools->count ? &tools->shapes[number] : NULL;
}

/* With the lock held. */
static void set_tool_shape(PtcTools *tools, PtcToolShape *shape, PtcText text)
{
    char *bytes = shape->text;
    if (text.len > shape->room)
        bytes = ptc_arena_alloc(&tools->shape_arena, shape->room = 2 * text.len);
    shape->text = bytes;
    shape->len = bytes ? text.len : 0;
    if (bytes)
        memcpy(bytes, text.bytes, text.len);
    else
        shape->room = 0;
}

void ptc_tool_learn(PtcTools *tools, uint32_t number, PtcMem *mem, PtcValue result)
{
    PtcBuf one, all;
    ptc_buf_init(&one, mem, PTC_SEEN_BYTES);
    ptc_buf_init(&all, mem, PTC_SEEN_BYTES);
    bool seen = ptc_seen_shape(mem, NULL, result, &one);
    pthread_mutex_lock(&tools->shape_lock);
    PtcToolShape *shape = seen ? shape_of_tool(tools, number) : NULL;
    PtcText before = shape && shape->text ? (PtcText){shape->text, shape->len} : PTC_TEXT("");
    if (shape && ptc_seen_merge(mem, NULL, before, ptc_buf_view(&one), &all) &&
        !ptc_text_same(before, ptc_buf_view(&all)))
        set_tool_shape(tools, shape, ptc_buf_view(&all));
    pthread_mutex_unlock(&tools->shape_lock);
    ptc_buf_deinit(&one);
    ptc_buf_deinit(&all);
}

void ptc_tool_seen(const PtcHost *host, size_t tool, PtcBuf *out)
{
    PtcTools *tools = (PtcTools *)(uintptr_t)host;
    if (!tools->learns)
        return;
    pthread_mutex_lock(&tools->shape_lock);
    const PtcToolShape *shape = tools->shapes && tool < tools->count ? &tools->shapes[tool] : NULL;
    PtcText text = shape && shape->text ? (PtcText){shape->text, shape->len} : PTC_TEXT("any");
    if (!ptc_text_is(text, "any"))
        ptc_buf_add(out, text.bytes, text.len);
    pthread_mutex_unlock(&tools->shape_lock);
}
