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
if sys.argv[1] == "devices":
    print("cuda     Pretended, 1 GiB")
    sys.exit()
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


def command(*words, build=BUILD):
    return [sys.executable, str(SOURCE / "tools" / "gpu_check"), "--build", str(build),
            *map(str, words)]


def kept(folder, name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


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

    def check(self, *words, build=BUILD, **more):
        """Runs the check in the test's folder; its results stay in `results`."""
        return subprocess.run(command("--keep", "results", *words, build=build), text=True,
                              capture_output=True, timeout=240, cwd=self.folder, **more)

    def rows(self):
        return kept(self.folder / "results", "rows.jsonl")


class running(Case):
    def test_every_step_is_tried_on_host(self):
        done = self.check("--device", "host", "--quick")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = self.rows()
        steps = list(dict.fromkeys(row["step"] for row in rows))
        self.assertEqual(steps, ["environment", "ladder", "runs", "conformance", "pipelines",
                                 "torch float32", "torch float16", "torch tf32", "launch",
                                 "overhead", "roofline", "memory"])
        self.assertNotIn("FAIL", {row["status"] for row in rows})
        results = {line["label"]: line["result"]
                   for line in kept(self.folder / "results", "results.jsonl")}
        self.assertGreater(len(results["six_small, overhead"]["record"]["trials"]), 10)
        self.assertEqual(results["two_models"]["schema"], "graphline.run/1")
        passed = {row["check"]: row["figure"] for row in rows if row["status"] == "PASS"}
        self.assertLessEqual({"relu alone", "graphs frame", "two_models", "host_conformance_test"},
                             set(passed))
        self.assertEqual(passed["pipelines_test"], "21 of 21 passed")
        log = (self.folder / "results" / "log.txt").read_text()
        self.assertIn("pipelines/two_models.yaml", log)
        for row in rows:
            self.assertIn(row["check"], done.stdout)
            if row["status"] == "not run":
                self.assertTrue(row["note"], row)

    def test_attribution_runs_only_the_tests_of_times(self):
        done = self.check("--only", "attribution", "--device", "host")
        self.assertRegex(done.stdout, r"pipelines_test +9 of 9 passed")

    def test_first_ends_with_the_numbers_against_host(self):
        done = self.check("--first", "--device", "host", "--quick")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(list(dict.fromkeys(row["step"] for row in self.rows())),
                         ["environment", "ladder", "runs", "conformance", "pipelines"])
        self.assertRegex(done.stdout, r"pipelines_test +21 of 21 passed")

    def test_a_full_disk_costs_no_row_of_the_table(self):
        (self.folder / "results").mkdir()
        (self.folder / "results" / "rows.jsonl").symlink_to("/dev/full")
        done = self.check("--device", "host", "--quick", "--only", "launch")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"launching a stage, event ")
        self.assertIn("rows.jsonl: No space left", done.stderr)

    def test_a_folder_that_cannot_be_made_is_status_2(self):
        (self.folder / "results").write_text("")
        done = self.check("--device", "host")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--keep", done.stderr)

    def test_checks_without_time_are_not_run_and_nothing_passed_is_status_1(self):
        done = self.check("--device", "host", "--seconds", "1", "--only", "overhead", "launch")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"two_models, overhead +not run")
        self.assertRegex(done.stdout, r"\nlaunch cost +not run\n    time\n")

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "this machine has a GPU")
    def test_without_a_gpu_it_says_so_in_one_sentence(self):
        done = self.check("--first")
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"^gpu_check: no device 'cuda': \w")

    def test_a_wrong_command_line_or_an_empty_build_is_status_2(self):
        self.assertEqual(self.check("--device", "cdua").returncode, 2)
        self.assertEqual(self.check("--only", "everything").returncode, 2)
        self.assertEqual(self.check("--first", "--second").returncode, 2)
        done = self.check(build=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("tools/quickstart", done.stderr)

    def test_ctrl_c_reports_what_was_done(self):
        path = self.folder / "results" / "results.jsonl"
        with subprocess.Popen(command("--device", "host", "--only", "launch", "overhead", "--keep",
                                      self.folder / "results"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while not path.exists() or "launch cost" not in path.read_text():
                time.sleep(0.05)
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(out, r"launching a stage, event ")
        self.assertIn("interrupted", err)
        self.assertNotIn("Traceback", err)


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

    def rows_of(self, *steps):
        done = self.check("--quick", "--seed", "7", "--only", *steps, build=self.folder)
        self.assertNotIn("Traceback", done.stderr)
        return {(row["step"], row["check"]): row for row in self.rows()}

    def test_tests_of_the_gpu_are_run_and_those_of_the_host_are_not(self):
        rows = self.rows_of("conformance", "pipelines")
        self.assertEqual(rows["environment", "devices"]["status"], "PASS")
        self.assertEqual(rows["conformance", "cuda_gpu_conformance_test"]["status"], "PASS")
        self.assertEqual(rows["conformance", "cuda_libraries_test"]["status"], "not run")
        row = rows["pipelines", "pipelines_test"]
        self.assertEqual((row["figure"], row["status"]), ("2 of 3 passed", "FAIL"))
        self.assertEqual(rows["pipelines", "cuda/outputs.are_right/vgg16_tf32"]["note"],
                         "3.5 where 2e-3 is the most, seed 7")

    def test_costs_are_judged_and_not_only_shown(self):
        rows = self.rows_of("launch", "overhead")
        judged = ("PASS", "FAIL", "inconclusive")
        self.assertIn(rows["launch", "launching a stage, event"]["status"], judged)
        self.assertIn(rows["overhead", "six_small, event"]["status"], judged)
        self.assertRegex(rows["overhead", "six_small, event"]["bound"], r"< \+5\.00 us")
        self.assertEqual(rows["overhead", "six_small, sync"]["status"], "shown")


class ladder(Case):
    """The ladder, with programs that pretend to have a GPU; some of them crash or hang."""

    def setUp(self):
        super().setUp()
        add_program(self.folder, "graphline", LISTING)
        add_program(self.folder, "gpu_probe", PROBE)

    def test_each_rung_adds_a_feature_and_keeps_its_output_if_it_crashes_or_hangs(self):
        done = self.check("--only", "ladder", "--seconds", "8", build=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        found = {row["check"]: row for row in self.rows()}
        self.assertEqual([name for name in found if name not in ("read libraries", "nvidia-smi")],
                         ["devices", "probe libraries", "probe ticks", "probe drift",
                          "probe record_nodes", "probe negative_times", "probe disturbed_capture",
                          "probe host_functions", "probe callback_stack", "probe switches",
                          "relu alone", "timing event", "graphs stage", "timing layers",
                          "graphs frame", "two_models"])
        self.assertIn("Install it", found["probe libraries"]["note"])
        self.assertIn("Pretended", found["devices"]["note"])
        self.assertEqual(found["probe drift"]["status"], "FAIL")
        self.assertIn("ended by SIGSEGV", found["probe drift"]["note"])
        self.assertEqual(found["probe record_nodes"]["status"], "not run")  # no time for the rest
        for name in ("ticks", "drift", "record_nodes"):
            self.assertIn(f"{name}: 1024 ns", found[f"probe {name}"]["note"])
        log = (self.folder / "results" / "log.txt").read_text()
        self.assertRegex(log, r'"record_nodes", "value": 1024')
        facts = {line["label"]: line["result"]
                 for line in kept(self.folder / "results", "results.jsonl")}
        self.assertEqual(facts["probe drift"], [{"fact": "drift", "value": 1024, "unit": "ns"}])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
