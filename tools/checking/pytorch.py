"""pipelines/two_models.yaml beside PyTorch: Graphline, PyTorch in each of its modes, Graphline
again."""

import shutil
import statistics
import sys

from .context import TOLERANCES
from .environment import facts_of
from .outcome import FAIL, SHOWN
from .processes import OutOfTime

PRECISIONS = ("float32", "float16", "tf32")
EAGER_BOUND = 1.2  # eager PyTorch's time over Graphline's, at least
SET_UP_SECONDS = 120  # of one of PyTorch's modes: compiling takes nobody knows how long
FRAMES = ["--frames", 40, "--warmup", 5]


def python_with_torch(context):
    """A Python that has PyTorch and NumPy, or None."""
    for program in dict.fromkeys([sys.executable, shutil.which("python3"), "/usr/bin/python3"]):
        done = program and context.runner.run([program, "-c", "import numpy, torch"], most=60)
        if done and done.status == 0:
            return program
    return None


def check_torch(context, precision):
    """One precision alone: compiling takes most of the time that one call of the check has."""
    outcome = context.outcome
    if precision not in context.precisions():
        outcome.not_run("against PyTorch", f"{context.device} has no {precision}")
        return
    if context.quick:
        outcome.not_run("against PyTorch", "--quick")
        return
    python = python_with_torch(context)
    if python is None:
        outcome.not_run("against PyTorch", "no Python with PyTorch and NumPy was found")
        return
    tensors = context.name("-two_models")
    graphline_frames(context, precision, "--save-tensors", tensors)  # chooses the libraries' plans
    ours = [graphline_frames(context, precision)]
    lines = torch_lines(context, precision, [
        python, context.places.scripts / "two_models_torch.py", "--tensors", tensors, "--precision",
        precision, "--device", "cuda" if context.on_gpu else "cpu", "--limit", SET_UP_SECONDS])
    ours.append(graphline_frames(context, precision))
    outcome.data.setdefault("torch", {})[precision] = {"graphline": ours, "torch": lines}
    if None in ours:
        outcome.add(precision, FAIL, note="two_models does not run in Graphline")
    else:
        report_torch(context, precision, ours, lines)


def graphline_frames(context, precision, *words):
    """End-to-end milliseconds of some frames, or None. For a GPU the host waits by polling, as
    PyTorch's synchronize() does unless told otherwise."""
    pipeline = context.variant(context.places.pipelines / "two_models.yaml", precision)
    wait = ["--wait", "spin"] if context.on_gpu else []
    _, result = context.run(pipeline, "--timing", "none", *FRAMES, *wait, *words, most=100)
    if result is None:
        return None
    frames = result["record"]["frames"]
    return [(end - begin) / 1e6 for begin, end in zip(frames["begin"], frames["end"])]


def torch_lines(context, precision, words):
    """What PyTorch's script printed, an object a line, also where it was ended before its end."""
    log = context.name("-torch.log")
    log.touch()
    try:
        done = context.runner.run(words, most=context.runner.budget.left() - 30, log=log)
        if done.status != 0:
            context.outcome.not_run(f"{precision}, torch", done.reason())
    except OutOfTime as late:
        context.outcome.not_run(f"{precision}, all rounds of torch", str(late))
    return facts_of(log.read_text(encoding="utf-8", errors="replace"), "mode")


def report_torch(context, precision, ours, lines):
    """Rows for the modes that are not available or compute something else, for eager, and for the
    fastest of all."""
    outcome, wrong, rounds = context.outcome, set(), {}
    for line in lines:
        mode = line["mode"]
        if "unavailable" in line:
            outcome.not_run(f"{precision}, torch {mode}", line["unavailable"])
        elif "ms" in line and mode not in wrong:
            rounds.setdefault(mode, []).append(statistics.median(line["ms"]))
        elif "error" in line and (line["error"] is None
                                  or line["error"] > 2 * TOLERANCES[precision]):
            wrong.add(mode)
            outcome.add(f"{precision}, torch {mode}", SHOWN, f"{line['error']}",
                        note="its score differs from Graphline's: left out")
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
        if context.on_gpu:
            outcome.judge_interval(f"{precision}, {name}", ratio, span, bound, "{:.3f} x", note)
        else:
            outcome.add(f"{precision}, {name}", SHOWN, f"{ratio:.3f} x", note=note)
