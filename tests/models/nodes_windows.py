"""Random nodes of convolutions, pools, normalizations, reductions and resizing."""

from nodes import Node, draws
from published import np


def window(source, attributes, size, kernel, transposed=False):
    """Strides, dilations and padding, odd and even, more than the kernel at times."""
    dimensions = len(size)
    source.maybe(attributes, strides=source.wholes(dimensions, 1, 3))
    if source.chance(0.4):
        attributes["dilations"] = source.wholes(dimensions, 1, 2)
    automatic = source.pick("NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", None, None)
    if automatic is not None:
        attributes["auto_pad"] = automatic
    if automatic in ("NOTSET", None) and source.chance(0.8):
        most = source.pick(1, 2, 2, max(kernel) + 1)
        attributes["pads"] = source.wholes(2 * dimensions, 0, most)
        if source.chance(0.4):
            attributes["pads"] = attributes["pads"][:dimensions] * 2
    if transposed and source.chance(0.5):
        attributes["output_padding"] = source.wholes(dimensions, 0, 2)
    if transposed and source.chance(0.25):
        steps = attributes.get("strides", [1] * dimensions)
        attributes["output_shape"] = [
            (extent - 1) * step + source.whole(1, across + 1)
            for extent, step, across in zip(size, steps, kernel)]


def kernels(source, transposed=False):
    """The shapes of x and of a weight, and the attributes, of a convolution."""
    dimensions = source.pick(1, 2, 2, 2, 3)
    size = source.wholes(dimensions, 1, 9)
    kernel = source.wholes(dimensions, 1, 4)
    if source.chance(0.03):
        kernel[0] = 12  # larger than what is padded
    groups = source.pick(1, 1, 1, 2, 3)
    channels = groups * source.whole(1, 4)
    outputs = groups * source.whole(1, 4)
    attributes = {}
    source.maybe(attributes, group=groups, kernel_shape=kernel)
    if groups > 1:
        attributes["group"] = groups
    window(source, attributes, size, kernel, transposed)
    weight = [channels, outputs // groups] if transposed else [outputs, channels // groups]
    return [source.whole(1, 2), channels, *size], weight + kernel, attributes


@draws("Conv", "ConvTranspose")
def convolution(source, operator):
    transposed = operator == "ConvTranspose"
    shape, weight, attributes = kernels(source, transposed)
    outputs = weight[1] * attributes.get("group", 1) if transposed else weight[0]
    x = source.floats(shape, 1e15)
    inputs = [source.input(x, 0.97),
              source.input(source.random.normal(0, 1, weight).astype("float32"), 0.03)]
    if source.chance(0.6):
        inputs.append(source.input(source.random.normal(0, 1, outputs).astype("float32"), 0.03))
    return Node(source.opset(), inputs, attributes)


@draws("AveragePool", "MaxPool")
def pool(source, operator):
    dimensions = source.pick(1, 2, 2, 2, 3)
    size = source.wholes(dimensions, 1, 9)
    kernel = source.wholes(dimensions, 1, 4)
    if source.chance(0.05):
        kernel[0] = 12
    attributes = {"kernel_shape": kernel}
    window(source, attributes, size, kernel)
    opset = source.opset()
    if opset < (10 if operator == "MaxPool" else 19):
        attributes.pop("dilations", None)
    if opset >= 10 and source.chance(0.5):
        attributes["ceil_mode"] = source.whole(0, 1)
    if operator == "AveragePool":
        source.maybe(attributes, count_include_pad=source.whole(0, 1))
    elif opset >= 8 and source.chance(0.1):
        attributes["storage_order"] = source.whole(0, 1)
    # ONNX Runtime leaves out NaN of most windows, where PyTorch and we give NaN.
    x = source.floats([source.whole(1, 2), source.pick(1, 2, 3, 8, 17), *size], 1e15,
                      operator == "AveragePool")
    return Node(opset, [source.input(x, 0.97)], attributes)


@draws("GlobalAveragePool", "GlobalMaxPool")
def whole_pool(source, operator):
    x = source.floats(source.shape(3, 5), 1e15, operator == "GlobalAveragePool")
    return Node(source.opset(), [source.input(x, 0.97)])


@draws("BatchNormalization")
def batch_normalization(source, _):
    shape = source.shape(2, 5)
    opset = source.opset(9)
    attributes = {}
    source.maybe(attributes, epsilon=source.pick(1e-5, 1e-3, 0.1), momentum=0.9)
    if opset >= 14 and source.chance(0.1):
        attributes["training_mode"] = 1
    numbers = source.random.normal(0, 1, (4, shape[1])).astype("float32")
    numbers[3] = np.abs(numbers[3])
    return Node(opset, [source.input(source.floats(shape), 0.97),
                        *(source.input(each, 0.03) for each in numbers)], attributes)


@draws("GroupNormalization", "InstanceNormalization")
def group_normalization(source, operator):
    groups = source.whole(1, 3)
    channels = groups * source.whole(1, 3)
    shape = [source.whole(1, 3), channels, *source.shape(1, 3), 2]
    attributes = {}
    source.maybe(attributes, epsilon=source.pick(1e-5, 1e-3, 0.1))
    opset = source.opset()
    count = channels
    if operator == "GroupNormalization":
        opset = source.opset(18)
        attributes["num_groups"] = groups
        count = channels if opset >= 21 else groups
    # ONNX Runtime's variance is that of rounded sums.
    return Node(opset, [source.input(source.floats(shape, 10.0), 0.97),
                        *(source.input(source.random.normal(0, 1, count).astype("float32"), 0.05)
                          for _ in range(2))], attributes, tolerance=1e-4)


@draws("LayerNormalization")
def layer_normalization(source, _):
    shape = source.shape(1, 4)
    axis = source.axis(len(shape))
    attributes = {"axis": axis} if axis != -1 or source.chance(0.5) else {}
    source.maybe(attributes, epsilon=source.pick(1e-5, 1e-3, 0.1))
    inside = shape[axis:] if axis < 0 else shape[axis:]
    if source.chance(0.15):
        inside = inside[-1:]
    inputs = [source.input(source.floats(shape, 1e3), 0.97)]
    for _ in range(source.whole(1, 2)):
        inputs.append(source.input(source.random.normal(0, 1, inside).astype("float32"), 0.05))
    return Node(source.opset(17), inputs, attributes)


@draws("LRN")
def local_response(source, _):
    attributes = {"size": source.pick(1, 3, 5, 5, 7, 2)}  # ONNX Runtime refuses even ones
    source.maybe(attributes, alpha=source.pick(1e-4, 0.1, 2.0), beta=source.pick(0.75, 0.5, 1.0),
                 bias=source.pick(1.0, 2.0, 0.5))
    shape = [source.whole(1, 2), source.whole(1, 9), *source.shape(2, 2)]
    # ONNX Runtime takes off what leaves a window, and with it digits.
    return Node(source.opset(), [source.input(source.floats(shape, 3.0, False), 0.97)], attributes,
                tolerance=1e-4)


@draws("Softmax", "LogSoftmax")
def softmax(source, operator):
    shape = source.shape(1, 4, 6)
    attributes = {}
    source.maybe(attributes, axis=source.axis(len(shape)))
    # oneDNN's softmax gives 0 beside NaN and infinite numbers.
    x = source.floats(shape, special=operator != "Softmax")
    return Node(source.opset(), [source.input(x, 0.97)], attributes)


@draws("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
       "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare")
def reduction(source, operator):
    shape = source.shape(0, 5)
    opset = source.opset()
    as_input = opset >= (13 if operator == "ReduceSum" else 18)
    most = 30.0 if operator == "ReduceProd" else 1e15
    whole = operator not in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp")
    # Of NaN ONNX Runtime gives what its place says.
    x = source.input(source.floats(shape, most, operator not in ("ReduceMax", "ReduceMin")), 0.9)
    if operator == "ReduceLogSumExp":
        x.values = np.where(np.isnan(x.values), np.float32(-np.inf), x.values)
    if whole and source.chance(0.2):
        values = source.random.integers(-9, 10, shape)
        if operator == "ReduceProd":
            values = source.random.integers(-1, 2, shape) * source.pick(1, 3)
            values = np.where(np.arange(values.size).reshape(shape) < 12, values, np.sign(values))
        x = source.input(np.asarray(values, source.pick("int64", "int32")))
    attributes = {}
    source.maybe(attributes, keepdims=source.whole(0, 1))
    inputs = [x]
    if source.chance(0.85):
        axes = source.axes(len(shape))
        if as_input:
            inputs.append(source.constant(axes))
        elif axes:
            attributes["axes"] = axes
    if as_input:
        source.maybe(attributes, noop_with_empty_axes=source.whole(0, 1))
    return Node(opset, inputs, attributes, gives=str(x.values.dtype))


@draws("Resize", "Upsample")
def resize(source, operator):
    opset = source.opset(7, 9) if operator == "Upsample" else source.opset(10)
    rank = source.pick(4, 4, 4, 3, 5, 2)
    shape = [*source.wholes(max(rank - 2, 0), 1, 3), *source.wholes(2, 1, 60)]
    if source.chance(0.3):
        shape = [extent if source.chance(0.5) else min(extent, 7) for extent in shape]
    attributes = {}
    mode = source.pick("nearest", "nearest", "linear", "linear",
                       "cubic" if opset >= 11 else "linear")
    source.maybe(attributes, mode=mode)
    mode = attributes.get("mode", "nearest")
    scales = [1.0] * (len(shape) - 2)
    for _ in range(2):
        scales.append(source.pick(
            source.pick(0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.7, 0.75, 0.9, 1.0, 1.1, 1.3, 1.5, 2.0,
                        3.0),
            round(float(source.random.uniform(0.05, 3)), source.whole(1, 6))))
    if source.chance(0.05):
        scales[0] = 2.0
    if opset <= 10:
        scales = [max(scale, 1.0) for scale in scales] if operator == "Upsample" else scales
        given = source.constant(scales, "float32")
        x = source.input(source.floats(shape, 1e10, False), 0.97)
        if opset < 9:
            return Node(opset, [x], {**attributes, "scales": scales})
        return Node(opset, [x, given], attributes)
    source.maybe(attributes, coordinate_transformation_mode=source.pick(
        "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
        *(["half_pixel_symmetric"] if opset >= 19 else []), "tf_crop_and_resize"),
        nearest_mode=source.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        source.maybe(attributes, cubic_coeff_a=source.pick(-0.5, -0.75),
                     exclude_outside=source.whole(0, 1))
    # Of NaN and infinite numbers ONNX Runtime gives NaN where they weigh nothing.
    inputs = [source.input(source.floats(shape, 1e10, False), 0.97), None, None, None]
    by_size = source.chance(0.5)
    axes = list(range(len(shape)))
    if opset >= 18 and source.chance(0.4):
        axes = source.axes(len(shape), 1) if source.chance(0.5) else [-2, -1]
        attributes["axes"] = axes
    if opset >= 18:
        if source.chance(0.2):
            attributes["antialias"] = source.whole(0, 1)
        if by_size and source.chance(0.3):
            attributes["keep_aspect_ratio_policy"] = source.pick("stretch", "not_larger",
                                                                 "not_smaller")
    if by_size:
        sizes = [max(int(shape[axis] * scales[axis]), 1) for axis in axes]
        inputs[3] = source.constant(sizes)
        if opset < 13:
            inputs[2] = source.constant([], "float32", 0)
    else:
        inputs[2] = source.constant([scales[axis] for axis in axes], "float32")
        inputs.pop()
    if attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize" or opset < 13:
        starts, ends = [0.0] * len(axes), [1.0] * len(axes)
        if source.chance(0.7):
            for i, axis in enumerate(axes):
                if axis % len(shape) >= len(shape) - 2:
                    starts[i] = round(float(source.random.uniform(-0.2, 0.4)), 2)
                    ends[i] = round(float(source.random.uniform(0.6, 1.2)), 2)
        inputs[1] = source.constant(starts + ends, "float32", 0)
        source.maybe(attributes, extrapolation_value=source.number())
    return Node(opset, inputs, attributes)
