"""The environment, and common problems of a new machine in the order in which they occur. Each rung
is a separate process with a limit, so a hang or crash loses no other result."""

import json
import os
import pathlib
import re
import shutil
import sys
import time

from .context import NoDevice
from .outcome import FAIL, NOT_RUN, PASS, SHOWN

# Folders of libraries, and those whose first use reads up to hundreds of megabytes.
SYSTEM = ("/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64",
          "/usr/lib/x86_64-linux-gnu")
LIBRARIES = re.compile(r"lib(cudnn|cublas|nvrtc|nvJitLink|cupti)\w*\.so[.\d]*")
ASKED = ("name,driver_version,compute_cap,memory.total,clocks.sm,clocks.max.sm,clocks.mem,"
         "clocks.max.mem,power.limit,temperature.gpu,persistence_mode,mig.mode.current,"
         "utilization.gpu")
# Probes of gpu_probe; each takes a few seconds.
PROBES = ("ticks", "drift", "record_nodes", "negative_times", "disturbed_capture", "host_functions",
          "callback_stack", "switches")
TINY = ("pipeline: tiny\ninputs: {x: {shape: [1, 4]}}\nstages:\n"
        "  - {name: net, kind: network, reads: x, writes: y, layers: [relu]}\n")
# Each adds one feature; the first has neither graphs nor events.
RUNS = {"relu alone": ("off", "none"), "timing event": ("off", "event"),
        "graphs stage": ("stage", "event"), "timing layers": ("stage", "layers"),
        "graphs frame": ("frame", "event")}
# Tools of compute-sanitizer. API errors do not count: libraries provoke them to probe the driver.
SANITIZER = {"memcheck": ["--report-api-errors", "no"], "racecheck": []}
# Optional: without them, cuDNN has fewer engines and kernels are not traced.
DISPENSABLE = {"NVRTC is missing", "CUPTI is missing"}
SHOWN_CHARACTERS = 400  # of a fact, in the table; the log has all of it
# Most seconds of a rung: first contact with a GPU takes far longer than later ones.
SECONDS, LONGER = 30, 60


def check_environment(context):
    """The device, the driver and the libraries. Raises NoDevice."""
    listed = rung(context, "devices", [context.graphline, "devices"], LONGER)
    if listed.status == 0 and not has_device(listed.out, context.device):
        raise NoDevice(why_none(listed.out, context.device))
    if not context.on_gpu:
        return
    read_libraries(context)
    smi = shutil.which("nvidia-smi")
    rung(context, "nvidia-smi", [smi, f"--query-gpu={ASKED}", "--format=csv"] if smi else
         "it is not on PATH", SECONDS)
    probe(context, "libraries", LONGER)


def climb(context):
    """One more feature on each rung."""
    for name in PROBES if context.on_gpu else ():
        probe(context, name, SECONDS)
    for name, settings in RUNS.items():
        rung(context, name, run_of(context, tiny(context), *settings), SECONDS)
    # Tuning would take most of the time.
    rung(context, "two_models", run_of(context, context.pipeline_with("two_models", "tune: off")),
         LONGER)


def check_memory(context):
    """compute-sanitizer on the pipelines whose kept runs failed, or on two_models. Without tuning,
    which would take most of the time."""
    sanitizer = shutil.which("compute-sanitizer") or shutil.which(
        "compute-sanitizer", path="/usr/local/cuda/bin")
    for name in context.outcome.failed_runs() or ["two_models"]:
        pipeline = context.pipeline_with(name, "tune: off")
        words = run_of(context, pipeline) + small(pipeline.read_text(encoding="utf-8"))
        for tool, options in SANITIZER.items():
            rung(context, f"{tool}, {name}",
                 "it is for a GPU" if not context.on_gpu else
                 [sanitizer, "--tool", tool, *options, "--error-exitcode", 9, *words] if sanitizer
                 else "no compute-sanitizer on PATH or in /usr/local/cuda/bin", LONGER)


def small(pipeline):
    """Options that give the parameters of a pipeline their values for `host`."""
    found = re.findall(r"^  (\w+): \{cuda: [^,}]+, host: ([^,}]+)\}", pipeline, re.MULTILINE)
    return [word for name, value in found for word in ("--set", f"{name}={value}")]


def run_of(context, pipeline, graphs="stage", timing="event"):
    return [context.graphline, "run", pipeline, "--device", context.device, "--frames", 3,
            "--warmup", 1, "--graphs", graphs, "--timing", timing]


def tiny(context):
    path = context.name("-tiny.yaml")
    path.write_text(TINY, encoding="utf-8")
    return path


def read_libraries(context):
    """Reads the libraries from a disk that may be slow, so that no check of this step waits for
    it."""
    begin, size = time.monotonic(), 0
    folders = [*os.environ.get("GRAPHLINE_LIBRARY_PATH", "").split(os.pathsep),
               *(os.path.join(path, "nvidia") for path in sys.path if path), *SYSTEM]
    files = {path.resolve() for folder in folders if folder for path in
             pathlib.Path(folder).rglob("lib*.so*") if LIBRARIES.fullmatch(path.name)}
    for path in files:
        try:
            with path.open("rb", buffering=0) as file:
                while count := len(file.read(1 << 24)):
                    size += count
        except OSError:  # such as a link to nothing
            continue
    seconds = time.monotonic() - begin
    context.runner.extend_step(seconds)
    context.outcome.add("read libraries", SHOWN, f"{seconds:.0f} s",
                        note=f"{len(files)} files, {size / 1e6:.3f} MB")


def probe(context, name, seconds):
    program = context.places.program("gpu_probe")
    rung(context, f"probe {name}",
         [program, name] if program else context.places.lacks("gpu_probe"), seconds)


def rung(context, name, words, seconds):
    """Adds a row for a command; `words` may also be the reason why there is none."""
    if isinstance(words, str):
        return context.outcome.not_run(name, words)
    done = context.runner.run(words, seconds, logged=True)
    facts = facts_of(done.out, "fact")  # output before a crash or hang counts
    context.outcome.keep_result(name, facts)
    missing = {fact["fact"] for fact in facts if fact["fact"].endswith(" is missing")}
    notes = [text_of(fact)[:None if fact["fact"] in missing else SHOWN_CHARACTERS]
             for fact in facts]
    if done.status != 0:
        notes.insert(0, done.reason())
    elif name in ("devices", "nvidia-smi"):
        notes = [done.out]
    good = done.status == 0 and missing <= DISPENSABLE
    context.outcome.add(name, PASS if good else NOT_RUN if done.status is None else FAIL,
                        note="\n".join(notes))
    return done


def facts_of(text, first_key):
    """JSON objects that begin with a key, one per line; a crash may have truncated the last."""
    found = []
    for line in text.splitlines():
        try:
            found += [json.loads(line)] if line.startswith(f'{{"{first_key}"') else []
        except ValueError:
            pass
    return found


def text_of(fact):
    return f"{fact['fact']}: " + (
        fact["text"] if "text" in fact else f"{fact['value']:.6g} {fact['unit']}")


def has_device(listed, name):
    """Whether `graphline devices` lists a device of that name, and not why there is none."""
    return re.search(rf"^{name}(:\d+)? +(?!none:)\S", listed, re.MULTILINE) is not None


def why_none(listed, name):
    found = re.search(rf"^{name}(:\d+)? +none: *(.*(?:\n +.*)*)", listed, re.MULTILINE)
    reason = " ".join(found[2].split()) if found else "graphline devices does not list it"
    return f"no device '{name}': {reason}"
