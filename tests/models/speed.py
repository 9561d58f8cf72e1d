#!/usr/bin/env python3
"""Times published ONNX models, and the networks of pipelines/two_models.yaml as such, on `host` and
with ONNX Runtime, each with one thread.

Both take turns: a round is a run of the program of so many frames, then as many runs of ONNX
Runtime, each after two that do not count. Prints medians and minima in ms.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from published import load, np, onnx, onnxruntime, write_pipeline

PHOTO = [1, 3, 224, 224]
INPUTS = {"ppocr_v4/detect": [1, 3, 736, 1280], "ppocr_v4/recognize": [1, 3, 48, 320],
          "ppocr_v4/orient": [1, 3, 48, 192], "nudenet/detect": [1, 3, 320, 320],
          "light/resnet50": PHOTO, "light/vgg19": PHOTO, "light/densenet121": PHOTO,
          "light/squeezenet": PHOTO, "two_models/backbone": [1, 3, 112, 112],
          "two_models/head": [1, 1024, 28, 28]}
TWO_MODELS = {
    "two_models/backbone": """
      (float[1, 3, 112, 112] x, float[512, 3, 3, 3] w0, float[512] b0,
       float[1024, 512, 3, 3] w1, float[1024] b1) => (float[1, 1024, 28, 28] y) {
        c0 = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w0, b0)
        a0 = Gelu (c0)
        c1 = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (a0, w1, b1)
        y = Gelu (c1)
      }""",
    "two_models/head": """
      (float[1, 1024, 28, 28] x, float[2048, 1024] w0, float[2048] b0, float[512, 2048] w1,
       float[512] b1, float[1, 512] w2, float[1] b2) => (float[1, 1] y) {
        p = GlobalAveragePool (x)
        f = Flatten (p)
        g0 = Gemm <transB = 1> (f, w0, b0)
        a0 = Gelu (g0)
        g1 = Gemm <transB = 1> (a0, w1, b1)
        a1 = Gelu (g1)
        y = Gemm <transB = 1> (a1, w2, b2)
      }"""}
WARMUP = 2


def two_models(name):
    """One of them, its weights random."""
    model = onnx.parser.parse_model(
        f'<ir_version: 9, opset_import: ["": 20]> network {TWO_MODELS[name]}')
    random = np.random.default_rng(1)
    for weight in list(model.graph.input)[1:]:
        shape = [extent.dim_value for extent in weight.type.tensor_type.shape.dim]
        values = random.normal(0, (2 / np.prod(shape[1:])) ** 0.5, shape).astype("float32")
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, weight.name))
        model.graph.input.remove(weight)
    return model


def times_of(session, feed, frames):
    times = []
    for _ in range(WARMUP + frames):
        begin = time.perf_counter()
        session.run(None, feed)
        times.append((time.perf_counter() - begin) * 1e3)
    return times[WARMUP:]


def compare(name, given, folder):
    path = folder / "model.onnx"
    onnx.save(two_models(name) if name in TWO_MODELS else load(name), path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    pipeline, _, _ = write_pipeline(folder, [INPUTS[name]], session)
    ours, theirs = [], []
    for _ in range(given.rounds):
        subprocess.run([given.program, "run", pipeline, "--device", "host", "--threads", "1",
                        "--strategy", "serial", "--timing", "none", "--warmup", str(WARMUP),
                        "--frames", str(given.frames), "--save-tensors", folder,
                        "--json", folder / "run.json"], check=True, stdout=subprocess.DEVNULL)
        frames = json.loads((folder / "run.json").read_text())["record"]["frames"]
        ours += [(end - begin) / 1e6 for begin, end in zip(frames["begin"], frames["end"])]
        feed = {session.get_inputs()[0].name: np.load(folder / "input.in0.npy")}
        theirs += times_of(session, feed, given.frames)
    row = [f"{name:20}"]
    for what in (statistics.median, min):
        row.append(f"{what(ours):9.2f} {what(theirs):9.2f} {what(ours) / what(theirs):6.2f}")
    print(*row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("models", nargs="*", help="of " + ", ".join(INPUTS) + "; all if left out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=10)
    given = parser.parse_args()
    print(f"ONNX Runtime {onnxruntime.__version__}; {given.rounds * given.frames} frames of each\n"
          f"{'':20} {'median':>9} {'ORT':>9} {'ratio':>6} {'min':>9} {'ORT':>9} {'ratio':>6}")
    for name in given.models or INPUTS:
        with tempfile.TemporaryDirectory() as folder:
            compare(name, given, pathlib.Path(folder))


main()
