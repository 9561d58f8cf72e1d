"""The device's conformance suite, each test in a process of its own: a test that makes the device
fail leaves a context behind that no other test could use."""

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
    outcome = context.outcome
    name = "cuda_gpu_conformance_test" if context.on_gpu else "host_conformance_test"
    program = context.places.program(name)
    if program is None:
        outcome.not_run("conformance suite", f"{name} is not in {context.places.root}")
        return
    tests = listed_tests(context.runner.run([program, "--gtest_list_tests"]).out)

    def run(test):
        return context.runner.run([program, f"--gtest_filter={test}"], most=60)

    results = dict(zip(tests, context.runner.all(run, tests, min(8, os.cpu_count() or 1))))
    again = [test for test, done in results.items()
             if not isinstance(done, OutOfTime) and done.status != 0]
    alone = context.runner.all(run, again, 1)  # without others that use the device
    fixed = [test for test, done in zip(again, alone)
             if not isinstance(done, OutOfTime) and done.status == 0]
    results = list({**results, **{test: done for test, done in zip(again, alone)
                                  if test in fixed}}.items())
    late = [test for test, done in results if isinstance(done, OutOfTime)]
    results = [(test, done) for test, done in results if not isinstance(done, OutOfTime)]
    skipped = [(test, done) for test, done in results if "[  SKIPPED ]" in done.out]
    failed = [(test, done) for test, done in results if done.status != 0]
    passed = len(results) - len(skipped) - len(failed)
    outcome.data["conformance"] = {
        test: {"status": done.status, "seconds": done.seconds,
               "output": done.out[-4000:] + done.err[-4000:] if done.status != 0 else ""}
        for test, done in results}
    status = FAIL if failed or not tests else PASS if passed else NOT_RUN
    notes = [f"{len(skipped)} skipped: " + ", ".join(test for test, _ in skipped)] * bool(skipped)
    notes += [f"passed only alone: {', '.join(fixed)}"] * bool(fixed)
    notes += [f"not run for the time: {', '.join(late)}"] * bool(late)
    outcome.add("conformance suite", status, f"{passed} of {len(tests)} passed", "all",
                "; ".join(notes))
    for test, done in failed:
        lines = [line for line in done.out.splitlines()
                 if line and not line.startswith(("[", "Note", "Running"))]
        why = done.reason() if done.status is None or done.status < 0 else "\n".join(lines[:8])
        outcome.add(test, FAIL, note=why)
