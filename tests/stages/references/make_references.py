#!/usr/bin/python3
"""Writes what PyTorch computes for every layer, to compare Graphline with.

Run it with Debian's python3-torch (1.13) to make the files beside it again:
  cases.yaml                 name, layers and shapes of the inputs of every case
  tensors.safetensors        NAME.INPUT and NAME.OUTPUT of every case, "input" and "output" where
                             it does not say how its tensors are called
  weights/NAME.safetensors   the weights of a case that has any

Inputs and weights are random, rounded to what the file holds; outputs are computed in float64 and
stored in float32, so that a comparison sees only the error of the code under test.
"""

import json
import pathlib
import struct

import torch
from torch import nn

from reference_layers import (TwoOperands, adaptive, add, attention, avg_pool, batch_norm, concat,
                              conv, conv_transpose, div, enlarged, flatten, gelu, layer_norm,
                              leaky_relu, linear, max_pool, mul, part, permute, plain, randomise,
                              reading, relu, relu6, reshape, sigmoid, silu, softmax, sub, upsample,
                              weights_of, zero_pad)

HERE = pathlib.Path(__file__).parent
TYPES = {torch.float16: "F16", torch.bfloat16: "BF16", torch.float32: "F32", torch.float64: "F64"}


def tensor_bytes(tensor):
    raw = tensor.contiguous()
    if raw.dtype == torch.bfloat16:  # NumPy has no such type
        raw = raw.view(torch.int16)
    return raw.numpy().tobytes()


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        piece = tensor_bytes(tensor)
        header[name] = {
            "dtype": TYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(piece)],
        }
        data += piece
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def run(layers, inputs, outputs):
    """What the named ones of [(yaml, module or function, name, reads)] give, or the last one, in
    the precision of the inputs."""
    named = dict(inputs)
    x = next(iter(inputs.values()))
    for _, module, name, reads in layers:
        if isinstance(reads, list):
            x = [named[source] for source in reads]
        elif reads:
            x = named[reads]
        if isinstance(module, TwoOperands):
            x = module.function(x, named[module.source])
        else:
            x = module(x)
        if name:
            named[name] = x
    return {name: named[name] for name in outputs} if outputs else {"output": x}


def cases():
    image = [2, 5, 7, 9]
    yield "conv_plain", image, [conv(5, 7, 3)]
    yield "conv_no_bias", image, [conv(5, 7, 3, bias=False)]
    yield "conv_strides", image, [conv(5, 7, 3, stride=[2, 3], padding=[1, 2])]
    yield "conv_pair_kernel", image, [conv(5, 6, [1, 4], padding=[0, 2])]
    yield "conv_dilation", image, [conv(5, 4, 3, padding=2, dilation=[2, 3])]
    yield "conv_one_by_one", [1, 32, 5, 5], [conv(32, 16, 1)]
    yield "conv_uneven_stride", [1, 16, 10, 9], [conv(16, 16, 3, stride=2, padding=1)]
    yield "conv_groups", [2, 8, 7, 7], [conv(8, 12, 3, groups=4, padding=1)]
    yield "conv_depthwise", [2, 16, 7, 7], [conv(16, 16, 3, groups=16, padding=1)]
    yield "conv_depthwise_multiplier", [1, 6, 7, 7], [conv(6, 12, 3, groups=6, padding=1)]
    yield "conv_chain", [1, 16, 8, 8], [conv(16, 16, 3, padding=1), conv(16, 8, 3), conv(8, 16, 1)]
    yield "conv_relu", image, [conv(5, 7, 3), relu()]
    yield "conv_gelu", image, [conv(5, 7, 3), gelu()]
    yield "conv_gelu_tanh", image, [conv(5, 7, 3), gelu("tanh")]
    yield "conv_sigmoid", image, [conv(5, 7, 3), sigmoid()]
    yield "conv_silu", image, [conv(5, 7, 3), silu()]

    wide = [3, 4, 2, 17]
    yield "relu", wide, [relu()]
    yield "gelu", wide, [gelu()]
    yield "gelu_none", wide, [gelu("none")]
    yield "gelu_tanh", wide, [gelu("tanh")]
    yield "sigmoid", wide, [sigmoid()]
    yield "silu", wide, [silu()]
    yield "gelu_rank_one", [19], [gelu()]

    yield "softmax_last", wide, [softmax(-1)]
    yield "softmax_channels", wide, [softmax(1)]
    yield "softmax_rows", [5, 13], [softmax(0)]
    yield "softmax_after_conv", image, [conv(5, 16, 3), softmax(-3)]

    yield "linear", [3, 10], [linear(10, 7)]
    yield "linear_no_bias", [3, 10], [linear(10, 7, bias=False)]
    yield "linear_gelu", [1, 33], [linear(33, 18), gelu(), linear(18, 1)]
    yield "linear_residual", [3, 12], [linear(12, 12, name="a"), relu(), linear(12, 12),
                                       add("a"), relu()]

    yield "batch_norm_alone", image, [batch_norm(5, eps=0.001)]
    yield "batch_norm_after_conv", image, [conv(5, 7, 3), batch_norm(7), relu()]
    yield "batch_norm_after_conv_no_bias", image, [conv(5, 16, 3, bias=False), batch_norm(16)]
    yield "batch_norm_after_depthwise", [1, 8, 7, 7], [
        conv(8, 8, 3, groups=8, bias=False), batch_norm(8), silu()]
    yield "batch_norm_after_relu", image, [conv(5, 16, 3), relu(), batch_norm(16)]
    yield "batch_norm_of_shared_conv", image, [
        conv(5, 16, 3, name="stem"), batch_norm(16), relu(), add("stem")]

    yield "max_pool", image, [max_pool(2)]
    yield "max_pool_pair", image, [max_pool([3, 2], stride=[2, 1], padding=[1, 0])]
    yield "max_pool_dilation", image, [max_pool(3, stride=1, dilation=[2, 3])]
    yield "max_pool_ceil", [1, 4, 10, 8], [max_pool(3, stride=2, ceil_mode=True)]
    yield "max_pool_ceil_padding", [1, 4, 6, 7], [max_pool(3, stride=2, padding=1, ceil_mode=True)]
    yield "max_pool_after_conv", image, [conv(5, 16, 3), relu(), max_pool(2)]

    yield "avg_pool", image, [avg_pool(2)]
    yield "avg_pool_padding", image, [avg_pool(3, stride=2, padding=1)]
    yield "avg_pool_exclude_pad", image, [
        avg_pool(3, stride=2, padding=1, count_include_pad=False)]
    yield "avg_pool_ceil", [1, 4, 10, 8], [avg_pool(3, stride=2, ceil_mode=True)]
    yield "avg_pool_ceil_padding", [1, 4, 6, 7], [
        avg_pool([3, 4], stride=[2, 3], padding=[1, 2], ceil_mode=True)]
    yield "avg_pool_ceil_exclude_pad", [1, 4, 6, 7], [
        avg_pool(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)]
    yield "avg_pool_after_conv", image, [conv(5, 16, 3), avg_pool(2, ceil_mode=True)]

    yield "adaptive_one", image, [adaptive(1)]
    yield "adaptive_dividing", [2, 3, 8, 12], [adaptive([4, 3])]
    yield "adaptive_uneven", image, [adaptive([4, 5])]
    yield "adaptive_larger", [1, 3, 4, 5], [adaptive(7)]
    yield "adaptive_after_conv", image, [conv(5, 16, 3), adaptive(3)]

    yield "flatten", [2, 3, 4, 5], [flatten()]
    yield "flatten_all", [2, 3, 4], [flatten(0)]
    yield "flatten_later", [2, 3, 4, 5], [flatten(2)]
    yield "flatten_last", [2, 3, 4], [flatten(-1)]
    yield "flatten_after_conv", image, [conv(5, 7, 3), flatten(), softmax(1)]

    yield "add_input", wide, [relu(), add("input")]
    yield "add_itself", wide, [relu(name="a"), add("a")]
    yield "add_relu_unfused", wide, [relu(name="a"), gelu(), add("a"), relu()]
    yield "add_fused", [1, 16, 6, 6], [
        conv(16, 16, 3, padding=1, name="a"), relu(name="b"), conv(16, 16, 3, padding=1), add("b")]
    yield "add_shared_convolution", [1, 16, 6, 6], [
        conv(16, 16, 3, padding=1, name="a"), conv(16, 16, 3, padding=1, name="b"), add("a"),
        gelu(), add("b"), relu()]
    yield "add_input_to_conv", [2, 3, 6, 6], [
        conv(3, 3, 3, padding=1), gelu(), add("input"), relu()]
    yield "add_odd_channels", [2, 5, 6, 6], [
        conv(5, 7, 3, padding=1, name="a"), conv(7, 7, 3, padding=1), relu(), add("a")]
    yield "add_depthwise", [1, 16, 6, 6], [conv(16, 16, 3, padding=1, groups=16), add("input")]

    yield "residual_block", [2, 16, 7, 7], [
        conv(16, 16, 3, padding=1, bias=False, name="conv1"), batch_norm(16, name="bn1"), relu(),
        conv(16, 16, 3, padding=1, bias=False, name="conv2"), batch_norm(16, name="bn2"),
        add("input"), relu()]
    yield "separable_block", [1, 12, 9, 9], [
        conv(12, 24, 1, bias=False), batch_norm(24), silu(),
        conv(24, 24, 3, padding=1, groups=24, stride=2, bias=False), batch_norm(24),
        silu(), conv(24, 12, 1)]

    yield "two_models_backbone", [1, 3, 24, 24], [
        conv(3, 24, 3, stride=2, padding=1), gelu(), conv(24, 40, 3, stride=2, padding=1), gelu()]
    yield "two_models_head", [1, 40, 6, 6], [
        adaptive(1), flatten(), linear(40, 80), gelu(), linear(80, 32), gelu(), linear(32, 1)]

    yield "relu6", [3, 4, 2, 17], [enlarged(20, conv(4, 4, 1)), relu6()]
    yield "relu6_alone", [2, 24], [enlarged(20, linear(24, 24)), softmax(1), enlarged(
        200, linear(24, 24)), flatten(), relu6()]
    yield "inverted_residual", [2, 8, 9, 9], [
        conv(8, 8, 1, name="stem"), enlarged(20, conv(8, 24, 1, bias=False)), batch_norm(24),
        relu6(), conv(24, 24, 3, padding=1, groups=24, bias=False), batch_norm(24), relu6(),
        conv(24, 8, 1, bias=False), batch_norm(8), add("stem")]

    yield "reads_input", image, [conv(5, 7, 3, name="a"), reading("input", conv(5, 7, 3)), add("a")]
    yield "reads_a_shared_value", image, [
        relu("a"), conv(5, 6, 1, name="b"), reading("a", conv(5, 6, 1)), relu("c"),
        reading("a", conv(5, 6, 1)), gelu(), add("b"), add("c"), relu()]
    yield "reads_for_an_add", image, [
        conv(5, 5, 1, name="a"), gelu(name="b"), relu("c"), reading("a", add("b")),
        add("c")]
    yield "reads_after_a_head", [2, 10], [
        linear(10, 12, name="a"), relu("b"), reading("a", gelu(name="c")), linear(12, 12),
        add("b"), add("c")]
    yield "projection_block", [2, 16, 9, 9], [
        conv(16, 16, 3, padding=1), relu("x"),
        conv(16, 24, 3, stride=2, padding=1, bias=False, name="layer2.0.conv1"),
        batch_norm(24, name="layer2.0.bn1"), relu(),
        conv(24, 24, 3, padding=1, bias=False, name="layer2.0.conv2"),
        batch_norm(24, name="layer2.0.bn2"),
        reading("x", conv(16, 24, 1, stride=2, bias=False, name="layer2.0.downsample.0")),
        batch_norm(24, name="layer2.0.downsample.1"), add("layer2.0.bn2"), relu()]

    tokens = [2, 7, 12]
    yield "linear_tokens", tokens, [linear(12, 10)]
    yield "linear_tokens_gelu", tokens, [linear(12, 33, bias=False), gelu(), linear(33, 5)]
    yield "linear_tokens_residual", tokens, [
        linear(12, 12, name="a"), relu(), linear(12, 12), add("a"), add("input"), relu()]
    yield "linear_tokens_after_flatten", [2, 7, 3, 4], [
        relu(), flatten(2), linear(12, 6), flatten(), linear(42, 4)]

    yield "layer_norm", [3, 10], [layer_norm(10)]
    yield "layer_norm_rank_one", [19], [layer_norm(19, eps=0.01)]
    yield "layer_norm_tokens", tokens, [enlarged(20, linear(12, 700)), layer_norm(700), relu()]
    yield "layer_norm_images", [2, 5, 7, 9], [
        conv(5, 16, 3, name="a"), layer_norm(7), add("a")]

    yield "attention_one_head", [2, 7, 36], [attention(1)]
    yield "attention_heads", [2, 7, 36], [attention(3)]
    yield "attention_more_images_than_heads", [5, 9, 24], [attention(2)]
    yield "attention_one_token", [2, 1, 24], [attention(2)]
    yield "attention_one_feature", [1, 70, 9], [attention(3), gelu()]
    yield "attention_after_linear", [1, 5, 24], [enlarged(3, linear(24, 48)), attention(4)]
    yield "vit_block", [2, 9, 24], [
        layer_norm(24, name="norm1", eps=1e-6), linear(24, 72, name="attn.qkv"), attention(3),
        linear(24, 24, name="attn.proj"), add("input", name="attended"),
        layer_norm(24, name="norm2", eps=1e-6), linear(24, 96, name="mlp.fc1"), gelu(),
        linear(96, 24, name="mlp.fc2"), add("attended")]

    # The first norm becomes a part of the convolution, the second one does not. New cases go last:
    # a case's numbers depend on how many come before it.
    yield "batch_norm_large_eps", image, [
        conv(5, 16, 3), batch_norm(16, eps=0.5), relu(), batch_norm(16, eps=0.25)]

    steep = enlarged(4, conv(5, 16, 3))
    yield "tanh", image, [steep, plain("tanh", nn.Tanh())]
    yield "hardsigmoid", image, [steep, plain("hardsigmoid", nn.Hardsigmoid())]
    yield "hardswish", image, [steep, plain("hardswish", nn.Hardswish())]
    yield "leaky_relu", image, [leaky_relu()]
    yield "leaky_relu_slope", image, [conv(5, 16, 3), leaky_relu(negative_slope=0.2)]

    yield "add_broadcast", image, [adaptive(1), add("input")]
    yield "sub", image, [conv(5, 5, 3, padding=1), sub("input")]
    yield "mul", image, [adaptive([1, 9]), sigmoid("gate"), mul("input")]
    yield "div", image, [adaptive([7, 1]), sigmoid("shares"), reading("input", div("shares"))]

    yield "upsample", image, [upsample(scale_factor=2)]
    yield "upsample_factors", image, [conv(5, 16, 3), upsample(scale_factor=[1.5, 2.25])]
    yield "upsample_size", image, [upsample(size=[11, 4])]
    yield "upsample_bilinear", image, [conv(5, 16, 3), upsample(scale_factor=2, mode="bilinear")]
    yield "upsample_bilinear_factors", image, [upsample(scale_factor=[0.7, 1.3], mode="bilinear")]
    yield "upsample_bilinear_same_size", [1, 2, 3, 3], [
        upsample(scale_factor=[1.3, 2.3], mode="bilinear")]
    yield "upsample_bilinear_size", image, [upsample(size=5, mode="bilinear")]
    yield "upsample_align_corners", image, [
        upsample(size=[13, 1], mode="bilinear", align_corners=True)]
    yield "upsample_align_corners_factor", image, [
        upsample(scale_factor=3, mode="bilinear", align_corners=True)]

    yield "conv_transpose", image, [conv_transpose(5, 7, 3)]
    yield "conv_transpose_twice_the_size", [1, 16, 6, 5], [
        conv_transpose(16, 8, 2, stride=2, bias=False), batch_norm(8), relu()]
    yield "conv_transpose_paddings", image, [
        conv_transpose(5, 6, [3, 4], stride=[2, 3], padding=[1, 2], output_padding=[1, 2])]
    yield "conv_transpose_dilation", image, [
        conv_transpose(5, 6, 3, stride=2, padding=2, dilation=[2, 3], output_padding=[1, 0])]
    yield "conv_transpose_groups", [2, 8, 5, 6], [
        conv_transpose(8, 12, 3, stride=2, groups=4, padding=1), gelu()]

    yield "reshape", image, [reshape([2, -1, 9])]
    yield "permute", image, [conv(5, 7, 3), permute([0, 2, -1, 1])]
    yield "slice", image, [conv(5, 16, 3, name="a"), part(1, end=8, name="first"),
                           reading("a", part(1, 8)), mul("first")]
    yield "slice_ends", image, [part(-1, start=-6, end=-1, step=2)]
    yield "concat", image, [conv(5, 16, 3, padding=1, name="a"), relu("b"),
                            concat(1, ["b", "input", "a"])]
    yield "concat_rows", [3, 4], [linear(4, 4, name="a"), concat(-2, ["input", "a"])]

    yield "squeeze_and_excitation", [2, 16, 7, 7], [
        conv(16, 16, 3, padding=1, name="x"), adaptive(1), conv(16, 4, 1, name="fc1"), relu(),
        conv(4, 16, 1, name="fc2"), plain("hardsigmoid", nn.Hardsigmoid()), mul("x"),
        plain("hardswish", nn.Hardswish())]
    yield "unet", [1, 3, 16, 20], [
        conv(3, 8, 3, padding=1, name="down1"), relu("skip1"), max_pool(2),
        conv(8, 16, 3, padding=1, name="down2"), relu("skip2"), max_pool(2),
        conv(16, 24, 3, padding=1, name="bottom"), relu(),
        conv_transpose(24, 16, 2, stride=2, name="up2"), concat(1, ["skip2", "up2"]),
        conv(32, 16, 3, padding=1, name="conv2"), relu(),
        conv_transpose(16, 8, 2, stride=2, name="up1"), concat(1, ["skip1", "up1"]),
        conv(16, 8, 3, padding=1, name="conv1"), relu(), conv(8, 2, 1, name="head")]
    yield "c2f", [2, 16, 8, 8], [
        conv(16, 32, 1, bias=False, name="cv1.conv"), batch_norm(32, name="cv1.bn"), silu("cv1"),
        part(1, end=16, name="y0"), reading("cv1", part(1, 16, name="y1")),
        conv(16, 16, 3, padding=1, bias=False, name="m.0.cv1.conv"),
        batch_norm(16, name="m.0.cv1.bn"), silu(),
        conv(16, 16, 3, padding=1, bias=False, name="m.0.cv2.conv"),
        batch_norm(16, name="m.0.cv2.bn"), silu(), add("y1", name="m.0"),
        concat(1, ["y0", "y1", "m.0"]),
        conv(48, 24, 1, bias=False, name="cv2.conv"), batch_norm(24, name="cv2.bn"), silu()]

    yield "pyramid", {"c3": [1, 8, 12, 16], "c4": [1, 16, 6, 8], "c5": [1, 32, 3, 4]}, [
        reading("c5", conv(32, 16, 1, name="lateral5")),
        upsample(scale_factor=2, name="up5"), reading("c4", conv(16, 16, 1, name="lateral4")),
        add("up5", name="sum4"), upsample(scale_factor=2, name="up4"),
        reading("c3", conv(8, 16, 1, name="lateral3")), add("up4"),
        conv(16, 16, 3, padding=1, name="p3"),
        reading("sum4", conv(16, 16, 3, padding=1, name="p4")),
        reading("lateral5", conv(16, 16, 3, padding=1, name="p5"))], ["p3", "p4", "p5"]

    # A head of YOLOv8: distances to the sides of boxes as means of distributions, and scores.
    yield "yolo_head", {"p3": [2, 16, 4, 6], "p4": [2, 24, 2, 3]}, [
        reading("p3", conv(16, 16, 3, padding=1, name="cv2.0.0.conv")), silu(),
        conv(16, 64, 1, name="cv2.0.2"),
        reading("p3", conv(16, 16, 3, padding=1, name="cv3.0.0.conv")), silu(),
        conv(16, 5, 1, name="cv3.0.2"), concat(1, ["cv2.0.2", "cv3.0.2"]),
        reshape([2, 69, -1], name="at_p3"),
        reading("p4", conv(24, 16, 3, padding=1, name="cv2.1.0.conv")), silu(),
        conv(16, 64, 1, name="cv2.1.2"),
        reading("p4", conv(24, 16, 3, padding=1, name="cv3.1.0.conv")), silu(),
        conv(16, 5, 1, name="cv3.1.2"), concat(1, ["cv2.1.2", "cv3.1.2"]),
        reshape([2, 69, -1], name="at_p4"), concat(2, ["at_p3", "at_p4"], name="all"),
        part(1, end=64), reshape([2, 4, 16, -1]), permute([0, 2, 1, 3]), softmax(1),
        conv(16, 1, 1, bias=False, name="dfl.conv"), reshape([2, 4, -1], name="distances"),
        reading("all", part(1, start=64)), sigmoid("scores")], ["distances", "scores"]

    yield "zero_pad2d", image, [conv(5, 16, 3), zero_pad(2)]
    yield "zero_pad2d_sides", image, [zero_pad([1, 0, 2, 3])]
    # Inputs far from 0, where exp(x) overflows.
    yield "mish", image, [enlarged(200, conv(5, 16, 3)), plain("mish", nn.Mish())]


def main():
    (HERE / "weights").mkdir(exist_ok=True)
    tensors, listing = {}, ["# Made by make_references.py.\n"]
    for seed, (name, shapes, layers, *outputs) in enumerate(build()):
        torch.manual_seed(seed)
        several = isinstance(shapes, dict)
        inputs = {key: torch.randn(shape)
                  for key, shape in (shapes if several else {"input": shapes}).items()}
        weights = weights_of(layers)
        for _, module, *_ in layers:
            if isinstance(module, nn.Module):
                module.eval()
                module.double()
        with torch.no_grad():
            doubles = {key: x.double() for key, x in inputs.items()}
            results = run(layers, doubles, outputs[0] if outputs else None)
        tensors.update({f"{name}.{key}": x for key, x in inputs.items()})
        tensors.update({f"{name}.{key}": y.float() for key, y in results.items()})
        if weights:
            write_safetensors(HERE / "weights" / f"{name}.safetensors", weights)
        listing.append(f"- name: {name}\n")
        if several:
            listing.append(f"  inputs: {{{', '.join(f'{k}: {s}' for k, s in shapes.items())}}}\n")
        else:
            listing.append(f"  shape: {shapes}\n")
        listing += [f"  outputs: [{', '.join(names)}]\n" for names in outputs]
        listing.append("  layers:\n")
        listing += [f"    - {written}\n" for written, *_ in layers]
    write_safetensors(HERE / "tensors.safetensors", tensors)
    (HERE / "cases.yaml").write_text("".join(listing))
    write_other_types()


def build():
    """The cases, with weights that do not depend on which cases come before."""
    generator = cases()
    seed = 1000
    while True:
        torch.manual_seed(seed)
        case = next(generator, None)
        if case is None:
            return
        for _, module, *_ in case[2]:
            randomise(module)
        seed += 1
        yield case


def write_other_types():
    """One tensor in every type that is converted, with the values it must become."""
    torch.manual_seed(7)
    values = torch.cat([torch.randn(12), torch.tensor([0.0, -0.0, 1e-7, -6e-8, 65504.0, 3e-5])])
    stored = {
        "F16": values.half(),
        "BF16": values.bfloat16(),
        "F32": values,
        "F64": values.double() * (1 + 1e-9),
    }
    for name, tensor in list(stored.items()):
        stored[f"{name}.expected"] = tensor.float()
    write_safetensors(HERE / "types.safetensors", stored)


if __name__ == "__main__":
    main()
