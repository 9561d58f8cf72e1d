"""graphline capacity: exit status, messages, files.

usage: capacity_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import sys
import time
import unittest

from cli_test import Case, graphline

# A frame takes 2 ms, so the capacity is at most 500 frame/s.
PAUSES = """pipeline: pauses
stages:
  - {name: pause, kind: cpu.spin, duration: 2ms}
run: {warmup: 2, timing: none}
"""


class capacity(Case):
    def words(self, *words, text=PAUSES):
        return ["capacity", self.pipeline(text), "--device", "host", *words]

    def run_it(self, *words, status, text=PAUSES):
        done = graphline(*self.words(*words, text=text))
        self.expect(done, status)
        return done

    def test_a_bound_below_the_time_of_a_frame_alone_is_said_to_be_out_of_reach(self):
        path = self.folder / "c.json"
        done = self.run_it("--under", "1ms", "--json", path, status=0)
        self.assertIn("no rate keeps p95 within 1.00 ms", done.stdout)
        result = json.loads(path.read_text())
        self.assertIsNone(result["capacity"]["value"])
        self.assertEqual(result["alone"]["verdict"], "fails")
        self.assertEqual(result["probes"], [])

    def test_the_highest_rate_is_found_below_the_throughput(self):
        # The bound is so long that a busy machine does not exceed it. Too high a rate then shows by
        # a growing queue, since a frame takes at least 2 ms.
        path = self.folder / "c.json"
        done = self.run_it("--under", "2s", "--percentile", "p90", "--within", "10%", "--frames",
                           "100", "--json", path, status=0)
        result = json.loads(path.read_text())
        self.assertEqual(result["schema"], "graphline.capacity/1")
        self.assertEqual(result["settings"]["arrival"], "constant")
        found = result["capacity"]["value"]
        self.assertIsNotNone(found, done.stdout)
        low, high = result["capacity"]["interval"]
        self.assertLessEqual(low, found)
        self.assertLessEqual(found, high)
        self.assertLessEqual(low, 1.02 * 500)  # of a search to within 10 %
        self.assertLessEqual(result["capacity"]["closed_loop"], 501)
        self.assertRegex(done.stdout,
                         r"highest rate +\d.* \(95 % interval \d.* to \d.* frame/s\)")
        pooled = sum(probe["runs"] for probe in result["probes"] if probe["pooled"])
        self.assertLessEqual(result["capacity"]["runs"], pooled)  # without disturbed ones
        for run in result["record"]["runs"]:
            frames = run["record"]["frames"]
            self.assertEqual(len(frames["due"]), run["record"]["settings"]["frames"])
            times = [end - due for due, end in zip(frames["due"], frames["end"])]
            self.assertGreaterEqual(min(times), 2e6)
        again = graphline("report", path)
        self.expect(again, 0)
        self.assertEqual(again.stdout, done.stdout)

    def test_the_bound_and_the_arrivals_may_stand_in_the_file(self):
        text = PAUSES.replace("timing: none",
                              "timing: none, deadline: 1ms, arrival: poisson, rate: 30")
        path = self.folder / "c.json"
        self.run_it("--json", path, text=text, status=0)
        result = json.loads(path.read_text())
        self.assertEqual(result["bound_ms"], 1)
        self.assertEqual(result["settings"]["arrival"], "poisson")
        self.assertNotIn("rate", result["settings"])

    def test_ctrl_c_reports_and_saves_what_is_known(self):
        path = self.folder / "c.json"
        process = self.start(*self.words("--under", "60ms", "--frames", "2000", "--json", path))
        time.sleep(3)
        out, _ = self.interrupt(process)
        self.assertIn("INTERRUPTED", out)
        self.assertTrue(json.loads(path.read_text())["interrupted"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
