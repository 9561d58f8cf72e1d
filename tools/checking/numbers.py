"""Whether the device computes what `host` computes in float32, pipeline by pipeline, and the same
bits whatever the strategy and the graph mode."""

import array
import ast
import math
import operator
import os
import pathlib
import struct

from .context import TOLERANCES
from .outcome import FAIL, NOT_RUN, PASS

# Networks of so many convolutions and linear layers that plans for them take long: they come last,
# and are not tuned.
DEEP = {"mobilenet_v2": 53, "resnet50": 54, "vgg16": 16}
# Where a pipeline's own size would leave little but waiting for `host` or for the disk.
SMALLER = {"gemv": {"batch": 60}, **{name: {"batch": 4} for name in ("one_model", *DEEP)}}
# `serial` has one frame in flight, whatever the pipeline asks for.
ALONE = {"serial": ["--in-flight", "1"], "async": [], "overlap": []}
SERIAL = ["--strategy", "serial", *ALONE["serial"]]
# Stages without which what the check compares is an output: those that only read it, and those
# whose results depend on which side of a threshold a number is.
WITHOUT = {"detector": ["best"], "fan_out": ["join"], "pyramid": ["best"],
           "ocr": ["locate", "cut", "normalize_cuts", "orient", "turn", "normalize_lines",
                   "recognize", "decode"]}
# What --save-tensors writes, by its name in NumPy files.
TYPES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B"}
MOST = 1 << 20  # elements that are compared of one tensor


def read_npy(path):
    """Of a NumPy file the element type and the elements, every n-th where there are more than
    MOST."""
    raw = memoryview(pathlib.Path(path).read_bytes())
    (length,) = struct.unpack("<H", raw[8:10])
    header = ast.literal_eval(bytes(raw[10:10 + length]).decode("latin-1"))
    values = array.array(TYPES[header["descr"]])
    values.frombytes(raw[10 + length:])
    step = max(1, -(-len(values) // MOST))
    # An odd step meets every channel, wherever the channels are.
    return header["descr"], values[::step | 1] if step > 1 else values


def relative_error(values, reference):
    """|values - reference| / |reference| in the Euclidean norm; NaN where either holds one."""
    if len(values) != len(reference):
        return math.nan
    differences = list(map(operator.sub, values, reference))
    difference = math.fsum(map(operator.mul, differences, differences))
    size = math.fsum(map(operator.mul, reference, reference))
    if size == 0:
        return math.sqrt(difference)
    return math.sqrt(difference / size)


def compare(folder, reference_folder):
    """The relative error of each floating-point output of both folders, by tensor."""
    errors = {}
    for path in sorted(pathlib.Path(reference_folder).glob("output.*.npy")):
        kind, reference = read_npy(path)
        if kind not in ("<f4", "<f8"):
            continue  # indices: which of two nearly equal classes comes first is no error
        name = path.name[len("output."):-len(".npy")]
        other = pathlib.Path(folder, path.name)
        errors[name] = relative_error(read_npy(other)[1], reference) if other.exists() else math.nan
    return errors


def bound_for(precision, name):
    """How far a pipeline's outputs may lie from those of `host`. Each product rounds its operands
    to the 11 bits of TF32 anew, and errors add up as independent ones do; the bounds of the other
    precisions have room for every network here."""
    deeper = math.sqrt(DEEP.get(name, 0) / 8) if precision == "tf32" else 1
    return TOLERANCES[precision] * max(1, deeper)


def saved(context, pipeline, *words, device=None, most=60.0):
    """Runs with --save-tensors: the folder and the result, or None and why not."""
    folder = context.name("-tensors")
    done, result = context.run(pipeline, "--save-tensors", folder, *words, device=device, most=most)
    return (folder, result) if result else (None, done.reason())


def report(outcome, name, bound, errors, note=""):
    """A row for the worst of several errors."""
    worst = max(errors, key=lambda key: math.inf if math.isnan(errors[key]) else errors[key],
                default=None)
    outcome.judge(name, errors.get(worst), bound, "{:.1e}",
                  f"worst of {len(errors)} tensors: {worst}; {note}")


def chosen(context):
    files = sorted(context.pipeline_files(), key=lambda f: f.stem in DEEP)
    return [f for f in files if f.stem in ("camera", "six_small")] if context.quick else files


def assignments(parameters):
    return [word for key, value in parameters.items() if not isinstance(value, str)
            for word in ("--set", f"{key}={value}")]


def check_pipelines(context):
    for path in chosen(context):
        with context.outcome.or_not_run(path.stem):
            check_pipeline(context, path)


def check_pipeline(context, path):
    """In each precision with the device's own parameters; `host` computes it once, with the same.
    Tuned is what other steps run too: trying plans out for this one alone would take most of its
    time."""
    name, without = path.stem, WITHOUT.get(path.stem, ())
    few = ["--frames", 2, "--warmup", 1]
    smaller = assignments(SMALLER.get(name, {}) if context.on_gpu else {})
    reference = None
    for precision in context.precisions():
        if precision != "float32" and context.text_of(path, precision) == context.text_of(path):
            continue  # no stage of it has a precision
        label = f"{name}, {precision}"
        variant = context.variant(path, precision if context.on_gpu else None, without,
                                  tune=precision == "float32" and name not in SMALLER)
        folder, result = saved(context, variant, *few, *smaller, most=90)
        if folder is None:
            context.outcome.add(label, FAIL, note=result)
            continue
        parameters = assignments(result["settings"]["params"])
        if reference is None:
            # Its frames are few but large: all cores.
            reference, why = saved(
                context, context.variant(path, None, without), *few, *parameters, *SERIAL,
                "--threads", os.cpu_count() or 1, device="host", most=120)
            if reference is None:
                context.outcome.not_run(label, f"host did not compute it: {why}")
                return
        errors = compare(folder, reference)
        errors.update({output["tensor"]: math.nan for output in result["outputs"]
                       if not output["finite"]})
        context.outcome.data.setdefault("pipelines", {}).setdefault(name, {})[precision] = errors
        report(context.outcome, label, bound_for(precision, name), errors,
               " ".join(word for word in parameters if word != "--set"))


def combinations(context):
    """The words for every strategy with every graph mode."""
    found = [["--strategy", strategy, "--graphs", mode, *ALONE[strategy]]
             for mode in ("off", "stage", "frame") for strategy in ("async", "serial", "overlap")]
    found.append(["--strategy", "overlap", "--graphs", "stage", "--in-flight", "3"])
    return found[:1] + found[3:5] if context.quick else found


def check_same_bits(context):
    for path in chosen(context):
        pipeline = context.variant(path, None, WITHOUT.get(path.stem, ()),
                                   tune=path.stem not in DEEP)
        with context.outcome.or_not_run(path.stem):
            # The first run also chooses the libraries' plans, which the others find in the cache.
            found = [(words, context.run(pipeline, "--frames", 4, "--warmup", 1, *words))
                     for words in combinations(context)]
            report_bits(context, path.stem, found)


def report_bits(context, name, found):
    checksums, refused, failed = {}, [], []
    for words, (done, result) in found:
        label = " ".join(word.replace("--", "") for word in words)
        if result:
            key = " ".join(output["checksum"] for output in result["outputs"])
            checksums.setdefault(key, []).append(label)
        elif done.status == 2:
            refused.append(label)
        else:
            failed.append(f"{label}: {done.reason()}")
    context.outcome.data.setdefault("checksums", {})[name] = checksums
    ran = sum(map(len, checksums.values()))
    notes = [f"refused as meaningless: {', '.join(refused)}"] * bool(refused)
    notes += failed
    if len(checksums) > 1:
        notes += ["alike: " + "; ".join(labels) for labels in checksums.values()]
    status = PASS if len(checksums) == 1 and ran > 1 and not failed else FAIL
    if ran < 2 and not failed:
        status = NOT_RUN
    context.outcome.add(name, status, f"{len(checksums)} of {ran} runs differ"
                        if len(checksums) > 1 else f"{ran} runs alike", "same bits",
                        "\n".join(notes))
