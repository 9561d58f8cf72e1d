"""Published ONNX models that tools/setup/models brings to build/models, and ONNX Runtime beside
them. The light models, which have no weights, get random ones."""

import pathlib
import sys

SKIPPED = 77

MODELS = pathlib.Path(__file__).resolve().parents[2] / "build" / "models"
sys.path.insert(0, str(MODELS / "reference"))
try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as problem:
    print(f"skipped: {problem}; tools/setup/models brings it for Debian 12's Python")
    sys.exit(SKIPPED)
onnxruntime.set_default_logger_severity(3)  # it warns of constants that nothing reads

LIGHT = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"


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


def require(path, remedy="tools/setup/models brings it"):
    """Skips the test if a file or folder is missing."""
    if path.exists():
        return
    print(f"skipped: no {path}; {remedy}")
    sys.exit(SKIPPED)


def load(name):
    """The model of that name, "light/resnet50" or a file of build/models."""
    light = name.startswith("light/")
    given = LIGHT / f"{name.replace('/', '_')}.onnx" if light else MODELS / f"{name}.onnx"
    require(given)
    model = onnx.load(given)
    if light:
        draw_weights(model.graph)
    return model


def write_pipeline(folder, shapes, session):
    """A pipeline of one stage, the model in `folder` that the session runs: it reads random tensors
    in0, in1, ... of these shapes and writes out0, ...; the pipeline's path and their names."""
    reads = [f"in{i}" for i in range(len(shapes))]
    writes = [f"out{i}" for i in range(len(session.get_outputs()))]
    types = [value.type.removeprefix("tensor(").removesuffix(")").replace("float", "float32")
             for value in session.get_inputs()]
    inputs = "".join(f"  {tensor}: {{shape: {shape}, dtype: {dtype}, fill: normal}}\n"
                     for tensor, shape, dtype in zip(reads, shapes, types, strict=True))
    pipeline = folder / "pipeline.yaml"
    pipeline.write_text(f"pipeline: published\ninputs:\n{inputs}stages:\n"
                        f"  - {{name: model, kind: onnx, model: model.onnx,\n"
                        f"     reads: [{', '.join(reads)}], writes: [{', '.join(writes)}]}}\n")
    return pipeline, reads, writes
