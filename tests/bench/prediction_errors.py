#!/usr/bin/env python3
"""Compares predictions with real runs on `host`, for many pipelines and settings.

Random pipelines of spinning stages, and the pipelines that are named, run in rounds: serially, then
under each setting. From all serial runs, `graphline predict` predicts each setting. Prints one line
for each case, then how many are within limits, and how many real figures lie in the intervals.

With --what-ifs, predicts for the random pipelines what changes if their longest stage takes 10 %
less, 10 % more or half as much again, and which frame rate keeps p95 within three times the serial
p50. Compares this with pipelines changed so, and with measured capacities.

usage: prediction_errors.py GRAPHLINE [PIPELINE.yaml...] [--random N] [--frames N] [--rounds N]
                            [--what-ifs]
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

CLOSED = [("serial", 1), *((strategy, k) for strategy in ("async", "overlap") for k in (1, 2, 4))]
# Strategy, frames in flight, arrivals, and their rate as a part of the serial throughput.
SETTINGS = [*((strategy, k, "closed", 0) for strategy, k in CLOSED),
            ("overlap", 2, "constant", 0.7), ("async", 1, "poisson", 0.5)]
FIGURES = {"p50": 0.05, "p95": 0.10, "throughput": 0.05}

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("pipelines", nargs="*", type=pathlib.Path)
parser.add_argument("--random", type=int, default=40)
parser.add_argument("--frames", type=int, default=100)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--what-ifs", action="store_true")
given = parser.parse_args()


def random_pipeline(seed, change=1):
    """3 to 8 stages of 0.1 to 3 ms, most on the device, some with varying times. The longest stage
    takes `change` times as long. Returns its name too."""
    draw = random.Random(seed)
    stages = []
    for i in range(draw.randint(3, 8)):
        on_device = draw.random() < 0.6
        mean = math.exp(draw.uniform(math.log(100), math.log(3000)))
        stage = {"name": f"s{i}", "kind": f"{'device' if on_device else 'cpu'}.spin",
                 "duration": f"{mean:.0f}us"}
        if not on_device and draw.random() < 0.5:
            stage.update(distribution="normal", stddev=f"{0.1 * mean:.0f}us")
        stage["after"] = [f"s{j}" for j in range(i) if draw.random() < min(1, 1.6 / i)]
        stages.append((mean, stage))
    mean, longest = max(stages, key=lambda pair: pair[0])
    longest["duration"] = f"{change * mean:.0f}us"
    lines = [f"  - {json.dumps(stage)}" for _, stage in stages]
    return "\n".join([f"pipeline: random_{seed}", "stages:", *lines, "run: {warmup: 10}", ""]), \
        longest["name"]


def result_of(file, command, pipeline, setting, serial_rate, *words):
    strategy, in_flight, arrival, part = setting
    options = ["--strategy", strategy, "--in-flight", in_flight, "--arrival", arrival]
    if part:
        options += ["--rate", round(part * serial_rate, 3)]
    words = [given.program, command, pipeline, "--device", "host", "--frames", given.frames,
             "--json", file, "--quiet", *options, *words]
    subprocess.run([str(word) for word in words], check=True, stderr=subprocess.DEVNULL)
    return json.loads(file.read_text())


def figures_of(result):
    times = result["end_to_end"]
    return {"p50": times["p50"], "p95": times["p95"], "throughput": result["throughput"]["value"]}


def intervals_of(result):
    scale = {"throughput": 1}
    return {each["name"]: (each["low"] / scale.get(each["name"], 1e6),
                           each["high"] / scale.get(each["name"], 1e6))
            for each in result["record"]["prediction"]["figures"]}


def cases_of(pipeline, folder):
    """(setting, predicted figures, intervals, figures of each real run) for each setting."""
    sources, real, rate = [], {setting: [] for setting in SETTINGS}, None
    for number in range(given.rounds):
        source = folder / f"source{number}.json"
        made = result_of(source, "run", pipeline, SETTINGS[0], 0, "--timing", "event")
        sources.append(source)
        rate = rate or made["throughput"]["value"]
        for setting in SETTINGS:
            made = result_of(folder / "real.json", "run", pipeline, setting, rate, "--timing",
                             "event")
            real[setting].append(figures_of(made))
    for setting in SETTINGS:
        words = [word for source in sources for word in ("--from", source)]
        made = result_of(folder / "predicted.json", "predict", pipeline, setting, rate, *words)
        yield setting, figures_of(made), intervals_of(made), real[setting]


WHAT_IF = ("overlap", 2, "closed", 0)
CHANGES = (1.1, 1.5, 0.9)


def check_what_ifs(folder):
    errors = {change: [] for change in CHANGES}
    capacities = []
    for seed in range(given.random):
        files = {}
        for change in (1, *CHANGES):
            text, stage = random_pipeline(seed, change)
            files[change] = folder / f"random_{seed}_{change}.yaml"
            files[change].write_text(text)
        sources, real = [], {change: [] for change in files}
        for number in range(given.rounds):
            sources.append(folder / f"source{number}.json")
            source = result_of(sources[-1], "run", files[1], SETTINGS[0], 0, "--timing", "event")
            for change, file in files.items():
                made = result_of(folder / "real.json", "run", file, WHAT_IF, 0, "--timing", "event")
                real[change].append(made["end_to_end"]["p50"])
        words = [word for each in sources for word in ("--from", each)]
        changes = []
        before = result_of(folder / "predicted.json", "predict", files[1], WHAT_IF, 0, *words,
                           "--sensitivity")
        (faster,) = [each["p50_ns"] / 1e6
                     for each in before["record"]["prediction"]["sensitivity"]
                     if each["stage"] == stage]
        for change in CHANGES:
            predicted = faster
            if change > 1:
                made = result_of(folder / "predicted.json", "predict", files[1], WHAT_IF, 0, *words,
                                 "--scale", f"{stage}={change}")
                predicted = made["end_to_end"]["p50"]
            measured = statistics.median(real[change])
            expected_points = 100 * (predicted / before["end_to_end"]["p50"] - 1)
            points = 100 * (measured / statistics.median(real[1]) - 1)
            errors[change].append((abs(predicted / measured - 1), abs(expected_points - points)))
            changes.append(f"{change}: {expected_points:+6.1f}, {points:+6.1f} %")
        bound = f"{3 * source['end_to_end']['p50']:.3f}ms"
        capacities.append(capacity_of(files[1], folder, bound, sources))
        print(f"random_{seed:<3} {stage}  " + "   ".join(changes) + f"   p95 <= {bound}: "
              "{:.1f}, {:.1f} to {:.1f} frame/s".format(*capacities[-1]),
              flush=True)
    print()
    for change, pairs in errors.items():
        off, points = zip(*pairs)
        print(f"longest stage {change} times: p50 {100 * statistics.median(off):.1f} % off by "
              f"median, {share([one <= 0.05 for one in off])} within 5 %; its change "
              f"{statistics.median(points):.1f} points off by median, "
              f"{share([one <= 2 for one in points])} within 2 points")
    held = [low <= predicted <= high for predicted, low, high in capacities]
    print(f"{share(held)} of {len(held)} predicted capacities lie in the measured interval")


def capacity_of(pipeline, folder, bound, sources):
    """The predicted capacity, and the measured 95 % interval."""
    words = [given.program, "capacity", pipeline, "--device", "host", "--under", bound, "--json",
             folder / "capacity.json", "--quiet", "--strategy", "overlap", "--in-flight", 2]
    found = []
    for more in ([], [word for source in sources for word in ("--predict", source)]):
        subprocess.run([str(word) for word in (*words, *more)], check=True,
                       stderr=subprocess.DEVNULL)
        found.append(json.loads((folder / "capacity.json").read_text())["capacity"])
    low, high = found[0]["interval"]
    return found[1]["value"], low or 0, high or math.inf


def main():
    with tempfile.TemporaryDirectory() as temporary:
        if given.what_ifs:
            check_what_ifs(pathlib.Path(temporary))
        else:
            check_settings(pathlib.Path(temporary))


def check_settings(folder):
    found = []
    pipelines = list(given.pipelines)
    for seed in range(given.random):
        pipelines.append(folder / f"random_{seed}.yaml")
        pipelines[-1].write_text(random_pipeline(seed)[0])
    print(f"{'':44}" + "".join(f"{name + ' predicted, real, error %':>36}" for name in FIGURES))
    for pipeline in pipelines:
        for setting, predicted, intervals, real in cases_of(pipeline, folder):
            line = f"{pipeline.stem}: {setting[0]}, {setting[1]}, {setting[2]}"
            print(f"{line:44}", end="")
            for name in FIGURES:
                values = [each[name] for each in real]
                error = predicted[name] / statistics.median(values) - 1
                low, high = intervals[name]
                found.append({
                    "setting": setting, "figure": name, "error": error,
                    "among": min(values) <= predicted[name] <= max(values),
                    "held": [low <= value <= high for value in values],
                    "width": (high - low) / predicted[name]})
                print(f"{predicted[name]:16.4g}{statistics.median(values):10.4g}"
                      f"{100 * error:+10.1f}", end="")
            print(flush=True)
    print()
    for name, limit in FIGURES.items():
        report(name, [each for each in found if each["figure"] == name], limit)
    report("p50 under the settings of the sources",
           [each for each in found if each["figure"] == "p50" and each["setting"] == SETTINGS[0]],
           0.01)


def share(values):
    return f"{100 * sum(values) / len(values):.0f} %"


def report(label, cases, limit):
    errors = [abs(case["error"]) for case in cases]
    near = [error <= limit or case["among"] for error, case in zip(errors, cases)]
    held = [one for case in cases for one in case["held"]]
    width = statistics.median(case["width"] for case in cases)
    print(f"{label}, {len(cases)} cases: median error {100 * statistics.median(errors):.1f} %; "
          f"{share([error <= limit for error in errors])} within {100 * limit:.0f} %, "
          f"{share(near)} so or among the real runs; intervals hold {share(held)} of the real "
          f"figures, median width {100 * width:.1f} %")


main()
