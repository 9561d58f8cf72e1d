"""ONNX models on `host` with one thread, compared with ONNX Runtime with one thread.

Needs numpy, onnx and onnxruntime; FOLDER holds the unpacked wheels of rapidocr-onnxruntime 1.4.4
and nudenet 3.4.2. The other networks are those of the package onnx, with random weights. Both take
turns: a round is a run of the program of so many frames, then as many runs of ONNX Runtime.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime

LIGHT = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
MODELS = {"detector": ("ch_PP-OCRv4_det_infer.onnx", [1, 3, 736, 1280]),
          "recognizer": ("ch_PP-OCRv4_rec_infer.onnx", [1, 3, 48, 320]),
          "orientation": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", [1, 3, 48, 192]),
          "yolov8n": ("320n.onnx", [1, 3, 320, 320]),
          "resnet50": ("light_resnet50.onnx", [1, 3, 224, 224]),
          "vgg19": ("light_vgg19.onnx", [1, 3, 224, 224]),
          "densenet121": ("light_densenet121.onnx", [1, 3, 224, 224]),
          "squeezenet": ("light_squeezenet.onnx", [1, 3, 224, 224])}


def with_random_weights(model):
    """The light networks make each weight by a ConstantOfShape."""
    rng = numpy.random.default_rng(1)
    shapes = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in [n for n in model.graph.node if n.op_type == "ConstantOfShape"]:
        extents = [int(extent) for extent in shapes[node.input[0]]]
        if len(extents) > 1:
            values = rng.normal(0, (2 / numpy.prod(extents[1:])) ** 0.5, extents)
        else:
            values = rng.uniform(0.5, 1, extents)
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(values.astype("float32"), node.output[0]))
        model.graph.node.remove(node)
    return model


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def compare(name, path, extents, given, folder):
    session = session_of(path)
    outputs = [f"out{i}" for i in range(len(session.get_outputs()))]
    pipeline = folder / f"{name}.yaml"
    pipeline.write_text(f"pipeline: {name}\n"
                        f"inputs: {{image: {{shape: {extents}, fill: normal}}}}\n"
                        f"stages:\n  - {{name: model, kind: onnx, model: {path}, reads: image, "
                        f"writes: [{', '.join(outputs)}]}}\n")
    command = [given.program, "run", pipeline, "--device", "host", "--threads", "1",
               "--strategy", "serial", "--timing", "none", "--warmup", "2",
               "--frames", str(given.frames), "--save-tensors", folder,
               "--json", folder / "run.json"]
    ours, theirs = [], []
    for _ in range(given.rounds):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        run = json.loads((folder / "run.json").read_text())
        ours += run["end_to_end"]["samples"]
        feed = {session.get_inputs()[0].name: numpy.load(folder / "input.image.npy")}
        for i in range(given.frames + 2):
            begin = time.perf_counter()
            results = session.run(None, feed)
            if i >= 2:
                theirs.append((time.perf_counter() - begin) * 1e3)
    difference = max(float(numpy.abs(numpy.load(folder / f"output.{output}.npy") - result).max() /
                           numpy.abs(result).max()) for output, result in zip(outputs, results))
    medians = statistics.median(ours), statistics.median(theirs)
    minima = min(ours), min(theirs)
    print(f"{name:12} {medians[0]:9.2f} {medians[1]:9.2f} {medians[0] / medians[1]:6.2f} "
          f"{minima[0]:9.2f} {minima[1]:9.2f} {minima[0] / minima[1]:6.2f} {difference:9.1e}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("models", nargs="*", help="of " + ", ".join(MODELS) + "; all when left out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=10)
    given = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, one thread each; ms, medians and minima of "
          f"{given.rounds * given.frames} frames, the largest difference over the largest value")
    print(f"{'model':12} {'median':>9} {'ORT':>9} {'ratio':>6} "
          f"{'min':>9} {'ORT':>9} {'ratio':>6} {'differs':>9}")
    for name in given.models or MODELS:
        file, extents = MODELS[name]
        with tempfile.TemporaryDirectory() as room:
            folder = pathlib.Path(room)
            if file.startswith("light_"):
                path = folder / file
                onnx.save(with_random_weights(onnx.load(LIGHT / file)), path)
            else:
                path = next(given.folder.rglob(file)).resolve()
            compare(name, path, extents, given, folder)


if __name__ == "__main__":
    sys.exit(main())
