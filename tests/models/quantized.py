#!/usr/bin/env python3
"""Quantizes a small network by ONNX Runtime's tools, in each of their formats, and compares the
outputs with ONNX Runtime: they differ by at most one quantum of the output.

usage: quantized.py GRAPHLINE
"""

import pathlib
import subprocess
import sys
import tempfile

from published import np, onnx, onnxruntime

from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                      quantize_dynamic, quantize_static)

SHAPE = [2, 3, 16, 16]
random = np.random.default_rng(1)


def write_network(path):
    """Convolutions, a residual sum, a pool and a product."""
    weights = {"w1": [8, 3, 3, 3], "b1": [8], "w2": [8, 8, 3, 3], "b2": [8], "w3": [8, 1, 3, 3],
               "b3": [8], "w4": [8, 10], "b4": [10]}
    initializers = [onnx.numpy_helper.from_array(
        random.normal(0, np.prod(shape[1:]) ** -0.5, shape).astype("float32"), name)
        for name, shape in weights.items()]
    make = onnx.helper.make_node
    nodes = [make("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
             make("Relu", ["c1"], ["r1"]),
             make("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1]),
             make("Add", ["c2", "r1"], ["sum"]), make("Relu", ["sum"], ["r2"]),
             make("Conv", ["r2", "w3", "b3"], ["c3"], group=8, strides=[2, 2], pads=[1, 1, 1, 1]),
             make("MaxPool", ["c3"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
             make("GlobalAveragePool", ["m"], ["g"]), make("Flatten", ["g"], ["f"]),
             make("MatMul", ["f", "w4"], ["p"]), make("Add", ["p", "b4"], ["y"])]
    graph = onnx.helper.make_graph(
        nodes, "small", [onnx.helper.make_tensor_value_info("x", 1, SHAPE)],
        [onnx.helper.make_tensor_value_info("y", 1, [SHAPE[0], 10])], initializers)
    onnx.save(onnx.helper.make_model(graph, ir_version=8,
                                     opset_imports=[onnx.helper.make_opsetid("", 13)]), path)


class Pictures(CalibrationDataReader):
    def __init__(self):
        self.left = [{"x": random.normal(0, 1, SHAPE).astype("float32")} for _ in range(8)]

    def get_next(self):
        return self.left.pop() if self.left else None


def carry_out(model, x, folder):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    np.save(folder / "x.npy", x)
    pipeline = folder / "small.yaml"
    pipeline.write_text(
        "pipeline: small\ninputs: {x: {file: x.npy}}\nstages:\n"
        f"  - {{name: net, kind: onnx, model: {model.name}, reads: x, writes: y}}\n")
    subprocess.run([sys.argv[1], "run", pipeline, "--device", "host", "--frames", "1", "--warmup",
                    "0", "--save-tensors", folder / "out"], check=True, stdout=subprocess.DEVNULL)
    return np.load(folder / "out" / "output.y.npy"), session.run(None, {"x": x})[0]


wrong = 0
with tempfile.TemporaryDirectory() as work:
    folder = pathlib.Path(work)
    network = folder / "float.onnx"
    write_network(network)
    x = random.normal(0, 1, SHAPE).astype("float32")
    for name, how in {
            "QDQ": {"quant_format": QuantFormat.QDQ},
            "QDQ per channel": {"quant_format": QuantFormat.QDQ, "per_channel": True,
                                "activation_type": QuantType.QInt8},
            "QOperator": {"quant_format": QuantFormat.QOperator,
                          "op_types_to_quantize": ["Conv", "MatMul", "MaxPool"]},
            "dynamic": None}.items():
        model = folder / "quantized.onnx"
        if how is None:
            quantize_dynamic(network, model)
        else:
            quantize_static(network, model, Pictures(), **how)
        given, expected = carry_out(model, x, folder)
        difference = np.abs(given - expected).max()
        # The tools quantize an output to 256 steps of its range; dynamic ones stay float32.
        quantum = (expected.max() - expected.min()) / 255
        print(f"{name}: differs by {difference / quantum:.3f} of a quantum")
        wrong += not difference <= 1.01 * quantum
sys.exit(1 if wrong else 0)
