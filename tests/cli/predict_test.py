"""graphline predict: exit status, messages, what it computes from a result.

usage: predict_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import statistics
import time
import unittest

from cli_test import ENDLESS, PIPELINES, SMALL, SOURCE, Case, graphline

# A flag, which is 0 in most frames, decides the rows of a stage and whether another one runs.
DECIDED = """pipeline: decided
inputs:
  x: {shape: [8, 16]}
stages:
  - {name: draw, kind: cpu.random_normal, shape: [1, 1], writes: r}
  - {name: unsure, kind: cpu.threshold, reads: r, above: 0.5, writes: flag}
  - {name: few, kind: network, reads: x, rows: flag, buckets: [1, 8], writes: y, layers: [relu]}
  - {name: dear, kind: network, reads: x, when: flag, writes: z, layers: [relu]}
  - {name: top, kind: cpu.top_k, reads: z, k: 2}
run: {frames: 30, warmup: 2}
"""


class predict(Case):
    def setUp(self):
        super().setUp()
        self.path = self.pipeline()
        self.source = self.measured(self.path)

    def measured(self, path, *words, name="source.json"):
        source = self.folder / name
        self.expect(graphline("run", path, "--device", "host", "--strategy", "serial",
                              "--in-flight", 1, "--timing", "event", "--json", source, *words), 0)
        return source

    def predicted(self, *words):
        return self.result_of("predict", self.path, "--from", self.source, *words)

    def test_the_report_says_what_it_is_and_is_the_same_each_time(self):
        words = ["predict", self.path, "--from", self.source, "--strategy", "overlap",
                 "--in-flight", 2, "--frames", 40]
        done = graphline(*words)
        self.expect(done, 0, "predicted from 12 frames of ", "95 % from", stream="stdout")
        self.assertEqual(graphline(*words).stdout, done.stdout)

    def test_the_settings_of_the_source_give_its_times(self):
        source = json.loads(self.source.read_text())["record"]
        made = self.predicted("--strategy", "serial")["record"]
        self.assertEqual(made["prediction"]["source_frames"], 12)
        sums = [0] * 12
        for before, after in zip(source["stages"], made["stages"]):
            self.assertEqual(before["name"], after["name"])
            times = self.times(before)
            self.assertEqual(times, self.times(after))
            sums = [a + b for a, b in zip(sums, times)]
        # A serial frame takes its stages, one after another, and the overheads between them.
        frames = [end - begin for begin, end in zip(made["frames"]["begin"], made["frames"]["end"])]
        for frame, stages in zip(frames, sums):
            self.assertGreaterEqual(frame, stages)

    def test_intervals_are_those_of_the_prediction(self):
        made = self.predicted("--frames", 100)
        figures = {each["name"]: each for each in made["record"]["prediction"]["figures"]}
        self.assertIn("mean", figures)
        self.assertIn("throughput", figures)
        for name in ("p50", "p95"):
            interval = made["end_to_end"]["intervals"][name]
            self.assertAlmostEqual(interval["low"], figures[name]["low"] / 1e6, delta=1e-6)
            self.assertAlmostEqual(interval["high"], figures[name]["high"] / 1e6, delta=1e-6)

    def test_several_runs_widen_the_intervals_by_their_differences(self):
        again = self.measured(self.path, name="again.json")
        made = self.predicted("--from", again, "--frames", 100)["record"]["prediction"]
        self.assertEqual(made["sources"], [str(self.source), str(again)])
        self.assertEqual(made["source_frames"], 24)
        other = self.folder / "other.json"
        self.expect(graphline("run", self.path, "--device", "host", "--strategy", "async",
                              "--timing", "event", "--json", other), 0)
        self.expect(graphline("predict", self.path, "--from", self.source, "--from", other), 2,
                    f"{other}: measured with another strategy than {self.source}")

    def test_a_changed_pipeline_is_told(self):
        self.path.write_text(self.path.read_text() + "# changed\n")
        self.expect(graphline("predict", self.path, "--from", self.source, "--quiet"), 0,
                    "was measured with another version of the pipeline's file; its stage times "
                    "are used as they are")

    def test_frames_without_time_have_no_interval(self):
        path = self.pipeline("pipeline: z\nstages:\n"
                             "  - {name: a, kind: cpu.spin, duration: 100us}\n"
                             "run: {frames: 40}\n", "z.yaml")
        source, made = self.measured(path, name="z.json"), self.folder / "made.json"
        self.expect(graphline("predict", path, "--from", source, "--strategy", "serial", "--scale",
                              "a=0", "--json", made), 0)
        self.assertNotIn("nan", made.read_text())
        self.expect(graphline("report", made), 0)

    def test_the_page_and_the_test_suite_say_that_they_are_predicted(self):
        page, suite = self.folder / "page.html", self.folder / "suite.xml"
        self.expect(graphline("predict", self.path, "--from", self.source, "--html", page,
                              "--junit", suite, "--fail-if", "p50>1s"), 0)
        self.assertIn('"predicted":true', page.read_text())
        self.assertIn('name="graphline predict ', suite.read_text())

    def test_a_faster_stage_makes_the_frame_faster_by_what_it_saves(self):
        before = self.predicted("--strategy", "serial")
        after = self.predicted("--strategy", "serial", "--scale", "pause=0.5")
        (pause,) = [stage for stage in before["record"]["stages"] if stage["name"] == "pause"]
        saved = statistics.mean(self.times(pause)) / 2e6
        self.assertAlmostEqual(before["end_to_end"]["mean"] - after["end_to_end"]["mean"], saved,
                               delta=1e-3)

    def times(self, stage):
        """The times of a stage, by frame."""
        if stage["on"] == "device":
            return stage["busy"]
        return [end - begin for begin, end in zip(stage["cpu"]["begin"], stage["cpu"]["end"])]

    def test_conditions_are_those_of_the_source(self):
        self.path = self.pipeline(DECIDED, "decided.yaml")
        self.source = self.measured(self.path, name="decided.json")
        source = json.loads(self.source.read_text())
        decided = [stage["name"] for stage in source["record"]["stages"] if "rows" in stage]
        self.assertEqual(decided, ["few", "dear", "copy:z", "top"])
        for strategy, graphs, in_flight in [("serial", "stage", 1), ("async", "off", 2),
                                            ("overlap", "stage", 3), ("async", "frame", 2)]:
            made = self.predicted("--strategy", strategy, "--graphs", graphs, "--in-flight",
                                  in_flight)
            for before, after in zip(source["record"]["stages"], made["record"]["stages"]):
                self.assertEqual(before.get("rows"), after.get("rows"),
                                 (before["name"], strategy, graphs))

    def test_arrivals_and_gates_apply(self):
        done = graphline("predict", self.path, "--from", self.source, "--arrival", "constant",
                         "--rate", 20000, "--frames", 200, "--fail-if", "p50>1us")
        self.expect(done, 4, "overloaded", stream="stdout")

    def test_sources_that_cannot_be_used_are_refused_with_the_remedy(self):
        untimed = self.folder / "untimed.json"
        self.expect(graphline("run", self.path, "--device", "host", "--timing", "none", "--json",
                              untimed), 0)
        self.expect(graphline("predict", self.path, "--from", untimed), 2,
                    "it was measured with timing=none, expected event; measure it with --timing "
                    "event")
        self.expect(graphline("predict", self.path, "--from", self.folder / "missing.json"), 2,
                    "missing.json")
        other = self.pipeline(SMALL.replace("16, 16", "20, 20"), "other.yaml")
        self.expect(graphline("predict", other, "--from", self.source), 2,
                    "tensor 'x' is float32 [1, 3, 16, 16] there, but float32 [1, 3, 20, 20] in the "
                    "pipeline")
        self.expect(graphline("predict", PIPELINES / "fan_out.yaml", "--from", self.source), 2,
                    "it has no stage 'detect'")
        self.expect(graphline("predict", self.path), 2, "--from")

    def test_wrong_options_are_refused(self):
        for scale, message in [("pause", "expected STAGE=FACTOR, with a factor"),
                               ("pause=fast", "expected STAGE=FACTOR, with a factor"),
                               ("pause=-1", "expected STAGE=FACTOR, with a factor"),
                               ("paus=2", "the pipeline has no such stage")]:
            with self.subTest(scale):
                self.expect(graphline("predict", self.path, "--from", self.source, "--scale",
                                      scale), 2, f"--scale {scale.split('=')[0]}", message)
        self.expect(graphline("predict", self.path, "--from", self.source, "--cores", 0), 2,
                    "--cores")
        for words, message in [(["pause"], "expected STAGE=TIME"),
                               (["pause=5"], "expected STAGE=TIME"),
                               (["pause=3601s"], "expected STAGE=TIME"),
                               (["paus=5ms"], "the pipeline has no such stage"),
                               (["pause=5ms", "--in-flight", 2], "2 frames are in flight, so"),
                               (["pause=5ms", "--arrival", "poisson", "--rate", 5],
                                "arrivals are poisson, so")]:
            with self.subTest(words):
                self.expect(graphline("predict", self.path, "--from", self.source, "--at-most",
                                      *words), 2, "--at-most", message)

    def test_longest_times_bound_the_frame(self):
        made = self.predicted("--strategy", "serial", "--at-most", "pause=70ms")
        worst = made["record"]["prediction"]["worst_case"]
        times = {each["stage"]: each["at_most_ns"] for each in worst["stages"]}
        self.assertEqual(times["pause"], 70_000_000)
        self.assertEqual(worst["bound_ns"],
                         sum(times.values()) + worst["issue_ns"] + worst["delays_ns"])
        self.assertLess(made["end_to_end"]["max"], worst["bound_ns"] / 1e6)
        self.assertAlmostEqual(made["worst_case"][-1]["at_most"], worst["bound_ns"] / 1e6)
        done = graphline("predict", self.path, "--from", self.source, "--arrival", "constant",
                         "--rate", 100, "--at-most", "pause=70ms")
        self.expect(done, 0, "--at-most gives no bound", "every 10.000", stream="stdout")

    def test_a_bound_needs_the_times_of_stages_that_never_ran(self):
        self.path = self.pipeline(DECIDED.replace("above: 0.5", "above: 99"), "never.yaml")
        self.source = self.measured(self.path, name="never.json")
        words = ["predict", self.path, "--from", self.source, "--at-most", "draw=1ms"]
        for stage in ("few", "dear", "copy:z", "top"):
            self.expect(graphline(*words), 2, f"stage '{stage}' did not run in the source",
                        f"--at-most {stage}=TIME")
            words += ["--at-most", f"{stage}=2ms"]
        self.expect(graphline(*words), 0, "Worst case", stream="stdout")

    def as_measured_on(self, device, name, **record):
        """The source as if its device had another name."""
        result = json.loads(self.source.read_text())
        result["record"]["device"].update(backend="cuda", name=device)
        result["record"].update(record)
        path = self.folder / name
        path.write_text(json.dumps(result))
        return path

    def on(self, source, device, *words):
        return graphline("predict", self.path, "--device", "host", "--strategy", "serial", "--from",
                         source, "--on", device, *words)

    def test_another_gpu_has_the_times_of_the_source_times_the_factors(self):
        source = self.as_measured_on("NVIDIA H200", "h200.json")
        self.expect(self.on(source, "h100"), 0, "small on cuda: NVIDIA H100 80GB HBM3",
                    "on NVIDIA H100 80GB HBM3 from NVIDIA H200, by public figures of both",
                    "the intervals also span these factors", stream="stdout")
        made = self.folder / "made.json"
        self.expect(self.on(source, "rtx4090", "--json", made), 0)
        made = json.loads(made.read_text())
        factors = {row["stage"]: row["factor"] for row in made["factors"]}
        self.assertEqual(set(factors), {"net", "copy:y"})
        before = json.loads(source.read_text())["record"]["stages"]
        for old, new in zip(before, made["record"]["stages"]):
            for a, b in zip(self.times(old), self.times(new)):
                self.assertAlmostEqual(a * factors.get(old["name"], 1), b, delta=1)

    def test_on_the_device_of_the_source_nothing_changes(self):
        source = self.as_measured_on("NVIDIA H200", "h200.json")
        results = []
        for words in [["--on", "h200"], []]:
            made = self.folder / "made.json"
            self.expect(graphline("predict", self.path, "--device", "host", "--from", source,
                                  "--json", made, *words), 0)
            result = json.loads(made.read_text())
            if words:
                self.assertEqual([[row[key] for key in ("low", "factor", "high")]
                                  for row in result.pop("factors")], [[1, 1, 1]] * 2)
                del result["record"]["prediction"]["device_change"]
            results.append(result)
        self.assertEqual(*results)

    def test_a_device_that_cannot_be_compared_is_refused_with_the_remedy(self):
        known = "a100, h100, h200, l4, l40s, orin, rtx4090"
        source = self.as_measured_on("NVIDIA H200", "h200.json")
        self.expect(self.on(source, "h20"), 2,
                    f"unknown device (did you mean 'h200'?); expected {known}")
        self.expect(self.on(source, source), 2, "this is a run, not a calibration")
        self.expect(self.on(self.source, "h100"), 2, "is a 'host' device, whose times tell nothing "
                    "about a GPU")
        other = self.as_measured_on("NVIDIA B300", "b300.json")
        self.expect(self.on(other, "h100"), 2, "the source ran on NVIDIA B300, of which no public "
                    f"figures are known (known: {known}); calibrate both devices")

    def test_measured_ceilings_are_compared_with_measured_ones(self):
        target = json.loads((SOURCE / "framework/device/known/l4.json").read_text())
        del target["environment"]["figures"]
        calibration = self.folder / "l4.json"
        calibration.write_text(json.dumps(target))
        self.expect(self.on(self.as_measured_on("NVIDIA H200", "h200.json"), calibration), 2,
                    "there is no calibration of NVIDIA H200", "graphline calibrate --device cuda")
        ceilings = [{"what": what, "precision": "float32", **dict.fromkeys(
            ["value", "worst", "best"], 1e11)} for what in (
                "read", "host_to_device_pinned", "device_to_host_pinned", "matmul")]
        source = self.as_measured_on("NVIDIA H200", "calibrated.json", calibration={
            "date": "2026-11-27T00:00:00Z", "ceilings": ceilings, "stale": []})
        self.expect(self.on(source, calibration, "--json", calibration), 2, "l4.json")
        self.expect(self.on(source, calibration), 0,
                    "on NVIDIA L4 from NVIDIA H200, by calibrations", stream="stdout")

    def test_validate_measures_and_predicts_in_rounds(self):
        path = self.folder / "v.json"
        done = graphline("predict", self.path, "--device", "host", "--validate", "--rounds", 3,
                         "--strategy", "overlap", "--frames", 12, "--json", path)
        self.expect(done, 0, "3 rounds", "predicted from the serial run of each round",
                    "Mean time of each stage", "p95 needs 59 frames",
                    stream="stdout")
        result = json.loads(path.read_text())
        self.assertEqual(result["schema"], "graphline.validation/1")
        self.assertEqual([each["name"] for each in result["figures"]],
                         ["mean", "p50", "p95", "throughput"])
        self.assertIn("pause", [each["stage"] for each in result["pieces"]])
        rounds = result["record"]["rounds"]
        self.assertEqual(len(rounds), 3)
        (pause,) = [stage for stage in result["stages"] if stage["name"] == "pause"]
        for when in "measured", "predicted":
            self.assertGreaterEqual(pause[when], 1e6)
            means = [statistics.mean(end - due for due, end in zip(frames["due"], frames["end"]))
                     for frames in (each[when]["frames"] for each in rounds)]
            self.assertAlmostEqual(result["figures"][0][when], statistics.median(means), delta=1)
        sources = set()
        for each in rounds:
            self.assertEqual(each["measured"]["settings"]["strategy"], "overlap")
            self.assertEqual(each["measured"]["settings"]["timing"], "event")
            source = each["predicted"]["prediction"]
            self.assertEqual(source["source_settings"]["strategy"], "serial")
            self.assertEqual(source["source_frames"], 12)
            sources.add(str(each["predicted"]["stages"]))
        self.assertEqual(len(sources), 3)  # each round measures its own
        self.assertEqual(["source" in each["measured"] for each in rounds], [True, False, False])
        self.assertEqual(graphline("report", path).stdout, done.stdout)

    def test_validate_may_take_the_stage_times_of_a_result(self):
        result = self.result_of("predict", self.path, "--from", self.source, "--validate",
                                "--rounds", 3, "--scale", "pause=5")
        (pause,) = [stage for stage in result["stages"] if stage["name"] == "pause"]
        (source,) = [stage for stage in json.loads(self.source.read_text())["record"]["stages"]
                     if stage["name"] == "pause"]
        self.assertAlmostEqual(pause["predicted"], 5 * statistics.mean(self.times(source)), delta=1)
        self.assertGreaterEqual(pause["measured"], 1e6)

    def test_wrong_options_of_validate_are_refused(self):
        for words, message in [(["--validate", "--rounds", 2], "3 to 100"),
                               (["--from", self.source, "--rounds", 5], "--validate"),
                               (["--validate", "--cores", 2], "--cores"),
                               (["--validate", "--csv", "a.csv"], "--csv"),
                               (["--validate", "--fail-if", "p50>1s"], "--fail-if"),
                               (["--validate", "--scale", "pause=2"], "needs --from"),
                               (["--validate", "--frames", 4], "4 complete frames, and 5 are"),
                               (["--validate", "--from", self.source, "--scale", "paus=2"],
                                "the pipeline has no such stage")]:
            with self.subTest(words):
                self.expect(graphline("predict", self.path, "--device", "host", *words), 2,
                            message)

    def test_validate_warns_once(self):
        path = self.pipeline(SMALL + "params: {unused: 1}\n", "unused.yaml")
        done = graphline("predict", path, "--device", "host", "--validate", "--rounds", 3)
        self.expect(done, 0)
        self.assertEqual(done.stderr.count("parameter 'unused' is never used"), 1)

    def test_ctrl_c_reports_the_complete_rounds(self):
        path = self.folder / "v.json"
        words = ["--device", "host", "--validate", "--rounds", 100, "--json", path]
        process = self.start("predict", self.path, *words, "--frames", 100)
        time.sleep(3)
        out, _ = self.interrupt(process)
        result = json.loads(path.read_text())
        self.assertIn(f"INTERRUPTED after {result['rounds']} of 100 rounds", out)
        self.assertTrue(result["interrupted"])
        self.assertEqual(len(result["record"]["rounds"]), result["rounds"])
        path.unlink()
        process = self.start("predict", self.pipeline(ENDLESS, "endless.yaml"), *words)
        time.sleep(2)
        _, err = self.interrupt(process)
        self.assertIn("interrupted before a round was complete", err)
        self.assertFalse(path.exists())


if __name__ == "__main__":
    unittest.main(argv=["predict_test.py"])
