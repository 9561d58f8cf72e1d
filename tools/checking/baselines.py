"""two_models beside a program written by hand, and beside PyTorch."""

import json
import shutil
import subprocess
import sys
import threading
import time

from . import statistics
from .context import TOLERANCES
from .outcome import FAIL, SHOWN
from .processes import OutOfTime

BY_HAND_BOUND = 1.02
EAGER_BOUND = 1.2
NOISE = ["noise"]  # the stage of two_models that is CPU work


def tensors_of(context, precision):
    """What `graphline run --save-tensors` writes of two_models, for the others to start from."""
    path = context.places.pipelines / "two_models.yaml"
    folder = context.name("-two_models")
    done, result = context.run(context.variant(path, precision), "--frames", 2, "--warmup", 1,
                               "--save-tensors", folder)
    return folder if result else done.reason()


def check_by_hand(context):
    outcome, program = context.outcome, context.places.program("two_models_cuda")
    if not context.on_gpu:
        outcome.not_run("against a program by hand", "it is for a GPU")
        return
    if program is None:
        outcome.not_run("against a program by hand", f"two_models_cuda is not in "
                                                     f"{context.places.root}")
        return
    path = context.places.pipelines / "two_models.yaml"
    wanted = [p for p in ("float32", "float16", "tf32") if p in context.precisions()]
    for precision in wanted:
        for alone in (False, True):
            label = f"{precision}, {'the networks alone' if alone else 'end to end'}"
            try:
                tensors = tensors_of(context, precision)
                if isinstance(tensors, str):
                    outcome.add(label, FAIL, note=tensors)
                    continue
                words = [program, "--tensors", tensors, "--precision", precision, "--pipeline",
                         context.variant(path, precision, NOISE if alone else ()), "--blocks", 10,
                         "--frames", 12, "--warmup", 3]
                done = context.runner.run(words + ["--no-cpu-work"] * alone, most=75)
            except OutOfTime:
                outcome.not_run(label, "time")
                continue
            if done.status == 0:
                report_by_hand(outcome, label, precision, json.loads(done.out), not alone)
            elif done.status is None:
                outcome.not_run(label, done.reason())
            else:
                outcome.add(label, FAIL, note=done.reason())


def report_by_hand(outcome, label, precision, result, judged):
    outcome.data.setdefault("by_hand", {})[label] = result
    error = result["by_hand_error"]
    if error is None or not error <= 2 * TOLERANCES[precision]:
        outcome.add(label, FAIL, note=f"the program by hand computes something else: relative "
                                      f"error {error}; there is nothing to compare")
        return
    ratios = statistics.block_ratios(result["graphline"], result["by_hand"])
    middle, interval = statistics.median(ratios), statistics.median_interval(ratios)
    ours = statistics.median(map(statistics.median, result["graphline"]))
    theirs = statistics.median(map(statistics.median, result["by_hand"]))
    note = f"{ours:.3f} ms, by hand {theirs:.3f} ms; {result['by_hand_choices']}"
    if judged:
        outcome.judge_interval(label, middle, interval, BY_HAND_BOUND, "{:.4f} x", note)
    else:
        low, high = interval or (min(ratios), max(ratios))
        outcome.add(label, SHOWN, f"{middle:.4f} x ({low:.4f} to {high:.4f})", note=note)


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
    wanted = [p for p in ("float32", "float16", "tf32") if p in context.precisions()]
    for position, precision in enumerate(wanted):
        # Compiling takes most of it, nobody knows how long; the first may take half of what is left.
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
    tensors = tensors_of(context, precision)
    if isinstance(tensors, str) or seconds < 20:
        outcome.not_run(f"{precision}, against PyTorch", tensors if seconds >= 20 else "time")
        return
    path = context.places.pipelines / "two_models.yaml"
    pipelines = {True: context.variant(path, precision),
                 False: context.variant(path, precision, NOISE)}
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
