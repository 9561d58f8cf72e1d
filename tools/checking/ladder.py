"""Common problems of a new machine, in the order in which they occur. Each rung is a separate
process with a limit and a log, so a hang or crash loses no other result."""

import json
import re
import shutil
import sys

from .outcome import FAIL, NOT_RUN, PASS

SECONDS = 300
# The rungs before every other check.
FIRST = ("devices", "nvidia-smi", "probe libraries", "relu alone")
ASKED = ("name,driver_version,compute_cap,memory.total,clocks.sm,clocks.max.sm,clocks.mem,"
         "clocks.max.mem,power.limit,temperature.gpu,persistence_mode,mig.mode.current,"
         "utilization.gpu")
# Probes of gpu_probe; each takes a few seconds.
PROBES = ("ticks", "drift", "record_nodes", "negative_times", "disturbed_capture", "host_functions",
          "callback_stack")
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


def run_of(context, pipeline, graphs="stage", timing="event"):
    return [context.graphline, "run", pipeline, "--device", context.device, "--frames", 3,
            "--warmup", 1, "--graphs", graphs, "--timing", timing]


def tiny(context):
    path = context.name("-tiny.yaml")
    path.write_text(TINY, encoding="utf-8")
    return path


def rungs(context):
    """Name, seconds and command of each rung, or instead of a command why it cannot run."""
    def asked(program, missing, *words):
        return ("it is for a GPU" if not context.on_gpu else
                [program, *words] if program else missing)

    yield "devices", 10, [context.graphline, "devices"]
    yield "nvidia-smi", 10, asked(shutil.which("nvidia-smi"), "it is not on PATH",
                                  f"--query-gpu={ASKED}", "--format=csv")
    for name in ("libraries", *PROBES):
        yield f"probe {name}", 20 if name == "libraries" else 7, asked(
            context.places.program("gpu_probe"), context.places.lacks("gpu_probe"), name)
    for name, settings in RUNS.items():
        yield name, 12, run_of(context, tiny(context), *settings)
    # Tuning would take most of the time.
    two_models = run_of(context, context.two_models("tune: off"))
    yield "two_models", 20, two_models
    sanitizer = shutil.which("compute-sanitizer") or shutil.which(
        "compute-sanitizer", path="/usr/local/cuda/bin")
    for tool, options in SANITIZER.items():
        yield tool, 60, asked(sanitizer, "no compute-sanitizer on PATH or in /usr/local/cuda/bin",
                              "--tool", tool, *options, "--error-exitcode", 9, *two_models,
                              "--set", "batch=2", "--set", "side=32")


def climb(context, names=None):
    """All rungs, or those of these names."""
    folder = context.name("-ladder")
    folder.mkdir()
    print(f"the log of each rung is in {folder}", file=sys.stderr, flush=True)
    for number, (name, seconds, words) in enumerate(rungs(context), 1):
        if names and name not in names:
            continue
        if isinstance(words, str):
            context.outcome.not_run(name, words)
        else:
            rung(context, name, seconds, words,
                 folder / f"{number:02}-{name.replace(' ', '_')}.log")


def rung(context, name, seconds, words, log):
    done = context.runner.run(words, seconds, log=log)
    # Output before a crash or hang counts.
    context.outcome.data[name] = facts = facts_of(done.out, "fact")
    missing = {fact["fact"] for fact in facts if fact["fact"].endswith(" is missing")}
    notes = [text_of(fact)[:None if fact["fact"] in missing else SHOWN_CHARACTERS]
             for fact in facts]
    good = done.status == 0 and missing <= DISPENSABLE
    if done.status != 0:
        notes.insert(0, done.reason())
    elif name in FIRST[:2]:
        context.outcome.data[name], notes = done.out, [done.out]
        good = name != "devices" or has_device(done.out, context.device)
    context.outcome.add(name, PASS if good else NOT_RUN if done.status is None else FAIL,
                        note="\n".join(notes))


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
