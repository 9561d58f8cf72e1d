#!/usr/bin/env python3
"""Compares random nodes of every supported operator with ONNX Runtime: each gives the same numbers
or is refused by `graphline check`; what `check` passes, `run` carries out.

usage: operators.py GRAPHLINE [--nodes COUNT] [--first NUMBER] [--keep FOLDER] [OPERATOR...]

  --nodes   of each operator (300); they have the numbers from --first (0) on, and of a number
            always the same node is drawn
  --keep    where the models, inputs and pipelines of all of them stay

Numbers may differ by 1e-5 of the largest in their output, of some operators by more, and quantized
ones by 1; integers are equal, and infinite ones and NaN are where ONNX Runtime has them. What that
refuses is only checked and run.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

from published import np, onnx, onnxruntime

import nodes_constants  # noqa: F401  these draw
import nodes_pointwise  # noqa: F401
import nodes_products  # noqa: F401
import nodes_quantized  # noqa: F401
import nodes_tensors  # noqa: F401
import nodes_windows  # noqa: F401
from nodes import DRAWN, Source

onnxruntime.set_default_logger_severity(4)
BATCH = 100  # nodes in one pipeline
WIDER = {"bool": "uint8", "int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64",
         "uint64": "int64"}  # types of tensors for types of a model that they lack

parser = argparse.ArgumentParser(
    description=__doc__, usage=argparse.SUPPRESS, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("program")
parser.add_argument("operators", nargs="*")
parser.add_argument("--nodes", type=int, default=300)
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--keep", type=pathlib.Path)
arguments = parser.parse_intermixed_args()
program = arguments.program


def supported():
    """The operators that the program lists."""
    manual = subprocess.run([program, "stages", "onnx"], check=True, capture_output=True,
                            text=True).stdout
    listed = re.findall(r"^   *((?:[A-Z]\w*)(?: [A-Z]\w*)*)$", manual, re.MULTILINE)
    return sorted({name for line in listed for name in line.split()})


class Case:
    """A model of one node, with what it reads."""

    def __init__(self, operator, number):
        self.operator = operator
        self.number = number
        self.drawn = DRAWN[operator](Source(operator, number))
        if Source(operator + " of constants", number).chance(0.1):
            for each in self.drawn.inputs:
                if each is not None:
                    each.computed = False
        self.reads = {}  # array by the model's input
        self.gives = []  # the model's outputs
        self.refused = self.failed = None
        self.given = self.expected = None

    def __str__(self):
        inputs = [each and f"{each.values.dtype}{list(each.values.shape)}"
                  f"{'' if each.computed else ' constant'}" for each in self.drawn.inputs]
        small = [f"input {i} {each.values.tolist()}" for i, each in enumerate(self.drawn.inputs)
                 if each and not each.computed and each.values.size <= 8]
        return (f"{self.operator} {self.number}, operator set {self.drawn.opset}: "
                f"{self.drawn.attributes} of {inputs} {'; '.join(small)}")

    def model(self):
        nodes, initializers, inputs, names = [], [], [], []
        for i, each in enumerate(self.drawn.inputs):
            names.append("" if each is None else f"x{i}")
            if each is None:
                continue
            values = each.values
            if not each.computed:
                initializers.append(onnx.numpy_helper.from_array(values, names[-1]))
                continue
            name = names[-1]
            if values.ndim == 0:
                initializers.append(onnx.numpy_helper.from_array(np.zeros(0, "int64"), f"none{i}"))
                nodes.insert(0, onnx.helper.make_node("Reshape", [f"one{i}", f"none{i}"], [name]))
                name, values = f"one{i}", values.reshape(1)
            self.reads[name] = values
        given = [f"y{i}" for i in range(self.drawn.outputs)]
        attributes = {name: onnx.numpy_helper.from_array(value) if isinstance(value, np.ndarray)
                      else value for name, value in self.drawn.attributes.items()}
        nodes.append(onnx.helper.make_node(self.operator, names, list(given), **attributes))
        if not self.reads or self.operator in ("EyeLike", "Shape", "Size"):
            self.reads["zero"] = np.zeros(1, "float32")
        gives = self.drawn.gives
        gives = [gives] * len(given) if isinstance(gives, str) else list(gives)
        if "zero" in self.reads:  # of constants: a model cannot give them alone
            for i, name in enumerate(given):
                nodes.append(onnx.helper.make_node("Cast", [name], [f"float{i}"], to=1))
                nodes.append(onnx.helper.make_node("Add", [f"float{i}", "zero"], [f"sum{i}"]))
                given[i], gives[i] = f"sum{i}", "float32"
        self.gives = given
        inputs = [onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(values.dtype), values.shape)
            for name, values in self.reads.items()]
        outputs = [onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None)
            for name, dtype in zip(given, gives)]
        graph = onnx.helper.make_graph(nodes, "node", inputs, outputs, initializers)
        return onnx.helper.make_model(
            graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", self.drawn.opset)])

    def refer(self, model):
        """What ONNX Runtime gives; nothing where it refuses."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                   providers=["CPUExecutionProvider"])
            self.expected = session.run(None, self.reads)
        except Exception as problem:  # each of its kinds is one of its own
            self.expected = None
            self.unknown = str(problem)

    def difference(self):
        """What is wrong with the outputs; empty where nothing is."""
        for i, (given, right) in enumerate(zip(self.given, self.expected, strict=True)):
            if given.shape != right.shape:
                return f"output {i} is {list(given.shape)}, not {list(right.shape)}"
            if given.dtype.kind != "f":
                apart = np.abs(given.astype("int64") - right.astype("int64"))
                if apart.max(initial=0) > self.drawn.quanta:
                    place = tuple(int(at) for at in np.argwhere(apart > self.drawn.quanta)[0])
                    return f"output {i} at {list(place)}: {given[place]!r}, not {right[place]!r}"
                continue
            finite = np.isfinite(right)
            largest = float(np.abs(right[finite]).max(initial=0))
            with np.errstate(all="ignore"):
                close = np.where(finite, np.abs(given.astype("float64") - right) <=
                                 self.drawn.tolerance * largest + float(np.finfo("float32").tiny),
                                 (given == right) | (np.isnan(given) & np.isnan(right)))
            if not close.all():
                place = tuple(int(at) for at in np.argwhere(~close)[0])
                return (f"output {i} at {list(place)}: {given[place]!r}, not {right[place]!r} "
                        f"({int((~close).sum())} of {close.size} differ; largest {largest:.3g})")
        return ""


def write_pipeline(cases, path):
    """A pipeline of these nodes; to whom each of its lines belongs."""
    lines = ["pipeline: nodes", "inputs:"]
    places = {}
    for case in cases:
        for name in case.reads:
            dtype = WIDER.get(str(case.reads[name].dtype), case.reads[name].dtype)
            lines.append(f"  {case.stem}.{name}: {{file: {case.stem}.{name}.npy, dtype: {dtype}}}")
            places[len(lines)] = case
    lines.append("stages:")
    for case in cases:
        reads = ", ".join(f"{case.stem}.{name}" for name in case.reads)
        writes = ", ".join(f"{name}: {case.stem}.out{i}" for i, name in enumerate(case.gives))
        lines.append(f"  - {{name: {case.stem}, kind: onnx, model: {case.stem}.onnx, "
                     f"reads: [{reads}], writes: {{{writes}}}}}")
        places[len(lines)] = case
    path.write_text("\n".join(lines) + "\n")
    return places


def graphline(command, path, *options):
    return subprocess.run([program, command, path, "--device", "host", *options],
                          capture_output=True, text=True)


def carry_out(cases, folder):
    """Checks nodes and runs them; where together they fail, each half of them apart."""
    if not cases:
        return
    path = folder / "nodes.yaml"
    places = write_pipeline(cases, path)
    done = graphline("check", path)
    if done.returncode != 0:
        refused = {int(line): text for line, text in
                   re.findall(r"^\S*nodes\.yaml:(\d+):\d+: error: (.*)", done.stderr, re.MULTILINE)}
        if done.returncode != 2 or not set(refused) & set(places):
            sys.exit(f"check failed with status {done.returncode}: {done.stderr}")
        for line, text in refused.items():
            places[line].refused = text
        return carry_out([case for case in cases if not case.refused], folder)
    out = folder / "out"
    done = graphline("run", path, "--frames", "1", "--warmup", "0", "--save-tensors", out)
    if done.returncode == 0:
        for case in cases:
            case.given = [np.load(out / f"output.{case.stem}.out{i}.npy")
                          for i in range(case.drawn.outputs)]
            for i, given in enumerate(case.given):
                count = out / f"output.{case.stem}.y{i}.count.npy"
                if count.exists():
                    valid = range(np.load(count).item())
                    case.given[i] = np.take(given, valid, case.drawn.counted)
    elif len(cases) == 1:
        cases[0].failed = f"status {done.returncode}: {done.stderr.strip()}"
    else:
        carry_out(cases[:len(cases) // 2], folder)
        carry_out(cases[len(cases) // 2:], folder)


def carry_out_batch(batch, folder):
    folder.mkdir()
    cases = []
    for operator, number in batch:
        case = Case(operator, number)
        case.stem = f"{operator}_{number}"
        model = case.model()
        case.refer(model)
        onnx.save(model, folder / f"{case.stem}.onnx")
        for name, values in case.reads.items():
            np.save(folder / f"{case.stem}.{name}.npy",
                    values.astype(WIDER.get(str(values.dtype), values.dtype)))
        cases.append(case)
    carry_out(cases, folder)
    return cases


operators = arguments.operators or supported()
for operator in operators:
    if operator not in DRAWN:
        sys.exit(f"no nodes of {operator} are drawn: add them to tests/models/nodes_*.py")
numbered = [(operator, number) for operator in operators
            for number in range(arguments.first, arguments.first + arguments.nodes)]
batches = [numbered[i:i + BATCH] for i in range(0, len(numbered), BATCH)]
counts = collections.defaultdict(collections.Counter)
refusals = collections.Counter()
with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
    root = arguments.keep or pathlib.Path(work)
    root.mkdir(parents=True, exist_ok=True)
    folders = [root / f"batch_{i}" for i in range(len(batches))]
    for cases in pool.map(carry_out_batch, batches, folders):
        for case in cases:
            wrong = case.failed and f"check passes and run fails with {case.failed}"
            if case.given is not None and case.expected is not None:
                wrong = case.difference()
            if wrong:
                print(f"{case}: {wrong}", flush=True)
            if case.refused:
                reason = re.sub(r"^node '[^']*' \(\w+\) ", "", case.refused)
                refusals[case.operator, re.sub(r"[\d.]+", "N", reason)] += 1
            counts[case.operator]["wrong" if wrong else "refused" if case.refused else
                                  "agree" if case.expected is not None else "unknown"] += 1
for (operator, reason), count in sorted(refusals.items()):
    print(f"{operator} refused {count}: {reason}")
for operator, count in sorted(counts.items()):
    print(f"{operator}: {dict(sorted(count.items()))}")
wrong = sum(count["wrong"] for count in counts.values())
print(f"{len(numbered)} nodes of {len(operators)} operators: {wrong} wrong")
sys.exit(1 if wrong else 0)
