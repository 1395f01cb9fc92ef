/* SPDX-License-Identifier: MIT
 * The layout of each type of object.  What always holds: marking and copying need nothing else, so a new type is
 * added here once. */
#include "value/object.h"

#include "value/coll/lazy.h"

/* An object of `size` bytes whose `n` values begin at `offset`. */
static PtcLayout run_of_values(const PtcObj *o, size_t offset, size_t n, size_t size)
{
    return (PtcLayout){size, (PtcValue *)(uintptr_t)((const char *)o + offset), n};
}

/* Values behind the entries of a map. */
static size_t typed(const PtcObj *o)
{
    return o->flags & PTC_TYPED ? 1 : 0;
}

PtcLayout ptc_object_layout(const PtcObj *o)
{
    size_t n = o->count;
    switch ((PtcTag)o->type) {
    case PTC_T_STRING:
    case PTC_T_KEYWORD:
    case PTC_T_SYMBOL: return run_of_values(o, 0, 0, sizeof(PtcStr) + n + 1);
    case PTC_T_FLOAT: return run_of_values(o, 0, 0, sizeof(PtcFloat));
    case PTC_T_BIGINT: return run_of_values(o, 0, 0, sizeof(PtcBig) + n * sizeof(uint64_t));
    case PTC_T_BYTES: return run_of_values(o, 0, 0, sizeof(PtcBytes) + n);
    case PTC_T_RANGE: return run_of_values(o, 0, 0, sizeof(PtcRange));
    case PTC_T_FLAT:
    case PTC_T_RECORD:
    case PTC_T_VAR:
        return run_of_values(o, sizeof(PtcObj), n, sizeof(PtcObj) + n * sizeof(PtcValue));
    case PTC_T_NODE:
        return run_of_values(o, sizeof(PtcObj), n,
                             sizeof(PtcObj) + (n > o->aux ? n : o->aux) * sizeof(PtcValue));
    case PTC_T_VEC: return run_of_values(o, sizeof(PtcObj), 2, sizeof(PtcVec));
    case PTC_T_VECBUILD: return run_of_values(o, sizeof(PtcObj), 2, sizeof(PtcVecBuild));
    case PTC_T_LAZY: return run_of_values(o, sizeof(PtcObj), PTC_LAZY_VALUES, sizeof(PtcLazy));
    case PTC_T_CONS: return run_of_values(o, sizeof(PtcObj), 2, sizeof(PtcCons));
    case PTC_T_BSET:
    case PTC_T_BMAP:
        return o->flags & PTC_SORTED ? run_of_values(o, sizeof(PtcObj), 4, sizeof(PtcSorted))
                                     : run_of_values(o, sizeof(PtcObj), 2 + typed(o),
                                                     sizeof(PtcDict) + typed(o) * sizeof(PtcValue));
    case PTC_T_SLICE: return run_of_values(o, sizeof(PtcObj), 1, sizeof(PtcSlice));
    case PTC_T_SSET:
        return run_of_values(o, sizeof(PtcObj), n,
                             sizeof(PtcShape) + n * (sizeof(PtcValue) + sizeof(uint32_t)));
    case PTC_T_SMAP:
        n += typed(o);
        /* fall through */
    case PTC_T_CLOSURE:
        return run_of_values(o, sizeof(PtcObj), n + 1, sizeof(PtcSmap) + n * sizeof(PtcValue));
    case PTC_T_HAMT:
        return run_of_values(o, sizeof(PtcHamt), n,
                             sizeof(PtcHamt) +
                                 ((const PtcHamt *)(const void *)o)->cap * sizeof(PtcValue));
    case PTC_T_INDEX: return run_of_values(o, sizeof(PtcObj), 1, sizeof(PtcIndex));
    case PTC_T_PROTO: return run_of_values(o, sizeof(PtcObj), PTC_PROTO_VALUES, sizeof(PtcProto));
    case PTC_T_NONE:
    case PTC_T_COUNT: break;
    }
    return run_of_values(o, 0, 0, sizeof(PtcObj));
}
