"""The machine: GPU, driver, clocks and versions."""

import json
import os
import platform
import shutil

from .outcome import FAIL, PASS, SHOWN

ASKED = ("name", "driver_version", "compute_cap", "memory.total", "clocks.sm", "clocks.max.sm",
         "clocks.mem", "clocks.max.mem", "power.limit", "temperature.gpu", "persistence_mode",
         "mig.mode.current", "utilization.gpu")

TINY = ("pipeline: tiny\ninputs: {x: {shape: [1, 4]}}\nstages:\n"
        "  - {name: net, kind: network, reads: x, writes: y, layers: [relu]}\n")
# The device runs without them: cuDNN then has fewer engines, and kernels are not traced.
DISPENSABLE = ("NVRTC", "CUPTI")


def nvidia_smi(context):
    """What nvidia-smi says of each GPU, by question; empty where it is not there."""
    program = shutil.which("nvidia-smi", path=context.runner.environment.get("PATH"))
    if not program:
        return []
    done = context.runner.run([program, "--query-gpu=" + ",".join(ASKED),
                               "--format=csv,noheader"], most=20)
    if done.status != 0:
        return []
    return [dict(zip(ASKED, (cell.strip() for cell in line.split(","))))
            for line in done.out.splitlines() if line.strip()]


def facts_of(text, first_key="fact"):
    """What gpu_probe prints: a line of JSON for each fact, the last of which a crash may have
    cut."""
    found = []
    for line in text.splitlines():
        if line.startswith(f'{{"{first_key}"'):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
    return found


def missing_library(fact):
    """The name of the library that the fact says is missing, with what to install; or None."""
    name = fact["fact"].removesuffix(" is missing")
    return None if name == fact["fact"] else name


def text_of(fact):
    if "text" in fact:
        return f"{fact['fact']}: {fact['text']}"
    return f"{fact['fact']}: {fact['value']:.6g} {fact['unit']}"


def check_libraries(context):
    """That what the device opens when it first needs it is there; else what to install."""
    probe = context.places.program("gpu_probe")
    if probe is None:
        context.outcome.not_run("libraries", context.places.lacks("gpu_probe"))
        return
    done = context.runner.run([probe, "libraries"], most=20)
    if done.status != 0:
        context.outcome.add("libraries", FAIL, note=done.reason())
    for fact in facts_of(done.out):
        name = missing_library(fact)
        if name is None:
            context.outcome.add(fact["fact"], PASS, note=fact["text"])
        else:
            context.outcome.add(name, SHOWN if name in DISPENSABLE else FAIL, "missing",
                                note=fact["text"])


def check_environment(context):
    """None, or why the device is not available."""
    outcome = context.outcome
    version = context.runner.run([context.graphline, "--version"], most=20).out.strip()
    devices = context.runner.run([context.graphline, "devices"], most=30)
    gpus = nvidia_smi(context)
    outcome.data["environment"] = {
        "graphline": version, "devices": devices.out, "gpus": gpus, "system": platform.platform(),
        "python": platform.python_version(), "cores": os.cpu_count(), "seed": context.seed,
        "load": os.getloadavg()[0]}
    tiny = context.name("-tiny.yaml")
    tiny.write_text(TINY, encoding="utf-8")
    done, result = context.run(tiny, "--frames", 1, "--warmup", 0)
    if done.status == 3:
        return " ".join(done.err.split()) or "the device is not available"
    if context.on_gpu:
        check_libraries(context)
    outcome.add("graphline", SHOWN, version.replace("graphline ", ""), note=f"seed {context.seed}")
    for gpu in gpus if context.on_gpu else []:
        outcome.add(gpu["name"], SHOWN, f"driver {gpu['driver_version']}",
                    note=f"SM clock {gpu['clocks.sm']} of {gpu['clocks.max.sm']}, memory "
                         f"{gpu['memory.total']}, MIG {gpu['mig.mode.current']}, used "
                         f"{gpu['utilization.gpu']}, {gpu['temperature.gpu']} C")
    if result is None:
        outcome.add("a first run", FAIL, note=done.reason())
    else:
        details = ", ".join(f"{k} {v}" for k, v in result["device"]["details"].items())
        outcome.add("a first run", PASS, result["device"]["name"], note=details)
    return None
