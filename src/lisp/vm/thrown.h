/* SPDX-License-Identifier: MIT
 * thrown.h - the classes of exceptions.  Every error of a program belongs to the one that Clojure would throw there, so
 * that the catch that is meant takes it. */
#ifndef PTC_LISP_VM_THROWN_H
#define PTC_LISP_VM_THROWN_H

#include "base/text.h"

/* X(name, package, simple name, parent, kind of error that an uncaught one is).  First those that programs make
 * themselves, with (Exception. message); then those that they only meet or only name. */
#define PTC_THROWN_MADE(X)                                                          \
    X(THROWABLE, "java.lang", "Throwable", NONE, THROWN)                            \
    X(EXCEPTION, "java.lang", "Exception", THROWABLE, THROWN)                       \
    X(ERROR, "java.lang", "Error", THROWABLE, THROWN)                               \
    X(RUNTIME, "java.lang", "RuntimeException", EXCEPTION, THROWN)                  \
    X(ASSERTION, "java.lang", "AssertionError", ERROR, VALUE)                       \
    X(ARITHMETIC, "java.lang", "ArithmeticException", RUNTIME, ARITH)               \
    X(CLASS_CAST, "java.lang", "ClassCastException", RUNTIME, TYPE)                 \
    X(NULL_POINTER, "java.lang", "NullPointerException", RUNTIME, TYPE)             \
    X(UNSUPPORTED, "java.lang", "UnsupportedOperationException", RUNTIME, TYPE)     \
    X(ILLEGAL_STATE, "java.lang", "IllegalStateException", RUNTIME, VALUE)          \
    X(ILLEGAL_ARGUMENT, "java.lang", "IllegalArgumentException", RUNTIME, VALUE)    \
    X(NUMBER_FORMAT, "java.lang", "NumberFormatException", ILLEGAL_ARGUMENT, VALUE) \
    X(INDEX, "java.lang", "IndexOutOfBoundsException", RUNTIME, INDEX)              \
    X(STRING_INDEX, "java.lang", "StringIndexOutOfBoundsException", INDEX, INDEX)   \
    X(ARRAY_INDEX, "java.lang", "ArrayIndexOutOfBoundsException", INDEX, INDEX)     \
    X(NO_SUCH_ELEMENT, "java.util", "NoSuchElementException", RUNTIME, VALUE)       \
    X(DATE_TIME, "java.time", "DateTimeException", RUNTIME, VALUE)                  \
    X(INTERRUPTED, "java.lang", "InterruptedException", EXCEPTION, THROWN)          \
    X(TIMEOUT, "java.util.concurrent", "TimeoutException", EXCEPTION, THROWN)       \
    X(IO, "java.io", "IOException", EXCEPTION, THROWN)                              \
    X(FILE_NOT_FOUND, "java.io", "FileNotFoundException", IO, THROWN)

#define PTC_THROWN_MET(X)                                                                         \
    X(EXCEPTION_INFO, "clojure.lang", "ExceptionInfo", RUNTIME, THROWN)                           \
    X(ARITY, "clojure.lang", "ArityException", ILLEGAL_ARGUMENT, ARITY)                           \
    X(PATTERN_SYNTAX, "java.util.regex", "PatternSyntaxException", ILLEGAL_ARGUMENT, VALUE)       \
    X(ILLEGAL_FORMAT, "java.util", "IllegalFormatException", ILLEGAL_ARGUMENT, VALUE)             \
    X(FORMAT_CONVERSION, "java.util", "IllegalFormatConversionException", ILLEGAL_FORMAT, VALUE)  \
    X(FORMAT_FLAGS, "java.util", "FormatFlagsConversionMismatchException", ILLEGAL_FORMAT, VALUE) \
    X(FORMAT_PRECISION, "java.util", "IllegalFormatPrecisionException", ILLEGAL_FORMAT, VALUE)    \
    X(MISSING_WIDTH, "java.util", "MissingFormatWidthException", ILLEGAL_FORMAT, VALUE)           \
    X(MISSING_ARGUMENT, "java.util", "MissingFormatArgumentException", ILLEGAL_FORMAT, VALUE)     \
    X(UNKNOWN_CONVERSION, "java.util", "UnknownFormatConversionException", ILLEGAL_FORMAT, VALUE) \
    X(DATE_TIME_PARSE, "java.time.format", "DateTimeParseException", DATE_TIME, VALUE)            \
    X(ZONE_RULES, "java.time.zone", "ZoneRulesException", DATE_TIME, VALUE)                       \
    X(UNSUPPORTED_TEMPORAL, "java.time.temporal", "UnsupportedTemporalTypeException", DATE_TIME,  \
      VALUE)                                                                                      \
    X(NEGATIVE_SIZE, "java.lang", "NegativeArraySizeException", RUNTIME, VALUE)                   \
    X(CLASS_NOT_FOUND, "java.lang", "ClassNotFoundException", EXCEPTION, THROWN)                  \
    X(EXECUTION, "java.util.concurrent", "ExecutionException", EXCEPTION, THROWN)                 \
    X(VIRTUAL_MACHINE, "java.lang", "VirtualMachineError", ERROR, THROWN)                         \
    X(STACK_OVERFLOW, "java.lang", "StackOverflowError", VIRTUAL_MACHINE, THROWN)                 \
    X(OUT_OF_MEMORY, "java.lang", "OutOfMemoryError", VIRTUAL_MACHINE, THROWN)

typedef enum {
    PTC_C_NONE = 0,
#define PTC_THROWN_NUMBER(name, ...) PTC_C_##name,
    PTC_THROWN_MADE(PTC_THROWN_NUMBER) PTC_THROWN_MET(PTC_THROWN_NUMBER)
#undef PTC_THROWN_NUMBER
        PTC_C_COUNT
} PtcThrown;

/* A class beside the kind of an error: ptc_fail(vm, PTC_E_VALUE | PTC_AS(NUMBER_FORMAT), ...). */
enum { PTC_AS_SHIFT = 8 };
#define PTC_AS(name) (PTC_C_##name << PTC_AS_SHIFT)

/* java.lang.Exception; Exception. */
const char *ptc_thrown_full(PtcThrown thrown);
const char *ptc_thrown_simple(PtcThrown thrown);

/* By either name; PTC_C_NONE: no exception is called that. */
PtcThrown ptc_thrown_find(PtcText name);

/* Is it the class `of`, or one below it? */
bool ptc_thrown_is(PtcThrown thrown, PtcThrown of);

/* How many classes are above it. */
int ptc_thrown_depth(PtcThrown thrown);

#endif
