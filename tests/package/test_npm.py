#!/usr/bin/env python3
"""The command as a package of npm: packed, installed without a network, started by npx.  test_npm.py PTC"""
import os
import pathlib
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
from package_help import ROOT, check, finish, initialize, run, skip  # noqa: E402

signal.alarm(280)
BUILD = pathlib.Path(sys.argv[1]).resolve().parent


def test_package(home):
    status, out = run(ROOT / "packaging/npm/build", BUILD, home)
    tarball = pathlib.Path(out.strip().splitlines()[-1])
    check("packed", status == 0 and tarball.exists(), out)
    (home / "package.json").write_text('{"private": true}', encoding="utf-8")
    env = {**os.environ, "npm_config_offline": "true", "npm_config_cache": str(home / "cache"), "npm_config_audit": "false",
           "npm_config_fund": "false", "npm_config_update_notifier": "false", "HOME": str(home)}
    status, out = run("npm", "install", "--silent", tarball, cwd=home, env=env)
    check("installed", status == 0, out)
    told = initialize("npx", "--no-install", "ptc-mcp", cwd=home, env=env)
    check("npx serves", told[0]["result"]["serverInfo"]["name"] and "10" in str(told[1]["result"]["content"]), told)
    status, out = run("npx", "--no-install", "-p", "ptc-mcp", "ptc", "(+ 1 2)", cwd=home, env=env)
    check("npx runs the command", status == 0 and out.strip().endswith("3"), out)


if shutil.which("npm") and shutil.which("npx"):
    with tempfile.TemporaryDirectory() as directory:
        test_package(pathlib.Path(directory))
else:
    skip("no npm")
finish("test_npm.py")
