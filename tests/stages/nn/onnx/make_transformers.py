#!/usr/bin/env python3
"""Writes small transformers as PyTorch exports them, with inputs and the outputs that PyTorch
computes, in the form of ONNX's own tests: NAME/model.onnx and NAME/test_data_set_0/*.pb.

usage: make_transformers.py [FOLDER]        (needs PyTorch 1.13, Debian's python3-torch)
"""

import pathlib
import struct
import sys

import torch
from torch import nn
from torch.nn import functional


class Separate(nn.Module):
    """Attention whose queries, keys and values are three products, as in BERT."""

    def __init__(self, dim, heads, key_heads=None):
        super().__init__()
        self.heads, self.key_heads = heads, key_heads or heads
        self.depth = dim // heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, self.depth * self.key_heads)
        self.value = nn.Linear(dim, self.depth * self.key_heads)
        self.out = nn.Linear(dim, dim)

    def part(self, of, x, heads):
        parts = of(x).view(x.shape[0], x.shape[1], heads, self.depth).permute(0, 2, 1, 3)
        if heads == self.heads:
            return parts
        repeated = parts[:, :, None].expand(-1, -1, self.heads // heads, -1, -1)
        return repeated.reshape(x.shape[0], self.heads, x.shape[1], self.depth)

    def forward(self, x, mask):
        queries = self.part(self.query, x, self.heads)
        keys = self.part(self.key, x, self.key_heads)
        scores = queries @ keys.transpose(-1, -2) / self.depth ** 0.5
        shares = mask(scores).softmax(-1)
        sums = (shares @ self.part(self.value, x, self.key_heads)).permute(0, 2, 1, 3)
        return self.out(sums.reshape(x.shape))


class Bert(nn.Module):
    """Two layers that normalize last, over tokens of which some are padding."""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleDict({"attention": Separate(dim, heads), "norm": nn.LayerNorm(dim),
                           "wide": nn.Linear(dim, 2 * dim), "narrow": nn.Linear(2 * dim, dim),
                           "last": nn.LayerNorm(dim)}) for _ in range(2))

    def forward(self, x, kept):
        added = (1 - kept[:, None, None, :]) * -10000.0
        for layer in self.layers:
            x = layer["norm"](x + layer["attention"](x, lambda scores: scores + added))
            x = layer["last"](x + layer["narrow"](functional.gelu(layer["wide"](x))))
        return x


class Gpt(nn.Module):
    """Causal attention with one head of keys and values for each two of queries."""

    def __init__(self, dim=16, heads=4, tokens=6):
        super().__init__()
        self.attention = Separate(dim, heads, heads // 2)
        self.norm = nn.LayerNorm(dim)
        self.wide = nn.Linear(dim, 2 * dim)
        self.narrow = nn.Linear(2 * dim, dim)
        self.register_buffer("seen", torch.ones(tokens, tokens).tril()[None, None] > 0)

    def forward(self, x):
        hide = lambda scores: torch.where(self.seen, scores, torch.tensor(-1e30))
        x = x + self.attention(self.norm(x), hide)
        return x + self.narrow(functional.gelu(self.wide(x), approximate="tanh"))


class Vit(nn.Module):
    """Patches of a picture, and queries, keys and values from one product."""

    def __init__(self, dim=18, heads=3):
        super().__init__()
        self.heads, self.depth = heads, dim // heads
        self.patches = nn.Conv2d(3, dim, 4, 4)
        self.first = nn.Parameter(torch.randn(1, 1, dim))
        self.places = nn.Parameter(torch.randn(1, 10, dim))
        self.norm, self.qkv = nn.LayerNorm(dim), nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        n, tokens, dim = x.shape
        parts = self.qkv(self.norm(x)).reshape(n, tokens, 3, self.heads, self.depth)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        shares = ((queries * self.depth ** -0.5) @ keys.transpose(-2, -1)).softmax(-1)
        x = x + self.out((shares @ values).transpose(1, 2).reshape(n, tokens, dim))
        return self.head(x[:, 0])


class Swin(nn.Module):
    """Attention within windows that are shifted, with a bias for each pair of places."""

    def __init__(self, dim=12, heads=2, window=4, shift=2):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.bias = nn.Parameter(torch.randn(heads, window ** 2, window ** 2))

    def forward(self, x):
        n, height, width, dim = x.shape
        w = self.window
        x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        x = x.view(n, height // w, w, width // w, w, dim).permute(0, 1, 3, 2, 4, 5)
        x = x.reshape(-1, w * w, dim)
        parts = self.qkv(x).reshape(x.shape[0], w * w, 3, self.heads, dim // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        scores = queries @ keys.transpose(-2, -1) * (dim // self.heads) ** -0.5 + self.bias
        x = (scores.softmax(-1) @ values).transpose(1, 2).reshape(-1, w * w, dim)
        x = self.out(x).view(n, height // w, width // w, w, w, dim).permute(0, 1, 3, 2, 4, 5)
        return torch.roll(x.reshape(n, height, width, dim), (self.shift, self.shift), (1, 2))


class Decoder(nn.Module):
    """PyTorch's own layer: causal attention, then attention to other tokens, tokens first."""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(dim, heads, 32, dropout=0)
        self.register_buffer("hidden", torch.full((5, 5), float("-inf")).triu(1))

    def forward(self, x, memory):
        return self.layer(x, memory, tgt_mask=self.hidden)


def case(name):
    return {
        "bert": lambda: (Bert(), {"x": torch.randn(2, 7, 16),
                                  "kept": torch.tensor([[1.0] * 7, [1.0] * 4 + [0.0] * 3])}),
        "gpt": lambda: (Gpt(), {"x": torch.randn(3, 6, 16)}),
        "vit": lambda: (Vit(), {"x": torch.randn(2, 3, 12, 12)}),
        "swin": lambda: (Swin(), {"x": torch.randn(1, 8, 8, 12)}),
        "decoder": lambda: (Decoder(), {"x": torch.randn(5, 2, 16),
                                        "memory": torch.randn(9, 2, 16)}),
    }[name]()


def varint(value):
    text = b""
    while value >= 128:
        text += bytes([value % 128 + 128])
        value //= 128
    return text + bytes([value])


def tensor_message(values):
    """An ONNX TensorProto of float32: dims, data_type and raw_data."""
    text = b"".join(b"\x08" + varint(extent) for extent in values.shape) + b"\x10\x01"
    data = struct.pack(f"<{values.numel()}f", *values.flatten().tolist())
    return text + b"\x4a" + varint(len(data)) + data


def main():
    to = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    to = to if len(sys.argv) > 1 else to.parent / "transformers"
    for name in ("bert", "decoder", "gpt", "swin", "vit"):
        torch.manual_seed(1)
        model, inputs = case(name)
        model.eval()
        data = to / name / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        torch.onnx.export(model, tuple(inputs.values()), str(to / name / "model.onnx"),
                          input_names=list(inputs), output_names=["y"], opset_version=14)
        for i, values in enumerate(inputs.values()):
            (data / f"input_{i}.pb").write_bytes(tensor_message(values))
        with torch.no_grad():
            (data / "output_0.pb").write_bytes(tensor_message(model(*inputs.values())))


main()
