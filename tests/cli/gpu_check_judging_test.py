"""What tools/gpu_check judges, and by what rules.

usage: gpu_check_judging_test.py SOURCE_DIR
"""

import importlib.machinery
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

from checking import conformance, numbers, pytorch, statistics, tensors  # noqa: E402
from checking.context import Context  # noqa: E402
from checking.outcome import Outcome  # noqa: E402
from checking.processes import Done, OutOfTime  # noqa: E402


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)}, ), }}\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}f", *values))


class judging(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpu_check_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_an_error_is_relative_to_the_reference_and_a_nan_stays_one(self):
        self.assertAlmostEqual(tensors.relative_error([3.0, 4.5], [3.0, 4.0]), 0.1)
        self.assertEqual(tensors.relative_error([0.0, 0.25], [0.0, 0.0]), 0.25)
        self.assertTrue(math.isnan(tensors.relative_error([math.nan, 1.0], [1.0, 1.0])))
        self.assertTrue(math.isnan(tensors.relative_error([1.0], [1.0, 1.0])))

    def test_a_missing_output_is_no_match(self):
        (self.folder / "a").mkdir()
        (self.folder / "b").mkdir()
        (self.folder / "b" / "output.y.npy").write_bytes(npy([1.0, 2.0]))
        self.assertTrue(math.isnan(
            tensors.compare(self.folder / "a", self.folder / "b")["y"]))
        (self.folder / "a" / "output.y.npy").write_bytes(npy([1.0, 2.0]))
        self.assertEqual(tensors.compare(self.folder / "a", self.folder / "b"), {"y": 0.0})

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
                         ["PASS", "undecided", "FAIL", "undecided"])
        self.assertEqual(rows[0]["figure"], "0.4 % (0.2 % to 0.9 %)")
        self.assertEqual([row["note"] for row in rows],
                         ["", "the interval holds the bound", "",
                          "too few trials for an interval"])
        self.assertEqual(outcome.counts(), "1 PASS, 1 FAIL, 2 undecided, 0 not run")

    def test_a_median_has_an_interval_from_six_values_on(self):
        self.assertIsNone(statistics.median_interval([1, 2, 3, 4, 5]))
        self.assertEqual(statistics.median_interval([6, 5, 4, 3, 2, 1]), (1, 6))
        self.assertEqual(statistics.median_interval(range(1, 13)), (3, 10))  # binomial tables
        self.assertEqual(statistics.block_ratios([[2, 4, 9], [1]], [[8], [2]]), [0.5, 0.5])

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
                         ("0.800 x", "undecided"))  # by three rounds
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
        loader = importlib.machinery.SourceFileLoader("program", str(SOURCE / "tools/gpu_check"))
        program = types.ModuleType("program")
        program.__file__ = loader.path
        loader.exec_module(program)
        for visible, wanted, shown in ((None, "cuda:2", "2"), ("3", "cuda:0", "3"),
                                       ("3,5", "cuda:1", "5"), ("3,5", "cuda:2", "")):
            given = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
            with unittest.mock.patch.dict(os.environ, given, clear=True):
                found = program.one_gpu(types.SimpleNamespace(device=wanted))
            self.assertEqual(found, {"CUDA_VISIBLE_DEVICES": shown})
        self.assertEqual(program.own_python()["PATH"].split(os.pathsep)[0],
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
