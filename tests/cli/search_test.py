"""graphline search: exit status, messages, files.

usage: search_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import sys
import time
import unittest

from cli_test import Case, graphline

# A frame takes as long as the parameter says, whatever else the machine does.
PAUSES = """pipeline: pauses
params: {pause: 4ms}
stages:
  - {name: pause, kind: cpu.spin, duration: $pause}
run: {warmup: 1, frames: 10, strategy: serial}
"""
OVER = ["--over", "pause=2ms,4ms,6ms", "--over", "in_flight=1,2", "--over", "strategy",
        "--over", "priorities"]


class search(Case):
    def words(self, *words, text=PAUSES):
        return ["search", self.pipeline(text, "p.yaml"), "--device", "host", *words]

    def found(self, *words, status=0):
        path = self.folder / "r.json"
        done = graphline(*self.words(*OVER, "--time-limit", "4s", "--json", path, *words),
                         cwd=self.folder)
        self.expect(done, status)
        return " ".join(done.stdout.split()), json.loads(path.read_text())

    def refused(self, *words, text=PAUSES):
        done = graphline(*self.words(*words, text=text))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        return " ".join(done.stderr.split())

    def test_the_best_is_confirmed_and_compared_with_the_file(self):
        page, notes = self.folder / "r.html", self.folder / "r.md"
        text, result = self.found("--html", page, "--markdown", notes)
        answer = result["answer"]
        self.assertTrue(answer["chosen"])
        self.assertTrue(answer["settings"].startswith("pause=2ms"), answer)
        self.assertRegex(text, r"settings pause=2ms")
        self.assertRegex(text, r"p50 \d+\.\d+ ms \(95 % interval")
        self.assertRegex(text, r"time \d\.\d+ s time limit 4.00 s")
        self.assertRegex(text, r"against the file -\d+\.\d % \(95 % interval")
        self.assertRegex(text, r"in the pipeline's file: (run: \{.*\} )?params: \{pause: 2ms\}")
        for name in (page, notes):
            self.assertIn("Best settings", name.read_text())
        # 3 pauses with 3 strategies; all but serial also with two frames in flight. Priorities have
        # no effect, and there are no device stages.
        candidates = result["record"]["search"]["candidates"]
        self.assertEqual(len(candidates), 3 * (3 + 2))
        self.assertEqual(result["search"]["candidates"], len(candidates))
        # Its figures come from the confirmation: those trials are in the record, the race's not.
        record = result["record"]
        self.assertEqual(len(record["trials"]), 10 * len(record["configurations"]))
        names = [one["name"] for one in record["configurations"]]
        self.assertLessEqual(len(names), 4)
        self.assertIn("as in the file", names)
        self.assertEqual([one["name"] for one in candidates if one["outcome"] == "confirmed"],
                         [one["name"] for one in candidates if one["name"] in names])
        again = graphline("report", self.folder / "r.json")
        self.expect(again, 0)
        self.assertIn("Best settings", again.stdout)
        self.expect(graphline("diff", self.folder / "r.json", self.folder / "r.json"), 0)

    def test_compare_resumes_the_confirmation(self):
        folder = self.folder / "kept"
        folder.mkdir()
        path = folder / "e.yaml"
        _, result = self.found("--experiment", path)
        trials = len(result["record"]["trials"])
        count = len(result["record"]["configurations"])
        self.assertIn("pipeline: ../p.yaml\n", path.read_text())
        done = graphline("compare", path, "--device", "host", "--resume", "--trials", 11, "--json",
                         self.folder / "c.json", cwd=self.folder)
        self.expect(done, 0, f"going on from {trials} trials")
        more = json.loads((self.folder / "c.json").read_text())["record"]["trials"]
        self.assertEqual(len(more), trials + count)

    def test_priorities_are_predicted_from_one_run_of_the_stages(self):
        # 243 combinations; the long stage after "b" decides how long a frame takes.
        text = """pipeline: order
params: {a: 1, b: 1, c: 1, d: 1, e: 1}
stages:
  - {name: first, kind: cpu.spin, duration: 100us}
  - {name: a, kind: cpu.spin, duration: 1ms, after: first, priority: $a}
  - {name: c, kind: cpu.spin, duration: 1ms, after: first, priority: $c}
  - {name: d, kind: cpu.spin, duration: 1ms, after: first, priority: $d}
  - {name: e, kind: cpu.spin, duration: 1ms, after: first, priority: $e}
  - {name: b, kind: cpu.spin, duration: 3ms, after: first, priority: $b}
run: {strategy: overlap, policy: fixed_priority, workers: 2, warmup: 1, frames: 10}
"""
        over = [word for key in "abcde" for word in ("--over", key + "=1,2,3")]
        over += ["--over", "policy=fixed_priority", "--over", "strategy=overlap", "--over",
                 "wait=yield", "--over", "graphs=off", "--over", "in_flight=1", "--over",
                 "priorities=on"]
        done = graphline(*self.words(*over, "--time-limit", "12s", "--json", "-",
                                     text=text), cwd=self.folder)
        self.expect(done, 0)
        candidates = json.loads(done.stdout)["record"]["search"]["candidates"]
        times = {one["name"]: one.get("predicted") for one in candidates}
        self.assertEqual(len(times), 243, "the file is one of the grid")
        self.assertNotIn(None, times.values())
        # The file starts "b" last, which takes longest. At best, two workers share the five stages
        # as 3 + 1 and 3 * 1 ms after "first"; on a busy machine they take longer.
        self.assertGreaterEqual(min(times.values()) / 1e6, 4.1)
        self.assertLess(min(times.values()), times["as in the file"])

    def test_a_constraint_that_nothing_meets_names_the_nearest_and_what_it_lacks(self):
        text, result = self.found("--subject-to", "throughput>=2000/s", status=4)
        self.assertFalse(result["answer"]["chosen"])
        self.assertIn("no confirmed candidate meets every constraint with confidence", text)
        self.assertRegex(text, r"the nearest is 'pause=2ms")
        self.assertRegex(text, r"throughput >= 2000 frame/s \d+\.\d+ frame/s fails")

    def test_a_constraint_holds_by_its_bound(self):
        text, result = self.found("--subject-to", "p90<=100ms", "--subject-to",
                                  "device_memory<=1GiB", "--minimize", "p90")
        self.assertTrue(result["answer"]["settings"].startswith("pause=2ms"))
        self.assertRegex(text, r"p90 <= 100 ms \d.* ms holds")
        self.assertIn("device_memory <= 1.07 GB 0 B holds", text)

    def test_bad_options_are_refused_with_the_remedy(self):
        for words, expected in (
                (["--minimize", "p98"], "--minimize p98: unknown metric 'p98'"),
                (["--maximize", "p50"], "--maximize p50: use --minimize with a percentile"),
                (["--subject-to", "p99"], "expected METRIC<=LIMIT"),
                (["--subject-to", "p99<=20"], "such as 20ms"),
                (["--subject-to", "late<=1%"], "unknown metric 'late' (known: p50"),
                (["--time-limit", "0s"], "--time-limit 0s: expected a time from 1s"),
                (["--time-limit", "90"], "--time-limit 90: expected a time"),
                (["--over", "pauses=1ms"], "(did you mean 'pause'?)"),
                (["--over", "pause"], "expected values: --over pause=VALUE,VALUE"),
                (["--over", "pause=soon,1ms"], "--over pause=soon,1ms"),
                (["--over", "strategy=asink"], "unknown value 'asink'"),
                (["--over", "rate=20,30"], "this setting is part of the load"),
                (["--minimize", "p99", "--time-limit", "1s"],
                 "--time-limit 1.00 s: the search takes at least"),
                (["--set", "pauses=1ms"], "no parameter 'pauses'"),
                (["--over", "wait", "--over", "graphs=off,stage"], "there is nothing to search"),
                (["--json", self.folder / "p.yaml"], "--json")):
            self.assertIn(expected, self.refused(*words), words)
        self.assertIn("--minimize excludes --maximize",
                      self.refused("--minimize", "p50", "--maximize", "throughput"))
        self.assertIn("unknown kind 'cpu.spun'",
                      self.refused(text=PAUSES.replace("cpu.spin", "cpu.spun")))

    def test_an_experiment_is_no_pipeline(self):
        self.pipeline(PAUSES, "p.yaml")
        for text in ("pipeline: p.yaml\nvary: {in_flight: [1, 2]}\n",
                     "together: [{pipeline: p.yaml}, {name: q, pipeline: p.yaml}]\n"):
            experiment = self.pipeline("experiment: e\n" + text, "e.yaml")
            done = graphline("search", experiment, "--device", "host")
            self.expect(done, 2)
            self.assertRegex(" ".join(done.stderr.split()), "declares an experiment, not a "
                             "pipeline; use it with 'graphline compare'")

    def test_settings_of_the_file_that_fail_end_the_search(self):
        self.assertEqual(list(self.folder.glob("*.json")), [])
        text = PAUSES.replace("duration: $pause}", "duration: $pause}\n  - {name: pictures, kind: "
                              "cpu.images, path: none}")
        self.assertIn("none", self.refused(*OVER, text=text))

    def test_ctrl_c_reports_the_best_so_far_as_not_confirmed(self):
        path = self.folder / "r.json"
        # Trials have the 100 frames of p99, so the race takes far longer than the wait for a trial.
        # On a machine that does other work, the first trial may come late.
        for seconds in (3, 6, 12, 24):
            process = self.start(*self.words(*OVER, "--minimize", "p99", "--time-limit", "300s",
                                             "--json", path))
            time.sleep(seconds)
            out, err = self.interrupt(process)
            if path.exists():
                break
        out = " ".join(out.split())
        self.assertIn("INTERRUPTED", out + err)
        self.assertRegex(out, r"settings \S.* not confirmed")
        self.assertIn("with selection bias", out)
        result = json.loads(path.read_text())
        self.assertTrue(result["interrupted"])
        self.assertFalse(result["answer"]["chosen"])
        self.assertEqual(result["record"]["trials"], [])
        self.assertTrue(any(one["outcome"] == "measured" for one in
                            result["record"]["search"]["candidates"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
