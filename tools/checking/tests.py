"""Runs the tests with ctest's label `gpu`, without ctest, which a bundle lacks. Each runs in its
own process, since a test that makes the device fail leaves an unusable context."""

import os

from .outcome import FAIL, NOT_RUN, PASS

PROGRAMS = {
    "conformance": {"cuda": ("cuda_gpu_conformance_test", "cuda_libraries_test",
                             "cuda_gpu_stages_test"),
                    "host": ("host_conformance_test",)},
    "pipelines": {"cuda": ("pipelines_test",), "host": ("pipelines_test",)},
}
SECONDS = {"conformance": 60, "pipelines": 300}  # limit for one test


def check_tests(context, step, suites=""):
    """Runs the tests of a step whose names contain `suites`."""
    for name in PROGRAMS[step][context.device]:
        check_program(context, name, SECONDS[step], suites)


def listed_tests(text, device):
    """The tests in the output of --gtest_list_tests, without suites of other devices."""
    tests, suite = [], ""
    for line in text.splitlines():
        name = line.split("#")[0].rstrip()
        if not name.startswith("  "):
            suite = name
        elif suite.split("/")[0] not in {"cuda", "host"} - {device}:
            tests.append(suite + name.strip())
    return tests


def check_program(context, name, most, suites=""):
    program = context.places.program(name)
    if program is None:
        context.outcome.not_run(name, context.places.lacks(name))
        return
    listed = context.runner.run([program, "--gtest_list_tests"])
    if not context.outcome.add_unless_done(name, listed):
        return
    tests = [test for test in listed_tests(listed.out, context.device)
             if suites in test]

    def run(test):
        done = context.runner.run([program, f"--gtest_filter={test}"], most)
        if done.failed():  # kept at once, in case the check is killed
            context.outcome.keep_result(test, done._asdict())
        return done

    results = dict(zip(tests, context.runner.all(run, tests, min(8, os.cpu_count() or 1))))
    again = [test for test, done in results.items() if done.failed()]
    alone = zip(again, context.runner.all(run, again, 1))  # with nothing else on the device
    # A failed test without time for a second try has failed.
    results.update((test, done) for test, done in alone if done.status is not None)
    report(context.outcome, name, results, [test for test in again if not results[test].failed()])


def report(outcome, name, results, only_alone):
    wrong = [test for test, done in results.items() if done.failed()]
    late = [test for test, done in results.items() if done.status is None]
    skipped = [test for test, done in results.items()
               if done.status == 0 and "[  SKIPPED ]" in done.out]
    good = len(results) - len(wrong) - len(skipped) - len(late)
    notes = [f"{words}: {', '.join(tests)}" for words, tests in (
        ("skipped", skipped), ("passed only alone", only_alone), ("no time for", late)) if tests]
    status = FAIL if wrong or not results else PASS if good and not late else NOT_RUN
    outcome.add(name, status, f"{good} of {len(results)} passed", "all", "\n".join(notes))
    for test in wrong:
        lines = [line for line in results[test].out.splitlines()
                 if line and not line.startswith(("[", "Note", "Running"))]
        ended = results[test].status < 0 or not lines
        outcome.add(test, FAIL, note=results[test].reason() if ended else "\n".join(lines[:8]))
