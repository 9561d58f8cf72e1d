"""Random nodes of operators that make constants or compute indices."""

from nodes import Node, anything, draws, emptied, of
from published import np, onnx


@draws("ArgMax", "ArgMin")
def index_of(source, _):
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
    return Node(opset, [source.input(np.asarray(values, dtype))], attributes, gives="int64")


@draws("TopK")
def first_of_all(source, _):
    shape = source.shape(1, 4, 9)
    axis = source.axis(len(shape))
    opset = source.opset()
    count = source.whole(1, shape[axis])
    dtype = source.pick("float32", "float32", "int64", "int32") if opset >= 11 else "float32"
    if dtype == "float32" and source.chance(0.5):
        values = source.floats(shape, 1e30, False)
    else:  # many are equal
        values = np.asarray(source.random.integers(-3, 4, shape), dtype)
    attributes = {}
    if opset < 10:
        attributes["k"] = count
    if opset < 11:
        axis %= len(shape)
    else:
        source.maybe(attributes, largest=source.whole(0, 1))
    if source.chance(0.7):
        attributes["axis"] = axis
    else:
        count = min(count, shape[-1])
        attributes.update({"k": count} if opset < 10 else {})
    inputs = [source.input(values)] + ([source.constant([count])] if opset >= 10 else [])
    return Node(opset, inputs, attributes, outputs=2, gives=[dtype, "int64"],
                counted=attributes.get("axis", -1))


@draws("OneHot")
def one_hot(source, _):
    depth = source.whole(1, 6)
    indices = source.random.integers(-depth - 1, depth + 2, source.shape(1, 3))
    index_type = source.pick("int64", "int32", "float32")
    dtype = "float32" if index_type == "float32" else source.pick("float32", "int64")
    if index_type == "int32":
        dtype = "float32"
    attributes = {}
    source.maybe(attributes, axis=source.axis(indices.ndim + 1))
    values = np.asarray(source.random.choice([0, 1, 2, 5], 2, False), dtype)
    return Node(source.opset(11), [source.input(np.asarray(indices, index_type)),
                                   source.constant(source.pick(depth, [depth]), index_type, 0),
                                   source.input(values, 0.3)], attributes, gives=dtype)


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
    values = source.floats(shape, 1e10) if dtype[0] == "f" else source.integers(shape, dtype)
    axis = source.axis(len(shape))
    computed = 0.04 if dtype == "float64" else 0.85
    return Node(source.opset(11), [source.input(np.asarray(values, dtype), computed),
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


@draws("NonZero")
def non_zero(source, _):
    dtype = source.pick("float32", "int64", "int32", "bool")
    values = source.random.integers(0, 3, source.shape(1, 4))
    return Node(source.opset(9), [source.input(np.asarray(values, dtype))], gives="int64",
                counted=1)


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
