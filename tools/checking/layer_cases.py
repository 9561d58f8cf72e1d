"""Small stages, one layer or fusion each, as pipelines written here: every layer kind of `network`,
`matmul` and `gemv`, in the shapes that lead libraries to other engines."""

# By group: name, shape of the input, layers; or for `matmul` both shapes and what is transposed,
# for `gemv` both shapes and the method.
CASES = {
    "conv2d": [
        ("plain", "[2, 16, 17, 19]", "[conv2d: {out_channels: 24, kernel: 3}]"),
        ("padded", "[2, 16, 17, 19]", "[conv2d: {out_channels: 24, kernel: 3, padding: 1}]"),
        ("strided", "[2, 16, 17, 19]",
         "[conv2d: {out_channels: 24, kernel: 3, stride: 2, padding: 1}]"),
        ("one_by_one", "[2, 64, 14, 14]", "[conv2d: {out_channels: 32, kernel: 1}]"),
        ("three_channels", "[4, 3, 32, 32]",
         "[conv2d: {out_channels: 64, kernel: 3, stride: 2, padding: 1}, gelu]"),
        ("odd_channels", "[2, 7, 15, 15]", "[conv2d: {out_channels: 13, kernel: 3, padding: 1}]"),
        ("one_channel", "[1, 1, 28, 28]", "[conv2d: {out_channels: 8, kernel: 5}]"),
        ("wide_kernel", "[2, 16, 24, 24]",
         "[conv2d: {out_channels: 16, kernel: [7, 5], stride: [2, 1], padding: [3, 2]}]")],
    "conv2d, grouped": [
        ("groups", "[2, 32, 16, 16]", "[conv2d: {out_channels: 48, kernel: 3, groups: 4}]"),
        ("depthwise", "[2, 32, 16, 16]",
         "[conv2d: {out_channels: 32, kernel: 3, padding: 1, groups: 32}]"),
        ("dilated", "[2, 16, 20, 20]",
         "[conv2d: {out_channels: 16, kernel: 3, padding: 2, dilation: 2}]"),
        ("no_bias", "[2, 16, 16, 16]", "[conv2d: {out_channels: 16, kernel: 3, bias: false}]")],
    "conv2d, fused": [
        ("relu", "[2, 16, 16, 16]", "[conv2d: {out_channels: 32, kernel: 3}, relu]"),
        ("gelu", "[2, 16, 16, 16]", "[conv2d: {out_channels: 32, kernel: 3}, gelu]"),
        ("gelu_tanh", "[2, 16, 16, 16]",
         "[conv2d: {out_channels: 32, kernel: 3}, gelu: {approximate: tanh}]"),
        ("relu6", "[2, 16, 16, 16]", "[conv2d: {out_channels: 32, kernel: 3}, relu6]"),
        ("silu", "[2, 16, 16, 16]", "[conv2d: {out_channels: 32, kernel: 3}, silu]"),
        ("sigmoid", "[2, 16, 16, 16]", "[conv2d: {out_channels: 32, kernel: 3}, sigmoid]"),
        ("norm_relu", "[2, 16, 16, 16]",
         "[conv2d: {out_channels: 32, kernel: 3, bias: false}, batch_norm2d, relu]"),
        ("residual", "[2, 16, 16, 16]",
         "[conv2d: {out_channels: 16, kernel: 3, padding: 1}, add: {from: input}, relu]"),
        ("projection", "[2, 16, 17, 17]",
         "[conv2d: {out_channels: 24, kernel: 3, stride: 2, padding: 1, bias: false}, "
         "batch_norm2d: {name: main}, conv2d: {out_channels: 24, kernel: 1, stride: 2, "
         "bias: false, reads: input}, batch_norm2d, add: {from: main}, relu]")],
    "linear": [
        ("plain", "[4, 96]", "[linear: {out_features: 64}]"),
        ("odd", "[3, 37]", "[linear: {out_features: 11}]"),
        ("one_output", "[32, 512]", "[linear: {out_features: 1}]"),
        ("one_row", "[1, 256]", "[linear: {out_features: 256}]"),
        ("no_bias", "[4, 64]", "[linear: {out_features: 32, bias: false}]"),
        ("gelu", "[8, 128]", "[linear: {out_features: 128}, gelu]"),
        ("gelu_tanh", "[8, 128]", "[linear: {out_features: 128}, gelu: {approximate: tanh}]"),
        ("relu", "[8, 128]", "[linear: {out_features: 64}, relu, linear: {out_features: 10}]")],
    "transformer": [
        ("tokens", "[2, 50, 96]", "[linear: {out_features: 64}]"),
        ("tokens_residual", "[2, 50, 96]",
         "[linear: {out_features: 96}, gelu, linear: {out_features: 96}, add: {from: input}]"),
        ("layer_norm", "[2, 50, 96]", "[layer_norm]"),
        ("layer_norm_long", "[3, 1000]", "[layer_norm: {eps: 1e-6}]"),
        ("one_image", "[1, 50, 288]", "[scaled_dot_product_attention: {heads: 3}]"),
        ("few_images", "[3, 50, 576]", "[scaled_dot_product_attention: {heads: 6}]"),
        ("many_images", "[8, 50, 288]", "[scaled_dot_product_attention: {heads: 3}]"),
        ("odd_heads", "[2, 17, 45]", "[scaled_dot_product_attention: {heads: 3}]"),
        ("block", "[2, 50, 96]",
         "[layer_norm, linear: {out_features: 288}, scaled_dot_product_attention: {heads: 3}, "
         "linear: {out_features: 96}, add: {from: input, name: attended}, layer_norm, "
         "linear: {out_features: 192}, gelu, linear: {out_features: 96}, add: {from: attended}]")],
    "pools": [
        ("max", "[2, 8, 16, 16]", "[max_pool2d: {kernel: 2}]"),
        ("max_padded", "[2, 8, 17, 15]", "[max_pool2d: {kernel: 3, stride: 2, padding: 1}]"),
        ("max_dilated", "[2, 8, 17, 15]", "[max_pool2d: {kernel: 2, stride: 1, dilation: 2}]"),
        ("max_ceil", "[2, 5, 15, 15]", "[max_pool2d: {kernel: 2, ceil_mode: true}]"),
        ("avg", "[2, 8, 16, 16]", "[avg_pool2d: {kernel: 2}]"),
        ("avg_padded", "[2, 8, 17, 15]",
         "[avg_pool2d: {kernel: 3, stride: 2, padding: 1, count_include_pad: false}]"),
        ("adaptive_one", "[2, 24, 13, 11]", "[adaptive_avg_pool2d: {output: 1}]"),
        ("adaptive", "[2, 24, 13, 11]", "[adaptive_avg_pool2d: {output: [3, 5]}]")],
    "elementwise": [
        ("relu", "[2, 8, 9, 9]", "[relu]"),
        ("relu6", "[2, 8, 9, 9]", "[relu6]"),
        ("gelu", "[2, 8, 9, 9]", "[gelu]"),
        ("gelu_tanh", "[2, 8, 9, 9]", "[gelu: {approximate: tanh}]"),
        ("sigmoid", "[2, 8, 9, 9]", "[sigmoid]"),
        ("silu", "[2, 8, 9, 9]", "[silu]"),
        ("add", "[2, 8, 9, 9]", "[relu, add: {from: input}]"),
        ("batch_norm", "[2, 8, 9, 9]", "[batch_norm2d]"),
        ("softmax", "[4, 1000]", "[softmax]"),
        ("softmax_channels", "[2, 8, 9, 9]", "[softmax: {dim: 1}]"),
        ("flatten", "[2, 8, 9, 9]", "[flatten]")],
    "matmul": [
        ("plain", "[48, 32]", "[32, 40]", ""),
        ("batched", "[3, 2, 17, 32]", "[3, 2, 32, 24]", ""),
        ("one_for_all", "[4, 16, 32]", "[32, 8]", ""),
        ("transposed_a", "[32, 48]", "[32, 40]", "a"),
        ("transposed_b", "[5, 48, 32]", "[5, 40, 32]", "b"),
        ("vector", "[6, 1, 64]", "[6, 64, 1]", "")],
    "gemv": [
        ("library", "[60, 20, 8, 1, 64]", "[60, 1, 8, 64, 1]", "library"),
        ("fused", "[60, 20, 8, 1, 64]", "[60, 1, 8, 64, 1]", "fused"),
        ("fused_long", "[3, 7, 5000]", "[3, 5000, 1]", "fused"),
        ("fused_odd", "[30, 9, 13]", "[30, 13, 1]", "fused"),
        ("fused_one_matrix", "[1, 17, 100]", "[50, 100, 1]", "fused"),
        ("fused_one_vector", "[40, 33, 64]", "[64, 1]", "fused")],
}


def kind_of(group):
    """The kind of stage that the cases of a group are of."""
    return group if group in ("matmul", "gemv") else "network"


def pipeline_text(kind, cases, more=""):
    """A pipeline with a stage of a kind for each case, of inputs of its own; `more` are lines of
    further parameters."""
    inputs, stages = [], []
    for name, *shapes, what in cases:
        reads = [f"{name}_{letter}" for letter in "ab"[:len(shapes)]]
        inputs += [f"  {tensor}: {{shape: {shape}}}" for tensor, shape in zip(reads, shapes)]
        line = {"network": f"    layers: {what}", "gemv": f"    method: {what}",
                "matmul": f"    transpose_{what}: true" if what else ""}[kind]
        stages.append(f"  - name: {name}\n    kind: {kind}\n    reads: [{', '.join(reads)}]\n"
                      f"    writes: {name}_y\n{more}{line}")
    return "\n".join(["pipeline: layers", "inputs:", *inputs, "stages:", *stages,
                      "run: {frames: 1, warmup: 1, timing: none}", ""])
