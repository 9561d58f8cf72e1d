"""two_models beside PyTorch, which takes turns with it in a process of its own."""

import json
import shutil
import subprocess
import sys
import threading
import time

from . import statistics, two_models
from .context import TOLERANCES
from .outcome import SHOWN
from .processes import OutOfTime

EAGER_BOUND = 1.2  # eager PyTorch's time over Graphline's, at least


def python_with_torch(context):
    """A Python that has PyTorch, and why there is none."""
    for program in dict.fromkeys([sys.executable, shutil.which("python3"), shutil.which("python"),
                                  "/usr/bin/python3"]):
        if program:
            done = context.runner.run([program, "-c", "import torch; print(torch.__version__)"],
                                      most=60)
            if done.status == 0:
                return program
    return None


class Lines:
    """The lines of JSON of a program, as they come."""

    def __init__(self, context, words):
        self._runner = context.runner
        self.process = context.runner.start(words, stdin=subprocess.PIPE)
        self._lines, self._more = [], threading.Condition()
        self._errors = []
        for target in (self._read, self._read_errors):
            threading.Thread(target=target, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self._more:
                try:
                    self._lines.append(json.loads(line))
                except ValueError:
                    continue  # what a compiler prints
                self._more.notify()
        with self._more:
            self._lines.append(None)
            self._more.notify()

    def _read_errors(self):
        for line in self.process.stderr:
            self._errors.append(line)

    def until(self, key, seconds):
        """The objects up to the first that has `key`; stops early at the end or at the limit."""
        found, end = [], time.monotonic() + seconds
        while True:
            with self._more:
                while not self._lines:
                    if not self._more.wait(max(0.0, end - time.monotonic())):
                        return found, "time"
                line = self._lines.pop(0)
            if line is None:
                return found, "ended: " + "".join(self._errors[-5:])
            found.append(line)
            if key in line:
                return found, None

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()
        self._runner.forget(self.process)


def check_torch(context):
    outcome = context.outcome
    script = context.places.scripts / "two_models_torch.py"
    if context.quick:
        outcome.not_run("against PyTorch", "--quick")
        return
    python = python_with_torch(context)
    if python is None:
        outcome.not_run("against PyTorch", "no Python with PyTorch was found")
        return
    wanted = two_models.precisions(context)
    for position, precision in enumerate(wanted):
        # Compiling takes most of it, for how long is not known: each may have half of what is left.
        left = context.runner.budget.left()
        share = left if position == len(wanted) - 1 else left / 2
        try:
            torch_beside(context, python, script, precision, share)
        except OutOfTime:
            outcome.not_run(f"{precision}, against PyTorch", "time")


def torch_beside(context, python, script, precision, seconds):
    """Rounds of PyTorch's modes and of Graphline in turns, until they are enough or the time is
    up."""
    outcome, end = context.outcome, time.monotonic() + seconds
    tensors = two_models.tensors_of(context, precision)
    if isinstance(tensors, str) or seconds < 20:
        outcome.not_run(f"{precision}, against PyTorch", tensors if seconds >= 20 else "time")
        return
    pipelines = {work: two_models.variant(context, precision, work) for work in (True, False)}
    frames = ["--frames", 15, "--warmup", 5]
    lines = Lines(context, [python, script, "--tensors", tensors, "--precision", precision,
                            "--device", "cuda" if context.on_gpu else "cpu", "--step",
                            "--limit", max(15, int(seconds * 0.4)), *frames])
    data = {"graphline": {True: [], False: []}, "torch": []}
    try:
        told, trouble = lines.until("ready", seconds * 0.75)
        while not trouble and len(data["graphline"][True]) < 7 and time.monotonic() < end - 10:
            for cpu_work, variant in pipelines.items():
                done, result = context.run(variant, *frames, "--timing", "none")
                if result is None:
                    trouble = done.reason()
                    break
                data["graphline"][cpu_work].append(result["end_to_end"]["samples"])
            lines.ask()
            more, late = lines.until("round_done", max(1.0, end - time.monotonic()))
            trouble = trouble or late
            data["torch"] += more
    finally:
        lines.end()
    data["setup"] = told
    outcome.data.setdefault("torch", {})[precision] = {
        **data, "graphline": {"with CPU work": data["graphline"][True],
                              "without": data["graphline"][False]}}
    report_torch(context, precision, data, trouble)


def report_torch(context, precision, data, trouble):
    outcome = context.outcome
    for line in data["setup"]:
        if "unavailable" in line:
            outcome.not_run(f"{precision}, torch {line['mode']}", line["unavailable"])
        elif "mode" in line and (line["error"] is None
                                 or line["error"] > 2 * TOLERANCES[precision]):
            outcome.add(f"{precision}, torch {line['mode']}", SHOWN, f"{line['error']}",
                        note="its score differs from Graphline's; it is left out")
    wrong = {line["mode"] for line in data["setup"] if "mode" in line and
             (line.get("error") is None or line["error"] > 2 * TOLERANCES[precision])}
    for cpu_work, words in ((True, "end to end"), (False, "the networks alone")):
        blocks = {}
        for line in data["torch"]:
            if line.get("cpu_work") is cpu_work and line["mode"] not in wrong:
                blocks.setdefault(line["mode"], []).append(line["ms"])
        ours = data["graphline"][cpu_work]
        if not ours or not blocks:
            outcome.not_run(f"{precision}, {words}", trouble or "nothing to compare with")
            continue
        report_blocks(context, f"{precision}, {words}", ours, blocks)


def report_blocks(context, label, ours, blocks):
    outcome = context.outcome
    medians = {mode: statistics.median([statistics.median(ms) for ms in rounds])
               for mode, rounds in blocks.items()}
    mine = statistics.median([statistics.median(ms) for ms in ours])
    note = f"Graphline {mine:.3f} ms; " + ", ".join(f"{m} {v:.3f}" for m, v in medians.items())
    best = min(medians, key=medians.get)
    for name, mode, bound in ((f"{label}, eager", "eager", 1 / EAGER_BOUND),
                              (f"{label}, torch's best", best, 1.0)):
        if mode not in blocks:
            outcome.not_run(name, "this mode was not had")
            continue
        ratios = statistics.block_ratios(ours, blocks[mode])
        value = statistics.median(ratios)
        if context.on_gpu:
            outcome.judge(name, value, bound, "{:.3f} x", note)
        else:
            outcome.add(name, SHOWN, f"{value:.3f} x", note=note)
        note = mode
