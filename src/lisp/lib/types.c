/* SPDX-License-Identifier: MIT
 * Types that programs define: their constructors and fields, and the documentation of the forms.  typed.h has the
 * layout.  The analyzer opens the forms up (analyze_types.c): defrecord becomes a def of the type, defs of its
 * constructors, and a call that files its methods with their protocols. */
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"
#include "value/coll/typed.h"

/* Values of the function that makes things of a type. */
enum { MADE_TYPE = 1, MADE_LIKE };

PTC_BUILTIN_EXPR(type_new, "ptc", "type", 3, 3, PTC_B_HIDDEN, "", "", "",
                 ptc_give(out, ptc_record_new(vm, PTC_R_TYPE, argv, PTC_TYPE_FIELDS)))

/* A map with nil in all fields, from which values are made. */
static PtcValue blank(PtcVM *vm, PtcValue type)
{
    PtcValue basis = ptc_type_field(type, PTC_TYPE_BASIS), map = ptc_map_empty(vm->heap);
    for (size_t i = 0, n = ptc_seq_count(basis); map != PTC_NONE && i < n; i++)
        map = ptc_tick(&vm->budget, 1)
                  ? ptc_map_assoc(vm->heap, map, ptc_seq_nth(basis, i), PTC_NIL)
                  : PTC_NONE;
    return map == PTC_NONE ? map : ptc_typed_new(vm->heap, map, type);
}

static bool give_maker(PtcVM *vm, const char *hidden, PtcValue type, PtcValue *out)
{
    bool record = ptc_type_field(type, PTC_TYPE_KIND) == ptc_int(PTC_KIND_RECORD);
    PtcValue fields[] = {type, record ? blank(vm, type) : PTC_NIL};
    return fields[1] != PTC_NONE && ptc_give(out, ptc_fn_record(vm, hidden, fields, 2));
}

PTC_BUILTIN_EXPR(type_maker, "ptc", "maker", 1, 1, PTC_B_HIDDEN, "", "", "",
                 give_maker(vm, "made", argv[0], out))

PTC_BUILTIN_EXPR(type_map_maker, "ptc", "map-maker", 1, 1, PTC_B_HIDDEN, "", "", "",
                 give_maker(vm, "made-from", argv[0], out))

/* ---------------------------------------------------------------------------- makers */

static const char *short_type_name(PtcValue type)
{
    const char *name = ptc_str_bytes(ptc_type_field(type, PTC_TYPE_NAME));
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

static PtcValue new_typed_record(PtcVM *vm, PtcValue like, PtcValue type, const PtcValue *values,
                                 size_t n)
{
    PtcValue v = ptc_typed_new(vm->heap, like, type);
    if (v == PTC_NONE)
        return v;
    if (ptc_is(v, PTC_T_SMAP)) { /* nobody has seen it yet */
        memcpy(((PtcSmap *)(uintptr_t)v)->values, values, n * sizeof *values);
        return v;
    }
    PtcValue basis = ptc_type_field(type, PTC_TYPE_BASIS);
    for (size_t i = 0; v != PTC_NONE && i < n; i++)
        v = ptc_tick(&vm->budget, 1) ? ptc_map_assoc(vm->heap, v, ptc_seq_nth(basis, i), values[i])
                                     : PTC_NONE;
    return v;
}

static PtcValue new_object(PtcVM *vm, PtcValue type, const PtcValue *values, size_t n)
{
    size_t count = PTC_OBJECT_VALUES + n;
    PtcRecord *o =
        ptc_heap_object(vm->heap, PTC_T_RECORD, sizeof *o + count * sizeof type, (uint32_t)count);
    if (!o)
        return PTC_NONE;
    o->obj.aux = PTC_R_OBJECT;
    o->fields[PTC_OBJECT_TYPE] = type;
    o->fields[PTC_OBJECT_NUMBER] = ptc_int(vm->heap->cell_count++);
    o->fields[PTC_OBJECT_METHODS] = PTC_NIL;
    memcpy(o->fields + PTC_OBJECT_VALUES, values, n * sizeof *values);
    return ptc_from_obj(o);
}

/* A stored session may hold anything in the place of what give_maker made. */
static bool good_maker(PtcVM *vm, PtcValue f)
{
    PtcValue type = ptc_record_field(f, MADE_TYPE), like = ptc_record_field(f, MADE_LIKE);
    if (ptc_is_type(type) &&
        (like == PTC_NIL ||
         (ptc_is_typed(like) &&
          ptc_map_count(like) == ptc_seq_count(ptc_type_field(type, PTC_TYPE_BASIS)))))
        return true;
    return ptc_fail(vm, PTC_E_TYPE, "this makes nothing of a type");
}

/* (->Point 1 2) */
PTC_BUILTIN(type_made, "ptc", "made", 1, -1, PTC_B_HIDDEN, "", "", "")
{
    PtcValue type = ptc_record_field(argv[0], MADE_TYPE);
    PtcValue like = ptc_record_field(argv[0], MADE_LIKE);
    if (!good_maker(vm, argv[0]))
        return false;
    size_t n = ptc_seq_count(ptc_type_field(type, PTC_TYPE_BASIS));
    if ((size_t)argc - 1 != n) {
        ptc_fail(vm, PTC_E_ARITY, "->%s takes a value for each field, %zu argument%s, got %d",
                 short_type_name(type), n, n == 1 ? "" : "s", argc - 1);
        return ptc_fail_hint(vm, "map->%s takes them by name and leaves out what is not there",
                             short_type_name(type));
    }
    return ptc_give(out, like == PTC_NIL ? new_object(vm, type, argv + 1, n)
                                         : new_typed_record(vm, like, type, argv + 1, n));
}

/* (map->Point {:x 1}) */
PTC_BUILTIN(type_made_from, "ptc", "made-from", 2, 2, PTC_B_HIDDEN, "", "", "")
{
    PtcValue v = ptc_record_field(argv[0], MADE_LIKE), key, value;
    if (!good_maker(vm, argv[0]) || !ptc_arg_map(vm, argv, 1))
        return false;
    if (v == PTC_NIL)
        return ptc_fail(vm, PTC_E_TYPE, "a deftype is made from values in order");
    for (size_t pos = 0; v != PTC_NONE && ptc_map_next(argv[1], &pos, &key, &value);)
        v = ptc_tick(&vm->budget, 1) ? ptc_map_assoc_flex(vm->heap, v, key, value) : PTC_NONE;
    return ptc_give(out, v);
}

/* ---------------------------------------------------------------------------- fields */

/* The field of a record or object, PTC_NONE when there is none. */
static PtcValue field_of(PtcVM *vm, PtcValue v, PtcValue key)
{
    PtcValue type = ptc_typed_type(v);
    if (type == PTC_NONE)
        return type;
    if (ptc_is_map(v))
        return ptc_map_get(vm->heap, v, key);
    int64_t i = ptc_type_find(vm->heap, type, key);
    return i < 0 ? PTC_NONE : ptc_record_field(v, PTC_OBJECT_VALUES + (size_t)i);
}

PTC_BUILTIN(type_field, "ptc", "field", 2, 2, PTC_B_HIDDEN, "", "", "")
{
    PtcValue v = field_of(vm, argv[0], argv[1]);
    if (v != PTC_NONE)
        return ptc_give(out, v);
    ptc_fail(vm, PTC_E_TYPE | PTC_AS(ILLEGAL_ARGUMENT), "%s has no field %s",
             ptc_typed_type(argv[0]) == PTC_NONE ? ptc_type_name(argv[0])
                                                 : short_type_name(ptc_typed_type(argv[0])),
             ptc_str_bytes(argv[1]));
    return ptc_fail_hint(vm,
                         "a key of a map is read with (:%s x); a method of a protocol is called "
                         "with (%s x)",
                         ptc_str_bytes(argv[1]), ptc_str_bytes(argv[1]));
}

PTC_BUILTIN_EXPR(
    core_is_record, "clojure.core", "record?", 1, 1, PTC_GIVES(PTC_IS_BOOL), "(record? x)",
    "Is it a value of a defrecord?",
    "(defrecord P [x]) [(record? (->P 1)) (record? {:x 1}) (map? (->P 1))] => [true false "
    "true]\n(record?) !! arity_error",
    ptc_give(out, ptc_bool(ptc_is_typed(argv[0]))))

/* --------------------------------------------------------------------- documentation */

PTC_FORM(
    form_defrecord, "clojure.core", "defrecord",
    "(defrecord Name [fields] Protocol (method [this] ...) ...)",
    "A type of maps with fields. ->Name and (Name. ...) make one from values in order, map->Name "
    "from a map. Methods of protocols see the fields by name.",
    "(defrecord Point [x y]) (->Point 1 2) => #user.Point{:x 1, :y 2}\n"
    "(defrecord Point [x y]) (let [p (map->Point {:x 1})] [(:x p) (.-y p) (assoc p :y 5)]) => [1 "
    "nil #user.Point{:x 1, :y 5}]\n"
    "(defprotocol Shape (area [s])) (defrecord Square [side] Shape (area [_] (* side side))) (area "
    "(->Square 3)) => 9\n"
    "(defrecord P [x]) [(= (->P 1) (->P 1)) (= (->P 1) {:x 1}) (dissoc (->P 1) :x)] => [true false "
    "{}]\n"
    "(defrecord P [x]) (->P) !! arity_error\n(defrecord 5) !! invalid_form");
PTC_FORM(
    form_deftype, "clojure.core", "deftype",
    "(deftype Name [fields] Protocol (method [this] ...) ...)",
    "A type of objects with fields that do not change and are read with (.-field x). Objects are "
    "equal to themselves only.",
    "(deftype Box [v]) (.-v (Box. 5)) => 5\n(deftype Box [v]) (->Box 1) => #object[user.Box]\n"
    "(deftype Box [v]) (= (->Box 1) (->Box 1)) => false\n(deftype Box [v]) (.-w (->Box 1)) !! "
    "type_error");
PTC_FORM(
    form_defprotocol, "clojure.core", "defprotocol",
    "(defprotocol Name doc? (method [this args] doc?) ...)",
    "Names functions that types have methods for: defrecord, deftype, reify, extend-type and "
    "extend-protocol give them.",
    "(defprotocol Speaks \"What can talk.\" (speak [x] [x y])) (extend-type String Speaks (speak "
    "([s] s) ([s t] (str s t)))) [(speak \"a\") (speak \"a\" \"b\")] => [\"a\" \"ab\"]\n"
    "(defprotocol Speaks (speak [x])) (speak 5) !! value_error\n(defprotocol 5) !! invalid_form");
PTC_FORM(
    form_extend_type, "clojure.core", "extend-type",
    "(extend-type Type Protocol (method [x] ...) ...)",
    "Gives a type methods for protocols. A type is the name of a defrecord or deftype, a class "
    "such "
    "as String, Long, Number, clojure.lang.IPersistentMap or Object, or nil.",
    "(defprotocol Size (size [x])) (extend-type nil Size (size [_] 0)) (extend-type Object Size "
    "(size [x] 1)) (map size [nil 7]) => [0 1]\n(extend-type String) => nil\n"
    "(extend-type) !! invalid_form");
PTC_FORM(
    form_extend_protocol, "clojure.core", "extend-protocol",
    "(extend-protocol Protocol Type (method [x] ...) ...)",
    "Gives several types methods for one protocol.",
    "(defprotocol Show (show [x])) (extend-protocol Show String (show [s] s) Long (show [n] (str "
    "\"#\" n)) nil (show [_] \"-\")) (map show [\"a\" 5 nil]) => [\"a\" \"#5\" \"-\"]\n"
    "(extend-protocol) !! invalid_form");
PTC_FORM(
    form_reify, "clojure.core", "reify", "(reify Protocol (method [this] ...) ...)",
    "An object with methods for protocols, which see the names around it.",
    "(defprotocol Show (show [x])) (let [n 5 o (reify Show (show [_] (str \"n\" n)))] (show o)) => "
    "\"n5\"\n(reify 5) !! invalid_form");
PTC_FORM(
    form_defmulti, "clojure.core", "defmulti",
    "(defmulti name doc? dispatch-fn :default value :hierarchy h)",
    "A function with methods: the dispatch function is called first, and the method for what it "
    "gives then. isa? decides if a method fits; without one, that for :default is called.",
    "(defmulti area :shape) (defmethod area :square [{s :side}] (* s s)) (defmethod area :default "
    "[_] 0) [(area {:shape :square :side 3}) (area {})] => [9 0]\n"
    "(defmulti f identity) (f 5) !! value_error\n(defmulti f) !! invalid_form");
PTC_FORM(
    form_defmethod, "clojure.core", "defmethod", "(defmethod name dispatch-value [params] body...)",
    "Gives a multimethod the method for a dispatch value; another for the same value replaces it.",
    "(defmulti add (fn [a b] [(class a) (class b)])) (defmethod add [Number Number] [a b] (+ a b)) "
    "(defmethod add [String String] [a b] (str a b)) [(add 1 2) (add \"a\" \"b\")] => [3 \"ab\"]\n"
    "(defmulti f class) (defmethod f) !! invalid_form");

PTC_BUILTIN_TABLE(ptc_lib_types, type_new, type_maker, type_map_maker, type_made, type_made_from,
                  type_field, core_is_record, form_defrecord, form_deftype, form_defprotocol,
                  form_extend_type, form_extend_protocol, form_reify, form_defmulti,
                  form_defmethod);
