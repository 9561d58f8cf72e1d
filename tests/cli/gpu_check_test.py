"""tools/gpu_check, tried on `host`: what it judges, what it prints, how it ends.

usage: gpu_check_test.py BUILD_DIR SOURCE_DIR [CLASS ...]
"""

import json
import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest

BUILD, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools"))

from checking import conformance, numbers, pytorch, statistics, tensors  # noqa: E402
from checking.outcome import Outcome  # noqa: E402
from checking.processes import Done, OutOfTime  # noqa: E402

# Runs the true program, then spoils the outputs it saved as the device's, not those of the
# reference, which is computed in serial.
SPOILING = """#!{python}
import pathlib, struct, subprocess, sys
words = sys.argv[1:]
status = subprocess.run([{graphline!r}, *words]).returncode
if "--save-tensors" in words and "serial" not in words:
    for path in pathlib.Path(words[words.index("--save-tensors") + 1]).glob("output.*.npy"):
        raw = path.read_bytes()
        path.write_bytes(raw[:-4] + struct.pack("<f", float({value!r})))
sys.exit(status)
"""

# Says that it has a GPU and all precisions, and computes on `host` in float32.
PRETENDING = """#!{python}
import os, pathlib, re, sys
words = ["host" if word == "cuda" else word for word in sys.argv[1:]]
if words[:2] == ["stages", "network"]:
    print("  precision  float32 | tf32 | float16 | bfloat16\\n  tune       on | off")
    sys.exit(0)
for word in words:
    if word.endswith(".yaml"):
        text = pathlib.Path(word).read_text()
        plain = re.sub(r"^ +(precision|tune): .*\\n", "", text, flags=re.MULTILINE)
        plain = re.sub(r" precision: [a-z0-9]+,", "", plain)
        if plain != text:
            pathlib.Path(word).write_text(plain)
os.execv({program!r}, [{program!r}, *words])
"""

# A baseline that Graphline is one percent slower than in float32, and by half in float16.
BY_HAND = """#!{python}
import json, sys
precision = sys.argv[sys.argv.index("--precision") + 1]
ours = {{"float32": 10.1, "float16": 15.0, "tf32": 10.1}}[precision]
print(json.dumps({{"by_hand_error": 1e-3 if precision == "tf32" else 0.5e-5,
                  "by_hand_choices": "", "by_hand": [[10.0, 10.0, 10.0]] * 8,
                  "graphline": [[ours, ours, ours]] * 8}}))
"""


def gpu_check(*words, build=BUILD):
    command = [sys.executable, str(SOURCE / "tools" / "gpu_check"), "--build", str(build)]
    return subprocess.run([*command, *map(str, words)], capture_output=True, text=True, timeout=240)


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

    def script(self, name, text, **values):
        """A program of a build in `folder`."""
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(python=sys.executable, **values))
        path.chmod(0o755)


class judging(Case):
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

    def test_an_interval_that_holds_the_bound_is_told(self):
        outcome = Outcome()
        outcome.begin("step")
        outcome.judge_interval("below", 0.4, (0.2, 0.9), 1.0, "{:.1f} %")
        outcome.judge_interval("open", 0.4, (0.2, 1.2), 1.0, "{:.1f} %")
        outcome.judge_interval("above", 1.4, (1.2, 1.9), 1.0, "{:.1f} %")
        outcome.judge_interval("unknown", 0.4, None, 1.0, "{:.1f} %")
        rows = outcome.rows
        self.assertEqual([row["status"] for row in rows], ["PASS", "PASS", "FAIL", "FAIL"])
        self.assertEqual(rows[0]["figure"], "0.4 % (0.2 % to 0.9 %)")
        self.assertEqual(["holds the bound" in row["note"] for row in rows],
                         [False, True, False, False])
        self.assertEqual(outcome.counts(), "2 PASS, 2 FAIL, 0 not run")

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
                "graphline": {True: [[8.0]], False: [[8.0]]},
                "torch": [{"mode": mode, "cpu_work": work, "ms": [ms]} for work in (True, False)
                          for mode, ms in (("eager", 10.0), ("graphs", 7.5), ("compiled", 1.0), ("spoiled", 1.0))]}
        pytorch.report_torch(context, "float32", data, None)
        found = {row["check"]: (row["figure"], row["status"]) for row in context.outcome.rows}
        self.assertEqual(found["float32, end to end, against torch eager"],
                         ("0.800 x", "PASS"))
        self.assertEqual(found["float32, end to end, against torch graphs"],
                         ("1.067 x", "FAIL"))
        self.assertEqual(found["float32, torch compiled"], ("0.5", "shown"))  # computes otherwise
        self.assertEqual(found["float32, torch x"], ("", "not run"))

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

    def test_tests_are_read_off_the_list_with_their_suites(self):
        text = "Running main() from x.cc\nfirst.\n  a\n  b\nsecond/0.  # TypeParam = int\n  c\n"
        self.assertEqual(conformance.listed_tests(text), ["first.a", "first.b", "second/0.c"])


class running(Case):
    def test_every_step_is_tried_on_host(self):
        path = self.folder / "r.json"
        done = gpu_check("--device", "host", "--quick", "--json", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads(path.read_text())
        steps = {row["step"] for row in result["rows"]}
        self.assertEqual(steps, {"environment", "conformance", "launch", "allocations", "layers",
                                 "pipelines", "same bits", "overhead", "by hand", "torch",
                                 "attribution", "experiments", "roofline", "memory"})
        self.assertNotIn("FAIL", {row["status"] for row in result["rows"]})
        self.assertGreater(len(result["overhead"]["six_small"]["trials"]), 10)
        for row in result["rows"]:
            self.assertIn(row["check"], done.stdout)
            if row["status"] == "not run":
                self.assertTrue(row["note"], row)

    def spoiled(self, value):
        self.script("graphline", SPOILING, value=value, graphline=f"{BUILD}/bin/graphline")
        return gpu_check("--device", "host", "--quick", "--only", "layers", build=self.folder)

    def test_a_wrong_number_fails_and_so_does_a_nan(self):
        for value in ("3.5", "nan"):
            done = self.spoiled(value)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"conv2d, float32 .* FAIL\n    off: odd_channels ")

    def test_what_there_is_no_time_for_is_told(self):
        done = gpu_check("--device", "host", "--seconds", "2", "--only", "overhead", "torch")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"two_models, overhead +not run")
        self.assertRegex(done.stdout, r"\ntorch +not run\n    time\n")

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "this machine has a GPU")
    def test_without_a_gpu_it_says_so_in_one_sentence(self):
        done = gpu_check()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_wrong_command_line_or_an_empty_build_is_status_2(self):
        self.assertEqual(gpu_check("--device", "cdua").returncode, 2)
        self.assertEqual(gpu_check("--only", "everything").returncode, 2)
        done = gpu_check(build=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("tools/quickstart", done.stderr)

    def test_ctrl_c_reports_what_was_done(self):
        path = self.folder / "r.json"
        with subprocess.Popen(
                [sys.executable, str(SOURCE / "tools" / "gpu_check"), "--build", BUILD, "--device",
                 "host", "--only", "launch", "overhead", "--json", str(path)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while not path.exists():  # written when the first step is done
                time.sleep(0.05)
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(out, r"launching a stage, event ")
        self.assertIn("interrupted", err)
        self.assertNotIn("Traceback", err)
        self.assertTrue(json.loads(path.read_text())["interrupted"])


class pretending(Case):
    """The steps as they are on a GPU, with programs that pretend to have one."""

    def setUp(self):
        super().setUp()
        for name, program in (("graphline", "bin/graphline"),
                              ("cuda_gpu_conformance_test", "tests/device/host_conformance_test"),
                              ("launch_cost_bench", "tests/bench/launch_cost_bench")):
            self.script(name, PRETENDING, program=f"{BUILD}/{program}")
        self.script("two_models_cuda", BY_HAND)

    def rows(self, *steps):
        path = self.folder / "r.json"
        done = gpu_check("--quick", "--only", *steps, "--json", path, build=self.folder)
        self.assertNotIn("Traceback", done.stderr)
        return done, {(row["step"], row["check"]): row
                      for row in json.loads(path.read_text())["rows"]}

    def test_every_precision_has_its_own_tolerance(self):
        _, rows = self.rows("conformance", "layers", "pipelines", "same bits")
        bounds = {"float32": "<= 1.0e-05", "tf32": "<= 2.0e-03", "float16": "<= 1.0e-02",
                  "bfloat16": "<= 4.0e-02"}
        for precision, bound in bounds.items():
            for key in (("layers", f"conv2d, {precision}"), ("pipelines", f"camera, {precision}"),
                        ("pipelines", f"six_small, {precision}")):
                self.assertEqual(rows[key]["status"], "PASS", rows[key])
                self.assertEqual(rows[key]["bound"], bound)
        self.assertEqual(rows["conformance", "conformance suite"]["status"], "PASS")
        self.assertEqual(rows["same bits", "camera"]["status"], "PASS")

    def test_costs_are_judged_and_not_only_shown(self):
        done, rows = self.rows("launch", "overhead", "by hand")
        self.assertIn(rows["launch", "launching a stage, event"]["status"], ("PASS", "FAIL"))
        self.assertIn(rows["overhead", "six_small, event"]["status"], ("PASS", "FAIL"))
        self.assertRegex(rows["overhead", "six_small, event"]["bound"], r"< \+5\.00 us")
        self.assertEqual(rows["overhead", "six_small, sync"]["status"], "shown")
        self.assertEqual(rows["by hand", "float32, end to end"]["status"], "PASS")
        self.assertEqual(rows["by hand", "float32, end to end"]["figure"],
                         "1.0100 x (1.0100 x to 1.0100 x)")
        self.assertEqual(rows["by hand", "float16, end to end"]["status"], "FAIL")
        self.assertEqual(rows["by hand", "float16, the networks alone"]["status"], "shown")
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
