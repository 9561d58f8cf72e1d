"""A run whose process is stopped for a while.

usage: standstill_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import re
import signal
import subprocess
import sys
import time
import unittest

from cli_test import Case, graphline

SPIN = """pipeline: spin
stages:
  - {name: s, kind: cpu.spin, duration: 5ms}
run: {frames: 400, warmup: 1}
"""

STOPPED = 0.5  # seconds


def stop_now_and_then(process):
    """Stops the process until it ends; returns the longest possible stop in s."""
    longest = 0
    while True:
        try:
            process.wait(0.5)
            return longest
        except subprocess.TimeoutExpired:
            begin = time.monotonic()
            process.send_signal(signal.SIGSTOP)
            time.sleep(STOPPED)
            process.send_signal(signal.SIGCONT)
            longest = max(longest, time.monotonic() - begin)


class stopped(Case):
    def test_process_is_named_with_its_frames_and_blamed_on_no_stage(self):
        for load in ([], ["--arrival", "constant", "--rate", 100]):
            saved = self.folder / "r.json"
            process = self.start("run", self.pipeline(SPIN), "--device", "host", "--json", saved,
                                 *load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            longest = stop_now_and_then(process)
            self.assertEqual(process.returncode, 0)
            result = json.loads(saved.read_text())
            found = result["record"]["conditions"]["standstills"]
            self.assertTrue(found)
            for still in found:
                self.assertFalse(still["suspended"])
                # The stop begins when a core handles the signal, later on a busy machine.
                self.assertGreaterEqual(still["length_ns"], 0.5e9 * STOPPED)
                self.assertLessEqual(still["length_ns"], 1e9 * longest + 0.1e9)
            said = " ".join(result["warnings"])
            self.assertRegex(said, r"the process stood still for [0-9.]+ m?s at frames? \d+")
            # The named frame took that long.
            frame = int(re.search(r"at frames? (\d+)", said)[1])
            frames = result["record"]["frames"]
            self.assertGreaterEqual(frames["end"][frame] - frames["due"][frame],
                                    found[0]["length_ns"])
            slow = [f for f in result["findings"] if f["key"] == "slow_frames"]
            self.assertFalse(any("of 's'" in f["text"] and "100 %" in f["text"] and
                                 re.search(r"took [0-9.]+ s ", f["text"]) for f in slow), slow)

    def test_trials_are_left_out_of_verdicts(self):
        self.pipeline(SPIN.replace("400", "40"), "spin.yaml")
        path = self.pipeline("experiment: e\npipeline: spin.yaml\n"
                             "vary: {strategy: [serial, async]}\ntrials: 4\n", "e.yaml")
        saved = self.folder / "e.json"
        process = self.start("compare", path, "--device", "host", "--json", saved, cwd=self.folder,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stop_now_and_then(process)
        self.assertEqual(process.returncode, 0)
        result = json.loads(saved.read_text())
        still = {trial["block"] for trial in result["record"]["trials"]
                 if any(m["conditions"]["standstills"] for m in trial["members"])}
        self.assertTrue(still)
        self.assertEqual(result["counted_blocks"] if len(still) < 4 else 0, 4 - len(still))
        self.expect(graphline("report", saved), 0, "process stood still", stream="stdout")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
