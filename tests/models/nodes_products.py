"""Random nodes of products of matrices and tensors, and of recurrent networks."""

from nodes import Input, Node, draws
from published import np


@draws("MatMul")
def product(source, _):
    m, k, n = source.wholes(3, 1, 6)
    outer = source.broadcast(2, 3)
    a, b = outer[0] + [m, k], outer[1] + [k, n]
    if source.chance(0.1):
        a = [k]
    if source.chance(0.1):
        b = [k]
    return Node(source.opset(), [source.input(source.floats(a, 1e15)),
                                 source.input(source.floats(b, 1e15, False), 0.5)])


@draws("Gemm")
def general_product(source, _):
    m, k, n = source.wholes(3, 1, 6)
    attributes = {}
    source.maybe(attributes, alpha=source.number(), beta=source.number(),
                 transA=source.whole(0, 1), transB=source.whole(0, 1))
    a = [k, m] if attributes.get("transA") else [m, k]
    b = [n, k] if attributes.get("transB") else [k, n]
    inputs = [source.input(source.floats(a, 1e15, False)),
              source.input(source.floats(b, 1e15, False), 0.4)]
    opset = source.opset()
    if opset < 11 or source.chance(0.7):
        shape = source.pick([m, n], [1, n], [m, 1], [n], [1], [])
        inputs.append(source.input(source.floats(shape, 1e15, False), 0.4))
    return Node(opset, inputs, attributes)


USUAL = {"GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "RNN": ["Tanh"]}


@draws("GRU", "LSTM", "RNN")
def recurrent(source, operator):
    steps, batch, features, hidden = source.wholes(4, 1, 5)
    gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[operator]
    way = source.pick("forward", "reverse", "bidirectional")
    directions = 2 if way == "bidirectional" else 1
    attributes = {"hidden_size": hidden}
    source.maybe(attributes, direction=way)
    if "direction" not in attributes:
        directions = 1
    opset = source.opset()
    others = [*USUAL[operator][:-1], "Relu"]
    for name, value in [("clip", 1.0), ("activations", others * directions)]:
        if source.chance(0.03):
            attributes[name] = value
    if operator == "LSTM" and source.chance(0.03):
        attributes["input_forget"] = 1
    if operator == "GRU":
        source.maybe(attributes, linear_before_reset=source.whole(0, 1))
    if operator == "RNN" and source.chance(0.3):
        attributes["activations"] = [source.pick("Relu", "Sigmoid", "Tanh")] * directions
    elif source.chance(0.1):
        attributes["activations"] = USUAL[operator] * directions
    if opset >= 14 and source.chance(0.1):
        attributes["layout"] = 0

    def drawn(*shape):
        return source.random.normal(0, 0.5, shape).astype("float32")

    optional = [Input(drawn(directions, 2 * gates * hidden), source.chance(0.03)),
                source.constant([steps - (source.whole(0, 1) if source.chance(0.1) else 0)] * batch,
                                "int32"),
                source.input(drawn(directions, batch, hidden))]
    if operator == "LSTM":
        optional += [source.input(drawn(directions, batch, hidden)),
                     source.input(drawn(directions, 3 * hidden), 0.03)]
    kept = [each if source.chance(0.5) else None for each in optional]
    while kept and kept[-1] is None:
        kept.pop()
    # Of NaN and infinite numbers ONNX Runtime gives finite ones, and its tanh of tiny ones is 0.
    x = source.floats([steps, batch, features], 10.0, False)
    x = np.where(np.abs(x) < 1e-20, np.float32(0), x)
    return Node(opset, [source.input(x, 0.97),
                        source.input(drawn(directions, gates * hidden, features), 0.03),
                        source.input(drawn(directions, gates * hidden, hidden), 0.03), *kept],
                attributes, outputs=source.whole(1, 3 if operator == "LSTM" else 2))


@draws("Einsum")
def einsum(source, _):
    letters = {letter: source.whole(1, 4) for letter in "abcdeXY"}
    terms = []
    for _ in range(source.pick(1, 2, 2, 2, 3)):
        count = source.whole(0, 4)
        drawn = [str(letter) for letter in source.random.permutation(list(letters))[:count]]
        if drawn and source.chance(0.06):
            drawn.append(drawn[0])  # a diagonal
        terms.append("".join(drawn))
    known = sorted(set("".join(terms)))
    given = [str(letter) for letter in source.random.permutation(known)]
    equation = ",".join(terms)
    if source.chance(0.8):
        equation += "->" + "".join(given[:source.whole(0, len(given))])
    outer = source.shape(1, 2, 3)
    if source.chance(0.2):  # the matrices of a product
        terms, equation = ["...ab", "...bc"], source.pick("...ab,...bc->...ac", "...ab,...bc")
    if source.chance(0.2):
        equation = equation.replace(",", " , ").replace("->", " -> ")
    inputs = []
    for term in terms:
        shape = outer if "." in term else []
        shape = shape + [letters[letter] for letter in term.replace(".", "")]
        inputs.append(source.input(source.floats(shape, 1e10, not inputs), 0.7))
    # The sum of many may be far smaller than they are.
    return Node(source.opset(12), inputs, {"equation": equation}, tolerance=1e-4)
