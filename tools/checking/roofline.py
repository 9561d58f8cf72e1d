"""What the GPU can do at most, and how near to it a memory-bound and a compute-bound stage come."""

import json

from .context import read_json
from .outcome import FAIL, SHOWN
from .processes import OutOfTime
from .pytorch import python_with_torch

# The calibration's convolution over the peak of the units that it runs on, by precision.
UNITS = {"float32": "float32 cores", "tf32": "tf32 tensor cores",
         "float16": "float16 tensor cores", "bfloat16": "bfloat16 tensor cores"}
LEAST_SHARE_OF_PEAK = 0.8
LEAST_SHARE_OF_COPY = 0.9  # fused gemv's bandwidth over that of a copy
COPIES_AGREE = 0.03

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
    file = context.name(".json")
    done = context.runner.run([context.graphline, "calibrate", "--device", context.device, "--json",
                               file], most=120)
    calibration = read_json(file) if done.status == 0 else None
    if calibration is None:
        context.outcome.add("calibration", FAIL, note=done.reason())
        return
    context.outcome.data["calibration"] = calibration
    compare_with_peaks(context, calibration)
    copy = ceiling(calibration, "copy")
    for step in (compare_with_torch, check_gemv):
        try:
            step(context, copy)
        except OutOfTime:
            context.outcome.not_run(step.__name__.replace("_", " "), "time")


def ceiling(calibration, what):
    return next((c["value"] for c in calibration["ceilings"] if c["what"] == what), None)


def compare_with_peaks(context, calibration):
    peaks = {p["name"]: p for p in calibration["theoretical_peaks"]}
    for measured in calibration["ceilings"]:
        if measured["what"] not in ("convolution", "matmul"):
            continue
        name = f"{measured['what']}, {measured['precision']}"
        peak = peaks.get(UNITS[measured["precision"]], {"value": None, "formula": ""})
        note = f"{measured['value'] / 1e12:.2f} TFLOP/s; {peak['formula']}; {measured['how']}"
        if not peak["value"] or measured["what"] == "matmul":
            share = f"{100 * measured['value'] / peak['value']:.1f} %" if peak["value"] else ""
            context.outcome.add(name, SHOWN, share, note=note)
        else:
            context.outcome.judge(f"{name}, below its peak",
                                  100 * (1 - measured["value"] / peak["value"]),
                                  100 * (1 - LEAST_SHARE_OF_PEAK), "{:.1f} %", note)


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


def check_gemv(context, copy):
    """The batched matrix-vector product: by hand near the memory bound, and what roofline says of
    the library's."""
    times = {}
    for method in ("fused", "library"):
        file = context.name(".json")
        done = context.runner.run(
            [context.graphline, "roofline", context.places.pipelines / "gemv.yaml", "--device",
             context.device, "--set", f"method={method}", "--json", file], most=60)
        result = read_json(file) if done.status == 0 else None
        if result is None:
            context.outcome.add(f"gemv, {method}", FAIL, note=done.reason())
            continue
        context.outcome.data.setdefault("roofline", {})[method] = result
        stage = next(s for s in result["stages"] if s["kind"] == "gemv")
        times[method] = stage["measured"]
        context.outcome.add(f"gemv, {method}", SHOWN, f"{stage['ratio']:.2f} x least",
                            note="; ".join(result["findings"]))
        if method == "fused" and copy is not None:
            rate = (stage["bytes_read"] + stage["bytes_written"]) / (stage["measured"] / 1e3)
            context.outcome.judge("gemv, fused, below a copy", 100 * (1 - rate / copy),
                                  100 * (1 - LEAST_SHARE_OF_COPY), "{:.1f} %",
                                  f"{rate / 1e9:.1f} GB/s, a copy {copy / 1e9:.1f} GB/s")
    if len(times) == 2:
        context.outcome.judge("gemv, fused over library", times["fused"] / times["library"], 1.0,
                              "{:.3f} x")
