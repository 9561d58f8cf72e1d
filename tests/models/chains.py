#!/usr/bin/env python3
"""Draws chains of up to five pointwise steps behind every kind of convolution and product, runs
them on `host` with each of the vector extensions that oneDNN can be held to, and compares what
they give with ONNX Runtime.

usage: chains.py GRAPHLINE [--chains N] [--seed N] [--keep FOLDER]

  --chains N     how many chains; 300 unless given
  --seed N       1 unless given
  --keep FOLDER  where to leave the models with a chain that differs

Each number may differ by 1e-4 of itself plus 1e-5 of the largest of its chain, or of 1 where that
is smaller.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from published import np, onnx, onnxruntime, write_pipeline

EXTENSIONS = ["SSE41", "AVX", "AVX2", "AVX512_CORE", "ALL"]
IN_MODEL = 50  # chains in one model
helper = onnx.helper


class Drawn:
    """A model that grows chain by chain."""

    def __init__(self, random):
        self.random = random
        self.nodes = []
        self.constants = []
        self.inputs = {}  # by shape
        self.outputs = []
        self.texts = []

    def name(self):
        return f"v{len(self.nodes)}_{len(self.constants)}"

    def constant(self, values, dtype="float32"):
        name = self.name()
        values = np.asarray(values).astype(dtype)
        self.constants.append(onnx.numpy_helper.from_array(values, name))
        return name

    def numbers(self, shape, scale=1.0):
        return self.constant(self.random.normal(0, scale, shape))

    def input(self, shape):
        return self.inputs.setdefault(tuple(shape), f"x{len(self.inputs)}")

    def node(self, kind, inputs, **attributes):
        name = self.name()
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def one_of(self, choices):
        return choices[self.random.integers(len(choices))]

    def number(self, low, high):
        return float(np.float32(self.random.uniform(low, high)))

    def model(self):
        def tensor(name, shape):
            return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        graph = helper.make_graph(
            self.nodes, "chains", [tensor(name, shape) for shape, name in self.inputs.items()],
            [tensor(name, None) for name in self.outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        model.ir_version = 9
        return onnx.shape_inference.infer_shapes(model)


# Heads: each gives the value, its shape and the axis of its channels.

def convolution(to, what):
    """A convolution of that kind over one to three dimensions."""
    random = to.random
    rank = {"1-D": 1, "3-D": 3}.get(what, 2)
    channels = [1, 3, 5, 8, 16, 17, 24, 32, 40, 64]
    into = int(to.one_of(channels))
    out = int(to.one_of(channels))
    groups = 1
    if what == "depthwise":
        groups, out = into, into * int(to.one_of([1, 1, 2]))
    if what == "grouped":
        groups = int(to.one_of([2, 3, 4]))
        into, out = (groups * int(to.one_of([1, 3, 4, 8, 16])) for _ in range(2))
    kernel = [1 if what == "1x1" else 3 if what == "3x3" else int(to.one_of([1, 2, 3, 5]))
              for _ in range(rank)]
    strides = [int(to.one_of([2, 3])) if what == "strided" else
               int(to.one_of([1, 1, 2])) for _ in range(rank)]
    dilations = [int(to.one_of([1, 1, 2])) if what != "transposed" else 1 for _ in range(rank)]
    pads = [int(random.integers(0, extent // 2 + 1)) for extent in kernel] * 2
    batch = int(to.one_of([1, 1, 2, 3]))
    extents = [int(random.integers(9, 15)) if rank < 3 else int(random.integers(9, 11))
               for _ in range(rank)]
    transposed = what == "transposed"
    weights = ([into, out // groups] if transposed else [out, into // groups]) + kernel
    scale = (into / groups * np.prod(kernel)) ** -0.5
    inputs = [to.input([batch, into, *extents]), to.numbers(weights, scale)]
    if random.random() < 0.7:
        inputs.append(to.numbers([out], 0.5))
    given = to.node("ConvTranspose" if transposed else "Conv", inputs, group=groups,
                    strides=strides, dilations=dilations, pads=pads, kernel_shape=kernel)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    if transposed:
        results = [s * (e - 1) + k - 2 * p for e, s, k, p in zip(extents, strides, spans, pads)]
    else:
        results = [(e + 2 * p - k) // s + 1 for e, s, k, p in zip(extents, strides, spans, pads)]
    return given, [batch, out, *results], 1


def product(to, what):
    """A product of that kind."""
    rows, inner, columns = (int(to.one_of([1, 3, 8, 16, 17, 40, 64])) for _ in range(3))
    scale = inner ** -0.5
    if what == "Gemm":
        from_left, from_right = (bool(to.random.integers(2)) for _ in range(2))
        inputs = [to.input([inner, rows] if from_left else [rows, inner]),
                  to.numbers([columns, inner] if from_right else [inner, columns], scale)]
        if to.random.random() < 0.7:
            inputs.append(to.numbers(to.one_of([[columns], [1, columns], [1]]), 0.5))
        given = to.node("Gemm", inputs, transA=int(from_left), transB=int(from_right),
                        alpha=to.one_of([1.0, 0.5]), beta=to.one_of([1.0, 2.0]))
        return given, [rows, columns], 1
    outer = [int(to.one_of([1, 2, 5])) for _ in range(int(to.random.integers(1, 3)))]
    if what == "MatMul":
        outer = to.one_of([[], outer])
        right = to.numbers([inner, columns], scale)
    elif what == "batched by constants":
        right = to.numbers([*outer, inner, columns], scale)
    else:
        right = to.node("Mul", [to.input([*outer, inner, columns]), to.constant(scale)])
    given = to.node("MatMul", [to.input([*outer, rows, inner]), right])
    shape = [*outer, rows, columns]
    return given, shape, len(shape) - 1


# Steps: each gives the next value of `x`, whose shape stays.

def of_one(kind, **ranges):
    def step(to, x, shape, axis):
        return to.node(kind, [x], **{key: to.number(*value) for key, value in ranges.items()})
    return step


def clip(to, x, shape, axis):
    low, high = sorted([to.number(-1.5, 1.5), to.number(-1.5, 1.5)])
    return to.node("Clip", [x, to.one_of(["", to.constant(np.float32(low))]),
                            to.one_of(["", to.constant(np.float32(high))])])


def operand(to, shape, axis):
    """Another operand: one number, one for each channel, one for each element, or computed."""
    of_channels = [1] * (len(shape) - axis)
    of_channels[0] = shape[axis]
    return to.one_of([
        lambda: to.constant(np.float32(to.number(-2, 2))),
        lambda: to.numbers(of_channels),
        lambda: to.numbers(shape),
        lambda: to.input(shape),
        lambda: to.input(of_channels),
    ])()


def of_two(kind, either=True):
    def step(to, x, shape, axis):
        second = operand(to, shape, axis)
        return to.node(kind, [x, second] if not either or to.random.random() < 0.7
                       else [second, x])
    return step


def division(to, x, shape, axis):
    size = to.one_of([[], [shape[axis]] + [1] * (len(shape) - axis - 1)])
    values = to.random.uniform(0.5, 2, size) * to.random.choice([-1, 1], size)
    return to.node("Div", [x, to.constant(values)])


def prelu(to, x, shape, axis):
    return to.node("PRelu", [x, to.numbers([shape[axis]] + [1] * (len(shape) - axis - 1), 0.5)])


def batch_norm(to, x, shape, axis):
    if axis != 1:
        return to.node("Mul", [x, to.numbers([shape[axis]])])
    count = shape[1]
    return to.node("BatchNormalization",
                   [x, to.numbers([count]), to.numbers([count]), to.numbers([count], 0.3),
                    to.constant(to.random.uniform(0.5, 2, count))])


def root(to, x, shape, axis):
    """Not of numbers near 0, whose roots differ by more than they do."""
    return to.node("Sqrt", [to.node("Max", [to.node("Abs", [x]), to.constant(np.float32(0.1))])])


def power(to, x, shape, axis):
    return to.node("Exp", [to.node("Clip", [x, "", to.constant(np.float32(3))])])


def from_one(to, x, shape, axis):
    return to.node("Sub", [to.constant(np.float32(1)), x])


def silu(to, x, shape, axis):
    return to.node("Mul", [x, to.node("Sigmoid", [x])])


def hard_swish(to, x, shape, axis):
    sum_of = to.node("Add", [x, to.constant(np.float32(3))])
    kept = to.node("Clip", [sum_of, to.constant(np.float32(0)), to.constant(np.float32(6))])
    return to.node("Div", [to.node("Mul", [x, kept]), to.constant(np.float32(6))])


STEPS = {
    "LeakyRelu": of_one("LeakyRelu", alpha=(-0.5, 1)),
    "Elu": of_one("Elu", alpha=(0.1, 2)),
    "Celu": of_one("Celu", alpha=(0.3, 2)),
    "Selu": of_one("Selu", alpha=(0.5, 2), gamma=(0.5, 2)),
    "HardSigmoid": of_one("HardSigmoid", alpha=(0.1, 0.5), beta=(0.2, 0.7)),
    "Clip": clip,
    "Relu": of_one("Relu"),
    "Sigmoid": of_one("Sigmoid"),
    "Tanh": of_one("Tanh"),
    "HardSwish": of_one("HardSwish"),
    "Mish": of_one("Mish"),
    "Gelu": lambda to, x, shape, axis: to.node(
        "Gelu", [x], approximate=to.one_of(["none", "tanh"])),
    "Softplus": of_one("Softplus"),
    "Softsign": of_one("Softsign"),
    "Erf": of_one("Erf"),
    "Abs": of_one("Abs"),
    "Neg": of_one("Neg"),
    "Sqrt": root,
    "Exp": power,
    "1 -": from_one,
    "Silu": silu,
    "HardSwish in parts": hard_swish,
    "Add": of_two("Add"),
    "Sub": of_two("Sub"),
    "Mul": of_two("Mul"),
    "Max": of_two("Max"),
    "Min": of_two("Min"),
    "Div": division,
    "PRelu": prelu,
    "BatchNormalization": batch_norm,
}
# These have parameters: drawn more often, and again in one chain.
PARAMETERS = ["LeakyRelu", "Elu", "Celu", "Selu", "HardSigmoid", "Clip", "Relu", "1 -", "Mul",
              "Add", "BatchNormalization"]
CONVOLUTIONS = ["1x1", "3x3", "strided", "any kernel", "depthwise", "grouped", "1-D", "3-D",
                "transposed"]
PRODUCTS = ["Gemm", "MatMul", "batched", "batched by constants"]


def add_chain(to, number):
    heads = CONVOLUTIONS + PRODUCTS
    head = heads[number % len(heads)]
    x, shape, axis = (convolution if head in CONVOLUTIONS else product)(to, head)
    names = []
    for _ in range(int(to.random.integers(1, 6))):
        again = names and to.random.random() < 0.25
        names.append(to.one_of(names if again else
                               PARAMETERS if to.random.random() < 0.5 else list(STEPS)))
        x = STEPS[names[-1]](to, x, shape, axis)
    to.outputs.append(x)
    to.texts.append(f"{head} {shape}: {', '.join(names)}")


def run(program, pipeline, folder, extension):
    done = subprocess.run(
        [program, "run", pipeline, "--device", "host", "--frames", "1", "--warmup", "0",
         "--save-tensors", folder], stdout=subprocess.DEVNULL,
        env={**os.environ, "ONEDNN_MAX_CPU_ISA": extension, "DNNL_MAX_CPU_ISA": extension})
    if done.returncode != 0:
        sys.exit(f"graphline failed with {extension}: {pipeline}")


def compare(program, drawn, folder, extensions):
    """What differs, a line for each chain and extension."""
    path = folder / "model.onnx"
    onnx.save(drawn.model(), path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    shapes = [list(shape) for shape in drawn.inputs]
    pipeline, reads, writes = write_pipeline(folder, shapes, session)
    expected = None
    wrong = []
    for extension in extensions:
        run(program, pipeline, folder, extension)
        if expected is None:
            expected = session.run(None, {
                value.name: np.load(folder / f"input.{tensor}.npy")
                for value, tensor in zip(session.get_inputs(), reads, strict=True)})
        for tensor, right, text in zip(writes, expected, drawn.texts, strict=True):
            given = np.load(folder / f"output.{tensor}.npy")
            bound = 1e-4 * np.abs(right) + 1e-5 * max(np.abs(right).max(), 1)
            error = np.abs(given - right)
            if not (error <= bound).all():
                wrong.append(f"{extension}: {tensor}: {text}: {(error / bound).max():.3g} times "
                             "what is allowed")
    return wrong


parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--chains", type=int, default=300)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--keep", type=pathlib.Path)
arguments = parser.parse_args()
wrong = []
for first in range(0, arguments.chains, IN_MODEL):
    drawn = Drawn(np.random.default_rng([arguments.seed, first]))
    for number in range(first, min(first + IN_MODEL, arguments.chains)):
        add_chain(drawn, number)
    with tempfile.TemporaryDirectory() as work:
        found = compare(arguments.program, drawn, pathlib.Path(work), EXTENSIONS)
        if found and arguments.keep:
            shutil.copytree(work, arguments.keep / f"chains_{first}")
    print("\n".join(f"chains {first}: {line}" for line in found), end="\n" if found else "",
          flush=True)
    wrong += found
print(f"{arguments.chains} chains with {', '.join(EXTENSIONS)}: {len(wrong)} differ")
sys.exit(1 if wrong else 0)
