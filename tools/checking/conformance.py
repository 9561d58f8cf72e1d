"""The device's conformance suite and the other tests that take a GPU, each test in a process of its
own: a test that makes the device fail leaves a context behind that no other test could use."""

import os

from .outcome import FAIL, NOT_RUN, PASS
from .processes import OutOfTime


def listed_tests(text):
    """The tests in what --gtest_list_tests prints: suites at the margin, their tests indented."""
    tests, suite = [], ""
    for line in text.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            tests.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return tests


def check_conformance(context):
    if context.on_gpu:
        check_suite(context, "conformance suite", "cuda_gpu_conformance_test")
        check_suite(context, "cuDNN and cuBLASLt", "cuda_libraries_test")
        check_suite(context, "stages on a GPU", "cuda_gpu_stages_test")
    else:
        check_suite(context, "conformance suite", "host_conformance_test")


def check_suite(context, name, program_name):
    outcome, program = context.outcome, context.places.program(program_name)
    if program is None:
        outcome.not_run(name, f"{program_name} is not in {context.places.root}")
        return
    tests = listed_tests(context.runner.run([program, "--gtest_list_tests"]).out)

    def run(test):
        return context.runner.run([program, f"--gtest_filter={test}"], most=60, environment={
            "GRAPHLINE_REFERENCES": str(context.places.references)})

    results = dict(zip(tests, context.runner.all(run, tests, min(8, os.cpu_count() or 1))))
    again = [test for test, done in results.items() if failed(done)]
    alone = zip(again, context.runner.all(run, again, 1))  # nothing else on the device then
    # Without the time for another try, it has failed.
    results.update((test, done) for test, done in alone if not isinstance(done, OutOfTime))
    outcome.data.setdefault("tests", {})[program_name] = {
        test: {"status": done.status, "seconds": done.seconds, "output": done.out[-8000:]}
        for test, done in results.items() if not isinstance(done, OutOfTime)}
    report_suite(outcome, name, results, [test for test in again if passed(results[test])])


def passed(done):
    return not isinstance(done, OutOfTime) and done.status == 0


def failed(done):
    return not isinstance(done, OutOfTime) and done.status != 0


def report_suite(outcome, name, results, only_alone):
    wrong = [test for test, done in results.items() if failed(done)]
    skipped = [test for test, done in results.items()
               if passed(done) and "[  SKIPPED ]" in done.out]
    late = [test for test, done in results.items() if isinstance(done, OutOfTime)]
    good = len(results) - len(wrong) - len(skipped) - len(late)
    notes = [f"{words}: {', '.join(tests)}" for words, tests in (
        ("skipped", skipped), ("passed only alone", only_alone), ("no time for", late)) if tests]
    status = FAIL if wrong or not results else PASS if good else NOT_RUN
    outcome.add(name, status, f"{good} of {len(results)} passed", "all", "\n".join(notes))
    for test in wrong:
        done = results[test]
        lines = [line for line in done.out.splitlines()
                 if line and not line.startswith(("[", "Note", "Running"))]
        ended = done.status < 0 or not lines
        outcome.add(test, FAIL, note=done.reason() if ended else "\n".join(lines[:8]))
