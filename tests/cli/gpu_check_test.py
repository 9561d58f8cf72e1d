"""tools/gpu_check on `host`, and with programs that pretend to have a GPU: output and exit status.

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

BUILD, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()

# Pretends to have a GPU with all precisions, and computes on `host` in float32.
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

# Lists and runs tests like GoogleTest; those of the host would fail.
TESTS = """#!{python}
import os, pathlib, sys

name = sys.argv[1].removeprefix("--gtest_filter=")
if name == "--gtest_list_tests":
    print("host/outputs.\\n  are_right/camera\\nrelative_error.\\n  is_relative\\ncuda/outputs.\\n"
          "  are_right/camera  # GetParam() = camera\\n  are_right/vgg16_tf32")
elif name in ("relative_error.is_relative", "cuda/outputs.are_right/camera"):
    assert pathlib.Path(os.environ["GRAPHLINE_PIPELINES"], "vgg16.yaml").exists()
    print("[       OK ]")
else:
    print("3.5 where 2e-3 is the most, seed", os.environ["GRAPHLINE_SEED"])
    sys.exit(1)
"""

LISTING = """#!/bin/sh
[ "$1" != devices ] || printf 'cuda     Pretended, 1 GiB\\nhost     Pretended, 1 GiB\\n'
echo "ran: $*"
"""

# One probe crashes after its first fact, one hangs after it, one fails.
PROBE = """#!/bin/sh
echo '{"fact": "'$1'", "value": 1024, "unit": "ns"}'
case $1 in
  libraries) echo '{"fact": "NVRTC is missing", "text": "'$(seq 400)' Install it"}' ;;
  drift) kill -SEGV $$ ;;
  record_nodes) sleep 60 ;;
  negative_times) echo 'gpu_probe: no stream' >&2; exit 1 ;;
esac
"""


def gpu_check(*words, build=BUILD, **more):
    command = [sys.executable, str(SOURCE / "tools" / "gpu_check"), "--build", str(build)]
    return subprocess.run([*command, *map(str, words)], capture_output=True, text=True,
                          timeout=240, **more)


def add_program(folder, name, text):
    """Adds a program to a made-up build."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpu_check_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class running(Case):
    def test_every_step_is_tried_on_host(self):
        path = self.folder / "r.json"
        done = gpu_check("--device", "host", "--quick", "--json", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads(path.read_text())
        steps = {row["step"] for row in result["rows"]}
        self.assertEqual(steps, {"environment", "conformance", "launch", "pipelines", "overhead",
                                 "torch float32", "torch float16", "torch tf32", "experiments",
                                 "roofline", "memory"})
        self.assertNotIn("FAIL", {row["status"] for row in result["rows"]})
        self.assertGreater(len(result["six_small, overhead"]["record"]["trials"]), 10)
        self.assertEqual(len(result["pipelines_test"]), 12)
        passed = {row["check"] for row in result["rows"] if row["status"] == "PASS"}
        self.assertLessEqual({"relu alone", "host_conformance_test", "pipelines_test",
                              "graph_granularity, outputs"}, passed)
        for row in result["rows"]:
            self.assertIn(row["check"], done.stdout)
            if row["status"] == "not run":
                self.assertTrue(row["note"], row)

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
        self.assertRegex(done.stdout, r"\nlaunch cost +not run\n    time\n")

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
            add_program(self.folder, name, PRETENDING.format(python=sys.executable,
                                                             program=f"{BUILD}/{program}"))
        add_program(self.folder, "pipelines_test", TESTS.format(python=sys.executable))

    def rows(self, *steps):
        path = self.folder / "r.json"
        done = gpu_check("--quick", "--seed", "7", "--only", *steps, "--json", path,
                         build=self.folder)
        self.assertNotIn("Traceback", done.stderr)
        return done, {(row["step"], row["check"]): row
                      for row in json.loads(path.read_text())["rows"]}

    def test_tests_of_the_gpu_are_run_and_those_of_the_host_are_not(self):
        _, rows = self.rows("conformance", "pipelines")
        self.assertEqual(rows["environment", "relu alone"]["status"], "PASS")
        self.assertEqual(rows["conformance", "cuda_gpu_conformance_test"]["status"], "PASS")
        self.assertEqual(rows["conformance", "cuda_libraries_test"]["status"], "not run")
        row = rows["pipelines", "pipelines_test"]
        self.assertEqual((row["figure"], row["status"]), ("2 of 3 passed", "FAIL"))
        self.assertEqual(rows["pipelines", "cuda/outputs.are_right/vgg16_tf32"]["note"],
                         "3.5 where 2e-3 is the most, seed 7")

    def test_costs_are_judged_and_not_only_shown(self):
        _, rows = self.rows("launch", "overhead")
        judged = ("PASS", "FAIL", "inconclusive")
        self.assertIn(rows["launch", "launching a stage, event"]["status"], judged)
        self.assertIn(rows["overhead", "six_small, event"]["status"], judged)
        self.assertRegex(rows["overhead", "six_small, event"]["bound"], r"< \+5\.00 us")
        self.assertEqual(rows["overhead", "six_small, sync"]["status"], "shown")


class ladder(unittest.TestCase):
    """The ladder, with programs that pretend to have a GPU; some of them crash or hang."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gpu_check_test_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        add_program(cls.folder, "graphline", LISTING)
        add_program(cls.folder, "gpu_probe", PROBE)
        cls.done = cls.climb("--json", "r.json", device="cuda")
        cls.result = json.loads((cls.folder / "r.json").read_text())
        cls.rows = {row["check"]: row for row in cls.result["rows"]}

    @classmethod
    def climb(cls, *words, device):
        return gpu_check("--only", "ladder", "--device", device, *words, build=cls.folder,
                         cwd=cls.folder)

    def test_a_rung_that_crashes_fails_and_one_that_hangs_is_not_run(self):
        self.assertEqual(self.done.returncode, 1, self.done.stderr)
        statuses = {name: row["status"] for name, row in self.rows.items()}
        bad = {"probe drift": "FAIL", "probe record_nodes": "not run",
               "probe negative_times": "FAIL"}
        needs_tools = {"nvidia-smi", "memcheck", "racecheck"}
        self.assertEqual({name: status for name, status in statuses.items()
                          if status != "PASS" and name not in needs_tools}, bad)
        self.assertIn("ended by SIGSEGV", self.rows["probe drift"]["note"])
        self.assertIn("not done after 7 s", self.rows["probe record_nodes"]["note"])
        self.assertIn("no stream", self.rows["probe negative_times"]["note"])

    def test_what_a_rung_had_found_stays_however_it_ended(self):
        for name in ("ticks", "drift", "record_nodes", "negative_times"):
            self.assertEqual(self.result[f"probe {name}"],
                             [{"fact": name, "value": 1024, "unit": "ns"}])
            self.assertIn(f"{name}: 1024 ns", self.rows[f"probe {name}"]["note"])
        kept = next((self.folder / "gpu_check_ladder").glob("*-ladder"))
        logs = {path.name.partition("-")[2]: path.read_text() for path in kept.glob("*.log")}
        self.assertIn("1024", logs["probe_record_nodes.log"])
        rows = self.folder / "gpu_check_ladder" / "rows.jsonl"
        lines = [json.loads(line) for line in rows.read_text().splitlines()]
        self.assertEqual(lines, self.result["rows"])

    def test_what_to_install_is_shown_however_long_the_places_are(self):
        self.assertIn("Install it", self.rows["probe libraries"]["note"])
        self.assertIn("Pretended", self.rows["devices"]["note"])

    def test_rungs_add_one_thing_at_a_time(self):
        order = [row["check"] for row in self.result["rows"]]
        self.assertEqual(order[:4], ["devices", "nvidia-smi", "probe libraries", "probe ticks"])
        self.assertEqual(order[-8:], ["relu alone", "timing event", "graphs stage", "timing layers",
                                      "graphs frame", "two_models", "memcheck", "racecheck"])
        kept = next((self.folder / "gpu_check_ladder").glob("*-ladder"))
        first = next(kept.glob("*-relu_alone.log")).read_text()
        self.assertIn("--graphs off --timing none", first)

    def test_on_host_it_tries_what_takes_no_gpu(self):
        done = self.climb("--keep", "host", device="host")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"graphs frame +PASS")
        self.assertRegex(done.stdout, r"probe ticks +not run\n +it is for a GPU")

    def test_a_folder_that_cannot_be_made_is_status_2(self):
        (self.folder / "file").write_text("")
        done = self.climb("--keep", "file/x", device="host")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--keep", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
