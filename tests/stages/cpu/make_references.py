#!/usr/bin/python3
"""Writes the inputs and expected results of the CPU stage tests into references/.

Run by hand when a case is added; the results are kept in the repository, so that building and
testing needs no Python. Made with PyTorch 1.13, NumPy 1.24 and Pillow 9.4 (Debian 12's
python3-torch, python3-numpy, python3-pil). Tensors are raw and little-endian, rows packed; their
shapes are stated where the tests read them.
"""

import math
import struct
import wave
from pathlib import Path

import numpy as np
import torch
from PIL import Image

FOLDER = Path(__file__).parent / "references"


def save(name, array):
    np.ascontiguousarray(array).tofile(FOLDER / f"{name}.bin")


WORD = (1 << 64) - 1


def mt19937_64(seed):
    """The 64-bit Mersenne twister with the constants of the C++ standard, [rand.predef]."""
    state = [seed]
    for i in range(1, 312):
        state.append((6364136223846793005 * (state[-1] ^ state[-1] >> 62) + i) & WORD)
    while True:
        for i in range(312):
            y = state[i] & (WORD - 0x7FFFFFFF) | state[(i + 1) % 312] & 0x7FFFFFFF
            twist = 0xB5026F5AA96619E9 if y & 1 else 0
            state[i] = state[(i + 156) % 312] ^ y >> 1 ^ twist
        for z in state:
            z ^= z >> 29 & 0x5555555555555555
            z ^= z << 17 & 0x71D67FFFEDA60000
            z ^= z << 37 & 0xFFF7EEE000000000
            yield z ^ z >> 43


def mix_seed(a, b):
    """As framework/base/random.hpp."""
    z = (a + 0x9E3779B97F4A7C15 * (b + 1)) & WORD
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & WORD
    return z ^ z >> 31


def normals(seed, count):
    """The polar method over the upper 53 bits of each word."""
    words = mt19937_64(seed)
    values = []
    while len(values) < count:
        x, y = (2 * (next(words) >> 11) / 2**53 - 1 for _ in range(2))
        square = x * x + y * y
        if 0 < square < 1:
            factor = math.sqrt(-2 * math.log(square) / square)
            values += [x * factor, y * factor]
    return values[:count]


def make_random_normal():
    """Frame 3 of a stage with seed 1: long enough for the twister to turn over."""
    drawn = np.array(normals(mix_seed(1, 3), 1000))
    save("random_normal", drawn.astype(np.float32) * np.float32(32))


def make_top_k(rng):
    """No two values are equal (PyTorch leaves the order of equals open); some are not finite."""
    scores = rng.permutation(3 * 5 * 40).astype(np.float32).reshape(3, 5, 40) / 7 - 30
    scores[0, 0, 7] = np.nan
    scores[0, 0, 9] = np.inf
    scores[0, 0, 11] = -np.inf
    values, indices = torch.topk(torch.from_numpy(scores), 6, dim=-1, largest=True, sorted=True)
    save("top_k_scores", scores)
    save("top_k_values", values.numpy())
    save("top_k_indices", indices.numpy())


def picture(height, width):
    """Waves and an edge: smooth parts, detail, and different channels."""
    y, x = np.mgrid[0:height, 0:width]
    red = 128 + 100 * np.sin(x / 5) * np.cos(y / 9)
    green = 255 * x / width
    blue = np.where((x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 3) ** 2, 220, 40)
    return np.stack([red, green, blue], -1).clip(0, 255).astype(np.uint8)


def decoded(file, reduce):
    image = Image.open(file)
    image.draft("RGB", (image.width // reduce, image.height // reduce))  # as libjpeg scales
    return np.array(image.convert("RGB"))


def make_images():
    folder = FOLDER / "images"
    folder.mkdir(exist_ok=True)
    files = []
    for name, extents, mode in [("a_smaller", (47, 61), "RGB"), ("b_larger", (20, 18), "RGB"),
                                ("c_grey", (40, 40), "L"), ("d_quarter", (101, 131), "RGB"),
                                ("e_half", (53, 140), "RGB")]:
        files.append(folder / f"{name}.jpg")
        Image.fromarray(picture(*extents)).convert(mode).save(files[-1], quality=90)
    Image.fromarray(picture(16, 16)).convert("CMYK").save(FOLDER / "cmyk.jpg", quality=90)
    save("image", decoded(files[0], 1))
    quarters = np.zeros((len(files), 26, 35, 3), np.uint8)  # as high and wide as the largest
    for to, file in zip(quarters, files):
        pixels = decoded(file, 4)
        to[:pixels.shape[0], :pixels.shape[1]] = pixels
    save("image_quarters", quarters)


def make_gray():
    """Of the picture that make_opencv_references.py wrote."""
    pixels = np.fromfile(FOLDER / "picture.bin", np.uint8).reshape(60, 80, 3)
    save("picture_gray", np.array(Image.fromarray(pixels).convert("L")))


def make_audio(rng):
    """WAV files, and what a stage reads of each: 60 samples. Python's wave writes PCM only."""
    folder = FOLDER / "audio"
    folder.mkdir(exist_ok=True)
    expected = []
    for name, width, channels in [("a_mono", 2, 1), ("b_stereo", 2, 2), ("c_short", 1, 3)]:
        low, high = ((0, 256), (-32768, 32768))[width - 1]
        samples = rng.integers(low, high, (80 if width == 2 else 50, channels))
        samples[:2] = [[low], [high - 1]]
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(width)
            file.setframerate(16000)
            file.writeframes(samples.astype((np.uint8, np.int16)[width - 1]).tobytes())
        expected.append(((samples - (128, 0)[width - 1]) / (128, 32768)[width - 1]).mean(1))
    samples = rng.normal(size=70).astype(np.float32)
    chunks = [b"fmt ", struct.pack("<IHHIIHHH", 18, 3, 1, 16000, 64000, 4, 32, 0),
              b"LIST", struct.pack("<I", 3), b"odd\0",
              b"data", struct.pack("<I", samples.nbytes), samples.tobytes()]
    body = b"WAVE" + b"".join(chunks)
    (folder / "d_float.wav").write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    expected.append(samples)
    save("audio", [np.pad(of, (0, 60))[:60].astype(np.float32) for of in expected])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    generator = np.random.default_rng(20240501)
    make_random_normal()
    make_top_k(generator)
    make_images()
    make_gray()
    make_audio(generator)
