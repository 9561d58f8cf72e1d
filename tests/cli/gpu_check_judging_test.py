"""The judgments of tools/gpu_check, on made-up results.

usage: gpu_check_judging_test.py SOURCE_DIR
"""

import importlib.machinery
import json
import math
import os
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock

SOURCE = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools"))

from checking import goals, ladder, pytorch, tests  # noqa: E402
from checking.context import Context, Places  # noqa: E402
from checking.outcome import Outcome, median_interval  # noqa: E402
from checking.processes import Done, Runner  # noqa: E402


def program():
    """tools/gpu_check as a module."""
    loader = importlib.machinery.SourceFileLoader("program", str(SOURCE / "tools/gpu_check"))
    module = types.ModuleType("program")
    module.__file__ = loader.path
    loader.exec_module(module)
    return module


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpu_check_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class judging(Case):
    def test_what_is_no_number_never_passes(self):
        for value in (math.nan, math.inf, None, 2.1):
            outcome = Outcome()
            outcome.judge("x", value, 2.0, "{:.1f}")
            self.assertEqual(outcome.rows[-1]["status"], "FAIL", value)
        outcome = Outcome()
        outcome.judge("x", 2.0, 2.0, "{:.1f}")
        self.assertEqual(outcome.rows[-1]["status"], "PASS")

    def test_an_interval_that_holds_the_bound_decides_nothing(self):
        outcome = Outcome()
        outcome.step = "step"
        outcome.judge_interval("below", 0.4, (0.2, 0.9), 1.0, "{:.1f} %")
        outcome.judge_interval("open", 0.4, (0.2, 1.2), 1.0, "{:.1f} %")
        outcome.judge_interval("above", 1.4, (1.2, 1.9), 1.0, "{:.1f} %")
        outcome.judge_interval("unknown", 0.4, None, 1.0, "{:.1f} %")
        rows = outcome.rows
        self.assertEqual([row["status"] for row in rows],
                         ["PASS", "inconclusive", "FAIL", "inconclusive"])
        self.assertEqual(rows[0]["figure"], "0.4 % (0.2 % to 0.9 %)")
        self.assertEqual([row["note"] for row in rows],
                         ["", "the interval contains the bound", "",
                          "too few trials for an interval"])
        self.assertTrue(outcome.table().endswith("\n1 PASS, 1 FAIL, 2 inconclusive"))

    def test_a_median_has_an_interval_from_six_values_on(self):
        self.assertIsNone(median_interval([1, 2, 3, 4, 5]))
        self.assertEqual(median_interval([6, 5, 4, 3, 2, 1]), (1, 6))
        self.assertEqual(median_interval(range(1, 13)), (3, 10))  # binomial tables

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
            "float32, torch eager": ("0.790 x", "shown"),
            "float32, torch's fastest, graphs": ("1.012 x (0.988 x to 1.038 x)", "inconclusive")})

    def test_a_test_that_fails_is_named_with_what_it_said(self):
        outcome = Outcome()
        done = {"s.a": Done(0, "[  PASSED  ]"), "s.c": Done(None, "", "time"),
                "s.b": Done(1, "[ RUN ] s.b\nx.cpp:3: Failure\n3 is not 4\n"),
                "s.d": Done(-11, ""), "s.e": Done(0, "[  SKIPPED ]")}
        tests.report(outcome, "suite", done, ["s.a"])
        notes = {row["check"]: (row["status"], row["note"]) for row in outcome.rows}
        self.assertEqual(notes, {
            "suite": ("FAIL", "skipped: s.e\npassed only alone: s.a\nno time for: s.c"),
            "s.b": ("FAIL", "x.cpp:3: Failure\n3 is not 4"), "s.d": ("FAIL", "ended by SIGSEGV")})
        self.assertEqual(outcome.rows[0]["figure"], "1 of 5 passed")

    def test_a_test_that_failed_has_failed_without_the_time_for_another_try(self):
        tries = iter([[Done(1, "3 is not 4")], [Done(None, "", "time")]])
        runner = types.SimpleNamespace(
            run=lambda words: Done(0, "s.\n  a\n"),
            all=lambda function, tests, at_once: next(tries) if tests else [])
        context = types.SimpleNamespace(
            outcome=Outcome(), runner=runner, device="cuda",
            places=types.SimpleNamespace(program=pathlib.Path))
        tests.check_program(context, "a_test", 60)
        self.assertEqual([(row["check"], row["status"]) for row in context.outcome.rows],
                         [("a_test", "FAIL"), ("s.a", "FAIL")])

    def test_a_program_without_time_to_list_its_tests_has_not_failed(self):
        runner = types.SimpleNamespace(run=lambda words: Done(None, "", "time"))
        context = types.SimpleNamespace(
            outcome=Outcome(), runner=runner, device="cuda",
            places=types.SimpleNamespace(program=pathlib.Path))
        tests.check_program(context, "a_test", 60)
        self.assertEqual(context.outcome.rows[0]["status"], "not run")

    def test_a_gpu_is_counted_among_those_that_are_visible(self):
        check = program()
        for visible, wanted, shown in ((None, "cuda:2", "2"), ("3", "cuda:0", "3"),
                                       ("3,5", "cuda:1", "5"), ("3,5", "cuda:2", "")):
            given = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
            options = types.SimpleNamespace(device=wanted, seed=1, keep=self.folder)
            with unittest.mock.patch.dict(os.environ, given, clear=True):
                found = check.environment(options, Places(SOURCE / "tools"), self.folder)
            self.assertEqual((found["CUDA_VISIBLE_DEVICES"], options.device), (shown, "cuda"))
            self.assertEqual(found["PATH"].split(os.pathsep)[0], os.path.dirname(sys.executable))

    def test_a_pipeline_takes_lines_in_each_of_its_networks_and_keeps_its_paths(self):
        (self.folder / "models").mkdir()
        places = types.SimpleNamespace(pipelines=SOURCE / "pipelines",
                                       models=self.folder / "models")
        names = iter(["a", "b"])
        context = types.SimpleNamespace(places=places,
                                        name=lambda ending: self.folder / next(names))
        path = Context.pipeline_with(context, "two_models", "precision: tf32", "tune: off")
        self.assertEqual(path.read_text().count(
            "    kind: network\n    precision: tf32\n    tune: off\n"), 2)
        path = Context.pipeline_with(context, "ocr", "tune: off")
        self.assertEqual(path.read_text().count("    kind: onnx\n    tune: off\n"), 3)
        self.assertEqual((path.parent / ".." / "build" / "models").resolve(),
                         self.folder / "models")

    def test_tests_are_read_off_the_list_without_those_of_another_device(self):
        text = ("Running main() from x.cc\nfirst.\n  a\n  b\nsecond/0.  # TypeParam = int\n  c\n"
                "host/x.\n  d/y  # GetParam() = y\ncuda/x.\n  d/y  # GetParam() = y\n")
        self.assertEqual(tests.listed_tests(text, "cuda"),
                         ["first.a", "first.b", "second/0.c", "cuda/x.d/y"])
        self.assertEqual(tests.listed_tests(text, "host")[-1], "host/x.d/y")


class within_its_time(Case):
    """The limits of steps and of calls."""

    def options(self, **given):
        return types.SimpleNamespace(**{"first": False, "second": False, "only": None,
                                        "seconds": None, "keep": self.folder, **given})

    def test_calls_take_as_long_as_the_device_may_be_used(self):
        check = program()
        for given, most in (({"first": True}, 560), ({"second": True}, 220)):
            steps, seconds = check.chosen_steps(self.options(**given), Outcome())
            self.assertLessEqual(seconds, most)
            self.assertEqual(steps[0][0], "environment")
        for name in check.STEPS:
            _, seconds = check.chosen_steps(self.options(only=[name]), Outcome())
            self.assertLessEqual(seconds, 600, name)
        steps, seconds = check.chosen_steps(self.options(), Outcome())
        self.assertEqual([step[0] for step in steps],
                         [name for name in check.STEPS if name != "attribution"])
        self.assertEqual(seconds, sum(step[2] for step in steps))

    def test_after_a_crash_the_second_call_is_for_the_memory_checker(self):
        before = Outcome(self.folder)
        before.step = "runs"
        for name, status in (("gemv", "FAIL"), ("camera", "FAIL"), ("ocr", "not run"),
                             ("gemv", "PASS"), ("camera, float16", "FAIL"), ("runs", "FAIL")):
            before.add(name, status)
        with open(self.folder / "rows.jsonl", "a", encoding="utf-8") as file:
            file.write('{"step": "runs", "che')  # cut off by a kill
        self.assertIsNone(Outcome().failed_runs())
        after = Outcome(self.folder)
        self.assertEqual(after.failed_runs(), ["camera"])
        steps, _ = program().chosen_steps(self.options(second=True), after)
        self.assertEqual([step[0] for step in steps], ["environment", "memory"])
        words = []
        context = types.SimpleNamespace(
            outcome=after, on_gpu=True, graphline="graphline", device="cuda",
            pipeline_with=lambda name, line: SOURCE / "pipelines" / f"{name}.yaml",
            places=Places(SOURCE / "tools"), runner=types.SimpleNamespace(
                run=lambda given, most, logged: words.append(given) or Done(0, "")))
        with unittest.mock.patch("shutil.which", lambda *_, **__: "compute-sanitizer"):
            ladder.check_memory(context)
        self.assertEqual([row["check"] for row in after.rows],
                         ["memcheck, camera", "racecheck, camera"])
        self.assertIn(SOURCE / "pipelines" / "camera.yaml", words[0])

    def test_parameters_have_their_values_for_host_under_the_memory_checker(self):
        text = "params:\n  batch: {cuda: 32, host: 1}\n  side: 64\n  k: {cuda: a, host: b}\n"
        self.assertEqual(ladder.small(text), ["--set", "batch=1", "--set", "k=b"])

    def test_where_the_environment_takes_too_long_the_other_steps_still_run(self):
        def slow(context):
            context.outcome.add_unless_done("devices", context.runner.run(
                [sys.executable, "-c", "import time; time.sleep(60)"]))

        def quick(context):
            context.outcome.add_unless_done("x", context.runner.run([sys.executable, "-c", ""]))
            context.outcome.add("x", "PASS")

        outcome = Outcome()
        context = types.SimpleNamespace(outcome=outcome, runner=Runner(60, dict(os.environ)))
        program().run_steps(context, [("environment", slow, 2), ("runs", quick, 30)])
        self.assertEqual([(row["step"], row["status"]) for row in outcome.rows],
                         [("environment", "not run"), ("runs", "PASS")])

    def test_nothing_but_a_listed_device_is_not_good(self):
        outcome = Outcome()
        outcome.not_run("x", "time")
        self.assertFalse(outcome.good())
        outcome.step = "environment"
        outcome.add("devices", "PASS")
        self.assertFalse(outcome.good())
        outcome.step = "runs"
        outcome.add("y", "PASS")
        self.assertTrue(outcome.good())
        outcome.add("z", "FAIL")
        self.assertFalse(outcome.good())

    def test_a_program_that_is_not_done_in_its_time_has_not_failed(self):
        log = self.folder / "log"
        runner = Runner(60, dict(os.environ), log)
        words = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"]
        late = runner.run(words, most=2, logged=True)
        self.assertEqual((late.status, late.out), (None, "begun\n"))
        self.assertEqual((late.failed(), late.reason()), (False, "not done after 2 s"))
        runner.begin_step(0)
        self.assertEqual(runner.run(words), (None, "", "time"))
        runner.begin_step(60)
        done = runner.run([sys.executable, "-c", "print('x')"], logged=True)
        self.assertEqual((done.status, done.out), (0, "x\n"))
        self.assertRegex(log.read_text(), r"\n\$ .*\nbegun\n\n\$ .*\nx\n$")
        outcome = Outcome()
        self.assertEqual([outcome.add_unless_done("x", one) for one in (late, done, Done(1, "y"))],
                         [False, True, False])
        self.assertEqual([row["status"] for row in outcome.rows], ["not run", "FAIL"])


class against_ceilings(Case):
    def test_a_convolution_is_judged_by_the_measured_product(self):
        def ceiling(what, precision, value):
            return {"what": what, "precision": precision, "value": value, "how": ""}

        calibration = {
            "theoretical_peaks": [{"name": "float32 cores", "value": 100.0, "formula": ""},
                                  {"name": "float16 tensor cores", "value": 1000.0, "formula": ""}],
            "ceilings": [ceiling("convolution", "float32", 60.0),
                         ceiling("matmul", "float32", 80.0),
                         ceiling("convolution", "float16", 610.0),
                         ceiling("matmul", "float16", 750.0),
                         ceiling("convolution", "tf32", 10.0)]}
        outcome = Outcome()
        goals.compare_with_peaks(outcome, calibration)
        rows = {row["check"]: (row["figure"], row["status"]) for row in outcome.rows}
        self.assertEqual(rows["convolution, float32, below the product"], ("25.0 %", "FAIL"))
        self.assertEqual(rows["convolution, float16, below the product"], ("18.7 %", "PASS"))
        self.assertEqual(rows["matmul, float16, of its peak"], ("75.0 %", "shown"))
        self.assertNotIn("convolution, tf32, below the product", rows)


class environment(Case):
    def test_a_library_that_is_missing_fails_with_its_remedy_and_nvrtc_is_only_told(self):
        facts = ({"fact": "cuDNN", "text": "91900, /x/libcudnn.so.9"},
                 {"fact": "NVRTC is missing", "text": "Install it"},
                 {"fact": "cuBLASLt is missing", "text": "Install it, with 'pip install x'"})
        for count, status in ((2, "PASS"), (3, "FAIL")):
            lines = "\n".join(map(json.dumps, facts[:count])) + '\n{"fact": "cut'
            context = types.SimpleNamespace(outcome=Outcome(), runner=types.SimpleNamespace(
                run=lambda words, most, logged: Done(0, lines)))
            ladder.rung(context, "probe libraries", [], 20)
            self.assertEqual(context.outcome.rows[0]["status"], status)
            self.assertIn("NVRTC is missing: Install it", context.outcome.rows[0]["note"])
        self.assertIn("pip install x", context.outcome.rows[0]["note"])

    def test_a_machine_without_the_device_says_so(self):
        listed = "cuda     none: no driver\nhost     a processor, 4 GiB\n"
        self.assertFalse(ladder.has_device(listed, "cuda"))
        self.assertTrue(ladder.has_device(listed, "host"))
        self.assertTrue(ladder.has_device("cuda:0   a GPU, 80 GiB\n", "cuda"))
        self.assertFalse(ladder.has_device("host     with cuda, 80 GiB\n", "cuda"))
        listed = "cuda     none: no driver\n         at all\nhost x\n"
        self.assertEqual(ladder.why_none(listed, "cuda"), "no device 'cuda': no driver at all")

    def test_libraries_are_read_before_they_are_used_without_a_limit(self):
        for name in ("libcudnn.so.9", "libcublasLt.so.13.1", "libother.so", "libcudnn.a"):
            (self.folder / name).write_bytes(b"x" * 1000)
        (self.folder / "libnvrtc.so").symlink_to(self.folder / "none")
        context = types.SimpleNamespace(outcome=Outcome(), runner=Runner(60, {}))
        with unittest.mock.patch.dict(os.environ, {"GRAPHLINE_LIBRARY_PATH": str(self.folder)}), \
             unittest.mock.patch.object(ladder, "SYSTEM", ()), \
             unittest.mock.patch.object(sys, "path", []):
            ladder.read_libraries(context)
        self.assertEqual(context.outcome.rows[0]["note"], "3 files, 0.002 MB")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
