"""graphline compare, report and diff of 26 configurations on 80 columns.

usage: many_configurations_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import re
import sys
import unittest

from cli_test import Case, graphline

SPINS = """pipeline: spins
params: {length_of_work: 20us}
stages:
  - {name: work, kind: cpu.spin, duration: $length_of_work}
  - {name: rest, kind: cpu.spin, duration: 10us, after: work}
run: {frames: 4, warmup: 1, timing: host}
"""

GRID = """experiment: grid
pipeline: spins.yaml
vary:
  length_of_work: [""" + ", ".join(f"{20 + 20 * i}us" for i in range(13)) + """]
  timing: [none, host]
trials: 5
"""

IDS = [f"c{i}" for i in range(1, 27)]


class many_configurations(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        Case.setUp(case)
        cls.addClassCleanup(case.doCleanups)
        cls.work = case.folder
        case.pipeline(SPINS, "spins.yaml")
        case.pipeline(GRID, "grid.yaml")
        done = case.compare("--json", "r.json")
        cls.shown = done.stdout

    def compare(self, *words):
        done = graphline("compare", "grid.yaml", "--device", "host", *words, cwd=self.work)
        self.expect(done, 0)
        return done

    def parts(self, text):
        """Splits a text at empty lines; checks that no line is too long and no row empty."""
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
            self.assertNotRegex(line, r"^\S+( +-)+$")
        return [part.splitlines() for part in text.split("\n\n")]

    def rows(self, part):
        return [line.split()[0] for line in part if re.match(r"c\d+\b", line)]

    def test_the_plan_gives_each_an_id_and_what_it_is_set_to(self):
        parts = self.parts(self.compare("--check").stdout)
        self.assertRegex(parts[1][0],
                         r"^id \(.s\) +length_of_work +timing +a trial +compared with$")
        self.assertEqual(self.rows(parts[1]), IDS)
        self.assertRegex(parts[1][1], r"^c1 +20us +none .* baseline$")
        self.assertRegex(parts[1][4], r"^c4 +40us +host .* c1$")

    def test_the_report_has_a_row_for_each_in_every_table(self):
        parts = self.parts(self.shown)
        self.assertLess(len(self.shown.splitlines()), 180)
        legend, main, _, slow = parts[1:5]
        self.assertEqual(legend[0].split("  ")[0], "id")
        self.assertEqual(self.rows(legend), IDS)
        self.assertEqual(main[0], "Median end-to-end time")
        self.assertRegex(main[1], r"^id \(us\) +p50 +change % +95 % interval +verdict")
        self.assertEqual(self.rows(main), IDS)
        self.assertEqual(self.rows(slow), IDS)
        # On a busy machine no stage may have changed. timing=none times no stages.
        timed = {IDS[i] for i in range(1, 26, 2)}
        for part in parts:
            if part[0].startswith("Stages that changed"):
                self.assertLessEqual(set(self.rows(part)), timed)
        self.assertEqual(graphline("report", "r.json", cwd=self.work).stdout, self.shown)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
