#!/usr/bin/python3
"""Writes the files of the tests of NumPy files into npy/, with NumPy 1.24 (Debian 12's
python3-numpy). Run by hand when a case is added; the files are kept in the repository, so that
building and testing needs no Python.
"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "npy"
NUMBERS = np.arange(6).reshape(2, 3)


def save(name, array, version=(1, 0)):
    with open(FOLDER / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version, allow_pickle=True)


FOLDER.mkdir(exist_ok=True)
for dtype in ["float32", "float64", "float16", "int64", "int32", "uint8", "uint16"]:
    save(dtype, NUMBERS.astype(dtype))
save("version_2", NUMBERS.astype("float32") + 1, (2, 0))
save("version_3", NUMBERS.astype("float32") + 2, (3, 0))
save("scalar", np.float32(2.5))
save("vector", np.arange(5, dtype="uint8"))

save("fortran", np.asfortranarray(NUMBERS.astype("float32")))
save("big_endian", NUMBERS.astype(">f4"))
save("bool", NUMBERS > 2)
save("complex", NUMBERS.astype("complex64"))
save("empty", np.zeros((2, 0), "float32"))
save("records", np.zeros(2, [("x", "<f4"), ("y", "<f4")]))
save("objects", np.array([1, "a"], object))
np.savez(FOLDER / "archive.npz", NUMBERS)
