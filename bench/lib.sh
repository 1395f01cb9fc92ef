# shellcheck shell=bash
# What bench/run and bench/scaling share: install what is missing, build, complain.
# Both run with the repository's top directory as the current one.

out=build/bench
engine=${PTC_BUILD:-build/release}
# What libptc.a needs of others.
read -r -a ptc_libs <<<"${PTC_LIBS:--l:libgmp.a -l:libutf8proc.a -l:libpcre2-8.a -l:libmd.a -lm -lpthread -ldl}"
cflags=(-std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Iinclude -Ibench)
packages=(gcc pkg-config libgmp-dev libutf8proc-dev libpcre2-dev libmd-dev lua5.4 liblua5.4-dev luajit libluajit-5.1-dev
    valgrind python3 hyperfine)

say() { printf '%s\n' "$*" >&2; }

die() {
    say "bench: $*"
    exit 2
}

# Runs a command quietly; shows what it said only when it fails.
quietly() {
    local log=$out/log.txt
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        die "failed: $*"
    }
}

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
    local missing=() package as_root=()
    command -v dpkg-query >/dev/null || return 0 # not Debian: take what there is
    for package in "${packages[@]}"; do
        is_installed "$package" || missing+=("$package")
    done
    command -v npm >/dev/null || missing+=(nodejs npm)
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]}"
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    quietly "${as_root[@]}" apt-get update
    quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y "${missing[@]}"
}

# The Node peers live beside bench/peers, because that is where imports are looked for.
install_node_peers() {
    cmp -s bench/package.json "$out/package.json" && [ -d bench/node_modules ] && return 0
    say "installing the Node peers"
    quietly npm install --prefix bench --no-package-lock --no-audit --no-fund
    cp bench/package.json "$out/package.json"
}

# The engine; not when PTC_BUILD names a directory that was built already.
build_engine() {
    if [ -z "${PTC_BUILD:-}" ]; then
        say "building the release preset"
        quietly script/bootstrap
        quietly cmake --preset release
        quietly cmake --build --preset release
    fi
    [ -f "$engine/libptc.a" ] || die "there is no $engine/libptc.a"
}

compile() {
    quietly "${CC:-cc}" "${cflags[@]}" "$@"
}

# build_driver NAME: bench/NAME.c against libptc.a
build_driver() {
    compile "bench/$1.c" bench/ptc_host.c bench/common.c -o "$out/$1" "$engine/libptc.a" \
        "${ptc_libs[@]}"
}

# Luau has no package.  PTC_LUAU names a checkout of it; else it is fetched, and left out where that cannot be done.
luau_commit=367f9d83cc29804a6d5938ec85b6116d34d8743b

fetch_luau() {
    git init -q "$1" && git -C "$1" fetch -q --depth 1 https://github.com/luau-lang/luau "$luau_commit" &&
        git -C "$1" checkout -q FETCH_HEAD
}

build_luau() {
    local from=${PTC_LUAU:-$out/luau} to=$out/luau_build
    if [ ! -d "$from" ] && ! fetch_luau "$from" 2>/dev/null; then
        rm -rf "$from"
        say "Luau cannot be fetched: no rows for it"
        return 0
    fi
    quietly cmake -S "$from" -B "$to" -DCMAKE_BUILD_TYPE=Release -DLUAU_EXTERN_C=ON -DLUAU_BUILD_CLI=OFF -DLUAU_BUILD_TESTS=OFF
    quietly cmake --build "$to" --target Luau.VM Luau.Compiler
    compile -DBENCH_LUAU -I"$from/VM/include" -I"$from/Compiler/include" bench/lua_bench.c bench/common.c -o "$out/luau_bench" \
        -Wl,--start-group "$to"/libLuau.*.a -Wl,--end-group -lstdc++ -lm
}

build_peers() {
    local lua luajit
    read -r -a lua <<<"$(pkg-config --cflags lua5.4)"
    read -r -a luajit <<<"$(pkg-config --cflags luajit)"
    compile -static bench/spawn.c bench/common.c -o "$out/spawn"
    compile "${lua[@]}" bench/lua_bench.c bench/common.c -o "$out/lua_bench" \
        -l:liblua5.4.a -lm -ldl
    compile -DBENCH_LUAJIT "${luajit[@]}" bench/lua_bench.c bench/common.c \
        -o "$out/luajit_bench" -l:libluajit-5.1.a -lm -ldl
    build_luau
}
