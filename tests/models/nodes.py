"""Random nodes of ONNX operators: what the files of their families share."""

import dataclasses
import zlib

from published import np

DRAWN = {}  # a function by operator's name, which draws one node with a `source`


def draws(*operators, **settings):
    """Registers a function that draws nodes of these operators; it is called with a source, the
    operator and the settings."""
    def register(function):
        for operator in operators:
            DRAWN[operator] = lambda source, of=operator: function(source, of, **settings)
        return function
    return register


@dataclasses.dataclass
class Input:
    values: object         # an array
    computed: bool = True  # an input of the model, and not a constant


@dataclasses.dataclass
class Node:
    opset: int
    inputs: list  # None for one that is left out
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    gives: object = "float32"  # the type of its outputs, or a list of types
    tolerance: float = 1e-5
    quanta: int = 0  # difference of integers
    counted: int = 0  # the axis of outputs along which a count says what is valid


class Source:
    """What random nodes are drawn from; of each operator the nodes with a number are the same."""

    def __init__(self, operator, number):
        self.random = np.random.default_rng([zlib.crc32(operator.encode()), number])

    def chance(self, probability):
        return bool(self.random.random() < probability)

    def pick(self, *choices):
        return choices[int(self.random.integers(len(choices)))]

    def whole(self, low, high):
        """From low to high, with both."""
        return int(self.random.integers(low, high + 1))

    def wholes(self, count, low, high):
        return [self.whole(low, high) for _ in range(count)]

    def opset(self, first=7, last=23):
        return self.whole(first, last)

    def shape(self, least=0, most=5, extent=5):
        return self.wholes(self.whole(least, most), 1, extent)

    def maybe(self, attributes, **drawn):
        """Adds attributes, each at times: what is left out has its default."""
        for name, value in drawn.items():
            if self.chance(0.7):
                attributes[name] = value

    def axes(self, rank, least=0):
        """Some axes, from the front or from the end."""
        count = self.whole(min(least, rank), rank)
        chosen = self.random.permutation(rank)[:count]
        return [int(axis) - (rank if self.chance(0.4) else 0) for axis in chosen]

    def axis(self, rank):
        return self.whole(-rank, rank - 1) if rank else 0

    def floats(self, shape, most=1e30, special=True):
        """Numbers of one kind: ordinary ones, steps of 1/2, large and tiny ones, all zero, or with
        infinite ones and NaN."""
        kind = self.pick("ordinary", "ordinary", "ordinary", "halves", "large", "tiny", "zero",
                         "special", "special" if special else "ordinary")
        values = self.random.normal(0, 2, shape)
        if kind == "halves":
            values = self.random.integers(-9, 10, shape) / 2
        elif kind == "large":
            values = self.random.normal(0, 1, shape) * most
        elif kind == "tiny":
            values = self.random.normal(0, 1e-30, shape)
        elif kind == "zero":
            values = values * self.pick(0.0, -0.0)
        elif kind == "special" and special:
            chosen = self.random.choice([np.inf, -np.inf, np.nan, 0.0, 1e4], shape)
            values = np.where(self.random.random(shape) < 0.2, chosen, values)
        return np.asarray(values, "float32")

    def integers(self, shape, dtype="int64", large=4000):
        """Integers of a type, small ones or up to `large`. float32 holds results up to 2^24."""
        if dtype == "bool":
            return np.asarray(self.random.integers(0, 2, shape), dtype)
        most = min(self.pick(9, 9, large), np.iinfo(dtype).max)
        return np.asarray(self.random.integers(0 if dtype[0] == "u" else -most, most + 1, shape),
                          dtype)

    def input(self, values, computed=0.85):
        """An input of the model, or a constant."""
        return Input(values, self.chance(computed))

    def constant(self, values, dtype="int64", computed=0.04):
        """Positions and the like, which are mostly constants."""
        return Input(np.asarray(values, dtype), self.chance(computed))

    def number(self, low=-2, high=2):
        """A parameter; now and then one that is easily mistaken."""
        usual = round(float(self.random.uniform(low, high)), 3)
        return self.pick(usual, usual, usual, 0.0, 1.0, float(low), float(high))

    def broadcast(self, count, most=4):
        """Shapes that broadcast together."""
        full = self.shape(0, most, 4)
        shapes = []
        for _ in range(count):
            own = [1 if self.chance(0.25) else extent for extent in full]
            shapes.append(own[self.whole(0, len(own)) if self.chance(0.3) else 0:])
        return shapes


def anything(source, shape, computed=0.85):
    """Numbers of any type that is moved: floats, or integers, of a run or of the model."""
    if source.chance(0.7):
        return source.input(source.floats(shape), computed)
    dtype = source.pick("int64", "int32", "uint8", "float64", "bool")
    values = source.random.integers(0, 2 if dtype == "bool" else 9, shape)
    return source.input(np.asarray(values, dtype), computed)


def of(x):
    return str(x.values.dtype)


def emptied(source, shape):
    """At times an extent is 0: constants alone can have it."""
    if shape and source.chance(0.04):
        shape[source.whole(0, len(shape) - 1)] = 0
        return 0.0
    return 0.85
