"""Ctrl-C at any time.

usage: interrupt_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES PLUGINS_DIR
"""

import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time
import unittest

from cli_test import ENDLESS, SMALL, Case, graphline, parts_in


def wait_until_caught(process):
    """Waits until the program has its handler for Ctrl-C."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        caught = int(re.search(r"^SigCgt:\s*(\S+)", status, re.MULTILINE)[1], 16)
        if caught >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.01)


PLUGINS = pathlib.Path(sys.argv[4])  # those of tests/stage/plugins


class interrupted(Case):
    def test_ctrl_c_reports_and_saves_what_was_measured(self):
        for strategy in ("serial", "async", "overlap"):
            path = self.folder / f"{strategy}.json"
            process = self.start("run", self.pipeline(ENDLESS), "--strategy", strategy, "--json",
                                 path)
            time.sleep(1.5)
            out, err = self.interrupt(process)
            self.assertIn("stopping", err)
            self.assertIn("interrupted", out.lower())
            result = json.loads(path.read_text())
            self.assertTrue(result["interrupted"])
            self.assertGreater(result["end_to_end"]["count"], 10)
            self.assertLess(result["end_to_end"]["count"], 1000000)

    def test_ctrl_c_at_any_moment_ends_with_130(self):
        for delay in (0.0, 0.01, 0.02, 0.04, 0.08, 0.16):
            path = self.folder / "early.json"
            process = self.start("run", self.pipeline(ENDLESS), "--json", path)
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
            # Before the program has a handler, the signal ends it.
            self.assertIn(process.returncode, (130, -signal.SIGINT), err)
            if path.exists():
                self.assertTrue(json.loads(path.read_text())["interrupted"])
                path.unlink()

    def test_quiet_ones_say_so_too(self):
        process = self.start("run", self.pipeline(ENDLESS), "--quiet")
        wait_until_caught(process)
        time.sleep(4)  # a frame takes less than a millisecond
        out, err = self.interrupt(process)
        self.assertEqual(out, "")
        self.assertIn("INTERRUPTED after", err)

    def test_a_second_ctrl_c_ends_at_once(self):
        path = self.pipeline(SMALL.replace("1ms", "30s"), "slow.yaml")
        results = [self.folder / name for name in ("r.json", "r.csv", "r.html")]
        results[0].write_text("the one before")
        words = [f"{option}={result}" for option, result in
                 zip(("--json", "--csv", "--html"), results)]
        process = self.start("run", path, *words)
        until = time.monotonic() + 60
        while len(parts_in(self.folder)) < 3 and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(len(parts_in(self.folder)), 3)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("interrupted before a frame was done; nothing was measured", err)
        self.assertEqual(parts_in(self.folder), [])
        self.assertEqual(results[0].read_text(), "the one before")
        self.assertFalse(results[1].exists() or results[2].exists())
        self.expect(graphline("run", self.pipeline(), *words), 0)
        self.assertEqual(parts_in(self.folder), [])

    def test_while_it_reports_ctrl_c_says_so_and_a_second_leaves_no_unfinished_file(self):
        pipe, other = self.folder / "pipe", self.folder / "r.csv"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # and never reads
        self.addCleanup(os.close, reader)
        process = self.start("run", self.pipeline(SMALL.replace("1ms", "0ms")), "--frames", "9000",
                             "--json", pipe, "--csv", other)
        self.assertEqual(select.select([reader], [], [], 60)[0], [reader])
        process.send_signal(signal.SIGINT)
        lines = [process.stderr.readline()]
        while lines[-1] and "Ctrl-C" not in lines[-1]:
            lines.append(process.stderr.readline())
        self.assertIn("reporting what was measured; Ctrl-C again ends without a report", lines[-1])
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("ended at once; only what was already written is kept", err)
        self.assertFalse(other.exists())
        self.assertEqual(parts_in(self.folder), [])

    def test_two_signals_at_once_count_as_one(self):
        # As from `timeout`, which signals the process and its group.
        saved = self.folder / "r.json"
        process = self.start("run", self.pipeline(), "--frames", "100000", "--json", saved)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, err = self.interrupt(process)
        self.assertNotIn("ended at once", err)
        self.assertGreater(json.loads(saved.read_text())["end_to_end"]["count"], 0)

    def hanging_policy(self, moment, *words):
        """A run whose policy does not return in frame 3."""
        path = self.pipeline(f"""pipeline: hanging
plugins: {PLUGINS / "faulty.so"}
stages:
  - {{name: quick, kind: cpu.spin, duration: 1ms}}
run:
  frames: 20
  warmup: 1
  strategy: overlap
  policy: {{test.policy: {{how: hang, moment: {moment}}}}}
""")
        return self.start("run", path, *words)

    def test_a_policy_that_never_returns_is_named_and_costs_no_frame(self):
        named = f"stage 'quick' (policy test.policy of plug-in {PLUGINS / 'faulty.so'})"
        for moment in ("rank", "hold"):
            for words in ([], ["--arrival", "constant", "--rate", "100"]):
                saved = self.folder / "r.json"
                process = self.hanging_policy(moment, *words, "--json", saved)
                time.sleep(1.5)
                process.send_signal(signal.SIGINT)
                time.sleep(0.3)
                _, err = self.interrupt(process)
                self.assertIn(f"waiting for {named}, frame 3", err)
                self.assertEqual(json.loads(saved.read_text())["end_to_end"]["count"], 2)
        process = self.hanging_policy("rank")
        line = process.stderr.readline()
        process.kill()
        process.communicate()
        self.assertIn(f"graphline: {named} has not returned for 5 s at frame 3", line)

    def hanging(self, *words):
        """A run whose stage does not return in frame 3, its third measured one."""
        path = self.pipeline(f"""pipeline: hanging
plugins: {PLUGINS / "faulty.so"}
stages:
  - {{name: quick, kind: cpu.spin, duration: 1ms}}
  - {{name: stuck, kind: test.faulty, how: hang, after: quick}}
run: {{frames: 20, warmup: 1}}
""")
        return self.start("run", path, *words)

    def test_a_stage_that_never_returns_is_named_and_costs_no_frame(self):
        named = f"stage 'stuck' (test.faulty of plug-in {PLUGINS / 'faulty.so'})"
        for words in (["--strategy", "async"], ["--strategy", "overlap", "--in-flight", "2"],
                      ["--graphs", "frame"], ["--arrival", "constant", "--rate", "100"]):
            files = [self.folder / name for name in ("r.json", "r.csv", "r.html")]
            process = self.hanging(*words, *(f"--{f.suffix[1:]}={f}" for f in files))
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            _, err = self.interrupt(process)
            self.assertIn(f"waiting for {named}, frame 3", err)
            result = json.loads(files[0].read_text())
            self.assertTrue(result["interrupted"])
            self.assertEqual(result["end_to_end"]["count"], 2, words)
            self.assertIn("stuck", files[1].read_text())
            self.assertEqual(parts_in(self.folder), [])

    def test_the_stage_waited_for_is_named_without_being_asked(self):
        process = self.hanging()
        line = process.stderr.readline()
        process.kill()
        process.communicate()
        self.assertIn("graphline: stage 'stuck' (test.faulty of plug-in ", line)
        self.assertIn("has not returned for 5 s at frame 3", line)

    def test_a_result_of_nothing_takes_no_place(self):
        path = self.pipeline(SMALL.replace("1ms", "2s"), "slow.yaml")
        result = self.folder / "r.json"
        result.write_text("the one before")
        for words in (["overhead", path], ["run", path], ["capacity", path, "--under", "9s"]):
            process = self.start(*words, "--json", result)
            wait_until_caught(process)
            out, err = self.interrupt(process)
            # While it plans, an interrupt ends it at once.
            self.assertRegex(err, "nothing was measured|interrupted, ended at once")
            self.assertEqual(out, "")
            self.assertEqual(result.read_text(), "the one before")

    def test_what_measures_nothing_ends_at_once_with_a_sentence(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start("report", "-", stdin=subprocess.PIPE)
            wait_until_caught(process)
            out, err = self.interrupt(process, number)
            self.assertEqual(err, "\ngraphline: interrupted, ended at once\n")
            self.assertEqual(out, "")

    def test_overhead_reports_what_it_has(self):
        process = self.start("overhead", self.pipeline(), "--trials", "1000", "--frames", "20")
        time.sleep(3)
        out, _ = self.interrupt(process)
        self.assertIn("event", out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
