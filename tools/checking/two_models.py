"""What the comparisons on pipelines/two_models.yaml start from, and the one with a program written
by hand."""

import json
import statistics

from .context import TOLERANCES
from .outcome import FAIL, SHOWN, block_ratios, median_interval
from .processes import OutOfTime

NOISE = ["noise"]  # its stage that is CPU work
BY_HAND_BOUND = 1.02  # Graphline's end-to-end time over that of the program
WARM_UP_SECONDS = 60  # for each, at most
# Those that are compared, the one that a pipeline has by itself first.
PRECISIONS = ("float32", "float16", "tf32")


def precisions(context):
    """Those of them that the device has."""
    return [p for p in PRECISIONS if p in context.precisions()]


def variant(context, precision, cpu_work=True):
    """The pipeline in a precision, with its CPU work or as the networks alone."""
    path = context.places.pipelines / "two_models.yaml"
    return context.variant(path, precision, () if cpu_work else NOISE)


def tensors_of(context, precision):
    """A folder with its image, weights and score, for the others to start from; or as text why
    there is none."""
    if precision not in context.two_models_tensors:
        folder = context.name("-two_models")
        done, result = context.run(variant(context, precision), "--frames", 2, "--warmup", 1,
                                   "--save-tensors", folder)
        if not result:
            return done.reason()
        context.two_models_tensors[precision] = folder
    return context.two_models_tensors[precision]


def warm_up(context, pipelines):
    """Runs pipelines once before what is judged, each in a precision: libraries choose their plans
    outside of its time. What fails is for the step to say."""
    for name, precision in pipelines:
        if precision not in context.precisions():
            continue
        label = f"warming up, {name}, {precision}"
        context.runner.budget.begin_step(WARM_UP_SECONDS)
        begun = context.runner.budget.spent()
        try:
            if name == "two_models":
                tensors_of(context, precision)
            else:
                context.run(context.places.pipelines / f"{name}.yaml", "--frames", 1, "--warmup", 1)
        except OutOfTime as late:
            context.outcome.not_run(label, str(late))
        else:
            context.outcome.add(label, SHOWN, f"{context.runner.budget.spent() - begun:.0f} s")


def check_by_hand(context):
    """Beside a program written by hand, which takes turns with it in one process."""
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
        for precision in precisions(context):
            label = f"{precision}, {'the networks alone' if alone else 'end to end'}"
            with outcome.or_not_run(label):
                tensors = tensors_of(context, precision)
                if isinstance(tensors, str):
                    outcome.add(label, FAIL, note=tensors)
                    continue
                words = [program, "--tensors", tensors, "--precision", precision, "--pipeline",
                         variant(context, precision, cpu_work=not alone), "--blocks", 10,
                         "--frames", 12, "--warmup", 3]
                done = context.runner.run(words + ["--no-cpu-work"] * alone, most=75)
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
    ratios = block_ratios(result["graphline"], result["by_hand"])
    middle, interval = statistics.median(ratios), median_interval(ratios)
    ours = statistics.median(map(statistics.median, result["graphline"]))
    theirs = statistics.median(map(statistics.median, result["by_hand"]))
    note = f"{ours:.3f} ms, by hand {theirs:.3f} ms; {result['by_hand_choices']}"
    if judged:
        outcome.judge_interval(label, middle, interval, BY_HAND_BOUND, "{:.4f} x", note)
    else:
        low, high = interval or (min(ratios), max(ratios))
        outcome.add(label, SHOWN, f"{middle:.4f} x ({low:.4f} to {high:.4f})", note=note)
