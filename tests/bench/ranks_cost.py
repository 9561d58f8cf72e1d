#!/usr/bin/env python3
"""Compares the time of a frame on two ranks with that in two processes without MPI.

Both run the same pipeline at the same time, each on a core of its own, in pairs in random order.
Prints the ratio of the median times of a frame (ranks over processes) with a 95 % interval of its
mean over the pairs. Needs mpirun and two cores.

usage: ranks_cost.py GRAPHLINE [--pairs N] [--frames N]
"""

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("program", type=pathlib.Path)
parser.add_argument("--pairs", type=int, default=30)
parser.add_argument("--frames", type=int, default=1000)
given = parser.parse_args()
PROGRAM = str(given.program.resolve())

# Open MPI asks for these of root.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PIPELINE = f"""pipeline: small
inputs: {{x: {{shape: [1, 8, 64, 64]}}}}
stages:
  - {{name: net, kind: network, reads: x, layers: [{{conv2d: {{out_channels: 16, kernel: 3}}}}]}}
  - {{name: work, kind: cpu.spin, duration: 200us, after: net}}
run: {{frames: {given.frames}, warmup: 50, strategy: serial}}
"""


def median(run):
    frames = run["frames"]
    return statistics.median(end - due for due, end in zip(frames["due"], frames["end"]))


def without_mpi(folder):
    processes = [subprocess.Popen(
        ["taskset", "-c", str(core), PROGRAM, "run", "p.yaml", "--device", "host", "--quiet",
         "--json", f"{core}.json"], cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL) for core in (0, 1)]
    if any([process.wait() for process in processes]):
        raise SystemExit("a run failed")
    return [median(json.loads((folder / f"{core}.json").read_text())["record"])
            for core in (0, 1)]


def on_ranks(folder):
    subprocess.run(
        ["mpirun", "-n", "2", "--bind-to", "core", PROGRAM, "run", "p.yaml", "--device", "host",
         "--quiet", "--json", "r.json"], cwd=folder, check=True, env=ENVIRONMENT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ranks = json.loads((folder / "r.json").read_text())["record"]["ranks"]
    return [median(rank["run"]) for rank in ranks]


def main():
    logs = []
    times = {without_mpi: [], on_ranks: []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "p.yaml").write_text(PIPELINE)
        for _ in range(given.pairs):
            pair = {}
            for way in random.sample([without_mpi, on_ranks], 2):
                pair[way] = statistics.fmean(way(folder))
                times[way].append(pair[way])
            logs.append(math.log(pair[on_ranks] / pair[without_mpi]))
    mean = statistics.fmean(logs)
    half = 1.96 * statistics.stdev(logs) / math.sqrt(len(logs))
    print(f"median time of a frame: {statistics.median(times[without_mpi]) / 1e3:.1f} us without "
          f"MPI, {statistics.median(times[on_ranks]) / 1e3:.1f} us on ranks")
    print(f"ratio {math.exp(mean):.4f}, 95 % interval {math.exp(mean - half):.4f} to "
          f"{math.exp(mean + half):.4f}, of {given.pairs} pairs")


if __name__ == "__main__":
    main()
