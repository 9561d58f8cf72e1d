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

from checking import (conformance, environment, ladder, memory, numbers, pytorch,  # noqa: E402
                      roofline, two_models)
from checking.context import Context  # noqa: E402
from checking.outcome import Outcome, block_ratios, median_interval  # noqa: E402
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
        self.assertEqual(block_ratios([[2, 4, 9], [1]], [[8], [2]]), [0.5, 0.5])

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
            numbers.report_bits(context, "p", found, 0)
            self.assertEqual(context.outcome.rows[0]["status"], status)
        self.assertIn("refused as meaningless: x", context.outcome.rows[0]["note"])

    def test_torch_is_judged_eager_and_at_its_best(self):
        context = types.SimpleNamespace(outcome=Outcome(), on_gpu=True)
        data = {"setup": [{"mode": "eager", "error": 1e-6}, {"mode": "graphs", "error": 1e-6},
                          {"mode": "compiled", "error": 0.5}, {"mode": "spoiled", "error": None},
                          {"mode": "x", "unavailable": "why"}],
                "graphline": {True: [[8.0]] * 6, False: [[8.0]] * 3},
                "torch": [{"mode": mode, "cpu_work": work, "ms": [ms]}
                          for work, rounds in ((True, 6), (False, 3)) for _ in range(rounds)
                          for mode, ms in (("eager", 10.0), ("graphs", 7.5), ("compiled", 1.0),
                                           ("spoiled", 1.0))]}
        pytorch.report_torch(context, "float32", data, None)
        found = {row["check"]: (row["figure"], row["status"]) for row in context.outcome.rows}
        self.assertEqual(found["float32, end to end, torch eager"],
                         ("0.800 x (0.800 x to 0.800 x)", "PASS"))
        self.assertEqual(found["float32, end to end, torch's fastest"],
                         ("1.067 x (1.067 x to 1.067 x)", "FAIL"))
        self.assertEqual(found["float32, the networks alone, torch eager"],
                         ("0.800 x", "inconclusive"))  # by three rounds
        self.assertEqual(found["float32, torch compiled"], ("0.5", "shown"))  # computes otherwise
        self.assertEqual(found["float32, torch x"], ("", "not run"))

    def test_without_numpy_the_whole_path_is_told_not_run(self):
        context = types.SimpleNamespace(outcome=Outcome(), on_gpu=True)
        data = {"setup": [], "graphline": {True: [[8.0]], False: [[8.0]]},
                "torch": [{"mode": "eager", "cpu_work": False, "ms": [10.0]}]}
        pytorch.report_torch(context, "float32", data, None)
        notes = {row["check"]: row["note"] for row in context.outcome.rows}
        self.assertIn("NumPy", notes["float32, end to end"])

    def test_a_round_counts_where_both_have_done_it(self):
        def asked(*lines, trouble=None):
            return types.SimpleNamespace(ask=lambda key, seconds: (list(lines), trouble))

        ours = asked({"pipeline": "a", "ms": [1.0]}, {"pipeline": "b", "ms": [2.0]})
        theirs = asked({"mode": "eager", "cpu_work": True, "ms": [3.0]})
        late = asked({"mode": "eager", "cpu_work": True, "ms": [3.0]}, trouble="time")
        data = {"graphline": {True: [], False: []}, "torch": []}
        variants = {"a": True, "b": False}
        self.assertEqual(pytorch.one_round([ours, late], variants, data, 0), "time")
        self.assertEqual(data["torch"] + data["graphline"][True], [])
        self.assertIsNone(pytorch.one_round([ours, theirs], variants, data, 0))
        self.assertEqual(data["graphline"], {True: [[1.0]], False: [[2.0]]})
        self.assertEqual(len(data["torch"]), 1)

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
        context = types.SimpleNamespace(places=places,
                                        has_parameter=lambda name, kind: True)
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
            self.assertLessEqual(step.most(), 540, name)
            alone = types.SimpleNamespace(seconds=None, only=[name])
            self.assertEqual(check.limit(alone), step.most())
        everything = types.SimpleNamespace(seconds=None, only=None)
        self.assertGreaterEqual(check.limit(everything),
                                sum(step.seconds for step in check.STEPS.values()))
        self.assertEqual(list(check.STEPS)[0], "by hand")
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

    def test_tuning_and_compiling_are_kept_where_the_files_of_a_check_are(self):
        caches = program().caches
        kept = caches(types.SimpleNamespace(keep="k"), "k")
        self.assertEqual(kept["TORCHINDUCTOR_CACHE_DIR"], str(pathlib.Path("k/cache/inductor")
                                                              .absolute()))
        self.assertNotIn("TORCHINDUCTOR_CACHE_DIR",
                         caches(types.SimpleNamespace(keep=None), "/tmp/x"))

    def test_what_is_judged_is_tuned_before_its_time_begins(self):
        def run(pipeline, *words):
            ran.append(pipeline.name)
            if pipeline.name == "slow.yaml":
                raise OutOfTime("not done after 60 s")

        ran, outcome, budget = [], Outcome(), Budget(600)
        context = types.SimpleNamespace(
            outcome=outcome, precisions=lambda: ["float32"], run=run,
            places=types.SimpleNamespace(pipelines=self.folder),
            runner=types.SimpleNamespace(budget=budget))
        two_models.warm_up(context, [("slow", "float32"), ("quick", "float32"), ("quick", "tf32")])
        self.assertEqual(ran, ["slow.yaml", "quick.yaml"])
        self.assertEqual([row["status"] for row in outcome.rows], ["not run", "shown"])
        self.assertLessEqual(budget.left(), two_models.WARM_UP_SECONDS)

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

    def gemv(self, copied_ms):
        """The row of fused gemv, 0.6 ms, and the pipeline that it was compared with."""
        written = []

        def stage_of(words):
            own = pathlib.Path(words[2]).name != "gemv.yaml"
            if own:
                written.append(pathlib.Path(words[2]).read_text())
            moved = 400_000 if own else 800_000 - 16
            return {"kind": "traffic" if own else "gemv", "ratio": 1.0, "bytes_read": moved,
                    "bytes_written": 400_000 if own else 16,
                    "measured": copied_ms if own else 0.6}

        def run(words, most):
            result = {"stages": [stage_of([str(word) for word in words])], "findings": []}
            file = words[words.index("--json") + 1]
            file.write_text(json.dumps(result))
            return Done(words, 0, "", "", 1.0)

        names = (self.folder / f"{copied_ms}-{number}" for number in range(100))
        context = types.SimpleNamespace(
            outcome=Outcome(), runner=types.SimpleNamespace(run=run), graphline="graphline",
            device="cuda", name=lambda ending: next(names),
            places=types.SimpleNamespace(pipelines=SOURCE / "pipelines"))
        roofline.check_gemv(context)
        rows = {row["check"]: row for row in context.outcome.rows}
        return rows["gemv, fused, below a copy"], written

    def test_gemv_is_judged_against_a_copy_of_as_many_bytes_between_the_same_stamps(self):
        row, written = self.gemv(copied_ms=0.55)
        self.assertEqual((row["figure"], row["status"]), ("8.3 %", "PASS"))
        self.assertEqual(self.gemv(copied_ms=0.5)[0]["status"], "FAIL")
        self.assertEqual(len(written), 1)
        self.assertIn("shape: [100000]", written[0])  # 400 kB read, 400 kB written


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

    def test_the_memory_checker_does_not_count_what_libraries_provoke(self):
        seen = []

        def run(words, most):
            seen.append(list(map(str, words)))
            return Done(words, 0, "========= ERROR SUMMARY: 0 errors", "", 1.0)

        tool = self.folder / "compute-sanitizer"
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o755)
        context = types.SimpleNamespace(
            outcome=Outcome(), on_gpu=True, graphline="graphline", device="cuda",
            places=types.SimpleNamespace(pipelines=SOURCE / "pipelines"),
            variant=lambda path, tune: path,
            runner=types.SimpleNamespace(run=run, environment={"PATH": str(self.folder)}))
        memory.check_memory(context)
        self.assertEqual([row["status"] for row in context.outcome.rows], ["PASS", "PASS"])
        for words in seen:
            self.assertEqual(words[:5], [str(tool), "--tool", "memcheck", "--report-api-errors",
                                         "no"])

    def test_a_precision_that_the_device_lacks_is_not_compared_with_torch(self):
        context = types.SimpleNamespace(
            outcome=Outcome(), device="host", precisions=lambda: ["float32"],
            places=types.SimpleNamespace(scripts=self.folder))
        pytorch.check_torch(context, two_models.PRECISIONS[1])
        self.assertEqual(context.outcome.rows[0]["note"], "host has no float16")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
