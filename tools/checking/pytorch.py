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
ROUNDS = 5
# The modes of tests/bench/two_models_torch.py.
PLAIN = ["eager", "eager, channels last", "graphs", "graphs, channels last"]
COMPILED = ["compiled, reduce-overhead", "compiled, max-autotune"]


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
    # Compiling takes nobody knows how long: the modes without it come first.
    wanted = two_models.precisions(context)
    for precision in wanted:
        turns(context, [python, script], precision, PLAIN, min(40, context.runner.budget.left()))
    for position, precision in enumerate(wanted):
        share = context.runner.budget.left() / (len(wanted) - position)
        turns(context, [python, script], precision, COMPILED, share)


def turns(context, program, precision, modes, seconds):
    """Rounds of some of PyTorch's modes and of Graphline in turns, until they are enough or the
    time is up."""
    outcome, end = context.outcome, time.monotonic() + seconds
    label = f"{precision}, {'compiled' if modes is COMPILED else 'not compiled'}"
    try:
        tensors = two_models.tensors_of(context, precision) if seconds > 15 else "time"
    except OutOfTime:
        tensors = "time"
    if isinstance(tensors, str):
        outcome.not_run(label, tensors)
        return
    frames = ["--frames", 15, "--warmup", 5]
    device = "cuda" if context.on_gpu else "cpu"
    lines = Lines(context, [*program, "--tensors", tensors, "--precision", precision, "--device",
                            device, "--step", "--limit", max(10, int(seconds * 0.35)), *frames,
                            "--modes", *modes])
    data = {"graphline": {True: [], False: []}, "torch": []}
    data["setup"], trouble = lines.until("ready", seconds * 0.8)
    if not trouble and not data["setup"][-1]["ready"]:
        trouble = "none of the modes can be had"
    try:
        while not trouble and len(data["graphline"][True]) < ROUNDS:
            for cpu_work in (True, False):
                variant = two_models.variant(context, precision, cpu_work)
                done, result = context.run(variant, *frames, "--timing", "none")
                if result is None:
                    trouble = done.reason()
                    break
                data["graphline"][cpu_work].append(result["end_to_end"]["samples"])
            lines.ask()
            more, late = lines.until("round_done", max(1.0, end - time.monotonic()))
            trouble = trouble or late or ("time" if time.monotonic() > end - 8 else None)
            data["torch"] += [line for line in more if "ms" in line]
            data["alone"] = [line for line in more if "cpu_work_alone_ms" in line]
    except (OutOfTime, BrokenPipeError) as reason:
        trouble = str(reason) or "time"
    finally:
        lines.end()
    outcome.data.setdefault("torch", {})[label] = {
        **data, "graphline": {"with CPU work": data["graphline"][True],
                              "without": data["graphline"][False]}}
    report_torch(context, precision, data, trouble)


def report_torch(context, precision, data, trouble):
    outcome = context.outcome
    wrong = []
    for line in data["setup"]:
        if "unavailable" in line:
            outcome.not_run(f"{precision}, torch {line['mode']}", line["unavailable"])
        elif "mode" in line and (line["error"] is None
                                 or line["error"] > 2 * TOLERANCES[precision]):
            wrong.append(line["mode"])
            outcome.add(f"{precision}, torch {line['mode']}", SHOWN, f"{line['error']}",
                        note="its score differs from Graphline's: left out")
    for cpu_work, words in ((True, "end to end"), (False, "the networks alone")):
        blocks = {}
        for line in data["torch"]:
            if line["cpu_work"] is cpu_work and line["mode"] not in wrong:
                blocks.setdefault(line["mode"], []).append(line["ms"])
        if blocks:
            report_blocks(context, f"{precision}, {words}", data["graphline"][cpu_work], blocks)
        elif trouble:
            outcome.not_run(f"{precision}, {words}", trouble)


def report_blocks(context, label, ours, blocks):
    """Rows for eager, where it is among the modes, and for the fastest of them."""
    outcome = context.outcome
    medians = {mode: statistics.median([statistics.median(ms) for ms in rounds])
               for mode, rounds in blocks.items()}
    mine = statistics.median([statistics.median(ms) for ms in ours])
    best = min(medians, key=medians.get)
    wanted = [(f"{label}, against torch eager", "eager", 1 / EAGER_BOUND)] * ("eager" in blocks)
    wanted.append((f"{label}, against torch {best}", best, 1.0))
    note = f"Graphline {mine:.3f} ms; " + "; ".join(f"{m} {v:.3f}" for m, v in medians.items())
    for name, mode, bound in wanted:
        value = statistics.median(statistics.block_ratios(ours, blocks[mode]))
        if context.on_gpu:
            outcome.judge(name, value, bound, "{:.3f} x", note)
        else:
            outcome.add(name, SHOWN, f"{value:.3f} x", note=note)
        note = ""
