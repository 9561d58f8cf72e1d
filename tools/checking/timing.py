"""What measuring costs, what a launch costs, and that the times of frames add up."""

import statistics

from .context import read_json, result_of
from .outcome import FAIL, SHOWN, median_interval

# Trials of each timing method, and what must hold of `event`.
PIPELINES = {"two_models": (24, "percent", 1.0), "six_small": (24, "us a stage", 5.0),
             "one_model": (12, None, None)}
DEVICE_STAGES = 6  # of six_small
LAUNCH_BOUND = 1.2
# Pipelines whose times must add up, with how they are run: each strategy, graphs of stages and of
# frames, copies.
RUNS = {
    "two_models, async": ("two_models", "--strategy", "async"),
    "two_models, overlap": ("two_models", "--strategy", "overlap", "--in-flight", 2),
    "fan_out, overlap": ("fan_out", "--strategy", "overlap"),
    "six_small, frame": ("six_small", "--graphs", "frame"),
    "camera, overlap": ("camera", "--strategy", "overlap", "--in-flight", 2),
}


def check_overhead(context):
    for name, (trials, unit, bound) in PIPELINES.items():
        if context.quick and name != "six_small":
            context.outcome.not_run(f"{name}, overhead", "--quick")
            continue
        with context.outcome.or_not_run(f"{name}, overhead"):
            overhead_of(context, name, 6 if context.quick else trials, unit, bound)


def overhead_of(context, name, trials, unit, bound):
    outcome = context.outcome
    short = ["--frames", 3] if context.quick else []
    result = result_of(context, f"{name}, overhead",
                       ["overhead", context.places.pipelines / f"{name}.yaml", "--trials", trials,
                        *short], most=130)
    if result is None:
        return
    outcome.data.setdefault("overhead", {})[name] = result
    for cost in result["comparisons"]:
        if cost["figure"] != "p50":
            continue
        timing = cost["configuration"].removeprefix("timing=")
        label = f"{name}, {timing}"
        percent = 100 * (cost["ratio"] - 1)
        ends = cost["ratio_interval"]
        ends = [100 * (end - 1) for end in ends] if ends else None
        if timing == "event" and unit == "percent" and context.on_gpu:
            outcome.judge_interval(label, percent, ends, bound, "{:+.3f} %",
                                   "of the end-to-end time")
        elif timing == "event" and unit and context.on_gpu:
            interval = cost["difference_interval"]
            interval = [1e3 * ms / DEVICE_STAGES for ms in interval] if interval else None
            outcome.judge_interval(label, 1e3 * cost["difference"] / DEVICE_STAGES, interval, bound,
                                   "{:+.2f} us", "a stage")
        else:
            interval = f" ({ends[0]:+.2f} to {ends[1]:+.2f})" if ends else ""
            outcome.add(label, SHOWN, f"{percent:+.2f} %{interval}",
                        note=f"{1e3 * cost['difference']:+.1f} us end to end")


def check_launch(context):
    outcome, program = context.outcome, context.places.program("launch_cost_bench")
    if program is None:
        outcome.not_run("launch cost", f"launch_cost_bench is not in {context.places.root}")
        return
    blocks = 20 if context.quick else 200
    done = context.runner.run([program, "--device", context.device, "--blocks", blocks], most=60)
    if done.status != 0:
        outcome.add("launch cost", FAIL, note=done.reason())
        return
    result_file = context.name(".json")
    result_file.write_text(done.out, encoding="utf-8")
    result = read_json(result_file)
    outcome.data["launch_cost"] = result
    variants = result["variants"]
    medians = {name: variant["median"] for name, variant in variants.items()}
    ratios = [ours / bare for ours, bare in zip(variants["graphline_event"]["samples"],
                                                variants["bare_launch_between_events"]["samples"])]
    middle, interval = statistics.median(ratios), median_interval(ratios)
    note = ("{graphline_event:.0f} ns between events, bare {bare_launch_between_events:.0f} ns; "
            "without events {graphline_none:.0f}, bare {bare_launch:.0f}; a path's last stage "
            "{graphline_event_last_stage:.0f}").format(**medians)
    if context.on_gpu:
        outcome.judge_interval("launching a stage, event", middle, interval, LAUNCH_BOUND,
                               "{:.2f} x", f"bare calls; {note}")
    else:
        outcome.add("launching a stage, event", SHOWN, f"{middle:.2f} x bare", note=note)


def check_attribution(context):
    """Where the time of frames goes: that its pieces add up to it within what the clocks allow."""
    for name, (pipeline, *words) in RUNS.items():
        if context.quick and not name.startswith("six_small"):
            context.outcome.not_run(name, "--quick")
            continue
        with context.outcome.or_not_run(name):
            attribution_of(context, name, pipeline, words)


def attribution_of(context, name, pipeline, words):
    outcome = context.outcome
    done, result = context.run(context.places.pipelines / f"{pipeline}.yaml", "--timing", "event",
                               "--frames", 30 if context.quick else 100, *words)
    if result is None:
        outcome.add(name, FAIL, note=done.reason())
        return
    whole = result["attributed"]
    outcome.data.setdefault("attribution", {})[name] = {
        key: result[key] for key in ("attribution", "attributed", "lower_bound", "clock",
                                     "end_to_end", "findings")}
    # Each of a device stage's two stamps may be off by the clocks' error.
    stamps = 2 * sum(stage["on"] == "device" for stage in result["stages"])
    outcome.judge(f"{name}, residual", whole["residual_largest"] * 1e3,
                  stamps * result["clock"]["error_ns"] / 1e3, "{:.2f} us", note="of any frame")
    bounds, running = result["lower_bound"], result["end_to_end"]["mean"]
    allowed = running + 2 * result["clock"]["error_ns"] / 1e6
    outcome.judge(f"{name}, bound of schedule", bounds["this_schedule"], allowed, "{:.3f} ms",
                  note="; ".join(found["text"] for found in result["findings"]))
