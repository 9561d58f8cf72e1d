"""Common mistakes of new users: the message points at the place and names the remedy.

usage: slips_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import gzip
import json
import math
import os
import struct
import subprocess
import sys
import unittest

from cli_test import GRAPHLINE, MAKE_IMAGES, SMALL, Case, graphline


class command_line(Case):
    def test_a_wrong_value_of_a_parameter_is_complained_of_at_the_option(self):
        text = SMALL.replace("inputs:", "params: {side: 16}\ninputs:")
        path = self.pipeline(text.replace("[1, 3, 16, 16]", "[1, 3, $side, $side]"))
        done = graphline("check", path, "--set", "side=abc")
        self.expect(done, 2, f"--set side=abc: error: 'shape' must be a list of "
                    "whole numbers, such as [1, 3, 224, 224], found 'abc'\n")
        self.assertNotIn("$side", done.stderr)  # the line of the file is correct
        self.expect(graphline("check", path, "--set", "side=0"), 2,
                    "--set side=0: ", "must be at least 1, found 0")

    def test_an_option_that_may_come_again_takes_one_word(self):
        path = self.pipeline(SMALL.replace("inputs:", "params: {side: 16}\ninputs:"))
        for options in (["--set", "side=8"], ["--fail-if", "mean>100s"]):
            done = graphline("run", "--frames", "2", *options, path, "--device", "host")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_reader_that_goes_away_ends_it_quietly_with_all_files_written(self):
        def left_alone(*words):
            """Runs with a standard output that its reader has closed."""
            reader, writer = os.pipe()
            os.close(reader)
            try:
                return subprocess.run([GRAPHLINE, *map(str, words)], stdout=writer, text=True,
                                      stderr=subprocess.PIPE, timeout=240)
            finally:
                os.close(writer)
        path, result = self.pipeline(), self.folder / "r.json"
        for words in (("run", path), ("run", path, "--json", "-"), ("run", path, "--json", result),
                      ("check", path), ("inspect", path), ("stages",), ("stages", "network"),
                      ("devices",), ("--help",), ("--version",)):
            done = left_alone(*words)
            self.assertEqual(done.returncode, 141, words)  # like a program that SIGPIPE ended
            # Text for people goes to standard error if a result goes to standard output.
            self.assertEqual(done.stderr.startswith("small on host"), words[-1] == "-", words)
            self.assertNotIn("error", done.stderr, words)
        self.assertEqual(json.loads(result.read_text())["end_to_end"]["count"], 12)
        self.assertEqual(left_alone("run", self.folder / "missing.yaml").returncode, 2)


    def test_a_file_is_checked_where_its_device_is_missing(self):
        path = self.pipeline(SMALL.replace("cpu.spin", "cpu.spinn"))
        self.expect(graphline("check", path, "--device", "cuda:99"), 2,
                    "unknown kind 'cpu.spinn' (did you mean 'cpu.spin'?)")
        self.expect(graphline("run", path, "--device", "cuda:99"), 2, "unknown kind 'cpu.spinn'")
        self.expect(graphline("run", self.pipeline(), "--device", "cuda:99"), 3, "'cuda' device")
        built = "cuda" in graphline("devices").stdout
        done = graphline("check", self.pipeline(), "--device", "cuda:99")
        self.expect(done, 0 if built else 3)
        self.assertEqual("device cuda, which is not on this machine" in done.stdout, built)


class files(Case):
    def test_a_parameter_that_changes_nothing_here_is_warned_of(self):
        def check(precision):
            text = SMALL.replace("    layers:", "    precision: $p\n    layers:")
            text = text.replace("inputs:", "params: {p: %s}\ninputs:" % precision)
            done = graphline("check", self.pipeline(text), "--device", "host")
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr

        self.assertIn("small.yaml:10:5: warning: 'precision' has no effect on host, only on cuda\n",
                      check("float16"))
        self.assertEqual(check("float32"), "")
        self.assertEqual(check("{cuda: float16, host: float32}"), "")

    def test_what_other_formats_call_otherwise_and_what_is_missing_is_said(self):
        def check(text, *words):
            self.expect(graphline("check", self.pipeline(text), "--device", "host"), 2, *words)
        x = "pipeline: p\ninputs: {x: {shape: [1, 8, 8, 3], dtype: uint8}}\nstages:\n  - "
        check(x + "{name: n, kind: network, input: x, layers: [relu]}\n",
              "unknown key 'input' in stage 'n' (network) (did you mean 'reads'?)")
        check(x + "{name: n, kind: network, reads: x, layers: [relu]}\n",
              "a stage normalize makes float32 of pictures")
        check("pipeline: p\nparams: {root: /tmp}\nstages:\n"
              "  - {name: n, kind: cpu.images, folder: $root/images, batch: 1}\n",
              "a parameter stands for a whole value, not for the beginning of '$root/images'")
        durations = "  - {name: n, kind: cpu.spin, durations: $root/times.txt}\n"
        done = graphline("check", self.pipeline("pipeline: p\nparams: {root: /tmp}\nstages:\n" +
                                                durations))
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        kind = "pipeline: p\nstages: [{name: n, kind: cpu.spin\u200b, duration: 1ms}]\n"
        check(kind, "unknown kind 'cpu.spin<U+200B>' (did you mean 'cpu.spin'?)")
        self.expect(graphline("stages", "cpu.spin\u200b"), 2,
                    "unknown kind 'cpu.spin<U+200B>' (did you mean 'cpu.spin'?)")
        check("pipeline: p\ninputs: {x: {file: a\u00a0b.npy}}\n"
              "stages: [{name: n, kind: network, reads: x, layers: [relu]}]\n",
              "a<U+00A0>b.npy")
        check("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n",
              "this is a Git LFS pointer, not the file: run git lfs pull")
        check("pipeline a\n", "found 'pipeline a'; is a ':' missing behind a key?")
        (self.folder / "m.onnx").write_bytes(gzip.compress(b"\x08\x07"))
        check(x + "{name: n, kind: onnx, model: m.onnx, reads: x}\n", "gunzip")

    def test_one_word_for_another_is_one_error(self):
        whole = {"pipeline": "p", "stages": "\n  - {name: n, kind: cpu.spin, duration: 1ms}"}
        for ours, words in (("name", "id label title stage nme"), ("stages", "nodes steps stagess"),
                            ("kind", "type op op_type operator class function knd"),
                            ("pipeline", "name")):
            for word in words.split():
                lines = "\n".join(f"{key}: {value}" for key, value in whole.items())
                done = graphline("check", self.pipeline(lines.replace(ours + ":", word + ":", 1)))
                self.expect(done, 2, f"unknown key '{word}'", f"(did you mean '{ours}'?)")
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for keys in ("pipelines: p.yaml\nvary: {in_flight: [1, 2]}", "pipeline: p.yaml\nsweep: {}"):
            lines = "\n".join(f"{key}: {value}" for key, value in whole.items())
            self.pipeline(lines, "p.yaml")
            done = graphline("compare", self.pipeline(f"experiment: e\n{keys}\n", "e.yaml"),
                             "--check")
            self.expect(done, 2, "(did you mean '")
            self.assertEqual(done.stderr.count("error:"), 1, done.stderr)

    def test_a_pipeline_that_is_no_text_is_said_to_be_so_in_one_sentence(self):
        for content, why in ((b"\x7fELF\0\0", "this is a binary file, not YAML"),
                             (b"pipeline: p\n\xff\n", "the byte 0xff is not UTF-8; save the file "
                              "as UTF-8 (line 2, column 1)")):
            (self.folder / "p.yaml").write_bytes(content)
            path = self.pipeline("experiment: e\npipeline: p.yaml\nvary: {in_flight: [1, 2]}\n",
                                 "e.yaml")
            done = graphline("compare", path, "--check")
            self.expect(done, 2, f"e.yaml:2:11: error: 'p.yaml' cannot be read: {why}\n")
            self.assertEqual(done.stderr.count("error:"), 1, done.stderr)

    def test_help_of_a_command_is_that_of_its_option(self):
        self.assertEqual(graphline("help", "run").stdout, graphline("run", "--help").stdout)
        self.assertEqual(graphline("help").stdout, graphline("--help").stdout)

    def test_help_shows_defaults_and_shells_complete_the_words_of_options(self):
        shown = graphline("run", "--help").stdout
        for option, default in (("strategy", "async"), ("in-flight", "1"), ("device", "auto")):
            self.assertRegex(shown, rf"--{option} \S+={default}\n?")
        zsh = graphline("manual", "--completion", "zsh").stdout
        self.assertIn("run:--strategy) list='serial async overlap'", zsh)
        self.assertRegex(zsh, r"stages:\*\) list='arg_max copy cpu\.arrays .* traffic")
        fish = graphline("manual", "--completion", "fish").stdout
        self.assertIn("-l strategy -r -f -a 'serial async overlap'", fish)
        self.assertIn("-l device -r -f -a 'auto host cuda'", fish)

    def test_weights_never_take_each_others_file_whatever_their_names(self):
        path = self.folder / "names.yaml"
        layers = "layers: [{linear: {out_features: 2, name: %s}}]}\n"
        path.write_text("pipeline: names\ninputs: {x: {shape: [1, 2]}}\nstages:\n"
                        "  - {name: a, kind: network, reads: x, " + layers % "b.c" +
                        "  - {name: a.b, kind: network, reads: a, " + layers % "c")
        saved = self.folder / "saved"
        self.expect(graphline("run", path, "--frames", "1", "--save-tensors", saved), 0)
        self.assertEqual(len(list(saved.glob("weight.a.b.c.weight*.npy"))), 2)

    def test_keys_of_ones_own_may_hold_anchors(self):
        text = "x-pause: &pause {kind: cpu.spin, duration: 1ms}\n" + SMALL
        path = self.pipeline(text.replace("    kind: cpu.spin\n    duration: 1ms\n",
                                          "    <<: *pause\n"))
        self.expect(graphline("check", path), 0)
        self.expect(graphline("check", self.pipeline("y-pause: 1\n" + SMALL)), 2,
                    "unknown key 'y-pause'")

    def with_weights(self, name, content=None):
        if content is not None:
            (self.folder / name).write_bytes(content)
        line = f"    weights: {name}\n"
        return self.pipeline(SMALL.replace("    layers:\n", line + "    layers:\n"))

    def test_weights_that_cannot_be_used_are_found_before_anything_is_made(self):
        def safetensors(tensors):
            header, end = {}, 0
            for name, shape in tensors.items():
                size = 4 * math.prod(shape)
                header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
                end += size
            text = json.dumps(header).encode()
            return struct.pack("<Q", len(text)) + text + bytes(end)

        sound = {"0.weight": [8, 3, 3, 3], "0.bias": [8]}
        self.expect(graphline("check", self.with_weights("ok.safetensors", safetensors(sound))), 0)
        self.expect(graphline("run", self.folder / "small.yaml"), 0)
        at_file, at_layer = ":9:14: error: weights file '", ":11:9: error: weights file '"
        subprocess.run([MAKE_IMAGES, self.folder / "images", "1"], check=True, capture_output=True)
        (picture,) = (self.folder / "images").iterdir()
        whole = safetensors(sound)
        cases = [
            ("okk.safetensors", None, at_file, "does not exist (did you mean 'ok.safetensors'?)"),
            ("a.jpg", picture.read_bytes(), at_file, "is not a safetensors file"),
            ("cut.safetensors", whole[:-4], at_file, "is truncated"),
            ("shape.safetensors", safetensors({**sound, "0.weight": [8, 3, 5, 5]}), at_layer,
             "'0.weight': expected F32 [8, 3, 3, 3], found F32 [8, 3, 5, 5]"),
        ]
        for name, content, place, message in cases:
            path = self.with_weights(name, content)
            for command in ("check", "inspect", "run"):
                done = graphline(command, path)
                self.expect(done, 2, f"{path}{place}", message)
                if place == at_file:
                    self.expect(done, 2, f"    9 |     weights: {name}\n      |              ^~")
                else:
                    self.expect(done, 2, "   11 |       - conv2d: {out_channels: 8, kernel: 3}\n"
                                "      |         ^~~~~~")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
