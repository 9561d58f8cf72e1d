"""Random nodes of operators that compute element by element."""

from nodes import Node, draws
from published import np

SINCE = {"Celu": 12, "Erf": 9, "Gelu": 20, "GreaterOrEqual": 12, "HardSwish": 14, "LessOrEqual": 12,
         "Mish": 18, "Round": 11, "Sign": 9, "ThresholdedRelu": 10}
# Types of constants that ONNX Runtime computes with too.
TYPES = {"Abs": "float64 int64 int32", "Add": "float64 int64 int32", "Div": "float64 int64 int32",
         "Mul": "float64 int64 int32", "Sub": "float64 int64 int32", "Neg": "float64 int64 int32",
         "Max": "float64 int64 int32", "Min": "float64 int64 int32", "Sign": "float64 int64 int32",
         "Equal": "float64 int64 int32", "Greater": "float64 int64 int32",
         "Less": "float64 int64 int32", "GreaterOrEqual": "float64 int64 int32",
         "LessOrEqual": "float64 int64 int32", "Relu": "float64", "Sqrt": "float64",
         "Exp": "float64", "Log": "float64", "Ceil": "float64", "Floor": "float64",
         "Round": "float64", "Reciprocal": "float64", "Tanh": "float64", "Sigmoid": "float64"}
COMPARISONS = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]


def operands(source, operator, shapes):
    """Inputs of these shapes; at times of another type."""
    opset = source.opset(SINCE.get(operator, 7))
    dtype = "float32"
    if opset >= 13 and operator in TYPES and source.chance(0.25):
        dtype = source.pick(*TYPES[operator].split())
    inputs = []
    moved = operator in COMPARISONS  # those that take integers which a run reads
    for shape in shapes:
        if dtype.startswith("int"):
            values = source.random.integers(-9, 10, shape)
            if operator == "Div" and inputs:
                values = np.where(values == 0, 7, values)
            inputs.append(source.input(np.asarray(values, dtype), 0.5 if moved else 0.04))
        elif dtype == "float64":
            inputs.append(source.input(source.floats(shape).astype(dtype), 0.04))
        else:
            inputs.append(source.input(source.floats(shape)))
    return opset, inputs, dtype


@draws("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "HardSwish", "Log", "Mish", "Neg", "Reciprocal",
       "Relu", "Round", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Tanh")
def one(source, operator):
    opset, inputs, dtype = operands(source, operator, [source.shape()])
    return Node(opset, inputs, gives=dtype)


@draws("Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu", "ThresholdedRelu")
def with_numbers(source, operator):
    opset, inputs, _ = operands(source, operator, [source.shape()])
    x = inputs[0].values
    if operator.endswith("lu") and 0 < np.abs(x).max(initial=0) < 1e-20:
        # ONNX Runtime rounds exp(x) - 1 to 0, where PyTorch and we give x.
        inputs[0].values = np.abs(x)
    attributes = {}
    source.maybe(attributes, alpha=source.number(0.1) if operator == "Celu" else source.number())
    if operator == "HardSigmoid":
        source.maybe(attributes, beta=source.number())
    if operator == "Selu":
        source.maybe(attributes, gamma=source.number())
    return Node(opset, inputs, attributes)


@draws("Gelu")
def gelu(source, _):
    attributes = {}
    source.maybe(attributes, approximate=source.pick("none", "tanh"))
    return Node(source.opset(20), [source.input(source.floats(source.shape()))], attributes)


@draws("Add", "Div", "Mul", "Sub")
def two(source, operator):
    opset, inputs, dtype = operands(source, operator, source.broadcast(2))
    return Node(opset, inputs, gives=dtype)


@draws(*COMPARISONS)
def compared(source, operator):
    opset, inputs, _ = operands(source, operator, source.broadcast(2))
    return Node(max(opset, 9), inputs, gives="bool")


@draws("Max", "Mean", "Min", "Sum")
def many(source, operator):
    shapes = source.broadcast(source.whole(1, 4))
    opset, inputs, dtype = operands(source, operator, shapes)
    return Node(max(opset, 8), inputs, gives=dtype)


@draws("And", "Not", "Or", "Xor")
def logical(source, operator):
    shapes = source.broadcast(1 if operator == "Not" else 2)
    inputs = [source.input(source.random.random(shape) < 0.5) for shape in shapes]
    return Node(source.opset(), inputs, gives="bool")


@draws("Where")
def where(source, _):
    condition, yes, no = source.broadcast(3)
    return Node(source.opset(9), [source.input(source.random.random(condition) < 0.5),
                                  source.input(source.floats(yes)),
                                  source.input(source.floats(no))])


@draws("Pow")
def power(source, _):
    base, exponent = source.broadcast(2)
    values = source.floats(exponent, 5.0)
    if source.chance(0.4):  # one that is written otherwise
        values = np.full(source.pick([], [1], exponent),
                         source.pick(2.0, 0.5, -0.5, 1.0, 0.0, 3.0, -1.0), "float32")
    x = source.floats(base)
    # PyTorch takes the root of -infinity, as we do, and ONNX Runtime makes it infinite.
    x[np.isneginf(x)] = 3
    inputs = [source.input(x), source.input(values, 0.5)]
    if source.chance(0.15):
        inputs[0] = source.constant(source.random.integers(0, 9, base),
                                    source.pick("int64", "int32"))
        inputs[1] = source.constant(source.random.integers(0, 4, exponent),
                                    source.pick("int64", "float32"))
    return Node(source.opset(12 if source.chance(0.8) else 7), inputs,
                gives=str(inputs[0].values.dtype))


@draws("Mod")
def mod(source, _):
    a, b = source.broadcast(2)
    if source.chance(0.3):
        dtype = source.pick("int64", "int32")
        values = source.random.integers(1, 9, b) * source.random.choice([-1, 1], b)
        inputs = [source.constant(source.random.integers(-20, 20, a), dtype),
                  source.constant(values, dtype)]
        attributes = {}
        source.maybe(attributes, fmod=source.whole(0, 1))
        return Node(source.opset(10), inputs, attributes, gives=dtype)
    inputs = [source.input(source.floats(a)), source.input(source.floats(b))]
    return Node(source.opset(10), inputs, {"fmod": 1})


@draws("PRelu")
def prelu(source, _):
    shape = source.shape(1, 4)
    slope = [1 if source.chance(0.3) else extent for extent in shape]
    slope = slope[source.whole(0, len(slope) - 1) if source.chance(0.4) else 0:]
    return Node(source.opset(), [source.input(source.floats(shape)),
                                 source.input(source.floats(slope, 1e3, False), 0.4)])


@draws("Clip")
def clip(source, _):
    opset = source.opset()
    x = source.input(source.floats(source.shape()))
    dtype = "float32"
    if opset >= 12 and source.chance(0.2):
        dtype = source.pick("int64", "int32", "float64")
        x = source.constant(source.random.integers(-9, 9, source.shape()), dtype)
    low, high = source.number(), source.number()
    if source.chance(0.8):
        low, high = sorted([low, high])
    if source.chance(0.2):
        low, high = 0.0, source.pick(6.0, float("inf"))
    bounds = [None if source.chance(0.2) else bound for bound in (low, high)]
    if opset < 11:
        return Node(opset, [x], {name: bound for name, bound in zip(("min", "max"), bounds)
                                 if bound is not None})
    if dtype.startswith("int"):
        bounds = [None if bound is None or bound == float("inf") else int(bound)
                  for bound in bounds]
    return Node(opset, [x, *(None if bound is None else source.constant(bound, dtype)
                             for bound in bounds)], gives=dtype)


@draws("Cast")
def cast(source, _):
    types = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
             "float64": 11, "int8": 3}
    given = source.pick("float32", "float32", "float32", "int64", "int32", "uint8", "bool",
                        "float64")
    shape = source.shape()
    if given.startswith("float"):
        values = source.floats(shape, 1e4)
    else:
        values = source.random.integers(0, 2 if given == "bool" else 9, shape)
    wanted = source.pick("float32", "float32", "bool", "float64", "float16", "int64", "int32")
    if wanted.startswith("int"):  # what no integer can be is up to the implementation
        values = np.nan_to_num(values, nan=0, posinf=0, neginf=0)
    if wanted == "float16":  # what a run computes stays float32
        values = np.where(np.abs(values) < 1e-4, np.float32(0), values)
    return Node(source.opset(9), [source.input(np.asarray(values, given), 0.7)],
                {"to": types[wanted]}, gives=wanted,
                tolerance=1e-3 if wanted == "float16" else 1e-5)
