"""What a new machine may stumble over, in the order in which it would: each rung a process of its
own with a limit and a log, so that one that hangs or crashes costs no other's result."""

import json
import re

from .environment import DISPENSABLE, TINY, facts_of, missing_library, text_of
from .memory import NO_SANITIZER, TOOLS, sanitizer, under
from .outcome import FAIL, PASS
from .processes import OutOfTime

SECONDS = 300
# Each takes a second or a few; those that load cuDNN read a gigabyte the first time.
PROBES = ("ticks", "drift", "record_nodes", "negative_times", "unjoined_capture",
          "disturbed_capture", "node_parameters", "library_nodes", "host_functions",
          "callback_stack", "waits", "launches", "event_nodes", "priorities", "properties")
PROBE_SECONDS = 7
LOADING = {"library_nodes": 15, "properties": 15}
# One thing more at a time than the first run, which has neither graphs nor events.
RUNS = (("relu alone", ["off", "none"]), ("timing event", ["off", "event"]),
        ("graphs stage", ["stage", "event"]), ("timing layers", ["stage", "layers"]),
        ("graphs frame", ["frame", "event"]))
RUN_SECONDS = 12
SANITIZED_SECONDS = 30
SHOWN_CHARACTERS = 400  # of a fact, in the table; the log has all of it
FEW = ["--frames", 3, "--warmup", 1]
SMALL = ["--set", "batch=2", "--set", "side=32"]  # of two_models
NO_GPU = "it is for a GPU"


def rungs(context):
    """Each with its name, its seconds and its words; instead of words, text: why it is not run."""
    yield "devices", 10, [context.graphline, "devices"]
    yield "libraries", 20, of_probe(context, "libraries")
    for name in PROBES:
        yield f"probe {name}", LOADING.get(name, PROBE_SECONDS), of_probe(context, name)

    def run(pipeline, *words):
        return [context.graphline, "run", pipeline, "--device", context.device, *FEW, *words]

    tiny = context.name("-tiny.yaml")
    tiny.write_text(TINY, encoding="utf-8")
    for name, (graphs, timing) in RUNS:
        yield name, RUN_SECONDS, run(tiny, "--graphs", graphs, "--timing", timing)
    two_models = context.variant(context.places.pipelines / "two_models.yaml", tune=False)
    yield "two_models", 20, run(two_models)
    for tool in TOOLS:
        yield tool, SANITIZED_SECONDS, of_sanitizer(context, tool, run(two_models, *SMALL))


def of_probe(context, name):
    if not context.on_gpu:
        return NO_GPU
    program = context.places.program("gpu_probe")
    return [program, name] if program else context.places.lacks("gpu_probe")


def of_sanitizer(context, tool, words):
    if not context.on_gpu:
        return NO_GPU
    program = sanitizer(context)
    return under(program, tool, words) if program else NO_SANITIZER


def climb(context):
    folder = context.name("-ladder")
    folder.mkdir()
    context.say(f"ladder: the log of each rung is in {folder}")
    for number, (name, seconds, words) in enumerate(rungs(context), 1):
        log = folder / f"{number:02}-{name.replace(' ', '_')}.log"
        row = rung(context, name, seconds, words, log)
        context.say(f"{name:24}{row['status']:8} {' '.join(row['note'].split())[:60]}")
        with open(folder / "rows.jsonl", "a", encoding="utf-8") as rows:
            rows.write(json.dumps(row) + "\n")


def rung(context, name, seconds, words, log):
    """Its row."""
    outcome = context.outcome
    if isinstance(words, str):
        outcome.not_run(name, words)
        return outcome.rows[-1]
    try:
        done, ended = context.runner.run(words, seconds, log=log), ""
        if done.status != 0:
            ended = done.reason()
    except OutOfTime as late:
        done, ended = None, str(late)
    # However it ended, what it had told stays.
    facts = facts_of(log.read_text(encoding="utf-8", errors="replace")) if log.exists() else []
    if facts:
        outcome.data.setdefault("probe", {})[name.removeprefix("probe ")] = facts
    missing = {missing_library(fact) for fact in facts} - {None}
    notes = [ended] * bool(ended) + [text_of(fact) if missing_library(fact) else
                                     text_of(fact)[:SHOWN_CHARACTERS] for fact in facts]
    good = done and done.status == 0 and missing <= set(DISPENSABLE)
    if done and name == "devices":
        notes = [done.out]
        good = good and has_device(done.out, context.device)
    if done is None:
        outcome.not_run(name, "\n".join(notes))
    else:
        outcome.add(name, PASS if good else FAIL, note="\n".join(notes))
    return outcome.rows[-1]


def has_device(listed, name):
    """Whether `graphline devices` lists one of that name; where there is none it says so."""
    return re.search(rf"^{name}(:\d+)? +(?!none:)\S", listed, re.MULTILINE) is not None
