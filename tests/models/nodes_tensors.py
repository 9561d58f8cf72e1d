"""Random nodes of operators that move elements."""

from nodes import Input, Node, anything, draws, emptied, of
from published import np


@draws("Identity", "Flatten", "Dropout")
def as_it_is(source, operator):
    shape = source.shape()
    x = anything(source, shape, emptied(source, shape))
    if operator == "Identity":
        return Node(source.opset(), [x], gives=of(x))
    if operator == "Flatten":
        attributes = {}
        source.maybe(attributes, axis=source.whole(-len(shape), len(shape)))
        opset = source.opset()
        if opset < 11 and attributes.get("axis", 0) < 0:
            attributes["axis"] += len(shape)
        return Node(opset, [x], attributes, gives=of(x))
    x = source.input(source.floats(shape, 1e30), 0.85 if 0 not in shape else 0)
    opset = source.opset()
    attributes, inputs = {}, [x]
    if opset < 12:
        source.maybe(attributes, ratio=source.pick(0.0, 0.5))
        return Node(opset, inputs, attributes)
    ratio = source.pick(0.0, 0.0, 0.5)
    training = ratio == 0 and source.chance(0.6)
    inputs.append(source.constant(ratio, "float32", 0) if source.chance(0.7) or training else None)
    if training or source.chance(0.4):
        inputs.append(source.constant(training, "bool", 0))
    return Node(opset, inputs)


@draws("Reshape")
def reshape(source, _):
    shape = source.shape()
    x = anything(source, shape, emptied(source, shape))
    size = int(np.prod(shape))
    wanted, left = [], size
    while left > 1 and source.chance(0.7):
        factor = source.pick(*[f for f in range(1, left + 1) if left % f == 0])
        wanted.append(factor)
        left //= factor
    wanted.append(left)
    for i, extent in enumerate(wanted):
        if i < len(shape) and shape[i] == extent and source.chance(0.5):
            wanted[i] = 0
    if source.chance(0.5):
        wanted[source.whole(0, len(wanted) - 1)] = -1
    attributes = {}
    opset = source.opset()
    if opset >= 14 and source.chance(0.2):
        attributes["allowzero"] = source.whole(0, 1)
    return Node(opset, [x, source.constant(wanted)], attributes, gives=of(x))


@draws("Squeeze", "Unsqueeze")
def squeeze(source, operator):
    shape = [source.pick(1, 1, 2, 3) for _ in range(source.whole(0, 5))]
    x = anything(source, shape)
    opset = source.opset()
    if operator == "Squeeze":
        ones = [axis for axis, extent in enumerate(shape) if extent == 1]
        axes = [axis - (len(shape) if source.chance(0.4) else 0) for axis in ones if
                source.chance(0.6)]
        given = bool(axes)
    else:
        count = source.whole(1, 3)
        axes = source.axes(len(shape) + count, len(shape) + count)[:count]
        given = True
    if opset < 11:
        rank = len(shape) + (len(axes) if operator == "Unsqueeze" else 0)
        axes = sorted(axis % rank for axis in axes) if rank else axes
    if not given:
        return Node(opset, [x], gives=of(x))
    if opset >= 13:
        return Node(opset, [x, source.constant(axes)], gives=of(x))
    return Node(opset, [x], {"axes": axes}, gives=of(x))


@draws("Transpose")
def transpose(source, _):
    shape = source.shape()
    x = anything(source, shape, emptied(source, shape))
    attributes = {}
    if shape:
        source.maybe(attributes, perm=[int(i) for i in source.random.permutation(len(shape))])
    return Node(source.opset(), [x], attributes, gives=of(x))


@draws("Expand")
def expand(source, _):
    shape, wanted = source.broadcast(2)
    x = anything(source, shape)
    return Node(source.opset(8), [x, source.constant(wanted)], gives=of(x))


@draws("Tile")
def tile(source, _):
    shape = source.shape(1, 4, 4)
    x = anything(source, shape)
    repeats = source.wholes(len(shape), 0 if source.chance(0.05) else 1, 3)
    return Node(source.opset(), [x, source.constant(repeats)], gives=of(x))


@draws("Concat")
def concat(source, _):
    shape = source.shape(1, 4)
    axis = source.axis(len(shape))
    inputs, first = [], None
    for _ in range(source.whole(1, 4)):
        part = list(shape)
        part[axis] = source.whole(0 if source.chance(0.25) else 1, 4)
        first = first or anything(source, [1])
        dtype = of(first)
        values = source.floats(part) if dtype.startswith("float") else (
            source.random.integers(0, 2, part))
        computed = 0.85 if 0 not in part else 0
        inputs.append(source.input(np.asarray(values, dtype), computed))
    opset = source.opset()
    if opset < 11:
        axis %= len(shape)
    return Node(opset, inputs, {"axis": axis}, gives=of(first))


@draws("Split")
def split(source, _):
    shape = source.shape(1, 4, 7)
    axis = source.axis(len(shape))
    x = anything(source, shape)
    opset = source.opset()
    count = source.whole(1, 3)
    attributes, inputs = {}, [x]
    source.maybe(attributes, axis=axis)
    axis = attributes.get("axis", 0)
    if opset < 11 and axis < 0:
        attributes["axis"] = axis % len(shape)
    extent = shape[axis]
    if source.chance(0.6):
        cuts = sorted(source.wholes(count - 1, 0 if source.chance(0.2) else min(1, extent), extent))
        parts = [b - a for a, b in zip([0, *cuts], [*cuts, extent])]
        if opset >= 13:
            inputs.append(source.constant(parts))
        else:
            attributes["split"] = parts
    elif opset >= 18:
        attributes["num_outputs"] = count
    return Node(opset, inputs, attributes, outputs=count, gives=of(x))


@draws("Slice")
def slice_of(source, _):
    shape = source.shape(1, 4, 8)
    x = anything(source, shape, emptied(source, shape))
    opset = source.opset()
    axes = source.axes(len(shape), 1)
    far = source.chance(0.15)
    starts, ends, steps = [], [], []
    for axis in axes:
        extent = shape[axis]
        step = source.pick(1, 1, 1, 2, 3, -1, -2) if opset >= 10 else 1
        low, high = sorted(source.wholes(2, -extent - 1, extent + 2))
        if source.chance(0.5):
            low, high = 0, extent
        if step < 0:
            low, high = high, low
            if source.chance(0.5):
                high = -(2**31) if source.chance(0.5) else -extent - 1
        if far and step > 0:
            high = source.pick(2**31 - 1, 2**63 - 1)
        starts.append(low)
        ends.append(high)
        steps.append(step)
    every = axes == list(range(len(axes))) and source.chance(0.5)
    if opset < 10:
        attributes = {"starts": starts, "ends": ends}
        if not every:
            attributes["axes"] = [axis % len(shape) for axis in axes]
        return Node(opset, [x], attributes, gives=of(x))
    dtype = source.pick("int64", "int32") if not far else "int64"
    inputs = [x, source.constant(starts, dtype), source.constant(ends, dtype)]
    inputs.append(None if every else source.constant(axes, dtype))
    if any(step != 1 for step in steps) or source.chance(0.3):
        inputs.append(source.constant(steps, dtype))
    return Node(opset, inputs, gives=of(x))


@draws("Pad")
def pad(source, _):
    shape = source.shape(1, 4, 6)
    x = anything(source, shape, emptied(source, shape))
    opset = source.opset()
    mode = source.pick("constant", "constant", "reflect", "edge", "wrap" if opset >= 19 else "edge")
    axes = source.axes(len(shape), 1) if opset >= 18 and source.chance(0.4) else None
    pads = []
    for axis in (axes if axes is not None else range(len(shape))) :
        extent = shape[axis]
        most = extent - 1 if mode == "reflect" and source.chance(0.7) else source.pick(1, 3, 8)
        least = -1 if source.chance(0.2) else 0
        pads.append((source.whole(least, max(most, least)), source.whole(least, max(most, least))))
    pads = [pair[0] for pair in pads] + [pair[1] for pair in pads]
    attributes = {"mode": mode} if mode != "constant" or source.chance(0.5) else {}
    value = source.pick(0.0, 1.5, -2.0, float("inf"))
    if opset < 11:
        attributes["pads"] = pads
        source.maybe(attributes, value=value)
        return Node(opset, [x], attributes, gives=of(x))
    inputs = [x, source.constant(pads)]
    if source.chance(0.5):
        number = value if of(x).startswith("float") else source.whole(0, 1)
        inputs.append(source.constant(number, of(x)))
    if axes is not None:
        inputs += [None] * (3 - len(inputs)) + [source.constant(axes)]
    return Node(opset, inputs, attributes, gives=of(x))


@draws("Gather")
def gather(source, _):
    shape = source.shape(1, 4, 6)
    x = anything(source, shape)
    attributes = {}
    source.maybe(attributes, axis=source.axis(len(shape)))
    extent = shape[attributes.get("axis", 0)]
    indices = source.random.integers(-extent, extent, source.shape(0, 3))
    opset = source.opset()
    if opset < 11:
        indices = np.abs(indices) % extent
        attributes = {name: value % len(shape) for name, value in attributes.items()}
    given = Input(np.asarray(indices, source.pick("int64", "int32")), source.chance(0.4))
    return Node(opset, [x, given], attributes, gives=of(x))


@draws("DepthToSpace", "SpaceToDepth")
def blocks(source, operator):
    size = source.whole(1, 3)
    n, c, h, w = source.wholes(4, 1, 3)
    attributes = {"blocksize": size}
    shape = [n, c * size * size, h, w] if operator == "DepthToSpace" else [n, c, h * size, w * size]
    opset = source.opset()
    if operator == "DepthToSpace" and opset >= 11:
        source.maybe(attributes, mode=source.pick("DCR", "CRD"))
    return Node(opset, [source.input(source.floats(shape), 0.97)], attributes)


def updated(source, opset, x, given, shape):
    """The node that scatters updates of this shape to x at the indices `given`."""
    values = (source.floats(shape, 1e10, False) if of(x) == "float32" else
              np.asarray(source.random.integers(0, 2, shape), x.values.dtype))
    attributes = {}
    if opset >= 16 and source.chance(0.4) and of(x) != "bool":
        attributes["reduction"] = source.pick("none", "add", "mul",
                                              *(["max", "min"] if opset >= 18 else []))
    return Node(opset, [x, given, source.input(values, 0.6 if x.computed else 0.04)], attributes,
                gives=of(x))


@draws("ScatterND", "GatherND")
def at_positions(source, operator):
    shape = source.shape(1, 4)
    scatters = operator == "ScatterND"
    batch = 0 if scatters or source.chance(0.6) else source.whole(0, len(shape) - 1)
    depth = source.whole(1, len(shape) - batch)
    outer = shape[:batch] + source.shape(0, 2, 3)
    places = np.stack([source.random.integers(-extent, extent, outer)
                       for extent in shape[batch:batch + depth]], -1)
    opset = source.opset(11) if scatters or batch == 0 else source.opset(12)
    if scatters and source.chance(0.7):  # each place once
        count = int(np.prod(shape[:depth]))
        flat = source.random.permutation(count)[:source.whole(1, min(count, 6))]
        places = np.stack(np.unravel_index(flat, shape[:depth]), -1)
        outer = [len(flat)]
    given = Input(np.asarray(places, "int64"), source.chance(0.5))
    x = anything(source, shape, 0.7)
    if scatters:
        return updated(source, opset, x, given, outer + shape[depth:])
    return Node(opset, [x, given], {"batch_dims": batch} if batch else {}, gives=of(x))


@draws("Scatter", "ScatterElements", "GatherElements")
def at_elements(source, operator):
    shape = source.shape(1, 4)
    attributes = {}
    source.maybe(attributes, axis=source.axis(len(shape)))
    axis = attributes.get("axis", 0)
    scatters = operator != "GatherElements"
    chosen = [source.whole(1, extent) if source.chance(0.5) else extent for extent in shape]
    if not scatters or source.chance(0.3):
        chosen[axis] = source.whole(1, 6)
        places = source.random.integers(-shape[axis], shape[axis], chosen)
    else:  # each element once
        order = source.random.permuted(np.broadcast_to(
            np.arange(shape[axis]).reshape([-1 if i == axis % len(shape) else 1
                                            for i in range(len(shape))]), shape), axis=axis)
        places = order[tuple(slice(extent) for extent in chosen)]
    given = Input(np.ascontiguousarray(places, source.pick("int64", "int32")), source.chance(0.5))
    x = anything(source, shape, 0.7)
    opset = source.opset(9, 10) if operator == "Scatter" else source.opset(11)
    if opset < 11:
        given.values = given.values % shape[axis]
        attributes = {name: value % len(shape) for name, value in attributes.items()}
    if not scatters:
        return Node(opset, [x, given], attributes, gives=of(x))
    node = updated(source, opset, x, given, chosen)
    node.attributes.update(attributes)
    return node


@draws("NonMaxSuppression")
def suppression(source, _):
    batch, classes, count = source.whole(1, 3), source.whole(1, 4), source.whole(1, 30)
    boxes = source.random.uniform(0, 4, (batch, count, 4))
    if source.chance(0.5):  # mostly corners in order
        boxes[..., 2:] += boxes[..., :2]
    scores = source.random.uniform(-1, 1, (batch, classes, count))
    if source.chance(0.3):
        scores = np.round(scores, 1)
    inputs = [source.input(np.asarray(boxes, "float32"), 0.9),
              source.input(np.asarray(scores, "float32"), 0.9),
              source.constant([source.pick(1, 2, 3, 30, 2**63 - 1, source.whole(0, 1))])]
    for low in (0, -1)[:source.whole(0, 2)]:
        inputs.append(source.constant([source.number(low, 1)], "float32"))
    attributes = {}
    source.maybe(attributes, center_point_box=source.whole(0, 1))
    return Node(source.opset(10), inputs, attributes, gives="int64")
