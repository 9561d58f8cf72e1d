"""Hostile files, closed streams and lost terminals do no harm.

usage: hostile_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import os
import resource
import signal
import struct
import subprocess
import sys
import time
import unittest

from cli_test import (ENDLESS, EXPERIMENT, GRAPHLINE, MAKE_IMAGES, SMALL, Case, parts_in,
                      graphline)
from interrupt_test import wait_until_caught

DEEP = "[" * 100000 + "]" * 100000
TOO_DEEP = "lists and objects are nested more than 64 deep"


def closing(*descriptors):
    """Closes descriptors, like '>&-' in a shell."""
    def close_all():
        for descriptor in descriptors:
            os.close(descriptor)
    return close_all


class closed_streams(Case):
    def run_without(self, *descriptors, words=()):
        return graphline("run", self.pipeline(), *words, preexec_fn=closing(*descriptors))

    def test_no_result_file_takes_the_number_of_a_closed_stream(self):
        for closed in ((1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            result = self.folder / "a.json"
            result.write_text("{}")
            done = self.run_without(*closed, words=("--json", result))
            self.assertEqual(done.returncode, 1 if 1 in closed else 0, (closed, done.stderr))
            self.assertEqual(json.loads(result.read_text())["end_to_end"]["count"], 12, closed)
            if 2 not in closed and 1 in closed:
                self.assertEqual(done.stderr,
                                 "error: cannot write to standard output: it is closed\n")

    def test_a_result_for_a_closed_standard_output_is_refused_before_the_run(self):
        self.expect(self.run_without(1, words=("--json", "-")), 2,
                    "error: cannot write standard output: it is closed")


class lost_terminal(Case):
    def test_what_was_measured_is_kept_however_often_it_is_told(self):
        result = self.folder / "r.json"
        process = self.start("run", self.pipeline(ENDLESS), "--json", result)
        wait_until_caught(process)
        time.sleep(4)  # a frame takes less than a millisecond
        process.send_signal(signal.SIGHUP)
        self.interrupt(process, signal.SIGHUP)
        self.assertTrue(json.loads(result.read_text())["interrupted"])
        self.assertEqual(parts_in(self.folder), [])

    def test_nohup_keeps_it_running(self):
        process = self.start("run", self.pipeline(ENDLESS), preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_IGN))
        wait_until_caught(process)
        process.send_signal(signal.SIGHUP)
        time.sleep(1)
        self.assertIsNone(process.poll())
        self.interrupt(process)


class things_in_the_way(Case):
    def test_a_pipe_is_not_waited_for(self):
        path = self.pipeline()
        experiment = self.pipeline(EXPERIMENT, "e.yaml")
        os.mkfifo(self.folder / "e.trials")
        self.expect(graphline("compare", experiment, "--store", self.folder / "e.trials"), 2,
                    "e.trials", "is no regular file")
        os.mkfifo(self.folder / "w.safetensors")
        weights = SMALL.replace("    layers:\n", "    weights: w.safetensors\n    layers:\n")
        for words in (("run", self.pipeline(weights)), ("check", path), ("compare", experiment)):
            self.expect(graphline(*words), 2, "w.safetensors' is not a regular file")

    def test_nothing_is_waited_for_that_a_file_names(self):
        os.mkfifo(self.folder / "pipe")
        endless, kept_open = os.pipe()  # a standard input that never ends
        self.addCleanup(os.close, endless)
        self.addCleanup(os.close, kept_open)
        for name in ("/dev/stdin", "pipe", "/dev/zero", "."):
            experiment = self.pipeline(EXPERIMENT.replace("small.yaml", name), "e.yaml")
            for stages in (f"characters: {name}", f"folder: {name}", f"file: {name}"):
                kind = {"characters": "cpu.ctc_decode, reads: [x, x]", "folder": "cpu.images",
                        "file": "cpu.images, folder: pictures"}[stages.split(":")[0]]
                text = f"""pipeline: waits
inputs:
  x: {{{stages if stages.startswith("file") else "shape: [1, 4, 4]"}}}
stages:
  - {{name: s, kind: {kind}, {stages}}}
"""
                done = graphline("check", self.pipeline(text, "p.yaml"), stdin=endless)
                self.assertEqual(done.returncode, 2, done.stderr)
            done = graphline("compare", experiment, stdin=endless)
            self.expect(done, 2, f"'{name}' cannot be read")

    def test_a_pipe_of_the_user_is_read(self):
        unread = SMALL.replace("inputs:\n", "inputs:\n  unread: {shape: [1]}\n")
        for words in (("check",), ("run", "--device", "host", "--threads", "2")):
            done = subprocess.run([GRAPHLINE, *words, "/dev/stdin"], input=unread, text=True,
                                  capture_output=True, check=False)
            self.expect(done, 0)
            self.assertEqual(done.stderr.count("no stage reads the input 'unread'"), 1)

    def test_tensors_that_do_not_fit_leave_those_from_before(self):
        path, tensors = self.pipeline(), self.folder / "tensors"
        self.expect(graphline("run", path, "--save-tensors", tensors), 0)
        before = {found.name: found.read_bytes() for found in tensors.iterdir()}

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        done = graphline("run", path, "--save-tensors", tensors, preexec_fn=small_files,
                         restore_signals=False)  # so that SIGXFSZ stays ignored
        self.expect(done, 1, ".npy'", "File too large")
        self.assertEqual({found.name: found.read_bytes() for found in tensors.iterdir()}, before)

        done = graphline("run", path, "--save-tensors", tensors, "--each-frame", "--json", "-",
                         preexec_fn=small_files, restore_signals=False)
        self.expect(done, 1, "frame.0/output.", "File too large")
        self.assertEqual(json.loads(done.stdout)["end_to_end"]["count"], 0)


class failing(Case):
    def test_a_stage_that_fails_is_named_with_its_frame_and_the_rest_is_saved(self):
        images = self.folder / "images"
        subprocess.run([MAKE_IMAGES, images, "6"], check=True, capture_output=True)
        last = sorted(images.iterdir())[4]
        last.write_bytes(last.read_bytes()[:2000])
        path = self.pipeline("""pipeline: album
stages:
  - {name: read, kind: cpu.images, folder: images, batch: 1}
run: {frames: 20, warmup: 2}
""", "album.yaml")
        result = self.folder / "r.json"
        for strategy in ("serial", "async", "overlap"):
            done = graphline("run", path, "--json", result, "--strategy", strategy)
            self.assertEqual(done.returncode, 1, done.stderr)
            # Both the table and standard error say it.
            for stream in (done.stdout, done.stderr):
                self.assertIn("stage 'read' (cpu.images), frame 4", " ".join(stream.split()))
            self.assertRegex(done.stderr, r"(?m)^error: stage 'read' \(cpu\.images\), frame 4: .*"
                             + last.name)
            saved = json.loads(result.read_text())
            self.assertEqual(saved["end_to_end"]["count"], 2)
            self.assertIn(last.name, saved["failure"])

    def test_a_place_that_takes_nothing_is_an_error_not_a_death(self):
        def shell(words):
            return subprocess.run(f"'{GRAPHLINE}' {words}", shell=True, capture_output=True,
                                  text=True)
        for words in ("stages", "--help", f"check '{self.pipeline()}'"):
            self.expect(shell(f"{words} > /dev/full"), 1, "standard output")
        for words in ("bogus", "run missing.yaml", ""):
            self.assertEqual(shell(f"{words} > /dev/full 2> /dev/full").returncode, 2)


class memory(Case):
    def test_a_run_with_its_reports_takes_no_more_than_check_says(self):
        path = self.pipeline("pipeline: p\nstages: [{name: n, kind: cpu.spin, duration: 0ms}]\n"
                             "run: {timing: event}\n")

        def taken(frames):
            planned = json.loads(graphline("check", path, "--frames", frames, "--json",
                                           "-").stdout)["memory"]
            record = next(row for row in planned if row["what"].startswith("record and reports"))
            process = self.start("run", path, "--frames", frames, "--json", self.folder / "r.json",
                                 "--quiet", stdout=None, stderr=None)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            return record["host"], used.ru_maxrss * 1024

        few, many = taken(1000), taken(400000)
        self.assertLess(many[1] - few[1], many[0] - few[0])


class deep_json(Case):
    def test_in_a_result(self):
        result = self.folder / "r.json"
        for text in (f'{{"schema": "graphline.run/1", "record": {DEEP}}}', f'{{"a": {DEEP}',
                     '{"schema": "graphline.run/1", "findings": ' + '{"a":' * 100000):
            result.write_text(text)
            for words in (("report", result), ("diff", result, result)):
                self.expect(graphline(*words), 2, "r.json:1:", TOO_DEEP)

class hostile_texts(Case):
    # Sets the terminal's title, begins a color, breaks a line, and reverses text.
    NAME = "a\x1b]0;owned\x07\x1b[31m\x9b1m\r\x7f\u202eb\u2066c\u200f"

    def expect_visible(self, done):
        for text in (done.stdout, done.stderr):
            for c in text:
                self.assertTrue(c == "\n" or c.isprintable(), (hex(ord(c)), text))

    def weights(self, tensors):
        header = json.dumps(tensors, ensure_ascii=False).encode()
        (self.folder / "w.safetensors").write_bytes(struct.pack("<Q", len(header)) + header +
                                                    bytes(4 * len(tensors)))
        return self.pipeline(SMALL.replace("    layers:\n",
                                           "    weights: w.safetensors\n    layers:\n"))

    def test_nothing_that_a_terminal_would_act_on_is_printed(self):
        tensor = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
        path = self.weights({self.NAME: tensor})
        done = graphline("check", path)
        self.expect(done, 2, "it holds 'a?]0;owned??[31m?1m???b?c?'")
        self.expect_visible(done)
        name = self.NAME
        for words in ((f"--{name}",), (name,), ("run", name), ("check", path, f"--set={name}=1"),
                      ("run", self.pipeline(), "--strategy", name), ("report", name),
                      ("run", path, "--json", f"{name}/x"), ("compare", path, "--store", name),
                      ("stages", name), ("stages", "--plugin", name), ("devices", name),
                      ("run", self.pipeline(), "--save-tensors", f"/proc/{name}"),
                      ("calibrate", "--device", name)):
            done = graphline(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn("error", done.stderr)
            self.expect_visible(done)

    def test_bytes_that_are_no_text_are_printed_as_none(self):
        done = subprocess.run([GRAPHLINE.encode(), b"run", b"a\xff\xfe.yaml"], capture_output=True,
                              timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"a??.yaml", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
