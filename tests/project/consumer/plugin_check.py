"""Runs the pipelines of the plug-ins in examples/ with what was built, and computes their outputs
again.

usage: plugin_check.py GRAPHLINE EXAMPLES BUILT FOLDER

BUILT holds plugin/normalize.so, cpu_plugin/accumulate.so and policy_plugin/reservation.so.
normalize runs on `host`, and on `cuda` where there is such a device and the plug-in was built for
it.
"""

import os
import pathlib
import struct
import subprocess
import sys

GRAPHLINE, EXAMPLES, BUILT, FOLDER = sys.argv[1:]
PIPELINE = pathlib.Path(EXAMPLES, "cuda_plugin", "normalize.yaml")
PLUGIN = pathlib.Path(BUILT, "plugin", "normalize.so")
SETTINGS = {"batch": 3, "side": 37}  # a plane of no round size, and more blocks than one
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def graphline(*words):
    done = subprocess.run([GRAPHLINE, *map(str, words)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"graphline {' '.join(map(str, words))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def floats(path):
    """The float32 values of a .npy file."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<H", raw[8:10])
    values = raw[10 + length:]
    assert b"<f4" in raw[:10 + length] and len(values) % 4 == 0, raw[:10 + length]
    return struct.unpack(f"<{len(values) // 4}f", values)


def rounded(value):
    """`value` as a float32: of a sum or a quotient of two float32 it is the one a CPU computes."""
    return struct.unpack("f", struct.pack("f", value))[0]


def expected(images):
    plane, channels = SETTINGS["side"] ** 2, len(MEAN)
    return [rounded(rounded(x - rounded(MEAN[c])) / rounded(STD[c]))
            for i, x in enumerate(images) for c in [i // plane % channels]]


def check(device, graphs):
    tensors = pathlib.Path(FOLDER, f"{device}_{graphs}")
    given = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    graphline("run", PIPELINE, "--set", f"library={PLUGIN}", *given, "--device", device, "--graphs",
              graphs, "--frames", 3, "--warmup", 1, "--save-tensors", tensors)
    images = floats(tensors / "input.images.npy")
    assert len(images) == SETTINGS["batch"] * len(MEAN) * SETTINGS["side"] ** 2, len(images)
    found = floats(tensors / "output.normalized.npy")
    wrong = [i for i, (a, b) in enumerate(zip(found, expected(images), strict=True)) if a != b]
    if wrong:
        sys.exit(f"{device}, graphs {graphs}: {len(wrong)} of {len(found)} values differ, "
                 f"first at {wrong[0]}")
    print(f"{device}, graphs {graphs}: {len(found)} values as they should be")


def check_accumulate():
    """With half of a sum kept, four frames of x add up to 1.875 x, exactly. The plug-in is named
    from the working directory."""
    tensors = pathlib.Path(FOLDER, "accumulate")
    library = os.path.relpath(pathlib.Path(BUILT, "cpu_plugin", "accumulate.so"))
    graphline("run", pathlib.Path(EXAMPLES, "cpu_plugin", "accumulate.yaml"), "--set",
              f"library={library}", "--frames", 3, "--warmup", 1, "--save-tensors", tensors)
    scores, sums = (floats(tensors / f"{name}.npy") for name in ("input.scores", "output.sums"))
    expected_sums = []
    for x in scores:
        total = 0.0
        for _ in range(4):
            total = rounded(rounded(0.5 * total) + x)
        expected_sums.append(total)
    assert any(sums) and list(sums) == expected_sums, (sums[:3], expected_sums[:3])
    print(f"accumulate: {len(sums)} values as they should be")


def main():
    manual = graphline("stages", "my.normalize", "--plugin", PLUGIN)
    assert f"From: plug-in {pathlib.Path(PLUGIN).resolve()}" in manual, manual
    devices = ["host"]
    for line in graphline("devices").splitlines():
        if line.startswith("cuda") and "none:" not in line:
            devices.append(line.split()[0])
    for device in devices:
        for graphs in ("off", "stage"):
            check(device, graphs)
    check_accumulate()
    graphline("run", pathlib.Path(EXAMPLES, "policy_plugin", "reservation.yaml"), "--set",
              f"library={pathlib.Path(BUILT, 'policy_plugin', 'reservation.so')}", "--frames", 3)


main()
