"""graphline roofline.

usage: roofline_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import csv
import io
import json
import os
import re
import time
import unittest

from cli_test import ENDLESS, SMALL, Case, graphline

NO_DEVICE = """pipeline: no_device
stages:
  - {name: pause, kind: cpu.spin, duration: 1ms}
run: {frames: 5, warmup: 1}
"""


class roofline(Case):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.environment = {**os.environ, "GRAPHLINE_CACHE": str(self.cache), "COLUMNS": "100"}

    def graphline(self, *words, **more):
        return graphline(*words, env=self.environment, **more)

    def calibrate(self):
        """Saves a made-up calibration of `host`: 10 GB/s and 100 GFLOP/s."""
        done = self.graphline("run", self.pipeline(name="first.yaml"), "--device", "host",
                              "--frames", "1", "--quiet", "--json", "-")
        self.expect(done, 0)
        run = json.loads(done.stdout)
        figures = {"read": 10e9, "write": 12e9, "copy": 9e9, "host_to_device_pinned": 8e9,
                   "device_to_host_pinned": 7e9, "convolution": 100e9, "matmul": 90e9}
        ceilings = [{"what": what, "precision": "float32", "how": "made up", "unit": "a second",
                     "amount": value / 1000, "times_ns": [1_000_000] * 5}
                    for what, value in figures.items()]
        ceilings.append({"what": "launch", "precision": "float32", "how": "made up", "unit": "ns",
                         "amount": 1, "times_ns": [2000] * 5})
        record = {"schema": "graphline.calibration/1", "device": run["device"],
                  "environment": run["environment"], "ceilings": ceilings,
                  "theoretical_peaks": [], "warnings": [], "interrupted": False}
        device = run["device"]
        threads = device["compute_threads"]
        name = re.sub("[^A-Za-z0-9]+", "-", f"host {device['name']}").strip("-")
        path = self.cache / "calibrations" / (
            f"{name}-{threads}-thread{'' if threads == 1 else 's'}.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))
        return path

    def test_without_a_calibration_nothing_runs_and_the_remedy_is_said(self):
        saved = self.folder / "r.json"
        done = self.graphline("roofline", self.pipeline(), "--device", "host", "--json", saved)
        self.expect(done, 2, "there is no calibration of host: ", "compute thread",
                    "run 'graphline calibrate --device host --threads ", "about a minute")
        self.assertEqual(done.stdout, "")
        self.assertFalse(saved.exists())

    def test_a_calibration_that_cannot_be_read_is_refused(self):
        path = self.calibrate()
        path.write_text("{")
        self.expect(self.graphline("roofline", self.pipeline(), "--device", "host"), 2,
                    f"{path}:1:2: error: this is not JSON", "graphline calibrate",
                    "to make it again")

    def test_stages_and_parts_are_compared_with_their_roofline_time(self):
        self.calibrate()
        saved = self.folder / "r.json"
        done = self.graphline("roofline", self.pipeline(), "--device", "host", "--json", saved)
        self.expect(done, 0, "net", "0.conv2d+1.relu", "best",
                    "100 GFLOP/s ", "convolution, float32; ridge point 10.0 FLOP/B", "10.0 GB/s ",
                    "memory, read", stream="stdout")
        result = json.loads(saved.read_text())
        self.assertEqual(result["schema"], "graphline.roofline/1")
        net = next(stage for stage in result["stages"] if stage["name"] == "net")
        self.assertEqual(net["roofline_time"], sum(p["roofline_time"] for p in net["parts"]))
        self.assertAlmostEqual(net["ratio"] * net["roofline_time"], net["measured"], delta=1e-4)
        best = next(stage for stage in result["stages"] if stage["name"] == "best")
        self.assertEqual(best["on"], "cpu")
        self.assertIsNone(best["roofline_time"])

    def test_a_saved_result_is_reported_again(self):
        self.calibrate()
        files = {form: self.folder / f"r.{form}" for form in ("json", "html", "csv")}
        options = [word for form, path in files.items() for word in (f"--{form}", path)]
        done = self.graphline("roofline", self.pipeline(), "--device", "host", *options)
        self.expect(done, 0)
        again = self.graphline("report", files["json"])
        self.expect(again, 0)
        self.assertEqual(again.stdout, done.stdout)
        done = self.graphline("roofline", self.pipeline(), "--device", "host", "--quiet",
                              "--markdown", "-")
        self.expect(done, 0, "| stage (", "| net |", "### Ceilings", stream="stdout")
        for form in ("html", "csv"):
            other = self.folder / f"again.{form}"
            self.expect(self.graphline("report", files["json"], f"--{form}", other), 0)
            self.assertEqual(other.read_text(), files[form].read_text())
        rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
        self.assertEqual([row["level"] for row in rows if row["stage"] == "net"],
                         ["stage", "part"])
        self.expect(self.graphline("report", files["json"], "--trace", "t.json"), 2,
                    "is not the result of one run")
        self.expect(self.graphline("diff", files["json"], files["json"]), 0,
                    "Source, settings, device and environment are the same.", stream="stdout")

    def test_with_several_devices_each_stage_has_the_roofline_of_its_own(self):
        text = SMALL.replace("inputs:", "devices: {left: host, right: host}\ninputs:").replace(
            "  - name: pause", "  - {name: twin, kind: network, reads: x, on: right, "
            "layers: [relu]}\n  - name: pause")
        self.calibrate()
        saved = self.folder / "r.json"
        page = self.folder / "r.html"
        path = self.pipeline(text, "two.yaml")
        done = self.graphline("roofline", path, "--json", saved, "--html", page)
        self.expect(done, 0, "Ceilings of left", "Ceilings of right", "device", stream="stdout")
        result = json.loads(saved.read_text())
        where = {stage["name"]: stage.get("device") for stage in result["stages"]}
        self.assertEqual((where["net"], where["twin"]), ("left", "right"))
        self.assertNotIn("device", result["stages"][-1])
        self.assertIn("ceilings_left", result)
        for stage in result["stages"]:
            if stage["on"] == "device":
                self.assertGreater(stage["roofline_time"], 0, stage["name"])
        self.assertIn("Roofline of right", page.read_text())
        again = self.graphline("report", saved)
        self.assertEqual(again.stdout, done.stdout)
        done = self.graphline("run", path, "--frames", "6", "--json", "-", "--quiet")
        self.expect(done, 0)
        self.assertGreater(next(stage for stage in json.loads(done.stdout)["stages"]
                                if stage["name"] == "twin")["ratio"], 0)

    def test_stages_and_frames_follow_one_another_whatever_the_file_says(self):
        self.calibrate()
        text = SMALL.replace("warmup: 2", "warmup: 2, strategy: overlap, in_flight: 2, "
                             "arrival: constant, rate: 5, deadline: 1us")
        done = self.graphline("roofline", self.pipeline(text), "--device", "host", "--frames", "6",
                              "--graphs", "off", "--json", "-", "--quiet")
        self.expect(done, 0)
        settings = json.loads(done.stdout)["settings"]
        self.assertEqual((settings["frames"], settings["graphs"], settings["in_flight"],
                          settings["strategy"]), (6, "off", 1, "serial"))
        self.assertEqual(settings["arrival"], "closed")
        self.assertNotIn("deadline_ns", settings)
        for option in ("--timing", "--strategy", "--in-flight"):
            self.expect(self.graphline("roofline", self.pipeline(), option, "2"), 2,
                        f"unknown option '{option}'")

    def test_a_pipeline_without_parts_runs_once_and_one_of_cpu_stages_has_no_floor(self):
        self.calibrate()
        done = self.graphline("roofline", self.pipeline(NO_DEVICE), "--device", "host", "--json",
                              "-")
        self.expect(done, 0, "pause", "timing=event")
        self.assertNotIn("parts under timing layers", done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual([stage["on"] for stage in result["stages"]], ["cpu"])
        self.assertIsNone(result["totals"]["roofline_time"])
        self.assertEqual(result["record"]["layers"]["frames"]["end"], [])

    def test_ctrl_c_reports_what_was_measured_until_then(self):
        self.calibrate()
        saved = self.folder / "r.json"
        process = self.start("roofline", self.pipeline(ENDLESS), "--device", "host", "--json",
                             saved, env=self.environment)
        time.sleep(4)
        out, _ = self.interrupt(process)
        self.assertIn("INTERRUPTED", out)
        result = json.loads(saved.read_text())
        self.assertTrue(result["interrupted"])
        self.assertEqual(self.graphline("report", saved).stdout, out)


if __name__ == "__main__":
    unittest.main(argv=["roofline_test"], verbosity=2)
