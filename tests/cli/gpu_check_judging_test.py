"""What tools/gpu_check judges, and by what rules.

usage: gpu_check_judging_test.py SOURCE_DIR
"""

import importlib.machinery
import json
import math
import os
import pathlib
import struct
import sys
import tempfile
import types
import unittest
import unittest.mock

SOURCE = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools"))

from checking import (conformance, environment, ladder, numbers, pytorch,  # noqa: E402
                      roofline)
from checking.context import Context  # noqa: E402
from checking.outcome import Outcome, median_interval  # noqa: E402
from checking.processes import Budget, Done, OutOfTime, Runner  # noqa: E402


def program():
    """tools/gpu_check as a module."""
    loader = importlib.machinery.SourceFileLoader("program", str(SOURCE / "tools/gpu_check"))
    module = types.ModuleType("program")
    module.__file__ = loader.path
    loader.exec_module(module)
    return module


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)}, ), }}\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}f", *values))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpu_check_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class judging(Case):
    def test_an_error_is_relative_to_the_reference_and_a_nan_stays_one(self):
        self.assertAlmostEqual(numbers.relative_error([3.0, 4.5], [3.0, 4.0]), 0.1)
        self.assertEqual(numbers.relative_error([0.0, 0.25], [0.0, 0.0]), 0.25)
        self.assertTrue(math.isnan(numbers.relative_error([math.nan, 1.0], [1.0, 1.0])))
        self.assertTrue(math.isnan(numbers.relative_error([1.0], [1.0, 1.0])))

    def test_the_bound_of_tf32_grows_with_the_root_of_the_products(self):
        self.assertEqual(numbers.bound_for("tf32", "two_models"), 2e-3)
        self.assertAlmostEqual(numbers.bound_for("tf32", "vgg16"), 2e-3 * math.sqrt(2))
        self.assertEqual(numbers.bound_for("float16", "vgg16"), 1e-2)

    def test_a_missing_output_is_no_match(self):
        (self.folder / "a").mkdir()
        (self.folder / "b").mkdir()
        (self.folder / "b" / "output.y.npy").write_bytes(npy([1.0, 2.0]))
        self.assertTrue(math.isnan(
            numbers.compare(self.folder / "a", self.folder / "b")["y"]))
        (self.folder / "a" / "output.y.npy").write_bytes(npy([1.0, 2.0]))
        self.assertEqual(numbers.compare(self.folder / "a", self.folder / "b"), {"y": 0.0})

    def test_what_is_no_number_never_passes(self):
        for value in (math.nan, math.inf, None, 2.1):
            outcome = Outcome()
            outcome.judge("x", value, 2.0, "{:.1f}")
            self.assertTrue(outcome.failed(), value)
        outcome = Outcome()
        outcome.judge("x", 2.0, 2.0, "{:.1f}")
        self.assertFalse(outcome.failed())

    def test_an_interval_that_holds_the_bound_decides_nothing(self):
        outcome = Outcome()
        outcome.begin("step")
        outcome.judge_interval("below", 0.4, (0.2, 0.9), 1.0, "{:.1f} %")
        outcome.judge_interval("open", 0.4, (0.2, 1.2), 1.0, "{:.1f} %")
        outcome.judge_interval("above", 1.4, (1.2, 1.9), 1.0, "{:.1f} %")
        outcome.judge_interval("unknown", 0.4, None, 1.0, "{:.1f} %")
        rows = outcome.rows
        self.assertEqual([row["status"] for row in rows],
                         ["PASS", "inconclusive", "FAIL", "inconclusive"])
        self.assertEqual(rows[0]["figure"], "0.4 % (0.2 % to 0.9 %)")
        self.assertEqual([row["note"] for row in rows],
                         ["", "the interval holds the bound", "",
                          "too few trials for an interval"])
        self.assertEqual(outcome.counts(), "1 PASS, 1 FAIL, 2 inconclusive, 0 not run")

    def test_a_median_has_an_interval_from_six_values_on(self):
        self.assertIsNone(median_interval([1, 2, 3, 4, 5]))
        self.assertEqual(median_interval([6, 5, 4, 3, 2, 1]), (1, 6))
        self.assertEqual(median_interval(range(1, 13)), (3, 10))  # binomial tables

    def test_runs_of_other_bits_fail_and_are_told_apart(self):
        def ran(words, checksum, status=0):
            result = {"outputs": [{"checksum": checksum}]} if status == 0 else None
            return words, (Done(words, status, "", "why", 1.0), result)

        alike = [ran(["--strategy", "async"], "a"), ran(["--strategy", "serial"], "a")]
        other = ran(["--strategy", "overlap"], "b")
        for found, status in ((alike, "PASS"), ([*alike, other], "FAIL"), (alike[:1], "not run"),
                              ([*alike, ran(["x"], "", status=1)], "FAIL"),
                              ([*alike, ran(["x"], "", status=2)], "PASS")):
            context = types.SimpleNamespace(outcome=Outcome())
            numbers.report_bits(context, "p", found)
            self.assertEqual(context.outcome.rows[0]["status"], status)
        self.assertIn("refused as meaningless: x", context.outcome.rows[0]["note"])

    def test_torch_is_judged_eager_and_at_its_best_between_two_runs_of_graphline(self):
        context = types.SimpleNamespace(outcome=Outcome(), on_gpu=True)
        lines = [{"mode": "eager", "error": 0.0}, {"mode": "graphs", "error": 1e-6},
                 {"mode": "compiled", "error": 0.5}, {"mode": "spoiled", "error": None},
                 {"mode": "x", "unavailable": "why"}]
        lines += [{"mode": mode, "ms": [ms]} for ms_of in (
            {"eager": 10.0, "graphs": 8.1, "compiled": 1.0, "spoiled": 1.0},
            {"eager": 10.5, "graphs": 7.9, "compiled": 1.0, "spoiled": 1.0})
            for mode, ms in ms_of.items()]
        pytorch.report_torch(context, "float32", [[8.0], [8.2]], lines)
        found = {row["check"]: (row["figure"], row["status"]) for row in context.outcome.rows}
        self.assertEqual(found, {
            "float32, torch x": ("", "not run"), "float32, torch compiled": ("0.5", "shown"),
            "float32, torch spoiled": ("None", "shown"),
            "float32, torch eager": ("0.790 x (0.762 x to 0.820 x)", "PASS"),
            "float32, torch's fastest, graphs": ("1.012 x (0.988 x to 1.038 x)", "inconclusive")})

    def test_a_test_that_fails_is_named_with_what_it_said(self):
        outcome = Outcome()
        done = {"s.a": Done([], 0, "[  PASSED  ]", "", 1.0), "s.c": OutOfTime(),
                "s.b": Done([], 1, "[ RUN ] s.b\nx.cpp:3: Failure\n3 is not 4\n", "", 1.0),
                "s.d": Done([], -11, "", "", 1.0), "s.e": Done([], 0, "[  SKIPPED ]", "", 1.0)}
        conformance.report_suite(outcome, "suite", done, ["s.a"])
        notes = {row["check"]: (row["status"], row["note"]) for row in outcome.rows}
        self.assertEqual(notes, {
            "suite": ("FAIL", "skipped: s.e\npassed only alone: s.a\nno time for: s.c"),
            "s.b": ("FAIL", "x.cpp:3: Failure\n3 is not 4"), "s.d": ("FAIL", "ended by SIGSEGV")})
        self.assertEqual(outcome.rows[0]["figure"], "1 of 5 passed")

    def test_a_test_that_failed_has_failed_without_the_time_for_another_try(self):
        tries = iter([[Done([], 1, "3 is not 4", "", 1.0)], [OutOfTime()]])
        runner = types.SimpleNamespace(
            run=lambda words: Done(words, 0, "s.\n  a\n", "", 1.0),
            all=lambda function, tests, at_once: next(tries) if tests else [])
        context = types.SimpleNamespace(
            outcome=Outcome(), runner=runner,
            places=types.SimpleNamespace(program=lambda name: pathlib.Path(name)))
        conformance.check_suite(context, "suite", "a_test")
        self.assertEqual([(row["check"], row["status"]) for row in context.outcome.rows],
                         [("suite", "FAIL"), ("s.a", "FAIL")])

    def test_a_gpu_is_counted_among_those_that_are_visible(self):
        check = program()
        for visible, wanted, shown in ((None, "cuda:2", "2"), ("3", "cuda:0", "3"),
                                       ("3,5", "cuda:1", "5"), ("3,5", "cuda:2", "")):
            given = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
            with unittest.mock.patch.dict(os.environ, given, clear=True):
                found = check.one_gpu(types.SimpleNamespace(device=wanted))
            self.assertEqual(found, {"CUDA_VISIBLE_DEVICES": shown})
        self.assertEqual(check.own_python()["PATH"].split(os.pathsep)[0],
                         os.path.dirname(sys.executable))

    def test_networks_can_be_had_in_a_precision_and_without_tuning(self):
        places = types.SimpleNamespace(pipelines=SOURCE / "pipelines")
        context = types.SimpleNamespace(places=places)
        for name, networks in (("two_models", 2), ("six_small", 6)):
            path = SOURCE / "pipelines" / f"{name}.yaml"
            text = Context.text_of(context, path, "tf32", tune=False)
            self.assertEqual(text.count("precision: tf32"), networks)
            self.assertEqual(text.count("tune: off"), networks)
            self.assertEqual(Context.text_of(context, path), path.read_text())

    def test_tests_are_read_off_the_list_with_their_suites(self):
        text = "Running main() from x.cc\nfirst.\n  a\n  b\nsecond/0.  # TypeParam = int\n  c\n"
        self.assertEqual(conformance.listed_tests(text), ["first.a", "first.b", "second/0.c"])


class within_its_time(Case):
    """The limits of steps and of calls."""

    def test_each_step_alone_takes_nine_minutes_and_all_have_the_time_for_theirs(self):
        check = program()
        for name, step in check.STEPS.items():
            alone = types.SimpleNamespace(seconds=None, only=[name])
            self.assertLessEqual(check.limit(alone), 540, name)
        everything = types.SimpleNamespace(seconds=None, only=None)
        self.assertGreaterEqual(check.limit(everything),
                                sum(step.seconds for step in check.STEPS.values()))
        self.assertNotIn("ladder", check.chosen_steps(everything))

    def test_all_rungs_have_their_time_within_five_minutes(self):
        context = types.SimpleNamespace(
            on_gpu=True, graphline="graphline", device="cuda",
            places=types.SimpleNamespace(program=lambda name: name, pipelines=self.folder),
            name=lambda ending: self.folder / ending, variant=lambda path, tune: path,
            runner=types.SimpleNamespace(environment={}))
        rungs = list(ladder.rungs(context))
        self.assertLessEqual(sum(seconds for _, seconds, _ in rungs), ladder.SECONDS)
        self.assertLessEqual(ladder.SECONDS, 300)

    def test_a_program_that_is_not_done_in_its_time_has_not_failed(self):
        runner = Runner(Budget(60), dict(os.environ))
        log = self.folder / "log"
        words = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"]
        with self.assertRaises(OutOfTime) as late:
            runner.run(words, most=2, log=log)
        self.assertEqual(str(late.exception), "not done after 2 s")
        self.assertEqual(log.read_text(), "begun\n")
        done = runner.run([sys.executable, "-c", "print('x')"], log=log)
        self.assertEqual((done.status, done.out, log.read_text()), (0, "x\n", "x\n"))

    def test_a_name_of_an_earlier_check_is_not_taken_again(self):
        options = types.SimpleNamespace(device="host", quick=True, seed=1)
        places = types.SimpleNamespace(program=lambda name: name)
        (self.folder / "0001-tiny.yaml").write_text("")
        context = Context(options, places, None, Outcome(), self.folder)
        self.assertEqual(context.name(".json").name, "0002.json")


class against_ceilings(Case):
    def test_a_convolution_is_judged_against_the_peak_or_the_measured_product(self):
        def ceiling(what, precision, value):
            return {"what": what, "precision": precision, "value": value, "how": ""}

        calibration = {
            "theoretical_peaks": [{"name": "float32 cores", "value": 100.0, "formula": ""},
                                  {"name": "float16 tensor cores", "value": 1000.0, "formula": ""}],
            "ceilings": [ceiling("convolution", "float32", 79.0),
                         ceiling("matmul", "float32", 80.0),
                         ceiling("convolution", "float16", 610.0),
                         ceiling("matmul", "float16", 750.0),
                         ceiling("convolution", "tf32", 10.0)]}
        context = types.SimpleNamespace(outcome=Outcome())
        roofline.compare_with_peaks(context, calibration)
        rows = {row["check"]: (row["figure"], row["status"]) for row in context.outcome.rows}
        self.assertEqual(rows["convolution, float32, below its peak"], ("21.0 %", "FAIL"))
        self.assertEqual(rows["convolution, float16, below the product"], ("18.7 %", "PASS"))
        self.assertEqual(rows["matmul, float16, of its peak"], ("75.0 %", "shown"))
        self.assertNotIn("convolution, tf32, below the product", rows)


class before_the_rest(Case):
    def test_a_library_that_is_missing_fails_with_its_remedy_and_nvrtc_is_only_told(self):
        lines = "\n".join(json.dumps(fact) for fact in (
            {"fact": "cuDNN", "text": "91900, /x/libcudnn.so.9"},
            {"fact": "cuBLASLt is missing", "text": "Install it, with 'pip install nvidia-cublas'"},
            {"fact": "NVRTC is missing", "text": "Install it"}))
        done = Done([], 0, lines + '\n{"fact": "cut', "", 1.0)
        context = types.SimpleNamespace(
            outcome=Outcome(), places=types.SimpleNamespace(program=lambda name: name),
            runner=types.SimpleNamespace(run=lambda words, most: done))
        environment.check_libraries(context)
        self.assertEqual([(row["check"], row["status"]) for row in context.outcome.rows],
                         [("cuDNN", "PASS"), ("cuBLASLt", "FAIL"), ("NVRTC", "shown")])
        self.assertIn("pip install nvidia-cublas", context.outcome.rows[1]["note"])

    def test_a_machine_without_the_device_says_so(self):
        listed = "cuda     none: no driver\nhost     a processor, 4 GiB\n"
        self.assertFalse(ladder.has_device(listed, "cuda"))
        self.assertTrue(ladder.has_device(listed, "host"))
        self.assertTrue(ladder.has_device("cuda:0   a GPU, 80 GiB\n", "cuda"))
        self.assertFalse(ladder.has_device("host     with cuda, 80 GiB\n", "cuda"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
