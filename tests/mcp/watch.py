# SPDX-License-Identifier: MIT
"""Runs the tests of a file; one that hangs is ended, named, and leaves no server behind.

Waiting for what must come is bounded by WAIT: enough for a busy machine, and less than the minute that a program may
take which nobody ends."""
import concurrent.futures
import faulthandler
import os
import subprocess
import sys
import threading

WAIT = 45
LONGEST = int(os.environ.get("PTC_TEST_SECONDS", "240"))
TESTS = []
BESIDE = []
STARTED = []


def test(function):
    TESTS.append(function)
    return function


def test_beside(function):
    """One that does little but wait, with a server of its own: it runs beside the others."""
    BESIDE.append(function)
    return test(function)


def expect(got, want, what=""):
    assert got == want, f"{what}: got {got!r}, want {want!r}"


def start(command, **more):
    """A process that is ended with a test that hangs."""
    process = subprocess.Popen(command, **more)  # pylint: disable=consider-using-with
    STARTED.append(process)
    return process


def give_up(name, function):
    print(f"{name}: {function.__name__} hung", flush=True)
    faulthandler.dump_traceback(sys.stdout)
    for process in STARTED:
        if process.returncode is None:
            process.kill()
    print(f"{name}: 0 passed, 1 failed", flush=True)
    os._exit(1)


def run_test(name, function, arguments):
    """Did it pass?  It has LONGEST seconds."""
    timer = threading.Timer(LONGEST, give_up, [name, function])
    timer.daemon = True
    timer.start()
    try:
        function(*arguments)
        return True
    except Exception as e:  # pylint: disable=broad-except
        print(f"{name}: {function.__name__}: {type(e).__name__}: {str(e)[:2000]}", flush=True)
        return False
    finally:
        timer.cancel()


def run_tests(name, tests, *arguments):
    """How many of the tests failed."""
    with concurrent.futures.ThreadPoolExecutor(max(1, len(BESIDE))) as pool:
        waiting = [pool.submit(run_test, name, t, arguments) for t in tests if t in BESIDE]
        passed = [run_test(name, t, arguments) for t in tests if t not in BESIDE]
        passed += [w.result() for w in waiting]
    return passed.count(False)


def main(name, tests=None):
    """Runs TESTS, prints the count and exits."""
    tests = TESTS if tests is None else tests
    failed = run_tests(name, tests)
    print(f"{name}: {len(tests) - failed} passed, {failed} failed")
    sys.exit(failed != 0)
