"""Pipelines with plug-ins.

usage: plugins_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES PLUGINS_DIR
"""

import json
import pathlib
import re
import signal
import struct
import sys
import unittest

from cli_test import EXPERIMENT, PIPELINES, SOURCE, Case, graphline

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

    def test_an_experiment_runs_none_of_their_code_where_it_is_not_wanted(self):
        path = self.using(PLUGINS / "good.so")
        experiment = self.pipeline(EXPERIMENT.replace("small.yaml", path.name), "e.yaml")
        store = ["--store", self.folder / "e.trials"]
        self.expect(graphline("compare", experiment, *store, "--no-plugins"), 2,
                    f"{path}:2:11: error: plug-in '{PLUGINS / 'good.so'}' is code, which "
                    "--no-plugins keeps from running")
        self.pipeline()
        experiment = self.pipeline(EXPERIMENT, "e.yaml")
        self.expect(graphline("compare", experiment, *store, "--no-plugins"), 0)

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
            of = f"stage 'bad' (test.fail of plug-in {PLUGINS / 'good.so'}), frame 0: "
            self.assertRegex(done.stderr, f"(?m)^error: {re.escape(of)}.*{words}")

    def faulty(self, how, when="run", kind="test.faulty"):
        return self.pipeline(f"""pipeline: faulty
plugins: {PLUGINS / "faulty.so"}
stages:
  - {{name: bad, kind: {kind}, how: {how}, moment: {when}}}
run: {{frames: 60, warmup: 1}}
""")

    def test_what_their_functions_throw_names_the_stage_its_kind_and_line(self):
        of = f"stage 'bad' (test.faulty of plug-in {PLUGINS / 'faulty.so'}): "
        for how, words in (("standard", "an error of the standard library"),
                           ("number", "an exception not derived from std::exception")):
            path = self.faulty(how, "prepare")
            for command in ("check", "run", "inspect"):
                self.expect(graphline(command, path), 2,
                            f"{path}:4:12: error: {of}'prepare' threw: {words}")
            path = self.faulty(how, "make")
            self.expect(graphline("run", path), 1, f"error: {path}:4: {of}preparing: {words}")
            done = graphline("run", self.faulty(how))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"{of[:-2]}, frame 3: {words}", done.stderr)
            done = graphline("run", self.faulty(how, kind="test.faulty_device"))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"stage 'bad' \(test.faulty_device of plug-in .*\), "
                             r"frame \d+: operation 'faulty' failed on the host device: " + words)

    def with_policy(self, policy, plugin="faulty.so"):
        return self.pipeline(f"""pipeline: ordered
plugins: {PLUGINS / plugin}
stages:
  - {{name: one, kind: cpu.spin, duration: 1ms}}
run: {{frames: 20, warmup: 1, strategy: overlap, policy: {policy}}}
""")

    def test_a_policy_that_breaks_its_contract_is_named_with_stage_and_frame(self):
        policy = f"policy 'test.policy' of plug-in {PLUGINS / 'faulty.so'}"
        at = "stage 'one' (cpu.spin), frame 3: "
        for how, moment, message in (
                ("standard", "rank", f"{at}{policy}: an error of the standard library"),
                ("number", "rank", f"{at}{policy}: an exception not derived from std::exception"),
                ("standard", "hold", f"{at}{policy}: an error of the standard library"),
                ("hour", "hold", f"{at}{policy} holds the stage back for 3600 s; the limit is"),
                ("again", "hold", f"{at}{policy} holds the stage back for 1."),
                ("standard", "make", f"error: {policy}: an error of the standard library"),
                ("nothing", "make", f"error: {policy}: its 'make' returned null")):
            path = self.with_policy(f"{{test.policy: {{how: {how}, moment: {moment}}}}}")
            for more in ([], ["--arrival", "constant", "--rate", "200"]):
                self.expect(graphline("run", path, *more), 1, message)
        path = self.with_policy("{test.policy: {how: segv}}")
        done = graphline("run", path)
        self.assertEqual(done.returncode, -signal.SIGSEGV, done.stderr)
        self.assertIn(f"error: stage 'one' ({policy.replace(chr(39), '')}) crashed at frame 3: ",
                      done.stderr)

    def test_a_policy_is_listed_with_its_plugin_and_takes_no_built_in_name(self):
        faulty, taken = PLUGINS / "faulty.so", PLUGINS / "taken_policy.so"
        self.expect(graphline("policies", "--plugin", faulty), 0, "oldest_frame",
                    f"from plug-in {faulty.resolve()}:\ntest.policy", stream="stdout")
        self.expect(graphline("policies", "test.policy", "--plugin", faulty), 0,
                    "test.policy: Goes wrong.", f"From: plug-in {faulty.resolve()}", "moment",
                    stream="stdout")
        refused = f"plug-in '{taken.resolve()}' brings the policy 'fifo', the name of a built-in " \
                  "policy; give it another name"
        self.expect(graphline("policies", "--plugin", taken), 2, refused)
        path = self.with_policy("fifo", taken.name)
        self.expect(graphline("check", path), 2, f"{path}:5:57: error: {refused}")

    def test_the_example_of_a_policy_runs(self):
        path = SOURCE / "examples" / "policy_plugin" / "reservation.yaml"
        library = ["--set", f"library={PLUGINS / 'reservation.so'}", "--device", "host"]
        result = self.folder / "r.json"
        self.expect(graphline("run", path, *library, "--frames", "10", "--json", result), 0)
        done = json.loads(result.read_text())
        self.assertEqual(done["record"]["settings"]["policy"],
                         "{my.reservation: {background: [map], reserve: 5ms}}")
        self.assertEqual(done["end_to_end"]["count"], 10)
        self.expect(graphline("run", path, *library, "--policy",
                              "my.reservation: {background: [mop], reserve: 5ms}"), 1,
                    "reservation.so: no stage is named mop")

    def test_a_crash_names_the_stage_and_removes_what_was_begun(self):
        of = f"error: stage 'bad' (%s of plug-in {PLUGINS / 'faulty.so'}) crashed "
        for how, sent in (("segv", signal.SIGSEGV), ("stack", signal.SIGSEGV),
                          ("fpe", signal.SIGFPE), ("abort", signal.SIGABRT)):
            for kind in ("test.faulty", "test.faulty_device"):
                for more in ([], ["--strategy", "overlap"], ["--graphs", "off"],
                             ["--graphs", "frame"]):
                    path = self.faulty(how, kind=kind)
                    done = graphline("run", path, "--json", self.folder / "out.json", *more)
                    self.assertEqual(done.returncode, -sent, (how, kind, done.stderr))
                    self.assertRegex(done.stderr, re.escape(of % kind) + r"at frame \d+: "
                                     + sent.name + "\\b")
                    self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                    self.assertEqual(done.stderr.count("--guard on finds it"), int(how != "fpe"))
                    self.assertEqual(list(self.folder.glob("out.json*")), [])
        done = graphline("run", self.faulty("segv"), "--guard", "on")
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertNotIn("--guard", done.stderr)
        done = graphline("check", self.faulty("segv", "prepare"))
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertIn(of % "test.faulty" + "while getting ready: SIGSEGV", done.stderr)

    def test_guards_find_writes_beyond_outputs(self):
        for how, words in (("after", "4 bytes after the end of its output 'bad', float32 [6]"),
                           ("before", "8 bytes before the beginning of its output 'bad', float")):
            for more in ([], ["--strategy", "overlap", "--in-flight", "2"], ["--graphs", "frame"],
                         ["--timing", "none"]):
                done = graphline("run", self.faulty(how), "--guard", "on", *more)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"faulty.so), frame 3: it wrote {words}", done.stderr)
        self.expect(graphline("run", self.faulty("nothing"), "--guard", "on"), 0)
        self.expect(graphline("run", PIPELINES / "fan_out.yaml", "--guard", "on", "--frames", "3"),
                    0)

    def test_results_of_every_command_name_the_files_that_were_read(self):
        good = PLUGINS / "good.so"
        times = self.folder / "times.txt"
        times.write_text("10us\n20us\n")
        path = self.using(good)
        path.write_text(path.read_text().replace(
            "run:", "  - {name: busy, kind: cpu.spin, durations: times.txt}\nrun:"))
        experiment = self.pipeline(EXPERIMENT.replace("small.yaml", path.name), "e.yaml")

        def files_of(*words):
            result = self.folder / "r.json"
            self.expect(graphline(*words, "--json", result, "--quiet"), 0)
            return json.loads(result.read_text()).get("files", {})

        compared = files_of("compare", experiment, "--store", self.folder / "e.trials")
        expected = {str(file): compared[str(file)] for file in (good.resolve(), times)}
        for sum_of in expected.values():
            self.assertRegex(sum_of, "^[0-9a-f]{16}$")
        run = ["run", path]
        for words in (run, ["overhead", path, "--trials", "2", "--frames", "3"],
                      ["capacity", path, "--under", "1s", "--frames", "100"]):
            self.assertEqual(files_of(*words), expected, words)
        before, after = self.folder / "before.json", self.folder / "after.json"
        self.expect(graphline(*run, "--json", before), 0)
        times.write_text("10us\n30us\n")
        self.expect(graphline(*run, "--json", after), 0)
        changes = json.loads(graphline("diff", before, after, "--json", "-").stdout)["differences"]
        changed = [row for row in changes if row["name"].startswith("files.")]
        self.assertEqual([row["name"] for row in changed], [f"files.{times}"])
        self.assertEqual(changed[0]["before"], expected[str(times)])
        self.assertEqual(files_of("run", self.pipeline()), {})

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
