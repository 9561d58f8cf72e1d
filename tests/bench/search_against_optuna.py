#!/usr/bin/env python3
"""Compares `graphline search` with Optuna's TPE sampler on `host`.

For each pipeline, both have the same seconds, the same space and start from the file's settings.
Each trial of TPE is one `graphline run`. Both winners are then measured afresh, in one experiment,
with the winner of TPE as the baseline. Prints a line for each pipeline, then how often the search
is not conclusively worse, and how often it is conclusively better. Needs Optuna (pip install
optuna) and an idle machine.

usage: search_against_optuna.py GRAPHLINE PIPELINE.yaml... [--seconds N] [--trials N] [--frames N]
                                [--maximize-throughput] [--seed N]
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import optuna

SPACE = {"strategy": ["serial", "async", "overlap"], "graphs": ["off", "stage", "frame"],
         "in_flight": ["1", "2", "3", "4"], "wait": ["spin", "yield", "block"],
         "priorities": ["on", "off"]}

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("pipelines", nargs="+", type=pathlib.Path)
parser.add_argument("--seconds", type=int, default=60)
parser.add_argument("--trials", type=int, default=20)
parser.add_argument("--frames", type=int, default=45)
parser.add_argument("--maximize-throughput", action="store_true")
parser.add_argument("--seed", type=int, default=1)
given = parser.parse_args()
FIGURE = "throughput" if given.maximize_throughput else "p50"


def graphline(*words, folder=None, may_refuse=False):
    """Returns the result as JSON; empty if the settings are refused and that is expected."""
    done = subprocess.run([given.program, *map(str, words), "--json", "-"], capture_output=True,
                          text=True, check=False, cwd=folder)
    if done.returncode == 2 and may_refuse:
        return {}
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


def file_settings(pipeline):
    settings = graphline("run", pipeline, "--device", "host", "--frames", 1)["settings"]
    words = {key: settings[key] for key in SPACE}
    return {key: {True: "on", False: "off"}.get(word, str(word)) if isinstance(word, bool)
            else str(word) for key, word in words.items()}


def by_search(pipeline):
    direction = ["--maximize", "throughput"] if given.maximize_throughput else ["--minimize", "p50"]
    result = graphline("search", pipeline, "--device", "host", "--time-limit",
                       f"{given.seconds}s", "--seed", given.seed, *direction)
    name = result["answer"]["settings"]
    (chosen,) = [one for one in result["record"]["search"]["candidates"] if one["name"] == name]
    return dict(chosen["assignments"])


def by_tpe(pipeline, start):
    """Returns the best settings, and the number of runs."""
    def objective(trial):
        settings = {key: trial.suggest_categorical(key, words) for key, words in SPACE.items()}
        options = [f"--{key.replace('_', '-')}={word}" for key, word in settings.items()]
        result = graphline("run", pipeline, "--device", "host", "--frames", given.frames, *options,
                           may_refuse=True)
        if not result:
            raise optuna.TrialPruned()
        return result["throughput"]["value"] if given.maximize_throughput \
            else result["end_to_end"]["p50"]

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize" if given.maximize_throughput else "minimize",
                                sampler=optuna.samplers.TPESampler(seed=given.seed))
    if all(start[key] in words for key, words in SPACE.items()):
        study.enqueue_trial(start)
    study.optimize(objective, timeout=given.seconds)
    return study.best_params, len(study.trials)


def compared(pipeline, ours, theirs, folder):
    """Returns the comparison of the search's winner with TPE's."""
    configurations = [", ".join(f"{key}: {word}" for key, word in {"name": name, **of}.items())
                      for name, of in (("tpe", theirs), ("search", ours))]
    path = pathlib.Path(folder) / "winners.yaml"
    path.write_text(
        f"experiment: winners\npipeline: {pipeline.resolve()}\ntrials: {given.trials}\n"
        f"frames: {given.frames}\nseed: {given.seed + 1000}\nconfigurations:\n"
        + "".join(f"  - {{{one}}}\n" for one in configurations), encoding="utf-8")
    result = graphline("compare", path, "--device", "host", "--overwrite", folder=folder)
    return next(one for one in result["comparisons"] if one["figure"] == FIGURE)


verdicts = []
for at in given.pipelines:
    file = file_settings(at)
    best = {**file, **by_search(at)}
    other, runs = by_tpe(at, file)
    with tempfile.TemporaryDirectory() as place:
        found = compared(at, best, other, place)
    verdicts.append(found["verdict"])
    low, high = found["ratio_interval"]
    print(f"{at.stem}: {FIGURE} {found['value']:.4g} by search, {found['reference_value']:.4g} by "
          f"{runs} runs of TPE; ratio {found['ratio']:.3f} ({low:.3f} to {high:.3f}), "
          f"{found['verdict']}\n  search: {best}\n  TPE:    {other}", flush=True)
print(f"not worse in {sum(v != 'slower' for v in verdicts)} of {len(verdicts)}, "
      f"better in {verdicts.count('faster')}")
