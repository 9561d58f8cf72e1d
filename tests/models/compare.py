#!/usr/bin/env python3
"""Runs published ONNX models on `host` and with ONNX Runtime, on the same random inputs, and
compares the outputs.

usage: compare.py GRAPHLINE [MODEL...]

Each number may differ by 1e-3 of itself plus 1e-5 of the largest in its output, or of 1 where that
is smaller.
"""

import pathlib
import subprocess
import sys
import tempfile

from published import load, np, onnx, onnxruntime, write_pipeline

program = sys.argv[1]
PHOTO = [[1, 3, 224, 224]]
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


def bare(graph):
    """Makes what a last softmax or sigmoid reads an output too: what it gives may hide errors."""
    names = [output.name for output in graph.output]
    for node in graph.node:
        if node.op_type in ("Softmax", "Sigmoid") and node.output[0] in names:
            graph.output.append(onnx.helper.make_tensor_value_info(
                node.input[0], onnx.TensorProto.FLOAT, None))


def compare(name, folder):
    """Whether the outputs are the same."""
    model = load(name)
    bare(model.graph)
    path = folder / "model.onnx"
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    pipeline, reads, writes = write_pipeline(folder, INPUTS[name], session)
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
for wanted in sys.argv[2:] or INPUTS:
    with tempfile.TemporaryDirectory() as work:
        if not compare(wanted, pathlib.Path(work)):
            failed.append(wanted)
sys.exit(f"not as ONNX Runtime has it: {', '.join(failed)}" if failed else 0)
