"""The rate of false verdicts on two equal configurations: of `graphline compare`, and of a
comparison of two means by the noise of their frames.

usage: false_verdicts.py GRAPHLINE [--experiments N]

Each experiment compares a pipeline with itself. The second method takes the same frames: of each
configuration all frames of one trial, or of all trials, as if they were independent (Welch's t
test, two-sided, at 5 %; with so many frames t is normal).
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

PIPELINE = """pipeline: same
stages:
  - {name: numbers, kind: cpu.random_normal, shape: [1, 3, 64, 64]}
  - {name: copy, kind: traffic, reads: numbers}
run: {timing: none, strategy: async}
"""
EXPERIMENT = """experiment: same_twice
pipeline: same.yaml
frames: 30
trials: 10
margin: 0.1%
configurations: [{name: one}, {name: other}]
"""


def means_differ(a, b):
    """Whether the means of two samples differ by Welch's test at 5 %."""
    error = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    return abs(statistics.fmean(a) - statistics.fmean(b)) > 1.96 * error


def frames_of(result, configuration, blocks):
    return [end - due for trial in result["record"]["trials"]
            if trial["configuration"] == configuration and trial["block"] in blocks
            for due, end in zip(trial["members"][0]["frames"]["due"],
                                trial["members"][0]["frames"]["end"])]


def main():
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("graphline", type=pathlib.Path)
    given.add_argument("--experiments", type=int, default=300)
    given = given.parse_args()
    program = given.graphline.resolve()
    counts = {"compare, p50": 0, "compare, throughput": 0, "means of one trial each": 0,
              "means of all frames": 0}
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "same.yaml").write_text(PIPELINE)
        for number in range(given.experiments):
            pathlib.Path(folder, "same_twice.yaml").write_text(f"{EXPERIMENT}seed: {number}\n")
            subprocess.run([program, "compare", "same_twice.yaml", "--device", "host",
                            "--overwrite", "--quiet", "--json", "result.json"],
                           cwd=folder, check=True, capture_output=True, text=True)
            result = json.loads(pathlib.Path(folder, "result.json").read_text())
            for comparison in result["comparisons"]:
                key = f"compare, {comparison['figure']}"
                if key in counts and comparison["verdict"] in ("faster", "slower"):
                    counts[key] += 1
            blocks = set(range(10))
            counts["means of one trial each"] += means_differ(frames_of(result, 0, {0}),
                                                              frames_of(result, 1, {0}))
            counts["means of all frames"] += means_differ(frames_of(result, 0, blocks),
                                                          frames_of(result, 1, blocks))
    print(f"{given.experiments} experiments of a pipeline with itself; called different:")
    for name, count in counts.items():
        print(f"  {name:<26} {count:4d}  {100 * count / given.experiments:5.1f} %")


if __name__ == "__main__":
    main()
