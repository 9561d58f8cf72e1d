"""Command lines and files that graphline refuses with status 2, before anything runs.

usage: refusals_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import os
import shlex
import sys
import unittest

from cli_test import SMALL, Case, graphline
from compare_test import LENGTHS, SPINS

FILES = {"small.yaml": SMALL, "slow.yaml": SMALL.replace("1ms", "60s"), "spins.yaml": SPINS,
         "lengths.yaml": LENGTHS, "empty.yaml": "", "file": "",
         "trails.yaml": LENGTHS.replace("trials", "trails")}

# The command line, and fragments of the message.
REFUSED = (
    # Words
    ("ruun small.yaml", "unknown command 'ruun' (did you mean 'run'?)",
     "Run 'graphline --help' for the list."),
    ("help ruun", "unknown command 'ruun' (did you mean 'run'?)\n"
     "Run 'graphline --help' for the list.\n"),
    ("run small.yaml --framse 3", "--framse", "'--frames'",
     "Run 'graphline run --help' for the list."),
    ("run small.yaml --frames", "--frames", "required"),
    ("run small.yaml -n", "--frames", "required"),
    ("run small.yaml -x", "-x"),
    ("run small.yaml more", "more"),
    ("run small.yaml --seed 3 --seed 4", "--seed"),
    ("run small.yaml --json ''", "error: --json was given an empty text\n"),
    ("run small.yaml --frames ''", "--frames was given an empty text"),
    ("check ''", "PIPELINE.yaml was given an empty text"),
    ("stages netwrok", "(did you mean 'network'?)"),
    ("schema", "error: FILE is required\n"),
    ("schema pipelines", "error: there is no schema of 'pipelines' (did you mean 'pipeline'?)\n"),
    ("schema pipeline experiment", "was not expected"),
    ("schema pipeline --plugin gone.so", "gone.so' is not there"),
    # Values
    ("run small.yaml --color alway", "--color", "always"),
    ("run small.yaml --device cdua", "cdua", "cuda"),
    ("run small.yaml --strategy asnyc", "asnyc", "'async'"),
    ("run small.yaml --frames -3", "frames"),
    ("run small.yaml --deadline 20", "duration", "20ms"),
    ("run small.yaml --set batch", "name=value"),
    ("run small.yaml --set batch=3", "batch"),
    ("overhead small.yaml --trials 0", "--trials", "1 to 10000"),
    ("compare lengths.yaml --trials 0", "--trials"),
    ("compare lengths.yaml --time-limit 90", "--time-limit 90"),
    ("calibrate --clock fast", "--clock", "fast"),
    ("calibrate --clock 0", "--clock"),
    ("calibrate --clock 1e9", "--clock"),
    ("calibrate --device host --clock 1500", "--clock applies to GPU", "omit it"),
    ("calibrate --threads 5000", "--threads"),
    ("capacity spins.yaml", "--under 60ms", "deadline"),
    ("capacity spins.yaml --under 60", "unit", "60ms"),
    ("capacity spins.yaml --under 0ms", "above zero"),
    ("capacity spins.yaml --under 60ms --percentile p94", "--percentile", "p99.9"),
    ("capacity spins.yaml --under 60ms --within 90%", "50%"),
    ("capacity spins.yaml --under 60ms --arrival closed", "--arrival", "poisson"),
    ("capacity spins.yaml --under 60ms --frames 20", "at least 79 frames"),
    # Gates
    ("run slow.yaml --fail-if 'p98>20ms'",
     "error: --fail-if 'p98>20ms': unknown metric 'p98' (known: p50,"),
    ("run slow.yaml --fail-if ''", "--fail-if"),
    ("run slow.yaml --fail-if 'late>1%'", "--fail-if 'late>1%': the run has no deadline"),
    ("run slow.yaml --frames 298 --fail-if 'p99>1s'",
     "--fail-if 'p99>1s': p99 needs 299 frames, the run has 298"),
    ("run slow.yaml --junit j.xml", "--junit requires --fail-if"),
    ("compare lengths.yaml --fail-if 'late>2points'", "error: --fail-if 'late>2points': "
     "no two configurations that are compared have a deadline"),
    ("compare lengths.yaml --trials 4 --fail-if 'slower>5%'",
     "error: --fail-if 'slower>5%': a verdict needs 5 trials of each"),
    # Files
    ("run smal.yaml", "smal.yaml", "small.yaml"),
    ("run .", "folder"),
    ("run empty.yaml", "empty"),
    ("run binary.yaml", "binary.yaml"),
    ("compare trails.yaml", "trails.yaml:5:1: error:", "'trails'", "did you mean 'trials'?"),
    ("run small.yaml --json - --csv -", "--csv '-': another result goes there"),
    ("run slow.yaml --json no/r.json", "no/r.json"),
    ("run slow.yaml --csv .", "."),
    ("run slow.yaml --save-tensors file/t", "file/t"),
    ("run slow.yaml --fail-if 'p50>60min' --junit no/j.xml", "no/j.xml"),
    ("compare lengths.yaml --json no/file", "no/file"),
    ("compare lengths.yaml --csv no/file", "no/file"),
    ("compare lengths.yaml --html no/file", "no/file"),
    ("calibrate --device host --json missing/x.json", "make it first"),
)


class refusals(Case):
    def test_each_is_named_with_the_remedy(self):
        for name, text in FILES.items():
            self.pipeline(text, name)
        (self.folder / "binary.yaml").write_bytes(bytes(range(256)) * 4)
        before = sorted(os.listdir(self.folder))
        for command, *fragments in REFUSED:
            with self.subTest(command):
                done = graphline(*shlex.split(command), cwd=self.folder)
                self.expect(done, 2, *fragments)
                self.assertEqual(done.stdout, "")
                self.assertIn("error: ", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
