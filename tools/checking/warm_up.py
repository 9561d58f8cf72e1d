"""Runs pipelines once before what is judged: libraries choose their plans outside of its time."""

from . import two_models
from .outcome import SHOWN
from .processes import OutOfTime

SECONDS = 60  # for each, at most


def run_once(context, pipelines):
    """For each of the pairs of a pipeline and a precision. What fails is for the step to say."""
    for name, precision in pipelines:
        if precision not in context.precisions():
            continue
        label = f"warming up, {name}, {precision}"
        context.runner.budget.begin_step(SECONDS)
        begun = context.runner.budget.spent()
        try:
            if name == "two_models":
                two_models.tensors_of(context, precision)
            else:
                context.run(context.places.pipelines / f"{name}.yaml", "--frames", 1, "--warmup", 1)
        except OutOfTime as late:
            context.outcome.not_run(label, str(late))
        else:
            context.outcome.add(label, SHOWN, f"{context.runner.budget.spent() - begun:.0f} s")
