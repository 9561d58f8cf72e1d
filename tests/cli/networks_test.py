"""Networks with several inputs and outputs.

usage: networks_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import sys
import unittest

from cli_test import Case, floats, graphline

PIPELINE = """pipeline: several
inputs:
  first: {shape: [2, 3], fill: normal}
  second: {shape: [2, 3], fill: normal}
stages:
  - name: net
    kind: network
    reads: {y: second, x: first}
    inputs: [x, y]
    outputs: [difference, positive]
    layers:
      - relu: {name: positive}
      - sub: {from: y, name: difference}
run: {frames: 3, warmup: 1}
"""


class Networks(Case):
    def file(self, text):
        path = self.folder / "several.yaml"
        path.write_text(text)
        return path

    def test_tensors_meet_layers_by_name(self):
        done = graphline("run", self.file(PIPELINE), "--device", "host", "--save-tensors",
                         self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        x, y, positive, difference = (floats(self.folder / f"{name}.npy") for name in (
            "input.first", "input.second", "output.net.positive", "output.net.difference"))
        self.assertEqual(positive, [max(number, 0) for number in x])
        for given, one, other in zip(difference, positive, y, strict=True):
            self.assertAlmostEqual(given, one - other, places=6)

    def test_names_that_do_not_fit_are_refused(self):
        for old, new, said in (
                ("{y: second, x: first}", "first",
                 "stage 'net' reads 1 tensor, but kind 'network' reads 2: x, y"),
                ("{y: second, x: first}", "{x: first, z: second}",
                 ":8:23: error: stage 'net' has no input 'z' (known: x, y)"),
                ("{y: second, x: first}\n    inputs: [x, y]", "[first, second]\n    inputs: x",
                 "reads 2 tensors, but kind 'network' reads 1: x; 'inputs' names several"),
                ("[difference, positive]", "difference\n    writes: [one, two]",
                 "kind 'network' writes 1: difference; 'outputs' names several"),
                ("    layers:", "    raeds: first\n    layers:",
                 "unknown key 'raeds' in stage 'net' (network) (did you mean 'reads'?)"),
                ("    layers:", "    writes: [one]\n    layers:",
                 "names 1 tensor to write, but kind 'network' writes 2: difference, positive"),
                ("[difference, positive]", "[diference, positive]",
                 ":10:15: error: no layer is named 'diference' (did you mean 'difference'?)"),
                ("inputs: [x, y]", "inputs: [x, x]", ":9:17: error: 'inputs' names 'x' twice"),
                ("[x, y]", "{x: y}", "'inputs' must be a name or a list of names")):
            with self.subTest(said):
                done = graphline("check", self.file(PIPELINE.replace(old, new)))
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
