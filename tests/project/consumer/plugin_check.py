"""Runs the pipeline of examples/cuda_plugin with the plug-in that was built, and computes its
output anew.

usage: plugin_check.py GRAPHLINE PIPELINE PLUGIN FOLDER

On `host`, and on `cuda` where there is such a device and the plug-in was built for it.
"""

import pathlib
import struct
import subprocess
import sys

GRAPHLINE, PIPELINE, PLUGIN, FOLDER = sys.argv[1:]
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


main()
