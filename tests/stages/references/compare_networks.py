#!/usr/bin/python3
"""Runs the networks of pipelines/ with torchvision's weights and compares what they give with what
torchvision gives.

usage: compare_networks.py GRAPHLINE

Takes Debian's python3-torch, python3-torchvision and python3-numpy.

Weights are random, since nothing is downloaded, and the norms' statistics are not trivial: a layer
that is missing, misplaced or misnamed shows. Exit status 1 where a relative error is above 1e-5.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
import torchvision

from make_references import write_safetensors

PIPELINES = pathlib.Path(__file__).resolve().parents[3] / "pipelines"
NETWORKS = ("mobilenet_v2", "resnet50", "vgg16")


def random_network(name):
    torch.manual_seed(1)
    network = getattr(torchvision.models, name)().eval()
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.uniform_(-0.3, 0.3)
                module.running_var.uniform_(0.5, 1.5)
    return network


def only(folder, pattern):
    (path,) = folder.glob(pattern)
    return numpy.load(path)


def error_of(graphline, name, folder):
    network = random_network(name)
    weights, pipeline = folder / f"{name}.safetensors", folder / f"{name}.yaml"
    write_safetensors(weights, {key: tensor for key, tensor in network.state_dict().items()
                                if tensor.is_floating_point()})
    text = (PIPELINES / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.count("    layers:\n") == 1
    pipeline.write_text(text.replace("    layers:\n", f"    weights: {weights}\n    layers:\n"),
                        encoding="utf-8")
    tensors = folder / name
    subprocess.run([graphline, "run", pipeline, "--device", "host", "--set", "batch=2", "--frames",
                    "1", "--warmup", "0", "--save-tensors", tensors], check=True,
                   stdout=subprocess.DEVNULL)
    given = only(tensors, "output.*.npy")
    with torch.no_grad():
        image = torch.from_numpy(only(tensors, "input.*.npy")).double()
        expected = network.double()(image).numpy()
    return numpy.linalg.norm(given - expected) / numpy.linalg.norm(expected)


def main(graphline):
    worst = 0.0
    for name in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            error = error_of(graphline, name, pathlib.Path(folder))
        print(f"{name:14}relative error {error:.1e}")
        worst = max(worst, error)
    return 0 if worst <= 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
