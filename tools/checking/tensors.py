"""Reads the NumPy files of `graphline run --save-tensors` and compares them."""

import array
import ast
import math
import operator
import pathlib
import struct

TYPES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B"}
MOST = 1 << 20  # elements that are compared of one tensor


def read(path):
    """The element type and the elements, every n-th where there are more than MOST."""
    raw = memoryview(pathlib.Path(path).read_bytes())
    (length,) = struct.unpack("<H", raw[8:10])
    header = ast.literal_eval(bytes(raw[10:10 + length]).decode("latin-1"))
    values = array.array(TYPES[header["descr"]])
    values.frombytes(raw[10 + length:])
    step = max(1, -(-len(values) // MOST))
    # An odd step meets every channel, wherever the channels are.
    return header["descr"], values[::step | 1] if step > 1 else values


def relative_error(values, reference):
    """|values - reference| / |reference| in the Euclidean norm; NaN where either holds one."""
    if len(values) != len(reference):
        return math.nan
    differences = list(map(operator.sub, values, reference))
    difference = math.fsum(map(operator.mul, differences, differences))
    size = math.fsum(map(operator.mul, reference, reference))
    if size == 0:
        return math.sqrt(difference)
    return math.sqrt(difference / size)


def compare(folder, reference_folder):
    """The relative error of each floating-point output of both folders, by tensor."""
    errors = {}
    for path in sorted(pathlib.Path(reference_folder).glob("output.*.npy")):
        kind, reference = read(path)
        if kind not in ("<f4", "<f8"):
            continue  # indices: which of two nearly equal classes comes first is no error
        name = path.name[len("output."):-len(".npy")]
        other = pathlib.Path(folder, path.name)
        errors[name] = relative_error(read(other)[1], reference) if other.exists() else math.nan
    return errors
