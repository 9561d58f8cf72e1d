"""What a new machine may stumble over, in the order in which it would: each rung a process of its
own with a limit and a log, so that one that hangs or crashes costs no other's result."""

import json
import re

from .environment import DISPENSABLE, TINY, facts_of, missing_library, text_of
from .outcome import FAIL, PASS
from .processes import OutOfTime

SECONDS = 300
# What is asked of the GPU itself; each takes a second or a few.
PROBES = ("ticks", "drift", "record_nodes", "negative_times", "disturbed_capture", "host_functions",
          "callback_stack")
# One thing more at a time than the first run, which has neither graphs nor events.
RUNS = (("relu alone", ["off", "none"]), ("timing event", ["off", "event"]),
        ("graphs stage", ["stage", "event"]), ("timing layers", ["stage", "layers"]),
        ("graphs frame", ["frame", "event"]))
SHOWN_CHARACTERS = 400  # of a fact, in the table; the log has all of it


def rungs(context):
    """Each with its name, its seconds and its words; instead of words, text: why it is not run."""
    probe = context.places.program("gpu_probe")
    yield "devices", 10, [context.graphline, "devices"]
    for name in ("libraries", *PROBES):
        words = ("it is for a GPU" if not context.on_gpu else
                 [probe, name] if probe else context.places.lacks("gpu_probe"))
        yield f"probe {name}", 20 if name == "libraries" else 7, words

    def run(pipeline, *words):
        return [context.graphline, "run", pipeline, "--device", context.device, "--frames", 3,
                "--warmup", 1, *words]

    tiny = context.name("-tiny.yaml")
    tiny.write_text(TINY, encoding="utf-8")
    for name, (graphs, timing) in RUNS:
        yield name, 12, run(tiny, "--graphs", graphs, "--timing", timing)
    two_models = context.variant(context.places.pipelines / "two_models.yaml", tune=False)
    yield "two_models", 20, run(two_models)


def climb(context):
    folder = context.name("-ladder")
    folder.mkdir()
    context.say(f"ladder: the log of each rung is in {folder}")
    for number, (name, seconds, words) in enumerate(rungs(context), 1):
        log = folder / f"{number:02}-{name.replace(' ', '_')}.log"
        if isinstance(words, str):
            context.outcome.not_run(name, words)
        else:
            rung(context, name, seconds, words, log)
        row = context.outcome.rows[-1]
        context.say(f"{name:24}{row['status']:8} {' '.join(row['note'].split())[:60]}")
        with open(folder / "rows.jsonl", "a", encoding="utf-8") as rows:
            rows.write(json.dumps(row) + "\n")


def rung(context, name, seconds, words, log):
    outcome, ended, done = context.outcome, "", None
    try:
        done = context.runner.run(words, seconds, log=log)
        if done.status != 0:
            ended = done.reason()
    except OutOfTime as late:
        ended = str(late)
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


def has_device(listed, name):
    """Whether `graphline devices` lists one of that name; where there is none it says so."""
    return re.search(rf"^{name}(:\d+)? +(?!none:)\S", listed, re.MULTILINE) is not None
