/* SPDX-License-Identifier: MIT
 * clojure.zip: going about in a tree and changing it on the way; lisp/prelude/zip.clj has the definitions. */
#include "lisp/prelude/prelude.h"

#define ZIP(id, name, min, max, flags, usage, doc, examples) \
    PTC_PRELUDE(id, "clojure.zip", name, min, max, flags, usage, doc, examples)

ZIP(zip_zipper, "zipper", 4, 4, 0, "(zip/zipper branch? children make-node root)",
    "The top of a tree as a location: branch? says whether a node may have children, children "
    "gives them, make-node makes a node of an old one and new children.",
    "(-> (zip/zipper map? :kids (fn [n ks] (assoc n :kids ks)) {:id 1, :kids [{:id 2}]}) zip/down "
    "zip/node) => {:id 2}\n(zip/zipper 5 seq conj [1]) !! type_error");
ZIP(zip_vector_zip, "vector-zip", 1, 1, 0, "(zip/vector-zip root)",
    "The top of a tree of nested vectors as a location.",
    "(-> (zip/vector-zip [1 [2 3]]) zip/down zip/right zip/down zip/node) => 2\n(-> "
    "(zip/vector-zip [1 2]) zip/down (zip/edit inc) zip/root) => [2 2]\n(zip/vector-zip) !! "
    "arity_error");
ZIP(zip_seq_zip, "seq-zip", 1, 1, 0, "(zip/seq-zip root)",
    "The top of a tree of nested lists as a location.",
    "(-> (zip/seq-zip '(1 (2 3))) zip/down zip/right zip/node) => [2 3]\n(zip/seq-zip) !! "
    "arity_error");
ZIP(zip_xml_zip, "xml-zip", 1, 1, 0, "(zip/xml-zip root)",
    "The top of a tree of maps with :tag, :attrs and :content as a location; strings are its "
    "leaves.",
    "(-> (zip/xml-zip {:tag :a :content [\"x\" {:tag :b}]}) zip/down zip/right zip/node :tag) => "
    ":b\n(zip/xml-zip) !! arity_error");
ZIP(hidden_zip_made, "zip-made", 3, 3, PTC_B_HIDDEN, "(make-node node children)",
    "A node of seq-zip, vector-zip or xml-zip.", "");
ZIP(zip_node, "node", 1, 1, PTC_B_CALLS, "(zip/node loc)", "The node at a location.",
    "(zip/node (zip/vector-zip [1])) => [1]\n(zip/node 5) !! type_error");
ZIP(zip_is_branch, "branch?", 1, 1, PTC_B_CALLS, "(zip/branch? loc)",
    "May the node here have children?",
    "(zip/branch? (zip/vector-zip [1])) => true\n(zip/branch? (zip/down (zip/vector-zip [1]))) => "
    "false\n(zip/branch? nil) !! type_error");
ZIP(zip_children, "children", 1, 1, PTC_B_CALLS, "(zip/children loc)",
    "The children of the node here.",
    "(zip/children (zip/vector-zip [1 2])) => [1 2]\n(zip/children (zip/down (zip/vector-zip "
    "[1]))) !! value_error");
ZIP(zip_make_node, "make-node", 3, 3, PTC_B_CALLS, "(zip/make-node loc node children)",
    "A new node of an old one and new children, in the way of the tree of this location.",
    "(zip/make-node (zip/vector-zip []) [1] [2 3]) => [2 3]\n(zip/make-node 1 2 3) !! type_error");
ZIP(zip_path, "path", 1, 1, PTC_B_CALLS, "(zip/path loc)",
    "The nodes above this one, from the top; nil at the top.",
    "(-> (zip/vector-zip [[1]]) zip/down zip/down zip/path) => [[[1]] [1]]\n(zip/path "
    "(zip/vector-zip [])) => nil\n(zip/path 1) !! type_error");
ZIP(zip_lefts, "lefts", 1, 1, PTC_B_CALLS, "(zip/lefts loc)",
    "The siblings to the left, nil when there are none.",
    "(-> (zip/vector-zip [1 2 3]) zip/down zip/right zip/lefts) => [1]\n(zip/lefts 1) !! "
    "type_error");
ZIP(zip_rights, "rights", 1, 1, PTC_B_CALLS, "(zip/rights loc)",
    "The siblings to the right, nil when there are none.",
    "(-> (zip/vector-zip [1 2 3]) zip/down zip/rights) => [2 3]\n(zip/rights 1) !! type_error");
ZIP(zip_down, "down", 1, 1, PTC_B_CALLS, "(zip/down loc)",
    "The first child, nil when there is none.",
    "(zip/node (zip/down (zip/vector-zip [7 8]))) => 7\n(zip/down (zip/vector-zip [])) => "
    "nil\n(zip/down 5) !! type_error");
ZIP(zip_up, "up", 1, 1, PTC_B_CALLS, "(zip/up loc)", "The parent, nil at the top.",
    "(-> (zip/vector-zip [7]) zip/down zip/up zip/node) => [7]\n(zip/up (zip/vector-zip [])) => "
    "nil\n(zip/up nil) !! type_error");
ZIP(zip_left, "left", 1, 1, PTC_B_CALLS, "(zip/left loc)",
    "The next sibling to the left, nil when there is none.",
    "(-> (zip/vector-zip [1 2]) zip/down zip/right zip/left zip/node) => 1\n(zip/left 1) !! "
    "type_error");
ZIP(zip_right, "right", 1, 1, PTC_B_CALLS, "(zip/right loc)",
    "The next sibling to the right, nil when there is none.",
    "(-> (zip/vector-zip [1 2]) zip/down zip/right zip/node) => 2\n(zip/right 1) !! type_error");
ZIP(zip_leftmost, "leftmost", 1, 1, PTC_B_CALLS, "(zip/leftmost loc)",
    "The first of the siblings, or this one.",
    "(-> (zip/vector-zip [1 2]) zip/down zip/right zip/leftmost zip/node) => 1\n(zip/leftmost 1) "
    "!! type_error");
ZIP(zip_rightmost, "rightmost", 1, 1, PTC_B_CALLS, "(zip/rightmost loc)",
    "The last of the siblings, or this one.",
    "(-> (zip/vector-zip [1 2 3]) zip/down zip/rightmost zip/node) => 3\n(zip/rightmost 1) !! "
    "type_error");
ZIP(zip_prev, "prev", 1, 1, PTC_B_CALLS, "(zip/prev loc)",
    "The node before this one, depth first; nil at the top.",
    "(-> (zip/vector-zip [[1 2] 3]) zip/down zip/right zip/prev zip/node) => 2\n(zip/prev 1) !! "
    "type_error");
ZIP(zip_next, "next", 1, 1, PTC_B_CALLS, "(zip/next loc)",
    "The node after this one, depth first; after the last one a location for which end? is true.",
    "(->> (zip/vector-zip [1 [2]]) (iterate zip/next) (take-while (complement zip/end?)) (map "
    "zip/node)) => [[1 [2]] 1 [2] 2]\n(zip/next 1) !! type_error");
ZIP(zip_is_end, "end?", 1, 1, PTC_B_CALLS, "(zip/end? loc)",
    "Has zip/next gone through the whole tree?",
    "(zip/end? (zip/vector-zip [])) => false\n(zip/end? (zip/next (zip/vector-zip []))) => "
    "true\n(zip/end? nil) !! type_error");
ZIP(zip_root, "root", 1, 1, PTC_B_CALLS, "(zip/root loc)", "The whole tree, with all changes.",
    "(-> (zip/vector-zip [1 [2]]) zip/down zip/right zip/down (zip/replace 5) zip/root) => [1 "
    "[5]]\n(zip/root 1) !! type_error");
ZIP(zip_replace, "replace", 2, 2, PTC_B_CALLS, "(zip/replace loc node)",
    "The location with another node.",
    "(-> (zip/vector-zip [1 2]) zip/down (zip/replace :a) zip/root) => [:a 2]\n(zip/replace 1 2) "
    "!! type_error");
ZIP(zip_edit, "edit", 2, -1, PTC_B_CALLS, "(zip/edit loc f & args)",
    "The location with what (f node args...) gives as its node.",
    "(-> (zip/vector-zip [1 2]) zip/down (zip/edit + 10) zip/root) => [11 2]\n(zip/edit 1 inc) !! "
    "type_error");
ZIP(zip_insert_left, "insert-left", 2, 2, PTC_B_CALLS, "(zip/insert-left loc node)",
    "The location with a new sibling to its left.",
    "(-> (zip/vector-zip [1]) zip/down (zip/insert-left 0) zip/root) => [0 1]\n(zip/insert-left "
    "(zip/vector-zip [1]) 0) !! value_error");
ZIP(zip_insert_right, "insert-right", 2, 2, PTC_B_CALLS, "(zip/insert-right loc node)",
    "The location with a new sibling to its right.",
    "(-> (zip/vector-zip [1]) zip/down (zip/insert-right 2) zip/root) => [1 2]\n(zip/insert-right "
    "(zip/vector-zip [1]) 0) !! value_error");
ZIP(zip_insert_child, "insert-child", 2, 2, PTC_B_CALLS, "(zip/insert-child loc node)",
    "The location with a new first child.",
    "(zip/root (zip/insert-child (zip/vector-zip [1]) 0)) => [0 1]\n(zip/insert-child (zip/down "
    "(zip/vector-zip [1])) 0) !! value_error");
ZIP(zip_append_child, "append-child", 2, 2, PTC_B_CALLS, "(zip/append-child loc node)",
    "The location with a new last child.",
    "(zip/root (zip/append-child (zip/vector-zip [1]) 2)) => [1 2]\n(zip/append-child 1 2) !! "
    "type_error");
ZIP(zip_remove, "remove", 1, 1, PTC_B_CALLS, "(zip/remove loc)",
    "The tree without the node here, at the node that came before it depth first.",
    "(-> (zip/vector-zip [1 2 3]) zip/down zip/right zip/remove zip/root) => [1 3]\n(zip/remove "
    "(zip/vector-zip [1])) !! value_error");

PTC_BUILTIN_TABLE(ptc_lib_zip, zip_zipper, zip_vector_zip, zip_seq_zip, zip_xml_zip,
                  hidden_zip_made, zip_node, zip_is_branch, zip_children, zip_make_node, zip_path,
                  zip_lefts, zip_rights, zip_down, zip_up, zip_left, zip_right, zip_leftmost,
                  zip_rightmost, zip_prev, zip_next, zip_is_end, zip_root, zip_replace, zip_edit,
                  zip_insert_left, zip_insert_right, zip_insert_child, zip_append_child,
                  zip_remove);
