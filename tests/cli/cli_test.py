"""The graphline program: exit status, messages, files.

usage: cli_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES [CLASS ...]
"""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

GRAPHLINE, SOURCE, MAKE_IMAGES = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
PIPELINES = SOURCE / "pipelines"

# Tests do not use calibrations of this machine.
EMPTY_CACHE = tempfile.TemporaryDirectory(prefix="graphline_cache_")
os.environ["GRAPHLINE_CACHE"] = EMPTY_CACHE.name

SMALL = """pipeline: small
inputs:
  x: {shape: [1, 3, 16, 16]}
stages:
  - name: net
    kind: network
    reads: x
    writes: y
    layers:
      - conv2d: {out_channels: 8, kernel: 3}
      - relu
  - name: pause
    kind: cpu.spin
    duration: 1ms
  - name: best
    kind: cpu.top_k
    reads: y
    k: 3
run: {frames: 12, warmup: 2}
"""
ENDLESS = SMALL.replace("frames: 12", "frames: 1000000")  # a frame takes a millisecond

EXPERIMENT = """experiment: e
pipeline: small.yaml
vary: {in_flight: [1, 2]}
trials: 2
frames: 5
"""


def graphline(*words, **more):
    return subprocess.run([GRAPHLINE, *map(str, words)], capture_output=True, text=True,
                          timeout=240, **more)


def floats(path):
    """The numbers of a .npy file of float32."""
    data = path.read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack(f"<{(len(data) - begin) // 4}f", data[begin:]))


def parts_in(folder):
    """The unfinished results in a folder."""
    return list(folder.glob(".*.graphline-*"))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="graphline_cli_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def pipeline(self, text=SMALL, name="small.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def expect(self, done, status, *fragments, stream="stderr"):
        text = getattr(done, stream)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for fragment in fragments:
            self.assertIn(fragment, text)
        self.assertNotIn("terminate called", done.stderr)

    def result_of(self, *words, **more):
        """The JSON that a command writes."""
        done = graphline(*words, "--json", "-", **more)
        self.expect(done, 0)
        return json.loads(done.stdout)

    def changed(self, path, name, change):
        """Writes a changed result to another file."""
        result = json.loads(path.read_text())
        change(result)
        other = self.folder / name
        other.write_text(json.dumps(result))
        return other

    def start(self, *words, **more):
        process = subprocess.Popen([GRAPHLINE, *map(str, words)], text=True,
                                   **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})
        self.addCleanup(process.kill)
        return process

    def interrupt(self, process, number=signal.SIGINT):
        """Interrupts a process; returns its output and errors."""
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        return out, err


class usage(Case):
    def test_no_arguments_show_the_help(self):
        self.expect(graphline(), 2, "check", "overhead", stream="stdout")

    def test_help_and_version_succeed(self):
        self.expect(graphline("--help"), 0, "Exit status", stream="stdout")
        self.expect(graphline("run", "--help"), 0, "--in-flight", stream="stdout")
        self.assertRegex(graphline("--version").stdout, r"^graphline \d+\.\d+\.\d+\n$")
        self.assertEqual(graphline("-V").stdout, graphline("--version").stdout)

    def test_settings_that_make_no_sense_together_are_refused(self):
        done = graphline("run", self.pipeline(), "--strategy", "serial", "--in-flight", "2")
        self.expect(done, 2, "--in-flight 2: error: in_flight: 2 makes no sense")
        self.assertNotIn("run: {", done.stderr)  # the line of the file is not to blame
        path = self.pipeline(SMALL.replace("warmup: 2", "graphs: frame"), "frame.yaml")
        self.expect(graphline("check", path, "--timing", "sync"), 2,
                    "--timing sync: error: timing: sync makes no sense")

    def test_devices_and_stages_are_listed(self):
        self.expect(graphline("devices"), 0, "host", stream="stdout")
        self.expect(graphline("stages"), 0, "network", "cpu.nms", stream="stdout")
        self.expect(graphline("stages", "network"), 0, "conv2d", "out_channels", stream="stdout")
        self.expect(graphline("stages", "netwrok"), 2, "'network'")

    def test_check_shows_the_plan_without_running(self):
        done = graphline("check", self.pipeline())
        self.expect(done, 0, "net", "copy:y", "completion", stream="stdout")
        done = graphline("check", self.pipeline(), "--graphs", "frame")
        self.expect(done, 0, "the whole frame is one graph", "host node", stream="stdout")

    def test_check_writes_the_plan_for_programs(self):
        plan = self.result_of("check", self.pipeline(), "--device", "host", "--in-flight", 2)
        self.assertEqual((plan["schema"], plan["pipeline"], plan["device"]),
                         ("graphline.plan/1", "small", "host"))
        self.assertEqual(plan["settings"]["in_flight"], 2)
        self.assertEqual([(s["name"], s["on"], s["inserted"]) for s in plan["stages"]],
                         [("net", "device", False), ("copy:y", "device", True),
                          ("pause", "cpu", False), ("best", "cpu", False)])
        best = [wait for wait in plan["waits"] if wait["stage"] == "best"]
        self.assertEqual([(w["for"], w["how"]) for w in best], [("copy:y", "completion")])

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "this machine has a GPU")
    def test_a_device_that_cannot_be_had_is_status_3(self):
        self.expect(graphline("run", self.pipeline(), "--device", "cuda"), 3, "cuda", "host")
        self.expect(graphline("run", self.pipeline(), "--device", "cdua"), 2, "cdua", "cuda")


class run_outputs(Case):
    def test_the_table_names_stages_and_nothing_goes_to_standard_error(self):
        done = graphline("run", self.pipeline())
        self.expect(done, 0, "small", "net", "best", "p50", "frame/s", stream="stdout")
        self.assertEqual(done.stderr, "")

    def test_json_holds_the_contract(self):
        done = graphline("run", self.pipeline(), "--json", "-")
        self.expect(done, 0, "small")
        result = json.loads(done.stdout)
        keys = ["schema", "pipeline", "device", "settings", "environment", "memory", "end_to_end",
                "throughput", "stages", "outputs", "warnings"]
        self.assertLessEqual(set(keys), set(result))
        self.assertEqual(result["schema"], "graphline.run/1")
        end_to_end = result["end_to_end"]
        self.assertEqual(end_to_end["unit"], "ms")
        self.assertEqual(end_to_end["count"], 12)
        self.assertNotIn("samples", end_to_end)
        self.assertIsNone(end_to_end["p99"])
        self.assertGreater(end_to_end["min"], 1.0)  # a stage spins for a millisecond
        frames = result["record"]["frames"]
        taken = [end - due for due, end in zip(frames["due"], frames["end"])]
        self.assertEqual(len(taken), 12)
        self.assertEqual(end_to_end["max"], max(taken) / 1e6)
        stages = {s["name"]: s for s in result["stages"]}
        self.assertEqual(list(stages), ["net", "copy:y", "pause", "best"])
        self.assertEqual(stages["net"]["on"], "device")
        for key in ("device_time", "enqueue_time"):
            self.assertEqual(stages["net"][key]["count"], 12)
        self.assertGreaterEqual(stages["pause"]["cpu_time"]["min"], 1.0)
        self.assertEqual({o["tensor"]: o["shape"] for o in result["outputs"]},
                         {"best.values": [1, 8, 14, 3], "best.indices": [1, 8, 14, 3]})

    def test_a_run_ends_at_its_max_time_with_the_frames_it_has(self):
        result = self.result_of("run", self.pipeline(ENDLESS), "--max-time", "1s")
        self.assertEqual(result["settings"]["frames"], result["end_to_end"]["count"])
        self.assertLess(result["end_to_end"]["count"], 1000)
        self.assertFalse(result["interrupted"])

    def test_a_result_replaces_the_old_one_only_when_it_is_whole(self):
        path = self.folder / "r.json"
        path.write_text("precious")
        bad = self.pipeline(SMALL.replace("k: 3", "k: 9999"), "bad.yaml")
        self.expect(graphline("run", bad, "--json", path), 2)
        self.assertEqual(path.read_text(), "precious")
        self.expect(graphline("run", self.pipeline(), "--json", path), 0)
        self.assertEqual(json.loads(path.read_text())["pipeline"], "small")
        self.assertEqual(parts_in(self.folder), [])

    def test_tensors_are_saved_for_others_to_check(self):
        folder = self.folder / "tensors"
        self.expect(graphline("run", self.pipeline(), "--save-tensors", folder), 0)
        self.assertEqual(sorted(p.name for p in folder.iterdir()),
                         ["input.x.npy", "output.best.indices.npy", "output.best.values.npy",
                          "weight.net.0.bias.npy", "weight.net.0.weight.npy"])
        raw = (folder / "weight.net.0.weight.npy").read_bytes()
        self.assertEqual(raw[:6], b"\x93NUMPY")
        (length,) = struct.unpack("<H", raw[8:10])
        self.assertIn(b"(8, 3, 3, 3, )", raw[10:10 + length])
        self.assertEqual(len(raw) - 10 - length, 8 * 27 * 4)

    def test_the_outputs_of_each_frame_are_saved(self):
        arrays = self.folder / "arrays"
        arrays.mkdir()
        values = [struct.pack("<2f", k, 10 + k) for k in range(3)]
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }".ljust(117) + "\n"
        for k, data in enumerate(values):
            (arrays / f"{k}.npy").write_bytes(
                b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
        path = self.pipeline(
            "pipeline: each\nstages:\n- {name: read, kind: cpu.arrays, folder: arrays, writes: x}\n"
            "- {name: net, kind: network, reads: x, writes: y, layers: [relu]}\n"
            "run: {frames: 7, warmup: 3}\n")
        for words in (["--strategy", "serial"], ["--strategy", "overlap", "--in-flight", "3"],
                      ["--graphs", "frame"], ["--rate", "300", "--arrival", "constant"]):
            saved = self.folder / "_".join(words)
            done = graphline("run", path, "--device", "host", "--save-tensors", saved,
                             "--each-frame", *words)
            self.expect(done, 0)
            self.assertIn("written between frames", done.stdout)
            self.assertEqual(sorted(p.name for p in saved.iterdir()),
                             [*(f"frame.{i}" for i in range(7)), "output.y.npy"])
            for i in range(7):  # after three frames of warm-up, the first file is read again
                read = (saved / f"frame.{i}" / "output.y.npy").read_bytes()
                self.assertEqual(read[-8:], values[i % 3], (words, i))
        self.expect(graphline("run", path, "--reference", saved / "frame.6", "--fail-if",
                              "error>1e-6"), 0)
        self.expect(graphline("run", path, "--reference", saved / "frame.5", "--fail-if",
                              "error>1e-6"), 4)
        self.expect(graphline("run", path, "--each-frame"), 2, "--each-frame", "--save-tensors")

    def test_saved_inputs_can_be_the_inputs_of_another_run(self):
        saved, again = self.folder / "saved", self.folder / "again"
        filled = self.pipeline(SMALL.replace("{shape: [1, 3, 16, 16]}",
                                             "{shape: [1, 3, 16, 16], fill: uniform}"))
        self.expect(graphline("run", filled, "--save-tensors", saved), 0)
        given = self.pipeline(SMALL.replace("{shape: [1, 3, 16, 16]}",
                                            "{file: saved/input.x.npy}"), "given.yaml")
        self.expect(graphline("run", given, "--save-tensors", again), 0)
        for path in saved.iterdir():
            self.assertEqual(path.read_bytes(), (again / path.name).read_bytes(), path.name)
        (saved / "input.x.npy").unlink()
        self.expect(graphline("check", given), 2,
                    "given.yaml:3:13: error: NumPy file ", "input.x.npy' does not exist")

    def test_parameters_can_be_set(self):
        text = SMALL.replace("inputs:", "params:\n  batch: {cuda: 32, host: 1}\ninputs:")
        path = self.pipeline(text.replace("[1, 3, 16, 16]", "[$batch, 3, 16, 16]"))
        result = self.result_of("run", path, "--set", "batch=5")
        self.assertEqual(result["settings"]["params"], {"batch": 5})
        self.assertEqual(result["outputs"][0]["shape"], [5, 8, 14, 3])

    def test_more_compute_threads_are_taken_and_sleep_when_idle(self):
        done = graphline("run", self.pipeline(), "--threads", "2", "--json", "-")
        self.expect(done, 0)
        self.assertIn("2 compute threads", done.stderr)


class shipped_pipelines(Case):
    def test_each_runs_and_its_outputs_are_finite(self):
        downloaded = (SOURCE / "build/models").exists()
        for path in sorted(PIPELINES.glob("*.yaml")):
            if not downloaded and "build/models/" in path.read_text():
                continue
            result = self.result_of("run", path, "--frames", "4", "--warmup", "1")
            self.assertEqual(result["end_to_end"]["count"], 4, path)
            self.assertEqual([w for w in result["warnings"] if "NaN" in w], [], path)


class graphs(Case):
    def test_operations_are_traced_after_the_frames_and_leave_the_outputs_alone(self):
        path, tensors = self.pipeline(), self.folder / "tensors"
        plain = graphline("run", path, "--save-tensors", tensors)
        self.expect(plain, 0)
        saved = {f.name: f.read_bytes() for f in tensors.iterdir()}
        done = graphline("run", path, "--kernels", "--json", "-", "--save-tensors", tensors)
        self.expect(done, 0, "traced in 10 runs of each stage alone (tracing slows it)")
        self.assertEqual({f.name: f.read_bytes() for f in tensors.iterdir()}, saved)
        result = json.loads(done.stdout)
        self.assertEqual([w for w in result["warnings"] if "traced" in w], [])
        operations = result["operations"]
        traced = {stage["name"]: {o["part"] for o in operations if o["stage"] == stage["name"]}
                  for stage in result["stages"]}
        self.assertEqual(traced.pop("pause"), set())
        for stage in result["stages"]:
            if stage["on"] == "device":
                parts = {part["name"] for part in stage.get("parts", [])}
                self.assertEqual(traced[stage["name"]], parts or {None})
        for operation in operations:
            self.assertGreaterEqual(operation["calls_per_frame"], 1)
            self.assertGreaterEqual(operation["together"], operation["median"])


OPEN = """pipeline: open
stages:
  - {name: work, kind: cpu.spin, duration: 1ms, stall: 100ms, stall_at: 7}
run: {arrival: constant, rate: 200, frames: 60, warmup: 2, deadline: 10ms}
"""


class load(Case):
    def test_a_closed_loop_takes_the_place_of_the_files_schedule(self):
        path = self.pipeline(OPEN.replace("rate: 200", "rate: 200, queue: 4"))
        self.expect(graphline("check", path), 0, "constant 200 frame/s", stream="stdout")
        done = graphline("check", path, "--arrival", "closed")
        self.expect(done, 0)
        self.assertNotIn("frame/s", done.stdout)
        self.assertEqual(done.stderr, "")
        self.expect(graphline("check", path, "--arrival", "closed", "--rate", 30), 2,
                    "rate: 30 makes no sense with arrival: closed")

    def test_ctrl_c_ends_the_wait_for_a_frame_that_is_due_in_an_hour(self):
        path = self.pipeline(OPEN)
        for words in (["--wait", "block"], ["--strategy", "overlap", "--wait", "yield"]):
            running = self.start("run", path, "--rate", "0.0003", *words)
            time.sleep(1)  # by then it usually waits; before that it ends the same way
            text, _ = self.interrupt(running)
            self.assertIn("INTERRUPTED", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
