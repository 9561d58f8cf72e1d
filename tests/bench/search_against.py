#!/usr/bin/env python3
"""Compares `graphline search` on `host` with Optuna's TPE sampler or with an exhaustive search.

For each pipeline, both have the same space. `optuna` has the same seconds as the search and starts
from the file's settings; each of its trials is one `graphline run`. `exhaustive` measures every
candidate of the search in one experiment, in random order. Both winners are then measured afresh,
in one experiment, with the winner of the other method as the baseline. Prints the comparison of
each pipeline with the frames that both have measured, then a summary. Needs an idle machine; and
for `optuna`, `pip install optuna`.

usage: search_against.py optuna|exhaustive GRAPHLINE PIPELINE.yaml... [--over KEY=VALUE,...]...
                         [--seconds N] [--trials N] [--frames N] [--maximize-throughput]
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

SPACE = ["strategy=serial,async,overlap", "graphs=off,stage,frame", "in_flight=1,2,3,4",
         "wait=spin,yield,block", "priorities=on,off", "policy=oldest_frame,critical_path",
         "streams=auto,one", "window=0,1"]

parser = argparse.ArgumentParser()
parser.add_argument("method", choices=["optuna", "exhaustive"])
parser.add_argument("program", type=pathlib.Path)
parser.add_argument("pipelines", nargs="+", type=pathlib.Path)
parser.add_argument("--over", action="append", help="all keys, with their values")
parser.add_argument("--seconds", type=int, default=60, help="time limit of the search")
parser.add_argument("--trials", type=int, default=20, help="of each winner, measured afresh")
parser.add_argument("--exhaustive-trials", type=int, default=10, help="of each candidate")
parser.add_argument("--frames", type=int, default=45, help="of each trial, except the search's")
parser.add_argument("--maximize-throughput", action="store_true")
given = parser.parse_args()
FIGURE = "throughput" if given.maximize_throughput else "p50"
OVER = given.over or SPACE
VALUES = {key: values.split(",") for key, values in (one.split("=") for one in OVER)}


def graphline(*words, folder=None, may_refuse=False):
    """Returns the result as JSON; empty if the settings are refused and that is expected."""
    done = subprocess.run([given.program.resolve(), *map(str, words), "--json", "-"],
                          capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode == 2 and may_refuse:
        return {}
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


def frames_of(record):
    return sum(len(member["frames"]["end"]) for trial in record["trials"]
               for member in trial["members"])


def by_search(pipeline):
    """Returns the best settings, the number of frames, and the settings of all candidates."""
    direction = ["--maximize", "throughput"] if given.maximize_throughput else ["--minimize", "p50"]
    result = graphline("search", pipeline, "--device", "host", "--time-limit",
                       f"{given.seconds}s", *direction,
                       *(word for one in OVER for word in ("--over", one)))
    search = result["record"]["search"]
    candidates = {one["name"]: dict(one["assignments"]) for one in search["candidates"]}
    return (candidates[result["answer"]["settings"]],
            search["frames"] + frames_of(result["record"]), candidates.values())


def by_tpe(pipeline):
    """Returns the best settings and the number of frames."""
    import optuna

    def objective(trial):
        settings = {key: trial.suggest_categorical(key, words) for key, words in VALUES.items()}
        options = [f"--set={key}={word}" if key in file["params"]
                   else f"--{key.replace('_', '-')}={word}" for key, word in settings.items()]
        result = graphline("run", pipeline, "--device", "host", "--frames", given.frames, *options,
                           may_refuse=True)
        if not result:
            raise optuna.TrialPruned()
        return result["throughput"]["value"] if given.maximize_throughput \
            else result["end_to_end"]["p50"]

    file = graphline("run", pipeline, "--device", "host", "--frames", 1)["settings"]
    words = {True: "on", False: "off"}
    start = {key: words.get(file[key], str(file[key])) if isinstance(file.get(key), bool)
             else str(file.get(key, file["params"].get(key, values[0])))
             for key, values in VALUES.items()}
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize" if given.maximize_throughput else "minimize",
                                sampler=optuna.samplers.TPESampler(seed=1))
    if all(start[key] in values for key, values in VALUES.items()):
        study.enqueue_trial(start)
    study.optimize(objective, timeout=given.seconds)
    done = [one for one in study.trials if one.state == optuna.trial.TrialState.COMPLETE]
    return study.best_params, given.frames * len(done)


def experiment(pipeline, configurations, trials):
    """Runs an experiment on settings by name; the first are the baseline."""
    lines = [", ".join(f"{key}: {word}" for key, word in {"name": f"'{name}'", **of}.items())
             for name, of in configurations.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "experiment.yaml"
        path.write_text(
            f"experiment: against\npipeline: {pipeline.resolve()}\ntrials: {trials}\n"
            f"frames: {given.frames}\nconfigurations:\n"
            + "".join(f"  - {{{one}}}\n" for one in lines), encoding="utf-8")
        return graphline("compare", path, "--device", "host", folder=folder)


def by_all(pipeline, candidates):
    """Returns the best settings and the number of frames."""
    named = {str(i): settings for i, settings in enumerate(candidates)}
    result = experiment(pipeline, named, given.exhaustive_trials)
    members = {one["name"]: one["members"][0] for one in result["configurations"]}
    if given.maximize_throughput:
        best = max(members, key=lambda name: members[name]["throughput"]["value"])
    else:
        best = min(members, key=lambda name: members[name]["end_to_end"]["p50"])
    return named[best], frames_of(result["record"])


ratios = []
verdicts = []
for at in given.pipelines:
    ours, frames, everything = by_search(at)
    theirs, others = by_tpe(at) if given.method == "optuna" else by_all(at, everything)
    if ours == theirs:
        print(f"{at.stem}: the same settings, with {frames} frames by search and {others} by "
              f"{given.method}, {frames / others:.3f}: {ours}", flush=True)
        ratios.append(1)
        verdicts.append("same")
        continue
    compared = experiment(at, {given.method: theirs, "search": ours}, given.trials)
    found = next(one for one in compared["comparisons"] if one["figure"] == FIGURE)
    low, high = found["ratio_interval"]
    ratios.append(found["ratio"] if given.maximize_throughput else 1 / found["ratio"])
    verdicts.append(found["verdict"])
    print(f"{at.stem}, {len(everything)} candidates: {FIGURE} {found['value']:.4g} by search with "
          f"{frames} frames, {found['reference_value']:.4g} by {given.method} with {others}, "
          f"{frames / others:.3f} of them; ratio {found['ratio']:.3f} ({low:.3f} to {high:.3f}), "
          f"{found['verdict']}\n  search: {ours}\n  {given.method}: {theirs}", flush=True)
print(f"at least 98 % of the other in {sum(r >= 0.98 for r in ratios)} of {len(ratios)}; not "
      f"conclusively worse in {sum(v != 'slower' for v in verdicts)}, better in "
      f"{verdicts.count('faster')}")
