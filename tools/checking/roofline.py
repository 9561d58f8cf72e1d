"""What the GPU can do at most, and how near to it a memory-bound and a compute-bound stage come."""

from .context import result_of
from .outcome import SHOWN

# The calibration's convolution over the peak of the units that it runs on, by precision.
UNITS = {"float32": "float32 cores", "tf32": "tf32 tensor cores",
         "float16": "float16 tensor cores", "bfloat16": "bfloat16 tensor cores"}
# Of the peak on the cores; of the measured product on tensor cores, whose peak no program comes
# near enough to: the best product known takes 75 % of it on an H200.
LEAST_SHARE = 0.8
# Fused gemv's time over its roofline time: between the stamps of a stage is its launch too, which
# is a tenth of that on the fastest memory.
MOST_OF_ROOFLINE = 1.25


def check_roofline(context):
    if context.quick:
        context.outcome.not_run("calibration", "--quick")
        return
    calibration = result_of(context, "calibration", ["calibrate"], most=200)
    if calibration is None:
        return
    context.outcome.data["calibration"] = calibration
    compare_with_peaks(context, calibration)
    with context.outcome.or_not_run("gemv"):
        check_gemv(context)


def compare_with_peaks(context, calibration):
    """What convolutions and products reach of the theoretical peak, and a convolution of what it is
    judged against."""
    peaks = {p["name"]: p for p in calibration["theoretical_peaks"]}
    products = {c["precision"]: c["value"] for c in calibration["ceilings"]
                if c["what"] == "matmul"}
    for measured in calibration["ceilings"]:
        if measured["what"] not in ("convolution", "matmul"):
            continue
        precision, value = measured["precision"], measured["value"]
        name = f"{measured['what']}, {precision}"
        peak = peaks.get(UNITS[precision], {"value": None, "formula": ""})
        note = f"{value / 1e12:.2f} TFLOP/s; {peak['formula']}; {measured['how']}"
        share = f"{100 * value / peak['value']:.1f} %" if peak["value"] else ""
        context.outcome.add(f"{name}, of its peak", SHOWN, share, note=note)
        if measured["what"] == "matmul":
            continue
        against, bound = (("its peak", peak["value"]) if precision == "float32" else
                          ("the product", products.get(precision)))
        if bound:
            context.outcome.judge(f"{name}, below {against}", 100 * (1 - value / bound),
                                  100 * (1 - LEAST_SHARE), "{:.1f} %",
                                  f"{value / 1e12:.2f} of {bound / 1e12:.2f} TFLOP/s")


def check_gemv(context):
    """The batched matrix-vector product: by hand near its roofline time, and what roofline says of
    the library's."""
    times = {}
    for method in ("fused", "library"):
        name = f"gemv, {method}"
        result = result_of(context, name, ["roofline", context.places.pipelines / "gemv.yaml",
                                           "--set", f"method={method}"], most=60)
        if result is None:
            continue
        context.outcome.data.setdefault("roofline", {})[method] = result
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
