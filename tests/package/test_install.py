#!/usr/bin/env python3
"""cmake --install, then programs that use what was installed, by pkg-config and find_package, shared and static; the Debian
package, installed into a directory and removed again.  test_install.py PTC"""
import os
import pathlib
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
from package_help import check, finish, initialize, run, skip  # noqa: E402

signal.alarm(280)
BUILD = pathlib.Path(sys.argv[1]).resolve().parent
APP = """#include <ptc/ptc.h>
#include <stdio.h>
int ptc_mem_init(void); /* a name that is the library's own, and may be a host's */
int ptc_mem_init(void) { return 40; }
int main(void)
{
    char *text = NULL;
    Ptc *ptc = ptc_new(NULL);
    if (!ptc || ptc_eval_json(ptc, "{\\"program\\":\\"(+ 1 2)\\"}", 21, &text, NULL) != PTC_OK)
        return 1;
    printf("%d %s\\n", ptc_mem_init(), text);
    ptc_text_free(ptc, text, 0);
    ptc_free(ptc);
    return 0;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.22)
project(app C)
find_package(ptc 0.1 REQUIRED)
add_executable(shared app.c)
target_link_libraries(shared PRIVATE ptc::ptc)
add_executable(static app.c)
target_link_libraries(static PRIVATE ptc::static)
"""


def answers(program, **env):
    status, out = run(program, env=env)
    return status == 0 and out.startswith("40 {") and '"3"' in out, out


def test_pkg_config(prefix, where):
    env = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "ptc", env=env)[1].split()
    run("cc", "app.c", *flags, "-o", "pc-shared", cwd=where)
    ok, got = answers(where / "pc-shared", LD_LIBRARY_PATH=str(prefix / "lib"))
    check("pkg-config, shared", ok, got)
    place = run("pkg-config", "--variable=libdir", "ptc", env=env)[1].strip()
    run("cc", "app.c", *flags, f"-Wl,-rpath,{place}", "-o", "pc-rpath", cwd=where)
    ok, got = answers(where / "pc-rpath")
    check("pkg-config, shared, found by its rpath", ok, got)
    check("the soname has the version", "libptc.so.0" in run("ldd", where / "pc-shared")[1])
    flags = run("pkg-config", "--static", "--cflags", "--libs", "ptc", env=env)[1].replace("-lptc", "-l:libptc.a").split()
    run("cc", "app.c", *flags, "-o", "pc-static", cwd=where)
    ok, got = answers(where / "pc-static")
    check("pkg-config, static", ok and "libptc" not in run("ldd", where / "pc-static")[1], got)


def test_find_package(prefix, where):
    (where / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    run("cmake", "-G", "Ninja", "-S", where, "-B", where / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", where / "build")
    for name in ("shared", "static"):
        ok, got = answers(where / "build" / name)
        check(f"find_package, {name}", ok, got)


def test_consumers(home):
    status, out = run("cmake", "--install", BUILD, "--prefix", home / "first")
    check("cmake --install", status == 0, out)
    prefix = (home / "first").rename(home / "moved")  # nothing in it may know where it was
    (home / "app.c").write_text(APP, encoding="utf-8")
    if shutil.which("pkg-config"):
        test_pkg_config(prefix, home)
    test_find_package(prefix, home)
    status, out = run(prefix / "bin/ptc", "(+ 1 2)")
    check("the command", status == 0 and out == "3\n", out)


def files(root):
    return {path.relative_to(root).as_posix() for path in root.rglob("*")
            if not path.is_dir() and "var/" not in path.relative_to(root).as_posix()}


def dpkg(root, home, *arguments):
    """dpkg on a directory of its own.  Scripts of packages would look for a shell in there, so they run outside, with an
    ldconfig that does nothing."""
    (home / "fake").mkdir(exist_ok=True)
    (home / "fake/ldconfig").write_text("#!/bin/sh\n", encoding="utf-8")
    (home / "fake/ldconfig").chmod(0o755)
    return run("dpkg", f"--root={root}", "--force-not-root", "--force-depends", "--force-script-chrootless",
               "--log=/dev/null", *arguments, env={"PATH": f"{home / 'fake'}:{os.environ['PATH']}"})


def test_debian(home):
    status, out = run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", home / "deb")
    packages = list((home / "deb").glob("*.deb"))
    check("cpack", status == 0 and len(packages) == 1, out)
    root = home / "root"
    (root / "var/lib/dpkg").mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    before = files(root)
    status, out = dpkg(root, home, "--install", packages[0])
    check("dpkg installs it", status == 0, out)
    check("what it brings", {"usr/bin/ptc", "usr/include/ptc/ptc.h", "usr/lib/libptc.so.0"} <= files(root), files(root))
    told = initialize(root / "usr/bin/ptc", "mcp")
    check("it serves", told[0]["result"]["serverInfo"]["name"] and "10" in str(told[1]["result"]["content"]), told)
    status, out = dpkg(root, home, "--purge", "ptc")
    check("dpkg removes it", status == 0 and files(root) == before, (out, files(root)))
    check("and its directories", not (root / "usr").exists(), list(root.rglob("usr/*")))


with tempfile.TemporaryDirectory() as directory:
    test_consumers(pathlib.Path(directory))
with tempfile.TemporaryDirectory() as directory:
    if os.geteuid() == 0 and shutil.which("dpkg"):
        test_debian(pathlib.Path(directory))
    else:
        skip("the Debian package, which needs dpkg and root")
finish("test_install.py")
