"""Checks of goals: distance from ceilings, and the cost of measuring and of launching."""

import json
import statistics

from .outcome import SHOWN, median_interval

# The units on which a calibration's convolution runs, by precision.
UNITS = {"float32": "float32 cores", "tf32": "tf32 tensor cores",
         "float16": "float16 tensor cores", "bfloat16": "bfloat16 tensor cores"}
LEAST_SHARE = 0.8  # of a convolution's rate in that of the matrix product in its precision
# Time of fused gemv over its roofline time. The time between a stage's events includes its launch,
# a tenth of the roofline time on the fastest memory.
MOST_OF_ROOFLINE = 1.25
OVERHEAD = {"two_models": 24, "six_small": 24, "one_model": 12}  # trials of each timing method
MOST_PERCENT = 1.0  # cost of `event` on two_models
MOST_MICROSECONDS, DEVICE_STAGES = 5.0, 6  # its cost per stage of six_small
LAUNCH_BOUND = 1.2


def check_roofline(context):
    if context.quick:
        context.outcome.not_run("calibration", "--quick")
        return
    calibration = context.result_of("calibration", ["calibrate"], most=200)
    if calibration is not None:
        compare_with_peaks(context.outcome, calibration)
        check_gemv(context)


def compare_with_peaks(outcome, calibration):
    """Shows the share of the theoretical peak that convolutions and products reach, and judges
    convolutions by the product: on an H200 no program comes closer to the peak than 75 to 78 %."""
    peaks = {p["name"]: p for p in calibration["theoretical_peaks"]}
    products = {c["precision"]: c["value"] for c in calibration["ceilings"]
                if c["what"] == "matmul"}
    for measured in calibration["ceilings"]:
        if measured["what"] not in ("convolution", "matmul"):
            continue
        precision, value = measured["precision"], measured["value"]
        name, rate = f"{measured['what']}, {precision}", f"{value / 1e12:.2f} TFLOP/s"
        peak = peaks.get(UNITS[precision], {"value": None, "formula": ""})
        outcome.add(f"{name}, of its peak", SHOWN,
                    f"{100 * value / peak['value']:.1f} %" if peak["value"] else "",
                    note=f"{rate}; {peak['formula']}; {measured['how']}")
        if measured["what"] == "convolution" and precision in products:
            outcome.judge(f"{name}, below the product", 100 * (1 - value / products[precision]),
                          100 * (1 - LEAST_SHARE), "{:.1f} %", rate)


def check_gemv(context):
    times = {}
    for method in ("fused", "library"):
        name = f"gemv, {method}"
        result = context.result_of(name, ["roofline", context.places.pipelines / "gemv.yaml",
                                          "--set", f"method={method}"])
        if result is None:
            continue
        stage = next(s for s in result["stages"] if s["kind"] == "matmul")
        times[method] = stage["measured"]
        note = "; ".join(found["text"] for found in result["findings"])
        if method == "fused":
            context.outcome.judge(name, stage["ratio"], MOST_OF_ROOFLINE, "{:.2f}x roofline", note)
        else:
            context.outcome.add(name, SHOWN, f"{stage['ratio']:.2f}x roofline", note=note)
    if len(times) == 2:
        context.outcome.judge("gemv, fused over library", times["fused"] / times["library"], 1.0,
                              "{:.3f} x")


def check_overhead(context):
    for name, trials in OVERHEAD.items():
        if context.quick and name != "six_small":
            context.outcome.not_run(f"{name}, overhead", "--quick")
            continue
        few = ["--trials", 6, "--frames", 3] if context.quick else ["--trials", trials]
        result = context.result_of(f"{name}, overhead", [
            "overhead", context.places.pipelines / f"{name}.yaml", *few], most=130)
        for cost in medians_of(result):
            label = f"{name}, {cost['configuration'].removeprefix('timing=')}"
            if context.on_gpu and label == "two_models, event":
                ends = [100 * (end - 1) for end in cost["ratio_interval"] or []]
                context.outcome.judge_interval(label, 100 * (cost["ratio"] - 1), ends, MOST_PERCENT,
                                               "{:+.3f} %", "of the end-to-end time")
            elif context.on_gpu and label == "six_small, event":
                ends = [1e3 * ms / DEVICE_STAGES for ms in cost["difference_interval"] or []]
                context.outcome.judge_interval(label, 1e3 * cost["difference"] / DEVICE_STAGES,
                                               ends, MOST_MICROSECONDS, "{:+.2f} us", "a stage")
            else:
                show(context.outcome, label, cost, f"{1e3 * cost['difference']:+.1f} us a frame")


def medians_of(result):
    return [c for c in result["comparisons"] if c["figure"] == "p50"] if result else []


def show(outcome, label, comparison, note):
    """A median and its interval, as a difference in percent."""
    numbers = [comparison["ratio"], *(comparison["ratio_interval"] or [])]
    percents = [f"{100 * (number - 1):+.2f}" for number in numbers]
    interval = f" ({' to '.join(percents[1:])})" if percents[1:] else ""
    outcome.add(label, SHOWN, f"{percents[0]} %{interval}", note=note)


def check_launch(context):
    """Compares the launch of a stage with bare CUDA calls (tests/bench/launch_cost_bench)."""
    outcome, program = context.outcome, context.places.program("launch_cost_bench")
    if program is None:
        outcome.not_run("launch cost", context.places.lacks("launch_cost_bench"))
        return
    done = context.runner.run([program, "--device", context.device, "--blocks",
                               20 if context.quick else 200])
    if not outcome.add_unless_done("launch cost", done):
        return
    measured = json.loads(done.out)
    outcome.keep_result("launch cost", measured)
    variants = measured["variants"]
    ratios = [ours / bare for ours, bare in zip(variants["graphline_event"]["samples"],
                                                variants["bare_launch_between_events"]["samples"])]
    middle = statistics.median(ratios)
    note = "; ".join(f"{name} {variant['median']:.0f} ns" for name, variant in variants.items())
    if context.on_gpu:
        outcome.judge_interval("launching a stage, event", middle, median_interval(ratios),
                               LAUNCH_BOUND, "{:.2f} x", f"bare calls; {note}")
    else:
        outcome.add("launching a stage, event", SHOWN, f"{middle:.2f} x bare", note=note)
