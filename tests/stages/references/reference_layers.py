"""Layers as PyTorch computes them and as Graphline's YAML writes them, each as
(yaml, module, name, reads). What has no module in PyTorch is a function."""

import math

import torch
from torch import nn


class TwoOperands:
    """A function of a layer's input and the output of a named layer."""

    def __init__(self, function, source):
        self.function = function
        self.source = source


class Attention(nn.Module):
    """softmax(q k^T / sqrt(depth)) v of packed queries, keys and values, head by head: what PyTorch
    calls scaled_dot_product_attention from version 2 on."""

    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, x):
        images, tokens, packed = x.shape
        depth = packed // 3 // self.heads
        parts = x.reshape(images, tokens, 3, self.heads, depth).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        scores = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(depth), dim=-1)
        return (scores @ v).transpose(1, 2).reshape(images, tokens, packed // 3)


def randomise(module):
    """Weights of ordinary size; statistics of a batch norm that are not trivial."""
    with torch.no_grad():
        if isinstance(module, nn.BatchNorm2d):
            module.weight.uniform_(0.5, 1.5)
            module.bias.uniform_(-0.5, 0.5)
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.25, 2.0)
        if isinstance(module, nn.LayerNorm):
            module.weight.uniform_(0.5, 1.5)
            module.bias.uniform_(-0.5, 0.5)


def weights_of(layers):
    """As the state dict of a Sequential, a named layer's name in place of its number."""
    tensors = {}
    for number, (_, module, name, _) in enumerate(layers):
        if isinstance(module, nn.Module):
            for key, tensor in module.state_dict().items():
                if tensor.dtype != torch.int64:  # num_batches_tracked
                    tensors[f"{name or number}.{key}"] = tensor.float()
    return tensors


def conv(cin, cout, kernel, name=None, **options):
    written = {"out_channels": cout, "kernel": kernel}
    written.update(options)
    size = tuple(kernel) if isinstance(kernel, list) else kernel
    return entry("conv2d", written, nn.Conv2d(cin, cout, size, **in_torch(options)), name)


def linear(features_in, features_out, name=None, **options):
    written = {"out_features": features_out}
    written.update(options)
    return entry("linear", written, nn.Linear(features_in, features_out, **options), name)


def pool(kind, module_type, kernel, **options):
    written = {"kernel": kernel}
    written.update(options)
    size = tuple(kernel) if isinstance(kernel, list) else kernel
    return entry(kind, written, module_type(size, **in_torch(options)))


def max_pool(kernel, **options):
    return pool("max_pool2d", nn.MaxPool2d, kernel, **options)


def avg_pool(kernel, **options):
    return pool("avg_pool2d", nn.AvgPool2d, kernel, **options)


def adaptive(output):
    size = tuple(output) if isinstance(output, list) else output
    return entry("adaptive_avg_pool2d", {"output": output}, nn.AdaptiveAvgPool2d(size))


def batch_norm(channels, name=None, **options):
    return entry("batch_norm2d", dict(options), nn.BatchNorm2d(channels, **options), name)


def layer_norm(features, name=None, **options):
    return entry("layer_norm", dict(options), nn.LayerNorm(features, **options), name)


def attention(heads, name=None):
    return entry("scaled_dot_product_attention", {"heads": heads}, Attention(heads), name)


def gelu(approximate=None, name=None):
    options = {"approximate": approximate} if approximate else {}
    return entry("gelu", options, nn.GELU(**options), name)


def in_torch(options):
    return {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}


def plain(kind, module, name=None):
    return entry(kind, {}, module, name)


def relu(name=None):
    return plain("relu", nn.ReLU(), name)


def relu6(name=None):
    return plain("relu6", nn.ReLU6(), name)


def sigmoid(name=None):
    return plain("sigmoid", nn.Sigmoid(), name)


def silu(name=None):
    return plain("silu", nn.SiLU(), name)


def leaky_relu(**options):
    return entry("leaky_relu", options, nn.LeakyReLU(**options))


def softmax(dim):
    return entry("softmax", {"dim": dim}, nn.Softmax(dim=dim))


def flatten(start_dim=None):
    if start_dim is None:
        return plain("flatten", nn.Flatten())
    return entry("flatten", {"start_dim": start_dim}, nn.Flatten(start_dim=start_dim))


def two_operands(kind, function, source, name=None):
    return entry(kind, {"from": source}, TwoOperands(function, source), name)


def add(source, name=None):
    return two_operands("add", torch.add, source, name)


def sub(source, name=None):
    return two_operands("sub", torch.sub, source, name)


def mul(source, name=None):
    return two_operands("mul", torch.mul, source, name)


def div(source, name=None):
    return two_operands("div", torch.div, source, name)


def conv_transpose(cin, cout, kernel, name=None, **options):
    written = {"out_channels": cout, "kernel": kernel}
    written.update(options)
    size = tuple(kernel) if isinstance(kernel, list) else kernel
    module = nn.ConvTranspose2d(cin, cout, size, **in_torch(options))
    return entry("conv_transpose2d", written, module, name)


def upsample(name=None, **options):
    return entry("upsample", options, nn.Upsample(**in_torch(options)), name)


def reshape(shape, name=None):
    return entry("reshape", {"shape": shape}, lambda x: x.reshape(shape), name)


def permute(dims, name=None):
    return entry("permute", {"dims": dims}, lambda x: x.permute(dims), name)


def part(dim, start=0, end=None, step=1, name=None):
    options = {"dim": dim, "start": start, "end": end, "step": step}
    defaults = {"start": 0, "end": None, "step": 1}
    written = {k: v for k, v in options.items() if k not in defaults or v != defaults[k]}

    def take(x):
        return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]
    return entry("slice", written, take, name)


def zero_pad(padding):
    size = tuple(padding) if isinstance(padding, list) else padding
    return entry("zero_pad2d", {"padding": padding}, nn.ZeroPad2d(size))


def concat(dim, sources, name=None):
    written, module, name, _ = entry("concat", {"dim": dim, "reads": f"[{', '.join(sources)}]"},
                                     lambda parts: torch.cat(parts, dim), name)
    return written, module, name, sources


def entry(kind, options, module, name=None):
    if name:
        options = dict(options, name=name)
    written = ", ".join(f"{key}: {yaml_value(value)}" for key, value in options.items())
    return (f"{kind}: {{{written}}}" if written else kind, module, name, None)


def reading(source, layer):
    """The same layer, of an earlier layer's output."""
    written, module, name, _ = layer
    if written.endswith("}"):
        return f"{written[:-1]}, reads: {source}}}", module, name, source
    return f"{written}: {{reads: {source}}}", module, name, source


def enlarged(factor, layer):
    """The same layer with larger weights, for what only happens to large values."""
    with torch.no_grad():
        layer[1].weight.mul_(factor)
    return layer


def yaml_value(value):
    return str(value).lower() if isinstance(value, bool) else str(value)
