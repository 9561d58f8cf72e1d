"""Runs programs within time limits, several at once."""

import concurrent.futures
import os
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

    def __init__(self, seconds, environment, log=None):
        self.environment, self._log = environment, log
        self._started = time.monotonic()
        self._end = self._step_end = self._started + seconds
        self._running = {}  # by process id
        self._stopped = False

    def begin_step(self, most):
        self._step_end = min(self._end, time.monotonic() + most)

    def extend_step(self, seconds):
        """Gives the step back time that does not count, within that of the whole check."""
        self._step_end = min(self._end, self._step_end + seconds)

    def left(self):
        return max(0.0, self._step_end - time.monotonic())

    def spent(self):
        return time.monotonic() - self._started

    def run(self, words, most=60.0, logged=False):
        """Runs a program for up to `most` seconds of the step. If `logged`, all its output goes to
        `out` and at once to the log, so that it survives a kill of the check itself."""
        words = [str(word) for word in words]
        limit = min(most, self.left())
        if limit < 1.0 or self._stopped:
            return Done(None, "", "time")
        with open(self._log if logged else os.devnull, "ab") as file:
            file.write(f"\n$ {' '.join(words)}\n".encode())
            file.flush()
            begin = file.tell()
            # In its own process group, so that Ctrl-C reaches it only through `stop_all`.
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, text=True, errors="replace",
                stdout=file if logged else subprocess.PIPE, process_group=0,
                stderr=subprocess.STDOUT if logged else subprocess.PIPE, env=self.environment)
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
        if logged:
            with open(self._log, "rb") as file:
                file.seek(begin)
                out = file.read().decode(errors="replace")
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
