"""Gates in CI: --fail-if and --junit.

usage: gate_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import struct
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as xml

from cli_test import Case, MAKE_IMAGES, graphline
from compare_test import LENGTHS, SPINS, CompareCase

HELD = "p50>60min"

# Computes as many rows as count.npy says.
ROWS = """pipeline: rows
inputs:
  x: {shape: [8, 4]}
  count: {file: count.npy, on: cpu}
stages: [{name: few, kind: network, reads: x, rows: count, writes: y, layers: [relu]}]
run: {frames: 3, warmup: 1}
"""


def npy_file(values):
    """A NumPy file of int64."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header = header.ljust(117) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}q", *values))


class run_gates(Case):
    def test_each_gate_has_a_line_below_the_table_and_one_that_fails_makes_status_4(self):
        path = self.pipeline()
        done = graphline("run", path, "--fail-if", HELD, "--fail-if", "max > 1s")
        self.expect(done, 0, "\n\ngate p50>60min: passed, ", "\ngate max>1s: passed, ",
                    stream="stdout")
        done = graphline("run", path, "--fail-if", "mean>1us", "--fail-if", HELD)
        self.expect(done, 4, "\ngate mean>1us: FAILED, ", "gate p50>60min: passed",
                    stream="stdout")
        self.assertGreater(done.stdout.index("gate mean"), done.stdout.index("output"))
        self.assertEqual(done.stderr, "")

    def test_stages_memory_and_the_error_against_a_reference_can_be_limited(self):
        path, tensors = self.pipeline(), self.folder / "tensors"
        limits = ("--fail-if", "net.max>60min", "--fail-if", "device_memory>64MiB")
        done = graphline("run", path, "--save-tensors", tensors, *limits)
        self.expect(done, 0, "\ngate net.max>60min: passed, ",
                    "\ngate device_memory>64MiB: passed, ", stream="stdout")
        same = ("run", path, "--reference", tensors, "--fail-if", "error>1e-6")
        self.expect(graphline(*same), 0, "relative error", "gate error>1e-6: passed: 0 in output",
                    stream="stdout")
        values = tensors / "output.best.values.npy"
        raw = bytearray(values.read_bytes())
        raw[-1] ^= 0x80  # the sign of the last number
        values.write_bytes(raw)
        done = graphline(*same, "--json", self.folder / "r.json")
        self.expect(done, 4, "gate error>1e-6: FAILED: ", " in output 'best.values'",
                    stream="stdout")
        output = next(one for one in json.loads((self.folder / "r.json").read_text())["outputs"]
                      if one["tensor"] == "best.values")
        self.assertGreater(output["relative_error"], 1e-6)
        values.unlink()
        self.expect(graphline(*same), 2, "output 'best.values' has no reference: neither")
        self.expect(graphline("run", path, "--fail-if", "error>1"), 2,
                    "--fail-if 'error>1': the outputs have no reference, which --reference DIR")
        self.expect(graphline("run", path, "--fail-if", "nett.p50>1s"), 2,
                    "the pipeline has no stage 'nett' (did you mean 'net'?)")

    def test_an_output_has_as_many_rows_in_the_reference_as_in_the_last_frame(self):
        tensors = self.folder / "tensors"
        for count, path in ((2, self.pipeline(ROWS)), (3, self.pipeline(ROWS, "other.yaml"))):
            values = npy_file([count])
            (self.folder / "count.npy").write_bytes(values)
            if count == 2:
                self.expect(graphline("run", path, "--save-tensors", tensors), 0)
            done = graphline("run", path, "--reference", tensors, "--fail-if", "error>1e-6")
            if count == 2:
                self.expect(done, 0, "gate error>1e-6: passed: 0 in output 'y'", stream="stdout")
            else:
                self.expect(done, 1, "has the shape [2, 4]; output 'y' has [3, 4]")

    def test_a_quiet_run_names_the_failed_ones_alone(self):
        done = graphline("run", self.pipeline(), "-q", "--deadline", "1us", "--fail-if", HELD,
                         "--fail-if", "late>99%", "--json", self.folder / "r.json")
        self.expect(done, 4, "gate late>99%: FAILED, 100 %: 12 of 12 frames\n")
        self.assertEqual(done.stdout, "")
        self.assertNotIn("passed", done.stderr)
        self.assertTrue((self.folder / "r.json").exists())

    def test_a_run_that_fails_or_is_interrupted_keeps_its_own_status(self):
        path, junit = self.pipeline("""pipeline: album
stages: [{name: read, kind: cpu.images, folder: images, batch: 1}]
run: {frames: 9, warmup: 0}
"""), self.folder / "j.xml"
        subprocess.run([MAKE_IMAGES, self.folder / "images", "1"], check=True, capture_output=True)
        picture = next((self.folder / "images").iterdir())
        picture.write_bytes(picture.read_bytes()[:2000])
        done = graphline("run", path, "--fail-if", HELD, "--junit", junit)
        self.expect(done, 1, "gate p50>60min: cannot be judged: the run failed: stage 'read'",
                    stream="stdout")
        self.assertIn("the run failed", xml.parse(junit).find("testcase/failure").get("message"))

        endless = self.pipeline(SPINS.replace("frames: 6", "frames: 1000000"))
        running = self.start("run", endless, "-q", "--fail-if", HELD)
        time.sleep(1.5)
        _, told = self.interrupt(running)
        self.assertIn("gate p50>60min: cannot be judged: the run was interrupted", told)

    def test_junit_is_xml_for_other_programs(self):
        name = "spins.v-1"
        path = self.pipeline(SPINS.replace("spins", json.dumps(name)))
        done = graphline("run", path, "--frames", 400, "--max-time", "200ms", "--fail-if", HELD,
                         "--fail-if", "p99>1s", "--junit", "-")
        self.expect(done, 4, "gate p50>60min: passed", "gate p99>1s: cannot be judged")
        suite = xml.fromstring(done.stdout)
        self.assertEqual(suite.tag, "testsuite")
        self.assertEqual(suite.get("name"), "graphline run " + name)
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        self.assertEqual([case.get("name") for case in suite.iter("testcase")],
                         ["p50>60min", "p99>1s"])
        (failure,) = suite.iter("failure")
        self.assertEqual(failure.get("type"), "cannot be judged")
        self.assertIn("p99 needs 299 frames", failure.get("message"))
        self.assertIn("passed, ", suite.find("testcase/system-out").text)
        properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
        self.assertEqual(properties["version"], graphline("--version").stdout.split()[1])
        self.assertTrue(properties["device"].startswith("host: "), properties)


class comparison_gates(CompareCase):
    def test_a_configuration_that_is_slower_by_its_verdict_fails(self):
        far_apart = LENGTHS.replace("3ms", "15ms")  # also when other programs take the cores
        done = self.compare("--fail-if", "slower>50%", "--junit", "j.xml", status=4, text=far_apart)
        self.assertRegex(done.stdout,
                         r"\ngate slower>50%: FAILED, \+[\d.]+ %: p50 of 'length=15ms', "
                         r"95 % interval \+[\d.]+ % to \+[\d.]+ %")
        self.assertEqual(len(list(xml.parse(self.folder / "j.xml").iter("failure"))), 1)
        done = self.compare("--resume", "--fail-if", "slower>100000%", text=far_apart)
        self.assertIn("\ngate slower>100000%: passed: ", done.stdout)
        other_way = LENGTHS.replace("[1ms, 3ms]", "[3ms, 1ms]")
        self.compare("--overwrite", "--fail-if", "slower>0%", text=other_way)


class diff_gates(CompareCase):
    def saved(self, name, *words):
        self.expect(graphline(*words, "--device", "host", "--json", name, cwd=self.folder), 0)
        return name

    def diff(self, status, *words):
        done = graphline("diff", *words, cwd=self.folder)
        self.expect(done, status)
        return done

    def test_two_runs_fail_where_their_intervals_lie_apart(self):
        quick = self.saved("a.json", "run", "spins.yaml", "--frames", "200")
        slow = self.saved("b.json", "run", "spins.yaml", "--frames", "200", "--set", "length=3ms")
        gate = ("--fail-if", "slower>50%")
        done = self.diff(4, quick, slow, *gate, "--junit", "j.xml")
        self.assertRegex(done.stdout,
                         r"\ngate slower>50%: FAILED, \+[\d.]+ %: 95 % interval of p50 ")
        suite = xml.parse(self.folder / "j.xml")
        properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
        self.assertEqual((properties["before"], properties["after"]), (quick, slow))
        self.assertTrue(properties["device"].startswith("host: "), properties)
        self.diff(0, slow, quick, *gate)
        self.diff(0, quick, quick, "--fail-if", "slower>0%")
        few = self.saved("few.json", "run", "spins.yaml", "--frames", "3")
        self.assertIn("the frames of few.json carry no interval of p50",
                      self.diff(4, quick, few, *gate).stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
