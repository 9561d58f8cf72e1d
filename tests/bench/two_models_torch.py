"""pipelines/two_models.yaml in PyTorch: eager, as CUDA graphs and compiled, on the tensors that
`graphline run --save-tensors` wrote. Every mode's score is compared with Graphline's.

Prints a JSON object a line, as soon as it is known, so that nothing is lost when it is stopped:
what it runs on, how each mode was set up, then the end-to-end times of each block of frames.
"""

import argparse
import ast
import json
import math
import pathlib
import signal
import struct
import sys
import time

import numpy
import torch

DTYPES = {"float32": torch.float32, "tf32": torch.float32, "float16": torch.float16,
          "bfloat16": torch.bfloat16}
# Modes by name: compiler mode, whether as CUDA graphs, whether channels last.
MODES = {"eager": (None, False, False),
         "eager, channels last": (None, False, True),
         "graphs": (None, True, False),
         "graphs, channels last": (None, True, True),
         "compiled, reduce-overhead": ("reduce-overhead", False, True),
         "compiled, max-autotune": ("max-autotune", False, True)}


def tell(**what):
    print(json.dumps(what), flush=True)


def read_tensor(folder, name):
    raw = pathlib.Path(folder, name + ".npy").read_bytes()
    (length,) = struct.unpack("<H", raw[8:10])
    header = ast.literal_eval(raw[10:10 + length].decode("latin-1"))
    if header["descr"] != "<f4":
        sys.exit(f"error: {folder}/{name}.npy holds {header['descr']}, where float32 was expected")
    return torch.frombuffer(bytearray(raw[10 + length:]), dtype=torch.float32).reshape(
        header["shape"])


def sequence(folder, stage, layers):
    """A torch.nn.Sequential whose learned layers have the stage's weights."""
    for index, layer in enumerate(layers):
        for name, parameter in layer.named_parameters():
            parameter.data = read_tensor(folder, f"weight.{stage}.{index}.{name}")
    return torch.nn.Sequential(*layers).eval().requires_grad_(False)


def networks(folder):
    """Both networks in float32, with sizes from the weights; values follow."""
    nn = torch.nn
    first = read_tensor(folder, "weight.backbone.0.weight").shape
    second = read_tensor(folder, "weight.backbone.2.weight").shape
    wide = read_tensor(folder, "weight.head.2.weight").shape
    narrow = read_tensor(folder, "weight.head.4.weight").shape
    conv = {"kernel_size": 3, "stride": 2, "padding": 1}
    backbone = sequence(folder, "backbone", [
        nn.Conv2d(first[1], first[0], **conv), nn.GELU(),
        nn.Conv2d(second[1], second[0], **conv), nn.GELU()])
    head = sequence(folder, "head", [
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(wide[1], wide[0]), nn.GELU(),
        nn.Linear(narrow[1], narrow[0]), nn.GELU(), nn.Linear(narrow[0], 1)])
    return backbone, head


class Converted(torch.nn.Module):
    """Converts a float32 image to the precision, as every frame of the pipeline does."""

    def __init__(self, network, dtype, channels_last):
        super().__init__()
        self.network, self.dtype = network, dtype
        self.layout = torch.channels_last if channels_last else torch.contiguous_format

    def forward(self, image):
        return self.network(image.to(dtype=self.dtype, memory_format=self.layout))


class Mode:
    """A way to run the two networks; `backbone` and `head` enqueue them."""

    def __init__(self, name, options):
        compiled, graphs, channels_last = MODES[name]
        self.name = name
        dtype = DTYPES[options.precision]
        backbone, head = networks(options.tensors)
        if channels_last:
            backbone = backbone.to(memory_format=torch.channels_last)
        backbone = Converted(backbone.to(options.device, dtype), dtype, channels_last)
        head = head.to(options.device, dtype)
        self.image = read_tensor(options.tensors, "input.image").to(options.device)
        self.compiled = compiled is not None
        if compiled:
            # Otherwise each frame copies it to the input of the compiler's graph.
            torch._dynamo.mark_static_address(self.image)
            backbone = torch.compile(backbone, mode=compiled, fullgraph=True)
            head = torch.compile(head, mode=compiled, fullgraph=True)
        self.backbone, self.head = (lambda: backbone(self.image)), head
        for _ in range(3):
            features = self.start()
            self.score = self.head(features)
        synchronize(options)
        if graphs:
            self.capture()

    def start(self):
        if self.compiled and torch.cuda.is_available():
            torch.compiler.cudagraph_mark_step_begin()
        return self.backbone()

    def capture(self):
        eager_backbone, eager_head = self.backbone, self.head
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(first):
            features = eager_backbone()
        with torch.cuda.graph(second):
            score = eager_head(features)

        def replay_head(_):
            second.replay()
            return score

        # Kept alive: the graphs read and write these tensors.
        self.kept = (features, score)
        self.backbone, self.head = first.replay, replay_head


def synchronize(options):
    if options.device != "cpu":
        torch.cuda.synchronize()


def normal_numbers():
    return numpy.random.normal(size=(1, 3, 512, 512)).astype(numpy.float32) * 32


def block(mode, options):
    """End-to-end milliseconds of each frame after the warm-up, and the last score."""
    times = []
    for frame in range(options.warmup + options.frames):
        begin = time.perf_counter_ns()
        features = mode.start()
        normal_numbers()
        score = mode.head(features)
        synchronize(options)
        end = time.perf_counter_ns()
        if frame >= options.warmup:
            times.append((end - begin) * 1e-6)
    return times, score


def relative_error(score, expected):
    difference = torch.linalg.vector_norm(score.double().cpu() - expected.double())
    error = float(difference / torch.linalg.vector_norm(expected.double()))
    return error if math.isfinite(error) else None


def set_up(name, options, expected):
    """The mode, or None after printing why it is unavailable."""
    if MODES[name][0] and not hasattr(torch, "compile"):
        tell(mode=name, unavailable=f"PyTorch {torch.__version__} has no torch.compile")
        return None
    if MODES[name][1] and options.device == "cpu":
        tell(mode=name, unavailable="CUDA graphs need a GPU")
        return None

    def too_late(*_):
        raise TimeoutError(f"not ready after {options.limit} s")

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(options.limit)
    started = time.monotonic()
    try:
        mode = Mode(name, options)
        _, score = block(mode, options)
        error = relative_error(score, expected)
    except Exception as reason:  # any error of a compiler: other modes continue
        # The first line of a compiler's error may have no reason.
        lines = [line.strip() for line in str(reason).splitlines() if line.strip()]
        tell(mode=name, unavailable=f"{type(reason).__name__}: {' '.join(lines[:2])}"[:300])
        return None
    finally:
        signal.alarm(0)
    tell(mode=name, error=error, setup_seconds=round(time.monotonic() - started, 2))
    return mode


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tensors", required=True,
                        help="folder that graphline run --save-tensors wrote")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--precision", default="float32", choices=DTYPES)
    parser.add_argument("--frames", type=int, default=25, help="of a block")
    parser.add_argument("--warmup", type=int, default=5, help="frames before each block")
    parser.add_argument("--rounds", type=int, default=5, help="blocks of each mode, in turns")
    parser.add_argument("--limit", type=int, default=60, help="seconds to set a mode up in")
    return parser.parse_args()


def main():
    options = arguments()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("error: PyTorch finds no GPU; --device cpu runs without one", file=sys.stderr)
        return 3
    if options.device == "cpu" and options.precision in ("float16", "tf32"):
        print(f"error: {options.precision} needs --device cuda", file=sys.stderr)
        return 2
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    expected = read_tensor(options.tensors, "output.score")
    tell(torch=torch.__version__, cudnn=torch.backends.cudnn.version(), precision=options.precision,
         device=options.device, batch=read_tensor(options.tensors, "input.image").shape[0])
    with torch.no_grad():
        modes = [mode for mode in (set_up(name, options, expected) for name in MODES) if mode]
        for number in range(options.rounds):
            first = number % max(len(modes), 1)
            for mode in modes[first:] + modes[:first]:
                times, _ = block(mode, options)
                tell(mode=mode.name, round=number, ms=times)
    return 0


if __name__ == "__main__":
    sys.exit(main())
