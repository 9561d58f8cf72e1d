"""Random nodes of operators that compute element by element."""

from nodes import Node, draws
from published import np

SINCE = {"Celu": 12, "Erf": 9, "Gelu": 20, "GreaterOrEqual": 12, "HardSwish": 14, "IsNaN": 9,
         "LessOrEqual": 12, "Mish": 18, "Round": 11, "Sign": 9, "ThresholdedRelu": 10}
# Further types that ONNX Runtime computes with; float64 for constants alone.
NARROW = "int64 int32 int8 uint8 int16 uint16"
TYPES = {"Abs": "float64 " + NARROW, "Add": "float64 " + NARROW, "Div": "float64 " + NARROW,
         "Mul": "float64 " + NARROW, "Sub": "float64 " + NARROW,
         "Neg": "float64 int64 int32 int8 int16", "Max": "float64 int64 int32 int8 uint8",
         "Min": "float64 int64 int32 int8 uint8", "Sign": "float64 " + NARROW,
         "Equal": "float64 int64 int32 int8 uint8", "Greater": "float64 int64 int32 int8 uint8",
         "Less": "float64 int64 int32 int8 uint8", "GreaterOrEqual": "float64 int64 int32",
         "LessOrEqual": "float64 int64 int32", "Relu": "float64 int32 int8", "Sqrt": "float64",
         "Exp": "float64", "Log": "float64", "Ceil": "float64", "Floor": "float64",
         "Round": "float64", "Reciprocal": "float64", "Tanh": "float64", "Sigmoid": "float64"}
COMPARISONS = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]


def operands(source, operator, shapes):
    """Inputs of these shapes; at times of another type."""
    opset = source.opset(SINCE.get(operator, 7))
    dtype = "float32"
    if opset >= 14 and operator in TYPES and source.chance(0.4):
        dtype = source.pick(*TYPES[operator].split())
    inputs = []
    for shape in shapes:
        if "int" in dtype:
            values = source.integers(shape, dtype, 4000 if operator == "Mul" else 8000000)
            if operator == "Div" and inputs:
                values = np.where(values == 0, 7, values).astype(dtype)
            inputs.append(source.input(values))
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


@draws("IsNaN")
def is_nan(source, operator):
    opset, inputs, _ = operands(source, operator, [source.shape()])
    return Node(opset, inputs, gives="bool")


@draws("IsInf")
def is_infinite(source, _):
    attributes = {}
    source.maybe(attributes, detect_negative=source.whole(0, 1), detect_positive=source.whole(0, 1))
    return Node(source.opset(10), [source.input(source.floats(source.shape()))], attributes,
                gives="bool")


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
    dtype = source.pick("float32", "float32", "int64", "int32", "uint8")
    values = [source.floats(shape) if dtype == "float32" else source.integers(shape, dtype, 8000000)
              for shape in (yes, no)]
    return Node(source.opset(9), [source.input(source.random.random(condition) < 0.5),
                                  *(source.input(each) for each in values)], gives=dtype)


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
    if source.chance(0.25):
        whole = np.asarray(source.random.integers(-9, 10, base), source.pick("int64", "int32"))
        inputs[0] = source.input(whole)
        inputs[1] = source.input(np.asarray(source.random.integers(0, 5, exponent),
                                            source.pick("int64", "float32")), 0.5)
    return Node(source.opset(12 if source.chance(0.8) else 7), inputs,
                gives=str(inputs[0].values.dtype))


@draws("Mod")
def mod(source, _):
    a, b = source.broadcast(2)
    if source.chance(0.3):
        dtype = source.pick("int64", "int32", "int8", "uint8")
        divisor = source.integers(b, dtype)
        inputs = [source.input(source.integers(a, dtype, 8000000)),
                  source.input(np.where(divisor == 0, 5, divisor).astype(dtype))]
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
    if opset >= 12 and source.chance(0.3):
        dtype = source.pick("int64", "int32", "int8", "uint8", "float64")
        values = np.asarray(source.random.integers(0 if dtype == "uint8" else -9, 9,
                                                   source.shape()), dtype)
        x = source.input(values) if "int" in dtype else source.constant(values, dtype)
    low, high = source.number(), source.number()
    if source.chance(0.8):
        low, high = sorted([low, high])
    if source.chance(0.2):
        low, high = 0.0, source.pick(6.0, float("inf"))
    bounds = [None if source.chance(0.2) else bound for bound in (low, high)]
    if opset < 11:
        return Node(opset, [x], {name: bound for name, bound in zip(("min", "max"), bounds)
                                 if bound is not None})
    if "int" in dtype:
        bounds = [None if bound is None or bound == float("inf") else
                  max(int(bound), 0 if dtype == "uint8" else -128) for bound in bounds]
    return Node(opset, [x, *(None if bound is None else source.constant(bound, dtype, 0.3)
                             for bound in bounds)], gives=dtype)


@draws("Cast")
def cast(source, _):
    types = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
             "bool": 9, "float16": 10, "float64": 11}
    given = source.pick("float32", "float32", *types)
    wanted = source.pick("float32", *types)
    shape = source.shape()
    if given.startswith("float"):
        values = source.floats(shape, 1e4)
        if "int" in wanted:  # what no integer can be is up to the implementation
            values = np.clip(np.nan_to_num(values, nan=0, posinf=0, neginf=0), -1e6, 1e6)
        if "float16" in (given, wanted):  # what a run computes stays float32
            values = np.where(np.abs(values) < 1e-4, np.float32(0), values)
    else:
        values = source.integers(shape, given, 8000000)
        if wanted == "float16":
            values = np.clip(values.astype("int64"), -2000, 2000)
    return Node(source.opset(9), [source.input(np.asarray(values, given), 0.7)],
                {"to": types[wanted]}, gives=wanted,
                tolerance=1e-3 if wanted == "float16" else 1e-5)
