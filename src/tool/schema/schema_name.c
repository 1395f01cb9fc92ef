/* SPDX-License-Identifier: MIT
 * The names that an object's rules mention, in a hash table: each member of a value is looked up once, however many
 * names there are. */
#include "tool/schema/schema_int.h"

#include <string.h>

#include "value/str.h"

/* Where the name is, or belongs. */
static uint32_t schema_name_place(const PtcSchemaObject *object, const char *bytes, size_t len,
                                  uint32_t hash)
{
    uint32_t at = hash & (object->table_cap - 1);
    for (; object->table[at]; at = (at + 1) & (object->table_cap - 1)) {
        const PtcSchemaName *name = &object->names[object->table[at] - 1];
        if (name->hash == hash && name->text.len == len &&
            memcmp(name->text.bytes, bytes, len) == 0)
            break;
    }
    return at;
}

int64_t ptc_schema_find_name(const PtcSchemaObject *object, const char *bytes, size_t len)
{
    if (object->table_cap == 0)
        return -1;
    return (int64_t)object
               ->table[schema_name_place(object, bytes, len, ptc_str_hash_bytes(bytes, len))] -
           1;
}

static bool grow_schema_names(PtcSchemaCompiler *c, PtcSchemaObject *object)
{
    object->table_cap = object->table_cap ? object->table_cap * 2 : 8;
    object->table = ptc_arena_zalloc(c->arena, object->table_cap * sizeof *object->table);
    if (!object->table)
        return ptc_schema_no_memory(c);
    for (uint32_t i = 0; i < object->name_count; i++) {
        const PtcSchemaName *name = &object->names[i];
        object->table[schema_name_place(object, name->text.bytes, name->text.len, name->hash)] =
            i + 1;
    }
    return ptc_tick(c->work.budget, object->table_cap / 64);
}

bool ptc_schema_add_name(PtcSchemaCompiler *c, PtcSchemaObject *object, const char *bytes,
                         size_t len, uint32_t *number)
{
    PtcSchemaName name = {.hash = ptc_str_hash_bytes(bytes, len)};
    if (object->name_count * 2 >= object->table_cap && !grow_schema_names(c, object))
        return false;
    uint32_t at = schema_name_place(object, bytes, len, name.hash);
    *number = object->table[at] - 1;
    if (object->table[at])
        return true;
    PtcSchemaName *names =
        ptc_arena_push(c->arena, object->names, object->name_count, sizeof *names);
    if (!names)
        return ptc_schema_no_memory(c);
    object->names = names;
    if (!ptc_schema_keep(c, bytes, len, &name.text))
        return false;
    *number = object->name_count++;
    names[*number] = name;
    object->table[at] = object->name_count;
    return true;
}
