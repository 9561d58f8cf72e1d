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
            frames = run["members"][0]["frames"]
            self.assertEqual(len(frames["due"]), run["members"][0]["settings"]["frames"])
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

    def set_of(self, light="", more=""):
        """Two pipelines that share one worker and need it for 60 % of the time."""
        for name, time, rate in (("light", "1ms", 100), ("heavy", "10ms", 50)):
            settings = light if name == "light" and light else \
                f"arrival: constant, rate: {rate}, deadline: {1000 / rate}ms"
            self.pipeline(f"""pipeline: {name}
stages: [{{name: work, kind: cpu.spin, duration: {time}}}]
run: {{strategy: overlap, workers: 1, {settings}}}
""", f"{name}.yaml")
        return self.pipeline(f"""experiment: two
together: [{{pipeline: light.yaml}}, {{pipeline: heavy.yaml}}]
share: cpu
{more}""", "set.yaml")

    def test_the_highest_factor_on_the_rates_of_a_set_is_found(self):
        # At a factor of 1 / 0.6 the worker is busy all the time. The trace has 100 times a second.
        path = self.folder / "c.json"
        (self.folder / "light.csv").write_text("due_ms\n" + "".join(
            f"{10 * i + i % 3}\n" for i in range(400)))
        light = "arrival: trace, arrival_file: light.csv, deadline: 10ms"
        done = graphline("capacity", self.set_of(light, "run: {policy: deadline}"), "--device",
                         "host", "--percentile", "p90", "--within", "20%", "--frames", "40",
                         "--json", path)
        self.expect(done, 0)
        self.assertIn("share=cpu", done.stdout)
        result = json.loads(path.read_text())
        self.assertIsNotNone(result["capacity"]["value"], done.stdout)
        self.assertLessEqual(result["capacity"]["interval"][0], 1.03 / 0.6)
        self.assertIn(result["probes"][0]["pipeline"], ("light", "heavy"))
        for run in result["record"]["runs"]:
            self.assertEqual([one["pipeline"] for one in run["members"]], ["light", "heavy"])
            due, rate = run["members"][0]["frames"]["due"], run["rate"]
            self.assertAlmostEqual((due[9] - due[0]) * rate, 90e6, delta=10)
        again = graphline("report", path)
        self.expect(again, 0)
        self.assertEqual(again.stdout, done.stdout)

    def test_what_a_set_lacks_is_said(self):
        def refused(experiment, *words):
            done = graphline("capacity", experiment, "--device", "host", *words)
            self.expect(done, 2)
            return done.stderr

        self.assertIn("pipeline 'light'", refused(self.set_of("arrival: constant, rate: 9")))
        self.assertIn("member 'light' has 'poisson'",
                      refused(self.set_of("arrival: poisson, rate: 9, deadline: 9ms")))
        self.assertIn("--in-flight 2: an experiment states its settings",
                      refused(self.set_of(), "--in-flight", "2"))
        self.assertIn("--predict predicts one pipeline", refused(self.set_of(), "--predict", "x"))
        self.assertIn("--configuration fifo: the experiment has no such configuration; it has "
                      "'policy=fifo' (c1) and 'policy=deadline' (c2)",
                      refused(self.set_of(more="vary: {policy: [fifo, deadline]}"),
                              "--configuration", "fifo"))
        self.assertIn("member 'light' has 'poisson'", refused(
            self.set_of(more="configurations: [{name: a}, {name: b, light.arrival: poisson}]"),
            "--configuration", "c2"))
        (self.folder / "light.csv").write_text("due_ms\n0\n10\n20\n")
        self.assertIn("a trace of the experiment ends after 1 frames of the pipeline with the "
                      "lowest rate; a verdict on p95 needs at least 79", refused(
                          self.set_of("arrival: trace, arrival_file: light.csv, deadline: 10ms")))
        alone = self.pipeline("experiment: one\npipeline: light.yaml\n"
                              "vary: {in_flight: [1, 2]}\n", "alone.yaml")
        self.assertIn("runs one pipeline at a time", refused(alone))
        self.assertIn("--configuration chooses from an experiment",
                      refused(self.pipeline(PAUSES), "--under", "1s", "--configuration", "a"))

    def test_a_pipeline_may_come_through_a_pipe(self):
        done = graphline("capacity", "/dev/stdin", "--device", "host", "--under", "1us",
                         input=PAUSES)
        self.expect(done, 0, "no rate keeps p95", stream="stdout")

    def test_ctrl_c_reports_and_saves_what_is_known(self):
        path = self.folder / "c.json"
        process = self.start(*self.words("--under", "60ms", "--frames", "2000", "--json", path))
        time.sleep(3)
        out, _ = self.interrupt(process)
        self.assertIn("INTERRUPTED", out)
        self.assertTrue(json.loads(path.read_text())["interrupted"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
