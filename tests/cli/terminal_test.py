"""Output on a terminal, and without one.

usage: terminal_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from cli_test import EXPERIMENT, GRAPHLINE, MAKE_IMAGES, SMALL, Case, graphline

ESCAPE = "\x1b"
SLOW = """pipeline: slow
stages:
  - {name: work, kind: cpu.spin, duration: 10ms}
run: {frames: 300, warmup: 2}
"""
ALBUM = """pipeline: album
stages:
  - {name: read, kind: cpu.images, folder: images, batch: 1}
run: {frames: 3, warmup: 0}
"""


def environment(**changes):
    """The environment without variables that affect output, with `changes`; None removes."""
    result = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **changes}
    for name in ("NO_COLOR", "COLUMNS"):
        if name not in changes:
            result.pop(name, None)
    return {name: value for name, value in result.items() if value is not None}


def open_terminal():
    """The two ends of a new pseudo-terminal; skips the test if there is none."""
    try:
        return pty.openpty()
    except OSError as error:  # a container or chroot without /dev/pts
        raise unittest.SkipTest(f"there is no pseudo-terminal here: {error}") from None


class Terminal:
    """Starts a program on a terminal with so many columns."""

    def __init__(self, *words, columns=80, **changes):
        self.ours, theirs = open_terminal()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.process = subprocess.Popen([GRAPHLINE, *map(str, words)], stdin=theirs, stdout=theirs,
                                        stderr=theirs, env=environment(**changes))
        self.theirs = theirs
        self.text = ""

    def read_until(self, fragment=None, seconds=120):
        """Reads until the fragment appears or the program ends; returns all output."""
        end = time.monotonic() + seconds
        data = b""
        while time.monotonic() < end:
            if select.select([self.ours], [], [], 0.05)[0]:
                data += os.read(self.ours, 65536)
            elif self.process.poll() is not None:
                break
            if fragment is not None and fragment in (self.text + data.decode(errors="replace")):
                break
        self.text += data.decode()
        return self.text.replace("\r\n", "\n")

    def close(self):
        same = termios.tcgetattr(self.theirs) == self.before
        os.close(self.ours)
        os.close(self.theirs)
        return same


def on_terminal(*words, **more):
    terminal = Terminal(*words, **more)
    text = terminal.read_until()
    assert terminal.process.wait(timeout=120) == 0, text
    terminal.close()
    return text


def widest(text):
    return max(len(re.sub(ESCAPE + r"\[[0-9;]*[mK]", "", line)) for line in text.splitlines())


class terminal(Case):
    def test_there_is_color_on_a_terminal_only(self):
        path = self.pipeline()
        self.assertIn(ESCAPE + "[1m", on_terminal("run", path))
        self.assertNotIn(ESCAPE, graphline("run", path, env=environment()).stdout)

    def test_no_color_and_a_dumb_terminal_are_honoured(self):
        path = self.pipeline()
        for change in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}):
            self.assertNotIn(ESCAPE, on_terminal("run", path, **change), change)
        self.assertIn(ESCAPE, on_terminal("run", path, NO_COLOR=""))

    def test_the_option_has_the_last_word_before_or_behind_the_command(self):
        path = self.pipeline()
        self.assertNotIn(ESCAPE, on_terminal("run", path, "--color", "never"))
        forced = environment(NO_COLOR="1")
        for words in (("--color", "always", "run", path), ("run", path, "--color=always")):
            self.assertIn(ESCAPE, graphline(*words, env=forced).stdout)
        self.expect(graphline("run", path, "--colr", "always"), 2, "'--colr'", "'--color'")

    def test_tables_keep_to_the_width_of_the_terminal(self):
        path = self.pipeline(SMALL.replace("frames: 12", "frames: 70"))
        for columns in (40, 60, 80, 132):
            self.assertLessEqual(widest(on_terminal("run", path, columns=columns)), columns)
        self.assertRegex(on_terminal("run", path, columns=40), r"end to end.*p50")
        wide = on_terminal("run", path, columns=132)
        self.assertRegex(wide, r"time is.*p95")
        self.assertNotRegex(on_terminal("run", path, columns=80), r"time is.*p95")
        self.assertLessEqual(widest(on_terminal("run", path, columns=132, COLUMNS="50")), 50)
        self.assertGreater(widest(on_terminal("run", path, columns=60, COLUMNS="none")), 40)

    def test_quiet_runs_print_nothing_and_write_their_files(self):
        path = self.pipeline()
        result = self.folder / "r.json"
        for words in (("run", path, "-q", "--json", result),
                      ("overhead", path, "--quiet", "--trials", 2, "--frames", 3, "--json", result),
                      ("capacity", path, "--quiet", "--under", "1s", "--within", "50%",
                       "--percentile", "p50", "--json", result)):
            done = graphline(*words)
            self.expect(done, 0)
            self.assertEqual(done.stdout, "", words)
            self.assertLessEqual(set(line.split(":")[0] for line in done.stderr.splitlines()),
                                 {"warning"}, done.stderr)
            self.assertIn("schema", json.loads(result.read_text()))
            result.unlink()

    def test_a_quiet_run_tells_what_went_wrong(self):
        images = self.folder / "images"
        subprocess.run([MAKE_IMAGES, images, "1"], check=True, capture_output=True)
        picture = next(images.iterdir())
        picture.write_bytes(picture.read_bytes()[:2000])
        done = graphline("run", self.pipeline(ALBUM), "-q")
        self.expect(done, 1, "error: stage 'read' (cpu.images), frame", picture.name)
        self.assertEqual(done.stdout, "")

    def test_progress_is_shown_on_a_terminal_only(self):
        path = self.pipeline(SLOW)
        self.assertEqual(graphline("run", path, env=environment()).stderr, "")
        self.assertRegex(on_terminal("run", path), r"measuring +\d+ of 300 frames")

    def test_the_progress_of_an_experiment_has_the_time_left(self):
        self.pipeline(SLOW, "small.yaml")
        experiment = self.pipeline(EXPERIMENT.replace("trials: 2", "trials: 40"), "e.yaml")
        self.assertRegex(on_terminal("compare", experiment, "--store", self.folder / "e.trials"),
                         r"comparing, in_flight=[12] +\d+ of 80 trials, about")
        narrow = on_terminal("compare", experiment, "--store", self.folder / "n.trials", columns=40)
        self.assertRegex(narrow, r"compar\S* +\d+ of 80 trials\x1b")

    def test_ctrl_c_leaves_the_terminal_as_it_was(self):
        watched = Terminal("run", self.pipeline(SLOW.replace("300", "30000")))
        watched.read_until(" of 30000 frames")
        watched.process.send_signal(signal.SIGINT)
        text = watched.read_until()
        self.assertEqual(watched.process.wait(timeout=60), 130)
        self.assertIn("INTERRUPTED after", text)
        self.assertIn(ESCAPE + "[K", text)
        self.assertTrue(watched.close())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
