"""Frames that arrive on a schedule, as a user of the graphline program meets them.

usage: load_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import sys
import time
import unittest

from cli_test import Case, graphline

OPEN = """pipeline: open
stages:
  - {name: work, kind: cpu.spin, duration: 1ms, stall: 100ms, stall_at: 7}
run: {arrival: constant, rate: 200, frames: 60, warmup: 2, deadline: 10ms}
"""


class load(Case):
    def test_a_stall_makes_all_frames_late_that_fall_due_in_it(self):
        done = graphline("run", self.pipeline(OPEN), "--json", "-")
        self.expect(done, 0, "constant 200 frame/s", "frames dropped   0 ", "of 60 due")
        result = json.loads(done.stdout)
        self.assertEqual(result["settings"]["arrival"], "constant")
        self.assertEqual(result["settings"]["rate"], 200)
        self.assertGreaterEqual(result["deadline"]["missed"], 15)
        self.assertEqual(result["load"]["queue_wait"]["count"], 60)

    def test_frames_that_a_full_queue_drops_are_counted(self):
        done = graphline("run", self.pipeline(OPEN), "--queue", 2, "--when-full", "drop_oldest",
                         "--json", "-")
        self.expect(done, 0, "dropped")
        result = json.loads(done.stdout)
        found = result["load"]
        self.assertEqual(found["due"], 60)
        self.assertEqual(found["longest_queue"], 2)
        self.assertGreaterEqual(found["dropped"], 15)  # of some twenty
        self.assertEqual(found["dropped"], len(result["record"]["load"]["dropped"]))
        self.assertEqual(found["queue_wait"]["count"], 60 - found["dropped"])

    def test_a_closed_loop_takes_the_place_of_the_files_schedule(self):
        path = self.pipeline(OPEN.replace("rate: 200", "rate: 200, queue: 4"))
        self.expect(graphline("check", path), 0, "constant 200 frame/s", stream="stdout")
        done = graphline("check", path, "--arrival", "closed")
        self.expect(done, 0)
        self.assertNotIn("frame/s", done.stdout)
        self.assertEqual(done.stderr, "")
        self.expect(graphline("check", path, "--arrival", "closed", "--rate", 30), 2,
                    "rate: 30 makes no sense with arrival: closed")

    def test_ctrl_c_ends_the_wait_for_a_frame_that_is_due_in_an_hour(self):
        path = self.pipeline(OPEN)
        for words in (["--wait", "block"], ["--strategy", "overlap", "--wait", "yield"]):
            running = self.start("run", path, "--rate", "0.0003", *words)
            time.sleep(1)  # by then it mostly waits; before that it ends in the same way
            text, _ = self.interrupt(running)
            self.assertIn("INTERRUPTED", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
