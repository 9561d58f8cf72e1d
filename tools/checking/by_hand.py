"""two_models beside a program written by hand, which takes turns with it in one process."""

import json

from . import statistics, two_models
from .context import TOLERANCES
from .outcome import FAIL, SHOWN
from .processes import OutOfTime

BOUND = 1.02  # Graphline's end-to-end time over that of the program


def check_by_hand(context):
    outcome, program = context.outcome, context.places.program("two_models_cuda")
    if not context.on_gpu:
        outcome.not_run("against a program by hand", "it is for a GPU")
        return
    if program is None:
        outcome.not_run("against a program by hand", f"two_models_cuda is not in "
                                                     f"{context.places.root}")
        return
    # What is judged comes first.
    for alone in (False, True):
        for precision in two_models.precisions(context):
            label = f"{precision}, {'the networks alone' if alone else 'end to end'}"
            try:
                tensors = two_models.tensors_of(context, precision)
                if isinstance(tensors, str):
                    outcome.add(label, FAIL, note=tensors)
                    continue
                words = [program, "--tensors", tensors, "--precision", precision, "--pipeline",
                         two_models.variant(context, precision, cpu_work=not alone), "--blocks", 10,
                         "--frames", 12, "--warmup", 3]
                done = context.runner.run(words + ["--no-cpu-work"] * alone, most=75)
            except OutOfTime as late:
                outcome.not_run(label, str(late))
                continue
            if done.status == 0:
                report_by_hand(outcome, label, precision, json.loads(done.out), not alone)
            else:
                outcome.add(label, FAIL, note=done.reason())


def report_by_hand(outcome, label, precision, result, judged):
    outcome.data.setdefault("by_hand", {})[label] = result
    error = result["by_hand_error"]
    if error is None or not error <= 2 * TOLERANCES[precision]:
        outcome.add(label, FAIL, note=f"the program by hand computes something else: relative "
                                      f"error {error}; there is nothing to compare")
        return
    ratios = statistics.block_ratios(result["graphline"], result["by_hand"])
    middle, interval = statistics.median(ratios), statistics.median_interval(ratios)
    ours = statistics.median(map(statistics.median, result["graphline"]))
    theirs = statistics.median(map(statistics.median, result["by_hand"]))
    note = f"{ours:.3f} ms, by hand {theirs:.3f} ms; {result['by_hand_choices']}"
    if judged:
        outcome.judge_interval(label, middle, interval, BOUND, "{:.4f} x", note)
    else:
        low, high = interval or (min(ratios), max(ratios))
        outcome.add(label, SHOWN, f"{middle:.4f} x ({low:.4f} to {high:.4f})", note=note)
