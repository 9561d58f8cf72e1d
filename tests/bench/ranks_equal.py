#!/usr/bin/env python3
"""Counts false verdicts of `graphline compare` on two ranks, of which one is slower.

Each experiment compares two equal configurations of one stage. The second rank takes 20 % longer.
Prints the share of experiments with a verdict of faster or slower on any figure, the interval of
the p50's ratio, and the error of the clocks of a run. Needs mpirun and the plug-in `paced` of the
tests.

usage: ranks_equal.py GRAPHLINE PACED.so [--experiments N] [--trials N] [--factor F]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("program", type=pathlib.Path)
parser.add_argument("plugin", type=pathlib.Path)
parser.add_argument("--experiments", type=int, default=100)
parser.add_argument("--trials", type=int, default=10)
parser.add_argument("--factor", type=float, default=1.2)
given = parser.parse_args()

# Open MPI asks for these of root.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PIPELINE = f"""pipeline: paced
plugins: {given.plugin.resolve()}
params: {{n: 1}}
stages: [{{name: work, kind: test.paced, duration: 2ms}}]
run: {{frames: 20, warmup: 1, strategy: serial}}
"""


def on_two_ranks(folder, *words):
    command = [str(given.program.resolve()), *words, "--device", "host", "--quiet", "--json",
               "r.json"]
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "-n", "1", *command, ":", "-n", "1", "env",
         f"GRAPHLINE_TEST_PACE={given.factor}", *command],
        cwd=folder, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads((folder / "r.json").read_text())


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "paced.yaml").write_text(PIPELINE)
        false = 0
        ratios = []
        for seed in range(given.experiments):
            (folder / "e.yaml").write_text(
                f"experiment: equal\npipeline: paced.yaml\nvary: {{n: [1, 2]}}\n"
                f"trials: {given.trials}\nseed: {seed + 1}\n")
            result = on_two_ranks(folder, "compare", "e.yaml", "--overwrite")
            found = result["comparisons"]
            false += any(one["verdict"] in ("faster", "slower") for one in found)
            ratios.append(next(one["ratio"] for one in found if one["figure"] == "p50"))
        levels = [one["p50"] for one in result["ranks"]]
        print(f"{false} of {given.experiments} experiments have a false verdict; the p50 of the "
              f"ranks is {levels[0]:.3g} and {levels[1]:.3g} ms; the ratio of the p50 is "
              f"{min(ratios):.4f} to {max(ratios):.4f}, median {statistics.median(ratios):.4f}")
        errors = [clock["error_ns"] for rank in
                  on_two_ranks(folder, "run", "paced.yaml")["record"]["ranks"]
                  for clock in rank["clock"]]
        print(f"error of the clocks' offset: {min(errors) / 1000:.1f} to "
              f"{max(errors) / 1000:.1f} us")


main()
