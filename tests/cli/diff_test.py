"""graphline diff of two saved results.

usage: diff_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import subprocess
import sys
import unittest

from cli_test import GRAPHLINE, Case, graphline


class diff(Case):
    def result(self, name, *words):
        path = self.folder / name
        self.expect(graphline("run", self.pipeline(), "--json", path, *words), 0)
        return path

    def test_a_result_is_the_same_as_itself(self):
        path = self.result("a.json")
        done = graphline("diff", path, path)
        self.expect(done, 0, "small: end to end p50 ", ", 0 %", "net", "One run each",
                    "Source, settings, device and environment are the same.", stream="stdout")
        self.assertEqual(done.stderr, "")

    def test_what_changed_is_shown_in_figures_and_settings(self):
        before = self.result("a.json")

        def halve(result):
            record = result["record"]
            for key in ("due", "begin", "end"):
                record["frames"][key] = [time // 2 for time in record["frames"][key]]
            record["memory"]["device_peak_bytes"] *= 2
            record["settings"]["strategy"] = "overlap"

        after = self.changed(before, "b.json", halve)
        done = graphline("diff", before, after, "--json", "-")
        self.expect(done, 0, "-50.0 %", "+100", "strategy")
        found = json.loads(done.stdout)
        self.assertEqual(found["schema"], "graphline.diff/1")
        figures = {row["name"]: row for row in found["figures"]}
        self.assertAlmostEqual(figures["end to end p50"]["change"], -0.5, places=3)
        self.assertEqual(figures["device memory"]["change"], 1)
        self.assertIn({"name": "settings.strategy", "before": "async", "after": "overlap"},
                      found["differences"])

    def test_the_difference_is_saved(self):
        path, saved = self.result("a.json"), self.folder / "d.json"
        self.expect(graphline("diff", path, path, "--json", saved), 0)
        self.assertEqual(json.loads(saved.read_text())["of"], "graphline.run/1")
        self.expect(graphline("diff", path, path, "--json", self.folder / "no" / "d.json"), 2, "no")

    def test_a_table_that_nobody_takes_is_told_and_the_result_saved(self):
        path, saved = self.result("a.json"), self.folder / "s.json"
        for words in (("diff", path, path), ("overhead", self.pipeline(), "--trials", "1",
                                             "--frames", "2", "--device", "host")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([GRAPHLINE, *map(str, words), "--json", saved], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, words[0])
            self.assertIn("standard output", done.stderr)
            self.assertIn("schema", json.loads(saved.read_text()))

    def test_files_that_do_not_compare_are_refused_with_what_they_are(self):
        run, experiment = self.result("a.json"), self.folder / "o.json"
        self.expect(graphline("overhead", self.pipeline(), "--trials", "1", "--frames", "1",
                              "--json", experiment), 0)
        self.expect(graphline("diff", run, experiment), 2, "a run (graphline.run/1)",
                    "an experiment (graphline.experiment/1)")
        self.expect(graphline("diff", run, self.folder / "b.json"), 2, "no such file",
                    "(did you mean 'a.json'?)")
        self.expect(graphline("diff", run, self.pipeline()), 2,
                    "small.yaml: error: this is no result: results are JSON files")
        self.expect(graphline("diff", run), 2, "AFTER.json")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
