"""Runs programs within time limits, several at once."""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import time
import typing


class Done(typing.NamedTuple):
    """The end of a program. If it ran out of time, it has no status, and `err` says so."""
    status: typing.Optional[int]
    out: str
    err: str = ""

    def failed(self):
        return self.status is not None and self.status != 0

    def reason(self):
        """Why it failed, in a few lines."""
        if self.status is None:
            return self.err
        if self.status < 0:
            return f"ended by {signal.Signals(-self.status).name}"
        lines = [line for line in (self.err.strip() or self.out.strip()).splitlines() if line]
        return f"status {self.status}: " + "\n".join(lines[-6:])


class Runner:
    """Starts programs within `seconds` for the whole check and a limit for the current step; kills
    running ones when the check is interrupted."""

    def __init__(self, seconds, environment):
        self.environment = environment
        self._started = time.monotonic()
        self._end = self._step_end = self._started + seconds
        self._running = {}  # by process id
        self._stopped = False

    def begin_step(self, most):
        self._step_end = min(self._end, time.monotonic() + most)

    def left(self):
        return max(0.0, self._step_end - time.monotonic())

    def spent(self):
        return time.monotonic() - self._started

    def run(self, words, most=60.0, log=None):
        """Runs a program for up to `most` seconds of the step. With a file `log`, all its output
        goes there and to `out`, even if it is killed."""
        limit = min(most, self.left())
        if limit < 1.0 or self._stopped:
            return Done(None, "", "time")
        with open(log or os.devnull, "wb") as file:
            # In its own process group, so that Ctrl-C reaches it only through `stop_all`.
            process = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, text=True,
                stdout=file if log else subprocess.PIPE, errors="replace", start_new_session=True,
                stderr=subprocess.STDOUT if log else subprocess.PIPE, env=self.environment)
        self._running[process.pid] = process
        try:
            out, err = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            kill(process)
            out, err = process.communicate()[0], f"not done after {most:.0f} s"
            status, err = None, err if limit == most else "time"
        except BaseException:
            kill(process)
            raise
        finally:
            del self._running[process.pid]
        if log:
            out = pathlib.Path(log).read_text(encoding="utf-8", errors="replace")
        return Done(status, out, err or "")

    def all(self, function, items, at_once):
        """function(item) for each item, in order."""
        with concurrent.futures.ThreadPoolExecutor(max_workers=at_once) as pool:
            try:
                return list(pool.map(function, items))
            except KeyboardInterrupt:
                self.stop_all()
                raise

    def stop_all(self):
        self._stopped = True
        for process in list(self._running.values()):
            kill(process)


def kill(process):
    """Kills a process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
