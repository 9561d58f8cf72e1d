"""compare --predict and capacity --predict: files, messages, what reports say.

usage: predicted_campaigns_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import pathlib
import re
import time
import unittest

from cli_test import EXPERIMENT, PIPELINES, SMALL, Case, graphline

STRATEGIES = """experiment: e
pipeline: small.yaml
baseline: {strategy: serial}
vary: {strategy: [serial, overlap]}
trials: 6
frames: 30
"""
# Each of the two independent stages takes milliseconds, much longer than threads take to wake up.
LONG = SMALL.replace("3, 16, 16", "16, 96, 96").replace("channels: 8", "channels: 32").replace(
    "duration: 1ms", "duration: 4ms")
ORIGIN = r"predicted from 12 frames of \S*source.json: serial"


class PredictedCase(Case):
    def setUp(self):
        super().setUp()
        self.path = self.pipeline()
        self.source = self.measured("source.json")

    def measured(self, name):
        source = self.folder / name
        self.expect(graphline("run", self.path, "--device", "host", "--strategy", "serial",
                              "--in-flight", 1, "--timing", "event", "--json", source), 0)
        return source

    def files_of(self, number, *words):
        """Writes results to a folder of their own; returns their bytes by name."""
        folder = self.folder / str(number)
        folder.mkdir()
        done = graphline(*words, "--predict", self.source, cwd=folder)
        self.expect(done, 0)
        self.assertNotIn("disturbed", done.stdout)
        self.assertNotIn("no outputs to compare", done.stdout)
        self.assertRegex(" ".join(done.stdout.split()), ORIGIN)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def same_again(self, *words):
        first = self.files_of(1, *words)
        time.sleep(1.1)  # dates have seconds
        self.assertEqual(self.files_of(2, *words), first)
        return first


class compare(PredictedCase):
    def compare(self, *words, text=STRATEGIES, status=2):
        done = graphline("compare", self.pipeline(text, "e.yaml"), "--predict", self.source, *words,
                         cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return " ".join(done.stderr.split())

    def test_all_files_say_where_they_come_from_and_are_the_same_each_time(self):
        path = self.pipeline(STRATEGIES, "e.yaml")
        made = self.same_again("compare", path, "--json", "e.json", "--csv", "e.csv", "--html",
                               "e.html", "--markdown", "e.md")
        # It keeps no trials in a file.
        self.assertEqual(sorted(made), ["e.csv", "e.html", "e.json", "e.md"])
        for name in ("e.html", "e.md"):
            self.assertRegex(made[name].decode(), ORIGIN)
        result = json.loads(made["e.json"])
        record = result["record"]
        self.assertEqual(record["prediction"]["sources"], [str(self.source)])
        self.assertIn(str(self.source), dict(record["files"]))
        self.assertEqual(len(record["trials"]), 12)
        source = json.loads(self.source.read_text())["record"]
        for trial in record["trials"]:
            (member,) = trial["members"]
            self.assertNotIn("conditions", member)
            self.assertEqual(member["environment"], source["environment"])
        # Its report can be made again.
        saved = self.folder / "saved.json"
        saved.write_bytes(made["e.json"])
        done = graphline("report", saved)
        self.expect(done, 0)
        self.assertRegex(" ".join(done.stdout.split()), ORIGIN)

    def test_overlap_hides_a_stage_that_is_not_on_the_critical_path(self):
        self.path = self.pipeline(LONG)
        self.source = self.measured("long.json")
        result = self.result_of("compare", self.pipeline(STRATEGIES, "e.yaml"), "--predict",
                                self.source)
        p50 = [c for c in result["comparisons"] if c["figure"] == "p50"]
        self.assertEqual([c["verdict"] for c in p50], ["faster"])

    def test_a_source_on_a_device_that_is_not_there_can_be_used(self):
        if "cuda" not in graphline("devices").stdout:
            self.skipTest("this program has no kinds for 'cuda'")
        def change(result):
            result["record"]["device"].update(backend="cuda", name="NVIDIA H200")
        self.source = self.changed(self.source, "gpu.json", change)
        result = self.result_of("compare", self.pipeline(STRATEGIES, "e.yaml"), "--predict",
                                self.source)
        self.assertEqual(result["device"]["name"], "NVIDIA H200")

    def test_gates_apply_to_verdicts(self):
        self.path = self.pipeline(LONG)
        self.source = self.measured("long.json")
        text = STRATEGIES.replace("strategy: serial", "strategy: overlap")
        self.compare("--fail-if", "slower>0.1%", text=text, status=4)
        self.compare("--fail-if", "slower>0.1%", status=0)

    def test_configurations_that_cannot_be_predicted_are_refused_by_name(self):
        self.assertIn("configuration 'timing=event': it changes timing, threads, guard, realtime "
                      "or max_time of 'timing=none'",
                      self.compare(text=EXPERIMENT.replace("in_flight: [1, 2]",
                                                           "timing: [none, event]")))
        sized = SMALL.replace("inputs:", "params: {side: 16, k: 3}\ninputs:").replace(
            "16, 16", "$side, $side").replace("k: 3\nrun", "k: $k\nrun")
        self.path = self.pipeline(sized)
        self.source = self.measured("sized.json")
        self.assertIn("configuration 'side=20': ", self.compare(
            text=EXPERIMENT.replace("in_flight: [1, 2]", "side: [16, 20]")))
        self.assertIn("tensor 'x' is float32 [1, 3, 16, 16] there, but float32 [1, 3, 20, 20] in",
                      self.compare(text=EXPERIMENT.replace("in_flight: [1, 2]", "side: [16, 20]")))
        done = graphline("compare", PIPELINES / "experiments/priorities_under_load.yaml",
                         "--predict", self.source)
        self.expect(done, 2, "configuration '")

    def test_pipelines_at_once_are_refused(self):
        self.pipeline(SMALL, "other.yaml")
        together = """experiment: both
together:
  - {name: a, pipeline: small.yaml}
  - {name: b, pipeline: other.yaml}
trials: 2
"""
        self.assertIn("it runs 2 pipelines at once, but --predict predicts one pipeline at a time",
                      self.compare(text=together))

    def test_options_about_stored_trials_are_refused(self):
        for words in (["--resume"], ["--overwrite"], ["--check"], ["--store", "x"]):
            self.assertIn("excludes", self.compare(*words))
        self.assertFalse(list(self.folder.glob("*.jsonl")))

    def test_results_that_are_no_measured_run_are_refused(self):
        saved = self.folder / "e.json"
        self.compare("--json", saved, status=0)
        self.source = saved
        self.assertIn(f"--predict '{saved}': not the result of one run", self.compare())
        predicted = self.folder / "predicted.json"
        self.expect(graphline("predict", self.path, "--from", self.folder / "source.json", "--json",
                              predicted), 0)
        self.source = predicted
        self.assertIn("it is itself a prediction", self.compare())

    def test_a_result_may_not_replace_a_source(self):
        before = self.source.read_bytes()
        self.compare("--json", self.source)
        self.assertEqual(self.source.read_bytes(), before)


class capacity(PredictedCase):
    def test_files_say_where_they_come_from_and_are_the_same_each_time(self):
        made = self.same_again("capacity", self.path, "--under", "1s", "--json", "c.json")
        result = json.loads(made["c.json"])
        self.assertEqual(result["record"]["prediction"]["sources"], [str(self.source)])
        self.assertNotIn("conditions", result["record"])
        # A frame of the serial run takes a millisecond and more.
        self.assertLess(result["capacity"]["value"], 1000)
        self.assertGreater(result["capacity"]["value"], 10)
        saved = self.folder / "saved.json"
        saved.write_bytes(made["c.json"])
        done = graphline("report", saved)
        self.expect(done, 0)
        self.assertRegex(" ".join(done.stdout.split()), ORIGIN)

    def test_several_sources_give_a_result(self):
        other = self.measured("other.json")
        result = self.result_of("capacity", self.path, "--under", "20ms", "--arrival", "poisson",
                                "--predict", self.source, "--predict", other)
        self.assertEqual(result["record"]["prediction"]["sources"],
                         [str(self.source), str(other)])
        self.assertEqual(result["record"]["prediction"]["source_frames"], 24)

    def test_sources_that_lack_a_stage_are_refused(self):
        self.expect(graphline("capacity", PIPELINES / "fan_out.yaml", "--under", "20ms",
                              "--predict", self.source), 2, "it has no stage 'detect'")


if __name__ == "__main__":
    unittest.main(argv=["predicted_campaigns_test.py"])
