"""Whether frames allocate, and what the memory checker finds."""

import json
import os
import shutil

from .outcome import FAIL, PASS, SHOWN

# What of compute-sanitizer is used, each tool with its own options. Libraries provoke errors of the
# API on purpose, to learn what a driver can do: only what kernels do is counted.
TOOLS = {"memcheck": ["--report-api-errors", "no"], "racecheck": []}


def check_allocations(context):
    """On the host by operator new; on the device and of pinned memory by Graphline's own count."""
    outcome = context.outcome
    for name in ["six_small"] if context.quick else ["six_small", "two_models"]:
        with outcome.or_not_run(f"{name}, operator new"):
            count_new(context, name)
    for name in ["six_small"] if context.quick else ["six_small", "two_models", "camera"]:
        counts = {}
        with outcome.or_not_run(f"{name}, device and pinned"):
            for frames in (1, 2, 12):  # the first may also choose its libraries' plans
                done, result = context.run(context.places.pipelines / f"{name}.yaml",
                                           "--frames", frames, "--warmup", 2)
                if result is None:
                    outcome.add(f"{name}, device and pinned", FAIL, note=done.reason())
                    break
                counts[frames] = result["memory"]["allocations"]
        if len(counts) == 3:
            outcome.judge(f"{name}, device and pinned", abs(counts[12] - counts[2]), 0, "{:.0f}",
                          f"allocations of ten frames more; {counts[2]} before the frames")


def count_new(context, name):
    """What a hundred frames allocate on the host under each timing method."""
    outcome, program = context.outcome, context.places.program("frame_allocations")
    label = f"{name}, operator new"
    if program is None:
        outcome.not_run(label, f"frame_allocations is not in {context.places.root}")
        return
    done = context.runner.run([program, context.places.pipelines / f"{name}.yaml", "--device",
                               context.device], most=60)
    if done.status != 0:
        outcome.add(label, FAIL, note=done.reason())
        return
    counts = json.loads(done.out)["of_100_frames"]
    note = "in 100 frames; " + ", ".join(f"{method} {count}" for method, count in counts.items())
    if context.on_gpu:
        outcome.judge(label, max(counts.values()), 0, "{:.0f}", note)
    else:
        outcome.add(label, SHOWN, str(max(counts.values())), note=f"{note}; oneDNN makes its own")


def check_memory(context):
    """A short run under compute-sanitizer, which slows every kernel down."""
    outcome = context.outcome
    if not context.on_gpu:
        outcome.not_run("compute-sanitizer", "it is for a GPU")
        return
    # On PATH, or where the CUDA toolkit is when PATH does not say.
    folders = context.runner.environment.get("PATH", "") + os.pathsep + "/usr/local/cuda/bin"
    program = shutil.which("compute-sanitizer", path=folders)
    if not program:
        outcome.not_run("compute-sanitizer", "it is neither on PATH nor in /usr/local/cuda/bin")
        return
    # Trying plans out would take most of the time, so slow are kernels here.
    pipeline = context.variant(context.places.pipelines / "two_models.yaml", tune=False)
    for tool, options in TOOLS.items():
        with outcome.or_not_run(tool):
            done = context.runner.run(
                [program, "--tool", tool, *options, "--error-exitcode", 9, context.graphline, "run",
                 pipeline, "--device", context.device, "--frames", 2, "--warmup", 1, "--set",
                 "batch=2", "--set", "side=32"], most=60)
            found = [line for line in done.out.splitlines() if "ERROR SUMMARY" in line]
            outcome.add(tool, PASS if done.status == 0 else FAIL,
                        found[-1].strip("= ") if found else "",
                        note="" if done.status == 0 else done.out[-1500:] + done.err[-500:])
