/* SPDX-License-Identifier: MIT
 *
 * lua_bench.c - Lua 5.4 and, built with -DBENCH_LUAJIT, LuaJIT with its compiler off, or with
 * -DBENCH_LUAU, Luau, through the C API they share.  Usage: lua_bench WORKLOAD PROGRAM.lua */
#include "common.h"

#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_LUAU
#include <luacode.h>
#define NAME "luau"
#define PUSH_FUNCTION(state, function) lua_pushcfunction(state, function, #function)
#else
#include <lauxlib.h>
#define PUSH_FUNCTION(state, function) lua_pushcfunction(state, function)
#endif
#ifdef BENCH_LUAJIT
#include <luajit.h>
#define NAME "luajit-joff"
#elif !defined NAME
#define NAME "lua5.4"
#endif

typedef struct {
    BenchSource source;
    const char *workload;
    lua_State *shared;
} Lua;

/* add({n = i}): one more, as a host function that takes named arguments. */
static int add(lua_State *state)
{
    lua_getfield(state, 1, "n");
    lua_pushinteger(state, lua_tointeger(state, -1) + 1);
    return 1;
}

static lua_State *new_state(void)
{
    lua_State *state = luaL_newstate();
    if (!state)
        bench_die("no Lua state");
    luaL_openlibs(state);
    PUSH_FUNCTION(state, add);
    lua_setglobal(state, "add");
#ifdef BENCH_LUAJIT
    if (!luaJIT_setmode(state, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF))
        bench_die("LuaJIT's compiler cannot be switched off");
#endif
    return state;
}

/* LuaJIT has no integers, but all answers fit a double. */
static void expect_number(lua_State *state, int index, int64_t wanted)
{
    if (!lua_isnumber(state, index) || lua_tonumber(state, index) != (lua_Number)wanted)
        bench_die(NAME ": wrong answer, expected %lld", (long long)wanted);
}

static void check(lua_State *state, const char *workload, int64_t k)
{
    if (!strcmp(workload, "small")) {
        expect_number(state, -1, BENCH_SMALL_ANSWER(k));
    } else if (!strcmp(workload, "fib")) {
        expect_number(state, -1, BENCH_FIB);
    } else if (!strcmp(workload, "loop") || !strcmp(workload, "for")) {
        expect_number(state, -1, BENCH_LOOP);
    } else if (!strcmp(workload, "call")) {
        expect_number(state, -1, BENCH_CALL);
    } else {
        const char *dept = lua_tostring(state, -2);
        if (!dept || strcmp(dept, BENCH_DEPT))
            bench_die(NAME ": wrong department");
        expect_number(state, -1, BENCH_TOTAL);
    }
}

/* The source as a function on the stack; not 0: it cannot be compiled. */
static int load(lua_State *state, const BenchSource *source)
{
#ifdef BENCH_LUAU
    size_t size;
    char *code = luau_compile(source->text, source->len, NULL, &size);
    int status = luau_load(state, "bench", code, size, 0);
    free(code);
    return status;
#else
    return luaL_loadstring(state, source->text);
#endif
}

static void evaluate(Lua *lua, lua_State *state)
{
    bench_source_next(&lua->source);
    if (load(state, &lua->source) || lua_pcall(state, 0, LUA_MULTRET, 0))
        bench_die(NAME ": %s", lua_tostring(state, -1));
    check(state, lua->workload, lua->source.k);
    lua_settop(state, 0);
}

static void step_shared(void *context)
{
    Lua *lua = context;
    evaluate(lua, lua->shared);
}

static void step_fresh(void *context)
{
    Lua *lua = context;
    lua_State *state = new_state();
    evaluate(lua, state);
    lua_close(state);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        bench_die("usage: %s WORKLOAD PROGRAM", argv[0]);
    Lua lua = {.workload = argv[1], .shared = new_state()};
    bench_source_load(&lua.source, argv[2]);
    bench_measure(lua.workload, NAME " shared", step_shared, &lua);
    if (!strcmp(lua.workload, "small"))
        bench_measure(lua.workload, NAME " fresh", step_fresh, &lua);
    lua_close(lua.shared);
    bench_source_free(&lua.source);
    return 0;
}
