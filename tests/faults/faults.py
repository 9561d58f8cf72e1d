"""Drives commands of the graphline program through faults: the n-th allocation, write, open, read,
fsync, close, rename, ftruncate or thread fails, for a spread of n, alone or with all after it; or a
signal to end comes after a part of the time that the command takes.

What must hold: a complete result from before survives or a whole new one takes its place, and no
unfinished file stays; the exit status is one of ours; where it is not 0, standard error has a
sentence, of a thread that failed with its remedy.

usage: faults.py GRAPHLINE FAIL_NTH [--command NAME]... [--call NAME]... [--most N] [--nth N]
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SIGNAL = "signal"
CALLS = ("memory", "write", "open", "read", "fsync", "close", "rename", "ftruncate", "thread",
         SIGNAL)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STATUSES = (0, 1, 2, 3, 130)

# Crashes inside libraries, which Graphline cannot fix.
THIRD_PARTY = {
    "libdnnl.so": "oneDNN crashes where one of its allocations fails",
    "directory_iterator": "the C++ library ends the process where it cannot list a folder for want "
                          "of memory",
    "nlohmann::": "a JSON value crashes where it cannot become an object for want of memory",
}

PIPELINE = """pipeline: small
inputs:
  x: {shape: [1, 3, 16, 16]}
stages:
  - name: net
    kind: network
    reads: x
    writes: y
    layers:
      - conv2d: {out_channels: 4, kernel: 3}
      - relu
  - name: pause
    kind: cpu.spin
    duration: 10us
  - name: best
    kind: cpu.top_k
    reads: y
    k: 3
run: {frames: 6, warmup: 1, threads: 2}
"""
EXPERIMENT = """experiment: e
pipeline: p.yaml
vary: {in_flight: [1, 2]}
trials: 2
frames: 6
"""
UNFINISHED = ".*.graphline-*"  # unfinished results
OUTPUTS = {"--json": "r.json", "--csv": "r.csv", "--html": "r.html"}


class Command:
    """A command line, and the required state of its files afterwards."""

    def __init__(self, *words, outputs=(), store=False):
        self.words = words
        self.outputs = outputs
        self.store = store

    def line(self):
        return [*self.words, *(word for option in self.outputs
                               for word in (option, OUTPUTS[option]))]


ALL = ("--json", "--csv", "--html")
COMMANDS = {
    "run": Command("run", "p.yaml", outputs=ALL),
    "overlap": Command("run", "p.yaml", "--strategy", "overlap", "--in-flight", "2", outputs=ALL),
    "check": Command("check", "p.yaml"),
    "inspect": Command("inspect", "p.yaml", outputs=ALL),
    "report": Command("report", "kept.json", outputs=("--csv", "--html")),
    "diff": Command("diff", "kept.json", "kept.json", outputs=("--json",)),
    "compare": Command("compare", "e.yaml", "--store", "e.trials", "--overwrite", outputs=ALL,
                       store=True),
    "resume": Command("compare", "e.yaml", "--store", "e.trials", "--resume", "--trials", "3",
                      outputs=ALL, store=True),
}


class Trouble(Exception):
    """A requirement is violated."""


class Workplace:
    """A folder with a pipeline, older results and the program under test."""

    def __init__(self, folder, program, shim):
        self.folder, self.program, self.shim = pathlib.Path(folder), program, shim
        (self.folder / "p.yaml").write_text(PIPELINE)
        (self.folder / "e.yaml").write_text(EXPERIMENT)
        self.succeed("run", "p.yaml", "--json", "kept.json", "--quiet")
        self.succeed("compare", "e.yaml", "--store", "e.trials", "--quiet")
        self.trials = (self.folder / "e.trials").read_bytes()

    def environment(self, **more):
        return {**os.environ, "GRAPHLINE_CACHE": str(self.folder / "cache"), **more}

    def succeed(self, *words):
        done = subprocess.run([self.program, *words], cwd=self.folder, env=self.environment(),
                              capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise Trouble(f"{words} without a fault: {done.returncode}\n{done.stderr}")

    def restore(self):
        """Restores the files to their state before the first run."""
        for output in OUTPUTS.values():
            (self.folder / output).write_text("{}" if output.endswith("json") else "before")
        (self.folder / "e.trials").write_bytes(self.trials)
        (self.folder / "e.trials.previous").unlink(missing_ok=True)
        for unfinished in self.folder.glob(UNFINISHED):
            unfinished.unlink()

    def run(self, command, **faults):
        """Runs the program with failing calls."""
        self.restore()
        return subprocess.run([self.program, *command.line()], cwd=self.folder, timeout=60,
                              capture_output=True, text=True, errors="replace",
                              env=self.environment(LD_PRELOAD=str(self.shim), **faults))

    def run_signalled(self, command, number, delay):
        """Runs the program and sends it a signal after `delay` seconds."""
        self.restore()
        with subprocess.Popen([self.program, *command.line()], cwd=self.folder, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=heed_signals, env=self.environment()) as process:
            time.sleep(delay)
            process.send_signal(number)
            try:
                out, err = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def count(self, command, call):
        """How often a command makes a call."""
        counted = self.folder / "count"
        done = self.run(command, FAULT_CALL=call, FAULT_COUNT=str(counted))
        if done.returncode != 0:
            raise Trouble(f"without a fault: {done.returncode}\n{done.stderr}")
        return int(counted.read_text())

    def check(self, command, call, done):
        """Raises `Trouble` if a requirement is violated. Returns the cause outside of Graphline, if
        there is one."""
        unheard = -done.returncode in SIGNALS and not done.stderr and not done.stdout
        if done.returncode not in STATUSES and not unheard:
            came_through = done.stderr + self.innermost_function(done.stderr)
            for library, what in THIRD_PARTY.items():
                if library in came_through:
                    return what
            raise Trouble(f"status {done.returncode}")
        if done.returncode != 0 and not unheard and not re.search(r"\w+ \w+", done.stderr):
            raise Trouble(f"status {done.returncode} without a sentence")
        if "std::bad_alloc" in done.stderr or "json.exception" in done.stderr:
            raise Trouble("a message without its meaning")
        if call == "thread" and done.returncode != 0 and "the limit o" not in done.stderr:
            raise Trouble("a message without a remedy")
        if call in ("thread", "memory") and list(self.folder.glob(UNFINISHED)):
            raise Trouble("an unfinished file stays")
        for option in command.outputs:
            self.check_output(self.folder / OUTPUTS[option])
        if command.store:
            self.check_store()
        return "the signal came before main" if unheard else None

    def innermost_function(self, stderr):
        """The name of the program's function that crashed."""
        frame = re.search(re.escape(self.program.name) + r"\(\+(0x[0-9a-f]+)\)", stderr)
        if not frame:
            return ""
        words = ["addr2line", "-Cfe", self.program, frame[1]]
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout

    @staticmethod
    def check_output(path):
        text = path.read_text()
        if text in ("{}", "before"):
            return
        if path.suffix == ".json":
            json.loads(text)
        elif path.suffix == ".html" and not text.rstrip().endswith("</html>"):
            raise Trouble(f"{path.name} is not whole")
        elif path.suffix == ".csv" and not text.endswith("\n"):
            raise Trouble(f"{path.name} is not whole")

    def check_store(self):
        """The older trials, or those of a new store; all are complete. If the new store lacks its
        header, the older trials are in NAME.previous."""
        path = self.folder / "e.trials"
        if not path.exists() or not path.read_bytes():
            path = self.folder / "e.trials.previous"
        lines = path.read_bytes().split(b"\n")
        json.loads(lines[0])
        for line in lines[1:-1]:
            json.loads(line)


def heed_signals():
    """Restores signals that the parent ignores, as nohup does."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def spread(count, most):
    """At most `most` of 1 to `count`, including those near the start and the end."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (most - 1)) for i in range(most)})


def faults_of(place, command, call, most, nth):
    """The faults of a call: name, and how to run the command with it."""
    if call == SIGNAL:
        began = time.monotonic()
        place.run(command)
        whole = time.monotonic() - began
        for n in [nth] if nth else range(1, most + 1):
            number, delay = SIGNALS[n % len(SIGNALS)], whole * n / most
            yield (f"{n} ({number.name} after {delay * 1e3:.1f} ms)",
                   lambda number=number, delay=delay: place.run_signalled(command, number, delay))
        return
    for n in [nth] if nth else spread(place.count(command, call), most):
        for after in ({}, {"FAULT_AFTER": "1"}) if call in ("memory", "thread") else ({},):
            yield (f"{n}{' and after' if after else ''}",
                   lambda n=n, after=after: place.run(command, FAULT_CALL=call, FAULT_NTH=str(n),
                                                      **after))


def drive(place, name, calls, most, nth):
    """Tries all faults of a command: their number, the failures, and those with another cause."""
    command, tried, troubles, others = COMMANDS[name], 0, [], {}
    for call in calls:
        for fault, run in faults_of(place, command, call, most, nth):
            tried += 1
            said = ""
            try:
                done = run()
                said = done.stderr
                what = place.check(command, call, done)
                if what:
                    others[what] = others.get(what, 0) + 1
            except (Trouble, ValueError, subprocess.TimeoutExpired) as trouble:
                troubles.append(f"{name}: {call} {fault}: {trouble}\n    {said.strip()[-400:]}")
    return tried, troubles, others


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("shim", type=pathlib.Path)
    parser.add_argument("--command", action="append", choices=COMMANDS)
    parser.add_argument("--call", action="append", choices=CALLS)
    parser.add_argument("--most", type=int, default=40, help="values of n for each call")
    parser.add_argument("--nth", type=int, default=0, help="only this one")
    given = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="graphline_faults_") as folder:
        place = Workplace(folder, given.program.resolve(), given.shim.resolve())
        for name in given.command or COMMANDS:
            tried, troubles, others = drive(place, name, given.call or CALLS, given.most, given.nth)
            print(f"{name}: {tried} faults, {len(troubles)} in trouble")
            for what, count in others.items():
                print(f"  {count} times {what}")
            for trouble in troubles:
                print(f"  {trouble}")
            failed += len(troubles)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
