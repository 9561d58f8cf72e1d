"""pipelines/two_models.yaml beside PyTorch: Graphline, PyTorch in each of its modes, Graphline
again."""

import shutil
import statistics
import sys

from .ladder import facts_of
from .outcome import FAIL, SHOWN

# Allowed relative error between PyTorch's and Graphline's outputs, by precision: twice what
# tests/run/pipelines_test.cpp allows against `host`.
TOLERANCES = {"float32": 2e-5, "float16": 2e-2, "tf32": 4e-3}
# Minimum of eager PyTorch's time over Graphline's, except in float32: there both take the time of
# the same convolutions, beside which launches are short.
EAGER_BOUND = 1.2
SET_UP_SECONDS = 120  # for one of PyTorch's modes, which may compile for long


def python_with_torch(context):
    """A Python that has PyTorch and NumPy, or None."""
    for program in dict.fromkeys([sys.executable, shutil.which("python3"), "/usr/bin/python3"]):
        if program and context.runner.run([program, "-c", "import numpy, torch"], 120).status == 0:
            return program
    return None


def check_torch(context, precision):
    """Checks one precision: compiling takes most of the time limit of a call."""
    why_not = ("--quick" if context.quick else
               f"host has no {precision}" if not context.on_gpu and precision != "float32" else "")
    python = None if why_not else python_with_torch(context)
    if python is None:
        context.outcome.not_run("against PyTorch", why_not or "no Python has PyTorch and NumPy")
        return
    tensors = context.name("-two_models")
    graphline_frames(context, precision, "--save-tensors", tensors)  # chooses the libraries' plans
    ours = [graphline_frames(context, precision)]
    done = context.runner.run([
        python, context.places.scripts / "two_models_torch.py", "--tensors", tensors, "--precision",
        precision, "--device", "cuda" if context.on_gpu else "cpu", "--limit", SET_UP_SECONDS],
        most=context.runner.left() - 30, logged=True)
    context.outcome.add_unless_done(f"{precision}, all rounds of torch", done)
    lines = facts_of(done.out, "mode")  # also if the script was killed
    ours.append(graphline_frames(context, precision))
    context.outcome.keep_result(f"torch {precision}", {"graphline": ours, "torch": lines})
    if None not in ours:
        report_torch(context, precision, ours, lines)


def graphline_frames(context, precision, *words):
    """End-to-end milliseconds of some frames, or None. On a GPU the host spins, as PyTorch's
    synchronize() does by default."""
    wait = ["--wait", "spin"] if context.on_gpu else []
    pipeline = context.pipeline_with("two_models", f"precision: {precision}")
    result = context.result_of(f"{precision}, Graphline", [
        "run", pipeline, "--timing", "none", "--frames", 40, "--warmup", 5, "--seed", context.seed,
        *wait, *words], most=100)
    if result is None:
        return None
    frames = result["record"]["frames"]
    return [(end - begin) / 1e6 for begin, end in zip(frames["begin"], frames["end"])]


def report_torch(context, precision, ours, lines):
    """Adds rows for modes that are unavailable or wrong, for eager, and for the fastest mode."""
    outcome, wrong, rounds = context.outcome, set(), {}
    for line in lines:
        mode = line["mode"]
        if "unavailable" in line:
            outcome.not_run(f"{precision}, torch {mode}", line["unavailable"])
        elif "ms" in line and mode not in wrong:
            rounds.setdefault(mode, []).append(statistics.median(line["ms"]))
        elif "error" in line and (line["error"] is None or line["error"] > TOLERANCES[precision]):
            wrong.add(mode)
            outcome.add(f"{precision}, torch {mode}", SHOWN, f"{line['error']}",
                        note="excluded: its score differs from Graphline's")
    if not rounds:
        return
    medians = {mode: statistics.median(times) for mode, times in rounds.items()}
    best = min(medians, key=medians.get)
    mine = [statistics.median(times) for times in ours]
    note = f"Graphline {mine[0]:.3f} and {mine[1]:.3f} ms; " + "; ".join(
        f"{mode} {ms:.3f}" for mode, ms in medians.items())
    for name, mode, bound in (("torch eager", "eager", 1 / EAGER_BOUND),
                              (f"torch's fastest, {best}", best, 1.0)):
        if mode not in rounds:
            continue
        theirs = rounds[mode]
        ratio = statistics.fmean(mine) / medians[mode]
        span = (min(mine) / max(theirs), max(mine) / min(theirs))
        if context.on_gpu and (bound == 1.0 or precision != "float32"):
            outcome.judge_interval(f"{precision}, {name}", ratio, span, bound, "{:.3f} x", note)
        else:
            outcome.add(f"{precision}, {name}", SHOWN, f"{ratio:.3f} x", note=note)
