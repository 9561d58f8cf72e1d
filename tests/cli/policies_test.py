"""Scheduling policies on the command line.

usage: policies_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import sys
import unittest

from cli_test import Case, graphline

TWO = """pipeline: two
stages:
  - {name: one, kind: cpu.spin, duration: 200us}
  - {name: two, kind: cpu.spin, duration: 100us}
  - {name: on_device, kind: device.spin, duration: 100us}
run: {strategy: overlap, workers: 1, frames: 8, warmup: 2}
"""
NAMES = ["oldest_frame", "fifo", "declared", "fixed_priority", "deadline", "least_slack",
         "critical_path", "shortest_first", "random"]


class policies(Case):
    def test_are_listed_and_explained(self):
        listed = graphline("policies")
        self.expect(listed, 0, "what goes first", stream="stdout")
        first = [line.split()[0] for line in listed.stdout.splitlines()
                 if not line.startswith(" ")]
        self.assertEqual(first, ["policy", *NAMES])
        self.expect(graphline("policies", "least_slack"), 0, "Uses: deadlines, expected times",
                    "Source: Mok 1983", "Parameters: none", stream="stdout")
        self.expect(graphline("policies", "random"), 0, "seed", "whole number >= 0",
                    stream="stdout")
        self.expect(graphline("policies", "fixed_priorty"), 2,
                    "unknown policy 'fixed_priorty' (did you mean 'fixed_priority'?)")
        self.expect(graphline("policies", "edf"), 2, "unknown policy 'edf' (known: "
                    + ", ".join(NAMES) + ")")

    def run_with(self, *words):
        result = self.folder / "r.json"
        done = graphline("run", self.pipeline(TWO), "--device", "host", *words, "--json", result)
        self.expect(done, 0)
        return done.stdout, json.loads(result.read_text())

    def test_are_settings_of_a_run(self):
        for policy in (*NAMES, "random: {seed: 2}", "{random: {seed: 2}}"):
            shown, result = self.run_with("--policy", policy, "--deadline", "1s")
            self.assertEqual(result["record"]["settings"]["policy"], policy)
            shown = " ".join(shown.split())
            self.assertEqual(f"policy={policy}" in shown, policy != "oldest_frame", shown)
            stages = {stage["name"]: stage for stage in result["record"]["stages"]}
            # Both stages are ready at once; one worker takes the shorter one.
            if policy == "shortest_first":
                self.assertEqual(stages["two"]["preferred"], [1] * 8)  # to stage 0
                self.assertEqual(stages["one"]["preferred"], [0] * 8)
        shown, result = self.run_with("--window", "1")
        self.assertEqual(result["record"]["settings"]["window"], 1)
        self.assertIn("window=1", shown)
        self.assertNotIn("policy=", shown)

    def test_refuse_what_they_cannot_use(self):
        path = self.pipeline(TWO)
        for words, message in (
                (["fixed_prio"], "--policy fixed_prio: error: unknown policy 'fixed_prio' ("),
                (["fixed_priorty"], "(did you mean 'fixed_priority'?)"),
                (["random: {sead: 2}"], "unknown key 'sead' in policy random"),
                (["random: {seed: -1}"], "'seed' must be >= 0, found -1"),
                (["fifo: {seed: 1}"], "unknown key 'seed' in policy fifo"),
                (["deadline"], "policy: deadline needs deadlines; add a deadline"),
                (["critical_path", "--warmup", "0"], "use warmup: 1 or more")):
            self.expect(graphline("check", path, "--policy", *words), 2, message)

    def test_take_expected_times_from_a_result(self):
        path, source = self.pipeline(TWO), self.folder / "source.json"
        self.expect(graphline("run", path, "--device", "host", "--strategy", "serial", "--timing",
                              "event", "--json", source), 0)

        def swap(result):
            one, two = result["record"]["stages"][:2]
            self.assertEqual((one["name"], two["name"]), ("one", "two"))
            one["cpu"], two["cpu"] = two["cpu"], one["cpu"]

        for file, first in ((source, "two"), (self.changed(source, "swapped.json", swap), "one")):
            shown, result = self.run_with("--policy", "shortest_first", "--from", file)
            self.assertIn(f"expected times from {file} ", " ".join(shown.split()))
            record = result["record"]
            self.assertEqual(record["policy"]["expected_from"], [str(file)])
            self.assertIn(str(file), dict(record["files"]))
            one, two = (stage["cpu"]["begin"] for stage in record["stages"][:2])
            self.assertEqual([a < b for a, b in zip(one, two)], [first == "one"] * 8)
            self.assertNotIn("used as they are", " ".join(record["warnings"]))
        again = self.folder / "again.json"
        again.write_text(source.read_text())
        shown, _ = self.run_with("--policy", "shortest_first", "--from", source, "--from", again)
        self.assertIn("source.json,", shown)
        path.write_text(TWO + "# changed\n")
        run = ("run", path, "--device", "host", "--policy", "critical_path", "--quiet", "--from")
        self.expect(graphline(*run, source), 0, "another version of the pipeline's file; its stage "
                    "times are used as they are")
        other = self.changed(source, "other.json",
                             lambda result: result["record"]["device"].update(name="H200"))
        self.expect(graphline(*run, other), 0, "other.json was measured on host: H200")

    def test_refuse_results_without_the_expected_times_that_they_use(self):
        path, source = self.pipeline(TWO), self.folder / "source.json"
        run = ("run", path, "--device", "host")
        self.expect(graphline(*run, "--timing", "none", "--json", source), 0)
        remedy = "graphs=stage and one of the policies least_slack, critical_path, shortest_first"
        shortest = ("--policy", "shortest_first", "--from")
        for words, messages in (
                (("--from", source), ("--from: policy 'oldest_frame' uses no expected times with "
                                      "strategy=overlap, graphs=stage; omit --from, or", remedy)),
                (("--policy", "fifo", "--from", source), ("policy 'fifo' uses no", remedy)),
                ((*shortest, source, "--strategy", "serial"), ("with strategy=serial", remedy)),
                ((*shortest, source, "--graphs", "frame"), ("graphs=frame;", remedy)),
                ((*shortest, source), ("source.json: cannot use the stage times of this run: it "
                                       "was measured with timing=none, expected event",)),
                ((*shortest, self.folder / "missing.json"), ("missing.json",)),
                ((*shortest, path), ("small.yaml",))):
            with self.subTest(words):
                self.expect(graphline(*run, *words), 2, *messages)
        less = self.pipeline(TWO.replace("{name: two", "{name: deux"), "less.yaml")
        self.expect(graphline(*run, "--timing", "event", "--strategy", "serial", "--json", source,
                              "--quiet"), 0)
        self.expect(graphline("run", less, "--device", "host", *shortest, source), 2,
                    "it has no stage 'deux'; measure the pipeline again")

    def test_are_compared_like_any_setting(self):
        self.pipeline(TWO, "two.yaml")
        path = self.pipeline("""experiment: policies
pipeline: two.yaml
vary:
  policy: [oldest_frame, fifo, shortest_first, {random: {seed: 2}}]
  window: [0, 1]
trials: 2
""", "e.yaml")
        result = self.folder / "e.json"
        done = graphline("compare", path, "--device", "host", "--json", result, cwd=self.folder)
        self.expect(done, 0, "policy", "shortest_first", "window", stream="stdout")
        compared = json.loads(result.read_text())["configurations"]
        self.assertEqual(len(compared), 8)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
