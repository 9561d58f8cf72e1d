"""Runs programs within the time there is, several at once."""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import threading
import time


class OutOfTime(Exception):
    """What was to be run was not done in the time there was for it. That says nothing of what it
    would have found: whoever asked for it reports it as not run."""

    def __init__(self, reason="time"):
        super().__init__(reason)


class Budget:
    """Seconds for the whole check, and for the step that is going on."""

    def __init__(self, seconds):
        self.started = time.monotonic()
        self._end = self.started + seconds
        self._step_end = self._end

    def begin_step(self, most):
        self._step_end = min(self._end, time.monotonic() + most)

    def left(self):
        return max(0.0, self._step_end - time.monotonic())

    def spent(self):
        return time.monotonic() - self.started


class Done:
    """How a program ended."""

    def __init__(self, words, status, out, err, seconds):
        self.words, self.status, self.out, self.err, self.seconds = words, status, out, err, seconds

    def reason(self):
        """Why it did not succeed, in a line or a few."""
        if self.status < 0:
            return f"ended by {signal.Signals(-self.status).name}"
        lines = [line for line in (self.err.strip() or self.out.strip()).splitlines() if line]
        return f"status {self.status}: " + "\n".join(lines[-6:])


class Runner:
    """Starts programs, remembers those that run, and ends them when the check is interrupted."""

    def __init__(self, budget, environment):
        self.budget = budget
        self.environment = environment
        self._running = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, words, most=60.0, environment=None, log=None):
        """With `log`, a file, all that it prints goes there, and stays there however it ends;
        `out` has it too. Raises OutOfTime when it is not done after `most` seconds, or when the
        time of the step ends it or would not let it begin."""
        limit = min(most, self.budget.left())
        if limit < 1.0 or self._stopped:
            raise OutOfTime()
        words = [str(word) for word in words]
        begin = time.monotonic()
        with open(log or os.devnull, "wb") as file:
            pipes = {"stdout": file, "stderr": subprocess.STDOUT} if log else {
                "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            # Of a process group of its own: Ctrl-C reaches it through `stop_all` only.
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, **pipes, text=True,
                                       errors="replace", start_new_session=True,
                                       env={**self.environment, **(environment or {})})
        with self._lock:
            self._running.add(process)
        try:
            out, err = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            self.end(process)
            process.communicate()
            raise OutOfTime("time" if limit < most else f"not done after {most:.0f} s") from None
        except BaseException:
            self.end(process)
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        if log:
            out, err = pathlib.Path(log).read_text(encoding="utf-8", errors="replace"), ""
        return Done(words, status, out, err, time.monotonic() - begin)

    def all(self, function, items, at_once):
        """function(item) for each, in their order; OutOfTime stands for a result not had."""
        def attempt(item):
            try:
                return function(item)
            except OutOfTime as reason:
                return reason

        with concurrent.futures.ThreadPoolExecutor(max_workers=at_once) as pool:
            try:
                return list(pool.map(attempt, items))
            except KeyboardInterrupt:
                self.stop_all()
                raise

    def stop_all(self):
        self._stopped = True
        with self._lock:
            running = list(self._running)
        for process in running:
            self.end(process)

    @staticmethod
    def end(process):
        """With the processes it started."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
