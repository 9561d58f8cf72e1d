"""tools/gpu_check, tried on `host`: what it prints, how it ends.

usage: gpu_check_test.py BUILD_DIR SOURCE_DIR [CLASS ...]
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])

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
for word in words:
    if word.endswith(".yaml"):
        text = pathlib.Path(word).read_text()
        plain = re.sub(r"^ +(precision|tune): .*\\n", "", text, flags=re.MULTILINE)
        plain = re.sub(r" precision: [a-z0-9]+,", "", plain)
        if plain != text:
            pathlib.Path(word).write_text(plain)
os.execv({program!r}, [{program!r}, *words])
"""

def gpu_check(*words, build=BUILD):
    command = [sys.executable, str(SOURCE / "tools" / "gpu_check"), "--build", str(build)]
    return subprocess.run([*command, *map(str, words)], capture_output=True, text=True, timeout=240)


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


class running(Case):
    def test_every_step_is_tried_on_host(self):
        path = self.folder / "r.json"
        done = gpu_check("--device", "host", "--quick", "--json", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads(path.read_text())
        steps = {row["step"] for row in result["rows"]}
        self.assertEqual(steps, {"environment", "conformance", "launch", "allocations",
                                 "pipelines", "same bits", "overhead", "torch float32",
                                 "torch float16", "torch tf32", "attribution", "experiments",
                                 "roofline", "memory"})
        self.assertNotIn("FAIL", {row["status"] for row in result["rows"]})
        self.assertGreater(len(result["overhead"]["six_small"]["record"]["trials"]), 10)
        for row in result["rows"]:
            self.assertIn(row["check"], done.stdout)
            if row["status"] == "not run":
                self.assertTrue(row["note"], row)

    def spoiled(self, value):
        self.script("graphline", SPOILING, value=value, graphline=f"{BUILD}/bin/graphline")
        return gpu_check("--device", "host", "--quick", "--only", "pipelines", "--json",
                         self.folder / "r.json", build=self.folder)

    def test_a_wrong_number_fails_and_so_does_a_nan(self):
        for value in ("3.5", "nan"):
            done = self.spoiled(value)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"six_small, float32 .* FAIL\n")
        text = (self.folder / "r.json").read_text()
        self.assertNotIn("NaN", text)
        self.assertIn(None, json.loads(text)["pipelines"]["six_small"]["float32"].values())

    def test_a_file_that_cannot_be_written_costs_no_result(self):
        words = ["--device", "host", "--quick", "--only", "launch", "--json"]
        done = gpu_check(*words, "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"launching a stage, event ")
        self.assertIn("No space left", done.stderr)
        done = gpu_check(*words, self.folder / "none" / "r.json")
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_what_there_is_no_time_for_is_told(self):
        done = gpu_check("--device", "host", "--seconds", "2", "--only", "overhead", "launch")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"two_models, overhead +not run")
        self.assertRegex(done.stdout, r"\nlaunch +not run\n    time\n")

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
                 "host", "--only", "launch", "experiments", "--json", str(path)],
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

    def rows(self, *steps):
        path = self.folder / "r.json"
        done = gpu_check("--quick", "--only", *steps, "--json", path, build=self.folder)
        self.assertNotIn("Traceback", done.stderr)
        return done, {(row["step"], row["check"]): row
                      for row in json.loads(path.read_text())["rows"]}

    def test_every_precision_has_its_own_tolerance(self):
        _, rows = self.rows("conformance", "pipelines", "same bits")
        bounds = {"float32": "<= 1.0e-05", "tf32": "<= 2.0e-03", "float16": "<= 1.0e-02",
                  "bfloat16": "<= 4.0e-02"}
        for precision, bound in bounds.items():
            for key in (("pipelines", f"camera, {precision}"),
                        ("pipelines", f"six_small, {precision}")):
                self.assertEqual(rows[key]["status"], "PASS", rows[key])
                self.assertEqual(rows[key]["bound"], bound)
        self.assertEqual(rows["conformance", "conformance suite"]["status"], "PASS")
        self.assertEqual(rows["same bits", "camera"]["status"], "PASS")

    def test_costs_are_judged_and_not_only_shown(self):
        _, rows = self.rows("launch", "overhead")
        judged = ("PASS", "FAIL", "inconclusive")
        self.assertIn(rows["launch", "launching a stage, event"]["status"], judged)
        self.assertIn(rows["overhead", "six_small, event"]["status"], judged)
        self.assertRegex(rows["overhead", "six_small, event"]["bound"], r"< \+5\.00 us")
        self.assertEqual(rows["overhead", "six_small, sync"]["status"], "shown")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
