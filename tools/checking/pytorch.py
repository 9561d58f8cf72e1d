"""two_models beside PyTorch: each in a process of its own, a block of frames in turns."""

import shutil
import statistics
import sys
import time

from . import two_models
from .context import TOLERANCES
from .outcome import FAIL, SHOWN, block_ratios, median_interval
from .processes import Lines, OutOfTime

EAGER_BOUND = 1.2  # eager PyTorch's time over Graphline's, at least
ROUNDS = 10
SECONDS_PLAIN = 90  # for all modes that are not compiled
SHARE_OF_SET_UP = 0.4  # of the time for some modes, for setting up one of them at most
FRAMES = ["--frames", 15, "--warmup", 5]
# The modes of tests/bench/two_models_torch.py.
PLAIN = ["eager", "eager, channels last", "graphs", "graphs, channels last"]
COMPILED = ["compiled, reduce-overhead", "compiled, max-autotune"]


def python_with_torch(context):
    """A Python that has PyTorch, and why there is none."""
    for program in dict.fromkeys([sys.executable, shutil.which("python3"), shutil.which("python"),
                                  "/usr/bin/python3"]):
        if program:
            done = context.runner.run([program, "-c", "import torch; print(torch.__version__)"],
                                      most=60)
            if done.status == 0:
                return program
    return None


def check_torch(context, precision):
    """One precision alone: compiling takes most of the time that one call of the check has."""
    outcome = context.outcome
    script = context.places.scripts / "two_models_torch.py"
    if precision not in two_models.precisions(context):
        outcome.not_run("against PyTorch", f"{context.device} has no {precision}")
        return
    if context.quick:
        outcome.not_run("against PyTorch", "--quick")
        return
    python = python_with_torch(context)
    if python is None:
        outcome.not_run("against PyTorch", "no Python with PyTorch was found")
        return
    program = context.places.program("frames_on_request")
    if program is None:
        outcome.not_run("against PyTorch", f"frames_on_request is not in {context.places.root}")
        return
    # Compiling takes nobody knows how long: the modes without it come first.
    left = context.runner.budget.left
    turns(context, program, [python, script], precision, PLAIN, min(SECONDS_PLAIN, left()))
    turns(context, program, [python, script], precision, COMPILED, left())


def turns(context, program, script, precision, modes, seconds):
    """Rounds of some of PyTorch's modes and of Graphline in turns, until they are enough or the
    time is up."""
    outcome, end = context.outcome, time.monotonic() + seconds
    label = f"{precision}, {'compiled' if modes is COMPILED else 'not compiled'}"
    try:
        tensors = two_models.tensors_of(context, precision) if seconds > 15 else "time"
    except OutOfTime as late:
        tensors = str(late)
    if isinstance(tensors, str):
        outcome.not_run(label, tensors)
        return
    variants = {str(two_models.variant(context, precision, work)): work for work in (True, False)}
    limit = max(10, int(seconds * SHARE_OF_SET_UP))
    sides = []
    data = {"graphline": {True: [], False: []}, "torch": [], "setup": []}
    try:
        sides.append(Lines(context.runner, [program, *variants, "--device", context.device,
                                            *FRAMES]))
        _, trouble = sides[0].until("ready", seconds * 0.5)
        if not trouble:  # only then: what it does until it is ready would disturb the other
            sides.append(Lines(context.runner, [
                *script, "--tensors", tensors, "--precision", precision, "--device",
                "cuda" if context.on_gpu else "cpu", "--step", "--limit", limit, *FRAMES,
                "--modes", *modes]))
            data["setup"], trouble = sides[1].until("ready", end - 8 - time.monotonic())
        if not trouble and not data["setup"][-1]["ready"]:
            trouble = "none of the modes is available"
        while not trouble and len(data["graphline"][True]) < ROUNDS:
            trouble = one_round(sides, variants, data, end)
        if sides[0].ended():
            outcome.add(label, FAIL, note=trouble)
        elif trouble and trouble != "time" and data["torch"]:
            outcome.not_run(f"{label}, {ROUNDS} rounds", trouble)
    finally:
        for side in sides:
            side.end()
    outcome.data.setdefault("torch", {})[label] = {
        **data, "graphline": {"with CPU work": data["graphline"][True],
                              "without": data["graphline"][False]}}
    report_torch(context, precision, data, trouble)


def one_round(sides, variants, data, end):
    """A block of each, which counts where all of them are done; else why they are not."""
    found = {}
    # Neither always comes first: what the one leaves behind meets the other as often.
    for position in ((0, 1), (1, 0))[len(data["graphline"][True]) % 2]:
        found[position], trouble = sides[position].ask("round_done", end - time.monotonic())
        if trouble:
            return trouble
    for line in found[0]:
        if "pipeline" in line:
            data["graphline"][variants[line["pipeline"]]].append(line["ms"])
    data["torch"] += [line for line in found[1] if "ms" in line]
    data["alone"] = [line for line in found[1] if "cpu_work_alone_ms" in line]
    return None


def report_torch(context, precision, data, trouble):
    outcome = context.outcome
    wrong = []
    for line in data["setup"]:
        if "unavailable" in line:
            outcome.not_run(f"{precision}, torch {line['mode']}", line["unavailable"])
        elif "mode" in line and (line["error"] is None
                                 or line["error"] > 2 * TOLERANCES[precision]):
            wrong.append(line["mode"])
            outcome.add(f"{precision}, torch {line['mode']}", SHOWN, f"{line['error']}",
                        note="its score differs from Graphline's: left out")
    for cpu_work, words in ((True, "end to end"), (False, "the networks alone")):
        blocks = {}
        for line in data["torch"]:
            if line["cpu_work"] is cpu_work and line["mode"] not in wrong:
                blocks.setdefault(line["mode"], []).append(line["ms"])
        if blocks:
            report_blocks(context, f"{precision}, {words}", data["graphline"][cpu_work], blocks)
        elif trouble:
            outcome.not_run(f"{precision}, {words}", trouble)
        elif data["torch"] and cpu_work:
            outcome.not_run(f"{precision}, {words}", "PyTorch's CPU work needs NumPy")


def report_blocks(context, label, ours, blocks):
    """Rows for eager, where it is among the modes, and for the fastest of them."""
    outcome = context.outcome
    medians = {mode: statistics.median([statistics.median(ms) for ms in rounds])
               for mode, rounds in blocks.items()}
    mine = statistics.median([statistics.median(ms) for ms in ours])
    best = min(medians, key=medians.get)
    note = f"Graphline {mine:.3f} ms; " + "; ".join(f"{m} {v:.3f}" for m, v in medians.items())
    wanted = [(f"{label}, torch eager", "eager", 1 / EAGER_BOUND, note)] * ("eager" in blocks)
    if best in COMPILED:
        wanted.append((f"{label}, torch compiled", best, 1.0, f"{best}; {note}"))
    else:
        wanted.append((f"{label}, torch's fastest", best, 1.0, f"{best}; not compiled"))
    for name, mode, bound, note in wanted:
        ratios = block_ratios(ours, blocks[mode])
        value = statistics.median(ratios)
        if context.on_gpu:
            outcome.judge_interval(name, value, median_interval(ratios), bound,
                                   "{:.3f} x", note)
        else:
            outcome.add(name, SHOWN, f"{value:.3f} x", note=note)
