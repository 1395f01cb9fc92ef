#!/usr/bin/env python3
"""Jobs of people who work with data, as commands with what they print: the file `jobs` beside this one.  test_jobs.py PTC"""
import os
import pathlib
import sys
import tempfile

sys.path.insert(1, f"{sys.path[0]}/..")
from checks import check, finish  # pylint: disable=wrong-import-position

sys.dont_write_bytecode = True
import page_help  # noqa: E402


def main():
    text = pathlib.Path(__file__).with_name("jobs").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as where:
        count = page_help.run_page(os.path.abspath(sys.argv[1]), text, where, lambda name, ok, got: check(name, ok, got))
    check("jobs are found", count >= 25, count)
    return finish()


sys.exit(main())
