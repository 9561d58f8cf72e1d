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
import unittest

BUILD, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools"))

from checking import conformance, statistics, tensors  # noqa: E402
from checking.outcome import Outcome  # noqa: E402

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

    def test_tests_are_read_off_the_list_with_their_suites(self):
        text = "Running main() from x.cc\nfirst.\n  a\n  b\nsecond/type.  # TypeParam = int\n  c/0\n"
        self.assertEqual(conformance.listed_tests(text), ["first.a", "first.b", "second/type.c/0"])


class running(Case):
    def test_every_step_is_tried_on_host(self):
        path = self.folder / "r.json"
        done = gpu_check("--device", "host", "--quick", "--json", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads(path.read_text())
        steps = {row["step"] for row in result["rows"]}
        self.assertEqual(steps, {"environment", "conformance", "launch", "allocations", "layers",
                                 "pipelines", "same bits", "overhead", "by hand", "torch", "memory"})
        self.assertNotIn("FAIL", {row["status"] for row in result["rows"]})
        self.assertGreater(len(result["overhead"]["six_small"]["trials"]), 10)
        for row in result["rows"]:
            self.assertIn(row["check"], done.stdout)
            if row["status"] == "not run":
                self.assertTrue(row["note"], row)

    def spoiled(self, value):
        program = self.folder / "bin" / "graphline"
        program.parent.mkdir(exist_ok=True)
        program.write_text(SPOILING.format(python=sys.executable, value=value,
                                           graphline=f"{BUILD}/bin/graphline"))
        program.chmod(0o755)
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
