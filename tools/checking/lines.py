"""Programs that are asked for one thing after another."""

import json
import subprocess
import threading
import time

from .processes import Done


class Lines:
    """A program that prints an object of JSON a line, and does more when it is asked to."""

    def __init__(self, runner, words):
        self._runner, self._words, self._begun = runner, words, time.monotonic()
        self.process = runner.start(words, stdin=subprocess.PIPE)
        self._lines, self._more = [], threading.Condition()
        self._errors = []
        self._error_reader = threading.Thread(target=self._read_errors, daemon=True)
        self._error_reader.start()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            try:
                found = json.loads(line)
            except ValueError:
                continue  # what a compiler prints
            if isinstance(found, dict):
                self._add(found)
        self._add(None)

    def _add(self, found):
        with self._more:
            self._lines.append(found)
            self._more.notify()

    def _read_errors(self):
        for line in self.process.stderr:
            self._errors.append(line)

    def _why_ended(self):
        self._error_reader.join(timeout=5)
        return Done(self._words, self.process.wait(), "", "".join(self._errors),
                    time.monotonic() - self._begun).reason()

    def until(self, key, seconds):
        """The objects up to the first that has `key`, and None; or, where the program ends or the
        seconds do, those until then, and the reason."""
        found, end = [], time.monotonic() + seconds
        while True:
            with self._more:
                while not self._lines:
                    if not self._more.wait(max(0.0, end - time.monotonic())):
                        return found, "time"
                line = self._lines.pop(0)
            if line is None:
                return found, self._why_ended()
            found.append(line)
            if key in line:
                return found, None

    def ask(self, key, seconds):
        """As `until`, after a line to the program."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and `until` tells why
        return self.until(key, seconds)

    def ended(self):
        """Whether it did so by itself."""
        return self.process.poll() is not None

    def end(self):
        """Ends it, with the processes it started."""
        self._runner.end(self.process)
        self.process.wait()
        self._runner.forget(self.process)
