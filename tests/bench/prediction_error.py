#!/usr/bin/env python3
"""Compares predictions with real runs on `host`. Each pipeline runs serially once; from this result
`graphline predict` predicts other settings, which then really run, `--rounds` times each.

Prints the predicted p50, p95 and throughput, the median and range of the real ones, the error in
percent, and how many of the real figures lie in the prediction's 95 % interval.

usage: prediction_error.py GRAPHLINE PIPELINE.yaml... [--frames N] [--rounds N]
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

# Strategy, frames in flight, arrivals, and their rate as a part of the serial throughput.
SETTINGS = [("serial", 1, "closed", 0), ("async", 1, "closed", 0), ("overlap", 1, "closed", 0),
            ("overlap", 2, "closed", 0), ("overlap", 4, "closed", 0),
            ("overlap", 2, "constant", 0.7), ("async", 1, "poisson", 0.5)]

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("pipelines", nargs="+", type=pathlib.Path)
parser.add_argument("--frames", type=int, default=100)
parser.add_argument("--rounds", type=int, default=3)
given = parser.parse_args()


def result_of(file, command, pipeline, strategy, in_flight, arrival, rate, *words):
    options = ["--strategy", strategy, "--in-flight", in_flight, "--arrival", arrival]
    if arrival != "closed":
        options += ["--rate", round(rate, 3)]
    words = [given.program, command, pipeline, "--device", "host", "--frames", given.frames,
             "--json", file, "--quiet", *options, *words]
    subprocess.run([str(word) for word in words], check=True, stderr=subprocess.DEVNULL)
    return json.loads(file.read_text())


def figures_of(result):
    return {"p50": result["end_to_end"]["p50"], "p95": result["end_to_end"]["p95"],
            "throughput": result["throughput"]["value"]}


with tempfile.TemporaryDirectory() as folder:
    source, file = pathlib.Path(folder) / "source.json", pathlib.Path(folder) / "result.json"
    print(f"{'':32}{'predicted':>11}{'real':>11}  {'from':>9}{'to':>10}{'error %':>9}  held")
    for pipeline in given.pipelines:
        serial = result_of(source, "run", pipeline, "serial", 1, "closed", 0)
        for strategy, in_flight, arrival, part in SETTINGS:
            rate = part * serial["throughput"]["value"]
            how = (pipeline, strategy, in_flight, arrival, rate)
            predicted = result_of(file, "predict", *how, "--from", source)
            intervals = {each["name"]: each
                         for each in predicted["record"]["prediction"]["figures"]}
            real = [figures_of(result_of(file, "run", *how, "--timing", "event"))
                    for _ in range(given.rounds)]
            print(f"{pipeline.stem}: {strategy}, {in_flight} in flight, {arrival}")
            for name, value in figures_of(predicted).items():
                values = [figures[name] for figures in real]
                middle = statistics.median(values)
                scale = 1 if name == "throughput" else 1e6  # intervals are in ns, figures in ms
                held = sum(intervals[name]["low"] <= scale * each <= intervals[name]["high"]
                           for each in values)
                print(f"  {name:30}{value:11.4g}{middle:11.4g}  {min(values):9.4g}"
                      f"{max(values):10.4g}{100 * (value / middle - 1):+9.1f}  "
                      f"{held} of {given.rounds}")
