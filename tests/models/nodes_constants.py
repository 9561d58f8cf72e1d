"""Random nodes of operators that make constants, or compute with them alone."""

from nodes import Node, anything, draws, emptied, of
from published import np, onnx


@draws("ArgMax", "ArgMin")
def arg_max(source, _):
    shape = source.shape(1, 4)
    attributes = {}
    opset = source.opset()
    source.maybe(attributes, axis=source.axis(len(shape)), keepdims=source.whole(0, 1))
    if opset < 11:
        attributes["axis"] = attributes.get("axis", 0) % len(shape)
    if opset >= 12 and source.chance(0.5):
        attributes["select_last_index"] = source.whole(0, 1)
    dtype = source.pick("float32", "int32")
    values = source.floats(shape, 1e30, False) if dtype == "float32" and source.chance(0.5) else (
        source.random.integers(0, 3, shape))
    return Node(opset, [source.constant(values, dtype)], attributes, gives="int64")


@draws("BitShift")
def shifted(source, _):
    dtype, width = source.pick(("uint8", 8), ("uint16", 16), ("uint32", 32), ("uint64", 32))
    a, b = source.broadcast(2)
    return Node(source.opset(11), [
        source.constant(source.random.integers(0, 2 ** width, a), dtype, 0),
        source.constant(source.random.integers(0, 8, b), dtype, 0)],
        {"direction": source.pick("LEFT", "RIGHT")}, gives=dtype)


@draws("CumSum")
def cumulative_sum(source, _):
    shape = source.shape(1, 4)
    attributes = {}
    source.maybe(attributes, exclusive=source.whole(0, 1), reverse=source.whole(0, 1))
    dtype = source.pick("float32", "float32", "float64", "int64", "int32")
    values = source.floats(shape, 1e10) if dtype[0] == "f" else source.random.integers(-9, 9, shape)
    axis = source.axis(len(shape))
    return Node(source.opset(11), [source.constant(values, dtype),
                                   source.constant(source.pick([axis], axis),
                                                   source.pick("int64", "int32"))],
                attributes, gives=dtype)


@draws("Constant")
def constant(source, _):
    opset = source.opset(12)
    kind = source.pick("value", "value_int", "value_ints", "value_float", "value_floats")
    values = {"value_int": source.whole(-9, 9),
              "value_ints": source.wholes(source.whole(1, 4), -9, 9),
              "value_float": source.number(),
              "value_floats": [source.number() for _ in range(source.whole(1, 4))]}
    dtype = "int64" if "int" in kind else "float32"
    if kind != "value":
        return Node(opset, [], {kind: values[kind]}, gives=dtype)
    dtype = source.pick("float32", "float64", "int64", "int32", "uint8", "int8", "bool", "float16",
                        "uint16", "int16", "uint32")
    array = np.asarray(source.random.integers(0, 2, source.shape()), dtype)
    return Node(opset, [], {"value": array}, gives=dtype)


@draws("ConstantOfShape")
def constant_of_shape(source, _):
    shape = source.shape()
    dtype = source.pick("float32", "float64", "int64", "int32", "bool", "float16")
    attributes = {"value": np.asarray([source.whole(0, 3)], dtype)} if source.chance(0.8) else {}
    return Node(source.opset(9), [source.constant(shape)], attributes,
                gives=dtype if attributes else "float32")


@draws("EyeLike")
def identity_matrix(source, _):
    x = anything(source, source.wholes(2, 1, 5))
    attributes = {}
    dtype = source.pick("float32", "float64", "int64")
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    source.maybe(attributes, k=source.whole(-6, 6), dtype=number)
    if of(x) not in ("float32", "float64", "int64"):
        attributes["dtype"] = number
    return Node(source.opset(9), [x], attributes, gives=dtype if "dtype" in attributes else of(x))


@draws("IsInf", "IsNaN")
def classified(source, operator):
    attributes = {}
    if operator == "IsInf":
        source.maybe(attributes, detect_negative=source.whole(0, 1),
                     detect_positive=source.whole(0, 1))
    return Node(source.opset(10), [source.input(source.floats(source.shape()), 0.1)], attributes,
                gives="bool")


@draws("OneHot")
def one_hot(source, _):
    shape = source.shape(1, 3)
    depth = source.whole(1, 6)
    attributes = {}
    source.maybe(attributes, axis=source.axis(len(shape) + 1))
    dtype = source.pick("float32", "int64")
    return Node(source.opset(11), [
        source.constant(source.random.integers(-depth - 1, depth + 1, shape), "int64", 0.04),
        source.constant(source.pick(depth, [depth]), "int64", 0),
        source.constant(source.wholes(2, -2, 2), dtype)], attributes, gives=dtype)


@draws("TopK")
def top_k(source, _):
    shape = source.shape(1, 4)
    attributes = {}
    source.maybe(attributes, axis=source.axis(len(shape)))
    opset = source.opset(10)
    if opset >= 11:
        source.maybe(attributes, largest=source.whole(0, 1), sorted=1)
    axis = attributes.get("axis", -1)
    if opset < 11 and axis < 0:
        attributes["axis"] = axis % len(shape)
    dtype = source.pick("float32", "int64", "int32") if opset >= 11 else "float32"
    values = source.floats(shape, 1e30, False) if dtype == "float32" and source.chance(0.5) else (
        source.random.integers(0, 3, shape))
    return Node(opset, [source.constant(values, dtype, 0.04),
                        source.constant([source.whole(1, shape[axis])])],
                attributes, outputs=2, gives="int64")  # of the indices


@draws("NonZero")
def non_zero(source, _):
    dtype = source.pick("float32", "int64", "int32", "bool")
    values = source.random.integers(0, 3, source.shape(1, 4))
    return Node(source.opset(9), [source.constant(values, dtype)], gives="int64")


@draws("Range")
def numbers(source, _):
    dtype = source.pick("float32", "float64", "int64", "int32")
    begin, limit = source.wholes(2, -20, 20)
    step = source.pick(1, 2, 3) * (1 if begin < limit or source.chance(0.1) else -1)
    if dtype[0] == "f":
        step *= source.pick(1, 0.1, 0.3)
        begin += source.pick(0, 0.5)
    return Node(source.opset(11), [source.constant(value, dtype) for value in (begin, limit, step)],
                gives=dtype)


@draws("Shape", "Size")
def extents(source, operator):
    shape = source.shape()
    x = anything(source, shape, emptied(source, shape))
    opset = source.opset()
    attributes = {}
    if operator == "Shape" and opset >= 15:
        source.maybe(attributes, start=source.whole(-6, 6), end=source.whole(-6, 6))
    return Node(opset, [x], attributes, gives="int64")


@draws("Trilu")
def triangle(source, _):
    x = anything(source, source.shape(2, 4), 0.1)
    attributes = {}
    source.maybe(attributes, upper=source.whole(0, 1))
    inputs = [x]
    if source.chance(0.6):
        inputs.append(source.constant(source.whole(-6, 6)))
    return Node(source.opset(14), inputs, attributes, gives=of(x))
