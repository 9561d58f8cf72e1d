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
