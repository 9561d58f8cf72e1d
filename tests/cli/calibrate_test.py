"""graphline calibrate: results, saved calibrations, interrupts.

usage: calibrate_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

from cli_test import SMALL, Case, graphline, parts_in

HOST = ("--device", "host", "--threads", 1)
REMEDY = "run 'graphline calibrate --device host --threads 1'"
EXPERIMENT = """experiment: two_ways
pipeline: small.yaml
vary: {strategy: [serial, async]}
trials: 1
frames: 2
"""


class calibrate(Case):
    """One calibration for all tests; each has a copy in its own folder."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="graphline_calibrated_")
        cls.addClassCleanup(folder.cleanup)
        cls.measured = pathlib.Path(folder.name)
        cls.result = cls.measured / "result.json"
        cls.done = graphline("calibrate", *HOST, "--json", cls.result,
                             env={**os.environ, "GRAPHLINE_CACHE": str(cls.measured / "cache")})

    def setUp(self):
        super().setUp()
        self.expect(self.done, 0)
        self.cache = self.folder / "cache"
        shutil.copytree(self.measured / "cache", self.cache)
        self.kept, = (self.cache / "calibrations").iterdir()

    def with_cache(self, *words, cache=None):
        return graphline(*words, env={**os.environ, "GRAPHLINE_CACHE": str(cache or self.cache)})

    def run_small(self, name="run.json"):
        """Runs a small pipeline: the finished process, and its result."""
        path = self.folder / name
        done = self.with_cache("run", self.pipeline(), *HOST, "--json", path)
        self.expect(done, 0)
        return done, json.loads(path.read_text())

    def change_kept(self, change):
        value = json.loads(self.kept.read_text())
        change(value)
        self.kept.write_text(json.dumps(value))

    def test_two_are_told_apart_by_diff(self):
        def slow_down(value):
            read = value["ceilings"][0]
            read["times_ns"] = [100 * t for t in read["times_ns"]]

        self.change_kept(slow_down)
        done = graphline("diff", self.result, self.kept)
        self.expect(done, 0, "memory, read", stream="stdout")
        self.assertRegex(done.stdout, r"memory, read .* -99\.0\n")

    def test_it_shows_what_it_measured_and_where_it_is_kept(self):
        kept = self.measured / "cache" / "calibrations" / self.kept.name
        self.expect(self.done, 0, "host: ", "(1 compute thread)", "memory, read",
                    "convolution, float32", "launch a graph", "ridge point in FLOP/B",
                    stream="stdout")
        self.assertIn(str(kept), " ".join(self.done.stdout.split()))
        self.assertEqual(self.done.stderr, "")
        self.assertEqual(kept.read_bytes(), self.result.read_bytes())
        self.assertEqual(parts_in(self.measured / "cache" / "calibrations"), [])

    def test_the_result_has_each_ceiling_with_its_samples(self):
        result = json.loads(self.result.read_text())
        self.assertEqual(result["schema"], "graphline.calibration/1")
        self.assertEqual(result["device"]["backend"], "host")
        self.assertFalse(result["interrupted"])
        units = {"read": "B/s", "write": "B/s", "copy": "B/s", "host_to_device_pinned": "B/s",
                 "device_to_host_pinned": "B/s", "host_to_device_pageable": "B/s",
                 "device_to_host_pageable": "B/s", "convolution": "FLOP/s", "matmul": "FLOP/s",
                 "launch": "ns", "event": "ns", "synchronize": "ns", "round_trip": "ns"}
        self.assertEqual({c["what"]: c["unit"] for c in result["ceilings"]}, units)
        for ceiling in result["ceilings"]:
            times = sorted(ceiling["times_ns"])
            self.assertGreater(len(times), 3)
            median = max(times[(len(times) + 1) // 2 - 1], 1)
            if ceiling["unit"] == "ns":
                self.assertAlmostEqual(ceiling["value"], median / ceiling["amount"])
                self.assertLessEqual(ceiling["best"], ceiling["worst"])
            else:
                self.assertAlmostEqual(ceiling["value"] / (ceiling["amount"] * 1e9 / median), 1)
                self.assertLessEqual(ceiling["worst"], ceiling["best"])
            self.assertTrue(ceiling["how"])

    def test_a_run_takes_it_into_its_result(self):
        done, result = self.run_small()
        measured = json.loads(self.result.read_text())
        kept = result["record"]["calibration"]
        self.assertEqual(kept["date"], measured["environment"]["date"])
        self.assertEqual([c["value"] for c in kept["ceilings"]],
                         [c["value"] for c in measured["ceilings"]])
        self.assertEqual(kept["stale"], [])
        self.assertNotIn("calibration", " ".join(result["warnings"]))
        self.assertEqual(done.stderr, "")
        cost = result["record"]["stages"][0]["cost"]
        self.assertGreater(cost["flops"], 0)
        self.assertEqual(cost["precision"], "float32")

    def test_one_that_may_no_longer_hold_is_used_with_a_warning(self):
        def age(value):
            value["environment"]["graphline"] = "0.0.1"
            value["environment"]["date"] = "2020-01-01T00:00:00Z"
        self.change_kept(age)
        done, result = self.run_small()
        warnings = [text for text in result["warnings"] if "may no longer hold" in text]
        self.assertEqual(len(warnings), 1)
        self.assertIn("graphline was 0.0.1, is ", warnings[0])
        self.assertIn("days old; " + REMEDY, warnings[0])
        self.assertEqual(len(result["record"]["calibration"]["stale"]), 2)
        self.assertEqual(len(result["record"]["calibration"]["ceilings"]), 13)
        again = self.with_cache("report", self.folder / "run.json")
        self.assertEqual(again.stdout, done.stdout)

    def test_one_that_cannot_be_read_stops_no_run(self):
        whole = self.kept.read_text()
        for text, reason in (("{", ":1:2: error: this is not JSON"), ("", "the file is empty"),
                             (whole.replace('"times_ns"', '"times"'), "lacks 'times_ns'")):
            self.kept.write_text(text)
            _, result = self.run_small()
            self.assertNotIn("calibration", result["record"])
            warning, = [text for text in result["warnings"] if "calibration" in text]
            self.assertIn(f"not used; {REMEDY} to make it again ({self.kept}", warning)
            self.assertIn(reason, warning)

    def test_an_experiment_takes_it_into_its_result(self):
        self.pipeline(SMALL.replace("warmup: 2", "warmup: 2, threads: 1"))
        experiment = self.pipeline(EXPERIMENT, "two_ways.yaml")
        path = self.folder / "e.json"
        words = ("compare", experiment, "--device", "host", "--json", path, "--store",
                 self.folder / "t.jsonl", "--overwrite")
        self.expect(self.with_cache(*words), 0)
        result = json.loads(path.read_text())
        self.assertEqual(len(result["record"]["calibration"]["ceilings"]), 13)
        self.change_kept(lambda value: value["environment"].update(graphline="0.0.1"))
        self.expect(self.with_cache(*words), 0, "warning: the calibration", "may no longer hold")

    def test_an_unwritable_place_is_told_before_anything_is_measured(self):
        nowhere = self.folder / "file"
        nowhere.write_text("")
        path = self.folder / "result.json"
        done = self.with_cache("calibrate", *HOST, "--json", path, cache=nowhere)
        self.expect(done, 2, "cannot keep the calibration", "GRAPHLINE_CACHE")
        self.assertEqual(done.stdout, "")
        self.assertFalse(path.exists())

    def stopped(self, path, seconds):
        """Output of a calibration, interrupted `seconds` after it opened the result at `path`."""
        process = self.start("calibrate", *HOST, "--json", path,
                             env={**os.environ, "GRAPHLINE_CACHE": str(self.cache)})
        until = time.monotonic() + 60
        while not parts_in(self.folder) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(seconds)
        out, err = self.interrupt(process)
        self.assertIn("stopping", err)
        return out, err

    def test_ctrl_c_shows_what_was_measured_and_leaves_what_is_kept(self):
        before = self.kept.read_bytes()
        path = self.folder / "result.json"
        path.write_text("the one before")
        out, err = self.stopped(path, 0)
        self.assertIn("nothing was measured", err)
        self.assertEqual(out, "")
        self.assertEqual(path.read_text(), "the one before")
        # Preparation takes longer on slow machines.
        for seconds in (4, 8, 16, 32, 64):
            out, err = self.stopped(path, seconds)
            if "nothing was measured" not in err:
                break
        self.assertIn("INTERRUPTED", out)
        self.assertNotIn("kept in", out)
        result = json.loads(path.read_text())
        self.assertTrue(result["interrupted"])
        self.assertTrue(result["ceilings"])
        self.assertEqual(self.kept.read_bytes(), before)
        self.assertEqual(len(list((self.cache / "calibrations").iterdir())), 1)

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "this machine has a GPU")
    def test_a_device_that_cannot_be_had_is_status_3(self):
        self.expect(self.with_cache("calibrate", "--device", "cuda"), 3, "cuda", "host")

    def test_it_is_reported_again(self):
        done = graphline("report", self.result)
        self.expect(done, 0, "memory, read", stream="stdout")
        without_file = [line for line in self.done.stdout.splitlines()
                        if "kept in" not in line and str(self.measured) not in line]
        self.assertLessEqual(set(without_file) - set(done.stdout.splitlines()), {"Notes"})
        page = self.folder / "c.html"
        self.expect(graphline("report", self.result, "--html", page), 0)
        self.assertIn("\"key\":\"ceilings\"", page.read_text())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
