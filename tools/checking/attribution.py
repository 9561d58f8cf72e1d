"""Where the time of frames goes: that it adds up, within what the clocks allow."""

from .outcome import FAIL
from .processes import OutOfTime

# Pipelines, with how they are run: each strategy, graphs of stages and of frames, copies.
RUNS = {
    "two_models, async": ("two_models", "--strategy", "async"),
    "two_models, overlap": ("two_models", "--strategy", "overlap", "--in-flight", 2),
    "fan_out, overlap": ("fan_out", "--strategy", "overlap"),
    "six_small, frame": ("six_small", "--graphs", "frame"),
    "camera, overlap": ("camera", "--strategy", "overlap", "--in-flight", 2),
}


def check_attribution(context):
    for name, (pipeline, *words) in RUNS.items():
        if context.quick and not name.startswith("six_small"):
            context.outcome.not_run(name, "--quick")
            continue
        try:
            attribution_of(context, name, pipeline, words)
        except OutOfTime as late:
            context.outcome.not_run(name, str(late))


def attribution_of(context, name, pipeline, words):
    outcome = context.outcome
    done, result = context.run(context.places.pipelines / f"{pipeline}.yaml", "--timing", "event",
                               "--frames", 30 if context.quick else 100, *words)
    if result is None:
        outcome.add(name, FAIL, note=done.reason())
        return
    found = result["attribution"]
    outcome.data.setdefault("attribution", {})[name] = {
        "attribution": found, "clock": result["clock"], "end_to_end": result["end_to_end"]}
    rests = [abs(found["end_to_end"][group] - found["residual"][group]
                 - sum(row[group] for row in found["rows"]))
             for group in ("mean", "typical", "slowest")]
    # Each figure is rounded to a thousandth of a nanosecond.
    outcome.judge(f"{name}, rest", max(rests) * 1e9, len(found["rows"]) + 2, "{:.1f} ps",
                  note="of what the pieces of frames do not add up to")
    # Each of a device stage's two stamps may be off by the clocks' error.
    stamps = 2 * sum(stage["on"] == "device" for stage in result["stages"])
    outcome.judge(f"{name}, residual", found["residual"]["largest"] * 1e3,
                  stamps * result["clock"]["error_ns"] / 1e3, "{:.2f} us", note="of any frame")
    best, running = found["best_possible"], result["end_to_end"]["mean"]
    allowed = running + 2 * result["clock"]["error_ns"] / 1e6
    outcome.judge(f"{name}, best by plan", best["by_plan"], allowed, "{:.3f} ms",
                  note="; ".join(found["findings"]))
    outcome.judge(f"{name}, best by edges", best["by_edges"], best["by_plan"], "{:.3f} ms")
