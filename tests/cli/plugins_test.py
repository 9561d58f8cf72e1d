"""Pipelines with plug-ins, as a user of the graphline program meets them.

usage: plugins_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES PLUGINS_DIR
"""

import pathlib
import struct
import sys
import unittest

from cli_test import Case, graphline

PLUGINS = pathlib.Path(sys.argv[4])  # those of tests/stage/plugins


class plugins(Case):
    def using(self, *paths, kind="test.add"):
        return self.pipeline(f"""pipeline: with_plugin
plugins: [{", ".join(map(str, paths))}]
inputs:
  x: {{shape: [4], fill: ones}}
stages:
  - {{name: more, kind: {kind}, reads: x}}
run: {{frames: 4, warmup: 1}}
""")

    def test_their_kinds_are_used_like_any_other(self):
        path = self.using(PLUGINS / "good.so")
        self.expect(graphline("check", path), 0, "test.add", stream="stdout")
        for more in ([], ["--graphs", "off"], ["--strategy", "overlap", "--in-flight", "2"]):
            tensors = self.folder / "tensors"
            self.expect(graphline("run", path, "--save-tensors", tensors, *more), 0)
            raw = (tensors / "output.more.npy").read_bytes()
            self.assertEqual(struct.unpack("<4f", raw[-16:]), (3, 3, 3, 3))
        done = graphline("overhead", path, "--trials", "2", "--frames", "3")
        self.expect(done, 0, "more", stream="stdout")

    def test_what_cannot_be_loaded_is_refused_at_its_place(self):
        path = self.using(PLUGINS / "good.so", "gone.so")
        column = len(f"plugins: [{PLUGINS / 'good.so'}, ") + 1
        for command in ("run", "check", "overhead"):
            self.expect(graphline(command, path), 2,
                        f"{path}:2:{column}: error: plug-in '{self.folder / 'gone.so'}' is not "
                        "there")
        done = graphline("run", self.using(PLUGINS / "other_abi.so"))
        self.expect(done, 2, f"{path}:2:11: error: ", "build it again")
        self.assertRegex(done.stderr, r"plug-in ABI \d+ \(.*\) of Graphline 0\.3\.1, "
                                      r"this program has plug-in ABI \d+ \(.*\) of Graphline \d")
        self.assertNotIn("unknown kind", done.stderr)
        self.expect(graphline("run", self.using(PLUGINS / "no_plugin.so")), 2,
                    "no Graphline plug-in")
        self.expect(graphline("run", self.using(self.folder / "small.yaml")), 2,
                    "cannot be loaded: ", "invalid ELF header")

    def test_none_of_their_code_runs_where_it_is_not_wanted(self):
        for command in ("check", "inspect"):
            path = self.using(PLUGINS / "good.so")
            self.expect(graphline(command, path, "--no-plugins"), 2,
                        f"{path}:2:11: error: plug-in '{PLUGINS / 'good.so'}' is code, which "
                        "--no-plugins keeps from running")
            self.expect(graphline(command, path), 0)
            self.expect(graphline(command, self.pipeline(), "--no-plugins"), 0)

    def test_a_stage_of_theirs_that_fails_is_named(self):
        text = f"""pipeline: fails
plugins: {PLUGINS / "good.so"}
stages:
  - {{name: bad, kind: test.fail, how: HOW}}
run: {{frames: 4, warmup: 1}}
"""
        path = self.pipeline(text.replace("HOW", "planned"))
        self.expect(graphline("check", path), 2, f"{path}:4:39: error: said by the plug-in")
        for how, words in (("private", "a private error"), ("standard", "an error of the")):
            done = graphline("run", self.pipeline(text.replace("HOW", how)))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("stage 'bad', frame 0", done.stdout + done.stderr)
            self.assertIn(words, done.stdout + done.stderr)

    def test_stages_shows_their_kinds_and_where_they_come_from(self):
        good = PLUGINS / "good.so"
        listed = graphline("stages", "--plugin", good)
        self.expect(listed, 0, "network", f"from plug-in {good.resolve()}:\ntest.add",
                    stream="stdout")
        self.expect(graphline("stages", "--plugin", good, "test.add"), 0,
                    f"From: plug-in {good.resolve()}", "Adds two to each element", stream="stdout")
        self.expect(graphline("stages", "test.add"), 2, "unknown kind 'test.add'")
        self.expect(graphline("stages", "--plugin", good, "--plugin", PLUGINS / "taken.so"), 2,
                    "taken.so' brings the kind 'test.fail'", "give it another name")
        self.expect(graphline("stages", "--plugin", PLUGINS / "throws_error.so"), 2,
                    "failed to register its kinds: the table of weights is not there")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
