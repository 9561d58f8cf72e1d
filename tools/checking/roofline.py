"""What the GPU can do at most, and how near to it a memory-bound and a compute-bound stage come."""

import json

from .context import result_of
from .outcome import FAIL, SHOWN
from .pytorch import python_with_torch

# The calibration's convolution over the peak of the units that it runs on, by precision.
UNITS = {"float32": "float32 cores", "tf32": "tf32 tensor cores",
         "float16": "float16 tensor cores", "bfloat16": "bfloat16 tensor cores"}
# Of the peak on the cores; of the measured product on tensor cores, whose peak no program comes
# near enough to: the best product known takes 75 % of it on an H200.
LEAST_SHARE = 0.8
LEAST_SHARE_OF_COPY = 0.9  # fused gemv's bandwidth over that of a copy of as many bytes
COPIES_AGREE = 0.03

# float32 elements are read and written: 8 bytes each.
EQUAL_COPY = """pipeline: equal_copy
inputs: {{x: {{shape: [{elements}], dtype: float32, fill: normal}}}}
stages:
  - {{name: copied, kind: traffic, reads: x, writes: y, method: copy}}
run: {{frames: 20, warmup: 3, strategy: async, timing: event}}
"""

# Prints bytes a second, read and written, of a copy of 1 GiB, as calibrate makes it: in a smaller
# one launching it, and what of it stays in the cache, count for more. The median of some.
TORCH_COPY = """
import json, torch
source = torch.randn(1 << 28, device="cuda")
to = torch.empty_like(source)
rates = []
for _ in range(30):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    to.copy_(source)
    end.record()
    end.synchronize()
    rates.append(2 * source.nbytes / (begin.elapsed_time(end) / 1e3))
print(json.dumps(sorted(rates)[len(rates) // 2]))
"""


def check_roofline(context):
    if context.quick:
        context.outcome.not_run("calibration", "--quick")
        return
    calibration = result_of(context, "calibration", ["calibrate"], most=200)
    if calibration is None:
        return
    context.outcome.data["calibration"] = calibration
    compare_with_peaks(context, calibration)
    copy = ceiling(calibration, "copy")
    for name, step in (("copy, against PyTorch's", lambda: compare_with_torch(context, copy)),
                       ("gemv", lambda: check_gemv(context))):
        with context.outcome.or_not_run(name):
            step()


def ceiling(calibration, what):
    return next((c["value"] for c in calibration["ceilings"] if c["what"] == what), None)


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


def compare_with_torch(context, copy):
    name = "copy, against PyTorch's"
    if not context.on_gpu:
        context.outcome.not_run(name, "it compares copies on a GPU")
        return
    python = python_with_torch(context)
    if python is None:
        context.outcome.not_run(name, "no Python with PyTorch was found")
        return
    done = context.runner.run([python, "-c", TORCH_COPY], most=60)
    if done.status != 0 or copy is None:
        context.outcome.add(name, FAIL, note=done.reason() if done.status else "no copy measured")
        return
    theirs = json.loads(done.out)
    context.outcome.data["torch copy"] = theirs
    context.outcome.judge(name, 100 * abs(copy / theirs - 1), 100 * COPIES_AGREE, "{:.2f} %",
                          f"Graphline {copy / 1e9:.1f} GB/s, PyTorch {theirs / 1e9:.1f} GB/s")


def check_gemv(context):
    """The batched matrix-vector product: by hand near a copy of as many bytes, and what roofline
    says of the library's."""
    times = {}
    for method in ("fused", "library"):
        stage, result = stage_under_roofline(context, f"gemv, {method}",
                                             context.places.pipelines / "gemv.yaml", "gemv",
                                             "--set", f"method={method}")
        if stage is None:
            continue
        context.outcome.data.setdefault("roofline", {})[method] = result
        times[method] = stage["measured"]
        context.outcome.add(f"gemv, {method}", SHOWN, f"{stage['ratio']:.2f}x roofline",
                            note="; ".join(found["text"] for found in result["findings"]))
        if method == "fused":
            compare_with_equal_copy(context, stage)
    if len(times) == 2:
        context.outcome.judge("gemv, fused over library", times["fused"] / times["library"], 1.0,
                              "{:.3f} x")


def stage_under_roofline(context, label, pipeline, kind, *words):
    """The stage of that kind in `graphline roofline`, and all of its result; None where it
    failed."""
    result = result_of(context, label, ["roofline", pipeline, *words], most=60)
    if result is None:
        return None, None
    return next(s for s in result["stages"] if s["kind"] == kind), result


def compare_with_equal_copy(context, gemv):
    """On an idle stream the stamp before a stage passes before the stage's launch arrives, which is
    a tenth of gemv's time on the fastest memory. A copy of as many bytes as a stage, between the
    same stamps, pays for it too; the copy of calibrate is too large to."""
    moved = gemv["bytes_read"] + gemv["bytes_written"]
    pipeline = context.name("-equal_copy.yaml")
    pipeline.write_text(EQUAL_COPY.format(elements=moved // 8), encoding="utf-8")
    copy, _ = stage_under_roofline(context, "a copy of as many bytes", pipeline, "traffic")
    if copy is None:
        return
    rates = [(s["bytes_read"] + s["bytes_written"]) / (s["measured"] / 1e3) for s in (gemv, copy)]
    context.outcome.data["equal copy"] = copy
    context.outcome.judge("gemv, fused, below a copy", 100 * (1 - rates[0] / rates[1]),
                          100 * (1 - LEAST_SHARE_OF_COPY), "{:.1f} %",
                          f"{rates[0] / 1e9:.1f} GB/s, a copy of as many bytes "
                          f"{rates[1] / 1e9:.1f} GB/s")
