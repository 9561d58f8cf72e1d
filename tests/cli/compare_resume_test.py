"""graphline compare, interrupted, killed, failed and resumed.

usage: compare_resume_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES [CLASS ...]
"""

import json
import signal
import struct
import subprocess
import sys
import time
import unittest

from cli_test import MAKE_IMAGES, graphline
from compare_test import LENGTHS, SPINS, CompareCase

# Two stages that read data files.
DATA = """pipeline: data
inputs:
  x: {shape: [1, 1], dtype: float32}
stages:
  - name: product
    kind: network
    reads: x
    layers: [linear: {out_features: 2, bias: false}]
    weights: linear.safetensors
  - {name: camera, kind: cpu.images, folder: pictures, batch: 1}
run: {frames: 2, warmup: 1}
"""
SLOW = LENGTHS.replace("1ms, 3ms", "5ms, 6ms").replace("trials: 6", "trials: 30")


def safetensors(values):
    """A safetensors file for a linear layer from one feature to as many as there are values."""
    data = struct.pack(f"<{len(values)}f", *values)
    header = json.dumps({"0.weight": {"dtype": "F32", "shape": [len(values), 1],
                                      "data_offsets": [0, len(data)]}}).encode()
    return struct.pack("<Q", len(header)) + header + data


class StoreCase(CompareCase):
    def trials(self, store=None):
        """The complete trials in the store."""
        path = store or self.store
        if not path.exists():
            return []
        return [line for line in path.read_text().splitlines(keepends=True)
                if line.startswith('{"trial":') and line.endswith("\n")]

    def start_slow(self, *words, text=SLOW):
        """Starts the program in its own process group, like a shell."""
        process = self.start("compare", self.experiment(text), "--device", "host", *words,
                             cwd=self.folder, start_new_session=True)
        return process

    def until(self, condition):
        begun = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - begun, 60)
            time.sleep(0.005)

    def stopped_after(self, trials, how, *words, text=SLOW, store=None):
        process = self.start_slow(*words, text=text)
        self.until(lambda: len(self.trials(store)) >= trials)
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def made_of_trials(self, result):
        return sorted((t["block"], t["configuration"]) for t in result["record"]["trials"])

    def every_trial(self, trials):
        return [(block, c) for block in range(trials) for c in range(2)]


class resumed(StoreCase):
    def test_what_a_killed_experiment_has_is_not_repeated(self):
        self.assertEqual(self.stopped_after(5, signal.SIGKILL)[0], -signal.SIGKILL)
        before = self.trials()
        self.assertLess(len(before), 60)
        refused = self.compare(text=SLOW, status=2).stderr
        for fragment in (f"{len(before)} of 60 trials", "--resume", "--overwrite"):
            self.assertIn(fragment, refused)
        result = self.result("--resume", text=SLOW)
        after = self.trials()
        self.assertEqual(after[:len(before)], before)
        self.assertEqual(len(after), 60)
        self.assertEqual(self.made_of_trials(result), self.every_trial(30))
        self.assertEqual((result["stopped"], result["complete_blocks"]), ("", 30))

    def test_ctrl_c_shows_the_table_and_how_to_go_on(self):
        store = self.folder / "my trials"
        status, out, err = self.stopped_after(5, signal.SIGINT, "--store", store.name, "--trials",
                                              "20", "--json", "r.json", store=store)
        self.assertEqual(status, 130, err)
        self.assertIn("INTERRUPTED", out)
        self.assertIn("length", out)
        saved = json.loads((self.folder / "r.json").read_text())
        self.assertTrue(saved["interrupted"])
        before = self.trials(store)
        self.assertEqual(len(saved["record"]["trials"]), len(before))
        self.assertIn(f"\n{len(before)} trials kept in 'my trials'; the same command with --resume "
                      "continues", err)
        self.compare("--store", "my trials", "--trials", "20", "--json", "r.json", "--resume",
                     text=SLOW)
        self.assertEqual(self.trials(store)[:len(before)], before)
        saved = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(self.made_of_trials(saved), self.every_trial(20))
        self.assertEqual((saved["interrupted"], saved["stopped"]), (False, ""))

    def test_more_trials_may_be_added(self):
        self.compare("--trials", "2")
        before = self.trials()
        self.assertEqual(len(before), 4)
        result = self.result("--trials", "5", "--resume")
        self.assertEqual(self.made_of_trials(result), self.every_trial(5))
        self.assertEqual(self.trials()[:4], before)
        again = self.compare("--trials", "5", "--resume")
        self.assertIn("5 blocks of 2 trials", again.stdout)
        self.assertEqual(again.stderr, "lengths: going on from 10 trials\n")
        self.assertEqual(len(self.trials()), 10)

    def test_a_changed_file_is_named_and_refused(self):
        self.compare("--trials", "1")
        before = self.store.read_bytes()
        self.pipeline(SPINS + "# more\n", "spins.yaml")
        refused = self.compare("--resume", status=2).stderr
        self.assertIn("files/spins.yaml was '", refused)
        self.assertIn("--overwrite", refused)
        self.pipeline(SPINS, "spins.yaml")
        refused = self.compare("--resume", text=LENGTHS + "margin: 2%\n", status=2).stderr
        self.assertIn("files/lengths.yaml was '", refused)
        self.assertEqual(self.store.read_bytes(), before)

    def test_a_file_that_is_no_store_is_never_touched(self):
        path = self.folder / "notes.txt"
        path.write_text("precious\n")
        for words in ((), ("--resume",), ("--overwrite",)):
            refused = self.compare("--store", path.name, *words, status=2).stderr
            self.assertIn("no trial store", refused)
            self.assertEqual(path.read_text(), "precious\n")

    def test_a_result_never_takes_the_place_of_trials(self):
        self.compare("--trials", "1")
        before = self.store.read_bytes()
        junit = ("--fail-if", "slower>5%", "--junit")
        for words in (("--json",), ("--resume", "--json"), ("--csv",), junit):
            refused = self.compare(*words, f"./{self.store.name}", status=2).stderr
            self.assertIn(f"{words[-1]} './{self.store.name}': another result goes there", refused)
            self.assertEqual(self.store.read_bytes(), before)

    def test_two_at_once_do_not_write_one_store(self):
        process = self.start_slow()
        self.until(self.trials)
        for words in ((), ("--resume",), ("--overwrite",)):
            self.assertIn("written already", self.compare(*words, text=SLOW, status=2).stderr)
        self.interrupt(process)

    def test_a_finished_store_gives_way(self):
        for _ in range(2):
            self.compare("--trials", "1")
            self.assertEqual(len(self.trials()), 2)
        self.expect(graphline("report", self.store), 2, "trials of an experiment",
                    "--resume --json FILE")
        self.compare("--trials", "1", "--resume", "--json", "result.json")
        self.assertIn("lengths", graphline("report", "result.json", cwd=self.folder).stdout)
        self.expect(graphline("compare", "lengths.yaml", "--overwrite", "--resume",
                              cwd=self.folder), 2, "--overwrite", "--resume")

    def test_an_experiment_interrupted_before_its_first_trial_is_in_nobodys_way(self):
        process = self.start_slow(text=SLOW.replace("5ms, 6ms", "700ms, 800ms"))
        self.until(self.store.exists)
        self.interrupt(process)
        self.assertEqual(self.trials(), [])
        self.compare("--trials", "1")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["lengths.trials.jsonl", "lengths.yaml", "spins.yaml"])


ALBUM = """pipeline: album
params:
  reduce: 1
stages:
  - {name: read, kind: cpu.images, folder: images, reduce: $reduce, batch: 1}
run: {frames: 4, warmup: 1}
"""

SIZES = """experiment: sizes
pipeline: album.yaml
vary:
  reduce: [1, 2]
trials: 2000
"""


class failing(StoreCase):
    def setUp(self):
        super().setUp()
        self.images = self.folder / "images"
        subprocess.run([MAKE_IMAGES, self.images, "3"], check=True, capture_output=True)
        self.pipeline(ALBUM, "album.yaml")
        self.store = self.folder / "sizes.trials.jsonl"

    def break_after(self, trials, text, damage):
        """Messages of the program on an experiment that is disturbed."""
        process = self.start_slow("--json", "r.json", text=text)
        self.until(lambda: len(self.trials()) >= trials)
        damage(process)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, out + err)
        saved = json.loads((self.folder / "r.json").read_text())
        self.assertIn("FAILED", out)
        self.assertIn("frame/s", out)
        self.assertEqual(saved["failure"], saved["stopped"])
        self.assertFalse(saved["interrupted"])
        self.assertIn(f"\nerror: {saved['failure']}\n", err)
        self.assertIn("--resume", err)
        self.assertGreaterEqual(len(saved["record"]["trials"]), trials)
        self.assertEqual(len(saved["record"]["trials"]), len(self.trials()))
        return saved

    def spoil(self, _):
        for path in self.images.iterdir():
            path.write_bytes(path.read_bytes()[:2000])

    def test_a_stage_that_fails_ends_the_experiment_with_what_there_is(self):
        saved = self.break_after(3, SIZES, self.spoil)
        self.assertIn("stage 'read'", saved["failure"])
        self.assertIn("image_", saved["failure"])
        self.assertIsNotNone(saved["record"]["trials"][-1]["members"][0]["failure"])
        # The store is of a finished experiment, and a new one may replace it.
        subprocess.run([MAKE_IMAGES, self.images, "3"], check=True, capture_output=True)
        self.compare("--trials", "2", text=SIZES)
        self.assertEqual(len(self.trials()), 4)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
