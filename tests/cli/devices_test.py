"""A pipeline on several devices.

usage: devices_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import sys
import unittest

from cli_test import PIPELINES, Case, graphline

FILE = PIPELINES / "devices" / "two_devices.yaml"


class devices(Case):
    def run_on(self, where, *words):
        done = graphline("run", FILE, "--frames", "6", "--warmup", "1", "--set", f"where={where}",
                         "--json", "-", *words)
        self.expect(done, 0)
        return json.loads(done.stdout)

    def refused(self, *words, text=None):
        path = FILE if text is None else self.pipeline(text, "p.yaml")
        done = graphline(words[0], path, *words[1:])
        self.assertEqual(done.returncode, 2, done.stderr)
        return " ".join(done.stderr.split())

    def test_two_devices_compute_in_every_bit_what_one_computes(self):
        one = self.run_on("left")
        for strategy in ("serial", "async", "overlap"):
            for graphs in ("off", "stage"):
                two = self.run_on("right", "--strategy", strategy, "--graphs", graphs)
                self.assertEqual(two["record"]["outputs"][0]["checksum"],
                                 one["record"]["outputs"][0]["checksum"])

    def test_results_tell_the_devices_apart(self):
        result = self.run_on("right")
        self.assertEqual([one["name"] for one in result["devices"]], ["left", "right"])
        for one in result["devices"]:
            self.assertGreater(one["busy"], 0)
            self.assertGreater(one["memory"], 0)
        record = result["record"]
        where = {one["name"]: one["device_index"] for one in record["stages"]}
        self.assertEqual(where["objects"], 0)
        self.assertEqual(where["lanes"], 1)
        self.assertEqual(where["copy:image@right"], 1)
        path = self.folder / "r.json"
        path.write_text(json.dumps(result))
        done = graphline("report", path)
        self.expect(done, 0)
        text = " ".join(done.stdout.split())
        self.assertRegex(text, r"two_devices on left \(host: .*\), right \(host: ")
        self.assertRegex(text, r"Devices device.{0,5} is busy % memory")

    def test_check_shows_places_copies_and_memory_of_each(self):
        done = graphline("check", FILE)
        self.expect(done, 0)
        text = " ".join(done.stdout.split())
        self.assertIn("devices left (host), right (host)", text)
        self.assertRegex(text, r"copy:image@right inserted copy right copy in, normal")
        self.assertRegex(text, r"copy:lanes@left lanes event lanes")
        self.assertRegex(text, r"of left right host")

    def test_compare_varies_where_a_stage_runs(self):
        path = self.folder / "experiment.yaml"
        path.write_text(f"experiment: placement\npipeline: {FILE}\ntrials: 2\nframes: 5\n"
                        "vary: {where: [left, right]}\n")
        done = graphline("compare", path, cwd=self.folder)
        self.expect(done, 0)
        self.assertIn("where=right", done.stdout)

    def test_pipelines_share_the_windows_of_the_same_devices(self):
        other = FILE.read_text().replace("right: {kind: host, threads: 1}", "right: host")
        (self.folder / "other.yaml").write_text(other)
        path = self.folder / "experiment.yaml"

        def compared(second):
            path.write_text(f"""experiment: both
together:
  - {{name: a, pipeline: {FILE}}}
  - {{name: b, pipeline: {second}}}
run: {{strategy: overlap, window: 1}}
share: device
trials: 2
frames: 5
""")
            return graphline("compare", path, cwd=self.folder)

        done = compared(FILE)
        self.expect(done, 0)
        self.assertIn("share=device", done.stdout)
        self.expect(compared("other.yaml"), 2, "needs the same devices in all members; this one "
                    "declares others than 'a'")
        other = FILE.read_text().replace("overlap, threads: 1", "overlap, threads: 2")
        (self.folder / "other.yaml").write_text(other)
        self.assertIn("threads: 2", other)
        self.expect(compared("other.yaml"), 2, "needs the same threads in all members; this one "
                    "has threads: 2")

    def test_what_works_with_one_device_only_is_refused_with_the_reason(self):
        self.assertIn("--device does not apply", self.refused("run", "--device", "host"))
        self.assertIn("graphs: frame cannot run on several devices",
                      self.refused("run", "--graphs", "frame"))

    def test_predictions_run_the_devices_side_by_side(self):
        source = self.run_on("right", "--strategy", "serial", "--timing", "event")
        path = self.folder / "r.json"
        path.write_text(json.dumps(source))
        done = graphline("predict", FILE, "--from", path, "--set", "where=right", "--strategy",
                         "overlap", "--in-flight", 1, "--json", "-")
        self.expect(done, 0)
        record = json.loads(done.stdout)["record"]
        self.assertEqual([device["name"] for device in record["devices"]], ["left", "right"])
        stages = {stage["name"]: stage["device"] for stage in record["stages"]
                  if stage["on"] == "device"}
        one, two = stages["objects"], stages["lanes"]
        for begin, end, other_begin, other_end in zip(one["begin"], one["end"], two["begin"],
                                                      two["end"]):
            self.assertLess(max(begin, other_begin), min(end, other_end))
        self.assertIn("the source ran on 2 devices",
                      self.refused("predict", "--from", path, "--set", "where=right", "--on",
                                   "H100 SXM"))

    def test_a_trace_has_a_process_for_each_device(self):
        path = self.folder / "t.json"
        self.expect(graphline("run", FILE, "--frames", 5, "--trace", path), 0)
        events = json.loads(path.read_text())["traceEvents"]
        named = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertRegex(named[3], "^device left: host")
        self.assertRegex(named[4], "^device right: host")
        self.assertEqual({e["pid"] for e in events if e.get("cat") == "stage"}, {3, 4})

    def test_a_single_declared_device_is_like_any_device(self):
        text = """pipeline: p
params: {d: host}
devices: {one: $d}
inputs: {x: {shape: [8]}}
stages: [{name: a, kind: network, reads: x, layers: [relu]}]
run: {frames: 20}
"""
        path = self.pipeline(text, "one.yaml")
        result = self.folder / "one.json"
        self.expect(graphline("run", path, "--strategy", "serial", "--json", result), 0)
        self.expect(graphline("predict", path, "--from", result), 0)
        self.expect(graphline("inspect", path), 0)
        self.expect(graphline("inspect", FILE), 0)
        done = graphline("run", path, "--set", "d=cuda:77")
        self.expect(done, 3)
        self.assertRegex(done.stderr, r"one.yaml:3: device 'one': .*; 'host' runs on the CPU")
        bad = self.pipeline(text.replace("relu", "rleu"), "bad.yaml")
        done = graphline("run", bad, "--set", "d=cuda:77")
        self.expect(done, 2)
        self.assertIn("rleu", done.stderr)

    def test_mistakes_in_devices_are_named_with_their_place(self):
        text = FILE.read_text(encoding="utf-8")
        self.assertRegex(self.refused("check", text=text.replace("where: right", "where: rihgt")),
                         r"p.yaml:3:\d+: error: stage 'lanes' runs on 'rihgt', which is not among "
                         r"the 'devices' \(did you mean 'right'\?\)")
        self.assertRegex(self.refused("check", text=text.replace("kind: host,", "kind: hots,")),
                         r"p.yaml:4:\d+: error: unknown device 'hots' \(did you mean 'host'\?\)")
        self.assertRegex(self.refused("check", text=text.replace("threads: 1}}", "threads: 0}}")),
                         r"p.yaml:4:\d+: error: 'threads' must be 1 to 1024, found 0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
