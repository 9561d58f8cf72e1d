"""tools/gpu_check --only ladder, with programs that pretend to have a GPU: some crash or hang.

usage: gpu_check_ladder_test.py SOURCE_DIR
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()

GRAPHLINE = """#!/bin/sh
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


class the_ladder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gpu_check_test_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name, text in (("bin/graphline", GRAPHLINE), ("bin/gpu_probe", PROBE)):
            path = cls.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        cls.done = cls.climb("--json", "r.json", device="cuda")
        cls.result = json.loads((cls.folder / "r.json").read_text())
        cls.rows = {row["check"]: row for row in cls.result["rows"]}

    @classmethod
    def climb(cls, *words, device):
        command = [sys.executable, str(SOURCE / "tools" / "gpu_check"), "--build", str(cls.folder),
                   "--only", "ladder", "--device", device, *words]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120,
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
    unittest.main(argv=[sys.argv[0], "-v"])
