"""Random nodes of quantized operators, each alone: in a chain, a quantum of difference grows."""

import pathlib

from nodes import Input, Node, draws
from nodes_windows import kernels
from published import np

HAS_VNNI = "vnni" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")


def eight_bits(source, shape, dtype):
    info = np.iinfo(dtype)
    return np.asarray(source.random.integers(info.min, info.max + 1, shape), dtype)


def weights(source, shape, dtype):
    """Numbers of 8 bits, but of 7 if they are signed and the CPU has no VNNI instructions: there,
    ONNX Runtime 1.32 adds two products of 8 bits each in 16 bits, which saturate."""
    values = eight_bits(source, shape, dtype)
    return values // 2 if dtype == "int8" and not HAS_VNNI else values


def scales(source, shape, size=0.01):
    return np.asarray(source.random.uniform(size / 2, size * 2, shape), "float32")


def per_axis(source, shape, opset):
    """The axis of a scale, or nothing, and the shape of the scale."""
    if opset < 13 or not shape or source.chance(0.5):
        return None, []
    axis = source.axis(len(shape))
    return axis, [shape[axis]]


@draws("QuantizeLinear")
def quantize(source, _):
    opset = source.opset(10)
    shape = source.shape(1, 4)
    axis, of_scale = per_axis(source, shape, opset)
    dtype = source.pick("uint8", "int8", *(["int16", "uint16"] if opset >= 21 else []))
    scale = scales(source, of_scale, source.pick(0.01, 1.0))
    if source.chance(0.3):  # ties
        scale = np.full(of_scale, 0.5, "float32")
    x = source.random.normal(0, 1, shape) * 2 * scale.mean() * source.pick(10, 100, 1e6)
    if source.chance(0.3):
        x = np.round(x * 4) / 4
    inputs = [source.input(np.asarray(x, "float32")), Input(scale, source.chance(0.2))]
    if source.chance(0.7) or "16" in dtype or dtype == "int8":
        inputs.append(Input(eight_bits(source, of_scale, dtype), source.chance(0.2)))
    else:
        dtype = "uint8"
    return Node(opset, inputs, {} if axis is None else {"axis": axis}, gives=dtype)


@draws("DequantizeLinear")
def dequantize(source, _):
    opset = source.opset(10)
    shape = source.shape(1, 4)
    axis, of_scale = per_axis(source, shape, opset)
    dtype = source.pick("uint8", "int8", "int32", *(["int16", "uint16"] if opset >= 21 else []))
    x = source.integers(shape, dtype, 8000000) if dtype == "int32" else (
        eight_bits(source, shape, dtype))
    inputs = [source.input(x, 0.6), Input(scales(source, of_scale), source.chance(0.2))]
    if dtype != "int32" and source.chance(0.7):
        inputs.append(Input(eight_bits(source, of_scale, dtype), source.chance(0.2)))
    return Node(opset, inputs, {} if axis is None else {"axis": axis})


@draws("DynamicQuantizeLinear")
def dynamic(source, _):
    x = source.floats(source.shape(1, 4), 1e10, False)
    if source.chance(0.3):
        x = np.abs(x) + np.float32(0.1)
    return Node(source.opset(11), [source.input(x)], outputs=3, gives=["uint8", "float32", "uint8"],
                quanta=1)


@draws("MatMulInteger", "QLinearMatMul")
def product(source, operator):
    rank = source.whole(2, 4)
    batch = source.wholes(rank - 2, 1, 3)
    m, k, n = source.whole(1, 5), source.whole(1, 40), source.whole(1, 5)
    a_type, b_type = source.pick("uint8", "int8"), source.pick("uint8", "int8")
    if a_type == "int8":  # other mixes ONNX Runtime lacks
        b_type = "int8"
    a = source.input(eight_bits(source, [*batch, m, k], a_type))
    b = source.input(weights(source, [k, n] if source.chance(0.6) else [*batch, k, n], b_type), 0.4)
    of_columns = [n] if source.chance(0.3) and b.values.ndim == 2 else []
    a_zero = Input(eight_bits(source, [], a_type), source.chance(0.2))
    b_zero = Input(eight_bits(source, of_columns, b_type), False)
    if operator == "MatMulInteger":
        zeros = [] if source.chance(0.3) else [a_zero, b_zero]
        return Node(source.opset(10), [a, b, *zeros], gives="int32")
    y_type = a_type
    return Node(source.opset(10), [
        a, Input(scales(source, []), False), a_zero,
        b, Input(scales(source, of_columns), False), b_zero,
        Input(scales(source, [], 0.02 * k**0.5), False),
        Input(eight_bits(source, [], y_type), False)], gives=y_type, quanta=1)


@draws("ConvInteger", "QLinearConv")
def convolution(source, operator):
    x_shape, w_shape, attributes = kernels(source)
    opset = source.opset(10)
    x_type = source.pick("uint8", "uint8", "int8")
    w_type = "int8" if x_type == "int8" else source.pick("uint8", "int8")
    if operator == "ConvInteger":
        x_type = w_type = "uint8"
    x = source.input(eight_bits(source, x_shape, x_type))
    w = Input(weights(source, w_shape, w_type), False)
    x_zero = Input(eight_bits(source, [], x_type), source.chance(0.1))
    if operator == "ConvInteger":
        zeros = [[], [x_zero], [x_zero, Input(eight_bits(source, [], w_type), False)]]
        return Node(opset, [x, w, *zeros[source.whole(0, 2)]], attributes, gives="int32")
    channels = w_shape[0]
    per_channel = [channels] if source.chance(0.5) and w_type == "int8" else []
    w_zero = np.zeros(per_channel, "int8") if per_channel else eight_bits(source, [], w_type)
    inputs = [x, Input(scales(source, []), False), x_zero, w,
              Input(scales(source, per_channel), False), Input(w_zero, False),
              Input(scales(source, [], 0.05), False), Input(eight_bits(source, [], x_type), False)]
    if source.chance(0.6):
        inputs.append(Input(np.asarray(source.random.integers(-3000, 3000, [channels]), "int32"),
                            False))
    return Node(opset, inputs, attributes, gives=x_type, quanta=1)
