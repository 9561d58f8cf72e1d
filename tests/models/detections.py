#!/usr/bin/env python3
"""Compares random detection heads that end in NonMaxSuppression, masks that end in NonZero, and
TopK of a computed number of elements with ONNX Runtime: the rows that are counted have the same
numbers.

usage: detections.py GRAPHLINE [--heads COUNT]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from published import np, onnx, onnxruntime

parser = argparse.ArgumentParser(description=__doc__, usage=argparse.SUPPRESS)
parser.add_argument("program")
parser.add_argument("--heads", type=int, default=60)
arguments = parser.parse_args()


class Graph:
    """Nodes and constants of a model; values have numbers."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, values, dtype="int64"):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def node(self, operator, *inputs, **attributes):
        return self.node_of(operator, 1, *inputs, **attributes)[0]

    def node_of(self, operator, outputs, *inputs, **attributes):
        names = [f"v{len(self.nodes)}.{output}" for output in range(outputs)]
        self.nodes.append(onnx.helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def model(self, reads, outputs):
        """`outputs` have a node and a type."""
        for name, (value, _) in outputs.items():
            self.nodes.append(onnx.helper.make_node("Identity", [value], [name]))
        graph = onnx.helper.make_graph(
            self.nodes, "head",
            [onnx.helper.make_tensor_value_info(name, 1, values.shape)
             for name, values in reads.items()],
            [onnx.helper.make_tensor_value_info(name, dtype, None)
             for name, (_, dtype) in outputs.items()], self.constants)
        return onnx.helper.make_model(graph, ir_version=8,
                                      opset_imports=[onnx.helper.make_opsetid("", 13)])


def draw_boxes(random, batch, count, centered):
    """Boxes with corners in any order; some are equal, flat or far away."""
    center = random.uniform(0, 20, (batch, count, 2))
    size = random.uniform(0, 8, (batch, count, 2)) * (random.random((batch, count, 1)) < 0.95)
    boxes = np.concatenate([center, size] if centered else [center - size / 2, center + size / 2],
                           axis=2)
    if not centered:
        swapped = random.random((batch, count)) < 0.2
        boxes[swapped] = boxes[swapped][:, [2, 1, 0, 3]]
    again = random.random(count) < 0.2
    boxes[:, again] = boxes[:, :1]
    return boxes.astype("float32")


def draw_head(random):
    """As exporters write it: the boxes, classes and scores of the rows that are kept."""
    batch, classes, count = (int(random.integers(1, most)) for most in (4, 6, 60))
    centered = bool(random.random() < 0.4)
    reads = {"boxes": draw_boxes(random, batch, count, centered),
             "scores": random.uniform(0, 1, (batch, classes, count)).astype("float32")}
    if random.random() < 0.3:  # equal scores
        reads["scores"] = np.round(reads["scores"], 1)
    graph = Graph()
    parameters = [graph.constant([int(random.choice([1, 3, 20, 2**63 - 1]))]),
                  graph.constant(random.choice([0.0, 0.3, 0.5, 1.0]), "float32")]
    threshold = random.choice([None, 0.0, 0.4, 0.9, 1.0])
    if threshold is not None:
        parameters.append(graph.constant(threshold, "float32"))
    rows = graph.node("NonMaxSuppression", "boxes", "scores", *parameters,
                      center_point_box=int(centered))
    entry, kind, at = (graph.node("Gather", rows, graph.constant(axis), axis=1)
                       for axis in range(3))
    flat = graph.node("Reshape", "boxes", graph.constant([-1, 4]))
    place = graph.node("Add", graph.node("Mul", entry, graph.constant(count)), at)
    scored = graph.node("GatherND", graph.node("Identity", "scores"), rows)
    column = graph.constant([1])
    found = graph.node(
        "Concat", graph.node("Gather", flat, place),
        graph.node("Unsqueeze", graph.node("Cast", kind, to=1), column),
        graph.node("Unsqueeze", scored, column), axis=1)
    return reads, graph.model(reads, {"rows": (rows, 7), "found": (found, 1)}), {}


def draw_mask(random):
    """x[x > 0], and where."""
    shape = random.integers(1, 6, int(random.integers(1, 5)))
    reads = {"x": np.where(random.random(shape) < 0.5, random.normal(0, 1, shape),
                           random.choice([0.0, -1.0])).astype("float32")}
    graph = Graph()
    places = graph.node("NonZero", graph.node("Greater", "x", graph.constant(0, "float32")))
    chosen = graph.node("GatherND", "x", graph.node("Transpose", places))
    return reads, graph.model(reads, {"places": (places, 7), "chosen": (chosen, 1)}), {"places": 1}


def draw_top(random):
    """As many of the best as are above a threshold, and their boxes."""
    count = int(random.integers(2, 60))
    reads = {"scores": np.round(random.uniform(0, 1, count), 2).astype("float32"),
             "boxes": random.uniform(0, 1, (count, 4)).astype("float32")}
    graph = Graph()
    above = graph.node("Greater", "scores", graph.constant(random.uniform(0, 1.1), "float32"))
    number = graph.node("ReduceSum", graph.node("Cast", above, to=7), graph.constant([0]))
    best, places = graph.node_of("TopK", 2, "scores", number,
                                 largest=int(random.random() < 0.7))
    return reads, graph.model(reads, {"best": (best, 1), "places": (places, 7),
                                      "chosen": (graph.node("Gather", "boxes", places), 1)}), {}


wrong = rows = 0
with tempfile.TemporaryDirectory() as work:
    folder = pathlib.Path(work)
    cases = []
    lines = ["stages:"]
    inputs = ["pipeline: heads", "inputs:"]
    for number in range(arguments.heads):
        random = np.random.default_rng(number)
        draw = {0: draw_mask, 1: draw_top}.get(number % 4, draw_head)
        reads, model, axes = draw(random)
        onnx.save(model, folder / f"{number}.onnx")
        session = onnxruntime.InferenceSession(str(folder / f"{number}.onnx"),
                                               providers=["CPUExecutionProvider"])
        outputs = [output.name for output in session.get_outputs()]
        cases.append((axes, dict(zip(outputs, session.run(None, reads), strict=True))))
        for name, values in reads.items():
            np.save(folder / f"{number}.{name}.npy", values)
            inputs.append(f"  h{number}.{name}: {{file: {number}.{name}.npy}}")
        lines.append(f"  - {{name: h{number}, kind: onnx, model: {number}.onnx, reads: "
                     f"[{', '.join(f'h{number}.{name}' for name in reads)}]}}")
    (folder / "heads.yaml").write_text("\n".join(inputs + lines) + "\n")
    subprocess.run([arguments.program, "run", folder / "heads.yaml", "--device", "host",
                    "--frames", "1", "--warmup", "0", "--save-tensors", folder / "out"],
                   check=True, stdout=subprocess.DEVNULL)
    for number, (axes, expected) in enumerate(cases):
        for name, right in expected.items():
            tensor = f"output.h{number}.{name}"
            axis = axes.get(name, 0)
            given = np.load(folder / "out" / f"{tensor}.npy")
            (count,) = np.load(folder / "out" / f"{tensor}.count.npy")
            rows += int(count)
            if count != right.shape[axis] or not np.array_equal(
                    np.take(given, range(count), axis), right):
                print(f"head {number}: {count} rows of '{name}', not {right.shape[axis]}, or "
                      f"others")
                wrong += 1
print(f"{arguments.heads} heads with {rows} rows: {wrong} outputs are wrong")
sys.exit(1 if wrong or not rows else 0)
