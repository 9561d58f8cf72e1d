#!/usr/bin/env python3
"""Runs published ONNX models on `host` and with ONNX Runtime, on the same random inputs, and
compares the outputs.

usage: compare.py GRAPHLINE SOURCE_DIR [MODEL...]

Each number may differ by 1e-3 of itself plus 1e-5 of the largest in its output, or of 1 where that
is smaller. What tools/setup/models brings lies in build/models of SOURCE_DIR; the light models,
which have no weights, get random ones.
"""

import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77

program, source = sys.argv[1:3]
models = pathlib.Path(source) / "build" / "models"
sys.path.insert(0, str(models / "reference"))
try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as problem:
    print(f"skipped: {problem}; tools/setup/models brings it for Debian 12's Python")
    sys.exit(SKIPPED)
onnxruntime.set_default_logger_severity(3)  # it warns of constants that nothing reads

PHOTO = [[1, 3, 224, 224]]
LIGHT = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
INPUTS = {  # by model, the shapes of its inputs in the model's order
    **{f"light/{name}": PHOTO for name in [
        "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
        "squeezenet", "vgg19", "zfnet512"]},
    "magika/classify": [[1, 2048]],
    "nudenet/detect": [[1, 3, 320, 320]],
    "ppocr_v4/detect": [[1, 3, 320, 480]],
    "ppocr_v4/orient": [[2, 3, 48, 192]],
    "ppocr_v4/recognize": [[2, 3, 48, 320]],
    "silero_vad/sequence": [[32, 576], [1, 1, 128], [1, 1, 128]],
}


def draw_weights(graph):
    """Puts random numbers in place of a light model's ones. Matrices keep the size of what goes
    through them, also through relu."""
    random = np.random.default_rng(1)
    extents = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in [node for node in graph.node if node.op_type == "ConstantOfShape"]:
        shape = [int(extent) for extent in extents[node.input[0]]]
        if len(shape) > 1:
            values = random.normal(0, (2 / np.prod(shape[1:])) ** 0.5, shape)
        else:
            values = random.uniform(0.2, 0.6, shape)
        values = values.astype("float32")
        graph.initializer.append(onnx.numpy_helper.from_array(values, node.output[0]))
        graph.node.remove(node)


def bare(graph):
    """Makes what a last softmax or sigmoid reads an output too: what it gives may hide errors."""
    names = [output.name for output in graph.output]
    for node in graph.node:
        if node.op_type in ("Softmax", "Sigmoid") and node.output[0] in names:
            graph.output.append(onnx.helper.make_tensor_value_info(
                node.input[0], onnx.TensorProto.FLOAT, None))


def compare(name, folder):
    """Whether the outputs are the same."""
    light = name.startswith("light/")
    given = LIGHT / f"{name.replace('/', '_')}.onnx" if light else models / f"{name}.onnx"
    if not given.exists():
        print(f"skipped: no {given}; tools/setup/models brings it")
        sys.exit(SKIPPED)
    model = onnx.load(given)
    if light:
        draw_weights(model.graph)
    bare(model.graph)
    path = folder / "model.onnx"
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    reads = [f"in{i}" for i in range(len(INPUTS[name]))]
    writes = [f"out{i}" for i in range(len(session.get_outputs()))]
    types = [value.type.removeprefix("tensor(").removesuffix(")").replace("float", "float32")
             for value in session.get_inputs()]
    inputs = "".join(f"  {tensor}: {{shape: {shape}, dtype: {dtype}, fill: normal}}\n"
                     for tensor, shape, dtype in zip(reads, INPUTS[name], types, strict=True))
    pipeline = folder / "pipeline.yaml"
    pipeline.write_text(f"pipeline: compared\ninputs:\n{inputs}stages:\n"
                        f"  - {{name: model, kind: onnx, model: model.onnx,\n"
                        f"     reads: [{', '.join(reads)}], writes: [{', '.join(writes)}]}}\n")
    subprocess.run([program, "run", pipeline, "--device", "host", "--frames", "1", "--warmup", "0",
                    "--save-tensors", folder], check=True, stdout=subprocess.DEVNULL)
    expected = session.run(None, {
        value.name: np.load(folder / f"input.{tensor}.npy")
        for value, tensor in zip(session.get_inputs(), reads, strict=True)})
    same = True
    for value, tensor, right in zip(session.get_outputs(), writes, expected, strict=True):
        given = np.load(folder / f"output.{tensor}.npy")
        difference = np.abs(given - right) if given.shape == right.shape else np.array(np.inf)
        largest = np.abs(right).max()
        bound = 1e-3 * np.abs(right) + 1e-5 * max(largest, 1)
        close = bool((difference <= bound).all() and np.isfinite(right).all())
        print(f"{name}: {value.name} {list(right.shape)}: largest {largest:.3g}, largest error "
              f"{difference.max() / largest:.1e} of it{'' if close else ': WRONG'}", flush=True)
        same = same and close
    return same


failed = []
for wanted in sys.argv[3:] or INPUTS:
    with tempfile.TemporaryDirectory() as work:
        if not compare(wanted, pathlib.Path(work)):
            failed.append(wanted)
sys.exit(f"not as ONNX Runtime has it: {', '.join(failed)}" if failed else 0)
