"""Whether frames allocate, and what the memory checker finds."""

import json
import os
import shutil

from .outcome import FAIL, PASS, SHOWN

# What of compute-sanitizer is used, each tool with its own options. Libraries provoke errors of the
# API on purpose, to learn what a driver can do: only what kernels do is counted.
TOOLS = {"memcheck": ["--report-api-errors", "no"], "racecheck": []}
NO_SANITIZER = "there is no compute-sanitizer on PATH or in /usr/local/cuda/bin"


def sanitizer(context):
    """compute-sanitizer, or None: on PATH, or where the CUDA toolkit is when PATH does not say."""
    folders = context.runner.environment.get("PATH", "") + os.pathsep + "/usr/local/cuda/bin"
    return shutil.which("compute-sanitizer", path=folders)


def under(program, tool, words):
    """A command under a tool of compute-sanitizer, with status 9 where that finds something."""
    return [program, "--tool", tool, *TOOLS[tool], "--error-exitcode", 9, *words]


def check_allocations(context):
    """On the host by operator new, in tests and in pipelines; on the device and of pinned memory by
    Graphline's own count."""
    outcome = context.outcome
    program = context.places.program("run_allocation_test")
    if program is None:
        outcome.not_run("operator new, on host", f"run_allocation_test is not in "
                                                 f"{context.places.root}")
    else:
        with outcome.or_not_run("operator new, on host"):
            done = context.runner.run([program, "--gtest_filter=frame_loop.*"], most=60)
            outcome.add("operator new, on host", PASS if done.status == 0 else FAIL,
                        bound="0 a frame", note="" if done.status == 0 else done.out[-1000:])
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
    program = sanitizer(context)
    if not program:
        outcome.not_run("compute-sanitizer", NO_SANITIZER)
        return
    for name, words in (("six_small", []), ("two_models", ["--set", "batch=2", "--set",
                                                             "side=32"])):
        with outcome.or_not_run(f"{name}, memcheck"):
            # Trying plans out would take most of the time, so slow are kernels here.
            pipeline = context.variant(context.places.pipelines / f"{name}.yaml", tune=False)
            done = context.runner.run(
                under(program, "memcheck", [
                    context.graphline, "run", pipeline, "--device", context.device, "--frames", 2,
                    "--warmup", 1, *words]), most=60)
            found = [line for line in done.out.splitlines() if "ERROR SUMMARY" in line]
            outcome.add(f"{name}, memcheck", PASS if done.status == 0 else FAIL,
                        found[-1].strip("= ") if found else "",
                        note="" if done.status == 0 else done.out[-1500:] + done.err[-500:])
