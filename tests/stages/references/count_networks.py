#!/usr/bin/python3
"""Writes what fvcore counts of networks, to compare `graphline inspect` with.

Run it with Debian's python3-torch (1.13), python3-torchvision (0.14) and PyPI's fvcore (0.1.5) to
make counted_networks.yaml beside it again. fvcore counts the multiply-accumulates of convolutions
and products in the graph that PyTorch traces of a forward pass. Bytes are those of the tensors that
hooks see go into and come out of every module, and of its weights; parameters and outputs are
PyTorch's own. The layers that Graphline reads are written down from the same modules.

A few layers that Graphline lacks are replaced by others; none of them has weights or MACs: a
Dropout by nothing, a mean over pixels by adaptive_avg_pool2d.
"""

import json
import pathlib

import torch
import torchvision
from fvcore.nn import FlopCountAnalysis
from torch import nn

HERE = pathlib.Path(__file__).parent
MULTIPLYING = ("conv", "linear", "addmm", "matmul", "bmm", "einsum")


class Residual(nn.Module):
    """What it is made of, and what it reads added to that."""

    def __init__(self, *inner):
        super().__init__()
        self.inner = nn.Sequential(*inner)

    def forward(self, x):
        return x + self.inner(x)


def pair(value):
    return list(value) if isinstance(value, (tuple, list)) else [value, value]


def conv2d(m):
    assert m.padding_mode == "zeros" and not isinstance(m.padding, str)
    return {"out_channels": m.out_channels, "kernel": pair(m.kernel_size),
            "stride": pair(m.stride), "padding": pair(m.padding), "dilation": pair(m.dilation),
            "groups": m.groups, "bias": m.bias is not None}


def pool2d(m):
    return {"kernel": pair(m.kernel_size), "stride": pair(m.stride), "padding": pair(m.padding),
            "ceil_mode": m.ceil_mode}


PLAIN = {nn.ReLU: "relu", nn.ReLU6: "relu6", nn.GELU: "gelu",
         nn.Sigmoid: "sigmoid", nn.SiLU: "silu", nn.Flatten: "flatten",
         nn.BatchNorm2d: "batch_norm2d"}


class Writer:
    """Layers as Graphline writes them, from PyTorch's modules."""

    def __init__(self):
        self.layers = []

    def add_residual(self, inner):
        self.layers[-1][1]["name"] = source = f"before_{len(self.layers)}"
        self.write(inner)
        self.layers.append(("add", {"from": source}))

    def write(self, m):
        if isinstance(m, Residual):
            self.add_residual(m.inner)
        elif isinstance(m, torchvision.models.mobilenetv2.InvertedResidual):
            self.add_residual(m.conv) if m.use_res_connect else self.write(m.conv)
        elif isinstance(m, torchvision.models.mnasnet._InvertedResidual):
            self.add_residual(m.layers) if m.apply_residual else self.write(m.layers)
        elif isinstance(m, nn.Sequential):
            for child in m:
                self.write(child)
        elif isinstance(m, nn.Conv2d):
            self.layers.append(("conv2d", conv2d(m)))
        elif isinstance(m, nn.Linear):
            self.layers.append(
                ("linear", {"out_features": m.out_features, "bias": m.bias is not None}))
        elif isinstance(m, nn.MaxPool2d):
            self.layers.append(("max_pool2d", pool2d(m)))
        elif isinstance(m, nn.AvgPool2d):
            self.layers.append(("avg_pool2d", pool2d(m)))
        elif isinstance(m, nn.AdaptiveAvgPool2d):
            self.layers.append(("adaptive_avg_pool2d", {"output": pair(m.output_size)}))
        elif isinstance(m, nn.Softmax):
            self.layers.append(("softmax", {"dim": m.dim}))
        elif type(m) in PLAIN:
            self.layers.append((PLAIN[type(m)], {}))
        else:
            assert isinstance(m, nn.Dropout), m


def conv_bn(inputs, outputs, kernel, stride=1, groups=1, activation=nn.ReLU):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs), activation())


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Sigmoid(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5),
        nn.Sigmoid(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.Sigmoid(),
        nn.Linear(120, 84), nn.Sigmoid(), nn.Linear(84, 10))


def perceptron():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.GELU(), nn.Linear(512, 512, False),
                         nn.GELU(), nn.Linear(512, 10), nn.Softmax(-1))


def mobilenet_v1():
    layers = [conv_bn(3, 32, 3, 2)]
    inputs = 32
    for outputs, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                            *[(512, 1)] * 5, (1024, 2), (1024, 1)):
        layers += [conv_bn(inputs, inputs, 3, stride, inputs), conv_bn(inputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1000))


def convmixer(width=256, depth=8, kernel=5, patch=2):
    layers = [nn.Conv2d(3, width, patch, patch), nn.GELU(), nn.BatchNorm2d(width)]
    for _ in range(depth):
        layers += [
            Residual(nn.Conv2d(width, width, kernel, padding=kernel // 2, groups=width), nn.GELU(),
                     nn.BatchNorm2d(width)),
            nn.Conv2d(width, width, 1), nn.GELU(), nn.BatchNorm2d(width)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def dilated_residual():
    layers = [conv_bn(3, 24, 7, 2, activation=nn.SiLU), nn.MaxPool2d(3, 2, 1)]
    for dilation in (1, 2, 4):
        layers += [Residual(
            nn.Conv2d(24, 24, (1, 3), padding=(0, dilation), dilation=(1, dilation)), nn.SiLU(),
            nn.Conv2d(24, 24, (3, 1), padding=(dilation, 0), dilation=(dilation, 1), groups=4)),
            nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(24, 2, 1))


NETWORKS = {
    "lenet5": (lenet5, (1, 1, 28, 28)),
    "perceptron": (perceptron, (64, 1, 28, 28)),
    "mobilenet_v1": (mobilenet_v1, (2, 3, 224, 224)),
    "convmixer_256_8": (convmixer, (4, 3, 32, 32)),
    "dilated_residual": (dilated_residual, (2, 3, 97, 131)),
    "alexnet": (torchvision.models.alexnet, (1, 3, 224, 224)),
    "vgg11": (torchvision.models.vgg11, (1, 3, 224, 224)),
    "vgg16_bn": (torchvision.models.vgg16_bn, (2, 3, 224, 224)),
    "mobilenet_v2": (torchvision.models.mobilenet_v2, (1, 3, 224, 224)),
    "mnasnet1_0": (torchvision.models.mnasnet1_0, (1, 3, 192, 192)),
}


def sequence_of(network):
    """The same network as a Sequential, with what torchvision's forward functions do between."""
    if isinstance(network, torchvision.models.MNASNet):
        return nn.Sequential(network.layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                             network.classifier)
    if isinstance(network, torchvision.models.MobileNetV2):
        return nn.Sequential(network.features, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                             network.classifier)
    if isinstance(network, nn.Sequential):
        return network
    return nn.Sequential(network.features, network.avgpool, nn.Flatten(), network.classifier)


def stored_numbers(network):
    """Weights, and the statistics that norms keep: what a file of weights holds."""
    return sum(tensor.numel() for tensor in network.state_dict().values()
               if tensor.is_floating_point())


def adds_its_input(module):
    return (isinstance(module, Residual) or getattr(module, "use_res_connect", False)
            or getattr(module, "apply_residual", False))


def size_of(tensor):
    return tensor.numel() * tensor.element_size()


def moved(network, image):
    """Bytes read and written, each tensor and weight once for each module, and the output."""
    read, written = [], []

    def see(module, inputs, output):
        if adds_its_input(module):
            read.append(2 * size_of(output))
        elif not list(module.children()) and not isinstance(module, (nn.Flatten, nn.Dropout)):
            read.append(size_of(inputs[0]) + 4 * stored_numbers(module))
        else:
            return
        written.append(size_of(output))

    for module in network.modules():
        module.register_forward_hook(see)
    with torch.no_grad():
        output = network(image)
    return sum(read), sum(written), output


def text_of(name, make, shape):
    network = make().eval()
    image = torch.randn(shape)
    counted = FlopCountAnalysis(network, image).unsupported_ops_warnings(False)
    counted.uncalled_modules_warnings(False)
    operators = counted.by_operator()
    macs = sum(int(operators.get(operator, 0)) for operator in MULTIPLYING)
    with torch.no_grad():
        expected = network(image)
    read, written, output = moved(sequence_of(network), image)
    assert torch.allclose(output, expected), name
    writer = Writer()
    writer.write(sequence_of(network))
    lines = [f"- name: {name}", f"  shape: {list(shape)}", f"  output: {list(output.shape)}",
             f"  parameters: {stored_numbers(network)}", f"  macs: {macs}",
             f"  bytes_read: {read}", f"  bytes_written: {written}", "  layers:"]
    for kind, values in writer.layers:
        inner = ", ".join(f"{key}: {json.dumps(value).strip(chr(34))}"
                          for key, value in values.items())
        lines.append(f"    - {kind}: {{{inner}}}" if inner else f"    - {kind}")
    return "\n".join(lines) + "\n"


def main():
    text = "# Written by count_networks.py: what fvcore and PyTorch count.\n"
    for name, (make, shape) in NETWORKS.items():
        text += text_of(name, make, shape)
    (HERE / "counted_networks.yaml").write_text(text)


if __name__ == "__main__":
    main()
